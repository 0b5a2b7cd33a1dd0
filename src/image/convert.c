/* SPDX-License-Identifier: Apache-2.0 */
#include "image/convert.h"

#include <string.h>

#include "core/mem.h"
#include "core/status.h"

/* Samples in a caller's memory may lie at any address. */
typedef uint16_t any_u16 __attribute__((aligned(1), may_alias));
typedef int16_t any_s16 __attribute__((aligned(1), may_alias));
typedef uint32_t any_u32 __attribute__((aligned(1), may_alias));
typedef float any_f32 __attribute__((aligned(1), may_alias));

/* All integer types and binary16 are exact in binary32, so two families of loops, to and from
 * float, serve every pair of types. */

static float float_of_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint32_t bits_of_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* Exponent and fraction move to their place in binary32; multiplying by 2^112 corrects the
 * exponent's bias and makes subnormals normal. */
static float float_of_half(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = (uint32_t)(h & 0x7fff) << 13;
    uint32_t magnitude =
        rest >= 0x0f800000 ? rest | 0x7f800000 : bits_of_float(float_of_bits(rest) * 0x1p112f);
    return float_of_bits(sign | magnitude);
}

static uint16_t half_of_float(float f)
{
    uint32_t bits = bits_of_float(f), sign = bits >> 16 & 0x8000;
    uint32_t a = bits & 0x7fffffff;
    if (a > 0x7f800000)
        return (uint16_t)(sign | 0x7e00);
    if (a >= 0x477ff000) /* 65520 and above round to infinity */
        return (uint16_t)(sign | 0x7c00);
    if (a < 0x38800000) /* below 2^-14: adding 0.5 leaves multiples of 2^-24 in the low bits */
        return (uint16_t)(sign | (bits_of_float(float_of_bits(a) + 0.5f) & 0x7ff));
    uint32_t odd = a >> 13 & 1;
    return (uint16_t)(sign | ((a - 0x38000000 + 0xfff + odd) >> 13));
}

/* To nearest with ties to even, inside lo .. hi: adding 1.5 * 2^23 drops the fraction bits.
 * A NaN fails both comparisons of the first line and becomes 0, or lo where 0 is outside. */
static int32_t round_clamp(float v, float lo, float hi)
{
    v = v > lo ? v : v <= lo ? lo : 0;
    v = v < hi ? v : hi;
    return (int32_t)(bits_of_float(v + 12582912.0f) - 0x4b400000u);
}

static void load_float(float *dst, const void *src, tamis_type type, size_t step, size_t n)
{
    const uint8_t *u8 = src;
    const any_u16 *u16 = src;
    const any_s16 *s16 = src;
    const any_f32 *f32 = src;
    switch (type) {
    case TAMIS_U8:
        for (size_t i = 0; i < n; i++)
            dst[i] = u8[i * step];
        break;
    case TAMIS_U16:
        for (size_t i = 0; i < n; i++)
            dst[i] = u16[i * step];
        break;
    case TAMIS_S16:
        for (size_t i = 0; i < n; i++)
            dst[i] = s16[i * step];
        break;
    case TAMIS_F16:
        for (size_t i = 0; i < n; i++)
            dst[i] = float_of_half(u16[i * step]);
        break;
    case TAMIS_F32:
        for (size_t i = 0; i < n; i++)
            dst[i] = f32[i * step];
        break;
    }
}

static void store_float(void *dst, tamis_type type, size_t step, const float *src, size_t n)
{
    uint8_t *u8 = dst;
    any_u16 *u16 = dst;
    any_s16 *s16 = dst;
    any_f32 *f32 = dst;
    switch (type) {
    case TAMIS_U8:
        for (size_t i = 0; i < n; i++)
            u8[i * step] = (uint8_t)round_clamp(src[i], 0, 255);
        break;
    case TAMIS_U16:
        for (size_t i = 0; i < n; i++)
            u16[i * step] = (uint16_t)round_clamp(src[i], 0, 65535);
        break;
    case TAMIS_S16:
        for (size_t i = 0; i < n; i++)
            s16[i * step] = (int16_t)round_clamp(src[i], -32768, 32767);
        break;
    case TAMIS_F16:
        for (size_t i = 0; i < n; i++)
            u16[i * step] = half_of_float(src[i]);
        break;
    case TAMIS_F32:
        for (size_t i = 0; i < n; i++)
            f32[i * step] = src[i];
        break;
    }
}

/* The same type: bytes move unchanged, so that NaN payloads survive. */
static void copy_samples(void *dst, size_t dst_step, const void *src, size_t src_step, size_t size,
                         size_t n)
{
    if (dst_step == 1 && src_step == 1) {
        memcpy(dst, src, n * size);
    } else if (size == 1) {
        uint8_t *d = dst;
        const uint8_t *s = src;
        for (size_t i = 0; i < n; i++)
            d[i * dst_step] = s[i * src_step];
    } else if (size == 2) {
        any_u16 *d = dst;
        const any_u16 *s = src;
        for (size_t i = 0; i < n; i++)
            d[i * dst_step] = s[i * src_step];
    } else {
        any_u32 *d = dst;
        const any_u32 *s = src;
        for (size_t i = 0; i < n; i++)
            d[i * dst_step] = s[i * src_step];
    }
}

void tamis_priv_convert(void *dst, tamis_type dst_type, size_t dst_step, const void *src,
                        tamis_type src_type, size_t src_step, size_t n)
{
    enum { CHUNK = 256 };
    float chunk[CHUNK];
    if (dst_type == src_type) {
        copy_samples(dst, dst_step, src, src_step, tamis_type_size(dst_type), n);
    } else if (dst_type == TAMIS_F32 && dst_step == 1) {
        load_float(dst, src, src_type, src_step, n);
    } else if (src_type == TAMIS_F32 && src_step == 1) {
        store_float(dst, dst_type, dst_step, src, n);
    } else {
        for (size_t i = 0; i < n; i += CHUNK) {
            size_t m = n - i < CHUNK ? n - i : CHUNK;
            const char *s = (const char *)src + i * src_step * tamis_type_size(src_type);
            char *d = (char *)dst + i * dst_step * tamis_type_size(dst_type);
            load_float(chunk, s, src_type, src_step, m);
            store_float(d, dst_type, dst_step, chunk, m);
        }
    }
}

void tamis_priv_convert_value(void *dst, tamis_type type, double value)
{
    float f = (float)value;
    store_float(dst, type, 1, &f, 1);
}

void tamis_priv_premultiply(float *const *color, int colors, const float *alpha, size_t n,
                            float range)
{
    for (int c = 0; c < colors; c++)
        for (size_t i = 0; i < n; i++)
            color[c][i] *= alpha[i] / range;
}

void tamis_priv_unpremultiply(float *const *color, int colors, const float *alpha, size_t n,
                              float range)
{
    for (int c = 0; c < colors; c++)
        for (size_t i = 0; i < n; i++)
            color[c][i] = alpha[i] > 0 ? color[c][i] / (alpha[i] / range) : 0;
}

tamis_status tamis_image_copy(tamis_ctx *ctx, const tamis_image *src, const tamis_image *dst)
{
    TAMIS_TRY(tamis_image_check(ctx, src));
    TAMIS_TRY(tamis_image_check(ctx, dst));
    if (src->w != dst->w || src->h != dst->h || src->format.channels != dst->format.channels)
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT,
                               "copy: %dx%d with %d channels does not fit %dx%d with %d", src->w,
                               src->h, src->format.channels, dst->w, dst->h, dst->format.channels);
    int channels = src->format.channels;
    int src_planar = src->format.layout == TAMIS_PLANAR;
    int dst_planar = dst->format.layout == TAMIS_PLANAR;
    size_t src_size = tamis_type_size(src->format.type);
    size_t dst_size = tamis_type_size(dst->format.type);
    for (int32_t y = 0; y < src->h; y++) {
        if (!src_planar && !dst_planar) {
            tamis_priv_convert(tamis_image_row(dst, 0, y), dst->format.type, 1,
                               tamis_image_row(src, 0, y), src->format.type, 1,
                               (size_t)src->w * (size_t)channels);
            continue;
        }
        for (int c = 0; c < channels; c++) {
            const char *s = tamis_image_row(src, src_planar ? c : 0, y);
            char *d = tamis_image_row(dst, dst_planar ? c : 0, y);
            tamis_priv_convert(d + (dst_planar ? 0 : (size_t)c * dst_size), dst->format.type,
                               dst_planar ? 1 : (size_t)channels,
                               s + (src_planar ? 0 : (size_t)c * src_size), src->format.type,
                               src_planar ? 1 : (size_t)channels, (size_t)src->w);
        }
    }
    return TAMIS_OK;
}
