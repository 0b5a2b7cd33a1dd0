/* SPDX-License-Identifier: Apache-2.0 */
/* Vector kernels of the slopes and Laplacians. A tile is cut into blocks of EDGES_ROWS rows and
 * EDGES_CHUNK samples, whose slopes stay in the first cache until they become samples of the
 * result. */
#include "edges_simd.h"

/* ---- slopes to values in binary32 */

TAMIS_INLINE tv_f32 splat(float v)
{
    return v - (tv_f32){0};
}

TAMIS_INLINE tv_f32 absolute(tv_f32 v)
{
    return (tv_f32)((tv_s32)v & 0x7fffffff);
}

TAMIS_INLINE tv_f32 select(tv_s32 mask, tv_f32 a, tv_f32 b)
{
    return (tv_f32)((mask & (tv_s32)a) | (~mask & (tv_s32)b));
}

TAMIS_INLINE tv_f32 root(tv_f32 v)
{
#if defined(TAMIS_AVX512)
    return (tv_f32)_mm512_sqrt_ps((__m512)v);
#elif defined(TAMIS_AVX2)
    return (tv_f32)_mm256_sqrt_ps((__m256)v);
#elif defined(TAMIS_SSE2)
    return (tv_f32)_mm_sqrt_ps((__m128)v);
#elif defined(TAMIS_NEON)
    return (tv_f32)vsqrtq_f32((float32x4_t)v);
#endif
}

/* atan(v), 0 <= v <= 1, as v times a polynomial in v^2 of least greatest error, 1.5e-7. */
TAMIS_INLINE tv_f32 atan_unit(tv_f32 v)
{
    static const float c[] = {0x1.ffffeap-1f, -0x1.554c3ap-2f, 0x1.988174p-3f, -0x1.1cd946p-3f,
                              0x1.8af1c0p-4f, -0x1.ca0898p-5f, 0x1.6633d0p-6f, -0x1.09b842p-8f};
    tv_f32 t = v * v, sum = splat(c[7]);
    for (int i = 6; i >= 0; i--)
        sum = sum * t + c[i];
    return v * sum;
}

/* atan2 by the angle of the smaller to the larger side, which is then mirrored into its octant. */
TAMIS_INLINE tv_f32 angle(tv_f32 dx, tv_f32 dy)
{
    tv_f32 x = absolute(dx), y = absolute(dy), zero = {0};
    tv_f32 small = tv_min_f32(x, y), large = tv_max_f32(x, y);
    /* Equal ones may be 0 or infinite. */
    tv_f32 ratio = select(small == large, select(small == zero, zero, splat(1)), small / large);
    tv_f32 a = atan_unit(ratio);
    a = select(y > x, 0x1.921fb6p0f - a, a);
    a = select(dx < zero, 0x1.921fb6p1f - a, a);
    a = select(dy < zero, -a, a);
    tv_f32 nan = dx + dy; /* also infinities of different signs, which have an angle */
    return select((dx != dx) | (dy != dy), nan, a);
}

TAMIS_INLINE tv_f32 value_of(int from, tv_f32 dx, tv_f32 dy)
{
    switch (from) {
    case FROM_DX:
        return dx;
    case FROM_DY:
        return dy;
    case FROM_L1:
        return absolute(dx) + absolute(dy);
    case FROM_L2:
        return root(dx * dx + dy * dy);
    default:
        return angle(dx, dy);
    }
}

/* ---- values to samples, TV_BYTES at a time */

/* Integers between lo and hi, ties to even, 0 for NaN. */
TAMIS_INLINE tv_s32 to_levels(tv_f32 v, float lo, float hi)
{
    v = select(v == v, v, (tv_f32){0});
    return tv_round_f32(tv_min_f32(tv_max_f32(v, splat(lo)), splat(hi)));
}

TAMIS_INLINE size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The first bytes of whole vectors. */
TAMIS_INLINE void store_vectors(const tv_u8 *v, char *dst, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += TV_BYTES, v++)
        tv_store_first(dst + at, *v, smaller(bytes - at, TV_BYTES));
}

TAMIS_INLINE void store_floats(const tv_f32 v[4], char *dst, size_t count)
{
    tv_u8 out[4];
    if (count == TV_BYTES) {
        for (int i = 0; i < 4; i++)
            tv_store_f32(dst + i * TV_BYTES, v[i]);
        return;
    }
    memcpy(out, v, sizeof out);
    store_vectors(out, dst, count * sizeof(float));
}

TAMIS_INLINE void store_levels(const tv_f32 v[4], tamis_type type, char *dst, size_t count)
{
    static const float lo[] = {0, 0, -32768}, hi[] = {255, 65535, 32767}; /* by tamis_type */
    tv_u16 half[2];
    tv_u8 out[2];
    for (int i = 0; i < 2; i++)
        half[i] = tv_narrow_s32(to_levels(v[2 * i], lo[type], hi[type]),
                                to_levels(v[2 * i + 1], lo[type], hi[type]));
    memcpy(out, half, sizeof out);
    if (type == TAMIS_U8)
        out[0] = tv_narrow_u16(half[0], half[1]);
    if (type == TAMIS_U8 && count == TV_BYTES)
        tv_store_u8(dst, out[0]);
    else
        store_vectors(out, dst, count * tamis_type_size(type));
}

/* One row of a block; wide says that slopes are binary32, else 16-bit integers. from, wide and
 * whether the result is f32 are constants. */
TAMIS_INLINE void store_row(const edges_coef *k, int from, int wide, int floats, const void *gx,
                            const void *gy, int n, char *dst)
{
    tamis_type type = wide ? TAMIS_F32 : TAMIS_S16;
    size_t size = floats ? sizeof(float) : tamis_type_size(k->result);
    tv_f32 scale = splat(k->scale), delta = splat(k->delta);
    for (int x = 0; x < n; x += TV_BYTES) {
        size_t count = smaller((size_t)(n - x), TV_BYTES);
        tv_f32 v[4];
        for (int i = 0; i < 4; i++) {
            tv_f32 dx = {0}, dy = {0};
            if (from != FROM_DY)
                dx = load_32(type, gx, x + i * N32);
            if (from != FROM_DX)
                dy = load_32(type, gy, x + i * N32);
            v[i] = value_of(from, dx, dy);
            if (from != FROM_ANGLE)
                v[i] = v[i] * scale + delta;
        }
        if (floats)
            store_floats(v, dst + (size_t)x * size, count);
        else
            store_levels(v, k->result, dst + (size_t)x * size, count);
    }
}

static int is_plain(const edges_coef *k)
{
    return k->scale == 1 && k->delta == 0;
}

TAMIS_INLINE void store_any(const edges_coef *k, int from, int wide, const void *gx, const void *gy,
                            int n, char *dst)
{
    if (k->result == TAMIS_F32)
        store_row(k, from, wide, 1, gx, gy, n, dst);
    else
        store_row(k, from, wide, 0, gx, gy, n, dst);
}

TAMIS_INLINE void store_from(const edges_coef *k, int wide, const void *gx, const void *gy, int n,
                             char *dst)
{
    switch (tamis_priv_edges_from(k)) {
    case FROM_DX:
        store_any(k, FROM_DX, wide, gx, gy, n, dst);
        break;
    case FROM_DY:
        store_any(k, FROM_DY, wide, gx, gy, n, dst);
        break;
    case FROM_L1:
        store_any(k, FROM_L1, wide, gx, gy, n, dst);
        break;
    case FROM_L2:
        store_any(k, FROM_L2, wide, gx, gy, n, dst);
        break;
    default:
        store_any(k, FROM_ANGLE, wide, gx, gy, n, dst);
    }
}

static void store_16(const edges_coef *k, const int16_t *gx, const int16_t *gy, int n, char *dst)
{
    int from = tamis_priv_edges_from(k);
    if (from <= FROM_DY && k->result == TAMIS_S16 && is_plain(k))
        memcpy(dst, from == FROM_DX ? gx : gy, (size_t)n * sizeof *gx);
    else
        store_from(k, 0, gx, gy, n, dst);
}

static void store_32(const edges_coef *k, const float *gx, const float *gy, int n, char *dst)
{
    store_from(k, 1, gx, gy, n, dst);
}

/* ---- blocks */

/* Source rows of a block, from the sample that the first result is at. */
typedef struct source {
    const void *const *rows;
    int last;
    ptrdiff_t at;
    int step, n;
} source;

static unsigned want_of(const edges_coef *k)
{
    int from = tamis_priv_edges_from(k);
    return from == FROM_DX ? WANT_DX : from == FROM_DY ? WANT_DY : WANT_DX | WANT_DY;
}

TAMIS_INLINE void kind_u8(const edges_coef *k, unsigned want, const source *s, int16_t *gx,
                          int16_t *gy)
{
    switch (k->kind) {
    case EDGES_SOBEL3:
        slopes_u8(EDGES_SOBEL3, want, s->rows, s->last, s->at, s->step, s->n, gx, gy);
        break;
    case EDGES_PREWITT:
        slopes_u8(EDGES_PREWITT, want, s->rows, s->last, s->at, s->step, s->n, gx, gy);
        break;
    case EDGES_SCHARR:
        slopes_u8(EDGES_SCHARR, want, s->rows, s->last, s->at, s->step, s->n, gx, gy);
        break;
    default:
        slopes_u8(EDGES_SOBEL5, want, s->rows, s->last, s->at, s->step, s->n, gx, gy);
    }
}

static void block_16(const edges_coef *k, const source *s, int16_t *gx, int16_t *gy)
{
    unsigned want = want_of(k);
    if (k->kind == EDGES_LAPLACIAN4)
        laplace_16(s->rows, s->last, TAMIS_U8, s->at, s->step, s->n, 0, gx);
    else if (k->kind == EDGES_LAPLACIAN8)
        laplace_16(s->rows, s->last, TAMIS_U8, s->at, s->step, s->n, 1, gx);
    else if (want == WANT_DX)
        kind_u8(k, WANT_DX, s, gx, gy);
    else if (want == WANT_DY)
        kind_u8(k, WANT_DY, s, gx, gy);
    else
        kind_u8(k, WANT_DX | WANT_DY, s, gx, gy);
}

TAMIS_INLINE void radius_f32(const edges_coef *k, int radius, tamis_type type, const source *s,
                             float *gx, float *gy)
{
    unsigned want = want_of(k);
    if (want == WANT_DX)
        slopes_f32(&k->taps, radius, type, WANT_DX, s->rows, s->last, s->at, s->step, s->n, gx, gy);
    else if (want == WANT_DY)
        slopes_f32(&k->taps, radius, type, WANT_DY, s->rows, s->last, s->at, s->step, s->n, gx, gy);
    else
        slopes_f32(&k->taps, radius, type, WANT_DX | WANT_DY, s->rows, s->last, s->at, s->step,
                   s->n, gx, gy);
}

TAMIS_INLINE void block_32(const edges_coef *k, tamis_type type, const source *s, float *gx,
                           float *gy)
{
    if (k->kind == EDGES_LAPLACIAN4)
        laplace_32(s->rows, s->last, type, s->at, s->step, s->n, 0, gx);
    else if (k->kind == EDGES_LAPLACIAN8)
        laplace_32(s->rows, s->last, type, s->at, s->step, s->n, 1, gx);
    else if (k->radius == 1)
        radius_f32(k, 1, type, s, gx, gy);
    else if (k->radius == 2)
        radius_f32(k, 2, type, s, gx, gy);
    else
        radius_f32(k, 3, type, s, gx, gy);
}

/* ---- magnitudes of 3 x 3 in one go: |dx| + |dy| of u8 in u8, the root of the squares in f32 */

/* A part of a tile's rows to write. */
typedef struct target {
    char *dst;
    ptrdiff_t stride;
    int rows; /* those of EDGES_ROWS that exist */
} target;

static int is_whole(const edges_coef *k)
{
    int u8 = k->type == TAMIS_U8 && k->result == TAMIS_U8 && k->norm == TAMIS_GRADIENT_L1;
    int f32 = k->type == TAMIS_F32 && k->result == TAMIS_F32 && k->norm == TAMIS_GRADIENT_L2;
    return k->kind <= EDGES_SCHARR && k->output == TAMIS_GRADIENT_MAGNITUDE && is_plain(k) &&
           (u8 || f32);
}

TAMIS_INLINE void find_rows(const source *s, const void *row[EDGES_ROWS + 2])
{
    for (int v = 0; v < EDGES_ROWS + 2; v++)
        row[v] = s->rows[v - 1 < s->last ? v - 1 : s->last];
}

TAMIS_INLINE void put_rows(const target *t, int at, const tv_u8 v[EDGES_ROWS], int bytes)
{
    for (int y = 0; y < t->rows; y++) {
        char *dst = t->dst + y * t->stride + at;
        if (bytes >= TV_BYTES)
            tv_store_u8(dst, v[y]);
        else
            tv_store_first(dst, v[y], (size_t)bytes);
    }
}

#if defined(TAMIS_AVX2)

/* Bytes side by side in pairs, those of the first (second) half of each 128-bit part; sums of pairs
 * times two weights; and 16-bit sums back to bytes, saturated, in the order that was. */
#if defined(TAMIS_AVX512)
TAMIS_INLINE tv_u8 pairs(tv_u8 a, tv_u8 b, int second)
{
    return second ? (tv_u8)_mm512_unpackhi_epi8((__m512i)a, (__m512i)b)
                  : (tv_u8)_mm512_unpacklo_epi8((__m512i)a, (__m512i)b);
}
TAMIS_INLINE tv_s16 weigh_pairs(tv_u8 v, int first, int second)
{
    int16_t weights = (int16_t)((first & 255) | second * 256);
    return (tv_s16)_mm512_maddubs_epi16((__m512i)v, _mm512_set1_epi16(weights));
}
TAMIS_INLINE tv_s16 abs_sum(tv_s16 a, tv_s16 b)
{
    return (tv_s16)_mm512_abs_epi16((__m512i)a) + (tv_s16)_mm512_abs_epi16((__m512i)b);
}
TAMIS_INLINE tv_u8 to_bytes(tv_s16 a, tv_s16 b)
{
    return (tv_u8)_mm512_packus_epi16((__m512i)a, (__m512i)b);
}
#else
TAMIS_INLINE tv_u8 pairs(tv_u8 a, tv_u8 b, int second)
{
    return second ? (tv_u8)_mm256_unpackhi_epi8((__m256i)a, (__m256i)b)
                  : (tv_u8)_mm256_unpacklo_epi8((__m256i)a, (__m256i)b);
}
TAMIS_INLINE tv_s16 weigh_pairs(tv_u8 v, int first, int second)
{
    int16_t weights = (int16_t)((first & 255) | second * 256);
    return (tv_s16)_mm256_maddubs_epi16((__m256i)v, _mm256_set1_epi16(weights));
}
TAMIS_INLINE tv_s16 abs_sum(tv_s16 a, tv_s16 b)
{
    return (tv_s16)_mm256_abs_epi16((__m256i)a) + (tv_s16)_mm256_abs_epi16((__m256i)b);
}
TAMIS_INLINE tv_u8 to_bytes(tv_s16 a, tv_s16 b)
{
    return (tv_u8)_mm256_packus_epi16((__m256i)a, (__m256i)b);
}
#endif

/* TV_BYTES samples of EDGES_ROWS rows. Left and right samples in pairs give a row's share of dx and
 * of dy by one multiplication each; what the middle column adds to dy comes from pairs of samples
 * below and above. */
TAMIS_INLINE void magnitudes_u8(const void *const row[EDGES_ROWS + 2], ptrdiff_t at, int step,
                                int middle, int side, tv_u8 out[EDGES_ROWS])
{
    tv_s16 across[EDGES_ROWS + 2][2], sides[EDGES_ROWS + 2][2], sum[2];
    tv_u8 center[EDGES_ROWS + 2];
    for (int v = 0; v < EDGES_ROWS + 2; v++) {
        const uint8_t *p = (const uint8_t *)row[v] + at;
        tv_u8 left = tv_load_u8(p - step), right = tv_load_u8(p + step);
        center[v] = tv_load_u8(p);
        for (int i = 0; i < 2; i++) {
            tv_u8 both = pairs(left, right, i);
            across[v][i] = weigh_pairs(both, -1, 1);
            sides[v][i] = weigh_pairs(both, side, side);
        }
    }
    for (int y = 0; y < EDGES_ROWS; y++) {
        for (int i = 0; i < 2; i++) {
            tv_s16 dx = (across[y][i] + across[y + 2][i]) * (int16_t)side +
                        across[y + 1][i] * (int16_t)middle;
            tv_s16 dy = sides[y + 2][i] - sides[y][i] +
                        weigh_pairs(pairs(center[y + 2], center[y], i), middle, -middle);
            sum[i] = abs_sum(dx, dy);
        }
        out[y] = to_bytes(sum[0], sum[1]);
    }
}

#else

TAMIS_INLINE void magnitudes_u8(const void *const row[EDGES_ROWS + 2], ptrdiff_t at, int step,
                                int middle, int side, tv_u8 out[EDGES_ROWS])
{
    const int16_t smooth[] = {(int16_t)middle, (int16_t)side}, derivative[] = {0, 1};
    tv_s16 sum[2][EDGES_ROWS];
    for (int i = 0; i < 2; i++) {
        tv_s16 dx[EDGES_ROWS], dy[EDGES_ROWS];
        vectors_16(row, TAMIS_U8, at + i * N16, step, 1, derivative, smooth, WANT_DX | WANT_DY, dx,
                   dy);
        for (int y = 0; y < EDGES_ROWS; y++)
            sum[i][y] = tv_min_s16(tv_max_s16(dx[y], -dx[y]) + tv_max_s16(dy[y], -dy[y]),
                                   (tv_s16){0} + 255);
    }
    for (int y = 0; y < EDGES_ROWS; y++)
        out[y] = tv_narrow_u16((tv_u16)sum[0][y], (tv_u16)sum[1][y]);
}

#endif

TAMIS_INLINE void whole_u8(const source *s, const target *t, int middle, int side)
{
    const void *row[EDGES_ROWS + 2];
    find_rows(s, row);
    for (int x = 0; x < s->n; x += TV_BYTES) {
        tv_u8 out[EDGES_ROWS];
        magnitudes_u8(row, s->at + x, s->step, middle, side, out);
        put_rows(t, x, out, s->n - x);
    }
}

TAMIS_INLINE void whole_f32(const source *s, const target *t, float middle, float side)
{
    const float smooth[] = {middle, side}, derivative[] = {0, 1};
    const void *row[EDGES_ROWS + 2];
    find_rows(s, row);
    for (int x = 0; x < s->n; x += N32) {
        tv_f32 dx[EDGES_ROWS], dy[EDGES_ROWS];
        tv_u8 out[EDGES_ROWS];
        vectors_32(row, TAMIS_F32, s->at + x, s->step, 1, derivative, smooth, WANT_DX | WANT_DY, dx,
                   dy);
        for (int y = 0; y < EDGES_ROWS; y++)
            out[y] = (tv_u8)value_of(FROM_L2, dx[y], dy[y]);
        put_rows(t, 4 * x, out, 4 * (s->n - x));
    }
}

static void whole_block(const edges_coef *k, const source *s, const target *t)
{
    int u8 = k->type == TAMIS_U8;
    if (k->kind == EDGES_SOBEL3 && u8)
        whole_u8(s, t, 2, 1);
    else if (k->kind == EDGES_PREWITT && u8)
        whole_u8(s, t, 1, 1);
    else if (u8)
        whole_u8(s, t, 10, 3);
    else if (k->kind == EDGES_SOBEL3)
        whole_f32(s, t, 2, 1);
    else if (k->kind == EDGES_PREWITT)
        whole_f32(s, t, 1, 1);
    else
        whole_f32(s, t, 10, 3);
}

/* ---- kernels */

TAMIS_INLINE void any_edges(const tamis_tile *t, const edges_coef *k, char *scratch,
                            tamis_type type)
{
    int wide = type != TAMIS_U8 || k->kind == EDGES_SOBEL7, n = t->w * t->step;
    int chunk = is_whole(k) ? n : EDGES_CHUNK;
    void *gx = scratch, *gy = scratch + EDGES_BLOCK_BYTES;
    size_t size = tamis_type_size(k->result);
    const void *const *rows = t->src[0];
    if (k->luma)
        rows = TAMIS_FN(tamis_priv_edges_luma)(t, type, k->radius, scratch + EDGES_SLOPES_BYTES);
    for (int y = 0; y < t->h; y += EDGES_ROWS) {
        for (int x = 0; x < n; x += chunk) {
            source s = {rows + y, t->h - 1 - y + k->radius, x, t->step,
                        n - x < chunk ? n - x : chunk};
            if (is_whole(k)) {
                target to = {(char *)t->dst[0] + y * t->dst_stride[0] + (size_t)x * size,
                             t->dst_stride[0], t->h - y < EDGES_ROWS ? t->h - y : EDGES_ROWS};
                whole_block(k, &s, &to);
                continue;
            }
            if (!wide)
                block_16(k, &s, gx, gy);
            else if (type == TAMIS_U8)
                radius_f32(k, 3, type, &s, gx, gy);
            else
                block_32(k, type, &s, gx, gy);
            for (int i = 0; i < EDGES_ROWS && y + i < t->h; i++) {
                char *dst = (char *)t->dst[0] + (y + i) * t->dst_stride[0] + (size_t)x * size;
                ptrdiff_t row = (ptrdiff_t)i * EDGES_STRIDE;
                if (wide)
                    store_32(k, (float *)gx + row, (float *)gy + row, s.n, dst);
                else
                    store_16(k, (int16_t *)gx + row, (int16_t *)gy + row, s.n, dst);
            }
        }
    }
}

#define KERNEL(type, suffix)                                                                       \
    static void TAMIS_FN(edges_##suffix)(const tamis_tile *t, const void *coef, void *scratch)     \
    {                                                                                              \
        any_edges(t, coef, scratch, type);                                                         \
    }
KERNEL(TAMIS_U8, u8)
KERNEL(TAMIS_U16, u16)
KERNEL(TAMIS_S16, s16)
KERNEL(TAMIS_F32, f32)
#undef KERNEL

#define ROWS(stage, tolerance)                                                                     \
    {stage, TAMIS_U8, TV_CPU, TAMIS_FN(edges_u8), tolerance},                                      \
        {stage, TAMIS_U16, TV_CPU, TAMIS_FN(edges_u16), tolerance},                                \
        {stage, TAMIS_S16, TV_CPU, TAMIS_FN(edges_s16), tolerance},                                \
    {                                                                                              \
        stage, TAMIS_F32, TV_CPU, TAMIS_FN(edges_f32), tolerance                                   \
    }
extern const tamis_kernel TAMIS_FN(edges_gradient_kernels)[];
extern const tamis_kernel TAMIS_FN(edges_laplacian_kernels)[];
const tamis_kernel TAMIS_FN(edges_gradient_kernels)[] = {
    ROWS("dx", 0),
    ROWS("dy", 0),
    ROWS("magnitude", 0),
    /* A polynomial and a few sums, each rounded to 24 bits, against the exact angle. */
    ROWS("direction", 1e-6),
    {NULL},
};
const tamis_kernel TAMIS_FN(edges_laplacian_kernels)[] = {ROWS("laplacian", 0), {NULL}};
