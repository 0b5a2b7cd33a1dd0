/* SPDX-License-Identifier: Apache-2.0 */
/* Vector kernel for f32. Small windows are added up sample by sample. For large ones, running sums
 * would drift, and keep what has left the window when it was huge; so lines of source samples
 * (first rows, then columns) are cut into blocks as long as the window, counted from the place of
 * the image's first window. A window reaches over the end of one block at the most: it is a sum
 * from there backwards plus one from there onwards, both of which grow by a line from one window to
 * the next. A sample's sums depend on its place in the image only, never on the tile. */
#include "box_kernel.h"

#include "cpu/simd.h"

enum { N64 = TV_BYTES / 8 };

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

/* n means at most. */
TAMIS_INLINE void store_mean(float *dst, int n, tv_f64 sum, const struct box_coef *c)
{
    tv_f32h mean = __builtin_convertvector(sum * c->inverse_64, tv_f32h);
    if (n >= N64)
        memcpy(dst, &mean, sizeof mean);
    else
        memcpy(dst, &mean, (size_t)n * sizeof *dst);
}

/* ---- small windows: columns, then rows, added one by one */

static void few_tile(const tamis_tile *t, const struct box_coef *c, double *sums)
{
    int n = t->w * t->step, count = n + (c->w - 1) * t->step;
    for (int y = 0; y < t->h; y++) {
        const float *const *rows = (const float *const *)t->src[0] + (y - c->top);
        float *dst = (float *)(void *)((char *)t->dst[0] + y * t->dst_stride[0]);
        ptrdiff_t first = -(ptrdiff_t)c->left * t->step;
        for (int x = 0; x < count; x += N64) {
            tv_f64 sum = load_floats(rows[0] + first + x);
            for (int j = 1; j < c->h; j++)
                sum += load_floats(rows[j] + first + x);
            tv_store_f64(sums + x, sum);
        }
        for (int x = 0; x < n; x += N64) {
            tv_f64 sum = tv_load_f64(sums + x);
            for (int j = 1; j < c->w; j++)
                sum += tv_load_f64(sums + x + j * t->step);
            store_mean(dst + x, n - x, sum, c);
        }
    }
}

/* ---- columns: a part of the width at a time, row after row */

/* Sums of a part's columns on their way down. */
struct columns {
    const float *const *rows; /* rows[0] is the first of the first output row's window */
    ptrdiff_t at;             /* sample in the rows */
    int count;                /* samples, whole vectors */
    int last;                 /* row */
    int k;                    /* height of the window */
    int first;                /* output row for which the sums were begun */
    int rows_out;             /* output rows */
    double *before;           /* sums from the end of a block backwards, from row `first` on */
    _Alignas(64) double behind[BOX_PART]; /* and from there onwards */
    double nothing[BOX_PART];             /* -0, to which anything can be added without a change */
    double beyond[BOX_PART];              /* what `before` has below the last output row */
};

/* Adds a row; the next one is fetched meanwhile, since no hardware foresees it. */
static void add_row(const struct columns *s, const double *sums, int row, int next, double *out)
{
    const float *p = s->rows[row] + s->at, *q = s->rows[next] + s->at;
    for (int x = 0; x < s->count; x += N64) {
        __builtin_prefetch(q + x);
        tv_store_f64(out + x, tv_load_f64(sums + x) + load_floats(p + x));
    }
}

/* Begins a block: output row y's window reaches over the end of it at row `end`. */
static void begin_block(struct columns *s, int y, int end)
{
    const double *sums = s->nothing;
    s->first = y;
    for (int i = end - 1; i >= y; i--) {
        double *out = i < s->rows_out ? s->before + (size_t)(i - y) * BOX_PART : s->beyond;
        add_row(s, sums, i, i > y ? i - 1 : end, out);
        sums = out;
    }
    sums = s->nothing;
    for (int i = end; i < y + s->k; i++) {
        add_row(s, sums, i, i < s->last ? i + 1 : i, s->behind);
        sums = s->behind;
    }
}

/* Column sums of output row y, of which `left` rows lie before the end of the block. */
static void sum_columns(struct columns *s, int y, int left, int begin, double *out)
{
    if (begin)
        begin_block(s, y, y + left);
    else {
        int row = y + s->k - 1;
        add_row(s, s->behind, row, row < s->last ? row + 1 : row, s->behind);
    }
    const double *before = left ? s->before + (size_t)(y - s->first) * BOX_PART : s->nothing;
    for (int x = 0; x < s->count; x += N64)
        tv_store_f64(out + x, tv_load_f64(s->behind + x) + tv_load_f64(before + x));
}

/* All column sums of a tile. Behind the last row of the image it begins anew. */
static void sum_tile(const tamis_tile *t, const struct box_coef *c, int count, size_t stride,
                     double *before, double *sums)
{
    struct columns s = {
        .rows = (const float *const *)t->src[0] - c->top, .k = c->h, .last = t->h + c->h - 2};
    s.before = before;
    s.rows_out = t->h;
    for (int x = 0; x < BOX_PART; x++)
        s.nothing[x] = -0.0;
    for (int x = 0; x < count; x += BOX_PART) {
        s.at = x - (ptrdiff_t)c->left * t->step;
        s.count = count - x < BOX_PART ? count - x : BOX_PART;
        for (int y = 0; y < t->h; y++) {
            int place = (int)(((int64_t)t->y + y) % c->out_h);
            int left = (c->h - place % c->h) % c->h;
            int begin = y == 0 || place == 0 || left == c->h - 1;
            sum_columns(&s, y, left, begin, sums + (size_t)y * stride + x);
        }
    }
}

/* ---- rows: a band at a time, one row in each lane */

/* The windows that begin at lines low .. high, all of them at line `end`, which ends a block, or
 * within that block: low > end - k, high <= end. May work in place. */
TAMIS_INLINE void sum_block(double *lines, ptrdiff_t stride, int low, int high, int end, int k,
                            double *before)
{
    tv_f64 sum = -(tv_f64){0};
    int i = end - 1;
    for (; i > high; i--)
        sum += tv_load_f64(lines + i * stride);
    for (; i >= low; i--) {
        sum += tv_load_f64(lines + i * stride);
        tv_store_f64(before + (i - low) * N64, sum);
    }
    sum = -(tv_f64){0};
    for (i = end; i < low + k - 1; i++)
        sum += tv_load_f64(lines + i * stride);
    for (i = low; i <= high; i++) {
        sum += tv_load_f64(lines + (i + k - 1) * stride);
        tv_f64 v = i < end ? sum + tv_load_f64(before + (i - low) * N64) : sum;
        tv_store_f64(lines + i * stride, v);
    }
}

/* Windows of k lines that begin at lines 0 .. count-1, of which line 0 has the given place in its
 * image of `size` places; behind the last one the image begins anew. */
TAMIS_INLINE void sum_lines(double *lines, ptrdiff_t stride, int count, int k, int32_t place,
                            int32_t size, double *before)
{
    place %= size;
    for (int done = 0; done < count; place = 0) {
        int part = count - done < size - place ? count - done : size - place;
        for (int end = (k - place % k) % k; end - k < part - 1; end += k) {
            int low = end - k + 1 > 0 ? end - k + 1 : 0, high = end < part - 1 ? end : part - 1;
            sum_block(lines, stride, low, high, end, k, before);
        }
        lines += part * stride;
        done += part;
    }
}

/* v[i][k] becomes v[k][i]. */
TAMIS_INLINE void transpose(tv_f64 v[N64])
{
#if TV_BYTES == 64
#define ZIP_LOW  0, 8, 1, 9, 2, 10, 3, 11
#define ZIP_HIGH 4, 12, 5, 13, 6, 14, 7, 15
#elif TV_BYTES == 32
#define ZIP_LOW  0, 4, 1, 5
#define ZIP_HIGH 2, 6, 3, 7
#else
#define ZIP_LOW  0, 2
#define ZIP_HIGH 1, 3
#endif
    for (int bit = 1; bit < N64; bit *= 2) {
        tv_f64 t[N64];
        for (int i = 0; i < N64 / 2; i++) {
            t[2 * i] = __builtin_shufflevector(v[i], v[i + N64 / 2], ZIP_LOW);
            t[2 * i + 1] = __builtin_shufflevector(v[i], v[i + N64 / 2], ZIP_HIGH);
        }
        for (int i = 0; i < N64; i++)
            v[i] = t[i];
    }
}

/* N64 rows of column sums to lines that hold one sample of each. */
TAMIS_INLINE void turn(const double *sums, size_t stride, int count, double *lines)
{
    for (int x = 0; x < count; x += N64) {
        tv_f64 v[N64];
        for (int i = 0; i < N64; i++)
            v[i] = tv_load_f64(sums + (size_t)i * stride + x);
        transpose(v);
        for (int i = 0; i < N64; i++)
            tv_store_f64(lines + (size_t)(x + i) * N64, v[i]);
    }
}

/* Lines of window sums to the means of rows y .. y+rows-1. */
TAMIS_INLINE void store_means(const tamis_tile *t, const struct box_coef *c, int y, int rows,
                              const double *lines)
{
    int n = t->w * t->step;
    for (int x = 0; x < n; x += N64) {
        tv_f64 v[N64];
        for (int i = 0; i < N64; i++)
            v[i] = tv_load_f64(lines + (size_t)(x + i) * N64);
        transpose(v);
        for (int i = 0; i < rows; i++) {
            char *dst = (char *)t->dst[0] + (y + i) * t->dst_stride[0];
            store_mean((float *)(void *)dst + x, n - x, v[i], c);
        }
    }
}

static void large_tile(const tamis_tile *t, const struct box_coef *c, double *scratch)
{
    int n = t->w * t->step, count = n + (c->w - 1) * t->step;
    size_t stride = ((size_t)count + N64 - 1) / N64 * N64 + N64;
    double *lines = scratch, *sums = lines + stride * N64;
    double *before = sums + ((size_t)t->h + N64) * stride;
    sum_tile(t, c, count, stride, before, sums);
    for (int y = 0; y < t->h; y += N64) {
        int rows = t->h - y < N64 ? t->h - y : N64;
        turn(sums + (size_t)y * stride, stride, count, lines);
        for (int channel = 0; channel < t->step; channel++)
            sum_lines(lines + channel * N64, (ptrdiff_t)t->step * N64, t->w, c->w, t->x, c->out_w,
                      before);
        store_means(t, c, y, rows, lines);
    }
}

void TAMIS_FN(tamis_priv_box_f32)(const tamis_tile *t, const void *coef, void *scratch)
{
    const struct box_coef copy = *(const struct box_coef *)coef, *c = &copy;
    if (TAMIS_FN(tamis_priv_box_small)(t, coef, TAMIS_F32))
        return;
    if (c->way == BOX_DIRECT)
        few_tile(t, c, scratch);
    else
        large_tile(t, c, scratch);
}
