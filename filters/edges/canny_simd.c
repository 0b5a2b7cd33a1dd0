/* SPDX-License-Identifier: Apache-2.0 */
/* Vector kernels of Canny: slopes, their size and which are greatest, for a column of the tile
 * EDGES_CHUNK samples wide at a time, going down EDGES_ROWS rows at a time. Slopes and sizes stay
 * in a ring of rows in the first cache; kept pixels go to the result as bytes. */
#include "canny_kernel.h"
#include "edges_simd.h"

/* How slopes and sizes are held: 16-bit slopes with 16-bit sums or 32-bit squares; or binary32,
 * whose bits, being positive, compare as integers do. */
typedef enum sizes { SUMS_16, SQUARES_16, FLOATS } sizes;

/* A result column for a whole tile. */
typedef struct work {
    const canny_coef *k;
    const tamis_tile *t;
    const void *const *rows; /* of the source, or floats made of it */
    int x, n;                /* pixels x .. x+n-1 */
    char *gx, *gy, *size;    /* rings */
    float *wide;             /* a block of slopes in binary32 */
} work;

/* ---- masks of N16 lanes */

#if defined(TAMIS_AVX512)
typedef __mmask32 lanes;
#else
typedef tv_s16 lanes;
#endif

TAMIS_INLINE lanes greater_16(tv_s16 a, tv_s16 b)
{
#if defined(TAMIS_AVX512)
    return _mm512_cmpgt_epi16_mask((__m512i)a, (__m512i)b);
#else
    return (tv_s16)(a > b);
#endif
}

TAMIS_INLINE lanes greater_32(const tv_s32 a[2], const tv_s32 b[2])
{
#if defined(TAMIS_AVX512)
    return (__mmask32)_mm512_cmpgt_epi32_mask((__m512i)a[0], (__m512i)b[0]) |
           (__mmask32)_mm512_cmpgt_epi32_mask((__m512i)a[1], (__m512i)b[1]) << 16;
#else
    return (tv_s16)tv_narrow_s32((tv_s32)(a[0] > b[0]), (tv_s32)(a[1] > b[1]));
#endif
}

TAMIS_INLINE lanes less_f32(const tv_f32 a[2], const tv_f32 b[2])
{
#if defined(TAMIS_AVX512)
    return (__mmask32)_mm512_cmp_ps_mask((__m512)a[0], (__m512)b[0], _CMP_LT_OQ) |
           (__mmask32)_mm512_cmp_ps_mask((__m512)a[1], (__m512)b[1], _CMP_LT_OQ) << 16;
#else
    return (tv_s16)tv_narrow_s32((tv_s32)(a[0] < b[0]), (tv_s32)(a[1] < b[1]));
#endif
}

TAMIS_INLINE int any(lanes m)
{
#if defined(TAMIS_AVX512)
    return m != 0;
#elif defined(TAMIS_AVX2)
    return _mm256_movemask_epi8((__m256i)m) != 0;
#elif defined(TAMIS_SSE2)
    return _mm_movemask_epi8((__m128i)m) != 0;
#elif defined(TAMIS_NEON)
    return vmaxvq_u16((uint16x8_t)m) != 0;
#endif
}

/* The classes of two times N16 pixels. */
TAMIS_INLINE tv_u8 classes(const lanes kept[2], const lanes strong[2])
{
#if defined(TAMIS_AVX512)
    __mmask64 k = (__mmask64)kept[0] | (__mmask64)kept[1] << 32;
    __mmask64 s = (__mmask64)strong[0] | (__mmask64)strong[1] << 32;
    __m512i weak = _mm512_maskz_set1_epi8(k, CANNY_WEAK);
    return (tv_u8)_mm512_mask_set1_epi8(weak, k & s, (char)CANNY_STRONG);
#else
    tv_s16 out[2];
    for (int i = 0; i < 2; i++)
        out[i] = kept[i] & ((strong[i] & CANNY_STRONG) | (~strong[i] & CANNY_WEAK));
    return tv_narrow_u16((tv_u16)out[0], (tv_u16)out[1]);
#endif
}

/* ---- slopes of a block: output rows y .. y + EDGES_ROWS - 1, columns x-1 .. x+n */

/* Slopes of ksize 7 on u8 divided by 16, ties to even. */
static void slopes_sixteenth(const work *w, int y, int16_t *gx, int16_t *gy)
{
    const canny_coef *k = w->k;
    float *fx = w->wide, *fy = fx + EDGES_ROWS * EDGES_STRIDE;
    slopes_f32(&k->taps, 3, TAMIS_U8, WANT_DX | WANT_DY, w->rows + y,
               w->t->h - 1 - y + canny_slope_halo(k), w->x - 1, 1, w->n + 2, fx, fy);
    for (int i = 0; i < EDGES_ROWS * EDGES_STRIDE; i += N16) {
        tv_s16 dx = (tv_s16)tv_narrow_s32(tv_round_f32(tv_load_f32(fx + i) * 0.0625f),
                                          tv_round_f32(tv_load_f32(fx + i + N32) * 0.0625f));
        tv_s16 dy = (tv_s16)tv_narrow_s32(tv_round_f32(tv_load_f32(fy + i) * 0.0625f),
                                          tv_round_f32(tv_load_f32(fy + i + N32) * 0.0625f));
        tv_store_s16(gx + i, dx);
        tv_store_s16(gy + i, dy);
    }
}

static void slopes_16(const work *w, int y, int16_t *gx, int16_t *gy)
{
    const void *const *rows = w->rows + y;
    int last = w->t->h - 1 - y + canny_slope_halo(w->k), n = w->n + 2;
    if (w->k->kind == EDGES_SOBEL3)
        slopes_u8(EDGES_SOBEL3, WANT_DX | WANT_DY, rows, last, w->x - 1, 1, n, gx, gy);
    else if (w->k->kind == EDGES_SOBEL5)
        slopes_u8(EDGES_SOBEL5, WANT_DX | WANT_DY, rows, last, w->x - 1, 1, n, gx, gy);
    else
        slopes_sixteenth(w, y, gx, gy);
}

static void slopes_32(const work *w, int y, float *gx, float *gy)
{
    const edges_taps *k = &w->k->taps;
    const void *const *rows = w->rows + y;
    int last = w->t->h - 1 - y + canny_slope_halo(w->k), n = w->n + 2, x = w->x - 1;
    unsigned both = WANT_DX | WANT_DY;
    if (k->radius == 1)
        slopes_f32(k, 1, TAMIS_F32, both, rows, last, x, 1, n, gx, gy);
    else if (k->radius == 2)
        slopes_f32(k, 2, TAMIS_F32, both, rows, last, x, 1, n, gx, gy);
    else
        slopes_f32(k, 3, TAMIS_F32, both, rows, last, x, 1, n, gx, gy);
}

/* ---- sizes */

TAMIS_INLINE tv_s16 abs_16(tv_s16 v)
{
    return tv_max_s16(v, -v);
}

TAMIS_INLINE tv_f32 abs_f32(tv_f32 v)
{
    return (tv_f32)((tv_s32)v & 0x7fffffff);
}

/* Sums or squares of one row's slopes. */
TAMIS_INLINE void size_row(const canny_coef *k, sizes form, const void *gx, const void *gy, int n,
                           void *out)
{
    const int16_t *x16 = gx, *y16 = gy;
    for (int i = 0; i < n && form == SUMS_16; i += N16)
        tv_store_s16((int16_t *)out + i,
                     abs_16(tv_load_s16(x16 + i)) + abs_16(tv_load_s16(y16 + i)));
    for (int i = 0; i < n && form == SQUARES_16; i += N32) { /* 16 bits times themselves, and 0 */
        tv_s16 dx = (tv_s16)tv_load_widen_u16(x16 + i), dy = (tv_s16)tv_load_widen_u16(y16 + i);
        tv_store_s32((int32_t *)out + i, tv_dot_s16(tv_dot_s16((tv_s32){0}, dx, dx), dy, dy));
    }
    for (int i = 0; i < n && form == FLOATS; i += N32) {
        tv_f32 dx = tv_load_f32((const float *)gx + i), dy = tv_load_f32((const float *)gy + i);
        tv_f32 m = k->l1 ? abs_f32(dx) + abs_f32(dy) : dx * dx + dy * dy;
        tv_store_s32((int32_t *)out + i, (tv_s32)m & (tv_s32)(m == m));
    }
}

/* Outside the picture, where magnitudes are 0 there. */
static void clear_beyond(const work *w, sizes form, int y, char *size)
{
    const canny_coef *k = w->k;
    size_t bytes = form == SUMS_16 ? 2 : 4;
    int64_t py = (int64_t)w->t->y + y, left = (int64_t)w->t->x + w->x - 1; /* of size[0] */
    if (py < 0 || py >= k->h)
        memset(size, 0, (size_t)(w->n + 2) * bytes);
    if (left < 0)
        memset(size, 0, bytes);
    if (k->w - left < w->n + 2)
        memset(size + (size_t)(k->w - left) * bytes, 0, bytes);
}

/* ---- greatest */

/* Sizes of a row and those above and below; index 0 is the pixel before the first. */
typedef struct neighbors {
    const char *above, *here, *below;
} neighbors;

/* Whether sizes at a are greater than those at b. */
TAMIS_INLINE lanes greater(sizes form, const char *a, const char *b)
{
    if (form == SUMS_16)
        return greater_16(tv_load_s16(a), tv_load_s16(b));
    tv_s32 u[2] = {tv_load_s32(a), tv_load_s32(a + TV_BYTES)};
    tv_s32 v[2] = {tv_load_s32(b), tv_load_s32(b + TV_BYTES)};
    return greater_32(u, v);
}

/* Whether they are greater than a limit. */
TAMIS_INLINE lanes above_limit(sizes form, const char *a, int32_t limit)
{
    if (form == SUMS_16)
        return greater_16(tv_load_s16(a), (tv_s16){0} + (int16_t)limit);
    tv_s32 u[2] = {tv_load_s32(a), tv_load_s32(a + TV_BYTES)};
    tv_s32 v[2] = {(tv_s32){0} + limit, (tv_s32){0} + limit};
    return greater_32(u, v);
}

/* Which way slopes go: flat is nearer to along the row, steep to down, rising to the diagonal on
 * which dx and dy have different signs. */
typedef struct ways {
    lanes flat, steep, rising;
} ways;

/* |dx| CANNY_TAN / 32768, rounded down, as whole |dy| compare with it. */
TAMIS_INLINE tv_s16 times_tan(tv_s16 v)
{
#if defined(TAMIS_AVX512)
    return (tv_s16)_mm512_mulhi_epi16((__m512i)v, _mm512_set1_epi16(2 * CANNY_TAN));
#elif defined(TAMIS_AVX2)
    return (tv_s16)_mm256_mulhi_epi16((__m256i)v, _mm256_set1_epi16(2 * CANNY_TAN));
#elif defined(TAMIS_SSE2)
    return (tv_s16)_mm_mulhi_epi16((__m128i)v, _mm_set1_epi16(2 * CANNY_TAN));
#elif defined(TAMIS_NEON)
    return (tv_s16)vqdmulhq_s16((int16x8_t)v, vdupq_n_s16(CANNY_TAN));
#endif
}

TAMIS_INLINE ways ways_16(const int16_t *gx, const int16_t *gy)
{
    tv_s16 dx = tv_load_s16(gx), dy = tv_load_s16(gy);
    tv_s16 ax = abs_16(dx), ay = abs_16(dy), t = times_tan(ax);
    return (ways){~greater_16(ay, t), greater_16(ay, ax + ax + t),
                  greater_16((tv_s16){0}, dx ^ dy)};
}

TAMIS_INLINE ways ways_f32(const float *gx, const float *gy)
{
    const float tan = CANNY_TAN / 32768.f;
    const tv_f32 zero[2] = {{0}, {0}};
    tv_f32 dx[2] = {tv_load_f32(gx), tv_load_f32(gx + N32)};
    tv_f32 dy[2] = {tv_load_f32(gy), tv_load_f32(gy + N32)};
    tv_f32 low[2], high[2], ay[2];
    for (int i = 0; i < 2; i++) {
        tv_f32 ax = abs_f32(dx[i]);
        ay[i] = abs_f32(dy[i]);
        low[i] = ax * tan;
        high[i] = ax * (2 + tan);
    }
    return (ways){less_f32(ay, low), less_f32(high, ay), less_f32(dx, zero) ^ less_f32(dy, zero)};
}

/* Which of N16 pixels from i on are greatest across the edge. */
TAMIS_INLINE lanes greatest(sizes form, const neighbors *s, const void *gx, const void *gy, int i)
{
    const ptrdiff_t px = form == SUMS_16 ? 2 : 4;
    const char *here = s->here + i * px, *above = s->above + i * px, *below = s->below + i * px;
    ways w = form == FLOATS ? ways_f32((const float *)gx + i, (const float *)gy + i)
                            : ways_16((const int16_t *)gx + i, (const int16_t *)gy + i);
    lanes along = greater(form, here, here - px) & ~greater(form, here + px, here);
    lanes down = greater(form, here, above) & ~greater(form, below, here);
    lanes fall = greater(form, here, above - px) & greater(form, here, below + px);
    lanes rise = greater(form, here, above + px) & greater(form, here, below - px);
    lanes diagonal = (w.rising & rise) | (~w.rising & fall);
    return (w.flat & along) | (~w.flat & ((w.steep & down) | (~w.steep & diagonal)));
}

/* A limit in the form that sizes have. */
TAMIS_INLINE int32_t limit_of(sizes form, double limit)
{
    float f = (float)limit;
    int32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return form == FLOATS ? bits : (int32_t)limit;
}

TAMIS_INLINE void kept_row(const work *w, sizes form, const neighbors *s, const char *gx,
                           const char *gy, uint8_t *dst)
{
    const canny_coef *k = w->k;
    const int32_t px = form == SUMS_16 ? 2 : 4;
    int32_t low = limit_of(form, k->low), high = limit_of(form, k->high);
    for (int x = 0; x < w->n; x += TV_BYTES) {
        lanes kept[2], strong[2];
        tv_u8 out = {0};
        for (int i = 0; i < 2; i++)
            kept[i] = above_limit(form, s->here + (x + 1 + i * N16) * px, low);
        if (any(kept[0] | kept[1])) {
            for (int i = 0; i < 2; i++) {
                int at = x + 1 + i * N16;
                kept[i] &= greatest(form, s, gx, gy, at);
                strong[i] = above_limit(form, s->here + at * px, high);
            }
            out = classes(kept, strong);
        }
        if (w->n - x >= TV_BYTES)
            tv_store_u8(dst + x, out);
        else
            tv_store_first(dst + x, out, (size_t)(w->n - x));
    }
}

/* ---- columns */

/* Row y >= -1 of a ring of rows of 4-byte samples, or of 2-byte ones. */
TAMIS_INLINE char *ring_row(char *ring, int y, size_t size)
{
    return ring + (size_t)((y + 1) % CANNY_RING) * EDGES_STRIDE * size;
}

TAMIS_INLINE void make_block(const work *w, sizes form, int y)
{
    size_t slope = form == FLOATS ? 4 : 2, size = form == SUMS_16 ? 2 : 4;
    char *gx = ring_row(w->gx, y, slope), *gy = ring_row(w->gy, y, slope);
    if (form == FLOATS)
        slopes_32(w, y, (float *)(void *)gx, (float *)(void *)gy);
    else
        slopes_16(w, y, (int16_t *)(void *)gx, (int16_t *)(void *)gy);
    for (int i = 0; i < EDGES_ROWS; i++) {
        char *out = ring_row(w->size, y + i, size);
        size_t row = (size_t)i * EDGES_STRIDE * slope;
        size_row(w->k, form, gx + row, gy + row, w->n + 2, out);
        if (w->k->nothing_beyond)
            clear_beyond(w, form, y + i, out);
    }
}

TAMIS_INLINE void column(const work *w, sizes form, uint8_t *dst, ptrdiff_t stride)
{
    size_t slope = form == FLOATS ? 4 : 2, size = form == SUMS_16 ? 2 : 4;
    int done = 0;
    for (int made = -1; done < w->t->h; made += EDGES_ROWS) {
        make_block(w, form, made);
        for (; done < w->t->h && done + 1 < made + EDGES_ROWS; done++) {
            neighbors s = {ring_row(w->size, done - 1, size), ring_row(w->size, done, size),
                           ring_row(w->size, done + 1, size)};
            kept_row(w, form, &s, ring_row(w->gx, done, slope), ring_row(w->gy, done, slope),
                     dst + done * stride + w->x);
        }
    }
}

/* ---- the source in binary32 */

TAMIS_INLINE void floats_of(const void *const *rows, tamis_type type, int y, int first, int end,
                            float *out)
{
    for (int x = first; x < end; x += N32)
        tv_store_f32(out + x, load_32(type, rows[y], x));
}

/* Rows -halo .. h-1+halo of floats in scratch; *scratch moves on. */
static const void **take_rows(char **scratch, const canny_coef *k, const tamis_tile *t, int halo)
{
    size_t stride = canny_row_floats(k, t->w), count = (size_t)t->h + 2 * (size_t)halo;
    const void **rows = (const void **)(void *)*scratch;
    char *data = *scratch + (count * sizeof *rows + 63) / 64 * 64;
    for (size_t y = 0; y < count; y++)
        rows[y] = data + (y * stride + 64 + (size_t)canny_halo(k)) * sizeof(float);
    *scratch = data + count * stride * sizeof(float);
    return rows + halo;
}

static void smooth_rows(const canny_coef *k, const tamis_tile *t, const void *const *in,
                        const void *const *out, float *column)
{
    int halo = canny_slope_halo(k), r = k->smooth_radius;
    const float *taps = k->smooth;
    for (int y = -halo; y < t->h + halo; y++) {
        for (int x = -halo - r; x < t->w + halo + r; x += N32) {
            tv_f32 sum = tv_load_f32((const float *)in[y] + x) * taps[0];
            for (int j = 1; j <= r; j++)
                sum += (tv_load_f32((const float *)in[y - j] + x) +
                        tv_load_f32((const float *)in[y + j] + x)) *
                       taps[j];
            tv_store_f32(column + x, sum);
        }
        for (int x = -halo; x < t->w + halo; x += N32) {
            tv_f32 sum = tv_load_f32(column + x) * taps[0];
            for (int j = 1; j <= r; j++)
                sum += (tv_load_f32(column + x - j) + tv_load_f32(column + x + j)) * taps[j];
            tv_store_f32((float *)out[y] + x, sum);
        }
    }
}

TAMIS_INLINE const void *const *make_floats(const canny_coef *k, const tamis_tile *t,
                                            tamis_type type, const void *const *rows, char *scratch)
{
    int halo = canny_halo(k);
    const void **in = take_rows(&scratch, k, t, halo);
    for (int y = -halo; y < t->h + halo; y++)
        floats_of(rows, type, y, -halo, t->w + halo, (float *)in[y]);
    if (k->smooth_radius == 0)
        return in;
    const void **out = take_rows(&scratch, k, t, canny_slope_halo(k));
    smooth_rows(k, t, in, out, (float *)(void *)scratch + 64 + halo);
    return out;
}

/* ---- kernels */

TAMIS_INLINE void any_canny(const tamis_tile *t, const canny_coef *k, char *scratch,
                            tamis_type type)
{
    work w = {.k = k, .t = t, .gx = scratch};
    w.gy = w.gx + CANNY_RING_BYTES;
    w.size = w.gy + CANNY_RING_BYTES;
    w.wide = (float *)(void *)(w.size + CANNY_RING_BYTES);
    char *free = w.size + CANNY_RING_BYTES + EDGES_SLOPES_BYTES;
    char *after_luma = free;
    if (k->luma)
        after_luma += (tamis_priv_edges_luma_bytes(type, canny_halo(k), t->w, t->h) + 63) / 64 * 64;
    for (int p = 0; p < (k->luma ? 1 : t->planes); p++) {
        uint8_t *dst = t->dst[p];
        w.rows =
            k->luma ? TAMIS_FN(tamis_priv_edges_luma)(t, type, canny_halo(k), free) : t->src[p];
        if (!k->exact)
            w.rows = make_floats(k, t, type, w.rows, after_luma);
        for (w.x = 0; w.x < t->w; w.x += EDGES_CHUNK) {
            w.n = t->w - w.x < EDGES_CHUNK ? t->w - w.x : EDGES_CHUNK;
            if (!k->exact)
                column(&w, FLOATS, dst, t->dst_stride[p]);
            else if (k->l1)
                column(&w, SUMS_16, dst, t->dst_stride[p]);
            else
                column(&w, SQUARES_16, dst, t->dst_stride[p]);
        }
    }
    canny_widen(t, k);
}

#define KERNEL(type, suffix)                                                                       \
    static void TAMIS_FN(canny_##suffix)(const tamis_tile *t, const void *coef, void *scratch)     \
    {                                                                                              \
        any_canny(t, coef, scratch, type);                                                         \
    }
KERNEL(TAMIS_U8, u8)
KERNEL(TAMIS_U16, u16)
KERNEL(TAMIS_S16, s16)
KERNEL(TAMIS_F32, f32)
#undef KERNEL

extern const tamis_kernel TAMIS_FN(canny_kernels)[];
const tamis_kernel TAMIS_FN(canny_kernels)[] = {
    {"canny", TAMIS_U8, TV_CPU, TAMIS_FN(canny_u8), 0},
    {"canny", TAMIS_U16, TV_CPU, TAMIS_FN(canny_u16), 0},
    {"canny", TAMIS_S16, TV_CPU, TAMIS_FN(canny_s16), 0},
    {"canny", TAMIS_F32, TV_CPU, TAMIS_FN(canny_f32), 0},
    {NULL},
};
