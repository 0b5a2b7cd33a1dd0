/* SPDX-License-Identifier: Apache-2.0 */
/* interp=linear with AVX-512, in squares of 4x4 pixels. What such a square samples lies mostly
 * within 8x8 pixels of the source, at any angle: these are loaded line by line and serve as the
 * table from which permutations pick all neighbors of all sixteen pixels, where loading them pixel
 * by pixel takes 2 loads and 2 stores for each. */
#include "warp_linear.h"

#if defined(TAMIS_AVX512)

enum { SIDE = 4, TABLE = 8, TABLE_BYTES = TABLE * 32 };

/* Pixels of the source to the right of a table's first that are read with it: its lines have 8
 * pixels of one channel, or 32 bytes. */
#define REACH(step) ((step) == 1 ? TABLE : (32 + (step)-1) / (step))

/* ---- positions, row by row of the square */

struct positions {
    tv_s64 upper[2], lower[2]; /* across and down, of the upper and the lower two rows */
    tv_f64 column;             /* perspective: of each pixel of two rows */
};

/* What the squares of a band start from. */
struct band {
    struct positions first;  /* affine */
    int64_t low[2], high[2]; /* affine: of the first square's positions */
    tv_f64 row[2][3];        /* perspective: of both halves, the parts that the row decides */
    double across[3];        /* perspective: what a column adds */
};

struct square {
    tv_s32 x, y;    /* the sample to the left and above, counted from some number on */
    tv_u32 fx, fy;  /* fractions, 2^-32 */
    int32_t ox, oy; /* the least x and y, counted likewise */
    int32_t x0, y0; /* and as they are */
};

TAMIS_INLINE tv_s32 whole(tv_s64 upper, tv_s64 lower)
{
    const __m512i odd =
        _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return (tv_s32)_mm512_permutex2var_epi32((__m512i)upper, odd, (__m512i)lower);
}

TAMIS_INLINE tv_u32 fraction(tv_s64 upper, tv_s64 lower)
{
    const __m512i even =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    return (tv_u32)_mm512_permutex2var_epi32((__m512i)upper, even, (__m512i)lower);
}

TAMIS_INLINE void start_affine(const struct warp_job *k, int64_t bias, struct band *out)
{
    const double *m = k->c->m;
    const int64_t sx = k->c->step_x, sy = k->c->step_y;
    const tv_s64 up = {0, 0, 0, 0, 1, 1, 1, 1}, low = up + 2, ramp = {0, 1, 2, 3, 0, 1, 2, 3};
    int32_t x = k->t->x + k->i, first = x / WARP_BLOCK * WARP_BLOCK, y = k->t->y + k->j;
    /* The rows of one axis, then those of the other. */
    tv_f64 a = {m[0], m[0], m[0], m[0], m[3], m[3], m[3], m[3]};
    tv_f64 b = {m[1], m[1], m[1], m[1], m[4], m[4], m[4], m[4]};
    tv_f64 c = {m[2], m[2], m[2], m[2], m[5], m[5], m[5], m[5]};
    tv_f64 rows = (tv_f64){0, 1, 2, 3, 0, 1, 2, 3} + y;
    tv_s64 p = warp_fixed_vector(a * first + (b * rows + c)) + bias;
    p += (tv_s64){sx, sx, sx, sx, sy, sy, sy, sy} * (x - first);
    __m512i v = (__m512i)p;
    out->first.upper[0] = (tv_s64)_mm512_permutexvar_epi64((__m512i)up, v) + ramp * sx;
    out->first.lower[0] = (tv_s64)_mm512_permutexvar_epi64((__m512i)low, v) + ramp * sx;
    out->first.upper[1] = (tv_s64)_mm512_permutexvar_epi64((__m512i)(up + 4), v) + ramp * sy;
    out->first.lower[1] = (tv_s64)_mm512_permutexvar_epi64((__m512i)(low + 4), v) + ramp * sy;
    for (int axis = 0; axis < 2; axis++) {
        int64_t steps = (SIDE - 1) * (axis ? sy : sx);
        __m256i four = _mm512_extracti64x4_epi64(v, 0);
        if (axis)
            four = _mm512_extracti64x4_epi64(v, 1);
        __m256i least = _mm256_min_epi64(four, _mm256_permute4x64_epi64(four, 0x4e));
        __m256i most = _mm256_max_epi64(four, _mm256_permute4x64_epi64(four, 0x4e));
        least = _mm256_min_epi64(least, _mm256_permute4x64_epi64(least, 0xb1));
        most = _mm256_max_epi64(most, _mm256_permute4x64_epi64(most, 0xb1));
        out->low[axis] = _mm256_extract_epi64(least, 0) + (steps < 0 ? steps : 0);
        out->high[axis] = _mm256_extract_epi64(most, 0) + (steps > 0 ? steps : 0);
    }
}

TAMIS_INLINE void start_perspective(const struct warp_job *k, struct band *out)
{
    const double *m = k->c->m;
    for (int part = 0; part < 3; part++)
        for (int half = 0; half < 2; half++) {
            int32_t y = k->t->y + k->j + 2 * half;
            double a = m[3 * part + 1] * y + m[3 * part + 2];
            double b = m[3 * part + 1] * (y + 1) + m[3 * part + 2];
            out->row[half][part] = (tv_f64){a, a, a, a, b, b, b, b};
        }
}

TAMIS_INLINE void perspective(const struct warp_job *k, const struct band *b, tv_f64 column,
                              int64_t bias, int tame, struct positions *out)
{
    const double *m = k->c->m;
    const tv_f64 none = {0};
    for (int half = 0; half < 2; half++) {
        const tv_f64 *row = b->row[half];
        tv_f64 q = 1 / ((none + m[6]) * column + row[2]);
        tv_s64 *to = half ? out->lower : out->upper;
        for (int axis = 0; axis < 2; axis++) {
            tv_f64 v = ((none + m[3 * axis]) * column + row[axis]) * q;
            to[axis] = tame ? warp_near_vector(v, bias) : warp_fixed_vector(v) + bias;
        }
    }
}

TAMIS_INLINE tv_s64 mapped_rows(const float *a, const float *b, int64_t bias)
{
    __m256 v = _mm256_set_m128(_mm_loadu_ps(b), _mm_loadu_ps(a));
    return warp_fixed_vector((tv_f64)_mm512_cvtps_pd(v)) + bias;
}

TAMIS_INLINE void mapped(const struct warp_job *k, int i, int64_t bias, struct positions *out)
{
    for (int axis = 0; axis < 2; axis++) {
        const float *rows[SIDE];
        for (int r = 0; r < SIDE; r++)
            rows[r] = (const float *)k->t->guide[axis][k->j + r] + k->i + i;
        out->upper[axis] = mapped_rows(rows[0], rows[1], bias);
        out->lower[axis] = mapped_rows(rows[2], rows[3], bias);
    }
}

/* The least x and the least y. */
TAMIS_INLINE void find_corner(struct square *s)
{
    __m512i x = (__m512i)s->x, y = (__m512i)s->y;
    __m256i x8 = _mm256_min_epi32(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64(x, 1));
    __m256i y8 = _mm256_min_epi32(_mm512_castsi512_si256(y), _mm512_extracti64x4_epi64(y, 1));
    __m128i x4 = _mm_min_epi32(_mm256_castsi256_si128(x8), _mm256_extracti128_si256(x8, 1));
    __m128i y4 = _mm_min_epi32(_mm256_castsi256_si128(y8), _mm256_extracti128_si256(y8, 1));
    __m128i both = _mm_min_epi32(_mm_unpacklo_epi32(x4, y4), _mm_unpackhi_epi32(x4, y4));
    both = _mm_min_epi32(both, _mm_unpackhi_epi64(both, both));
    s->ox = s->x0 = _mm_extract_epi32(both, 0);
    s->oy = s->y0 = _mm_extract_epi32(both, 1);
}

/* Where it is known which pixel's are the least; but for rounding, which fits_table() sees. */
TAMIS_INLINE void find_near_corner(const struct warp_job *k, struct square *s)
{
    const __m512i at_x = _mm512_set1_epi32(k->corner[0]), at_y = _mm512_set1_epi32(k->corner[1]);
    __m512i x = _mm512_permutexvar_epi32(at_x, (__m512i)s->x);
    __m512i y = _mm512_permutexvar_epi32(at_y, (__m512i)s->y);
    s->x -= (tv_s32)x;
    s->y -= (tv_s32)y;
    s->ox = s->oy = 0;
    s->x0 = _mm_cvtsi128_si32(_mm512_castsi512_si128(x)) - WARP_NEAR_WHOLE;
    s->y0 = _mm_cvtsi128_si32(_mm512_castsi512_si128(y)) - WARP_NEAR_WHOLE;
}

/* Whether all neighbors are in the table that begins at the corner. */
TAMIS_INLINE int fits_table(const struct square *s)
{
    const __m512i most = _mm512_set1_epi32(TABLE - 2);
    __mmask16 far = _mm512_cmpgt_epu32_mask((__m512i)(s->x - s->ox), most) |
                    _mm512_cmpgt_epu32_mask((__m512i)(s->y - s->oy), most);
    return far == 0;
}

/* Of the square at column i of the band; p are its positions where the map is affine. */
TAMIS_INLINE void set_square(const struct warp_job *k, const struct band *b, int i, int64_t bias,
                             warp_kind kind, int tame, struct positions *p, struct square *out)
{
    if (kind == WARP_PERSPECTIVE)
        perspective(k, b, p->column, bias, tame, p);
    else if (kind == WARP_MAP)
        mapped(k, i, bias, p);
    out->x = whole(p->upper[0], p->lower[0]);
    out->y = whole(p->upper[1], p->lower[1]);
    out->fx = fraction(p->upper[0], p->lower[0]);
    out->fy = fraction(p->upper[1], p->lower[1]);
    if (tame) {
        find_near_corner(k, out);
        return;
    }
    if (kind != WARP_AFFINE) {
        find_corner(out);
        return;
    }
    out->ox = out->x0 = (int32_t)((b->low[0] + i * k->c->step_x) >> 32);
    out->oy = out->y0 = (int32_t)((b->low[1] + i * k->c->step_y) >> 32);
}

/* Copies what the table reads to `table`, as the border continues the source. */
TAMIS_INLINE void make_table(const struct warp_job *k, int32_t x0, int32_t y0, tamis_type type,
                             int step, char table[TABLE_BYTES])
{
    size_t pixel = (size_t)step * warp_size(type), pitch = step == 1 ? TABLE * pixel : 32;
    char outside[16];
    int64_t columns[TABLE];
    warp_fill_samples(k, type, (size_t)step, outside);
    for (int c = 0; c < TABLE; c++)
        columns[c] = warp_index(k->c->border, (int64_t)x0 + c, k->w);
    for (int r = 0; r < TABLE; r++) {
        int64_t row = warp_index(k->c->border, (int64_t)y0 + r, k->h);
        const char *from = k->data + (row < 0 ? 0 : row) * k->stride;
        for (int c = 0; c < TABLE; c++) {
            int none = row < 0 || columns[c] < 0;
            memcpy(table + (size_t)r * pitch + (size_t)c * pixel,
                   none ? outside : from + columns[c] * (ptrdiff_t)pixel, pixel);
        }
    }
}

/* ---- tables of each type: lines at p, stride bytes apart */

TAMIS_INLINE __m512i lines_of_8(const char *p, ptrdiff_t stride)
{
    __m128i pair[4];
    for (int i = 0; i < 4; i++, p += 2 * stride) {
        __m128i even = _mm_loadl_epi64((const __m128i *)(const void *)p);
        pair[i] = (__m128i)_mm_loadh_pd((__m128d)even, (const double *)(const void *)(p + stride));
    }
    __m256i upper = _mm256_set_m128i(pair[1], pair[0]), lower = _mm256_set_m128i(pair[3], pair[2]);
    return _mm512_inserti64x4(_mm512_castsi256_si512(upper), lower, 1);
}

TAMIS_INLINE __m512i lines_of_16(const char *p, ptrdiff_t stride)
{
    __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(const void *)p));
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)(p + stride)), 1);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)(p + 2 * stride)), 2);
    return _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)(p + 3 * stride)),
                              3);
}

TAMIS_INLINE __m512i lines_of_32(const char *p, ptrdiff_t stride)
{
    __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)p);
    __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(p + stride));
    return _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
}

/* Where in the table the sample to the left and above is, lines being so many units apart. */
TAMIS_INLINE tv_s32 places(const struct square *s, int units, int line)
{
    return s->y * line + s->x * units - (s->oy * line + s->ox * units);
}

/* The low byte of each lane in all its bytes. */
TAMIS_INLINE __m512i low_bytes(tv_s32 v)
{
    const __m128i order = _mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
    return _mm512_shuffle_epi8((__m512i)v, _mm512_broadcast_i32x4(order));
}

TAMIS_INLINE void put_bytes(char *out, ptrdiff_t pitch, tv_s32 v)
{
    __m128i rows = _mm512_cvtepi32_epi8((__m512i)v);
    _mm_storeu_si32(out, rows);
    _mm_storeu_si32(out + pitch, _mm_srli_epi64(rows, 32));
    rows = _mm_unpackhi_epi64(rows, rows);
    _mm_storeu_si32(out + 2 * pitch, rows);
    _mm_storeu_si32(out + 3 * pitch, _mm_srli_epi64(rows, 32));
}

/* The first n bytes, a multiple of 4 from 8 on, of each 128 bits. */
TAMIS_INLINE void put_rows(char *out, ptrdiff_t pitch, __m512i v, int n)
{
    __m128i rows[SIDE] = {_mm512_castsi512_si128(v), _mm512_extracti32x4_epi32(v, 1),
                          _mm512_extracti32x4_epi32(v, 2), _mm512_extracti32x4_epi32(v, 3)};
    for (int r = 0; r < SIDE; r++, out += pitch) {
        if (n == 16) {
            _mm_storeu_si128((__m128i *)(void *)out, rows[r]);
            continue;
        }
        _mm_storel_epi64((__m128i *)(void *)out, rows[r]);
        if (n == 12)
            _mm_storeu_si32(out + 8, _mm_unpackhi_epi64(rows[r], rows[r]));
    }
}

TAMIS_INLINE void square_u8_1(const struct square *s, const char *p, ptrdiff_t stride, char *out,
                              ptrdiff_t pitch)
{
    __m512i at = _mm512_add_epi8(low_bytes(places(s, 1, 8)), _mm512_set1_epi32(0x09080100));
    tv_u32 four = (tv_u32)_mm512_permutexvar_epi8(at, lines_of_8(p, stride));
    put_bytes(out, pitch, warp_blend_bytes(four, warp_weights_u8(s->fx), warp_weights_u8(s->fy)));
}

/* Each channel's neighbors by a permutation of their own. */
TAMIS_INLINE void square_u8_packed(const struct square *s, const char *p, ptrdiff_t stride,
                                   char *out, ptrdiff_t pitch, int step)
{
    __m512i a = lines_of_32(p, stride), b = lines_of_32(p + 2 * stride, stride);
    __m512i c = lines_of_32(p + 4 * stride, stride), d = lines_of_32(p + 6 * stride, stride);
    const int32_t right = step << 8, below = 32 << 16,
                  both = (int32_t)((32u + (uint32_t)step) << 24);
    __m512i at =
        _mm512_add_epi8(low_bytes(places(s, step, 32)), _mm512_set1_epi32(right | below | both));
    __mmask64 lower = _mm512_movepi8_mask(at);
    tv_s16 wx = warp_weights_u8(s->fx), wy = warp_weights_u8(s->fy);
    tv_s32 packed = {0};
    for (int i = 0; i < step; i++) {
        __m512i four = _mm512_permutex2var_epi8(a, at, b);
        four = _mm512_mask_mov_epi8(four, lower, _mm512_permutex2var_epi8(c, at, d));
        packed |= warp_blend_bytes((tv_u32)four, wx, wy) << 8 * i;
        at = _mm512_add_epi8(at, _mm512_set1_epi8(1));
    }
    const __m128i two = _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m128i three = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    __m512i v = (__m512i)packed;
    if (step < 4)
        v = _mm512_shuffle_epi8(v, _mm512_broadcast_i32x4(step == 2 ? two : three));
    put_rows(out, pitch, v, SIDE * step);
}

TAMIS_INLINE void square_16(const struct square *s, const char *p, ptrdiff_t stride, char *out,
                            ptrdiff_t pitch, tamis_type type)
{
    __m512i upper = lines_of_16(p, stride), lower = lines_of_16(p + 4 * stride, stride);
    tv_s32 at = places(s, 1, 8);
    at |= at << 16;
    at += 1 << 16;
    tv_f32 fx = warp_fractions(s->fx), fy = warp_fractions(s->fy), a, b, c, d;
    warp_split_16((tv_u32)_mm512_permutex2var_epi16(upper, (__m512i)at, lower), type, &a, &b);
    at += (8 << 16) + 8;
    warp_split_16((tv_u32)_mm512_permutex2var_epi16(upper, (__m512i)at, lower), type, &c, &d);
    tv_f32 v = warp_between(warp_between(a, b, fx, 0), warp_between(c, d, fx, 0), fy, 0);
    __m256i rows = _mm512_cvtepi32_epi16((__m512i)tv_round_f32(v));
    __m128i first = _mm256_castsi256_si128(rows), last = _mm256_extracti128_si256(rows, 1);
    _mm_storel_epi64((__m128i *)(void *)out, first);
    _mm_storel_epi64((__m128i *)(void *)(out + pitch), _mm_unpackhi_epi64(first, first));
    _mm_storel_epi64((__m128i *)(void *)(out + 2 * pitch), last);
    _mm_storel_epi64((__m128i *)(void *)(out + 3 * pitch), _mm_unpackhi_epi64(last, last));
}

TAMIS_INLINE void square_f32(const struct square *s, const char *p, ptrdiff_t stride, char *out,
                             ptrdiff_t pitch)
{
    __m512 t[4];
    for (int i = 0; i < 4; i++)
        t[i] = (__m512)lines_of_32(p + 2 * i * stride, stride);
    tv_s32 at = places(s, 1, 8);
    __m512i here = (__m512i)at, right = (__m512i)(at + 1);
    __m512i below = (__m512i)(at + 8), both = (__m512i)(at + 9);
    __mmask16 low = _mm512_test_epi32_mask(here, _mm512_set1_epi32(32));
    __mmask16 low_below = _mm512_test_epi32_mask(below, _mm512_set1_epi32(32));
#define PICK(at, low)                                                                              \
    ((tv_f32)_mm512_mask_mov_ps(_mm512_permutex2var_ps(t[0], at, t[1]), low,                       \
                                _mm512_permutex2var_ps(t[2], at, t[3])))
    tv_f32 fx = warp_fractions(s->fx), fy = warp_fractions(s->fy);
    tv_f32 above = warp_between(PICK(here, low), PICK(right, low), fx, 1);
    tv_f32 under = warp_between(PICK(below, low_below), PICK(both, low_below), fx, 1);
#undef PICK
    tv_f32 v = warp_between(above, under, fy, 1);
    put_rows(out, pitch, (__m512i)v, 16);
}

TAMIS_INLINE void sample_square(const struct square *s, const char *p, ptrdiff_t stride, char *out,
                                ptrdiff_t pitch, tamis_type type, int step)
{
    if (type == TAMIS_F32)
        square_f32(s, p, stride, out, pitch);
    else if (type != TAMIS_U8)
        square_16(s, p, stride, out, pitch, type);
    else if (step == 1)
        square_u8_1(s, p, stride, out, pitch);
    else
        square_u8_packed(s, p, stride, out, pitch, step);
}

/* ---- bands of squares */

/* A square whose pixels are far from each other in the source. */
static void sample_apart(const struct warp_job *k, const struct warp_way *way,
                         const struct square *s, char *out)
{
    struct warp_block *b = k->b;
    tv_store_s32(b->x, s->x + (s->x0 - s->ox));
    tv_store_s32(b->y, s->y + (s->y0 - s->oy));
    tv_store_u32(b->fx, s->fx);
    tv_store_u32(b->fy, s->fy);
    TAMIS_FN(tamis_priv_warp_scattered)(k, way, SIDE * SIDE);
    for (int r = 0; r < SIDE; r++)
        memcpy(out + r * k->t->dst_stride[0], b->out + (size_t)r * SIDE * way->pixel,
               SIDE * way->pixel);
}

TAMIS_INLINE int is_outside(const struct warp_job *k, int32_t x0, int32_t y0)
{
    return k->c->border == TAMIS_BORDER_CONSTANT &&
           (x0 >= k->w || (int64_t)x0 + TABLE <= 0 || y0 >= k->h || (int64_t)y0 + TABLE <= 0);
}

/* A square whose table is not wholly inside the source. */
TAMIS_INLINE void sample_edge(const struct warp_job *k, const struct warp_way *way,
                              const struct square *s, char *out, tamis_type type, int step)
{
    ptrdiff_t pitch = k->t->dst_stride[0];
    if (!fits_table(s)) {
        sample_apart(k, way, s, out);
    } else if (is_outside(k, s->x0, s->y0)) {
        for (int r = 0; r < SIDE; r++)
            warp_fill_samples(k, type, (size_t)(SIDE * step), out + r * pitch);
    } else {
        char table[TABLE_BYTES];
        ptrdiff_t line = step == 1 ? TABLE * (ptrdiff_t)warp_size(type) : 32;
        make_table(k, s->x0, s->y0, type, step, table);
        sample_square(s, table, line, out, pitch, type, step);
    }
}

/* Samples squares from column i on up to one that is not inside the source, which is left in
 * *apart; says where. Nothing is called, so that what it needs stays in registers. */
TAMIS_INLINE int inner_squares(const struct warp_job *k, const struct band *b, int i, char *out,
                               tamis_type type, int step, warp_kind kind, int tame,
                               struct square *apart)
{
    const int64_t bias = (int64_t)1 << (type == TAMIS_U8 ? 31 - 14 : 31 - 24);
    const ptrdiff_t pixel = step * (ptrdiff_t)warp_size(type), pitch = k->t->dst_stride[0];
    const ptrdiff_t stride = k->stride;
    const char *const data = k->data;
    const int32_t room_x = k->w - REACH(step), room_y = k->h - TABLE, n = k->n;
    const tv_s64 next_x = (tv_s64){0} + SIDE * k->c->step_x;
    const tv_s64 next_y = (tv_s64){0} + SIDE * k->c->step_y;
    struct positions p = b->first;
    p.column = (tv_f64){0, 1, 2, 3, 0, 1, 2, 3} + (k->t->x + k->i + i);
    if (kind == WARP_AFFINE) {
        p.upper[0] += i * k->c->step_x;
        p.lower[0] += i * k->c->step_x;
        p.upper[1] += i * k->c->step_y;
        p.lower[1] += i * k->c->step_y;
    }
    struct square s, next;
    set_square(k, b, i, bias, kind, tame, &p, &s);
    for (; i < n; i += SIDE, s = next) {
        /* The next square's place meanwhile: one depends on a long chain of operations. */
        p.column += (double)SIDE;
        p.upper[0] += next_x;
        p.lower[0] += next_x;
        p.upper[1] += next_y;
        p.lower[1] += next_y;
        set_square(k, b, i + SIDE < n ? i + SIDE : i, bias, kind, tame, &p, &next);
        if (s.x0 < 0 || s.x0 > room_x || s.y0 < 0 || s.y0 > room_y ||
            (kind != WARP_AFFINE && !fits_table(&s)))
            break;
        sample_square(&s, data + s.y0 * stride + s.x0 * pixel, stride, out + i * pixel, pitch, type,
                      step);
    }
    *apart = s;
    return i;
}

/* Whether the squares of an affine map fit their tables, with some room for rounding. */
TAMIS_INLINE int all_fit(const struct warp_coef *c)
{
    const double *m = c->m, most = TABLE - 2 - 0.01;
    return (SIDE - 1) * (__builtin_fabs(m[0]) + __builtin_fabs(m[1])) < most &&
           (SIDE - 1) * (__builtin_fabs(m[3]) + __builtin_fabs(m[4])) < most;
}

/* Whether no pixel of an affine band has a neighbor inside the source. */
TAMIS_INLINE int band_is_outside(const struct warp_job *k, const struct band *b)
{
    const int64_t steps[2] = {k->c->step_x, k->c->step_y}, size[2] = {k->w, k->h};
    int outside = 0;
    for (int axis = 0; axis < 2; axis++) {
        int64_t way = (k->n - SIDE) * steps[axis];
        int64_t low = (b->low[axis] + (way < 0 ? way : 0)) >> 32;
        int64_t high = (b->high[axis] + (way > 0 ? way : 0)) >> 32;
        outside |= high + 1 < 0 || low >= size[axis];
    }
    return outside && k->c->border == TAMIS_BORDER_CONSTANT;
}

TAMIS_INLINE void squares(const struct warp_job *k, const struct warp_way *way, tamis_type type,
                          int step, warp_kind kind, int tame)
{
    const ptrdiff_t pitch = k->t->dst_stride[0];
    char *out = (char *)k->t->dst[0] + k->j * pitch + (size_t)k->i * way->pixel;
    struct band band = {.low = {0, 0}};
    struct square apart = {.x0 = 0};
    if (kind == WARP_AFFINE)
        start_affine(k, (int64_t)1 << (31 - way->bits), &band);
    else if (kind == WARP_PERSPECTIVE)
        start_perspective(k, &band);
    if (kind == WARP_AFFINE && band_is_outside(k, &band)) {
        for (int r = 0; r < SIDE; r++)
            warp_fill(k, type, (size_t)k->n, out + r * pitch);
        return;
    }
    for (int i = 0; i < k->n; i += SIDE) {
        i = inner_squares(k, &band, i, out, type, step, kind, tame, &apart);
        if (i < k->n)
            sample_edge(k, way, &apart, out + (size_t)i * way->pixel, type, step);
    }
}

TAMIS_INLINE int any_squares(const struct warp_job *k, const struct warp_way *way, tamis_type type,
                             int step)
{
    if (k->c->kind == WARP_MAP)
        squares(k, way, type, step, WARP_MAP, 0);
    else if (k->c->kind == WARP_PERSPECTIVE && k->tame)
        squares(k, way, type, step, WARP_PERSPECTIVE, 1);
    else if (k->c->kind == WARP_PERSPECTIVE)
        squares(k, way, type, step, WARP_PERSPECTIVE, 0);
    else if (all_fit(k->c))
        squares(k, way, type, step, WARP_AFFINE, 0);
    else
        return 0;
    return 1;
}

#define SQUARES(T, TYPE, STEP)                                                                     \
    int TAMIS_FN(tamis_priv_warp_squares_##T##_##STEP)(const struct warp_job *k,                   \
                                                       const struct warp_way *way)                 \
    {                                                                                              \
        return any_squares(k, way, TYPE, STEP);                                                    \
    }
SQUARES(u8, TAMIS_U8, 1)
SQUARES(u8, TAMIS_U8, 2)
SQUARES(u8, TAMIS_U8, 3)
SQUARES(u8, TAMIS_U8, 4)
SQUARES(u16, TAMIS_U16, 1)
SQUARES(s16, TAMIS_S16, 1)
SQUARES(f32, TAMIS_F32, 1)
#undef SQUARES

#endif
