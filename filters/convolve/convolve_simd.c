/* SPDX-License-Identifier: Apache-2.0 */
/* Vector kernels in binary32, in the order of the reference, and the table of all. Source rows of
 * integers are copied as lines of floats. Each sample that is loaded serves all output rows whose
 * windows hold it. Loops run over whole vectors; what they compute beyond a row's end is not
 * stored. */
#include <math.h>

#include "convolve_kernel.h"

#include "cpu/simd_f32.h"

/* Accumulators that fit the registers. */
enum { ROWS = CONVOLVE_ROWS, N32 = TV_FLOATS, WIDE = TV_BYTES == 64 ? 4 : 2 };

/* The source rows of a tile as floats: in place, or the last ones in turns in as many lines. */
struct lines {
    const void *const *rows; /* from the first one of the first output row's window on */
    tamis_type type;
    ptrdiff_t first; /* sample */
    int samples;
    float *data;
    size_t stride;
    int count; /* of lines */
    int next;  /* source row that is copied next */
    int last;  /* source row that exists */
};

TAMIS_INLINE int existing(const struct lines *l, int row)
{
    return row < l->last ? row : l->last;
}

/* lines[j] becomes source row y + j. */
TAMIS_INLINE void find_lines(struct lines *l, int y, const float **lines)
{
    for (int j = 0; j < l->count && l->type == TAMIS_F32; j++)
        lines[j] = (const float *)l->rows[existing(l, y + j)] + l->first;
    if (l->type == TAMIS_F32)
        return;
    for (; l->next < y + l->count; l->next++) {
        const void *row = l->rows[existing(l, l->next)];
        float *line = l->data + (size_t)(l->next % l->count) * l->stride;
        for (int x = 0; x < l->samples; x += N32)
            tv_store_f32(line + x, tv_widen_f32(l->type, row, l->first + x));
    }
    for (int j = 0; j < l->count; j++)
        lines[j] = l->data + (size_t)((y + j) % l->count) * l->stride;
}

/* ---- sums of a block of samples of ROWS output rows */

typedef tv_f32 block[ROWS][WIDE];

TAMIS_INLINE void begin(block sum, float v)
{
    for (int r = 0; r < ROWS; r++)
        for (int u = 0; u < WIDE; u++)
            sum[r][u] = tv_splat_f32(v);
}

/* Kernels with zeros: tap by tap. */
TAMIS_INLINE void add_taps(block sum, const float *const *lines, const struct convolve_coef *c,
                           int x, enum tv_sums sums)
{
    for (int i = 0; i < c->count; i++) {
        const struct convolve_tap *tap = &c->taps[i];
        for (int r = 0; r < ROWS; r++)
            for (int u = 0; u < WIDE; u++)
                sum[r][u] = tv_fma_by_f32(
                    tap->f, tv_load_f32(lines[tap->row + r] + tap->column + x + u * N32), sum[r][u],
                    sums);
    }
}

/* One source row for those output rows whose windows hold it: it is number `line` of the first
 * one's. Taps of a window's rows that are no part of it, and with gaps those that are zero, are
 * passed over. */
TAMIS_INLINE void add_line(block sum, const float *at, const float *taps, int w, int line, int h,
                           int inner, int gaps, enum tv_sums sums)
{
    for (int i = 0; i < w; i++) {
        tv_f32 v[WIDE];
        for (int u = 0; u < WIDE; u++)
            v[u] = tv_load_f32(at + i + u * N32);
        for (int r = 0; r < ROWS; r++) {
            int row = line - r;
            if (!inner && (row < 0 || row >= h))
                continue;
            if (gaps && taps[row * w + i] == 0)
                continue;
            for (int u = 0; u < WIDE; u++)
                sum[r][u] = tv_fma_by_f32(taps[row * w + i], v[u], sum[r][u], sums);
        }
    }
}

/* Kernels of w x h taps. */
TAMIS_INLINE void add_dense(block sum, const float *const *lines, const float *taps, int w, int h,
                            int x, int gaps, enum tv_sums sums)
{
    for (int line = 0; line < h + ROWS - 1; line++) {
        if (line >= ROWS - 1 && line < h)
            add_line(sum, lines[line] + x, taps, w, line, h, 1, gaps, sums);
        else
            add_line(sum, lines[line] + x, taps, w, line, h, 0, gaps, sums);
    }
}

/* ---- from sums to samples */

TAMIS_INLINE tv_f32 finished(tv_f32 v, const struct convolve_coef *c, tamis_type type)
{
    const float round = 12582912; /* 1.5 * 2^23: adding it rounds, ties to even */
    const float lo = type == TAMIS_S16 ? -32768 : 0;
    const float hi = type == TAMIS_U8 ? 255 : type == TAMIS_U16 ? 65535 : 32767;
    if (c->bias != 0)
        v += c->bias;
    if (type == TAMIS_F32)
        return v;
    v = tv_min_f32(tv_max_f32(v, tv_splat_f32(lo)), tv_splat_f32(hi));
    return (v + round) - round;
}

/* The block from column x on, of those rows that exist; with whole = 0 there may be fewer samples
 * than in a block. That has a block of its own, for which registers do not matter. */
TAMIS_INLINE void store_block(const tamis_tile *t, const struct convolve_coef *c, tamis_type type,
                              int x, int y, block sum, int whole)
{
    for (int r = 0; r < ROWS; r++) {
        char *dst = (char *)t->dst[0] + (y + r) * t->dst_stride[0];
        if (y + r >= t->h)
            continue;
        for (int u = 0; u < WIDE; u++) {
            int at = x + u * N32;
            tv_store_samples(type, dst, at, whole ? N32 : t->w - at, finished(sum[r][u], c, type));
        }
    }
}

/* ---- tiles */

static struct lines make_lines(const tamis_tile *t, const struct convolve_coef *c, tamis_type type,
                               float *data)
{
    struct lines l = {
        .rows = t->src[0] - c->top,
        .type = type,
        .first = -(ptrdiff_t)c->left,
        .samples = t->w + c->w - 1,
        .data = data,
        .count = c->h + ROWS - 1,
        .last = t->h + c->h - 2,
    };
    l.stride = ((size_t)l.samples + CONVOLVE_SLACK / 2) / 16 * 16;
    return l;
}

/* Floats that pointers to lines take. */
TAMIS_INLINE size_t pointers(const struct convolve_coef *c)
{
    return ((size_t)c->h + ROWS) * sizeof(void *) / sizeof(float) / 16 * 16 + 16;
}

/* What is known of sums with these taps, which lie stride numbers apart. */
TAMIS_INLINE enum tv_sums sums_of(tamis_type type, const float *taps, int count, int stride)
{
    int last = 0;
    float most = 0;
    for (int i = 0; i < count && TV_SUMS_MATTER; i++) {
        int bit = tv_last_bit(taps[(ptrdiff_t)i * stride]);
        last = bit < last ? bit : last;
        most += 2 * fabsf(taps[(ptrdiff_t)i * stride]);
    }
    return tv_sums_of(type, last, most);
}

TAMIS_INLINE void direct_block(const tamis_tile *t, const struct convolve_coef *c,
                               const float *const *lines, tamis_type type, int x, int y, int whole,
                               enum tv_sums sums)
{
    block sum;
    begin(sum, c->count ? -0.0f : 0);
    if (c->dense)
        add_dense(sum, lines, c->dense, c->w, c->h, x, 0, sums);
    else
        add_taps(sum, lines, c, x, sums);
    store_block(t, c, type, x, y, sum, whole);
}

TAMIS_INLINE void direct_rows(const tamis_tile *t, const struct convolve_coef *c, void *scratch,
                              tamis_type type, enum tv_sums sums)
{
    const float **lines = scratch;
    struct lines l = make_lines(t, c, type, (float *)scratch + pointers(c));
    for (int y = 0; y < t->h; y += ROWS) {
        int x = 0;
        find_lines(&l, y, lines);
        for (; x + WIDE * N32 <= t->w; x += WIDE * N32)
            direct_block(t, c, lines, type, x, y, 1, sums);
        if (x < t->w)
            direct_block(t, c, lines, type, x, y, 0, sums);
    }
}

TAMIS_INLINE void direct_plane(const tamis_tile *t, const struct convolve_coef *c, void *scratch,
                               tamis_type type)
{
    enum { STRIDE = sizeof *c->taps / sizeof c->taps->f };
    if (sums_of(type, &c->taps->f, c->count, STRIDE) == TV_SUMS_FIT)
        direct_rows(t, c, scratch, type, TV_SUMS_FIT);
    else
        direct_rows(t, c, scratch, type, TV_SUMS_ANY);
}

/* Sums of the columns of one product, ROWS lines of them. */
TAMIS_INLINE void sum_columns(const struct lines *l, const float *const *lines,
                              const struct convolve_coef *c, const float *column, float *sums,
                              int gaps, enum tv_sums kind)
{
    for (int x = 0; x < l->samples; x += WIDE * N32) {
        block sum;
        begin(sum, -0.0f);
        add_dense(sum, lines, column, 1, c->h, x, gaps, kind);
        for (int r = 0; r < ROWS; r++)
            for (int u = 0; u < WIDE; u++)
                tv_store_f32(sums + (size_t)r * l->stride + x + u * N32, sum[r][u]);
    }
}

TAMIS_INLINE void add_row(block sum, const struct lines *l, const float *sums, const float *row,
                          const struct convolve_coef *c)
{
    for (int i = 0; i < c->w; i++) {
        if (c->gaps && row[i] == 0)
            continue;
        for (int r = 0; r < ROWS; r++)
            for (int u = 0; u < WIDE; u++)
                sum[r][u] =
                    tv_fma_by_f32(row[i], tv_load_f32(sums + (size_t)r * l->stride + i + u * N32),
                                  sum[r][u], TV_SUMS_ANY);
    }
}

TAMIS_INLINE void terms_block(const tamis_tile *t, const struct convolve_coef *c,
                              const struct lines *l, const float *sums, tamis_type type, int x,
                              int y, int whole)
{
    block sum;
    begin(sum, -0.0f);
    for (int k = 0; k < c->term_count; k++)
        add_row(sum, l, sums + (size_t)k * ROWS * l->stride + x, c->terms[k].row, c);
    store_block(t, c, type, x, y, sum, whole);
}

TAMIS_INLINE void terms_plane(const tamis_tile *t, const struct convolve_coef *c, void *scratch,
                              tamis_type type)
{
    const float **lines = scratch;
    struct lines l = make_lines(t, c, type, (float *)scratch + pointers(c));
    float *sums = l.data + (size_t)l.count * l.stride;
    for (int y = 0; y < t->h; y += ROWS) {
        int x = 0;
        find_lines(&l, y, lines);
        for (int k = 0; k < c->term_count; k++) {
            const float *column = c->terms[k].column;
            float *to = sums + (size_t)k * ROWS * l.stride;
            if (c->gaps)
                sum_columns(&l, lines, c, column, to, 1, TV_SUMS_ANY);
            else if (sums_of(type, column, c->h, 1) == TV_SUMS_FIT)
                sum_columns(&l, lines, c, column, to, 0, TV_SUMS_FIT);
            else
                sum_columns(&l, lines, c, column, to, 0, TV_SUMS_ANY);
        }
        for (; x + WIDE * N32 <= t->w; x += WIDE * N32)
            terms_block(t, c, &l, sums, type, x, y, 1);
        if (x < t->w)
            terms_block(t, c, &l, sums, type, x, y, 0);
    }
}

TAMIS_INLINE void planes(const tamis_tile *t, const void *coef, void *scratch, tamis_type type,
                         int terms)
{
    const struct convolve_coef copy = *(const struct convolve_coef *)coef;
    for (int p = 0; p < t->planes; p++) {
        tamis_tile one = convolve_plane(t, p);
        if (terms)
            terms_plane(&one, &copy, scratch, type);
        else
            direct_plane(&one, &copy, scratch, type);
    }
}

#define ROW(name, type, terms)                                                                     \
    static void TAMIS_FN(name)(const tamis_tile *t, const void *coef, void *scratch)               \
    {                                                                                              \
        planes(t, coef, scratch, type, terms);                                                     \
    }
ROW(direct_u8, TAMIS_U8, 0)
ROW(direct_u16, TAMIS_U16, 0)
ROW(direct_s16, TAMIS_S16, 0)
ROW(direct_f32, TAMIS_F32, 0)
ROW(terms_u8, TAMIS_U8, 1)
ROW(terms_u16, TAMIS_U16, 1)
ROW(terms_s16, TAMIS_S16, 1)
ROW(terms_f32, TAMIS_F32, 1)
#undef ROW

extern const tamis_kernel TAMIS_FN(convolve_kernels)[];
const tamis_kernel TAMIS_FN(convolve_kernels)[] = {
    {"whole", TAMIS_U8, TV_CPU, TAMIS_FN(tamis_priv_convolve_u8), 0},
    {"whole", TAMIS_U16, TV_CPU, TAMIS_FN(tamis_priv_convolve_u16), 0},
    {"whole", TAMIS_S16, TV_CPU, TAMIS_FN(tamis_priv_convolve_s16), 0},
    {"whole_separable", TAMIS_U8, TV_CPU, TAMIS_FN(tamis_priv_convolve_product_u8), 0},
    {"whole_separable", TAMIS_U16, TV_CPU, TAMIS_FN(tamis_priv_convolve_product_u16), 0},
    {"whole_separable", TAMIS_S16, TV_CPU, TAMIS_FN(tamis_priv_convolve_product_s16), 0},
    {"direct", TAMIS_U8, TV_CPU, TAMIS_FN(direct_u8), 0},
    {"direct", TAMIS_U16, TV_CPU, TAMIS_FN(direct_u16), 0},
    {"direct", TAMIS_S16, TV_CPU, TAMIS_FN(direct_s16), 0},
    {"direct", TAMIS_F32, TV_CPU, TAMIS_FN(direct_f32), 0},
    {"separable", TAMIS_U8, TV_CPU, TAMIS_FN(terms_u8), 0},
    {"separable", TAMIS_U16, TV_CPU, TAMIS_FN(terms_u16), 0},
    {"separable", TAMIS_S16, TV_CPU, TAMIS_FN(terms_s16), 0},
    {"separable", TAMIS_F32, TV_CPU, TAMIS_FN(terms_f32), 0},
    {"low_rank", TAMIS_U8, TV_CPU, TAMIS_FN(terms_u8), 0},
    {"low_rank", TAMIS_U16, TV_CPU, TAMIS_FN(terms_u16), 0},
    {"low_rank", TAMIS_S16, TV_CPU, TAMIS_FN(terms_s16), 0},
    {"low_rank", TAMIS_F32, TV_CPU, TAMIS_FN(terms_f32), 0},
    {NULL},
};
