/* SPDX-License-Identifier: Apache-2.0 */
/* Vector kernels for windows of 3x3, 5x5 and 7x7: a vector of columns goes down a band of rows with
 * the last row sums in registers, so that no sum passes through memory. Row sums of integers are
 * kept for even and for odd columns apart, in lanes of twice the width. */
#include "box_kernel.h"

#include "cpu/simd.h"

enum {
    N64 = TV_BYTES / 8,
    AHEAD = 128 /* bytes that are fetched before their turn: hardware foresees few rows at a time */
};

/* ---- u8: sums fit 16 bits */

struct sums_16 {
    tv_u16 even, odd;
};

/* The sum of both bytes of each lane. */
TAMIS_INLINE tv_u16 pairs(tv_u16 v)
{
#if defined(TAMIS_AVX512)
    return (tv_u16)_mm512_maddubs_epi16((__m512i)v, _mm512_set1_epi8(1));
#elif defined(TAMIS_AVX2)
    return (tv_u16)_mm256_maddubs_epi16((__m256i)v, _mm256_set1_epi8(1));
#else
    return (v & 255) + (v >> 8);
#endif
}

/* Sums of w samples from p, p+1 ... on. Where they are neighbors, the windows of an even column and
 * of the odd one after it share the pairs between their ends. */
TAMIS_INLINE struct sums_16 row_16(const uint8_t *p, int w, int step)
{
    struct sums_16 s = {{0}, {0}};
    if (step == 1) {
        tv_u16 shared = pairs(tv_load_u16(p + 1));
        for (int j = 3; j < w; j += 2)
            shared += pairs(tv_load_u16(p + j));
        s.even = shared + (tv_load_u16(p - 1) >> 8);
        s.odd = shared + (tv_load_u16(p + w) & 255);
    } else {
        for (int j = 0; j < w; j++) {
            tv_u16 v = tv_load_u16(p + (ptrdiff_t)j * step);
            s.even += v & 255;
            s.odd += v >> 8;
        }
    }
    return s;
}

/* (sum + n/2) / n by n = k * k, for such numbers of 16 bits: their product with a magic number
 * m = (2^(16+s) + e) / n, shifted by 16 + s, is exact while 255.5 n e < 2^(16+s). */
TAMIS_INLINE tv_u16 high_product(tv_u16 sum, int k)
{
    const uint16_t m = k == 3 ? 7282 : k == 5 ? 5243 : 2675; /* e = 2, 3, 3 */
    tv_u16 magic = m - (tv_u16){0};
#if defined(TAMIS_AVX512)
    return (tv_u16)_mm512_mulhi_epu16((__m512i)sum, (__m512i)magic);
#elif defined(TAMIS_AVX2)
    return (tv_u16)_mm256_mulhi_epu16((__m256i)sum, (__m256i)magic);
#elif defined(TAMIS_SSE2)
    return (tv_u16)_mm_mulhi_epu16((__m128i)sum, (__m128i)magic);
#else
    typedef uint32_t wide __attribute__((vector_size(2 * TV_BYTES)));
    wide product = __builtin_convertvector(sum, wide) * __builtin_convertvector(magic, wide);
    return __builtin_convertvector(product >> 16, tv_u16);
#endif
}

/* Levels of even and of odd columns side by side. */
TAMIS_INLINE tv_u16 levels_16(const struct sums_16 *all, int k)
{
    const int s = k > 3;
    tv_u16 even = high_product(all->even, k), odd = high_product(all->odd, k);
    if (s == 0)
        return even | odd << 8;
    return even >> s | (odd << (8 - s) & 0xff00);
}

/* n samples at most. */
TAMIS_INLINE void store_bytes(char *dst, tv_u16 v, int n)
{
    if (n >= TV_BYTES)
        tv_store_u16(dst, v);
    else
        tv_store_first(dst, (tv_u8)v, (size_t)n);
}

TAMIS_INLINE void band_16(const tamis_tile *t, const struct box_coef *c, int k, int step, int y,
                          int rows, int x)
{
    const void *const *src = t->src[0] + (y - c->top);
    ptrdiff_t at = x - (ptrdiff_t)c->left * step, stride = t->dst_stride[0];
    int n = t->w * step - x;
    char *dst = (char *)t->dst[0] + y * stride + x;
    struct sums_16 last[6], all = {(uint16_t)(c->n / 2) - (tv_u16){0}, {0}};
    all.odd = all.even;
    for (int j = 0; j < k - 1; j++) {
        last[j] = row_16((const uint8_t *)src[j] + at, k, step);
        all.even += last[j].even;
        all.odd += last[j].odd;
    }
    for (int i = 0; i < rows; i++, dst += stride) {
        __builtin_prefetch((const uint8_t *)src[i + k - 1] + at + AHEAD);
        struct sums_16 next = row_16((const uint8_t *)src[i + k - 1] + at, k, step);
        all.even += next.even;
        all.odd += next.odd;
        store_bytes(dst, levels_16(&all, k), n);
        all.even -= last[0].even;
        all.odd -= last[0].odd;
        for (int j = 0; j < k - 2; j++)
            last[j] = last[j + 1];
        last[k - 2] = next;
    }
}

/* ---- u16 and s16: sums of 32 bits */

struct sums_32 {
    tv_s32 even, odd;
};

/* Samples less 32768 where they have no sign: dot products take numbers with one. */
TAMIS_INLINE tv_s16 load_signed(tamis_type type, const uint16_t *p)
{
    tv_u16 v = tv_load_u16(p);
    return (tv_s16)(type == TAMIS_U16 ? v ^ 0x8000 : v);
}

TAMIS_INLINE struct sums_32 row_32(tamis_type type, const uint16_t *p, int w, int step)
{
    const tv_s16 first = (tv_s16)(1 - (tv_s32){0}), second = (tv_s16)(0x10000 - (tv_s32){0});
    struct sums_32 s = {{0}, {0}};
    if (step == 1) {
        tv_s32 shared = {0};
        for (int j = 1; j < w; j += 2)
            shared = tv_dot_s16(shared, load_signed(type, p + j), first | second);
        s.even = tv_dot_s16(shared, load_signed(type, p - 1), second);
        s.odd = tv_dot_s16(shared, load_signed(type, p + w), first);
    } else {
        for (int j = 0; j < w; j++) {
            tv_s16 v = load_signed(type, p + (ptrdiff_t)j * step);
            s.even = tv_dot_s16(s.even, v, first);
            s.odd = tv_dot_s16(s.odd, v, second);
        }
    }
    return s;
}

/* Of sums below 2^24 that are not negative and have n/2 added; exact, see make_inverse(). */
TAMIS_INLINE tv_s32 quotient_32(tv_s32 sum, const struct box_coef *c)
{
    return __builtin_convertvector(__builtin_convertvector(sum, tv_f32) * c->inverse, tv_s32);
}

TAMIS_INLINE void band_32(const tamis_tile *t, const struct box_coef *c, tamis_type type, int k,
                          int step, int y, int rows, int x)
{
    const void *const *src = t->src[0] + (y - c->top);
    ptrdiff_t at = x - (ptrdiff_t)c->left * step, stride = t->dst_stride[0];
    int bytes = (t->w * step - x) * 2;
    char *dst = (char *)t->dst[0] + y * stride + (ptrdiff_t)x * 2;
    struct sums_32 last[6], all = {c->n / 2 + c->n * 32768 - (tv_s32){0}, {0}};
    all.odd = all.even;
    for (int j = 0; j < k - 1; j++) {
        last[j] = row_32(type, (const uint16_t *)src[j] + at, k, step);
        all.even += last[j].even;
        all.odd += last[j].odd;
    }
    for (int i = 0; i < rows; i++, dst += stride) {
        __builtin_prefetch((const uint16_t *)src[i + k - 1] + at + AHEAD / 2);
        struct sums_32 next = row_32(type, (const uint16_t *)src[i + k - 1] + at, k, step);
        all.even += next.even;
        all.odd += next.odd;
        tv_u16 v = (tv_u16)(quotient_32(all.even, c) | quotient_32(all.odd, c) << 16);
        store_bytes(dst, type == TAMIS_S16 ? v ^ 0x8000 : v, bytes);
        all.even -= last[0].even;
        all.odd -= last[0].odd;
        for (int j = 0; j < k - 2; j++)
            last[j] = last[j + 1];
        last[k - 2] = next;
    }
}

/* ---- f32: sums of binary64, of samples of the window only */

TAMIS_INLINE tv_f64 load_floats(const float *p)
{
    tv_f32h v;
    memcpy(&v, p, sizeof v);
#if defined(TAMIS_AVX512)
    return (tv_f64)_mm512_cvtps_pd((__m256)v);
#else
    return __builtin_convertvector(v, tv_f64);
#endif
}

TAMIS_INLINE tv_f64 row_64(const float *p, int w, int step)
{
    tv_f64 sum = load_floats(p);
    for (int j = 1; j < w; j++)
        sum += load_floats(p + (ptrdiff_t)j * step);
    return sum;
}

/* Rows are added by pairs, each of which serves several windows. */
TAMIS_INLINE void band_64(const tamis_tile *t, const struct box_coef *c, int k, int step, int y,
                          int rows, int x)
{
    const void *const *src = t->src[0] + (y - c->top);
    ptrdiff_t at = x - (ptrdiff_t)c->left * step, stride = t->dst_stride[0];
    int n = t->w * step - x;
    char *dst = (char *)t->dst[0] + y * stride + (ptrdiff_t)x * 4;
    tv_f64 pairs[5], last = row_64((const float *)src[0] + at, k, step);
    for (int j = 0; j < k - 2; j++) {
        tv_f64 next = row_64((const float *)src[j + 1] + at, k, step);
        pairs[j] = last + next;
        last = next;
    }
    for (int i = 0; i < rows; i++, dst += stride) {
        __builtin_prefetch((const float *)src[i + k - 1] + at + AHEAD / 4);
        tv_f64 next = row_64((const float *)src[i + k - 1] + at, k, step), sum = pairs[0];
        for (int j = 2; j < k - 2; j += 2)
            sum += pairs[j];
        tv_f32h mean = __builtin_convertvector((sum + next) * c->inverse_64, tv_f32h);
        if (n >= N64)
            memcpy(dst, &mean, sizeof mean);
        else
            memcpy(dst, &mean, (size_t)n * sizeof(float));
        for (int j = 0; j < k - 3; j++)
            pairs[j] = pairs[j + 1];
        pairs[k - 3] = last + next;
        last = next;
    }
}

/* ---- tiles */

/* Each band begins with row sums that the one before had too, but rows that are many do not stay in
 * the first cache. */
TAMIS_INLINE void bands(const tamis_tile *t, const struct box_coef *c, tamis_type type, int k,
                        int step)
{
    const int most = type == TAMIS_U8 && step == 1 ? 32 : 16;
    const int lanes = type == TAMIS_U8 ? TV_BYTES : type == TAMIS_F32 ? N64 : TV_BYTES / 2;
    for (int y = 0; y < t->h; y += most) {
        int rows = t->h - y < most ? t->h - y : most;
        for (int x = 0; x < t->w * step; x += lanes)
            if (type == TAMIS_U8)
                band_16(t, c, k, step, y, rows, x);
            else if (type == TAMIS_F32)
                band_64(t, c, k, step, y, rows, x);
            else
                band_32(t, c, type, k, step, y, rows, x);
    }
}

/* Whether this is faster than sums of columns in memory: not where the taps of a row are many and,
 * with channels between them, share nothing, or where registers are few. */
TAMIS_INLINE int suits(const struct box_coef *c, tamis_type type, int step)
{
    if (c->w != c->h || c->n == 1)
        return 0;
    if (type == TAMIS_F32)
        return c->w == 3 || c->w == 5 || c->w == 7;
    return c->w == 3 || (c->w == 5 && (step == 1 || TV_BYTES == 64)) ||
           (c->w == 7 && step == 1 && type == TAMIS_U8);
}

/* With the number of channels known to the compiler, as for gray and for color. */
TAMIS_INLINE void channels(const tamis_tile *t, const struct box_coef *c, tamis_type type, int k)
{
    if (t->step == 1)
        bands(t, c, type, k, 1);
    else if (t->step == 3)
        bands(t, c, type, k, 3);
    else
        bands(t, c, type, k, t->step);
}

TAMIS_INLINE void sides(const tamis_tile *t, const struct box_coef *c, tamis_type type)
{
    if (c->w == 3)
        channels(t, c, type, 3);
    else if (c->w == 5)
        channels(t, c, type, 5);
    else if (type == TAMIS_F32)
        channels(t, c, type, 7);
    else if (type == TAMIS_U8)
        bands(t, c, type, 7, 1);
}

int TAMIS_FN(tamis_priv_box_small)(const tamis_tile *tile, const void *coef, tamis_type type)
{
    const tamis_tile t = *tile; /* which no store can be thought to change */
    const struct box_coef c = *(const struct box_coef *)coef;
    if (!suits(&c, type, t.step))
        return 0;
    if (type == TAMIS_U8)
        sides(&t, &c, TAMIS_U8);
    else if (type == TAMIS_U16)
        sides(&t, &c, TAMIS_U16);
    else if (type == TAMIS_S16)
        sides(&t, &c, TAMIS_S16);
    else
        sides(&t, &c, TAMIS_F32);
    return 1;
}
