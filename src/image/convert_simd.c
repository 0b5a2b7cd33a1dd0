/* SPDX-License-Identifier: Apache-2.0 */
/* Loops over rows of samples, plain enough for the compiler to vectorize. Compiled once per
 * instruction set; the results are the same bits in all. */
#include <string.h>

#include "core/cpu.h"
#include "image/convert.h"

/* Samples in a caller's memory may lie at any address. */
typedef uint16_t any_u16 __attribute__((aligned(1), may_alias));
typedef int16_t any_s16 __attribute__((aligned(1), may_alias));

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
 * A NaN fails both comparisons of the first line and becomes 0, which lies inside. */
static int32_t round_clamp(float v, float lo, float hi)
{
    v = v > lo ? v : v <= lo ? lo : 0;
    v = v < hi ? v : hi;
    return (int32_t)(bits_of_float(v + 12582912.0f) - 0x4b400000u);
}

static void load_float(float *restrict dst, const void *restrict src, tamis_type type, size_t n)
{
    const uint8_t *u8 = src;
    const any_u16 *u16 = src;
    const any_s16 *s16 = src;
    switch (type) {
    case TAMIS_U8:
        for (size_t i = 0; i < n; i++)
            dst[i] = u8[i];
        break;
    case TAMIS_U16:
        for (size_t i = 0; i < n; i++)
            dst[i] = u16[i];
        break;
    case TAMIS_S16:
        for (size_t i = 0; i < n; i++)
            dst[i] = s16[i];
        break;
    case TAMIS_F16:
        for (size_t i = 0; i < n; i++)
            dst[i] = float_of_half(u16[i]);
        break;
    case TAMIS_F32:
        memcpy(dst, src, n * sizeof *dst);
        break;
    }
}

static void store_float(void *restrict dst, tamis_type type, const float *restrict src, size_t n)
{
    uint8_t *u8 = dst;
    any_u16 *u16 = dst;
    any_s16 *s16 = dst;
    switch (type) {
    case TAMIS_U8:
        for (size_t i = 0; i < n; i++)
            u8[i] = (uint8_t)round_clamp(src[i], 0, 255);
        break;
    case TAMIS_U16:
        for (size_t i = 0; i < n; i++)
            u16[i] = (uint16_t)round_clamp(src[i], 0, 65535);
        break;
    case TAMIS_S16:
        for (size_t i = 0; i < n; i++)
            s16[i] = (int16_t)round_clamp(src[i], -32768, 32767);
        break;
    case TAMIS_F16:
        for (size_t i = 0; i < n; i++)
            u16[i] = half_of_float(src[i]);
        break;
    case TAMIS_F32:
        memcpy(dst, src, n * sizeof *src);
        break;
    }
}

enum { CHUNK = 512 }; /* samples that wait in the first cache between two loops */

static size_t chunk_of(size_t left, size_t most)
{
    return left < most ? left : most;
}

static void convert(void *dst, tamis_type dst_type, const void *src, tamis_type src_type, size_t n)
{
    float chunk[CHUNK];
    size_t dst_size = tamis_type_size(dst_type), src_size = tamis_type_size(src_type);
    if (dst_type == src_type) { /* bytes move unchanged, so that NaN payloads survive */
        memcpy(dst, src, n * dst_size);
        return;
    }
    for (size_t i = 0; i < n; i += CHUNK) {
        size_t m = chunk_of(n - i, CHUNK);
        load_float(chunk, (const char *)src + i * src_size, src_type, m);
        store_float((char *)dst + i * dst_size, dst_type, chunk, m);
    }
}

#define SAMPLE     uint8_t
#define NAME(stem) stem##_1
#include "image/split_join.h"
#define SAMPLE     uint16_t
#define NAME(stem) stem##_2
#include "image/split_join.h"
#define SAMPLE     uint32_t
#define NAME(stem) stem##_4
#include "image/split_join.h"

static void split_same(void *const *planes, const void *packed, size_t size, int channels, size_t n)
{
    if (size == 1)
        split_1(planes, packed, channels, n);
    else if (size == 2)
        split_2(planes, packed, channels, n);
    else
        split_4(planes, packed, channels, n);
}

static void join_same(void *packed, const void *const *planes, size_t size, int channels, size_t n)
{
    if (size == 1)
        join_1(packed, planes, channels, n);
    else if (size == 2)
        join_2(packed, planes, channels, n);
    else
        join_4(packed, planes, channels, n);
}

static void split(void *const *planes, tamis_type type, const void *packed, tamis_type packed_type,
                  int channels, size_t n)
{
    uint32_t chunk[CHUNK];
    size_t size = tamis_type_size(type), c = (size_t)channels;
    size_t packed_size = tamis_type_size(packed_type);
    for (size_t i = 0; i < n; i += CHUNK / TAMIS_MAX_CHANNELS) {
        size_t m = chunk_of(n - i, CHUNK / TAMIS_MAX_CHANNELS);
        void *to[TAMIS_MAX_CHANNELS] = {0};
        for (int p = 0; p < channels; p++)
            to[p] = (char *)planes[p] + i * size;
        /* Through the chunk even without a change of type: it is aligned as the loops expect. */
        convert(chunk, type, (const char *)packed + i * c * packed_size, packed_type, m * c);
        split_same(to, chunk, size, channels, m);
    }
}

static void join(void *packed, tamis_type packed_type, const void *const *planes, tamis_type type,
                 int channels, size_t n)
{
    uint32_t chunk[CHUNK];
    size_t size = tamis_type_size(type), c = (size_t)channels;
    size_t packed_size = tamis_type_size(packed_type);
    for (size_t i = 0; i < n; i += CHUNK / TAMIS_MAX_CHANNELS) {
        size_t m = chunk_of(n - i, CHUNK / TAMIS_MAX_CHANNELS);
        const void *from[TAMIS_MAX_CHANNELS] = {0};
        for (int p = 0; p < channels; p++)
            from[p] = (const char *)planes[p] + i * size;
        join_same(chunk, from, size, channels, m);
        convert((char *)packed + i * c * packed_size, packed_type, chunk, type, m * c);
    }
}

static void premultiply(float *restrict color, const float *restrict alpha, size_t n, float range)
{
    for (size_t i = 0; i < n; i++)
        color[i] *= alpha[i] / range;
}

static void unpremultiply(float *restrict color, const float *restrict alpha, size_t n, float range,
                          float clear)
{
    for (size_t i = 0; i < n; i++)
        color[i] = alpha[i] <= clear ? 0 : color[i] / (alpha[i] / range);
}

extern const tamis_convert TAMIS_FN(tamis_priv_convert);
const tamis_convert TAMIS_FN(tamis_priv_convert) = {
    .convert = convert,
    .split = split,
    .join = join,
    .premultiply = premultiply,
    .unpremultiply = unpremultiply,
};
