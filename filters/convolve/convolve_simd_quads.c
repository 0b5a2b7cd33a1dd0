/* SPDX-License-Identifier: Apache-2.0 */
/* Whole numbers of 8 bits with AVX-512, whose multiply-add instructions take four columns of bytes
 * at once, straight from the source rows: the output columns 4i, 4i + 1, 4i + 2, 4i + 3 apart, each
 * from samples that begin one further. */
#include "convolve_kernel.h"

#include "cpu/simd.h"

#if defined(TAMIS_AVX512)

enum { ROWS = CONVOLVE_ROWS, PHASES = 4 };

typedef __m512i block[ROWS][PHASES];

/* Adds one source row: number `line` of the first output row's window, whose taps are at quads. */
TAMIS_INLINE void add_line(block sum, const uint8_t *at, const int32_t *quads, int n, int line,
                           int h)
{
    for (int i = 0; i < n; i++) {
        __m512i v[PHASES];
        for (int k = 0; k < PHASES; k++)
            v[k] = _mm512_loadu_si512(at + 4 * i + k);
        for (int r = 0; r < ROWS; r++) {
            if (line < r || line - r >= h)
                continue;
            __m512i taps = _mm512_set1_epi32(quads[(line - r) * n + i]);
            for (int k = 0; k < PHASES; k++)
                sum[r][k] = _mm512_dpbusd_epi32(sum[r][k], v[k], taps);
        }
    }
}

/* Sums of ROWS output rows; lines[j] is row j of the first one's window. Where it is known
 * how many there are, their loop is laid out flat. */
TAMIS_INLINE void sum_block(block sum, const uint8_t *const *lines, const struct convolve_coef *c,
                            ptrdiff_t x, int h, int n)
{
    for (int r = 0; r < ROWS; r++)
        for (int k = 0; k < PHASES; k++)
            sum[r][k] = _mm512_set1_epi32(c->add);
#pragma GCC unroll 6
    for (int line = 0; line < h + ROWS - 1; line++)
        add_line(sum, lines[line] + x, c->quads, n, line, h);
}

/* Quotients that may be too great or too small: they saturate when they become bytes. */
TAMIS_INLINE __m512i level_of(__m512i sum, const struct convolve_coef *c, int divides)
{
    if (!divides)
        return _mm512_sra_epi32(sum, _mm_cvtsi32_si128(c->shift));
    __m512 quotient = _mm512_mul_ps(_mm512_cvtepi32_ps(sum), _mm512_set1_ps(c->inverse));
    return _mm512_cvttps_epi32(quotient);
}

/* The four columns of each lane as bytes in order. */
TAMIS_INLINE __m512i bytes_of(const __m512i v[PHASES])
{
    const __m512i order =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    __m512i low = _mm512_packs_epi32(v[0], v[1]), high = _mm512_packs_epi32(v[2], v[3]);
    return _mm512_shuffle_epi8(_mm512_packus_epi16(low, high), order);
}

TAMIS_INLINE void store_block(const tamis_tile *t, const struct convolve_coef *c, block sum, int x,
                              int y, int divides)
{
    for (int r = 0; r < ROWS; r++) {
        char *dst = (char *)t->dst[0] + (y + r) * t->dst_stride[0] + x;
        __m512i v[PHASES];
        if (y + r >= t->h)
            continue;
        for (int k = 0; k < PHASES; k++)
            v[k] = level_of(sum[r][k], c, divides);
        if (t->w - x >= TV_BYTES)
            tv_store_u8(dst, (tv_u8)bytes_of(v));
        else
            tv_store_first(dst, (tv_u8)bytes_of(v), (size_t)(t->w - x));
    }
}

TAMIS_INLINE void plane(const tamis_tile *t, const struct convolve_coef *c, const uint8_t **lines,
                        int divides, int h, int n)
{
    int last = t->h + h - 2; /* source row that exists; those beyond serve what is not stored */
    for (int y = 0; y < t->h; y += ROWS) {
        for (int j = 0; j < h + ROWS - 1; j++) {
            int row = y + j < last ? y + j : last;
            lines[j] = (const uint8_t *)t->src[0][row - c->top] - c->left;
        }
        for (int x = 0; x < t->w; x += TV_BYTES) {
            block sum;
            sum_block(sum, lines, c, x, h, n);
            store_block(t, c, sum, x, y, divides);
        }
    }
}

void TAMIS_FN(tamis_priv_convolve_quads)(const tamis_tile *t, const struct convolve_coef *c,
                                         void *scratch)
{
    int n = c->quad_count;
    if (c->shift < 0)
        plane(t, c, scratch, 1, c->h, n);
    else if (c->h == 3 && n == 1)
        plane(t, c, scratch, 0, 3, 1);
    else
        plane(t, c, scratch, 0, c->h, n);
}

#endif
