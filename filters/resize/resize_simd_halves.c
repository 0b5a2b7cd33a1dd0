/* SPDX-License-Identifier: Apache-2.0 */
/* Fast rows of resize where every pixel of the result is the mean of 2x2: straight from two rows
 * of the source. Sums of four integers divided by four are what the reference's arithmetic gives
 * exactly: halves upwards for u8, which is fixed point there, to even for 16 bits. */
#include "cpu/simd.h"
#include "resize_kernel.h"

enum { LANES = TV_BYTES / 4, WORDS = TV_BYTES / 2 };

/* ---- one channel */

/* The first left bytes of a vector, or all. */
TAMIS_INLINE void store(void *out, tv_u8 v, ptrdiff_t left)
{
    if (left >= TV_BYTES)
        tv_store_u8(out, v);
    else
        tv_store_first(out, v, (size_t)left);
}

/* Sums of neighbors. */
TAMIS_INLINE tv_u16 pairs_u8(const uint8_t *p)
{
#if defined(TAMIS_AVX512)
    return (tv_u16)_mm512_maddubs_epi16(_mm512_loadu_si512(p), _mm512_set1_epi8(1));
#elif defined(TAMIS_AVX2)
    return (tv_u16)_mm256_maddubs_epi16((__m256i)tv_load_u8(p), _mm256_set1_epi8(1));
#else
    tv_u16 v = tv_load_u16(p);
    return (v & 0xff) + (v >> 8);
#endif
}

TAMIS_INLINE void means_u8(const uint8_t *a, const uint8_t *b, uint8_t *out, int n)
{
    for (int i = 0; i < n; i += TV_BYTES) {
        tv_u16 low = (pairs_u8(a + 2 * i) + pairs_u8(b + 2 * i) + 2) >> 2;
        tv_u16 high = (pairs_u8(a + 2 * i + TV_BYTES) + pairs_u8(b + 2 * i + TV_BYTES) + 2) >> 2;
        store(out + i, tv_narrow_u16(low, high), n - i);
    }
}

TAMIS_INLINE tv_s32 pairs_16(const void *p, tamis_type type)
{
    if (type == TAMIS_S16)
        return tv_dot_s16((tv_s32){0}, tv_load_s16(p), (tv_s16){0} + 1);
    tv_u32 v = tv_load_u32(p);
    return (tv_s32)((v & 0xffff) + (v >> 16));
}

TAMIS_INLINE tv_s32 quarter(tv_s32 sum)
{
    return (sum + 1 + (sum >> 2 & 1)) >> 2;
}

/* a and b are of 16 bits. */
TAMIS_INLINE void means_16(const uint16_t *a, const uint16_t *b, uint16_t *out, int n,
                           tamis_type type)
{
    for (int i = 0; i < n; i += WORDS) {
        const uint16_t *p = a + 2 * i, *q = b + 2 * i;
        tv_s32 low = quarter(pairs_16(p, type) + pairs_16(q, type));
        tv_s32 high = quarter(pairs_16(p + WORDS, type) + pairs_16(q + WORDS, type));
        store(out + i, (tv_u8)tv_narrow_s32(low, high), 2 * (ptrdiff_t)(n - i));
    }
}

#if TV_BYTES == 64
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define ODD  1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#elif TV_BYTES == 32
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define ODD  1, 3, 5, 7, 9, 11, 13, 15
#else
#define EVEN 0, 2, 4, 6
#define ODD  1, 3, 5, 7
#endif

/* The reference adds to 0, which makes +0 of a -0. */
TAMIS_INLINE tv_f32 mean_f32(tv_f32 left, tv_f32 right)
{
    return 0.5f * left + 0.5f * right + 0.0f;
}

TAMIS_INLINE tv_f32 column_f32(const float *a, const float *b)
{
    return 0.5f * tv_load_f32(a) + 0.5f * tv_load_f32(b);
}

TAMIS_INLINE void means_f32(const float *a, const float *b, float *out, int n)
{
    for (int i = 0; i < n; i += LANES) {
        tv_f32 p = column_f32(a + 2 * i, b + 2 * i);
        tv_f32 q = column_f32(a + 2 * i + LANES, b + 2 * i + LANES);
        tv_f32 v =
            mean_f32(__builtin_shufflevector(p, q, EVEN), __builtin_shufflevector(p, q, ODD));
        store(out + i, (tv_u8)v, 4 * (ptrdiff_t)(n - i));
    }
}

/* ---- several channels: of each sample and the one a pixel on; half of them are used */

/* The means of two, halves upwards. */
#if defined(TAMIS_AVX512)
#define MEAN_TWO(T, N) (tv_##T) _mm512_avg_ep##T((__m512i)a, (__m512i)b)
#elif defined(TAMIS_AVX2)
#define MEAN_TWO(T, N) (tv_##T) _mm256_avg_ep##T((__m256i)a, (__m256i)b)
#elif defined(TAMIS_SSE2)
#define MEAN_TWO(T, N) (tv_##T) _mm_avg_ep##T((__m128i)a, (__m128i)b)
#elif defined(TAMIS_NEON)
#define MEAN_TWO(T, N) (tv_##T) vrhaddq_##T((N)a, (N)b)
#endif
TAMIS_INLINE tv_u8 mean_two_u8(tv_u8 a, tv_u8 b)
{
    return MEAN_TWO(u8, uint8x16_t);
}
TAMIS_INLINE tv_u16 mean_two_u16(tv_u16 a, tv_u16 b)
{
    return MEAN_TWO(u16, uint16x8_t);
}
#undef MEAN_TWO

/* The mean of means is one too high where its own rounding and one before went up. */
TAMIS_INLINE void spread_u8(const uint8_t *a, const uint8_t *b, uint8_t *out, ptrdiff_t n, int step)
{
    for (ptrdiff_t i = 0; i < n; i += TV_BYTES) {
        tv_u8 p = tv_load_u8(a + i), q = tv_load_u8(a + i + step);
        tv_u8 r = tv_load_u8(b + i), s = tv_load_u8(b + i + step);
        tv_u8 x = mean_two_u8(p, q), y = mean_two_u8(r, s);
        tv_store_u8(out + i, mean_two_u8(x, y) - (((p ^ q) | (r ^ s)) & (x ^ y) & 1));
    }
}

/* The same, and then down to the even one where the sum was in the middle: the sum is twice that of
 * the two means, less one for each that was rounded. Signed samples are moved up by flip. */
TAMIS_INLINE void spread_16(const uint16_t *a, const uint16_t *b, uint16_t *out, ptrdiff_t n,
                            int step, tamis_type type)
{
    const tv_u16 flip = (tv_u16){0} + (uint16_t)(type == TAMIS_S16 ? 0x8000 : 0);
    for (ptrdiff_t i = 0; i < n; i += WORDS) {
        tv_u16 p = tv_load_u16(a + i) ^ flip, q = tv_load_u16(a + i + step) ^ flip;
        tv_u16 r = tv_load_u16(b + i) ^ flip, s = tv_load_u16(b + i + step) ^ flip;
        tv_u16 x = mean_two_u16(p, q), y = mean_two_u16(r, s);
        tv_u16 any = (p ^ q) | (r ^ s), both = (p ^ q) & (r ^ s), odd = x ^ y;
        tv_u16 v = mean_two_u16(x, y) - (any & odd & 1);
        tv_u16 middle = (odd & ~any) | (both & ~odd);
        tv_store_u16(out + i, (v - (v & middle & 1)) ^ flip);
    }
}

TAMIS_INLINE void spread_f32(const float *a, const float *b, float *out, ptrdiff_t n, int step)
{
    for (ptrdiff_t i = 0; i < n; i += LANES)
        tv_store_f32(out + i,
                     mean_f32(column_f32(a + i, b + i), column_f32(a + i + step, b + i + step)));
}

/* Every other pixel, w of them. The sizes that no register has are copied as the next that one has,
 * but for the last. */
TAMIS_INLINE void pick(const char *from, char *out, int w, size_t pixel)
{
    size_t wide = pixel == 3 ? 4 : pixel == 6 ? 8 : pixel;
    int i = 0;
    for (; i < w - 1; i++)
        memcpy(out + (size_t)i * pixel, from + 2 * (size_t)i * pixel, wide);
    memcpy(out + (size_t)i * pixel, from + 2 * (size_t)i * pixel, pixel);
}

TAMIS_INLINE void spread(const void *a, const void *b, void *out, ptrdiff_t n, int step,
                         tamis_type type)
{
    if (type == TAMIS_U8)
        spread_u8(a, b, out, n, step);
    else if (type == TAMIS_F32)
        spread_f32(a, b, out, n, step);
    else
        spread_16(a, b, out, n, step, type);
}

/* ---- the kernels */

TAMIS_INLINE void row(const void *a, const void *b, void *out, const tamis_tile *t, void *buffer,
                      tamis_type type)
{
    const size_t size = type == TAMIS_U8 ? 1 : type == TAMIS_F32 ? 4 : 2;
    if (t->step > 1)
        spread(a, b, buffer, 2 * (ptrdiff_t)t->w * t->step, t->step, type);
    if (t->step == 2)
        pick(buffer, out, t->w, 2 * size);
    else if (t->step == 3)
        pick(buffer, out, t->w, 3 * size);
    else if (t->step == 4)
        pick(buffer, out, t->w, 4 * size);
    else if (type == TAMIS_U8)
        means_u8(a, b, out, t->w);
    else if (type == TAMIS_F32)
        means_f32(a, b, out, t->w);
    else
        means_16(a, b, out, t->w, type);
}

TAMIS_INLINE void tile(const tamis_tile *t, const struct resize_coef *c, void *buffer,
                       tamis_type type)
{
    const size_t size = type == TAMIS_U8 ? 1 : type == TAMIS_F32 ? 4 : 2;
    ptrdiff_t from = (c->x.start[t->x] - t->from.x) * t->step * (ptrdiff_t)size;
    for (int j = 0; j < t->h; j++) {
        const void *const *r = t->src[0] + (c->y.start[t->y + j] - t->from.y);
        row((const char *)r[0] + from, (const char *)r[1] + from,
            (char *)t->dst[0] + j * t->dst_stride[0], t, buffer, type);
    }
}

void TAMIS_FN(tamis_priv_resize_halves)(const tamis_tile *t, const void *coef, void *scratch,
                                        tamis_type type)
{
    switch (type) {
    case TAMIS_U8:
        tile(t, coef, scratch, TAMIS_U8);
        break;
    case TAMIS_U16:
        tile(t, coef, scratch, TAMIS_U16);
        break;
    case TAMIS_S16:
        tile(t, coef, scratch, TAMIS_S16);
        break;
    default:
        tile(t, coef, scratch, TAMIS_F32);
    }
}
