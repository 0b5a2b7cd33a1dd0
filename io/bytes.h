/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in byte strings, and rows of samples in the order files want them. */
#ifndef TAMIS_IO_BYTES_H
#define TAMIS_IO_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <tamis/image.h>

static inline uint16_t tamis_priv_be16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint16_t tamis_priv_le16(const uint8_t *p)
{
    return (uint16_t)(p[1] << 8 | p[0]);
}

static inline uint32_t tamis_priv_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint32_t tamis_priv_le32(const uint8_t *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static inline void tamis_priv_put_be16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static inline void tamis_priv_put_be32(uint8_t *p, uint32_t v)
{
    tamis_priv_put_be16(p, (uint16_t)(v >> 16));
    tamis_priv_put_be16(p + 2, (uint16_t)v);
}

static inline void tamis_priv_put_le16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

static inline void tamis_priv_put_le32(uint8_t *p, uint32_t v)
{
    tamis_priv_put_le16(p, (uint16_t)v);
    tamis_priv_put_le16(p + 2, (uint16_t)(v >> 16));
}

static inline int tamis_priv_host_is_big(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 0;
}

/* Reverses the bytes of each of count samples of 1, 2, 4 or 8 bytes. */
void tamis_priv_swap_samples(void *samples, size_t count, size_t sample_bytes);

/* Bytes of a row without padding, all channels. */
size_t tamis_priv_row_bytes(tamis_format format, int32_t w);

/* Row y with its channels interleaved: the image's own memory when packed, else buf, which has
 * tamis_priv_row_bytes() bytes. */
const void *tamis_priv_packed_row(const tamis_image *image, int32_t y, void *buf);

/* Copies n pixels of row y from column x on to dst, with their channels interleaved. */
void tamis_priv_pack_span(const tamis_image *image, int32_t x, int32_t y, int32_t n, void *dst);

/* Divides the color of w U8 or U16 pixels by their alpha, the last channel. */
void tamis_priv_unpremultiply(tamis_type type, int channels, const void *src, void *dst, int32_t w);

#endif
