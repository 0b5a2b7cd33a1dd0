/* SPDX-License-Identifier: Apache-2.0 */
/* Fast rows of resize in binary32, and copies. */
#include "cpu/simd.h"
#include "resize_turn.h"

/* The eight partial sums of a row, and four channels of a pixel. */
typedef float r_sums __attribute__((vector_size(32)));
typedef int32_t r_masks __attribute__((vector_size(32)));
typedef float r_four __attribute__((vector_size(16)));

/* ---- columns */

TAMIS_INLINE tv_f32 load_samples(const void *row, ptrdiff_t i, tamis_type type)
{
    switch (type) {
    case TAMIS_U8:
        return __builtin_convertvector(tv_load_widen_u8_s32((const uint8_t *)row + i), tv_f32);
    case TAMIS_U16:
        return __builtin_convertvector(tv_load_widen_u16((const uint16_t *)row + i), tv_f32);
    case TAMIS_S16:
        return __builtin_convertvector(tv_load_widen_s16((const int16_t *)row + i), tv_f32);
    default:
        return tv_load_f32((const float *)row + i);
    }
}

/* Whether rows y and y + 1 of the result come from the same rows of the source. */
TAMIS_INLINE int share_rows(const struct resize_axis *a, int32_t y)
{
    return a->start[y] == a->start[y + 1] && resize_count(a, y) == resize_count(a, y + 1);
}

/* Column sums of n samples for row y of the result, or for it and the next, which share their rows
 * of the source. The reference adds to 0, which makes +0 of a -0: here that is left to the sums
 * across. */
TAMIS_INLINE void columns(const tamis_tile *t, const struct resize_axis *a, int32_t y, int rows,
                          ptrdiff_t n, float *out, ptrdiff_t pitch, tamis_type type)
{
    enum { AT_ONCE = 4 };
    const float *w[2] = {resize_weights(a, y), resize_weights(a, y + rows - 1)};
    const void *const *src = t->src[0] + (a->start[y] - t->from.y);
    int count = resize_count(a, y);
    for (ptrdiff_t i = 0; i < n; i += AT_ONCE * LANES) {
        tv_f32 s[2][AT_ONCE];
        for (int v = 0; v < AT_ONCE; v++) {
            tv_f32 x = load_samples(src[0], i + v * LANES, type);
            for (int r = 0; r < rows; r++)
                s[r][v] = w[r][0] * x;
        }
        for (int m = 1; m < count; m++)
            for (int v = 0; v < AT_ONCE; v++) {
                tv_f32 x = load_samples(src[m], i + v * LANES, type);
                for (int r = 0; r < rows; r++)
                    s[r][v] += w[r][m] * x;
            }
        for (int r = 0; r < rows; r++)
            for (int v = 0; v < AT_ONCE; v++)
                tv_store_f32(out + r * pitch + i + v * LANES, s[r][v]);
    }
}

/* ---- rows, a band at a time */

static __attribute__((noinline)) void turn_floats(struct band *b, int32_t first)
{
    b->first = first;
    b->end = first + RESIZE_CHUNK < b->limit ? first + RESIZE_CHUNK : b->limit;
    for (ptrdiff_t i = first; i < b->end; i += LANES) {
        tv_u32 v[LANES];
        for (int y = 0; y < LANES; y++)
            v[y] = tv_load_u32(b->rows[y] + i * (ptrdiff_t)sizeof(float));
        turn(v);
        for (int l = 0; l < LANES; l++)
            b->columns[i - first + l] = v[l];
    }
}

/* The first n of the eight partial sums; the others are 0. */
TAMIS_INLINE tv_f32 add_partial(const tv_f32 *s, int n)
{
    tv_f32 a = s[0] + 0.0f, b, c, d;
    if (n > 4)
        a += s[4];
    if (n > 2) {
        b = n > 6 ? s[2] + s[6] : s[2];
        a += b;
    }
    if (n > 1) {
        c = n > 5 ? s[1] + s[5] : s[1];
        if (n > 3) {
            d = n > 7 ? s[3] + s[7] : s[3];
            c += d;
        }
        a += c;
    }
    return a;
}

/* Up to eight samples, each in a partial sum of its own. */
TAMIS_INLINE tv_f32 sum_few(const tv_u32 *p, ptrdiff_t next, const float *w, int n)
{
    tv_f32 s[8];
    for (int k = 0; k < n; k++)
        s[k] = w[k] * (tv_f32)p[k * next];
    return add_partial(s, n);
}

TAMIS_INLINE tv_f32 sum_many(const tv_u32 *p, ptrdiff_t next, const float *w, int count)
{
    tv_f32 s[8];
    int k = 8;
    for (int l = 0; l < 8; l++)
        s[l] = w[l] * (tv_f32)p[l * next];
    for (; k + 8 <= count; k += 8)
        for (int l = 0; l < 8; l++)
            s[l] += w[k + l] * (tv_f32)p[(k + l) * next];
    for (int l = 0; l < 7; l++)
        if (k + l < count)
            s[l] += w[k + l] * (tv_f32)p[(k + l) * next];
    return add_partial(s, 8);
}

TAMIS_INLINE void sum_pixel(const tv_u32 *p, ptrdiff_t step, const float *w, int count, tv_u32 *out)
{
    for (ptrdiff_t c = 0; c < step; c++)
        out[c] = (tv_u32)sum_few(p + c, step, w, count);
}

/* All channels of a pixel, whatever its window. */
static __attribute__((noinline)) void sum_any(const tv_u32 *p, ptrdiff_t step, const float *w,
                                              int count, tv_u32 *out)
{
    switch (count) {
    case 1:
        sum_pixel(p, step, w, 1, out);
        break;
    case 2:
        sum_pixel(p, step, w, 2, out);
        break;
    case 3:
        sum_pixel(p, step, w, 3, out);
        break;
    case 4:
        sum_pixel(p, step, w, 4, out);
        break;
    case 5:
        sum_pixel(p, step, w, 5, out);
        break;
    case 6:
        sum_pixel(p, step, w, 6, out);
        break;
    case 7:
        sum_pixel(p, step, w, 7, out);
        break;
    case 8:
        sum_pixel(p, step, w, 8, out);
        break;
    default:
        for (ptrdiff_t c = 0; c < step; c++)
            out[c] = (tv_u32)sum_many(p + c, step, w, count);
    }
}

/* Results of n pixels from pixel i of the tile on. Most windows have as many samples as taps says;
 * 0 where that is not so. */
TAMIS_INLINE void sum_windows(struct band *b, const struct resize_axis *a, int i, int n, int taps,
                              ptrdiff_t step)
{
    const int32_t *start = a->start + b->t->x + i, *phase = a->phase + b->t->x + i;
    const int32_t *counts = a->count;
    const float *weights = a->f;
    const ptrdiff_t pitch = taps > 0 ? taps : a->pitch, reach = a->taps * step;
    const ptrdiff_t from = b->t->from.x * step;
    ptrdiff_t origin = from + b->first, last = b->end - b->first - reach;
    const tv_u32 *columns = b->columns;
    tv_u32 *out = b->results;
    for (int k = 0; k < n; k++, out += step) {
        ptrdiff_t at = start[k] * step - origin;
        int count = counts[phase[k]];
        const float *w = weights + phase[k] * pitch;
        if (at > last) {
            origin += at;
            turn_floats(b, (int32_t)(origin - from));
            last = b->end - b->first - reach;
            at = 0;
        }
        if (taps > 0 && count == taps)
            sum_pixel(columns + at, step, w, taps, out);
        else
            sum_any(columns + at, step, w, count, out);
    }
}

/* The windows of upscaling, and of halving by cubic or less, are worth code of their own. */
TAMIS_INLINE void sum_by_taps(struct band *b, const struct resize_axis *a, int i, int n,
                              ptrdiff_t step)
{
    switch (a->taps) {
    case 2:
        sum_windows(b, a, i, n, 2, step);
        break;
    case 4:
        sum_windows(b, a, i, n, 4, step);
        break;
    case 6:
        sum_windows(b, a, i, n, 6, step);
        break;
    case 8:
        sum_windows(b, a, i, n, 8, step);
        break;
    default:
        sum_windows(b, a, i, n, 0, step);
    }
}

static void sum_group(struct band *b, const struct resize_axis *a, int i, int n)
{
    if (b->t->step == 1)
        sum_by_taps(b, a, i, n, 1);
    else
        sum_by_taps(b, a, i, n, b->t->step);
}

TAMIS_INLINE void band_across(struct band *b, const struct resize_axis *a, tamis_type type)
{
    for (int i = 0; i < b->t->w; i += GROUP) {
        int n = b->t->w - i < GROUP ? b->t->w - i : GROUP;
        sum_group(b, a, i, n);
        band_store(b, (ptrdiff_t)i * b->t->step, n * b->t->step, type, 1);
    }
}

/* n is how many samples of each row are needed. */
TAMIS_INLINE void tile_bands(const tamis_tile *t, const struct resize_coef *c, ptrdiff_t n,
                             void *scratch, tamis_type type)
{
    struct band b = {.t = t, .columns = scratch};
    b.limit = (int32_t)n + c->x.taps * t->step; /* not used: windows at the edge have less */
    b.results = b.columns + RESIZE_CHUNK;
    float *sums = (float *)(void *)(b.results + GROUP * t->step);
    ptrdiff_t pitch = resize_pitch(n);
    for (int j = 0; j < t->h; j += LANES) {
        band_begin(&b, j, (const char *)sums, pitch * (ptrdiff_t)sizeof *sums);
        for (int y = 0, rows; y < b.count; y += rows) {
            rows = y + 1 < b.count && share_rows(&c->y, t->y + j + y) ? 2 : 1;
            if (rows == 2)
                columns(t, &c->y, t->y + j + y, 2, n, sums + y * pitch, pitch, type);
            else
                columns(t, &c->y, t->y + j + y, 1, n, sums + y * pitch, pitch, type);
        }
        band_across(&b, &c->x, type);
    }
}

/* ---- rows, one by one, where windows are long */

TAMIS_INLINE float add_up(const float *s)
{
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

TAMIS_INLINE void store_one(void *row, int i, float v, tamis_type type)
{
    float r = type == TAMIS_F32 ? v : __builtin_nearbyintf(v);
    if (type == TAMIS_U8)
        ((uint8_t *)row)[i] = (uint8_t)(r < 0 ? 0 : r < 255 ? r : 255);
    else if (type == TAMIS_U16)
        ((uint16_t *)row)[i] = (uint16_t)(r < 0 ? 0 : r < 65535 ? r : 65535);
    else if (type == TAMIS_S16)
        ((int16_t *)row)[i] = (int16_t)(r < -32768 ? -32768 : r < 32767 ? r : 32767);
    else
        ((float *)row)[i] = v;
}

/* One pixel of one channel: a lane per partial sum. What lies behind the window is masked, it might
 * be NaN. */
TAMIS_INLINE float one_sum(const float *from, const float *w, int count)
{
    static const int32_t ones[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    r_sums sum = {0}, v, f;
    r_masks mask;
    float s[8];
    for (int k = 0; k < count; k += 8) {
        int left = count - k < 8 ? count - k : 8;
        memcpy(&v, from + k, sizeof v);
        memcpy(&f, w + k, sizeof f);
        memcpy(&mask, ones + 8 - left, sizeof mask);
        sum += f * (r_sums)((r_masks)v & mask);
    }
    memcpy(s, &sum, sizeof s);
    return add_up(s);
}

/* One pixel of several channels: a vector per partial sum. */
TAMIS_INLINE r_four four_sums(const float *from, const float *w, int count, int step)
{
    r_four s[8] = {{0}}, v;
    for (int k = 0; k < count; k += 8) {
        int left = count - k < 8 ? count - k : 8;
        for (int l = 0; l < left; l++) {
            memcpy(&v, from + (k + l) * step, sizeof v);
            s[l] += w[k + l] * v;
        }
    }
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

TAMIS_INLINE void row_across(const tamis_tile *t, const struct resize_axis *a, const float *sums,
                             void *row, tamis_type type)
{
    int step = t->step;
    for (int i = 0; i < t->w; i++) {
        int32_t x = t->x + i;
        const float *from = sums + (ptrdiff_t)(a->start[x] - t->from.x) * step;
        const float *w = resize_weights(a, x);
        int count = resize_count(a, x);
        if (step == 1) {
            store_one(row, i, one_sum(from, w, count), type);
            continue;
        }
        r_four v = four_sums(from, w, count, step);
        for (int c = 0; c < step; c++)
            store_one(row, i * step + c, v[c], type);
    }
}

TAMIS_INLINE void tile_rows(const tamis_tile *t, const struct resize_coef *c, ptrdiff_t n,
                            float *sums, tamis_type type)
{
    for (int j = 0; j < t->h; j++) {
        columns(t, &c->y, t->y + j, 1, n, sums, 0, type);
        row_across(t, &c->x, sums, (char *)t->dst[0] + j * t->dst_stride[0], type);
    }
}

/* ---- rows, one by one, twice as wide */

/* Lanes of a and b side by side, a first. */
TAMIS_INLINE void zip(tv_u32 a, tv_u32 b, tv_u32 v[2])
{
#if defined(TAMIS_AVX512)
    v[0] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    v[1] =
        __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
#elif defined(TAMIS_AVX2)
    __m256i low = (__m256i)low_32(a, b), high = (__m256i)high_32(a, b);
    v[0] = (tv_u32)_mm256_permute2x128_si256(low, high, 0x20);
    v[1] = (tv_u32)_mm256_permute2x128_si256(low, high, 0x31);
#else
    v[0] = low_32(a, b);
    v[1] = high_32(a, b);
#endif
}

/* Vectors a of even pixels and b of odd ones as n samples side by side. */
TAMIS_INLINE void store_doubled(void *out, tv_f32 a, tv_f32 b, ptrdiff_t n, tamis_type type)
{
    tv_u32 v[2];
    ptrdiff_t left = n * (type == TAMIS_F32 ? 4 : 2);
    if (type == TAMIS_F32)
        zip((tv_u32)a, (tv_u32)b, v);
    else
        v[0] = pack_words(tv_round_f32(a), tv_round_f32(b), type);
    for (int i = 0; i < (type == TAMIS_F32 ? 2 : 1); i++, left -= TV_BYTES) {
        if (left >= TV_BYTES)
            tv_store_u32((char *)out + i * TV_BYTES, v[i]);
        else if (left > 0)
            tv_store_first((char *)out + i * TV_BYTES, (tv_u8)v[i], (size_t)left);
    }
}

/* The sums for pixels two by two from the same weights. */
TAMIS_INLINE tv_f32 sum_every_other(const float *from, const float *w, int taps)
{
    tv_f32 s[8];
    for (int k = 0; k < taps; k++)
        s[k] = w[k] * tv_load_f32(from + k);
    return add_partial(s, taps);
}

TAMIS_INLINE void pixels_one_by_one(const tamis_tile *t, const struct resize_axis *a, int32_t x,
                                    int32_t end, const float *sums, void *out, tamis_type type)
{
    for (; x < end; x++)
        store_one(out, x - t->x,
                  one_sum(sums + a->start[x], resize_weights(a, x), resize_count(a, x)), type);
}

/* Pixels that an edge cuts go one by one. */
TAMIS_INLINE void row_doubled(const tamis_tile *t, const struct resize_coef *c, const float *sums,
                              char *out, int taps, tamis_type type)
{
    const struct resize_axis *a = &c->x;
    const int size = type == TAMIS_F32 ? 4 : 2;
    int32_t end = t->x + t->w, last = end < c->end ? end : c->end;
    int32_t x = t->x > c->first ? t->x : c->first;
    sums -= t->from.x;
    if (x >= last) {
        pixels_one_by_one(t, a, t->x, end, sums, out, type);
        return;
    }
    pixels_one_by_one(t, a, t->x, x, sums, out, type);
    int32_t y = x + 1 < a->out ? x + 1 : x;
    const float *p = sums + a->start[x], *v = resize_weights(a, x);
    const float *q = sums + a->start[y], *w = resize_weights(a, y);
    for (; x < last; x += 2 * LANES, p += LANES, q += LANES)
        store_doubled(out + (ptrdiff_t)(x - t->x) * size, sum_every_other(p, v, taps),
                      sum_every_other(q, w, taps), last - x, type);
    pixels_one_by_one(t, a, last, end, sums, out, type);
}

TAMIS_INLINE void tile_doubles(const tamis_tile *t, const struct resize_coef *c, ptrdiff_t n,
                               float *sums, tamis_type type)
{
    for (int j = 0; j < t->h; j++) {
        char *out = (char *)t->dst[0] + j * t->dst_stride[0];
        columns(t, &c->y, t->y + j, 1, n, sums, 0, type);
        switch (c->x.taps) {
        case 1:
            row_doubled(t, c, sums, out, 1, type);
            break;
        case 2:
            row_doubled(t, c, sums, out, 2, type);
            break;
        case 4:
            row_doubled(t, c, sums, out, 4, type);
            break;
        default:
            row_doubled(t, c, sums, out, 6, type);
        }
    }
}

TAMIS_INLINE void tile(const tamis_tile *t, const void *coef, void *scratch, tamis_type type)
{
    const struct resize_coef *c = coef;
    int32_t last = t->x + t->w - 1;
    ptrdiff_t n = (c->x.start[last] + resize_count(&c->x, last) - t->from.x) * t->step;
    if (c->way == RESIZE_HALVES)
        TAMIS_FN(tamis_priv_resize_halves)(t, coef, scratch, type);
    else if (c->way == RESIZE_LONG)
        tile_rows(t, c, n, scratch, type);
    else if (c->way == RESIZE_DOUBLES && type != TAMIS_U8)
        tile_doubles(t, c, n, scratch, type);
    else
        tile_bands(t, c, n, scratch, type);
}

/* ---- copies */

TAMIS_INLINE void copy_row(const char *row, const int32_t *start, int32_t from, char *out, int n,
                           size_t pixel)
{
    for (int i = 0; i < n; i++)
        memcpy(out + (size_t)i * pixel, row + (start[i] - from) * (ptrdiff_t)pixel, pixel);
}

/* Rows that come from the same one are copied from the first of them. */
TAMIS_INLINE void copy_pixels(const tamis_tile *t, const struct resize_coef *c, size_t pixel)
{
    const int32_t *y = c->y.start + t->y;
    for (int j = 0; j < t->h; j++) {
        char *out = (char *)t->dst[0] + j * t->dst_stride[0];
        if (j > 0 && y[j] == y[j - 1])
            memcpy(out, out - t->dst_stride[0], (size_t)t->w * pixel);
        else
            copy_row(t->src[0][y[j] - t->from.y], c->x.start + t->x, t->from.x, out, t->w, pixel);
    }
}

TAMIS_INLINE void copy(const tamis_tile *t, const void *coef, size_t size)
{
    if (t->step == 1)
        copy_pixels(t, coef, size);
    else if (t->step == 2)
        copy_pixels(t, coef, 2 * size);
    else if (t->step == 3)
        copy_pixels(t, coef, 3 * size);
    else
        copy_pixels(t, coef, 4 * size);
}

#define ROWS(T, TYPE)                                                                              \
    static void TAMIS_FN(resize_float_##T)(const tamis_tile *t, const void *coef, void *scratch)   \
    {                                                                                              \
        tile(t, coef, scratch, TYPE);                                                              \
    }
ROWS(u8, TAMIS_U8)
ROWS(u16, TAMIS_U16)
ROWS(s16, TAMIS_S16)
ROWS(f32, TAMIS_F32)
#undef ROWS
#define COPY(N)                                                                                    \
    static void TAMIS_FN(resize_copy_##N)(const tamis_tile *t, const void *coef, void *scratch)    \
    {                                                                                              \
        (void)scratch;                                                                             \
        copy(t, coef, N);                                                                          \
    }
COPY(1)
COPY(2)
COPY(4)
#undef COPY

extern const tamis_kernel TAMIS_FN(resize_kernels)[];
const tamis_kernel TAMIS_FN(resize_kernels)[] = {
    {"nearest", TAMIS_U8, TV_CPU, TAMIS_FN(resize_copy_1), 0},
    {"nearest", TAMIS_U16, TV_CPU, TAMIS_FN(resize_copy_2), 0},
    {"nearest", TAMIS_S16, TV_CPU, TAMIS_FN(resize_copy_2), 0},
    {"nearest", TAMIS_F32, TV_CPU, TAMIS_FN(resize_copy_4), 0},
    {"fixed", TAMIS_U8, TV_CPU, TAMIS_FN(tamis_priv_resize_fixed), 0},
    {"float", TAMIS_U8, TV_CPU, TAMIS_FN(resize_float_u8), 0},
    {"float", TAMIS_U16, TV_CPU, TAMIS_FN(resize_float_u16), 0},
    {"float", TAMIS_S16, TV_CPU, TAMIS_FN(resize_float_s16), 0},
    {"float", TAMIS_F32, TV_CPU, TAMIS_FN(resize_float_f32), 0},
    {.fn = NULL},
};
