/* SPDX-License-Identifier: Apache-2.0 */
#include "bytes.h"

static void swap_one(uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        uint8_t t = p[i];
        p[i] = p[n - 1 - i];
        p[n - 1 - i] = t;
    }
}

void tamis_priv_swap_samples(void *samples, size_t count, size_t sample_bytes)
{
    uint8_t *p = samples;
    if (sample_bytes == 2) {
        for (size_t i = 0; i < count; i++)
            tamis_priv_put_le16(p + 2 * i, tamis_priv_be16(p + 2 * i));
    } else if (sample_bytes == 4) {
        for (size_t i = 0; i < count; i++)
            tamis_priv_put_le32(p + 4 * i, tamis_priv_be32(p + 4 * i));
    } else if (sample_bytes > 1) {
        for (size_t i = 0; i < count; i++)
            swap_one(p + sample_bytes * i, sample_bytes);
    }
}

size_t tamis_priv_row_bytes(tamis_format format, int32_t w)
{
    return (size_t)w * (size_t)format.channels * tamis_type_size(format.type);
}

void tamis_priv_pack_span(const tamis_image *image, int32_t x, int32_t y, int32_t n, void *dst)
{
    size_t size = tamis_type_size(image->format.type);
    size_t pixel = size * (size_t)image->format.channels;
    if (image->format.layout == TAMIS_PACKED) {
        memcpy(dst, (const uint8_t *)tamis_image_row(image, 0, y) + pixel * (size_t)x,
               pixel * (size_t)n);
        return;
    }
    for (int c = 0; c < image->format.channels; c++) {
        const uint8_t *src = (const uint8_t *)tamis_image_row(image, c, y) + size * (size_t)x;
        uint8_t *to = (uint8_t *)dst + size * (size_t)c;
        for (int32_t i = 0; i < n; i++)
            memcpy(to + pixel * (size_t)i, src + size * (size_t)i, size);
    }
}

const void *tamis_priv_packed_row(const tamis_image *image, int32_t y, void *buf)
{
    if (image->format.layout == TAMIS_PACKED)
        return tamis_image_row(image, 0, y);
    tamis_priv_pack_span(image, 0, y, image->w, buf);
    return buf;
}

/* color * max / alpha to nearest; a color brighter than its alpha allows is cut to max. */
static unsigned divide_alpha(unsigned color, unsigned alpha, unsigned max)
{
    if (alpha == 0)
        return 0;
    uint64_t v = ((uint64_t)color * max + alpha / 2) / alpha;
    return v > max ? max : (unsigned)v;
}

void tamis_priv_unpremultiply(tamis_type type, int channels, const void *src, void *dst, int32_t w)
{
    size_t n = (size_t)channels;
    if (type == TAMIS_U8) {
        const uint8_t *s = src;
        uint8_t *d = dst;
        for (size_t i = 0; i < n * (size_t)w; i++) {
            unsigned alpha = s[i / n * n + n - 1];
            d[i] = i % n == n - 1 ? s[i] : (uint8_t)divide_alpha(s[i], alpha, 255);
        }
        return;
    }
    const uint8_t *s = src;
    uint8_t *d = dst;
    for (size_t i = 0; i < n * (size_t)w; i++) {
        uint16_t v, alpha;
        memcpy(&v, s + 2 * i, 2);
        memcpy(&alpha, s + 2 * (i / n * n + n - 1), 2);
        if (i % n != n - 1)
            v = (uint16_t)divide_alpha(v, alpha, 65535);
        memcpy(d + 2 * i, &v, 2);
    }
}
