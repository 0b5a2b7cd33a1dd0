/* SPDX-License-Identifier: Apache-2.0 */
/* Vector kernels for whole numbers. Source rows are copied as signed 16-bit lines, so that
 * multiply-add instructions take two columns at once: even and odd output columns apart, from the
 * same pairs of samples with taps placed differently. Loops run over whole vectors; what they
 * compute beyond a row's end is not stored. Sums are unsigned: they wrap around while the numbers
 * they stand for are signed, and fit where it matters. */
#include "convolve_kernel.h"

#include "cpu/simd.h"

enum { N16 = TV_BYTES / 2, N32 = TV_BYTES / 4, ROWS = 2, WIDE = 2 };

TAMIS_INLINE tv_u32 splat(int32_t v)
{
    return (uint32_t)v + (tv_u32){0};
}

TAMIS_INLINE tv_s32 splat_s32(int32_t v)
{
    return (tv_s32)splat(v);
}

TAMIS_INLINE tv_u16 splat_u16(int v)
{
    return (uint16_t)v + (tv_u16){0};
}

/* As tv_dot_s16(), but the sum may wrap around. */
TAMIS_INLINE tv_u32 dot(tv_u32 sum, tv_s16 a, tv_s16 b)
{
#if defined(TAMIS_AVX512)
    return (tv_u32)tv_dot_s16((tv_s32)sum, a, b);
#else
    return sum + (tv_u32)tv_dot_s16((tv_s32){0}, a, b);
#endif
}

TAMIS_INLINE ptrdiff_t size_of(tamis_type type)
{
    return type == TAMIS_U8 ? 1 : 2;
}

/* count samples from src on, those of u16 less 32768. */
TAMIS_INLINE void copy_line(const void *src, tamis_type type, int count, int16_t *line)
{
    for (int x = 0; x < count; x += N16) {
        tv_s16 v = type == TAMIS_U8 ? tv_load_widen_u8((const uint8_t *)src + x)
                                    : tv_load_s16((const int16_t *)src + x);
        if (type == TAMIS_U16)
            v ^= (int16_t)-32768;
        tv_store_s16(line + x, v);
    }
}

/* The last h + ROWS - 1 source rows, in turns in as many lines. */
struct lines {
    int16_t *data;
    size_t stride;
    int count; /* of lines */
    int next;  /* source row that is copied next, from 0 */
    int last;  /* source row that exists */
};

/* Brings in the source rows before `end`; those that do not exist only serve results that are not
 * stored. */
TAMIS_INLINE void bring(struct lines *l, const void *const *rows, tamis_type type, ptrdiff_t first,
                        int samples, int end)
{
    for (; l->next < end; l->next++) {
        const char *row = rows[l->next < l->last ? l->next : l->last];
        copy_line(row + first * size_of(type), type, samples,
                  l->data + (size_t)(l->next % l->count) * l->stride);
    }
}

/* ---- from sums to samples */

/* Where sums below 0 or beyond the last level end as these. */
TAMIS_INLINE tv_u32 level_of(tv_u32 total, const struct convolve_coef *c, int32_t most, int divides)
{
    tv_s32 sum = (tv_s32)total;
    if (!divides)
        return (tv_u32)tv_max_s32(tv_min_s32(sum >> c->shift, splat_s32(most)), splat_s32(0));
    sum = tv_max_s32(tv_min_s32(sum, splat_s32((most + 1) * c->divisor - 1)), splat_s32(0));
    tv_s32 v = __builtin_convertvector(__builtin_convertvector(sum, tv_f32) * c->inverse, tv_s32);
    if (c->inexact)
        v -= sum - v * c->divisor >= c->divisor; /* true is -1 */
    return (tv_u32)v;
}

TAMIS_INLINE int32_t most_of(tamis_type type)
{
    return type == TAMIS_U8 ? 255 : 65535;
}

/* Levels as samples, once they have 16 bits. */
TAMIS_INLINE tv_u16 samples_of(tv_u16 levels, tamis_type type)
{
    return type == TAMIS_S16 ? levels ^ 0x8000 : levels;
}

/* Levels of both columns side by side. */
TAMIS_INLINE tv_u16 levels_of(tv_u32 even, tv_u32 odd, const struct convolve_coef *c,
                              tamis_type type, int divides)
{
    tv_u32 v = level_of(even, c, most_of(type), divides) | level_of(odd, c, most_of(type), divides)
                                                               << 16;
    return samples_of((tv_u16)v, type);
}

TAMIS_INLINE void store_bytes(void *dst, tv_u8 v, int bytes)
{
    if (bytes >= TV_BYTES)
        tv_store_u8(dst, v);
    else if (bytes > 0)
        tv_store_first(dst, v, (size_t)bytes);
}

/* 16-bit lanes to bytes in order, saturated. */
TAMIS_INLINE tv_u8 narrowed(tv_s16 a, tv_s16 b)
{
#if !defined(TAMIS_SSE2) /* where narrowing does not saturate */
    a = tv_max_s16(tv_min_s16(a, 255 - (tv_s16){0}), (tv_s16){0});
    b = tv_max_s16(tv_min_s16(b, 255 - (tv_s16){0}), (tv_s16){0});
#endif
    return tv_narrow_u16((tv_u16)a, (tv_u16)b);
}

/* n samples at most, of WIDE * N16. */
TAMIS_INLINE void store_levels(void *dst, tamis_type type, int n, const tv_u16 v[WIDE])
{
    if (type == TAMIS_U8) {
        store_bytes(dst, tv_narrow_u16(v[0], v[1]), n);
        return;
    }
    for (int u = 0; u < WIDE; u++)
        store_bytes((char *)dst + u * TV_BYTES, (tv_u8)v[u], 2 * (n - u * N16));
}

/* Where the output rows from y on are written; those that do not exist, to the first. */
TAMIS_INLINE int find_rows(const tamis_tile *t, int y, char *dst[ROWS])
{
    int rows = t->h - y < ROWS ? t->h - y : ROWS;
    for (int r = 0; r < ROWS; r++)
        dst[r] = (char *)t->dst[0] + (y + (r < rows ? r : 0)) * t->dst_stride[0];
    return rows;
}

/* ---- 16-bit lines */

/* A kernel for such lines, and what sums begin with. */
struct paired {
    const struct convolve_pair *pairs;
    int count;
    int32_t begin;
};

/* ROWS output rows of n samples; lines[j] is row j of the first one's window. */
TAMIS_INLINE void filter_rows(const int16_t *const *lines, struct paired k,
                              const struct convolve_coef *c, tamis_type type, int n, int rows,
                              int divides, char *const dst[ROWS])
{
    for (int x = 0; x < n; x += WIDE * N16) {
        tv_u32 even[ROWS][WIDE], odd[ROWS][WIDE];
        for (int r = 0; r < ROWS; r++)
            for (int u = 0; u < WIDE; u++)
                even[r][u] = odd[r][u] = splat(k.begin);
        for (int i = 0; i < k.count; i++) {
            const struct convolve_pair *p = &k.pairs[i];
            tv_s16 e = (tv_s16)splat(p->even), o = (tv_s16)splat(p->odd);
            for (int r = 0; r < ROWS; r++)
                for (int u = 0; u < WIDE; u++) {
                    tv_s16 v = tv_load_s16(lines[p->row + r] + p->column + x + u * N16);
                    even[r][u] = dot(even[r][u], v, e);
                    odd[r][u] = dot(odd[r][u], v, o);
                }
        }
        for (int r = 0; r < rows; r++) {
            tv_u16 v[WIDE];
            for (int u = 0; u < WIDE; u++)
                v[u] = levels_of(even[r][u], odd[r][u], c, type, divides);
            store_levels(dst[r] + x * size_of(type), type, n - x, v);
        }
    }
}

/* Room for lines of 16 or 32 bits: a row, and vectors beyond. */
TAMIS_INLINE size_t line_stride(int samples)
{
    return ((size_t)samples + CONVOLVE_SLACK / 2) / 64 * 64 + 64;
}

/* Lines end where the samples do; what kernels read beyond is to be numbers. */
TAMIS_INLINE void clear_ends(int16_t *data, size_t stride, int count, int samples)
{
    for (int i = 0; i < count; i++)
        memset(data + (size_t)i * stride + samples, 0, (stride - (size_t)samples) * sizeof *data);
}

TAMIS_INLINE void plane(const tamis_tile *t, const struct convolve_coef *c, void *scratch,
                        tamis_type type, int divides)
{
    int lines = c->h + ROWS - 1, samples = t->w + c->w - 1;
    const int16_t **window = scratch;
    struct lines l = {.count = lines, .last = t->h + c->h - 2};
    struct paired k = {c->pairs, c->pair_count,
                       c->add + (type == TAMIS_U16 ? 32768 * c->total : 0)};
    l.stride = line_stride(samples);
    l.data = (int16_t *)scratch + ((size_t)lines * sizeof *window / 2 + 63) / 64 * 64;
    clear_ends(l.data, l.stride, lines, samples);
    for (int y = 0; y < t->h; y += ROWS) {
        char *dst[ROWS];
        bring(&l, t->src[0] - c->top, type, -(ptrdiff_t)c->left, samples, y + lines);
        for (int j = 0; j < lines; j++)
            window[j] = l.data + (size_t)((y + j) % lines) * l.stride;
        int rows = find_rows(t, y, dst);
        filter_rows(window, k, c, type, t->w, rows, divides, dst);
    }
}

/* ---- columns and rows */

/* Source row j of the window of output row y, or the last one that exists. */
TAMIS_INLINE const void *source_row(const tamis_tile *t, const struct convolve_coef *c, int y,
                                    int j)
{
    int row = y + j < t->h + c->h - 1 ? y + j : t->h + c->h - 2;
    return t->src[0][row - c->top];
}

/* Sums of columns of u8 that have 16 bits, less their middle. */
TAMIS_INLINE void sum_narrow(const tamis_tile *t, const struct convolve_coef *c, int y, int samples,
                             int16_t *const sums[ROWS])
{
    const struct convolve_product *p = &c->product;
    for (int x = 0; x < samples; x += WIDE * N16) {
        tv_u16 sum[ROWS][WIDE];
        for (int r = 0; r < ROWS; r++)
            for (int u = 0; u < WIDE; u++)
                sum[r][u] = splat_u16(-p->middle);
        for (int j = 0; j < c->h + ROWS - 1; j++) {
            const uint8_t *at = (const uint8_t *)source_row(t, c, y, j) + x - c->left;
            tv_u16 v[WIDE];
            for (int u = 0; u < WIDE; u++)
                v[u] = (tv_u16)tv_load_widen_u8(at + u * N16);
            for (int r = 0; r < ROWS; r++)
                for (int u = 0; u < WIDE && j >= r && j - r < c->h; u++)
                    sum[r][u] += v[u] * splat_u16(p->column[j - r]);
        }
        for (int r = 0; r < ROWS; r++)
            for (int u = 0; u < WIDE; u++)
                tv_store_u16(sums[r] + x + u * N16, sum[r][u]);
    }
}

TAMIS_INLINE void narrow_product(const tamis_tile *t, const struct convolve_coef *c, void *scratch,
                                 int divides)
{
    const struct convolve_product *p = &c->product;
    int samples = t->w + c->w - 1;
    int16_t *const sums[ROWS] = {scratch, (int16_t *)scratch + line_stride(samples)};
    const int16_t *const lines[ROWS] = {sums[0], sums[1]};
    uint32_t begin = (uint32_t)c->add + (uint32_t)p->middle * (uint32_t)p->total;
    for (int y = 0; y < t->h; y += ROWS) {
        char *dst[ROWS];
        sum_narrow(t, c, y, samples, sums);
        int rows = find_rows(t, y, dst);
        filter_rows(lines, (struct paired){p->pairs, p->pair_count, (int32_t)begin}, c, TAMIS_U8,
                    t->w, rows, divides, dst);
    }
}

TAMIS_INLINE tv_u32 widened(tamis_type type, const void *row, ptrdiff_t i)
{
    return (tv_u32)(type == TAMIS_U8    ? tv_load_widen_u8_s32((const uint8_t *)row + i)
                    : type == TAMIS_U16 ? tv_load_widen_u16((const uint16_t *)row + i)
                                        : tv_load_widen_s16((const int16_t *)row + i));
}

/* Sums of columns that have 32 bits or wrap around. */
TAMIS_INLINE void sum_wide(const tamis_tile *t, const struct convolve_coef *c, tamis_type type,
                           int y, int samples, uint32_t *const sums[ROWS])
{
    const struct convolve_product *p = &c->product;
    for (int x = 0; x < samples; x += WIDE * N32) {
        tv_u32 sum[ROWS][WIDE];
        for (int r = 0; r < ROWS; r++)
            for (int u = 0; u < WIDE; u++)
                sum[r][u] = splat(0);
        for (int j = 0; j < c->h + ROWS - 1; j++) {
            const void *row = source_row(t, c, y, j);
            tv_u32 v[WIDE];
            for (int u = 0; u < WIDE; u++)
                v[u] = widened(type, row, x - c->left + u * N32);
            for (int r = 0; r < ROWS; r++)
                for (int u = 0; u < WIDE && j >= r && j - r < c->h; u++)
                    sum[r][u] += v[u] * splat(p->column[j - r]);
        }
        for (int r = 0; r < ROWS; r++)
            for (int u = 0; u < WIDE; u++)
                tv_store_u32(sums[r] + x + u * N32, sum[r][u]);
    }
}

/* A row of n samples from sums of columns. */
TAMIS_INLINE void filter_wide(const uint32_t *sums, const struct convolve_coef *c, tamis_type type,
                              int n, int divides, char *dst)
{
    enum { PARTS = 2 * WIDE };
    for (int x = 0; x < n; x += WIDE * N16) {
        tv_u32 sum[PARTS];
        tv_u16 v[WIDE];
        for (int u = 0; u < PARTS; u++)
            sum[u] = splat(c->add);
        for (int i = 0; i < c->w; i++) {
            tv_u32 tap = splat(c->product.row[i]);
            for (int u = 0; u < PARTS; u++)
                sum[u] += tv_load_u32(sums + x + i + u * N32) * tap;
        }
        for (int u = 0; u < PARTS; u++)
            sum[u] = level_of(sum[u], c, most_of(type), divides);
        for (int u = 0; u < WIDE; u++)
            v[u] = samples_of(tv_narrow_s32((tv_s32)sum[2 * u], (tv_s32)sum[2 * u + 1]), type);
        store_levels(dst + x * size_of(type), type, n - x, v);
    }
}

TAMIS_INLINE void wide_product(const tamis_tile *t, const struct convolve_coef *c, void *scratch,
                               tamis_type type, int divides)
{
    int samples = t->w + c->w - 1;
    uint32_t *const sums[ROWS] = {scratch, (uint32_t *)scratch + line_stride(samples)};
    for (int y = 0; y < t->h; y += ROWS) {
        char *dst[ROWS];
        sum_wide(t, c, type, y, samples, sums);
        int rows = find_rows(t, y, dst);
        for (int r = 0; r < rows; r++)
            filter_wide(sums[r], c, type, t->w, divides, dst[r]);
    }
}

/* ---- sums of 16 bits, of pixels of any number of samples */

static void narrow_plane(const tamis_tile *t, const struct convolve_coef *c)
{
    int n = t->w * t->step;
    for (int y = 0; y < t->h; y++) {
        const void *const *rows = t->src[0] + (y - c->top);
        char *dst = (char *)t->dst[0] + y * t->dst_stride[0];
        for (int x = 0; x < n; x += TV_BYTES) {
            tv_u16 sum[2];
            for (int u = 0; u < 2; u++)
                sum[u] = splat_u16(c->add);
            for (int i = 0; i < c->count; i++) {
                const struct convolve_tap *tap = &c->taps[i];
                const uint8_t *at = (const uint8_t *)rows[tap->row] + x;
                at += (tap->column - c->left) * t->step;
                for (int u = 0; u < 2; u++)
                    sum[u] += (tv_u16)tv_load_widen_u8(at + u * N16) * splat_u16(tap->whole);
            }
            tv_s16 low = (tv_s16)sum[0] >> c->shift, high = (tv_s16)sum[1] >> c->shift;
            store_bytes(dst + x, narrowed(low, high), n - x);
        }
    }
}

/* ---- rows of the table */

TAMIS_INLINE void planes(const tamis_tile *t, const void *coef, void *scratch, tamis_type type)
{
    const struct convolve_coef copy = *(const struct convolve_coef *)coef;
    for (int p = 0; p < t->planes; p++) {
        tamis_tile one = convolve_plane(t, p);
#if defined(TAMIS_AVX512)
        if (copy.quads && t->step == 1) {
            TAMIS_FN(tamis_priv_convolve_quads)(&one, &copy, scratch);
            continue;
        }
#endif
        if (copy.narrow)
            narrow_plane(&one, &copy);
        else if (copy.shift < 0)
            plane(&one, &copy, scratch, type, 1);
        else
            plane(&one, &copy, scratch, type, 0);
    }
}

TAMIS_INLINE void products(const tamis_tile *t, const void *coef, void *scratch, tamis_type type,
                           int divides)
{
    const struct convolve_coef copy = *(const struct convolve_coef *)coef;
    for (int p = 0; p < t->planes; p++) {
        tamis_tile one = convolve_plane(t, p);
        if (type == TAMIS_U8 && copy.product.narrow)
            narrow_product(&one, &copy, scratch, divides);
        else
            wide_product(&one, &copy, scratch, type, divides);
    }
}

#define ROWS_OF(type, T)                                                                           \
    void TAMIS_FN(tamis_priv_convolve_##type)(const tamis_tile *t, const void *coef,               \
                                              void *scratch)                                       \
    {                                                                                              \
        planes(t, coef, scratch, T);                                                               \
    }                                                                                              \
    void TAMIS_FN(tamis_priv_convolve_product_##type)(const tamis_tile *t, const void *coef,       \
                                                      void *scratch)                               \
    {                                                                                              \
        if (((const struct convolve_coef *)coef)->shift < 0)                                       \
            products(t, coef, scratch, T, 1);                                                      \
        else                                                                                       \
            products(t, coef, scratch, T, 0);                                                      \
    }
ROWS_OF(u8, TAMIS_U8)
ROWS_OF(u16, TAMIS_U16)
ROWS_OF(s16, TAMIS_S16)
#undef ROWS_OF
