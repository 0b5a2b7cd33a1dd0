/* SPDX-License-Identifier: Apache-2.0 */
/* Fast rows of resize in binary32, and copies. */
#include "cpu/simd.h"
#include "resize_kernel.h"

enum { LANES = TV_BYTES / 4 };

/* The eight partial sums of a row, and four channels of a pixel. */
typedef float r_sums __attribute__((vector_size(32)));
typedef int32_t r_masks __attribute__((vector_size(32)));
typedef float r_four __attribute__((vector_size(16)));

TAMIS_INLINE tv_f32 load_samples(const void *row, ptrdiff_t i, tamis_type type)
{
    if (type == TAMIS_F32)
        return tv_load_f32((const float *)row + i);
    if (type == TAMIS_U16)
        return __builtin_convertvector(tv_load_widen_u16((const uint16_t *)row + i), tv_f32);
    if (type == TAMIS_S16)
        return __builtin_convertvector(tv_load_widen_s16((const int16_t *)row + i), tv_f32);
#if defined(TAMIS_AVX512)
    __m128i b = _mm_loadu_si128((const __m128i *)(const void *)((const uint8_t *)row + i));
    return (tv_f32)_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(b));
#elif defined(TAMIS_AVX2)
    __m128i b = _mm_loadl_epi64((const __m128i *)(const void *)((const uint8_t *)row + i));
    return (tv_f32)_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(b));
#else
    tv_f32 v;
    for (int l = 0; l < LANES; l++)
        v[l] = ((const uint8_t *)row)[i + l];
    return v;
#endif
}

/* Column sums of n samples for row y of the result, and zeros behind. */
TAMIS_INLINE void columns(const tamis_tile *t, const struct resize_axis *a, int32_t y, ptrdiff_t n,
                          float *out, tamis_type type)
{
    const float *w = a->f + (ptrdiff_t)y * a->pitch;
    const void *const *rows = t->src[0] + (a->start[y] - t->from.y);
    int count = a->count[y];
    for (ptrdiff_t i = 0; i < n; i += LANES) {
        tv_f32 sum = {0};
        for (int m = 0; m < count; m++)
            sum += (w[m] + (tv_f32){0}) * load_samples(rows[m], i, type);
        tv_store_f32(out + i, sum);
    }
}

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

TAMIS_INLINE void rows(const tamis_tile *t, const struct resize_axis *a, const float *sums,
                       void *row, tamis_type type, int step)
{
    for (int i = 0; i < t->w; i++) {
        int32_t x = t->x + i;
        const float *from = sums + (a->start[x] - t->from.x) * step;
        const float *w = a->f + (ptrdiff_t)x * a->pitch;
        if (step == 1) {
            store_one(row, i, one_sum(from, w, a->count[x]), type);
            continue;
        }
        r_four v = four_sums(from, w, a->count[x], step);
        for (int c = 0; c < step; c++)
            store_one(row, i * step + c, v[c], type);
    }
}

TAMIS_INLINE void tile(const tamis_tile *t, const void *coef, void *scratch, tamis_type type)
{
    const struct resize_coef *c = coef;
    ptrdiff_t n = (c->x.start[t->x + t->w - 1] + c->x.count[t->x + t->w - 1] - t->from.x) * t->step;
    for (int j = 0; j < t->h; j++) {
        void *row = (char *)t->dst[0] + j * t->dst_stride[0];
        columns(t, &c->y, t->y + j, n, scratch, type);
        if (t->step == 1)
            rows(t, &c->x, scratch, row, type, 1);
        else if (t->step == 2)
            rows(t, &c->x, scratch, row, type, 2);
        else if (t->step == 3)
            rows(t, &c->x, scratch, row, type, 3);
        else
            rows(t, &c->x, scratch, row, type, 4);
    }
}

/* ---- copies */

TAMIS_INLINE void copy_pixels(const tamis_tile *t, const struct resize_coef *c, size_t pixel)
{
    for (int j = 0; j < t->h; j++) {
        char *out = (char *)t->dst[0] + j * t->dst_stride[0];
        const char *row = t->src[0][c->y.start[t->y + j] - t->from.y];
        for (int i = 0; i < t->w; i++, out += pixel)
            memcpy(out, row + (c->x.start[t->x + i] - t->from.x) * (ptrdiff_t)pixel, pixel);
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
