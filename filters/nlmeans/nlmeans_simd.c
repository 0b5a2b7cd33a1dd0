/* SPDX-License-Identifier: Apache-2.0 */
/* Vector rows of non-local means in float arithmetic.
 *
 * One offset of the search window at a time: for all pixels p of a row and q = p + offset, the
 * squared difference, its sums over the width of the patch, over its height, the weight. As
 * w(p,q) = w(q,p), each weight serves both pixels and half the offsets suffice; near the tile's
 * edges p may lie outside it and only q inside.
 *
 * Results must not depend on where a tile begins. So no sum runs on from pixel to pixel: each is
 * added up anew, in one order. And each pixel takes its weights in one order: by offsets, and for
 * an offset first as q, then as p, or the other way where both are in one row; for rows are worked
 * on downwards, and whole rows as p, then as q.
 *
 * What is summed is w * (in(q) - in(p)), whose rounding errors shrink with the differences. */
#include <float.h>

#include "cpu/simd_f32.h"
#include "nlmeans_simd.h"

/* Floats in a vector, vectors side by side in a block, floats in a block. */
enum { L = TV_FLOATS, N = 4, B = L * N };

/* Planes of floats whose sample i of row y is rows[p][y][i]. */
typedef struct view {
    const void *const *rows[TAMIS_MAX_CHANNELS];
    int count;
} view;

/* The planes of a tile that share a weight, and memory. */
typedef struct job {
    const nlmeans_coef *coef;
    int h, step;
    ptrdiff_t n;   /* samples in a row of the tile */
    int finite;    /* there is neither NaN nor infinity */
    view distance; /* what d2 is made from */
    view values;   /* what is averaged */
    /* The same of the frame that is searched: of this one, or another. */
    view other_distance, other_values;

    /* Of the result's rows: sums of w * difference for each plane, then of w; of all offsets, and
     * of those not yet added to these, lest long sums lose precision. */
    float *total[TAMIS_MAX_CHANNELS + 1], *sum[TAMIS_MAX_CHANNELS + 1];
    ptrdiff_t result_row;
    /* One row each; index 0 is column 0. */
    float *squares, *weights;
    float *patches; /* as many rows as the patch is high: sums over its width */
    ptrdiff_t source_row;
} job;

/* A step to another pixel, of the same picture or of another one. */
typedef struct offset {
    int dy;
    ptrdiff_t di; /* in samples */
} offset;

TAMIS_INLINE tv_f32 load(const void *row, ptrdiff_t i)
{
    return tv_load_f32((const float *)row + i);
}

/* Squared differences of row y from the row dy below. */
TAMIS_INLINE void square_row(const job *j, offset o, int y, ptrdiff_t begin, ptrdiff_t end,
                             int planes)
{
    for (ptrdiff_t i = begin; i < end; i += L) {
        tv_f32 sum = {0};
        for (int p = 0; p < planes; p++) {
            const void *const *rows = j->distance.rows[p], *const *other =
                                                               j->other_distance.rows[p];
            tv_f32 d = load(other[y + o.dy], i + o.di) - load(rows[y], i);
            sum = p ? tv_muladd_f32(d, d, sum) : d * d;
        }
        tv_store_f32(j->squares + i, sum);
    }
}

/* Where the sums over the patch's width for row y are kept. */
static float *patch_row(const job *j, int y)
{
    int rows = 2 * j->coef->py + 1;
    return j->patches + ((y % rows + rows) % rows) * j->source_row;
}

static void sum_width(const job *j, int y, ptrdiff_t begin, ptrdiff_t end)
{
    float *to = patch_row(j, y);
    ptrdiff_t margin = (ptrdiff_t)j->coef->px * j->step;
    for (ptrdiff_t i = begin; i < end; i += B) {
        tv_f32 sum[N];
        for (int n = 0; n < N; n++)
            sum[n] = load(j->squares, i + n * L - margin);
        for (ptrdiff_t c = j->step - margin; c <= margin; c += j->step)
            for (int n = 0; n < N; n++)
                sum[n] += load(j->squares, i + n * L + c);
        for (int n = 0; n < N; n++)
            tv_store_f32(to + i + n * L, sum[n]);
    }
}

/* The weights of row y from its sums over the patch's height. */
static void weigh_row(const job *j, int y, ptrdiff_t begin, ptrdiff_t end)
{
    const nlmeans_coef *k = j->coef;
    const float scale = -k->log2_range * TV_EXP2_UNIT / (float)j->distance.count;
    const float bias = k->log2_floor * TV_EXP2_UNIT;
    for (ptrdiff_t i = begin; i < end; i += B) {
        tv_f32 sum[N];
        const float *row = patch_row(j, y - k->py);
        for (int n = 0; n < N; n++)
            sum[n] = load(row, i + n * L);
        for (int r = 1 - k->py; r <= k->py; r++) {
            row = patch_row(j, y + r);
            for (int n = 0; n < N; n++)
                sum[n] += load(row, i + n * L);
        }
        for (int n = 0; n < N; n++) {
            tv_f32 t = tv_muladd_f32(sum[n], tv_splat_f32(scale), tv_splat_f32(bias));
            tv_f32 w = tv_exp2_f32(tv_min_f32(t, (tv_f32){0}), 1);
            w = (tv_f32)((tv_s32)w & (tv_s32)(sum[n] <= FLT_MAX));
            tv_store_f32(j->weights + i + n * L, w);
        }
    }
}

/* Adds what lies at an offset from row y, with weights[i] for sample i. */
TAMIS_INLINE void add_row(const job *j, int y, offset o, const float *weights, int planes)
{
    float *weight = j->sum[planes] + y * j->result_row;
    for (ptrdiff_t i = 0; i < j->n; i += L) {
        tv_f32 w = load(weights, i);
        tv_store_f32(weight + i, load(weight, i) + w);
        for (int p = 0; p < planes; p++) {
            const void *const *rows = j->values.rows[p], *const *other = j->other_values.rows[p];
            float *sum = j->sum[p] + y * j->result_row;
            tv_f32 d = load(other[y + o.dy], i + o.di) - load(rows[y], i);
            if (!j->finite) /* what has no weight may be infinite */
                d = (tv_f32)((tv_s32)d & (w != 0));
            tv_store_f32(sum + i, tv_muladd_f32(w, d, load(sum, i)));
        }
    }
}

/* All pairs of an offset, which points downwards, or to the right in the same row. */
TAMIS_INLINE void add_pairs(const job *j, offset o, int distances, int values)
{
    const nlmeans_coef *k = j->coef;
    ptrdiff_t begin = o.di > 0 ? -o.di : 0, end = j->n + (o.di < 0 ? -o.di : 0);
    ptrdiff_t margin = (ptrdiff_t)k->px * j->step;
    for (int below = -o.dy - k->py; below < j->h + k->py; below++) {
        int y = below - k->py;
        square_row(j, o, below, begin - margin, end + margin, distances);
        sum_width(j, below, begin, end);
        if (y < -o.dy)
            continue;
        weigh_row(j, y, begin, end);
        if (y >= 0)
            add_row(j, y, o, j->weights, values);
        if (y + o.dy < j->h)
            add_row(j, y + o.dy, (offset){-o.dy, -o.di}, j->weights - o.di, values);
    }
}

/* What lies at an offset in another frame. Only this frame's pixels are wanted, so that no weight
 * serves twice, and every offset has to be taken. */
TAMIS_INLINE void add_other(const job *j, offset o, int distances, int values)
{
    const nlmeans_coef *k = j->coef;
    ptrdiff_t margin = (ptrdiff_t)k->px * j->step;
    for (int below = -k->py; below < j->h + k->py; below++) {
        int y = below - k->py;
        square_row(j, o, below, -margin, j->n + margin, distances);
        sum_width(j, below, 0, j->n);
        if (y < 0)
            continue;
        weigh_row(j, y, 0, j->n);
        add_row(j, y, o, j->weights, values);
    }
}

static void add_offset(const job *j, offset o, int same_frame)
{
    int distances = j->distance.count, values = j->values.count;
    if (!same_frame)
        add_other(j, o, distances, values);
    else if (distances == 1 && values == 1)
        add_pairs(j, o, 1, 1);
    else if (distances == 3 && values == 3)
        add_pairs(j, o, 3, 3);
    else
        add_pairs(j, o, distances, values);
}

/* Adds the sums to the totals. */
static void add_sums(const job *j)
{
    for (int p = 0; p <= j->values.count; p++)
        for (ptrdiff_t i = 0; i < j->h * j->result_row; i += L) {
            tv_store_f32(j->total[p] + i, load(j->total[p], i) + load(j->sum[p], i));
            tv_store_f32(j->sum[p] + i, (tv_f32){0});
        }
}

TAMIS_INLINE void store_row(const tamis_tile *t, tamis_type type, const job *j, int p, int plane,
                            int y)
{
    void *dst = (char *)t->dst[plane] + y * t->dst_stride[plane];
    for (ptrdiff_t i = 0; i < j->n; i += L) {
        ptrdiff_t at = y * j->result_row + i;
        tv_f32 weight = load(j->total[j->values.count], at) + 1; /* 1 for the pixel itself */
        tv_f32 mean = load(j->total[p], at) / weight;
        mean = tv_move_f32(type, load(j->values.rows[p][y], i), mean);
        tv_store_samples(type, dst, i, j->n - i, mean);
    }
}

/* Memory: what is not yet taken of the scratch. */
typedef struct store {
    char *next;
} store;

static void *take(store *s, size_t size)
{
    void *p = s->next;
    s->next += size;
    return p;
}

/* Takes rows with margins; *first is where row 0 has column 0. The result is indexed from
 * -(sy + py) on. */
static const void *const *take_plane(store *s, const tamis_tile *t, const nlmeans_coef *k,
                                     float **first)
{
    int margin = k->sy + k->py;
    ptrdiff_t row = (ptrdiff_t)nlmeans_source_row(k, t->w, t->step);
    const void **rows = take(s, nlmeans_address_bytes(k, t->h));
    float *samples = take(s, nlmeans_source_rows(k, t->h) * (size_t)row * sizeof *samples);
    rows += margin;
    *first = samples + margin * row + (ptrdiff_t)(k->sx + k->px) * t->step;
    for (int y = -margin; y < t->h + margin; y++)
        rows[y] = *first + y * row;
    return rows;
}

/* The tile's planes as floats: copies, or the rows themselves where they are floats. */
TAMIS_INLINE const void *const *widen_plane(store *s, const tamis_tile *t, const nlmeans_coef *k,
                                            tamis_type type, const void *const *from)
{
    ptrdiff_t margin = (ptrdiff_t)(k->sx + k->px) * t->step;
    ptrdiff_t row = (ptrdiff_t)nlmeans_source_row(k, t->w, t->step);
    float *to;
    if (type == TAMIS_F32)
        return from;
    const void *const *rows = take_plane(s, t, k, &to);
    for (int y = -k->sy - k->py; y < t->h + k->sy + k->py; y++)
        for (ptrdiff_t i = -margin; i < (ptrdiff_t)t->w * t->step + margin; i += L)
            tv_store_f32(to + y * row + i, tv_widen_f32(type, from[y], i));
    return rows;
}

/* The luma of planes 0 .. 2; not finite where a further plane is not. */
static const void *const *make_luma(store *s, const tamis_tile *t, const nlmeans_coef *k,
                                    const view *v)
{
    ptrdiff_t margin = k->sx + k->px, row = (ptrdiff_t)nlmeans_source_row(k, t->w, 1);
    float *to;
    const void *const *rows = take_plane(s, t, k, &to);
    for (int y = -k->sy - k->py; y < t->h + k->sy + k->py; y++)
        for (ptrdiff_t i = -margin; i < t->w + margin; i += L) {
            tv_f32 luma = load(v->rows[0][y], i) * 0.299f + load(v->rows[1][y], i) * 0.587f +
                          load(v->rows[2][y], i) * 0.114f;
            for (int p = 3; p < v->count; p++)
                luma = tv_muladd_f32(load(v->rows[p][y], i), (tv_f32){0}, luma);
            tv_store_f32(to + y * row + i, luma);
        }
    return rows;
}

static void take_sums(store *s, job *j, const tamis_tile *t)
{
    const nlmeans_coef *k = j->coef;
    j->result_row = (ptrdiff_t)nlmeans_result_row(t->w, t->step);
    j->source_row = (ptrdiff_t)nlmeans_source_row(k, t->w, t->step);
    size_t size = (size_t)t->h * (size_t)j->result_row * sizeof(float);
    size_t row = (size_t)j->source_row * sizeof(float);
    ptrdiff_t margin = (ptrdiff_t)(k->sx + k->px) * t->step;
    for (int p = 0; p <= j->values.count; p++) {
        j->total[p] = memset(take(s, size), 0, size);
        j->sum[p] = memset(take(s, size), 0, size);
    }
    j->squares = (float *)take(s, row) + margin;
    j->weights = (float *)take(s, row) + margin;
    j->patches = (float *)take(s, row * (2 * (size_t)k->py + 1)) + margin;
}

static const void *const *rows_of(const tamis_tile *t, int p, int frame)
{
    return frame ? t->frames->rows[TAMIS_MAX_FRAMES + frame][t->plane + p] : t->src[p];
}

/* The planes first .. first + count - 1 of a frame, as what is averaged and what is compared. */
TAMIS_INLINE void widen_frame(store *s, const tamis_tile *t, const nlmeans_coef *k, tamis_type type,
                              int first, int count, int frame, view *values, view *distance)
{
    values->count = count;
    for (int p = 0; p < count; p++)
        values->rows[p] = widen_plane(s, t, k, type, rows_of(t, first + p, frame));
    *distance = *values;
    if (k->luma && first == 0)
        *distance = (view){{make_luma(s, t, k, values)}, 1};
}

static void search_other(job *j, const tamis_tile *t)
{
    const nlmeans_coef *k = j->coef;
    for (int dy = -k->sy; dy <= k->sy; dy++) {
        for (int dx = -k->sx; dx <= k->sx; dx++)
            add_offset(j, (offset){dy, (ptrdiff_t)dx * t->step}, 0);
        add_sums(j);
    }
}

/* The planes from first on, which share a weight. */
TAMIS_INLINE void filter_group(const tamis_tile *t, const nlmeans_coef *k, tamis_type type,
                               void *scratch, int first, int count)
{
    store s = {scratch};
    job j = {.coef = k,
             .h = t->h,
             .step = t->step,
             .n = (ptrdiff_t)t->w * t->step,
             .finite = type != TAMIS_F32};
    widen_frame(&s, t, k, type, first, count, 0, &j.values, &j.distance);
    j.other_values = j.values;
    j.other_distance = j.distance;
    take_sums(&s, &j, t);
    for (int dy = 0; dy <= k->sy; dy++) {
        for (int dx = dy ? -k->sx : 1; dx <= k->sx; dx++)
            add_offset(&j, (offset){dy, (ptrdiff_t)dx * t->step}, 1);
        add_sums(&j);
    }
    for (int f = -k->frames; f <= k->frames; f++) {
        store reused = s; /* one other frame at a time */
        if (f == 0 || !rows_of(t, first, f))
            continue;
        widen_frame(&reused, t, k, type, first, count, f, &j.other_values, &j.other_distance);
        search_other(&j, t);
    }
    for (int p = 0; p < count; p++)
        for (int y = 0; y < t->h; y++)
            store_row(t, type, &j, p, first + p, y);
}

TAMIS_INLINE void filter_tile(const tamis_tile *t, const nlmeans_coef *k, tamis_type type,
                              void *scratch)
{
    int count = k->colors, first = 0;
    if (type == TAMIS_U8 && k->levels.tables) {
        for (; first + count <= t->planes && (first == 0 || k->colors == 1); first += count)
            TAMIS_FN(nlmeans_levels)(t, k, scratch, first);
        count = 1;
    }
    for (; first < t->planes; first += count, count = 1)
        filter_group(t, k, type, scratch, first, count);
}

#define ROW(type, suffix)                                                                          \
    static void means_##suffix(const tamis_tile *tile, const void *coef, void *scratch)            \
    {                                                                                              \
        filter_tile(tile, coef, type, scratch);                                                    \
    }
ROW(TAMIS_U8, u8)
ROW(TAMIS_U16, u16)
ROW(TAMIS_S16, s16)
ROW(TAMIS_F32, f32)
#undef ROW

/* Integers may be one level off the reference where its mean lies near the middle between two
 * levels. */
extern const tamis_kernel TAMIS_FN(nlmeans_kernels)[];
const tamis_kernel TAMIS_FN(nlmeans_kernels)[] = {
    {"means", TAMIS_U8, TV_CPU, means_u8, 1},
    {"means", TAMIS_U16, TV_CPU, means_u16, 1},
    {"means", TAMIS_S16, TV_CPU, means_s16, 1},
    {"means", TAMIS_F32, TV_CPU, means_f32, 1e-5},
    {NULL},
};
