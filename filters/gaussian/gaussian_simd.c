/* SPDX-License-Identifier: Apache-2.0 */
/* Vector kernels. As in the reference, each output row is made in two steps that stay in the first
 * cache: columns into a row of sums, then the row. Loops run over whole vectors; what they compute
 * beyond a row's end lands in scratch memory or is not stored. */
#include "gaussian_kernel.h"

#include "cpu/simd.h"

/* Samples in a vector. */
enum { N16 = TV_BYTES / 2, N32 = TV_BYTES / 4, N64 = TV_BYTES / 8 };

static int columns_of(const tamis_tile *t, const struct gaussian_coef *c)
{
    return (t->w + 2 * c->x.radius) * t->step;
}

/* ---- u8: 16-bit lanes, products summed in 32 */

TAMIS_INLINE tv_s32 broadcast(int32_t v)
{
    return v - (tv_s32){0};
}

/* rows[i][x] + rows[-i][x], or the center row alone. */
TAMIS_INLINE tv_s16 mirrored_sum(const uint8_t *const *rows, int i, ptrdiff_t x)
{
    tv_s16 v = tv_load_widen_u8(rows[i] + x);
    return i ? v + tv_load_widen_u8(rows[-i] + x) : v;
}

/* sums[0 .. count-1] = column sums of samples first .. first+count-1, in 1/128 level. */
TAMIS_INLINE void columns_u8(const void *const *src, const struct gaussian_axis *a, int radius,
                             ptrdiff_t first, int count, int16_t *sums)
{
    const uint8_t *const *rows = (const uint8_t *const *)src;
    int shift = a->bits - GAUSSIAN_FRACTION;
    tv_s32 half = broadcast(1 << (shift - 1));
    for (int x = 0; x < count; x += N16) {
        tv_s32 low_sum = half, high_sum = half;
        for (int i = 0; i <= radius; i += 2) {
            tv_s16 low, high, taps = (tv_s16)broadcast(a->folded[i / 2]);
            tv_s16 even = mirrored_sum(rows, i, first + x);
            tv_s16 odd = i < radius ? mirrored_sum(rows, i + 1, first + x) : even;
            tv_interleave_s16(even, odd, &low, &high);
            low_sum = tv_dot_s16(low_sum, low, taps);
            high_sum = tv_dot_s16(high_sum, high, taps);
        }
        tv_store_s16(sums + x, tv_pack_s32(low_sum >> shift, high_sum >> shift));
    }
}

/* Even and odd output samples apart, so that the two samples of a multiply-add lie side by side in
 * memory. sums[0] belongs to sample -radius. */
TAMIS_INLINE tv_u16 row_pair_u8(const int16_t *sums, const struct gaussian_axis *a, int pairs)
{
    int shift = a->bits + GAUSSIAN_FRACTION;
    tv_s32 even = broadcast(1 << (shift - 1)), odd = even;
    for (int j = 0; j < pairs; j++) {
        tv_s16 taps = (tv_s16)broadcast(a->pairs[j]);
        even = tv_dot_s16(even, tv_load_s16(sums + 2 * j), taps);
        odd = tv_dot_s16(odd, tv_load_s16(sums + 2 * j + 1), taps);
    }
    return (tv_u16)((even >> shift) | (odd >> shift << 16));
}

TAMIS_INLINE void row_gray_u8(const int16_t *sums, const struct gaussian_axis *a, int pairs, int n,
                              uint8_t *dst)
{
    for (int x = 0; x < n; x += TV_BYTES) {
        tv_u8 v =
            tv_narrow_u16(row_pair_u8(sums + x, a, pairs), row_pair_u8(sums + x + N16, a, pairs));
        tv_store_first(dst + x, v, n - x < TV_BYTES ? (size_t)(n - x) : TV_BYTES);
    }
}

/* Where neighbors are step samples apart, each sum is first put beside its neighbor. */
static void pair_up(const int16_t *sums, int count, int step, int32_t *pairs)
{
    for (int x = 0; x < count; x += N32) {
        tv_u16h a, b;
        memcpy(&a, sums + x, sizeof a);
        memcpy(&b, sums + x + step, sizeof b);
        tv_u32 low = __builtin_convertvector(a, tv_u32), high = __builtin_convertvector(b, tv_u32);
        tv_store_u32(pairs + x, low | high << 16);
    }
}

TAMIS_INLINE tv_s32 row_step_u8(const int32_t *sums, const struct gaussian_axis *a, int pairs,
                                int step)
{
    int shift = a->bits + GAUSSIAN_FRACTION;
    tv_s32 sum = broadcast(1 << (shift - 1));
    for (int j = 0; j < pairs; j++)
        sum = tv_dot_s16(sum, tv_load_s16(sums + 2 * j * step), (tv_s16)broadcast(a->pairs[j]));
    return sum >> shift;
}

TAMIS_INLINE void row_color_u8(const int32_t *sums, const struct gaussian_axis *a, int pairs,
                               int step, int n, uint8_t *dst)
{
    for (int x = 0; x < n; x += TV_BYTES) {
        tv_s32 v[4];
        for (int i = 0; i < 4; i++)
            v[i] = row_step_u8(sums + x + i * N32, a, pairs, step);
        tv_u8 bytes = tv_narrow_u16(tv_narrow_s32(v[0], v[1]), tv_narrow_s32(v[2], v[3]));
        tv_store_first(dst + x, bytes, n - x < TV_BYTES ? (size_t)(n - x) : TV_BYTES);
    }
}

/* The tile with radii that the compiler may know. */
TAMIS_INLINE void tile_u8(const tamis_tile *t, const struct gaussian_coef *c, void *scratch, int rx,
                          int ry)
{
    int n = t->w * t->step, count = columns_of(t, c), pairs = rx + 1;
    int16_t *sums = scratch;
    int32_t *paired = (int32_t *)(void *)(sums + count + 2 * N16);
    for (int y = 0; y < t->h; y++) {
        uint8_t *dst = (uint8_t *)t->dst[0] + y * t->dst_stride[0];
        columns_u8(t->src[0] + y, &c->y, ry, -(ptrdiff_t)rx * t->step, count, sums);
        if (t->step == 1) {
            row_gray_u8(sums, &c->x, pairs, n, dst);
        } else {
            pair_up(sums, count, t->step, paired);
            row_color_u8(paired, &c->x, pairs, t->step, n, dst);
        }
    }
}

static void TAMIS_FN(gaussian_u8)(const tamis_tile *t, const void *coef, void *scratch)
{
    const struct gaussian_coef *c = coef;
    int rx = c->x.radius, ry = c->y.radius;
    if (rx == 1 && ry == 1)
        tile_u8(t, c, scratch, 1, 1);
    else if (rx == 2 && ry == 2)
        tile_u8(t, c, scratch, 2, 2);
    else
        tile_u8(t, c, scratch, rx, ry);
}

/* ---- u16 and s16: binary32, fused */

#if defined(TAMIS_HAVE_FMA)

TAMIS_INLINE tv_s32 load_level(const void *row, tamis_type type, ptrdiff_t x)
{
    if (type == TAMIS_U16) {
        tv_u16h h;
        memcpy(&h, (const uint16_t *)row + x, sizeof h);
        return __builtin_convertvector(h, tv_s32);
    }
    tv_s16h h;
    memcpy(&h, (const int16_t *)row + x, sizeof h);
    return __builtin_convertvector(h, tv_s32);
}

TAMIS_INLINE tv_f32 splat(float v)
{
    return v - (tv_f32){0};
}

/* Levels are added as integers, which is exact, as it is in binary32. */
TAMIS_INLINE void columns_16(const void *const *rows, const struct gaussian_axis *a, int radius,
                             tamis_type type, ptrdiff_t first, int count, float *sums)
{
    for (int x = 0; x < count; x += N32) {
        tv_s32 center = load_level(rows[0], type, first + x);
        tv_f32 sum = splat(a->f[0]) * __builtin_convertvector(center, tv_f32);
        for (int j = 1; j <= radius; j++) {
            tv_s32 both =
                load_level(rows[-j], type, first + x) + load_level(rows[j], type, first + x);
            sum = tv_fma_f32(splat(a->f[j]), __builtin_convertvector(both, tv_f32), sum);
        }
        tv_store_f32(sums + x, sum);
    }
}

/* sums points at the sum of the output sample. */
TAMIS_INLINE tv_s32 row_16(const float *sums, const struct gaussian_axis *a, int radius, int step)
{
    tv_f32 sum = splat(a->f[0]) * tv_load_f32(sums);
    for (int j = 1; j <= radius; j++)
        sum = tv_fma_f32(splat(a->f[j]),
                         tv_load_f32(sums - j * step) + tv_load_f32(sums + j * step), sum);
    return tv_round_f32(sum);
}

TAMIS_INLINE void tile_16(const tamis_tile *t, const struct gaussian_coef *c, void *scratch, int rx,
                          int ry, tamis_type type)
{
    int n = t->w * t->step, count = columns_of(t, c);
    float *sums = scratch, *center = sums + rx * t->step;
    for (int y = 0; y < t->h; y++) {
        columns_16(t->src[0] + y, &c->y, ry, type, -(ptrdiff_t)rx * t->step, count, sums);
        uint16_t *dst = (uint16_t *)(void *)((char *)t->dst[0] + y * t->dst_stride[0]);
        for (int x = 0; x < n; x += N16) {
            tv_u16 v = tv_narrow_s32(row_16(center + x, &c->x, rx, t->step),
                                     row_16(center + x + N32, &c->x, rx, t->step));
            size_t rest = (size_t)(n - x) * 2;
            tv_store_first(dst + x, (tv_u8)v, rest < TV_BYTES ? rest : TV_BYTES);
        }
    }
}

TAMIS_INLINE void any_16(const tamis_tile *t, const struct gaussian_coef *c, void *scratch,
                         tamis_type type)
{
    int rx = c->x.radius, ry = c->y.radius;
    if (rx == 2 && ry == 2)
        tile_16(t, c, scratch, 2, 2, type);
    else
        tile_16(t, c, scratch, rx, ry, type);
}

static void TAMIS_FN(gaussian_u16)(const tamis_tile *t, const void *coef, void *scratch)
{
    any_16(t, coef, scratch, TAMIS_U16);
}

static void TAMIS_FN(gaussian_s16)(const tamis_tile *t, const void *coef, void *scratch)
{
    any_16(t, coef, scratch, TAMIS_S16);
}

#endif

/* ---- f32: sums in binary64, products and sums rounded one by one as in the reference */

TAMIS_INLINE tv_f64 load_wide(const float *p)
{
    tv_f32h h;
    memcpy(&h, p, sizeof h);
    return __builtin_convertvector(h, tv_f64);
}

TAMIS_INLINE void store_narrow(float *p, tv_f64 v)
{
    tv_f32h h = __builtin_convertvector(v, tv_f32h);
    memcpy(p, &h, sizeof h);
}

TAMIS_INLINE void columns_f32(const void *const *src, const struct gaussian_axis *a, int radius,
                              ptrdiff_t first, int count, float *sums)
{
    const float *const *rows = (const float *const *)src;
    for (int x = 0; x < count; x += N64) {
        tv_f64 sum = a->d[0] * load_wide(rows[0] + first + x);
        for (int j = 1; j <= radius; j++)
            sum += a->d[j] * (load_wide(rows[-j] + first + x) + load_wide(rows[j] + first + x));
        store_narrow(sums + x, sum);
    }
}

TAMIS_INLINE void row_f32(const float *sums, const struct gaussian_axis *a, int radius, int step,
                          int n, float *dst)
{
    for (int x = 0; x < n; x += N64) {
        tv_f64 sum = a->d[0] * load_wide(sums + x);
        for (int j = 1; j <= radius; j++)
            sum += a->d[j] * (load_wide(sums + x - j * step) + load_wide(sums + x + j * step));
        if (n - x >= N64) {
            store_narrow(dst + x, sum);
        } else {
            float rest[N64];
            store_narrow(rest, sum);
            memcpy(dst + x, rest, (size_t)(n - x) * sizeof *dst);
        }
    }
}

static void TAMIS_FN(gaussian_f32)(const tamis_tile *t, const void *coef, void *scratch)
{
    const struct gaussian_coef *c = coef;
    int rx = c->x.radius, ry = c->y.radius;
    float *sums = scratch;
    for (int y = 0; y < t->h; y++) {
        columns_f32(t->src[0] + y, &c->y, ry, -(ptrdiff_t)rx * t->step, columns_of(t, c), sums);
        row_f32(sums + rx * t->step, &c->x, rx, t->step, t->w * t->step,
                (float *)(void *)((char *)t->dst[0] + y * t->dst_stride[0]));
    }
}

#if defined(TAMIS_AVX512)
#define CPU TAMIS_CPU_AVX512
#elif defined(TAMIS_AVX2)
#define CPU TAMIS_CPU_AVX2
#else
#define CPU TAMIS_CPU_BASE
#endif

extern const tamis_kernel TAMIS_FN(gaussian_kernels)[];
const tamis_kernel TAMIS_FN(gaussian_kernels)[] = {
    {"separable", TAMIS_U8, CPU, TAMIS_FN(gaussian_u8), 0},
#if defined(TAMIS_HAVE_FMA)
    {"separable", TAMIS_U16, CPU, TAMIS_FN(gaussian_u16), 0},
    {"separable", TAMIS_S16, CPU, TAMIS_FN(gaussian_s16), 0},
#endif
    {"separable", TAMIS_F32, CPU, TAMIS_FN(gaussian_f32), 0},
    {NULL},
};
