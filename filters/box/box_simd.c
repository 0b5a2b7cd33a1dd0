/* SPDX-License-Identifier: Apache-2.0 */
/* Vector kernels for integers. Column sums gain a source row and lose one from each output row to
 * the next; windows are sums along them. Those of even and of odd columns are kept apart, so that
 * halves of wide lanes become sums, and results halves of lanes again, without moving between
 * lanes; sums of such pairs halve the work of both. Loops run over whole vectors; what they compute
 * beyond a row's end lands in scratch memory or is not stored. */
#include "box_kernel.h"

#include "cpu/simd.h"

enum { N16 = TV_BYTES / 2, N32 = TV_BYTES / 4 };

/* Sums of the columns 2i, and of columns 2i+1 or, where pixels have one sample, of both. They have
 * 16 bits for u8 in windows up to BOX_NARROW high, where no pair exceeds them, else 32. */
struct columns {
    int narrow, paired;
    void *even, *other;
};

TAMIS_INLINE struct columns make_columns(int narrow, int paired, int count, char *scratch)
{
    size_t bytes = ((size_t)count / 2 + BOX_SLACK / 2) * (narrow ? 2 : 4) / 64 * 64;
    return (struct columns){narrow, paired, scratch, scratch + bytes};
}

TAMIS_INLINE tv_u16 load_16(const void *sums, int i)
{
    return tv_load_u16((const uint16_t *)sums + i);
}

TAMIS_INLINE tv_u32 load_32(const void *sums, int i)
{
    return tv_load_u32((const uint32_t *)sums + i);
}

/* Sums of N32 columns, whatever their width. */
TAMIS_INLINE tv_u32 load_any(int narrow, const void *sums, int i)
{
    return narrow ? (tv_u32)tv_load_widen_u16((const uint16_t *)sums + i) : load_32(sums, i);
}

/* What a source row adds to the sums of TV_BYTES columns of u8. */
TAMIS_INLINE void split_16(const void *row, ptrdiff_t x, int paired, tv_u16 *even, tv_u16 *other)
{
    tv_u16 v = tv_load_u16((const uint8_t *)row + x);
    *even = v & 255;
    *other = paired ? (v & 255) + (v >> 8) : v >> 8;
}

/* Of N16 columns of any type. */
TAMIS_INLINE void split_32(const void *row, tamis_type type, ptrdiff_t x, int paired, tv_u32 *even,
                           tv_u32 *other)
{
    tv_s32 v = type == TAMIS_U8 ? (tv_s32)tv_load_widen_u8((const uint8_t *)row + x)
                                : (tv_s32)tv_load_s16((const int16_t *)row + x);
    tv_s32 odd = type == TAMIS_S16 ? v >> 16 : (tv_s32)((tv_u32)v >> 16);
    tv_s32 first = type == TAMIS_S16 ? v << 16 >> 16 : v & 0xffff;
    *even = (tv_u32)first;
    *other = (tv_u32)(paired ? first + odd : odd);
}

TAMIS_INLINE void store_16(const struct columns *s, int i, const tv_u16 sums[2])
{
    tv_store_u16((uint16_t *)s->even + i, sums[0]);
    tv_store_u16((uint16_t *)s->other + i, sums[1]);
}

TAMIS_INLINE void store_32(const struct columns *s, int i, const tv_u32 sums[2])
{
    tv_store_u32((uint32_t *)s->even + i, sums[0]);
    tv_store_u32((uint32_t *)s->other + i, sums[1]);
}

/* Sums of samples first .. first+count-1 of h rows. */
TAMIS_INLINE void begin_columns(const void *const *rows, int h, tamis_type type, ptrdiff_t first,
                                int count, const struct columns *s)
{
    int width = s->narrow ? TV_BYTES : N16;
    for (int x = 0; x < count; x += width) {
        tv_u16 sums_16[2] = {{0}}, v_16[2];
        tv_u32 sums_32[2] = {{0}}, v_32[2];
        for (int j = 0; j < h; j++) {
            if (s->narrow) {
                split_16(rows[j], first + x, s->paired, &v_16[0], &v_16[1]);
                sums_16[0] += v_16[0];
                sums_16[1] += v_16[1];
            } else {
                split_32(rows[j], type, first + x, s->paired, &v_32[0], &v_32[1]);
                sums_32[0] += v_32[0];
                sums_32[1] += v_32[1];
            }
        }
        if (s->narrow)
            store_16(s, x / 2, sums_16);
        else
            store_32(s, x / 2, sums_32);
    }
}

TAMIS_INLINE void move_columns(const void *gained, const void *lost, tamis_type type,
                               ptrdiff_t first, int count, const struct columns *s)
{
    int width = s->narrow ? TV_BYTES : N16;
    for (int x = 0; x < count; x += width) {
        if (s->narrow) {
            tv_u16 plus[2], minus[2];
            split_16(gained, first + x, s->paired, &plus[0], &plus[1]);
            split_16(lost, first + x, s->paired, &minus[0], &minus[1]);
            store_16(s, x / 2,
                     (const tv_u16[2]){load_16(s->even, x / 2) + plus[0] - minus[0],
                                       load_16(s->other, x / 2) + plus[1] - minus[1]});
        } else {
            tv_u32 plus[2], minus[2];
            split_32(gained, type, first + x, s->paired, &plus[0], &plus[1]);
            split_32(lost, type, first + x, s->paired, &minus[0], &minus[1]);
            store_32(s, x / 2,
                     (const tv_u32[2]){load_32(s->even, x / 2) + plus[0] - minus[0],
                                       load_32(s->other, x / 2) + plus[1] - minus[1]});
        }
    }
}

/* ---- from sums to levels */

TAMIS_INLINE tv_u16 high_product(tv_u16 a, uint16_t b)
{
    tv_u16 v = b - (tv_u16){0};
#if defined(TAMIS_AVX512)
    return (tv_u16)_mm512_mulhi_epu16((__m512i)a, (__m512i)v);
#elif defined(TAMIS_AVX2)
    return (tv_u16)_mm256_mulhi_epu16((__m256i)a, (__m256i)v);
#elif defined(TAMIS_SSE2)
    return (tv_u16)_mm_mulhi_epu16((__m128i)a, (__m128i)v);
#else
    typedef uint32_t wide __attribute__((vector_size(2 * TV_BYTES)));
    wide product = __builtin_convertvector(a, wide) * __builtin_convertvector(v, wide);
    return __builtin_convertvector(product >> 16, tv_u16);
#endif
}

/* Of sums below 2^31 that have n/2 added. */
TAMIS_INLINE tv_s32 divide(tv_u32 bits, const struct box_coef *c, int inexact)
{
    tv_s32 sum = (tv_s32)bits;
    tv_f32 quotient = __builtin_convertvector(sum, tv_f32) * c->inverse;
    tv_s32 level = __builtin_convertvector(quotient, tv_s32);
    if (inexact)
        level -= sum - level * c->n >= c->n; /* true is -1 */
    return level;
}

/* What is added to a window's sum before it is divided: half of n, so that the quotient is rounded,
 * and for s16 what makes it not negative. */
TAMIS_INLINE int32_t bias_of(const struct box_coef *c, tamis_type type)
{
    return c->n / 2 + (type == TAMIS_S16 ? c->n * 32768 : 0);
}

/* n samples at most. */
TAMIS_INLINE void store_samples(void *dst, tamis_type type, int n, tv_u16 v)
{
    if (type == TAMIS_S16)
        v ^= 0x8000;
    int bytes = type == TAMIS_U8 ? n : 2 * n;
    if (bytes >= TV_BYTES)
        tv_store_u16(dst, v);
    else
        tv_store_first(dst, (tv_u8)v, (size_t)bytes);
}

/* ---- few columns: added one by one */

/* Windows of w columns from even and from odd columns on, added to what the two hold. Where there
 * are pairs, both share those between their ends. */
#define ADD_COLUMNS(load, w, step)                                                                 \
    if (s->paired) {                                                                               \
        int m = (w) / 2;                                                                           \
        odd += load(s->other, i) - load(s->even, i);                                               \
        for (int j = 1; j < m; j++) {                                                              \
            even += load(s->other, i + j);                                                         \
            odd += load(s->other, i + j);                                                          \
        }                                                                                          \
        if ((w) > 1) {                                                                             \
            even += load(s->other, i);                                                             \
            odd += load((w) % 2 ? s->other : s->even, i + m);                                      \
        }                                                                                          \
        if ((w) % 2)                                                                               \
            even += load(s->even, i + m);                                                          \
    } else {                                                                                       \
        for (int j = 0; j < (w); j++) {                                                            \
            int at = j * (step), next = at + 1;                                                    \
            even += load(at % 2 ? s->other : s->even, i + at / 2);                                 \
            odd += load(next % 2 ? s->other : s->even, i + next / 2);                              \
        }                                                                                          \
    }

TAMIS_INLINE void row_direct_16(const struct columns *s, const struct box_coef *c, int w, int step,
                                int n, uint8_t *dst)
{
    for (int i = 0; 2 * i < n; i += N16) {
        tv_u16 even = (uint16_t)(c->n / 2) - (tv_u16){0}, odd = even;
        ADD_COLUMNS(load_16, w, step)
        even = high_product(even, c->magic) >> c->shift;
        odd = high_product(odd, c->magic) >> c->shift;
        store_samples(dst + 2 * i, TAMIS_U8, n - 2 * i, even | odd << 8);
    }
}

TAMIS_INLINE void row_direct_32(const struct columns *s, const struct box_coef *c, tamis_type type,
                                int w, int step, int n, uint16_t *dst)
{
    for (int i = 0; 2 * i < n; i += N32) {
        tv_u32 even = (uint32_t)bias_of(c, type) - (tv_u32){0}, odd = even;
        ADD_COLUMNS(load_32, w, step)
        tv_s32 out = divide(even, c, 1) | divide(odd, c, 1) << 16;
        store_samples(dst + 2 * i, type, n - 2 * i, (tv_u16)out);
    }
}
#undef ADD_COLUMNS

/* ---- any number of columns: prefix sums of what a window gains and loses */

/* Lanes move up by n, zeros come in; n is known when this is compiled. */
TAMIS_INLINE tv_u32 lanes_up(tv_u32 v, int n)
{
#if defined(TAMIS_AVX512)
#define UP(N)                                                                                      \
    case N:                                                                                        \
        return (tv_u32)_mm512_alignr_epi32((__m512i)v, _mm512_setzero_si512(), 16 - (N))
    switch (n) {
        UP(1);
        UP(2);
        UP(4);
        UP(8);
    }
#elif defined(TAMIS_AVX2)
    __m256i low = _mm256_permute2x128_si256((__m256i)v, (__m256i)v, 0x08); /* 0, lower half */
#define UP(N)                                                                                      \
    case N:                                                                                        \
        return (tv_u32)_mm256_alignr_epi8((__m256i)v, low, 16 - 4 * (N))
    switch (n) {
        UP(1);
        UP(2);
    case 4:
        return (tv_u32)low;
    }
#else
#define UP(N, ...)                                                                                 \
    case N:                                                                                        \
        return __builtin_shufflevector((tv_u32){0}, v, __VA_ARGS__)
    switch (n) {
        UP(1, 0, 4, 5, 6);
        UP(2, 0, 0, 4, 5);
    }
#endif
#undef UP
    return v;
}

/* The last lane in all of them. */
TAMIS_INLINE tv_u32 last_lane(tv_u32 v)
{
#if defined(TAMIS_AVX512)
    return (tv_u32)_mm512_permutexvar_epi32(_mm512_set1_epi32(15), (__m512i)v);
#elif defined(TAMIS_AVX2)
    return (tv_u32)_mm256_permutevar8x32_epi32((__m256i)v, _mm256_set1_epi32(7));
#else
    return __builtin_shufflevector(v, v, 3, 3, 3, 3);
#endif
}

/* The sum of the first m pairs. */
TAMIS_INLINE uint32_t first_pairs(const struct columns *s, int m)
{
    int i = 0;
    tv_u32 all = {0};
    for (; i + N32 <= m; i += N32)
        all += load_any(s->narrow, s->other, i);
    uint32_t sum = 0;
    for (int j = 0; j < N32; j++)
        sum += all[j];
    for (; i < m; i++)
        sum += s->narrow ? ((const uint16_t *)s->other)[i] : ((const uint32_t *)s->other)[i];
    return sum;
}

/* In each lane the sum of those below it, plus *before, to which all of them are added. */
TAMIS_INLINE tv_u32 running_sum(tv_u32 v, tv_u32 *before)
{
    tv_u32 total = v, sum;
    for (int lanes = 1; lanes < N32; lanes *= 2)
        total += lanes_up(total, lanes);
    sum = *before + (total - v);
    *before += last_lane(total);
    return sum;
}

/* Levels of the windows that begin at columns 2i and 2i+1, side by side in 16-bit lanes. A window
 * of 2m or 2m+1 columns holds the m pairs from its first even column on; these gain pair i+m and
 * lose pair i from one to the next. */
TAMIS_INLINE tv_u16 windows(const struct columns *s, const struct box_coef *c, int is_odd,
                            int inexact, int i, tv_u32 *before)
{
    int m = c->w / 2;
    tv_u32 next_pair = load_32(s->other, i + m);
    tv_u32 next = load_32(s->even, i + m);
    tv_u32 even = running_sum(next_pair - load_32(s->other, i), before);
    tv_u32 odd = even - load_32(s->even, i) + (is_odd ? next_pair : next);
    if (is_odd)
        even += next;
    return (tv_u16)(divide(even, c, inexact) | divide(odd, c, inexact) << 16);
}

/* The same for column sums below 2^14: what pairs gain and lose fits 16 bits, so that dot products
 * add it up for two pairs at once. Levels of four columns lie side by side. */
TAMIS_INLINE tv_u8 low_windows(const struct columns *s, const struct box_coef *c, int is_odd,
                               int inexact, int i, tv_u32 *before)
{
    const tv_s16 first = (tv_s16)(1 - (tv_s32){0}), second = (tv_s16)(0x10000 - (tv_s32){0});
    int m = c->w / 2;
    tv_s16 next_pair = (tv_s16)load_16(s->other, i + m), next = (tv_s16)load_16(s->even, i + m);
    tv_s16 change = next_pair - (tv_s16)load_16(s->other, i);
    tv_s16 odd = (is_odd ? next_pair : next) - (tv_s16)load_16(s->even, i);
    tv_u32 gain = (tv_u32)tv_dot_s16((tv_s32){0}, change, first | second);
    tv_s32 sum = (tv_s32)running_sum(gain, before);
    tv_s32 later = tv_dot_s16(sum, change, first);
    tv_s32 v[4] = {sum, tv_dot_s16(sum, odd, first), later, tv_dot_s16(later, odd, second)};
    if (is_odd) {
        v[0] = tv_dot_s16(sum, next, first);
        v[2] = tv_dot_s16(later, next, second);
    }
    for (int k = 0; k < 4; k++)
        v[k] = divide((tv_u32)v[k], c, inexact) << (8 * k);
    return (tv_u8)((v[0] | v[1]) | (v[2] | v[3]));
}

/* Below 2^15 only what single columns gain and lose fits: sums go from one column to the next. */
TAMIS_INLINE tv_u8 middle_windows(const struct columns *s, const struct box_coef *c, int is_odd,
                                  int inexact, int i, tv_u32 *before)
{
    const tv_s16 first = (tv_s16)(1 - (tv_s32){0}), second = (tv_s16)(0x10000 - (tv_s32){0});
    int m = c->w / 2;
    tv_u16 even = load_16(s->even, i), next = load_16(s->even, i + m);
    tv_u16 odd = load_16(s->other, i) - even, next_odd = load_16(s->other, i + m) - next;
    tv_s16 to_odd = (tv_s16)((is_odd ? next_odd : next) - even);
    tv_s16 change = (tv_s16)(next - even), change_odd = (tv_s16)(next_odd - odd);
    tv_s32 gain = tv_dot_s16((tv_s32){0}, change, first | second);
    gain = tv_dot_s16(gain, change_odd, first | second);
    tv_s32 v[4] = {(tv_s32)running_sum((tv_u32)gain, before)};
    if (is_odd)
        v[0] = tv_dot_s16(v[0], (tv_s16)next, first);
    v[1] = tv_dot_s16(v[0], to_odd, first);
    if (is_odd) { /* a column of the next pair comes in, one of this pair goes */
        tv_s32 both = ((tv_s32)odd & 0xffff) | ((tv_s32)next & ~0xffff);
        v[2] = tv_dot_s16(v[1], (tv_s16)both, second - first);
    } else {
        v[2] = tv_dot_s16(v[1], change_odd, first);
    }
    v[3] = tv_dot_s16(v[2], to_odd, second);
    for (int k = 0; k < 4; k++)
        v[k] = divide((tv_u32)v[k], c, inexact) << (8 * k);
    return (tv_u8)((v[0] | v[1]) | (v[2] | v[3]));
}

TAMIS_INLINE void row_prefix(const struct columns *s, const struct box_coef *c, tamis_type type,
                             int is_odd, int inexact, int n, char *dst)
{
    tv_u32 before = (uint32_t)bias_of(c, type) + first_pairs(s, c->w / 2) - (tv_u32){0};
    if (type != TAMIS_U8)
        for (int i = 0; 2 * i < n; i += N32)
            store_samples(dst + 4 * i, type, n - 2 * i, windows(s, c, is_odd, inexact, i, &before));
    else if (c->h <= BOX_LOW)
        for (int i = 0; 2 * i < n; i += N16)
            store_samples(dst + 2 * i, type, n - 2 * i,
                          (tv_u16)low_windows(s, c, is_odd, inexact, i, &before));
    else if (s->narrow)
        for (int i = 0; 2 * i < n; i += N16)
            store_samples(dst + 2 * i, type, n - 2 * i,
                          (tv_u16)middle_windows(s, c, is_odd, inexact, i, &before));
    else
        for (int i = 0; 2 * i < n; i += N16) {
            tv_u16 low = windows(s, c, is_odd, inexact, i, &before);
            tv_u16 high = windows(s, c, is_odd, inexact, i + N32, &before);
            store_samples(dst + 2 * i, type, n - 2 * i, (tv_u16)tv_narrow_u16(low, high));
        }
}

TAMIS_INLINE void row_parity(const struct columns *s, const struct box_coef *c, tamis_type type,
                             int inexact, int n, char *dst)
{
    if (c->w % 2)
        row_prefix(s, c, type, 1, inexact, n, dst);
    else
        row_prefix(s, c, type, 0, inexact, n, dst);
}

/* ---- sums beyond 31 bits: one by one, in numbers that binary64 divides exactly */

/* The sum of column x, where there are pairs, of 32 bits: no window of u8 with narrower ones is as
 * large. */
TAMIS_INLINE int64_t column(const struct columns *s, ptrdiff_t x)
{
    uint32_t even = ((const uint32_t *)s->even)[x / 2];
    return x % 2 == 0 ? (int32_t)even : (int32_t)(((const uint32_t *)s->other)[x / 2] - even);
}

TAMIS_INLINE void row_huge(const struct columns *s, const struct box_coef *c, tamis_type type,
                           int n, char *dst)
{
    int64_t window = c->n / 2 + (type == TAMIS_S16 ? (int64_t)c->n * 32768 : 0);
    for (int x = 0; x < c->w; x++)
        window += column(s, x);
    for (int x = 0; x < n; x++) {
        int level = (int)(((double)window + 0.5) * c->inverse_64);
        if (type == TAMIS_U8)
            ((uint8_t *)dst)[x] = (uint8_t)level;
        else
            ((uint16_t *)(void *)dst)[x] = (uint16_t)(type == TAMIS_S16 ? level ^ 0x8000 : level);
        window += column(s, x + (ptrdiff_t)c->w) - column(s, x);
    }
}

/* ---- tiles */

/* Numbers of columns and of channels that the compiler may know. */
TAMIS_INLINE void row_direct(const struct columns *s, const struct box_coef *c, tamis_type type,
                             int w, int step, int n, char *dst)
{
    if (type == TAMIS_U8)
        row_direct_16(s, c, w, step, n, (uint8_t *)dst);
    else
        row_direct_32(s, c, type, w, step, n, (uint16_t *)(void *)dst);
}

TAMIS_INLINE void row(const struct columns *s, const struct box_coef *c, tamis_type type, int step,
                      int n, char *dst)
{
    if (s->paired && c->way == BOX_HUGE)
        row_huge(s, c, type, n, dst);
    else if (s->paired && c->way == BOX_PREFIX && type == TAMIS_U8 && !c->inexact)
        row_parity(s, c, type, 0, n, dst);
    else if (s->paired && c->way == BOX_PREFIX)
        row_parity(s, c, type, 1, n, dst);
    else if (s->paired && c->w == 3)
        row_direct(s, c, type, 3, 1, n, dst);
    else if (s->paired && c->w == 5)
        row_direct(s, c, type, 5, 1, n, dst);
    else if (s->paired)
        row_direct(s, c, type, c->w, 1, n, dst);
    else if (step == 3 && c->w == 3)
        row_direct(s, c, type, 3, 3, n, dst);
    else if (step == 3 && c->w == 5)
        row_direct(s, c, type, 5, 3, n, dst);
    else
        row_direct(s, c, type, c->w, step, n, dst);
}

TAMIS_INLINE void tile_of(const tamis_tile *t, const struct box_coef *coef, char *scratch,
                          tamis_type type, int narrow, int paired)
{
    const struct box_coef copy = *coef, *c = &copy; /* which no store can be thought to change */
    int step = paired ? 1 : t->step, n = t->w * step, count = n + (c->w - 1) * step;
    ptrdiff_t first = -(ptrdiff_t)c->left * step;
    struct columns s = make_columns(narrow, paired, count, scratch);
    for (int y = 0; y < t->h; y++) {
        const void *const *rows = t->src[0] + (y - c->top);
        if (y == 0)
            begin_columns(rows, c->h, type, first, count, &s);
        else
            move_columns(rows[c->h - 1], rows[-1], type, first, count, &s);
        row(&s, c, type, step, n, (char *)t->dst[0] + y * t->dst_stride[0]);
    }
}

TAMIS_INLINE void planes_of(const tamis_tile *t, const struct box_coef *c, char *scratch,
                            tamis_type type, int narrow)
{
    for (int p = 0; p < t->planes; p++) {
        tamis_tile one = box_plane(t, p);
        if (t->step == 1)
            tile_of(&one, c, scratch, type, narrow, 1);
        else
            tile_of(&one, c, scratch, type, narrow, 0);
    }
}

static void TAMIS_FN(box_u8)(const tamis_tile *t, const void *coef, void *scratch)
{
    const struct box_coef *c = coef;
    if (TAMIS_FN(tamis_priv_box_small)(t, coef, TAMIS_U8))
        return;
    if (c->h <= BOX_NARROW)
        planes_of(t, c, scratch, TAMIS_U8, 1);
    else
        planes_of(t, c, scratch, TAMIS_U8, 0);
}

static void TAMIS_FN(box_u16)(const tamis_tile *t, const void *coef, void *scratch)
{
    if (!TAMIS_FN(tamis_priv_box_small)(t, coef, TAMIS_U16))
        planes_of(t, coef, scratch, TAMIS_U16, 0);
}

static void TAMIS_FN(box_s16)(const tamis_tile *t, const void *coef, void *scratch)
{
    if (!TAMIS_FN(tamis_priv_box_small)(t, coef, TAMIS_S16))
        planes_of(t, coef, scratch, TAMIS_S16, 0);
}

extern const tamis_kernel TAMIS_FN(box_kernels)[];
const tamis_kernel TAMIS_FN(box_kernels)[] = {
    {"mean", TAMIS_U8, TV_CPU, TAMIS_FN(box_u8), 0},
    {"mean", TAMIS_U16, TV_CPU, TAMIS_FN(box_u16), 0},
    {"mean", TAMIS_S16, TV_CPU, TAMIS_FN(box_s16), 0},
    /* Both sum in binary64, in another order: the results round alike but beside a tie. */
    {"mean", TAMIS_F32, TV_CPU, TAMIS_FN(tamis_priv_box_f32), 1.2e-7},
    {NULL},
};
