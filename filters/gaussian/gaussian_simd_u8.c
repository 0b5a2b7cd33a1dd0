/* SPDX-License-Identifier: Apache-2.0 */
/* Vector kernels for u8: columns first into rows of sums that stay in the first cache, then rows.
 * Multiply-add instructions take two taps at once. Loops run over whole vectors; what they compute
 * beyond a row's end lands in scratch memory or is not stored. */
#include "gaussian_kernel.h"
#include "gaussian_sharpen.h"

#include "cpu/simd.h"

/* What "unsharp" adds to a pass over rows; without sharpen, nothing. */
typedef struct row_end {
    const struct gaussian_sharpen *sharpen;
    const int16_t *in; /* the row's own samples */
} row_end;

/* n samples as 16-bit ones, for whole vectors. */
TAMIS_INLINE void widen(const uint8_t *src, int n, int16_t *dst)
{
    for (int x = 0; x < n; x += TV_BYTES / 2)
        tv_store_s16(dst + x, tv_load_widen_u8(src + x));
}

#if defined(TAMIS_AVX512)

/* Samples enter the columns as 256 v - 32768, so that with taps in 2^-16 the upper half of a total
 * is the column sum; it is kept as 2 s - 32768, s in 1/128 level. So the totals of a row have the
 * level in their highest byte. The windows of two neighboring outputs, 2n and 2n+1, together cover
 * radius+1 pairs of samples that start at the same places, so one vector of pairs serves both, with
 * taps placed differently: even[] and odd[]. Of columns, these are two output rows. Rows are
 * filtered one channel at a time. */

/* How samples move between vectors. */
struct moves {
    __m512i upper;           /* upper halves of two vectors of totals */
    __m512i first, second;   /* first and second halves of two vectors whose 128-bit parts */
                             /* belong beside each other */
    __m512i top;             /* highest bytes of even and odd totals in turn, twice */
    __m512i split[4];        /* words of channel c from packed vectors 0 and 1, or 2 and 3 */
    __mmask32 split_late[4]; /* which are from 2 and 3 */
    __m512i weave[4];        /* bytes of packed vector z from channels 0 and 1, or 2 and 3 */
    __mmask64 weave_late[4];
};

static void make_moves(struct moves *m, int step)
{
    uint8_t byte[64];
    uint16_t word[32];
    for (int k = 0; k < 32; k++)
        word[k] = (uint16_t)(k / 8 * 8 + k % 4 * 2 + 1 + k / 4 % 2 * 32);
    m->upper = _mm512_loadu_si512(word);
    m->first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    m->second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    for (int k = 0; k < 64; k++)
        byte[k] = (uint8_t)(k % 2 * 64 + k % 32 / 2 * 4 + 3);
    m->top = _mm512_loadu_si512(byte);
    for (int c = 0; c < step; c++) {
        m->split_late[c] = 0;
        for (int k = 0; k < 32; k++) {
            int from = k * step + c;
            word[k] = (uint16_t)(from % 64);
            m->split_late[c] |= (__mmask32)(from / 64) << k;
        }
        m->split[c] = _mm512_loadu_si512(word);
        m->weave_late[c] = 0;
        for (int k = 0; k < 64; k++) {
            int to = c * 64 + k, channel = to % step;
            byte[k] = (uint8_t)(to / step + channel % 2 * 64);
            m->weave_late[c] |= (__mmask64)(channel / 2) << k;
        }
        m->weave[c] = _mm512_loadu_si512(byte);
    }
}

/* Totals have the type of their elements: __m512i would have GCC copy them in every turn of a loop,
 * at up to twice the time. */
TAMIS_INLINE tv_s32 dot(tv_s32 total, __m512i samples, int32_t taps)
{
    return (tv_s32)_mm512_dpwssd_epi32((__m512i)total, samples, _mm512_set1_epi32(taps));
}

/* Brings totals of taps in 2^-bits to 2^-16. */
TAMIS_INLINE void to_16_bits(tv_s32 *totals, int count, int bits)
{
    if (bits < 16)
        for (int i = 0; i < count; i++)
            totals[i] <<= 16 - bits;
}

TAMIS_INLINE void store_sums(const struct moves *m, tv_s32 *totals, int bits, int16_t *sums)
{
    const __m512i mask = _mm512_set1_epi16(-2);
    to_16_bits(totals, 4, bits);
    __m512i a = _mm512_permutex2var_epi16((__m512i)totals[0], m->upper, (__m512i)totals[1]);
    __m512i b = _mm512_permutex2var_epi16((__m512i)totals[2], m->upper, (__m512i)totals[3]);
    a = _mm512_and_si512(a, mask);
    b = _mm512_and_si512(b, mask);
    _mm512_storeu_si512(sums, _mm512_permutex2var_epi64(a, m->first, b));
    _mm512_storeu_si512(sums + 32, _mm512_permutex2var_epi64(a, m->second, b));
}

/* The second of source rows 2j-radius and 2j+1-radius. The very last one serves only the second
 * output row; where that does not exist, neither may the source row. */
TAMIS_INLINE const uint8_t *second_row(const uint8_t *const *rows, int radius, int j, int both)
{
    int last = radius + both, i = 2 * j + 1 - radius;
    return rows[i < last ? i : last];
}

/* Two rows of sums of samples first .. first+count-1. */
TAMIS_INLINE void columns(const uint8_t *const *rows, const struct gaussian_axis *a, int radius,
                          int both, ptrdiff_t first, int count, const struct moves *m,
                          int16_t *const sums[2])
{
    const __m512i flip = _mm512_set1_epi8((char)0x80), zero = _mm512_setzero_si512();
    for (int x = 0; x < count; x += 64) {
        tv_s32 even[4], odd[4];
        for (int i = 0; i < 4; i++)
            even[i] = odd[i] = (tv_s32)_mm512_set1_epi32(1 << a->bits);
        for (int j = 0; j <= radius; j++) {
            const uint8_t *p = rows[2 * j - radius], *q = second_row(rows, radius, j, both);
            __m512i vp = _mm512_xor_si512(_mm512_loadu_si512(p + first + x), flip);
            __m512i vq = _mm512_xor_si512(_mm512_loadu_si512(q + first + x), flip);
            __m512i low = _mm512_unpacklo_epi8(vp, vq), high = _mm512_unpackhi_epi8(vp, vq);
            __m512i v[4] = {_mm512_unpacklo_epi8(zero, low), _mm512_unpackhi_epi8(zero, low),
                            _mm512_unpacklo_epi8(zero, high), _mm512_unpackhi_epi8(zero, high)};
            for (int i = 0; i < 4; i++) {
                even[i] = dot(even[i], v[i], a->even[j]);
                odd[i] = dot(odd[i], v[i], a->odd[j]);
            }
        }
        store_sums(m, even, a->bits, sums[0] + x);
        store_sums(m, odd, a->bits, sums[1] + x);
    }
}

TAMIS_INLINE void store_bytes(uint8_t *p, __m512i v, int n)
{
    if (n >= 64)
        _mm512_storeu_si512(p, v);
    else if (n > 0)
        _mm512_mask_storeu_epi8(p, (1ull << n) - 1, v);
}

/* unsharp: totals of outputs in turn become those of sharpened levels. */
TAMIS_INLINE void sharpen_totals(const struct gaussian_sharpen *s, const int16_t *in, tv_s32 *even,
                                 tv_s32 *odd)
{
    tv_s32 both = (tv_s32)_mm512_loadu_si512(in);
    *even = sharpened_level(s, both & 0xffff, (tv_s32)((tv_u32)*even >> 17)) << 24;
    *odd = sharpened_level(s, both >> 16, (tv_s32)((tv_u32)*odd >> 17)) << 24;
}

/* The levels of one channel; sums[0] is the first of the first output's window. */
TAMIS_INLINE void row(const int16_t *sums, const struct gaussian_axis *a, int radius, int n,
                      const struct moves *m, row_end end, uint8_t *dst)
{
    const int32_t half = end.sharpen ? 1 : 128;
    for (int x = 0; x < n; x += 128) {
        tv_s32 even[4], odd[4];
        for (int u = 0; u < 4; u++)
            even[u] = odd[u] = (tv_s32)_mm512_set1_epi32((int32_t)((32768u + half) << a->bits));
        for (int j = 0; j <= radius; j++) {
            for (int u = 0; u < 4; u++) {
                __m512i v = _mm512_loadu_si512(sums + x + 32 * u + 2 * j);
                even[u] = dot(even[u], v, a->even[j]);
                odd[u] = dot(odd[u], v, a->odd[j]);
            }
        }
        to_16_bits(even, 4, a->bits);
        to_16_bits(odd, 4, a->bits);
        for (int u = 0; end.sharpen && u < 4 && x + 32 * u < n; u++)
            sharpen_totals(end.sharpen, end.in + x + 32 * u, &even[u], &odd[u]);
        __m512i v[4];
        for (int u = 0; u < 4; u++)
            v[u] = _mm512_permutex2var_epi8((__m512i)even[u], m->top, (__m512i)odd[u]);
        store_bytes(dst + x, _mm512_mask_mov_epi64(v[0], 0xf0, v[1]), n - x);
        store_bytes(dst + x + 64, _mm512_mask_mov_epi64(v[2], 0xf0, v[3]), n - x - 64);
    }
}

/* Packed sums to a plane for each channel. */
TAMIS_INLINE void split(const int16_t *sums, int w, int step, const struct moves *m,
                        int16_t *planes, size_t plane)
{
    for (int x = 0; x < w; x += 32) {
        __m512i v[4];
        for (int i = 0; i < 4; i++)
            v[i] = _mm512_loadu_si512(sums + x * step + 32 * (i < step ? i : 0));
        for (int c = 0; c < step; c++) {
            __m512i s = _mm512_permutex2var_epi16(v[0], m->split[c], v[1]);
            if (step > 2)
                s = _mm512_mask_blend_epi16(m->split_late[c], s,
                                            _mm512_permutex2var_epi16(v[2], m->split[c], v[3]));
            _mm512_storeu_si512(planes + (size_t)c * plane + x, s);
        }
    }
}

/* Planes of levels to a packed row. */
TAMIS_INLINE void weave(const uint8_t *planes, size_t plane, int w, int step, const struct moves *m,
                        uint8_t *dst)
{
    for (int x = 0; x < w; x += 64) {
        __m512i v[4];
        for (int c = 0; c < 4; c++)
            v[c] = _mm512_loadu_si512(planes + (c < step ? (size_t)c * plane : 0) + x);
        for (int z = 0; z < step; z++) {
            __m512i out = _mm512_permutex2var_epi8(v[0], m->weave[z], v[1]);
            if (step > 2)
                out = _mm512_mask_blend_epi8(m->weave_late[z], out,
                                             _mm512_permutex2var_epi8(v[2], m->weave[z], v[3]));
            store_bytes(dst + x * step + 64 * z, out, (w - x) * step - 64 * z);
        }
    }
}

/* Room for n samples and what is read and written beyond. */
static size_t whole(size_t n)
{
    return (n + 63) / 64 * 64 + 128;
}

TAMIS_INLINE void color_row(const int16_t *sums, int count, const struct gaussian_axis *a,
                            int radius, int w, int step, const struct moves *m, row_end end,
                            int16_t *planes, uint8_t *levels, uint8_t *dst)
{
    size_t plane = whole((size_t)count), out_plane = whole((size_t)w);
    int16_t *in = (int16_t *)(void *)(levels + out_plane * (size_t)step);
    split(sums, count, step, m, planes, plane);
    if (end.sharpen)
        split(end.in, w, step, m, in, out_plane);
    for (int c = 0; c < step; c++) {
        end.in = in + (size_t)c * out_plane;
        row(planes + (size_t)c * plane, a, radius, w, m, end, levels + (size_t)c * out_plane);
    }
    weave(levels, out_plane, w, step, m, dst);
}

TAMIS_INLINE void tile_step(const tamis_tile *t, const struct gaussian_coef *c, int16_t *scratch,
                            int rx, int ry, int step, const struct gaussian_sharpen *sharpen)
{
    struct moves m;
    make_moves(&m, step);
    int w = t->w, pixels = w + 2 * rx, count = pixels * step;
    size_t all = whole((size_t)count);
    int16_t *const sums[2] = {scratch, scratch + all};
    int16_t *in = sums[1] + all, *planes = in + whole((size_t)w * (size_t)step);
    row_end end = {sharpen, in};
    uint8_t *levels = (uint8_t *)(planes + whole((size_t)pixels) * (size_t)step);
    for (int y = 0; y < t->h; y += 2) {
        int both = y + 1 < t->h;
        columns((const uint8_t *const *)t->src[0] + y, &c->y, ry, both, -(ptrdiff_t)rx * step,
                count, &m, sums);
        for (int i = 0; i <= both; i++) {
            uint8_t *dst = (uint8_t *)t->dst[0] + (y + i) * t->dst_stride[0];
            if (sharpen)
                widen(t->src[0][y + i], w * step, in);
            if (step == 1)
                row(sums[i], &c->x, rx, w, &m, end, dst);
            else
                color_row(sums[i], pixels, &c->x, rx, w, step, &m, end, planes, levels, dst);
        }
    }
}

/* The tile with radii that the compiler may know. */
TAMIS_INLINE void tile(const tamis_tile *t, const struct gaussian_coef *c, void *scratch, int rx,
                       int ry, const struct gaussian_sharpen *sharpen)
{
    if (t->step == 1)
        tile_step(t, c, scratch, rx, ry, 1, sharpen);
    else if (t->step == 2)
        tile_step(t, c, scratch, rx, ry, 2, sharpen);
    else if (t->step == 3)
        tile_step(t, c, scratch, rx, ry, 3, sharpen);
    else
        tile_step(t, c, scratch, rx, ry, 4, sharpen);
}

#else

/* Sums are kept as they are, in 1/128 level, channels in turn. */

enum { N16 = TV_BYTES / 2 };

TAMIS_INLINE tv_s32 broadcast(int32_t v)
{
    return v - (tv_s32){0};
}

TAMIS_INLINE tv_s32 dot(tv_s32 total, tv_s16 samples, int32_t taps)
{
    return tv_dot_s16(total, samples, (tv_s16)broadcast(taps));
}

/* rows[i][x] + rows[-i][x], or the center row alone. */
TAMIS_INLINE tv_s16 mirrored_sum(const uint8_t *const *rows, int i, ptrdiff_t x)
{
    tv_s16 v = tv_load_widen_u8(rows[i] + x);
    return i ? v + tv_load_widen_u8(rows[-i] + x) : v;
}

/* Sums of samples first .. first+count-1. Mirrored samples are added first: without the fused
 * multiply-add of AVX-512, multiplications are what costs most. */
TAMIS_INLINE void columns(const uint8_t *const *rows, const struct gaussian_axis *a, int radius,
                          ptrdiff_t first, int count, int16_t *sums)
{
    enum { UNROLL = 2 };
    int shift = a->bits - GAUSSIAN_FRACTION;
    for (int x = 0; x < count; x += UNROLL * N16) {
        tv_s32 low[UNROLL], high[UNROLL];
        for (int u = 0; u < UNROLL; u++)
            low[u] = high[u] = broadcast(1 << (shift - 1));
        for (int i = 0; i <= radius; i += 2) {
            for (int u = 0; u < UNROLL; u++) {
                ptrdiff_t at = first + x + u * N16;
                tv_s16 v[2], even = mirrored_sum(rows, i, at);
                tv_s16 odd = i < radius ? mirrored_sum(rows, i + 1, at) : even;
                tv_interleave_s16(even, odd, &v[0], &v[1]);
                low[u] = dot(low[u], v[0], a->folded[i / 2]);
                high[u] = dot(high[u], v[1], a->folded[i / 2]);
            }
        }
        for (int u = 0; u < UNROLL; u++)
            tv_store_s16(sums + x + u * N16, tv_pack_s32(low[u] >> shift, high[u] >> shift));
    }
}

/* Even and odd output samples apart, so that the two samples of a multiply-add lie side by side in
 * memory. sums[0] is the first sum of the first output's window. */
TAMIS_INLINE void row_gray(const int16_t *sums, const struct gaussian_axis *a, int radius, int n,
                           row_end end, uint8_t *dst)
{
    int shift = a->bits + (end.sharpen ? 0 : GAUSSIAN_FRACTION);
    for (int x = 0; x < n; x += TV_BYTES) {
        tv_s32 even[2], odd[2];
        for (int u = 0; u < 2; u++)
            even[u] = odd[u] = broadcast(1 << (shift - 1));
        for (int j = 0; j <= radius; j++) {
            for (int u = 0; u < 2; u++) {
                const int16_t *at = sums + x + u * N16 + 2 * j;
                even[u] = dot(even[u], tv_load_s16(at), a->even[j]);
                odd[u] = dot(odd[u], tv_load_s16(at + 1), a->even[j]);
            }
        }
        tv_u16 v[2];
        for (int u = 0; u < 2; u++) {
            even[u] >>= shift;
            odd[u] >>= shift;
            if (end.sharpen) {
                tv_s32 both = (tv_s32)tv_load_s16(end.in + x + u * N16);
                even[u] = sharpened_level(end.sharpen, both & 0xffff, even[u]);
                odd[u] = sharpened_level(end.sharpen, both >> 16, odd[u]);
            }
            v[u] = (tv_u16)(even[u] | odd[u] << 16);
        }
        tv_store_first(dst + x, tv_narrow_u16(v[0], v[1]),
                       n - x < TV_BYTES ? (size_t)(n - x) : TV_BYTES);
    }
}

/* Neighbors are step samples apart and are interleaved first. */
TAMIS_INLINE void row_color(const int16_t *sums, const struct gaussian_axis *a, int radius,
                            int step, int n, row_end end, uint8_t *dst)
{
    int shift = a->bits + (end.sharpen ? 0 : GAUSSIAN_FRACTION);
    for (int x = 0; x < n; x += TV_BYTES) {
        tv_s32 low[2], high[2];
        for (int u = 0; u < 2; u++)
            low[u] = high[u] = broadcast(1 << (shift - 1));
        for (int j = 0; j <= radius; j++) {
            for (int u = 0; u < 2; u++) {
                const int16_t *at = sums + x + u * N16 + 2 * j * step;
                tv_s16 v[2];
                tv_interleave_s16(tv_load_s16(at), tv_load_s16(at + step), &v[0], &v[1]);
                low[u] = dot(low[u], v[0], a->even[j]);
                high[u] = dot(high[u], v[1], a->even[j]);
            }
        }
        tv_u16 v[2];
        for (int u = 0; u < 2; u++) {
            low[u] >>= shift;
            high[u] >>= shift;
            if (end.sharpen) {
                tv_s16 in[2];
                tv_interleave_s16(tv_load_s16(end.in + x + u * N16), (tv_s16){0}, &in[0], &in[1]);
                low[u] = sharpened_level(end.sharpen, (tv_s32)in[0], low[u]);
                high[u] = sharpened_level(end.sharpen, (tv_s32)in[1], high[u]);
            }
            v[u] = (tv_u16)tv_pack_s32(low[u], high[u]);
        }
        tv_store_first(dst + x, tv_narrow_u16(v[0], v[1]),
                       n - x < TV_BYTES ? (size_t)(n - x) : TV_BYTES);
    }
}

/* The tile with radii that the compiler may know. */
TAMIS_INLINE void tile(const tamis_tile *t, const struct gaussian_coef *c, void *scratch, int rx,
                       int ry, const struct gaussian_sharpen *sharpen)
{
    int n = t->w * t->step, count = n + 2 * rx * t->step;
    int16_t *in = scratch, *sums = in + n + 2 * TV_BYTES;
    row_end end = {sharpen, in};
    for (int y = 0; y < t->h; y++) {
        uint8_t *dst = (uint8_t *)t->dst[0] + y * t->dst_stride[0];
        columns((const uint8_t *const *)t->src[0] + y, &c->y, ry, -(ptrdiff_t)rx * t->step, count,
                sums);
        if (sharpen)
            widen(t->src[0][y], n, in);
        if (t->step == 1)
            row_gray(sums, &c->x, rx, n, end, dst);
        else
            row_color(sums, &c->x, rx, t->step, n, end, dst);
    }
}

#endif

void TAMIS_FN(tamis_priv_gaussian_u8)(const tamis_tile *t, const void *coef, void *scratch)
{
    const struct gaussian_coef *c = coef;
    int rx = c->x.radius, ry = c->y.radius;
    if (c->sharpen)
        tile(t, c, scratch, rx, ry, c->sharpen);
    else if (rx == 1 && ry == 1)
        tile(t, c, scratch, 1, 1, NULL);
    else if (rx == 2 && ry == 2)
        tile(t, c, scratch, 2, 2, NULL);
    else
        tile(t, c, scratch, rx, ry, NULL);
}
