/* SPDX-License-Identifier: Apache-2.0 */
/* Fast rows of the warps: positions, the walk over a tile, and the nearest pixel. */
#include "warp_simd.h"

_Static_assert(sizeof(struct warp_block) <= WARP_SCRATCH, "a block does not fit its scratch");

/* ---- positions */

TAMIS_INLINE int64_t fixed(double v)
{
    v = v >= -WARP_FAR ? v : -WARP_FAR;
    v = v <= WARP_FAR ? v : WARP_FAR;
    return (int64_t)__builtin_llrint(v * 0x1p32);
}

/* What the lanes of both vectors of steps() are ahead of the first. */
static void make_ramp(int64_t step, int64_t *ramp)
{
    for (int l = 0; l < LANES / 2; l++) {
        int lane = l / 2 * 4 + l % 2;
        ramp[l] = lane * step;
        ramp[LANES / 2 + l] = (lane + 2) * step;
    }
}

/* Positions first, first + step, ... of n pixels, rounded up to whole vectors. */
TAMIS_INLINE void steps(int64_t first, int64_t step, const int64_t *ramp, int n, int32_t *whole,
                        uint32_t *fraction)
{
    tv_s64 a, b;
    memcpy(&a, ramp, sizeof a);
    memcpy(&b, ramp + LANES / 2, sizeof b);
    a += first;
    b += first;
    for (int i = 0; i < n; i += LANES) {
        tv_store_s32(whole + i, warp_high_halves(a, b));
        tv_store_s32(fraction + i, warp_low_halves(a, b));
        a += LANES * step;
        b += LANES * step;
    }
}

/* From positions in double precision. */
TAMIS_INLINE void round_positions(const double *p, int n, int64_t bias, int32_t *whole,
                                  uint32_t *fraction)
{
    int i = 0;
#if defined(TAMIS_AVX512)
    const __m512d far = _mm512_set1_pd(WARP_FAR), scale = _mm512_set1_pd(0x1p32);
    for (; i < n; i += 8) {
        __m512d v = _mm512_max_pd(_mm512_loadu_pd(p + i), _mm512_sub_pd(_mm512_setzero_pd(), far));
        v = _mm512_mul_pd(_mm512_min_pd(v, far), scale);
        __m512i q = _mm512_add_epi64(_mm512_cvtpd_epi64(v), _mm512_set1_epi64(bias));
        _mm256_storeu_si256((__m256i *)(void *)(fraction + i), _mm512_cvtepi64_epi32(q));
        q = _mm512_srli_epi64(q, 32);
        _mm256_storeu_si256((__m256i *)(void *)(whole + i), _mm512_cvtepi64_epi32(q));
    }
#endif
    for (; i < n; i++) {
        int64_t q = fixed(p[i]) + bias;
        whole[i] = (int32_t)(q >> 32);
        fraction[i] = (uint32_t)q;
    }
}

TAMIS_INLINE void affine_block(const struct warp_job *k, int64_t bias)
{
    const double *m = k->c->m;
    int32_t x = k->t->x + k->i, y = k->t->y + k->j, first = x / WARP_BLOCK * WARP_BLOCK;
    int64_t px = fixed(m[0] * first + (m[1] * y + m[2])) + (x - first) * k->c->step_x;
    int64_t py = fixed(m[3] * first + (m[4] * y + m[5])) + (x - first) * k->c->step_y;
    steps(px + bias, k->c->step_x, k->b->ramp_x, k->n, k->b->x, k->b->fx);
    steps(py + bias, k->c->step_y, k->b->ramp_y, k->n, k->b->y, k->b->fy);
}

static void perspective_block(const struct warp_job *k)
{
    enum { DOUBLES = TV_BYTES / 8 };
    const double *m = k->c->m;
    int32_t x = k->t->x + k->i, y = k->t->y + k->j;
    tv_f64 none = {0}, column, next = none + DOUBLES;
    tv_f64 ax = none + m[0], ay = none + m[3], ad = none + m[6];
    tv_f64 bx = none + (m[1] * y + m[2]), by = none + (m[4] * y + m[5]);
    tv_f64 bd = none + (m[7] * y + m[8]);
    for (int l = 0; l < DOUBLES; l++)
        column[l] = x + l;
    for (int i = 0; i < k->n; i += DOUBLES, column += next) {
        tv_f64 q = 1 / (ad * column + bd);
        tv_store_f64(k->b->px + i, (ax * column + bx) * q);
        tv_store_f64(k->b->py + i, (ay * column + by) * q);
    }
}

static void map_block(const struct warp_job *k)
{
    struct warp_block *b = k->b;
    const float *map_x = (const float *)k->t->guide[0][k->j] + k->i;
    const float *map_y = (const float *)k->t->guide[1][k->j] + k->i;
    for (int i = 0; i < k->n; i++) {
        b->px[i] = (double)map_x[i];
        b->py[i] = (double)map_y[i];
    }
    for (int i = k->n; i % 8; i++)
        b->px[i] = b->py[i] = 0;
}

static void general_block(const struct warp_job *k, int64_t bias)
{
    struct warp_block *b = k->b;
    if (k->c->kind == WARP_MAP)
        map_block(k);
    else
        perspective_block(k);
    round_positions(b->px, k->n, bias, b->x, b->fx);
    round_positions(b->py, k->n, bias, b->y, b->fy);
}

static void set_positions(const struct warp_job *k, int bits)
{
    int64_t bias = (int64_t)1 << (31 - bits);
    if (k->c->kind == WARP_AFFINE)
        affine_block(k, bias);
    else
        general_block(k, bias);
}

/* ---- inside or not */

/* INSIDE: all samples of the pixel are in the source; OUTSIDE: none is. */
enum where { INSIDE, MIXED, OUTSIDE };

/* Of one coordinate, in a source of n. Samples reach from low before to low + 1 behind; high are
 * read. */
TAMIS_INLINE enum where side(int32_t v, int low, int high, int32_t n)
{
    if (v >= low && (int64_t)v + high <= n)
        return INSIDE;
    return (int64_t)v + low + 1 < 0 || (int64_t)v - low >= n ? OUTSIDE : MIXED;
}

TAMIS_INLINE enum where where_is(const struct warp_job *k, const struct warp_way *way, int i)
{
    enum where x = side(k->b->x[i], way->low, way->high_x, k->w);
    enum where y = side(k->b->y[i], way->low, way->high_y, k->h);
    return x > y ? x : y;
}

/* Of all pixels of the block. Unsigned numbers make one comparison of two. */
static enum where classify(const struct warp_job *k, const struct warp_way *way)
{
    struct warp_block *b = k->b;
    int64_t room_x = (int64_t)k->w - way->high_x - way->low;
    int64_t room_y = (int64_t)k->h - way->high_y - way->low;
    uint32_t low = (uint32_t)way->low, behind = low + 1, least = 2, most = 0;
    uint32_t last_x = (uint32_t)room_x, last_y = (uint32_t)room_y;
    uint32_t end_x = (uint32_t)k->w + behind + low, end_y = (uint32_t)k->h + behind + low;
    uint32_t tight = room_x < 0 || room_y < 0;
    for (int i = 0; i < k->n; i++) {
        uint32_t x = (uint32_t)b->x[i], y = (uint32_t)b->y[i];
        uint32_t over = (x - low > last_x) | (y - low > last_y) | tight;
        uint32_t out = (x + behind >= end_x) | (y + behind >= end_y);
        uint32_t here = out ? OUTSIDE : over;
        b->where[i] = here;
        least = here < least ? here : least;
        most = here > most ? here : most;
    }
    return least == most ? (enum where)least : MIXED;
}

/* Along a straight line it is mostly enough to look at both ends. */
static enum where where_block(const struct warp_job *k, const struct warp_way *way)
{
    const struct warp_block *b = k->b;
    if (k->c->kind != WARP_AFFINE)
        return classify(k, way);
    enum where first = where_is(k, way, 0), last = where_is(k, way, k->n - 1);
    if (first == INSIDE && last == INSIDE)
        return INSIDE;
    int beyond_x = (b->x[0] < 0) == (b->x[k->n - 1] < 0) &&
                   side(b->x[0], way->low, way->high_x, k->w) == OUTSIDE &&
                   side(b->x[k->n - 1], way->low, way->high_x, k->w) == OUTSIDE;
    int beyond_y = (b->y[0] < 0) == (b->y[k->n - 1] < 0) &&
                   side(b->y[0], way->low, way->high_y, k->h) == OUTSIDE &&
                   side(b->y[k->n - 1], way->low, way->high_y, k->h) == OUTSIDE;
    return beyond_x || beyond_y ? OUTSIDE : MIXED;
}

/* Whether 32 bits hold offsets within rows that reach over so many; a stride may be shorter than a
 * row, where all rows are the same. */
TAMIS_INLINE int fits_offsets(const struct warp_job *k, int64_t rows)
{
    int64_t stride = k->stride < 0 ? -(int64_t)k->stride : (int64_t)k->stride;
    int64_t room = 0x3fffffff - k->row_bytes;
    return room > 0 && stride <= room / rows;
}

/* The row that offsets of the block count from, and its number times the stride, modulo 2^32. 0
 * when the block's rows are too far apart for that. */
TAMIS_INLINE int set_origin(const struct warp_job *k, int n, const char **base, uint32_t *skip)
{
    *base = k->data;
    *skip = 0;
    if (!k->far_rows)
        return 1;
    int32_t low = k->b->y[0], high = low;
    for (int i = 1; i < n; i++) {
        low = k->b->y[i] < low ? k->b->y[i] : low;
        high = k->b->y[i] > high ? k->b->y[i] : high;
    }
    int64_t rows = (int64_t)high - low + 8;
    low = low < 0 ? 0 : low < k->h ? low : k->h - 1;
    *base = k->data + low * k->stride;
    *skip = (uint32_t)low * (uint32_t)k->stride;
    return fits_offsets(k, rows);
}

/* ---- the walk over a tile */

/* Pixels of the source; more of them do not stay where they are wanted. */
#define PREFETCH_MOST 20000

/* A block that is not as a whole inside or outside: stretches that are. */
static void sample_mixed(const struct warp_job *k, const struct warp_way *way, const char *base,
                         uint32_t skip, int near, char *out)
{
    int constant = k->c->border == TAMIS_BORDER_CONSTANT;
    if (k->c->kind == WARP_AFFINE)
        classify(k, way);
    for (int i = 0, end; i < k->n; i = end) {
        char *to = out + (size_t)i * way->pixel;
        uint32_t here = k->b->where[i];
        for (end = i + 1; end < k->n && k->b->where[end] == here;)
            end++;
        if (here == INSIDE && near)
            way->span(k, base, skip, i, end, to);
        else if (here == OUTSIDE && constant)
            warp_fill(k, way->type, (size_t)(end - i), to);
        else
            for (int l = i; l < end; l++, to += way->pixel)
                way->one(k, l, to);
    }
}

/* Straight to the result where no span writes more than it shall. */
static void sample_block(const struct warp_job *k, const struct warp_way *way, char *to)
{
    enum where here = where_block(k, way);
    const char *base;
    uint32_t skip;
    int near = set_origin(k, k->n, &base, &skip);
    char *out = k->b->out;
    if (here == INSIDE && near) {
        out = way->exact && k->n == WARP_BLOCK ? to : out;
        way->span(k, base, skip, 0, k->n, out);
    } else if (here == OUTSIDE && k->c->border == TAMIS_BORDER_CONSTANT) {
        out = to;
        warp_fill(k, way->type, (size_t)k->n, out);
    } else {
        sample_mixed(k, way, base, skip, near, out);
    }
    if (out != to)
        memcpy(to, out, (size_t)k->n * way->pixel);
}

/* Asks for the part of the source that an affine tile samples, line by line: turned, it comes from
 * so many rows that the hardware does not see what comes next. */
static void prefetch(const struct warp_job *k, size_t pixel)
{
    const double *m = k->c->m;
    double w = k->t->w - 1, h = k->t->h - 1;
    double x = m[0] * k->t->x + m[1] * k->t->y + m[2], y = m[3] * k->t->x + m[4] * k->t->y + m[5];
    double left = x + (m[0] < 0 ? m[0] * w : 0) + (m[1] < 0 ? m[1] * h : 0);
    double top = y + (m[3] < 0 ? m[3] * w : 0) + (m[4] < 0 ? m[4] * h : 0);
    double right = left + __builtin_fabs(m[0] * w) + __builtin_fabs(m[1] * h) + 2;
    double bottom = top + __builtin_fabs(m[3] * w) + __builtin_fabs(m[4] * h) + 2;
    left = left > 0 ? left : 0;
    top = top > 0 ? top : 0;
    right = right < k->w ? right : k->w;
    bottom = bottom < k->h ? bottom : k->h;
    if (!(left < right && top < bottom && (right - left) * (bottom - top) < PREFETCH_MOST))
        return;
    size_t first = (size_t)left * pixel, end = (size_t)__builtin_ceil(right) * pixel;
    for (ptrdiff_t row = (ptrdiff_t)top; row < (ptrdiff_t)bottom; row++)
        for (size_t at = first; at < end + 63; at += 64)
            __builtin_prefetch(k->data + row * k->stride + (at < end ? at : end - 1));
}

void TAMIS_FN(tamis_priv_warp_tile)(const tamis_tile *t, const void *coef, void *scratch,
                                    const struct warp_way *way)
{
    const tamis_whole *whole = t->whole;
    struct warp_job k = {.t = t,
                         .c = coef,
                         .b = scratch,
                         .data = whole->data[0],
                         .stride = whole->stride[0],
                         .w = whole->w,
                         .h = whole->h,
                         .row_bytes = (int64_t)whole->w * (int64_t)way->pixel};
    k.far_rows = !fits_offsets(&k, whole->h);
    if (k.c->kind == WARP_AFFINE) {
        prefetch(&k, way->pixel);
        make_ramp(k.c->step_x, k.b->ramp_x);
        make_ramp(k.c->step_y, k.b->ramp_y);
    }
    for (k.j = 0; k.j < t->h; k.j++) {
        char *row = (char *)t->dst[0] + k.j * t->dst_stride[0];
        for (k.i = 0; k.i < t->w; k.i += k.n) {
            int left = WARP_BLOCK - (t->x + k.i) % WARP_BLOCK;
            k.n = left < t->w - k.i ? left : t->w - k.i;
            set_positions(&k, way->bits);
            sample_block(&k, way, row + (size_t)k.i * way->pixel);
        }
    }
}

/* ---- nearest: nothing but addresses and copies */

TAMIS_INLINE void copy_span(const struct warp_job *k, const char *base, uint32_t skip, int i,
                            int end, char *out, size_t pixel)
{
    warp_store_offsets(k, skip, i, end, (uint32_t)pixel);
    for (; i < end; i++, out += pixel)
        memcpy(out, base + k->b->at[i], pixel);
}

TAMIS_INLINE void copy_one(const struct warp_job *k, int i, void *out, size_t pixel,
                           tamis_type type)
{
    const char *from = warp_pixel(k, k->b->x[i], k->b->y[i], pixel);
    if (from)
        memcpy(out, from, pixel);
    else
        warp_fill(k, type, 1, out);
}

#define NEAREST(T, TYPE, STEP)                                                                     \
    static void copy_span_##T##_##STEP(const struct warp_job *k, const char *base, uint32_t skip,  \
                                       int i, int end, char *out)                                  \
    {                                                                                              \
        copy_span(k, base, skip, i, end, out, STEP * sizeof(T));                                   \
    }                                                                                              \
    static void copy_one_##T##_##STEP(const struct warp_job *k, int i, void *out)                  \
    {                                                                                              \
        copy_one(k, i, out, STEP * sizeof(T), TYPE);                                               \
    }
#define NEAREST_WAY(T, TYPE, STEP)                                                                 \
    {                                                                                              \
        TYPE, 0, 0, 1, 1, STEP * sizeof(T), copy_span_##T##_##STEP, copy_one_##T##_##STEP, 1       \
    }
#define NEAREST_STEPS(T, TYPE)                                                                     \
    NEAREST(T, TYPE, 1)                                                                            \
    NEAREST(T, TYPE, 2)                                                                            \
    NEAREST(T, TYPE, 3)                                                                            \
    NEAREST(T, TYPE, 4)                                                                            \
    static void TAMIS_FN(nearest_##T)(const tamis_tile *t, const void *coef, void *scratch)        \
    {                                                                                              \
        static const struct warp_way ways[4] = {NEAREST_WAY(T, TYPE, 1), NEAREST_WAY(T, TYPE, 2),  \
                                                NEAREST_WAY(T, TYPE, 3), NEAREST_WAY(T, TYPE, 4)}; \
        TAMIS_FN(tamis_priv_warp_tile)(t, coef, scratch, &ways[t->step - 1]);                      \
    }
NEAREST_STEPS(uint8_t, TAMIS_U8)
NEAREST_STEPS(uint16_t, TAMIS_U16)
NEAREST_STEPS(int16_t, TAMIS_S16)
NEAREST_STEPS(float, TAMIS_F32)
#undef NEAREST_STEPS
#undef NEAREST_WAY
#undef NEAREST

extern const tamis_kernel TAMIS_FN(warp_kernels)[];
const tamis_kernel TAMIS_FN(warp_kernels)[] = {
    {"nearest", TAMIS_U8, TV_CPU, TAMIS_FN(nearest_uint8_t), 0},
    {"nearest", TAMIS_U16, TV_CPU, TAMIS_FN(nearest_uint16_t), 0},
    {"nearest", TAMIS_S16, TV_CPU, TAMIS_FN(nearest_int16_t), 0},
    {"nearest", TAMIS_F32, TV_CPU, TAMIS_FN(nearest_float), 0},
    {"linear", TAMIS_U8, TV_CPU, TAMIS_FN(tamis_priv_warp_linear_u8), 0},
    {"linear", TAMIS_U16, TV_CPU, TAMIS_FN(tamis_priv_warp_linear_u16), 0},
    {"linear", TAMIS_S16, TV_CPU, TAMIS_FN(tamis_priv_warp_linear_s16), 0},
    {"linear", TAMIS_F32, TV_CPU, TAMIS_FN(tamis_priv_warp_linear_f32), 0},
    {"cubic", TAMIS_U8, TV_CPU, TAMIS_FN(tamis_priv_warp_cubic_u8), 0},
    {"cubic", TAMIS_U16, TV_CPU, TAMIS_FN(tamis_priv_warp_cubic_u16), 0},
    {"cubic", TAMIS_S16, TV_CPU, TAMIS_FN(tamis_priv_warp_cubic_s16), 0},
    {"cubic", TAMIS_F32, TV_CPU, TAMIS_FN(tamis_priv_warp_cubic_f32), 0},
    {"lanczos3", TAMIS_U8, TV_CPU, TAMIS_FN(tamis_priv_warp_lanczos3_u8), 0},
    {"lanczos3", TAMIS_U16, TV_CPU, TAMIS_FN(tamis_priv_warp_lanczos3_u16), 0},
    {"lanczos3", TAMIS_S16, TV_CPU, TAMIS_FN(tamis_priv_warp_lanczos3_s16), 0},
    {"lanczos3", TAMIS_F32, TV_CPU, TAMIS_FN(tamis_priv_warp_lanczos3_f32), 0},
    {.fn = NULL},
};
