/* SPDX-License-Identifier: Apache-2.0 */
/* Vector kernels for wide windows. N32 rows of the grid are made at a time: columns are brought
 * down to them, then they are transposed, so that a line holds one sample of all rows, brought down
 * and filtered along the rows. The finished grid is filtered down its columns and goes up the same
 * way, rows first. Loops run over whole vectors; what they compute beyond the ends lands in scratch
 * memory or is not stored. */
#include "gaussian_lines.h"

/* Samples of a row that are transposed together; a row of such blocks. */
enum { CHUNK = 64, CHUNK_STRIDE = CHUNK + 16 };

/* Constants must stay as they are in f32, so its sums are of weighted differences from a sample in
 * the middle; of halves, since a difference of large samples may be beyond binary32. */
#define OF_DIFFERENCES(type) ((type) == TAMIS_F32)

struct grid_run {
    const tamis_tile *t;
    const struct gaussian_coef *c;
    struct gaussian_part part;
    int columns, rows;    /* of the grid, with what the Gaussian there reads */
    int samples;          /* in a row of the tile with its halo */
    size_t stride, sums;  /* floats from one row of the grid, and of the tile, to the next */
    float *lines;         /* of N32 rows of the tile */
    float *coarse;        /* of N32 rows of the grid */
    float *carry[2];      /* sums of columns that the next rows of the grid go on with */
    float *grid, *smooth; /* rows of the grid: all; N32 filtered down the columns */
    float *raised;        /* N32 + 2 rows of the tile, one for each row of the grid */
    float *chunk;
    const void **rows_of_grid;
    int special; /* f32: NaN or Inf may have been met */
};

/* ---- down */

/* N32 samples; where clean is set, NaN and Inf count as 0. */
TAMIS_INLINE tv_f32 load_level(const void *row, ptrdiff_t at, tamis_type type, int clean)
{
    if (type == TAMIS_U8)
        return __builtin_convertvector(tv_load_widen_u8_s32((const uint8_t *)row + at), tv_f32);
    if (type == TAMIS_U16)
        return __builtin_convertvector(tv_load_widen_u16((const uint16_t *)row + at), tv_f32);
    if (type == TAMIS_S16)
        return __builtin_convertvector(tv_load_widen_s16((const int16_t *)row + at), tv_f32);
    tv_f32 v = tv_load_f32((const float *)row + at);
    return clean ? (tv_f32)((tv_s32)v & (v - v == (tv_f32){0})) : v;
}

/* The sums of up to three samples of the grid that a line belongs to: 0 began last. With
 * differences, minus half of the sample in the middle of each. */
struct sums {
    tv_f32 sum[3], middle[3];
};

TAMIS_INLINE void add_line(struct sums *s, tv_f32 v, const float *down, int step, int k,
                           int differences, enum tv_sums sums)
{
    for (int i = 0; i < 3; i++) {
        tv_f32 d = differences ? tv_fma_sum_f32(v, splat(0.5f), s->middle[i], TV_SUMS_ROUGH) : v;
        s->sum[i] = tv_fma_sum_f32(splat(down[i * step + k]), d, s->sum[i], sums);
    }
}

/* The finished one; the others move on. */
TAMIS_INLINE tv_f32 next_sum(struct sums *s, int differences)
{
    tv_f32 v = differences ? (s->sum[2] - s->middle[2]) * 2 : s->sum[2];
    s->sum[2] = s->sum[1];
    s->sum[1] = s->sum[0];
    s->middle[2] = s->middle[1];
    s->middle[1] = s->middle[0];
    return v;
}

/* Source rows from the first that the grid's row 0 reads. */
struct source {
    const void *const *rows;
    int last;
    ptrdiff_t at;
};

TAMIS_INLINE void load_middle(struct sums *s, int i, const struct source *src, ptrdiff_t at,
                              int group, int step, int clean)
{
    int row = group * step + 3 * step / 2 - 1;
    row = row < 0 ? 0 : row < src->last ? row : src->last;
    s->middle[i] = load_level(src->rows[row], at, TAMIS_F32, clean) * -0.5f;
}

/* Whether columns keep pace with multiply-adds, and registers suffice. */
#define COLUMNS_AT_ONCE(type) (TV_BYTES == 64 && (type) != TAMIS_F32 ? 4 : 2)

/* Sums of rows first .. first+N32-1 of the grid for COLUMNS_AT_ONCE vectors. Group g of step source
 * rows ends the grid's row g-2. Returns 0, with carry as it was, where a sum is not finite. */
TAMIS_INLINE int down_columns(const struct source *src, const struct gaussian_grid *g, int first,
                              tamis_type type, int clean, enum tv_sums sums, float *const carry[2],
                              float *out)
{
    enum { MOST = 4 };
    int count = COLUMNS_AT_ONCE(type), differences = OF_DIFFERENCES(type), step = g->step;
    struct sums s[MOST];
    tv_f32 zero = {0}; /* or NaN */
    for (int u = 0; u < count; u++) {
        for (int i = 0; i < 2; i++) {
            s[u].sum[1 + i] = first ? tv_load_f32(carry[i] + u * N32) : (tv_f32){0};
            if (differences)
                load_middle(&s[u], 1 + i, src, src->at + u * N32, (first ? first + 2 : 0) - 1 - i,
                            step, clean);
        }
    }
    for (int group = first ? first + 2 : 0; group < first + N32 + 2; group++) {
        for (int u = 0; u < count; u++) {
            s[u].sum[0] = (tv_f32){0};
            if (differences)
                load_middle(&s[u], 0, src, src->at + u * N32, group, step, clean);
        }
        for (int k = 0; k < step; k++) {
            int row = group * step + k;
            const void *p = src->rows[row < src->last ? row : src->last];
            for (int u = 0; u < count; u++)
                add_line(&s[u], load_level(p, src->at + u * N32, type, clean), g->down, step, k,
                         differences, sums);
        }
        for (int u = 0; u < count; u++) {
            tv_f32 v = next_sum(&s[u], differences);
            if (differences)
                zero += v * 0;
            if (group >= 2)
                tv_store_f32(out + (group - 2 - first) * CHUNK_STRIDE + u * N32, v);
        }
    }
    for (int u = 0; u < count && differences; u++)
        zero += s[u].sum[1] * 0 + s[u].sum[2] * 0;
    if (differences && !all_finite(zero))
        return 0;
    for (int u = 0; u < count; u++) {
        tv_store_f32(carry[0] + u * N32, s[u].sum[1]);
        tv_store_f32(carry[1] + u * N32, s[u].sum[2]);
    }
    return 1;
}

/* Along the rows: lines of the grid from lines of the tile. */
TAMIS_INLINE void down_lines(const struct grid_run *r, int differences)
{
    const struct gaussian_grid *g = &r->c->grid_x;
    int step = g->step, channels = r->t->step;
    for (int c = 0; c < channels; c++) {
        struct sums s = {0};
        for (int group = 0; group < r->columns + 2; group++) {
            const float *at = r->lines + ((ptrdiff_t)group * step * channels + c) * N32;
            ptrdiff_t next = (ptrdiff_t)channels * N32;
            s.sum[0] = (tv_f32){0};
            if (differences && group < r->columns)
                s.middle[0] = tv_load_f32(at + (3 * step / 2 - 1) * next) * -0.5f;
            for (int k = 0; k < step; k++)
                add_line(&s, tv_load_f32(at + k * next), g->down, step, k, differences,
                         differences ? TV_SUMS_ROUGH : TV_SUMS_ANY);
            tv_f32 v = next_sum(&s, differences);
            if (group >= 2)
                tv_store_f32(r->coarse + ((ptrdiff_t)(group - 2) * channels + c) * N32, v);
        }
    }
}

TAMIS_INLINE enum terms terms_of(tamis_type type)
{
    return type == TAMIS_F32 ? DIFFERENCES : FUSED_DIFFERENCES;
}

/* Columns of integers have weights in units of 1 / step^3: 24 bits may hold all their sums, and 53
 * do, for no step is as large as 2^12. */
TAMIS_INLINE enum tv_sums sums_of_columns(int step, tamis_type type)
{
    int bits = type == TAMIS_U8 ? 8 : 16;
    return type == TAMIS_F32 || step <= 1 << (24 - bits) / 3 ? TV_SUMS_ROUGH : TV_SUMS_FIT;
}

/* Columns of the tile to rows of the grid, for one chunk at sample x of the tile. */
TAMIS_INLINE void grid_chunk(struct grid_run *r, int first, int x, tamis_type type,
                             enum tv_sums sums)
{
    const struct gaussian_grid *gx = &r->c->grid_x, *gy = &r->c->grid_y;
    int first_x = r->part.x - r->part.phase_x - (2 + gx->smooth.radius) * gx->step;
    int first_y = r->part.y - r->part.phase_y - (2 + gy->smooth.radius) * gy->step;
    for (int u = 0; u < CHUNK; u += COLUMNS_AT_ONCE(type) * N32) {
        struct source src = {r->t->src[0] + first_y, (r->rows + 2) * gy->step - 1,
                             (ptrdiff_t)first_x * r->t->step + x + u};
        float *carry[2] = {r->carry[0] + x + u, r->carry[1] + x + u};
        if (!down_columns(&src, gy, first, type, 0, sums, carry, r->chunk + u)) {
            r->special = 1;
            down_columns(&src, gy, first, type, 1, sums, carry, r->chunk + u);
        }
    }
}

/* Rows first .. first+N32-1 of the grid, filtered along the rows. */
TAMIS_INLINE void grid_rows(struct grid_run *r, int first, tamis_type type)
{
    const struct gaussian_grid *gx = &r->c->grid_x;
    int channels = r->t->step, radius = gx->smooth.radius;
    for (int x = 0; x < r->samples; x += CHUNK) {
        if (!TV_SUMS_MATTER || sums_of_columns(r->c->grid_y.step, type) == TV_SUMS_ROUGH)
            grid_chunk(r, first, x, type, TV_SUMS_ROUGH);
        else
            grid_chunk(r, first, x, type, TV_SUMS_FIT);
        transpose_from(r->chunk, CHUNK_STRIDE, CHUNK, r->lines + (size_t)x * N32);
    }
    down_lines(r, OF_DIFFERENCES(type));
    int n = (r->columns - 2 * radius) * channels;
    filter_lines(r->coarse, &gx->smooth, radius, channels, n, N32, terms_of(type));
    for (int x = 0; x < n; x += N32) {
        tv_f32 v[N32];
        for (int i = 0; i < N32; i++)
            v[i] = tv_load_f32(r->coarse + (size_t)(x + i) * N32);
        transpose(v);
        for (int i = 0; i < N32; i++)
            tv_store_f32(r->grid + (size_t)(first + i) * r->stride + x, v[i]);
    }
}

/* ---- up */

/* Between three samples of the grid; with differences, base is minus half of the middle one. */
struct between {
    tv_f32 base, before, after;
};

TAMIS_INLINE struct between make_between(tv_f32 a, tv_f32 b, tv_f32 c, int differences)
{
    if (!differences)
        return (struct between){b, a - b, c - b};
    tv_f32 base = b * -0.5f, half = splat(0.5f);
    return (struct between){base, tv_fma_sum_f32(a, half, base, TV_SUMS_ROUGH),
                            tv_fma_sum_f32(c, half, base, TV_SUMS_ROUGH)};
}

TAMIS_INLINE tv_f32 raise(const struct between *b, const struct gaussian_grid *g, int phase,
                          int differences)
{
    tv_f32 before = splat(g->up[2 * g->step + phase]), after = splat(g->up[phase]);
    if (!differences)
        return tv_fma_f32(after, b->after, tv_fma_f32(before, b->before, b->base));
    return (tv_fma_sum_f32(after, b->after, before * b->before, TV_SUMS_ROUGH) - b->base) * 2;
}

/* Rows first .. first+N32-1 of the grid, filtered down the columns, at all columns of the tile. */
TAMIS_INLINE void raise_rows(const struct grid_run *r, int first, tamis_type type)
{
    const struct gaussian_grid *g = &r->c->grid_x;
    const struct gaussian_axis *ay = &r->c->grid_y.smooth;
    int channels = r->t->step, n = (r->columns - 2 * g->smooth.radius) * channels;
    int differences = OF_DIFFERENCES(type);
    for (int i = 0; i < N32; i += ROWS)
        columns(r->rows_of_grid + first + i + ay->radius, r->rows - 1 - first - i - ay->radius, ay,
                ay->radius, TAMIS_F32, terms_of(type), 0, n, r->smooth + (size_t)i * r->stride,
                r->stride);
    transpose_from(r->smooth, r->stride, n, r->coarse);
    for (int u = 0; u * g->step < r->part.phase_x + r->part.w; u++) {
        int x = u * g->step - r->part.phase_x;
        for (int c = 0; c < channels; c++) {
            const float *at = r->coarse + ((ptrdiff_t)u * channels + c) * N32;
            ptrdiff_t next = (ptrdiff_t)channels * N32;
            struct between b = make_between(tv_load_f32(at), tv_load_f32(at + next),
                                            tv_load_f32(at + 2 * next), differences);
            for (int k = x < 0 ? -x : 0; k < g->step && x + k < r->part.w; k++)
                tv_store_f32(r->lines + ((ptrdiff_t)(x + k) * channels + c) * N32,
                             raise(&b, g, k, differences));
        }
    }
    for (int x = 0; x < r->part.w * channels; x += N32) {
        tv_f32 v[N32];
        for (int i = 0; i < N32; i++)
            v[i] = tv_load_f32(r->lines + (size_t)(x + i) * N32);
        transpose(v);
        for (int i = 0; i < N32; i++)
            tv_store_f32(r->raised + (size_t)(2 + i) * r->sums + x, v[i]);
    }
}

/* Vectors of output samples at once. */
enum { UP = 4 };

/* n samples of UP vectors. */
TAMIS_INLINE void store_levels(char *row, ptrdiff_t at, const tv_f32 v[UP], int n, tamis_type type)
{
    size_t left = (size_t)gaussian_smaller(n, UP * N32);
    if (type == TAMIS_F32) {
        for (int u = 0; u < UP && left > 0; u++) {
            size_t m = left < N32 ? left : N32;
            tv_store_first((float *)(void *)row + at + u * N32, (tv_u8)v[u], m * 4);
            left -= m;
        }
        return;
    }
    float lo = type == TAMIS_S16 ? -32768 : 0;
    float hi = type == TAMIS_U8 ? 255 : type == TAMIS_U16 ? 65535 : 32767;
    tv_s32 level[UP];
    for (int u = 0; u < UP; u++)
        level[u] = tv_round_f32(tv_min_f32(tv_max_f32(v[u], splat(lo)), splat(hi)));
    if (type == TAMIS_U8) {
        tv_u8 bytes =
            tv_narrow_u16(tv_narrow_s32(level[0], level[1]), tv_narrow_s32(level[2], level[3]));
        tv_store_first(row + at, bytes, left);
        return;
    }
    for (int u = 0; u < UP && left > 0; u += 2) {
        size_t m = left < 2 * N32 ? left : 2 * N32;
        tv_store_first(row + (at + u * N32) * 2, (tv_u8)tv_narrow_s32(level[u], level[u + 1]),
                       m * 2);
        left -= m;
    }
}

/* Output rows from .. to-1 of the cell between rows i, i+1 and i+2 of those raised; the cell begins
 * at output row y of the part. */
TAMIS_INLINE void store_rows(const struct grid_run *r, int i, int y, int from, int to,
                             tamis_type type)
{
    int n = r->part.w * r->t->step, differences = OF_DIFFERENCES(type);
    const float *rows = r->raised + (size_t)i * r->sums;
    ptrdiff_t at = (ptrdiff_t)r->part.x * r->t->step;
    for (int x = 0; x < n; x += UP * N32) {
        struct between b[UP];
        for (int u = 0; u < UP; u++) {
            const float *p = rows + x + u * N32;
            b[u] = make_between(tv_load_f32(p), tv_load_f32(p + r->sums),
                                tv_load_f32(p + 2 * r->sums), differences);
        }
        for (int k = from; k < to; k++) {
            tv_f32 v[UP];
            for (int u = 0; u < UP; u++)
                v[u] = raise(&b[u], &r->c->grid_y, k, differences);
            char *dst = (char *)r->t->dst[0] + (r->part.y + y + k) * r->t->dst_stride[0];
            store_levels(dst, at + x, v, n - x, type);
        }
    }
}

TAMIS_INLINE void raise_part(const struct grid_run *r, tamis_type type)
{
    const struct gaussian_grid *g = &r->c->grid_y;
    int rows = r->rows - 2 * g->smooth.radius, end = r->part.phase_y + r->part.h;
    for (int first = 0; first < rows; first += N32) {
        raise_rows(r, first, type);
        for (int i = first ? 0 : 2; i < N32; i++) {
            int cell = (first + i - 2) * g->step;
            if (cell < end)
                store_rows(r, i, cell - r->part.phase_y,
                           cell < r->part.phase_y ? r->part.phase_y - cell : 0,
                           gaussian_smaller(g->step, end - cell), type);
        }
        memcpy(r->raised, r->raised + N32 * r->sums, 2 * r->sums * sizeof *r->raised);
    }
}

/* ---- NaN and Inf */

/* How many samples of a window are NaN, Inf and -Inf. */
struct specials {
    int32_t nan, above, below;
};

static void count_special(struct specials *s, float v, int by)
{
    s->nan += isnan(v) ? by : 0;
    s->above += isinf(v) && v > 0 ? by : 0;
    s->below += isinf(v) && v < 0 ? by : 0;
}

static void add_special(struct specials *s, const struct specials *a, int by)
{
    s->nan += by * a->nan;
    s->above += by * a->above;
    s->below += by * a->below;
}

static void put_special(float *out, const struct specials *s)
{
    if (s->nan || (s->above && s->below))
        *out = NAN;
    else if (s->above || s->below)
        *out = s->above ? INFINITY : -INFINITY;
}

/* Gives every sample whose window holds them what it shall be, counting along columns and rows. */
static void put_specials(const struct grid_run *r, struct specials *column)
{
    const tamis_tile *t = r->t;
    int rx = r->c->x.radius, ry = r->c->y.radius, step = t->step;
    int first = (r->part.x - rx) * step, count = (r->part.w + 2 * rx) * step;
    memset(column, 0, (size_t)count * sizeof *column);
    for (int y = r->part.y - 2 * ry; y < r->part.y + r->part.h; y++) {
        const float *enters = t->src[0][y + ry];
        const float *leaves = y > r->part.y ? t->src[0][y - ry - 1] : NULL;
        for (int i = 0; i < count; i++) {
            count_special(&column[i], enters[first + i], 1);
            if (leaves)
                count_special(&column[i], leaves[first + i], -1);
        }
        if (y < r->part.y)
            continue;
        float *dst = (float *)(void *)((char *)t->dst[0] + y * t->dst_stride[0]);
        for (int c = 0; c < step; c++) {
            struct specials window = {0};
            for (int i = c; i < count; i += step) {
                add_special(&window, &column[i], 1);
                if (i < 2 * rx * step)
                    continue;
                put_special(dst + r->part.x * step + i - 2 * rx * step, &window);
                add_special(&window, &column[i - 2 * rx * step], -1);
            }
        }
    }
}

/* ---- kernels */

static float *take(float **scratch, size_t floats)
{
    float *p = *scratch;
    *scratch += (floats + 15) / 16 * 16;
    return p;
}

static void lay_out(struct grid_run *r, float *scratch)
{
    const struct gaussian_grid *gx = &r->c->grid_x, *gy = &r->c->grid_y;
    size_t step = (size_t)r->t->step;
    r->columns = gaussian_grid_count(gx, r->part.phase_x, r->part.w);
    r->rows = gaussian_grid_count(gy, r->part.phase_y, r->part.h);
    r->samples = (r->columns + 2) * gx->step * r->t->step;
    r->stride = row_of_sums(r->columns * r->t->step);
    r->sums = row_of_sums(r->part.w * r->t->step);
    size_t samples = ((size_t)r->samples + CHUNK - 1) / CHUNK * CHUNK;
    size_t rows = ((size_t)r->rows + N32 - 1) / N32 * N32;
    r->rows_of_grid =
        (const void **)(void *)take(&scratch, (rows + N32) * sizeof(void *) / sizeof(float));
    r->chunk = take(&scratch, (size_t)N32 * CHUNK_STRIDE);
    r->lines = take(&scratch, samples * N32);
    r->coarse = take(&scratch, (r->stride + 2 * ROWS * step) * N32);
    r->carry[0] = take(&scratch, samples);
    r->carry[1] = take(&scratch, samples);
    r->grid = take(&scratch, rows * r->stride);
    r->smooth = take(&scratch, (size_t)N32 * r->stride);
    r->raised = take(&scratch, (N32 + 2) * r->sums);
    for (size_t i = 0; i < rows; i++)
        r->rows_of_grid[i] = r->grid + i * r->stride;
}

TAMIS_INLINE void tile(const tamis_tile *t, const struct gaussian_coef *c, float *scratch,
                       tamis_type type)
{
    struct grid_run r = {.t = t, .c = c};
    while (gaussian_next_part(t, c, &r.part)) {
        lay_out(&r, scratch);
        for (int first = 0; first < r.rows; first += N32)
            grid_rows(&r, first, type);
        raise_part(&r, type);
        if (r.special)
            put_specials(&r, (struct specials *)(void *)r.lines);
    }
}

void TAMIS_FN(tamis_priv_gaussian_grid_u8)(const tamis_tile *t, const void *coef, void *scratch)
{
    tile(t, coef, scratch, TAMIS_U8);
}

void TAMIS_FN(tamis_priv_gaussian_grid_u16)(const tamis_tile *t, const void *coef, void *scratch)
{
    tile(t, coef, scratch, TAMIS_U16);
}

void TAMIS_FN(tamis_priv_gaussian_grid_s16)(const tamis_tile *t, const void *coef, void *scratch)
{
    tile(t, coef, scratch, TAMIS_S16);
}

void TAMIS_FN(tamis_priv_gaussian_grid_f32)(const tamis_tile *t, const void *coef, void *scratch)
{
    tile(t, coef, scratch, TAMIS_F32);
}
