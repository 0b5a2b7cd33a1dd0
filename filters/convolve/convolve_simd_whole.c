/* SPDX-License-Identifier: Apache-2.0 */
/* Vector kernels for whole numbers. Source rows are copied as signed 16-bit lines, so that
 * multiply-add instructions take two columns at once: even and odd output columns apart, from the
 * same pairs of samples with taps placed differently. Loops run over whole vectors; what they
 * compute beyond a row's end is not stored. */
#include "convolve_kernel.h"

#include "cpu/simd.h"

enum { N16 = TV_BYTES / 2, N32 = TV_BYTES / 4, ROWS = 2, WIDE = 2 };

TAMIS_INLINE tv_s32 splat(int32_t v)
{
    return v - (tv_s32){0};
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
        ptrdiff_t size = type == TAMIS_U8 ? 1 : 2;
        copy_line(row + first * size, type, samples,
                  l->data + (size_t)(l->next % l->count) * l->stride);
    }
}

/* Where sums below 0 or beyond the last level end as these. */
TAMIS_INLINE tv_s32 level_of(tv_s32 sum, const struct convolve_coef *c, int32_t most, int divides)
{
    if (!divides)
        return tv_max_s32(tv_min_s32(sum >> c->shift, splat(most)), splat(0));
    sum = tv_max_s32(tv_min_s32(sum, splat((most + 1) * c->divisor - 1)), splat(0));
    tv_s32 v = __builtin_convertvector(__builtin_convertvector(sum, tv_f32) * c->inverse, tv_s32);
    if (c->inexact)
        v -= sum - v * c->divisor >= c->divisor; /* true is -1 */
    return v;
}

/* Levels of both columns side by side. */
TAMIS_INLINE tv_u16 levels_of(tv_s32 even, tv_s32 odd, const struct convolve_coef *c,
                              tamis_type type, int divides)
{
    int32_t most = type == TAMIS_U8 ? 255 : 65535;
    tv_s32 v = level_of(even, c, most, divides) | level_of(odd, c, most, divides) << 16;
    return type == TAMIS_S16 ? (tv_u16)v ^ 0x8000 : (tv_u16)v;
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
TAMIS_INLINE void store_levels(void *dst, tamis_type type, int n, const tv_s32 *even,
                               const tv_s32 *odd, const struct convolve_coef *c, int divides)
{
    tv_u16 v[WIDE];
    for (int u = 0; u < WIDE; u++)
        v[u] = levels_of(even[u], odd[u], c, type, divides);
    if (type == TAMIS_U8) {
        store_bytes(dst, tv_narrow_u16(v[0], v[1]), n);
        return;
    }
    for (int u = 0; u < WIDE; u++)
        store_bytes((char *)dst + u * TV_BYTES, (tv_u8)v[u], 2 * (n - u * N16));
}

/* ROWS output rows of n samples; lines[j] is row j of the first one's window. */
TAMIS_INLINE void filter_rows(const int16_t *const *lines, const struct convolve_coef *c,
                              tamis_type type, int n, int rows, int divides, char *const dst[ROWS])
{
    const tv_s32 begin = splat(c->add + (type == TAMIS_U16 ? 32768 * c->total : 0));
    for (int x = 0; x < n; x += WIDE * N16) {
        tv_s32 even[ROWS][WIDE], odd[ROWS][WIDE];
        for (int r = 0; r < ROWS; r++)
            for (int u = 0; u < WIDE; u++)
                even[r][u] = odd[r][u] = begin;
        for (int i = 0; i < c->pair_count; i++) {
            const struct convolve_pair *p = &c->pairs[i];
            tv_s16 e = (tv_s16)splat(p->even), o = (tv_s16)splat(p->odd);
            for (int r = 0; r < ROWS; r++)
                for (int u = 0; u < WIDE; u++) {
                    tv_s16 v = tv_load_s16(lines[p->row + r] + p->column + x + u * N16);
                    even[r][u] = tv_dot_s16(even[r][u], v, e);
                    odd[r][u] = tv_dot_s16(odd[r][u], v, o);
                }
        }
        for (int r = 0; r < rows; r++)
            store_levels(dst[r] + (size_t)x * (type == TAMIS_U8 ? 1 : 2), type, n - x, even[r],
                         odd[r], c, divides);
    }
}

TAMIS_INLINE void plane(const tamis_tile *t, const struct convolve_coef *c, void *scratch,
                        tamis_type type, int divides)
{
    int lines = c->h + ROWS - 1, samples = t->w + c->w - 1;
    const int16_t **window = scratch;
    struct lines l = {.count = lines, .last = t->h + c->h - 2};
    l.stride = ((size_t)samples + CONVOLVE_SLACK / 2) / 64 * 64 + 64;
    l.data = (int16_t *)scratch + ((size_t)lines * sizeof *window / 2 + 63) / 64 * 64;
    for (int y = 0; y < t->h; y += ROWS) {
        char *dst[ROWS];
        bring(&l, t->src[0] - c->top, type, -(ptrdiff_t)c->left, samples, y + lines);
        for (int j = 0; j < lines; j++)
            window[j] = l.data + (size_t)((y + j) % lines) * l.stride;
        int rows = t->h - y < ROWS ? t->h - y : ROWS;
        for (int r = 0; r < ROWS; r++)
            dst[r] = (char *)t->dst[0] + (y + (r < rows ? r : 0)) * t->dst_stride[0];
        filter_rows(window, c, type, t->w, rows, divides, dst);
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
            tv_s16 sum[2];
            for (int u = 0; u < 2; u++)
                sum[u] = (int16_t)c->add - (tv_s16){0};
            for (int i = 0; i < c->count; i++) {
                const struct convolve_tap *tap = &c->taps[i];
                const uint8_t *at = (const uint8_t *)rows[tap->row] + x;
                at += (tap->column - c->left) * t->step;
                for (int u = 0; u < 2; u++)
                    sum[u] += tv_load_widen_u8(at + u * N16) * (int16_t)tap->whole;
            }
            for (int u = 0; u < 2; u++)
                sum[u] >>= c->shift;
            store_bytes(dst + x, narrowed(sum[0], sum[1]), n - x);
        }
    }
}

TAMIS_INLINE void planes(const tamis_tile *t, const void *coef, void *scratch, tamis_type type)
{
    const struct convolve_coef copy = *(const struct convolve_coef *)coef;
    for (int p = 0; p < t->planes; p++) {
        tamis_tile one = convolve_plane(t, p);
        if (copy.narrow)
            narrow_plane(&one, &copy);
        else if (copy.shift < 0)
            plane(&one, &copy, scratch, type, 1);
        else
            plane(&one, &copy, scratch, type, 0);
    }
}

void TAMIS_FN(tamis_priv_convolve_u8)(const tamis_tile *t, const void *coef, void *scratch)
{
    planes(t, coef, scratch, TAMIS_U8);
}

void TAMIS_FN(tamis_priv_convolve_u16)(const tamis_tile *t, const void *coef, void *scratch)
{
    planes(t, coef, scratch, TAMIS_U16);
}

void TAMIS_FN(tamis_priv_convolve_s16)(const tamis_tile *t, const void *coef, void *scratch)
{
    planes(t, coef, scratch, TAMIS_S16);
}
