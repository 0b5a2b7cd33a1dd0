/* SPDX-License-Identifier: Apache-2.0 */
/* Fast rows of the warps: positions, the walk over a tile, and the nearest pixel. */
#include "warp_lanes.h"

_Static_assert(sizeof(struct warp_block) <= WARP_SCRATCH, "a block does not fit its scratch");

/* ---- positions */

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

TAMIS_INLINE void affine_block(const struct warp_job *k, int64_t bias)
{
    const double *m = k->c->m;
    int32_t x = k->t->x + k->i, y = k->t->y + k->j, first = x / WARP_BLOCK * WARP_BLOCK;
    double fx = first + k->u, fy = y + k->v;
    int64_t px = warp_fixed(m[0] * fx + (m[1] * fy + m[2])) + (x - first) * k->c->step_x;
    int64_t py = warp_fixed(m[3] * fx + (m[4] * fy + m[5])) + (x - first) * k->c->step_y;
    steps(px + bias, k->c->step_x, k->b->ramp_x, k->n, k->b->x, k->b->fx);
    steps(py + bias, k->c->step_y, k->b->ramp_y, k->n, k->b->y, k->b->fy);
}

/* The higher halves of the lanes of a, then of b, less first; and the lower halves. */
TAMIS_INLINE void store_halves(tv_s64 a, tv_s64 b, int32_t first, int32_t *whole,
                               uint32_t *fraction)
{
    tv_s32 high = warp_high_halves(a, b), low = warp_low_halves(a, b);
#if defined(TAMIS_AVX512)
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    high = (tv_s32)_mm512_permutexvar_epi64(order, (__m512i)high);
    low = (tv_s32)_mm512_permutexvar_epi64(order, (__m512i)low);
#elif defined(TAMIS_AVX2)
    high = (tv_s32)_mm256_permute4x64_epi64((__m256i)high, 0xd8);
    low = (tv_s32)_mm256_permute4x64_epi64((__m256i)low, 0xd8);
#endif
    tv_store_s32(whole, high - first);
    tv_store_s32(fraction, low);
}

enum { DOUBLES = TV_BYTES / 8 };

static void perspective_block(const struct warp_job *k, int64_t bias)
{
    struct warp_block *b = k->b;
    const double *m = k->c->m;
    double x = k->t->x + k->i + k->u, y = k->t->y + k->j + k->v;
    tv_f64 none = {0}, column, next = none + DOUBLES;
    tv_f64 ax = none + m[0], ay = none + m[3], ad = none + m[6];
    tv_f64 bx = none + (m[1] * y + m[2]), by = none + (m[4] * y + m[5]);
    tv_f64 bd = none + (m[7] * y + m[8]);
    for (int l = 0; l < DOUBLES; l++)
        column[l] = x + l;
    const int32_t first = k->tame ? WARP_NEAR_WHOLE : 0;
    for (int i = 0; i < k->n; i += LANES) {
        tv_s64 px[2], py[2];
        for (int half = 0; half < 2; half++, column += next) {
            tv_f64 q = 1 / (ad * column + bd);
            tv_f64 vx = (ax * column + bx) * q, vy = (ay * column + by) * q;
            px[half] = k->tame ? warp_near_vector(vx, bias) : warp_fixed_vector(vx) + bias;
            py[half] = k->tame ? warp_near_vector(vy, bias) : warp_fixed_vector(vy) + bias;
        }
        store_halves(px[0], px[1], first, b->x + i, b->fx + i);
        store_halves(py[0], py[1], first, b->y + i, b->fy + i);
    }
}

/* Of the numbers of one channel of the map. */
static void map_axis(const float *map, int n, int64_t bias, int32_t *whole, uint32_t *fraction)
{
    for (int i = 0; i < n; i += LANES) {
        float lanes[LANES] = {0};
        tv_f32h a, b;
        memcpy(lanes, map + i, (size_t)(n - i < LANES ? n - i : LANES) * sizeof *lanes);
        memcpy(&a, lanes, sizeof a);
        memcpy(&b, lanes + DOUBLES, sizeof b);
        store_halves(warp_fixed_vector(__builtin_convertvector(a, tv_f64)) + bias,
                     warp_fixed_vector(__builtin_convertvector(b, tv_f64)) + bias, 0, whole + i,
                     fraction + i);
    }
}

static void map_block(const struct warp_job *k, int64_t bias)
{
    struct warp_block *b = k->b;
    map_axis((const float *)k->t->guide[0][k->j] + k->i, k->n, bias, b->x, b->fx);
    map_axis((const float *)k->t->guide[1][k->j] + k->i, k->n, bias, b->y, b->fy);
}

static void set_positions(const struct warp_job *k, int bits)
{
    int64_t bias = (int64_t)1 << (31 - bits);
    if (k->c->kind == WARP_AFFINE)
        affine_block(k, bias);
    else if (k->c->kind == WARP_PERSPECTIVE)
        perspective_block(k, bias);
    else
        map_block(k, bias);
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

/* Positions below this are near. */
#define WARP_NEAR 0x1p18

/* Whether all positions are near: those within the tile lie between those of its corners, unless
 * the horizon runs through. */
static int is_near(const struct warp_job *k)
{
    const double *m = k->c->m;
    int signs = 0;
    for (int i = 0; i < 4; i++) {
        double x = k->t->x + (i % 2 ? k->t->w : -1), y = k->t->y + (i / 2 ? k->t->h : -1);
        double d = m[6] * x + m[7] * y + m[8], most = WARP_NEAR * __builtin_fabs(d);
        if (!(__builtin_fabs(m[0] * x + m[1] * y + m[2]) < most &&
              __builtin_fabs(m[3] * x + m[4] * y + m[5]) < most))
            return 0;
        signs |= d > 0 ? 1 : 2;
    }
    return signs < 3;
}

/* Fills in what is known of a perspective. Along a row x / d changes in the direction of
 * x' d - x d', which is the same for all its columns and changes evenly from row to row; down a
 * column likewise. */
static void tame(struct warp_job *k)
{
    const double *m = k->c->m;
    const double left = k->t->x, right = left + k->t->w, top = k->t->y, bottom = top + k->t->h;
    k->tame = k->c->kind == WARP_PERSPECTIVE && is_near(k);
    for (int axis = 0; axis < 2 && k->tame; axis++) {
        const double *a = m + 3 * axis, *d = m + 6;
        double across[2] = {a[0] * (d[1] * top + d[2]) - d[0] * (a[1] * top + a[2]),
                            a[0] * (d[1] * bottom + d[2]) - d[0] * (a[1] * bottom + a[2])};
        double down[2] = {a[1] * (d[0] * left + d[2]) - d[1] * (a[0] * left + a[2]),
                          a[1] * (d[0] * right + d[2]) - d[1] * (a[0] * right + a[2])};
        k->tame = (across[0] < 0) == (across[1] < 0) && (down[0] < 0) == (down[1] < 0);
        k->corner[axis] = (across[0] < 0 ? 3 : 0) + (down[0] < 0 ? 12 : 0);
    }
}

/* Asks for the part of the source that a tile samples, line by line: turned, it comes from so many
 * rows that the hardware does not see what comes next. */
static void prefetch(const struct warp_job *k, size_t pixel)
{
    const double *m = k->c->m;
    double left = k->w, top = k->h, right = 0, bottom = 0;
    for (int i = 0; i < 4; i++) {
        double x = k->t->x + (i % 2 ? k->t->w - 1 : 0), y = k->t->y + (i / 2 ? k->t->h - 1 : 0);
        double d = m[6] * x + m[7] * y + m[8];
        double sx = (m[0] * x + m[1] * y + m[2]) / d, sy = (m[3] * x + m[4] * y + m[5]) / d;
        left = sx < left ? sx : left;
        top = sy < top ? sy : top;
        right = sx > right ? sx : right;
        bottom = sy > bottom ? sy : bottom;
    }
    left = left > 0 ? left : 0;
    top = top > 0 ? top : 0;
    right = right + 2 < k->w ? right + 2 : k->w;
    bottom = bottom + 2 < k->h ? bottom + 2 : k->h;
    if (!(left < right && top < bottom && (right - left) * (bottom - top) < PREFETCH_MOST))
        return;
    size_t first = (size_t)left * pixel, end = (size_t)__builtin_ceil(right) * pixel;
    for (ptrdiff_t row = (ptrdiff_t)top; row < (ptrdiff_t)bottom; row++)
        for (size_t at = first; at < end + 63; at += 64)
            __builtin_prefetch(k->data + row * k->stride + (at < end ? at : end - 1));
}

void TAMIS_FN(tamis_priv_warp_scattered)(const struct warp_job *k, const struct warp_way *way,
                                         int n)
{
    struct warp_job job = *k;
    const char *base;
    uint32_t skip;
    job.n = n;
    classify(&job, way);
    int near = set_origin(&job, n, &base, &skip);
    sample_mixed(&job, way, base, skip, near, job.b->out);
}

/* Pixels from column k->i of the tile to the end of a block or of the tile. */
static int to_block_end(const struct warp_job *k)
{
    int left = WARP_BLOCK - (k->t->x + k->i) % WARP_BLOCK;
    return left < k->t->w - k->i ? left : k->t->w - k->i;
}

static void sample_row(struct warp_job *k, const struct warp_way *way, int from, int end)
{
    char *row = (char *)k->t->dst[0] + k->j * k->t->dst_stride[0];
    for (k->i = from; k->i < end; k->i += k->n) {
        k->n = to_block_end(k);
        set_positions(k, way->bits);
        sample_block(k, way, row + (size_t)k->i * way->pixel);
    }
}

/* Four rows at a time. */
static void sample_band(struct warp_job *k, const struct warp_way *way)
{
    int first = k->j;
    for (k->i = 0; k->i < k->t->w;) {
        int from = k->i, n = to_block_end(k), whole = n & ~3;
        k->n = whole;
        if (!way->band(k, way))
            whole = 0;
        for (; whole < n && k->j < first + 4; k->j++)
            sample_row(k, way, from + whole, from + n);
        k->j = first;
        k->i = from + n;
    }
}

/* pixel: bytes of one of the source. */
static struct warp_job start(const tamis_tile *t, const struct warp_coef *c, void *scratch,
                             size_t pixel)
{
    const tamis_whole *whole = t->whole;
    struct warp_job k = {.t = t,
                         .c = c,
                         .b = scratch,
                         .data = whole->data[0],
                         .stride = whole->stride[0],
                         .w = whole->w,
                         .h = whole->h,
                         .row_bytes = (int64_t)whole->w * (int64_t)pixel};
    k.far_rows = !fits_offsets(&k, whole->h);
    tame(&k);
    if (c->kind == WARP_AFFINE || k.tame)
        prefetch(&k, pixel);
    if (c->kind == WARP_AFFINE) {
        make_ramp(c->step_x, k.b->ramp_x);
        make_ramp(c->step_y, k.b->ramp_y);
    }
    return k;
}

void TAMIS_FN(tamis_priv_warp_tile)(const tamis_tile *t, const void *coef, void *scratch,
                                    const struct warp_way *way)
{
    struct warp_job k = start(t, coef, scratch, way->pixel);
    if (way->band)
        for (; k.j + 4 <= t->h; k.j += 4)
            sample_band(&k, way);
    for (; k.j < t->h; k.j++)
        sample_row(&k, way, 0, t->w);
}

/* ---- area */

/* sums[i] += more[i]; both have room for whole vectors. */
TAMIS_INLINE void add(float *sums, const float *more, int count)
{
    for (int i = 0; i < count; i += LANES)
        tv_store_f32(sums + i, tv_load_f32(sums + i) + tv_load_f32(more + i));
}

/* The block's means of `samples` each, as samples of the picture's type. */
static void store_means(const struct warp_job *k, tamis_type type, int samples, char *to)
{
    struct warp_block *b = k->b;
    int count = k->n * k->t->step;
    for (int i = 0; i < count; i += LANES) {
        tv_f32 mean = tv_load_f32(b->total + i) / (float)samples;
        tv_s32 level = tv_round_f32(mean); /* of what is no float */
        tv_u16 narrow = tv_narrow_s32(level, level);
        if (type == TAMIS_F32)
            tv_store_f32(b->line + i, mean);
        else if (type == TAMIS_U8)
            warp_store_bytes((char *)b->line + i, level);
        else
            memcpy((char *)b->line + 2 * i, &narrow, 2 * LANES);
    }
    memcpy(to, b->line, (size_t)count * warp_size(type));
}

static void mean_block(struct warp_job *k, const struct warp_way *way, tamis_type type, char *to)
{
    struct warp_block *b = k->b;
    int grid[2], count = k->n * k->t->step, first = (k->t->x + k->i) / WARP_BLOCK * WARP_BLOCK;
    tamis_priv_warp_grid(k->c, first, k->t->y + k->j, grid);
    memset(b->total, 0, sizeof b->total);
    for (int j = 0; j < grid[1] && !tamis_tile_canceled(k->t); j++) {
        memset(b->line, 0, sizeof b->line);
        k->v = (j + 0.5) / grid[1] - 0.5;
        for (int i = 0; i < grid[0]; i++) {
            k->u = (i + 0.5) / grid[0] - 0.5;
            set_positions(k, way->bits);
            sample_block(k, way, b->out);
            add(b->line, (const float *)(const void *)b->out, count);
        }
        add(b->total, b->line, count);
    }
    store_means(k, type, grid[0] * grid[1], to);
}

void TAMIS_FN(tamis_priv_warp_mean)(const tamis_tile *t, const void *coef, void *scratch,
                                    const struct warp_way *way, tamis_type type)
{
    size_t pixel = (size_t)t->step * warp_size(type);
    struct warp_job k = start(t, coef, scratch, pixel);
    for (; k.j < t->h; k.j++) {
        char *row = (char *)t->dst[0] + k.j * t->dst_stride[0];
        for (k.i = 0; k.i < t->w; k.i += k.n) {
            k.n = to_block_end(&k);
            mean_block(&k, way, type, row + (size_t)k.i * pixel);
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

extern const tamis_kernel TAMIS_FN(warp_kernels)[], TAMIS_FN(warp_area_kernels)[];
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
const tamis_kernel TAMIS_FN(warp_area_kernels)[] = {
    {"area", TAMIS_U8, TV_CPU, TAMIS_FN(tamis_priv_warp_area_u8), 0},
    {"area", TAMIS_U16, TV_CPU, TAMIS_FN(tamis_priv_warp_area_u16), 0},
    {"area", TAMIS_S16, TV_CPU, TAMIS_FN(tamis_priv_warp_area_s16), 0},
    {"area", TAMIS_F32, TV_CPU, TAMIS_FN(tamis_priv_warp_area_f32), 0},
    {.fn = NULL},
};
