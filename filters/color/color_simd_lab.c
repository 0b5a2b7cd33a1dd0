/* SPDX-License-Identifier: Apache-2.0 */
/* Lab and back, a vector of pixels at a time, in binary32 (color_lab.h). Pixels of f32 far outside,
 * with NaN or with infinities go to the reference one by one: never with their neighbors, on which
 * no result may depend. */
#include "color_lab.h"

#include "color_simd.h"

/* The element of the table with the low four bits of each lane as its index. */
TAMIS_INLINE tv_f32 look_up(const float table[16], tv_s32 index)
{
#if defined(TAMIS_AVX512)
    return (tv_f32)_mm512_permutexvar_ps((__m512i)index, _mm512_loadu_ps(table));
#elif defined(TAMIS_AVX2)
    __m256 low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table), (__m256i)index);
    __m256 high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table + 8), (__m256i)index);
    return (tv_f32)_mm256_blendv_ps(low, high, (__m256)(index << 28));
#else
    tv_f32 v;
    for (int i = 0; i < TV_FLOATS; i++)
        v[i] = table[index[i] & 15];
    return v;
#endif
}

TAMIS_INLINE tv_f32 raise(const struct color_power *p, tv_f32 v)
{
    tv_s32 bits = (tv_s32)v;
    tv_f32 x = (tv_f32)((bits & 0x7fffff) | 0x3f800000) - 1.5f;
    tv_f32 sum = tv_splat_f32(p->c[p->degree]);
    for (int i = p->degree - 1; i >= 0; i--)
        sum = tv_muladd_f32(sum, x, tv_splat_f32(p->c[i]));
    return sum * look_up(p->exponents, (bits >> 23) - (127 + p->first));
}

TAMIS_INLINE tv_f32 choose(tv_s32 mask, tv_f32 yes, tv_f32 no)
{
    return (tv_f32)((mask & (tv_s32)yes) | (~mask & (tv_s32)no));
}

/* Which lanes lie in -limit .. limit; NaN do not. */
TAMIS_INLINE tv_s32 within(tv_f32 v, float limit)
{
    return (tv_s32)((tv_f32)((tv_s32)v & 0x7fffffff) <= limit);
}

/* The reference for those of the n pixels from x on whose lane is zero. */
static void redo(const struct color_row *row, const color_coef *k, int x, int n, tv_s32 good,
                 void (*reference)(const tamis_tile *, const void *))
{
    for (int i = 0; i < n; i++) {
        tamis_tile one = {.w = 1, .h = 1, .step = 1, .planes = k->inputs};
        const void *src[3];
        if (good[i])
            continue;
        for (int c = 0; c < k->inputs; c++) {
            src[c] = (const float *)row->src[c] + x + i;
            one.src[c] = &src[c];
        }
        for (int p = 0; p < k->outputs; p++)
            one.dst[p] = (float *)row->dst[p] + x + i;
        reference(&one, k);
    }
}

TAMIS_INLINE int all_lanes(tv_s32 mask)
{
#if defined(TAMIS_AVX512)
    return _mm512_movepi32_mask((__m512i)mask) == 0xffff;
#elif defined(TAMIS_AVX2)
    return _mm256_movemask_ps((__m256)mask) == 0xff;
#elif defined(TAMIS_SSE2)
    return _mm_movemask_ps((__m128)mask) == 0xf;
#else
    int all = -1;
    for (int i = 0; i < TV_FLOATS; i++)
        all &= mask[i];
    return all;
#endif
}

/* ---- to Lab */

TAMIS_INLINE tv_f32 to_linear(tv_f32 v)
{
    tv_f32 high = raise(&color_power_2_4, tv_muladd_f32(v, tv_splat_f32((float)(1 / 1.055)),
                                                        tv_splat_f32((float)(0.055 / 1.055))));
    return choose((tv_s32)(v > 0.04045f), high, v * (float)(1 / 12.92));
}

TAMIS_INLINE tv_f32 lab_f(tv_f32 t)
{
    tv_f32 low = tv_muladd_f32(t, tv_splat_f32((float)(24389.0 / 27 / 116)),
                               tv_splat_f32((float)(16.0 / 116)));
    return choose((tv_s32)(t > COLOR_EPSILON), raise(&color_cube_root, t), low);
}

/* Returns the lanes whose result holds. */
TAMIS_INLINE tv_s32 to_lab(const color_coef *k, const tv_f32 *in, int inputs,
                           const struct color_lab_out *o, tv_f32 out[3])
{
    tv_f32 linear[3], f[3];
    tv_s32 good = ~(tv_s32){0};
    for (int c = 0; c < 3; c++) {
        tv_f32 v = color_mix(k, c, in, inputs, TV_SUMS_ROUGH) * (float)(1 / k->range);
        good &= within(v, COLOR_RGB_LIMIT);
        linear[c] = to_linear(v);
    }
    for (int i = 0; i < 3; i++) {
        tv_f32 t = linear[0] * color_xyz_of_linear[i][0];
        t = tv_muladd_f32(linear[1], tv_splat_f32(color_xyz_of_linear[i][1]), t);
        f[i] = lab_f(tv_muladd_f32(linear[2], tv_splat_f32(color_xyz_of_linear[i][2]), t));
    }
    const tv_f32 v[3] = {f[1], f[0] - f[1], f[1] - f[2]};
    for (int p = 0; p < 3; p++)
        out[p] = tv_muladd_f32(v[p], tv_splat_f32(o->scale[p]), tv_splat_f32(o->offset[p]));
    return good;
}

TAMIS_INLINE void to_lab_block(const struct color_row *row, const color_coef *k, tamis_type type,
                               int inputs, const struct color_lab_out *o, int x, int n)
{
    tv_f32 in[3], out[3];
    for (int c = 0; c < inputs; c++)
        in[c] = tv_widen_f32(type, row->src[c], x);
    tv_s32 good = to_lab(k, in, inputs, o, out);
    for (int p = 0; p < 3; p++)
        color_store(type, row->dst[p], x, n, out[p]);
    if (type == TAMIS_F32 && !all_lanes(good))
        redo(row, k, x, n, good, tamis_priv_color_to_lab_f32);
}

/* ---- from Lab */

TAMIS_INLINE tv_f32 to_srgb(tv_f32 v)
{
    tv_f32 high =
        tv_muladd_f32(raise(&color_root_2_4, v), tv_splat_f32(1.055f), tv_splat_f32(-0.055f));
    return choose((tv_s32)(v > 0.0031308f), high, v * 12.92f);
}

TAMIS_INLINE tv_f32 lab_f_inverse(tv_f32 f)
{
    tv_f32 cube = f * f * f;
    tv_f32 low = tv_muladd_f32(f, tv_splat_f32(116 / COLOR_KAPPA), tv_splat_f32(-16 / COLOR_KAPPA));
    return choose((tv_s32)(cube > COLOR_EPSILON), cube, low);
}

TAMIS_INLINE tv_s32 from_lab(const color_coef *k, const struct color_lab_in *o, const tv_f32 in[3],
                             int outputs, tv_f32 out[3])
{
    tv_f32 xyz[3], rgb[3];
    tv_f32 y = (in[0] - o->offset[0]) * o->scale[0];
    const tv_f32 f[3] = {tv_muladd_f32(in[1] - o->offset[1], tv_splat_f32(o->scale[1]), y), y,
                         tv_muladd_f32(in[2] - o->offset[2], tv_splat_f32(o->scale[2]), y)};
    tv_s32 good = ~(tv_s32){0};
    for (int i = 0; i < 3; i++) {
        good &= within(f[i], COLOR_ROOT_LIMIT);
        xyz[i] = lab_f_inverse(f[i]);
    }
    for (int i = 0; i < 3; i++) {
        tv_f32 v = xyz[0] * color_linear_of_xyz[i][0];
        v = tv_muladd_f32(xyz[1], tv_splat_f32(color_linear_of_xyz[i][1]), v);
        v = tv_muladd_f32(xyz[2], tv_splat_f32(color_linear_of_xyz[i][2]), v);
        rgb[i] = to_srgb(v) * (float)k->range;
    }
    for (int p = 0; p < outputs; p++)
        out[p] = color_mix(k, p, rgb, 3, TV_SUMS_ROUGH);
    return good;
}

TAMIS_INLINE void from_lab_block(const struct color_row *row, const color_coef *k, tamis_type type,
                                 int outputs, const struct color_lab_in *o, int x, int n)
{
    tv_f32 in[3], out[3];
    for (int c = 0; c < 3; c++)
        in[c] = tv_widen_f32(type, row->src[c], x);
    tv_s32 good = from_lab(k, o, in, outputs, out);
    for (int p = 0; p < outputs; p++)
        color_store(type, row->dst[p], x, n, out[p]);
    if (type == TAMIS_F32 && !all_lanes(good))
        redo(row, k, x, n, good, tamis_priv_color_from_lab_f32);
}

/* ---- types */

TAMIS_INLINE void to_lab_any(const tamis_tile *t, const void *coef, tamis_type type)
{
    const color_coef copy = *(const color_coef *)coef, *k = &copy;
    const struct color_lab_out o = color_lab_out_of(k);
    if (k->inputs == 1) {
        COLOR_EACH(t, k, to_lab_block, type, 1, &o)
    } else {
        COLOR_EACH(t, k, to_lab_block, type, 3, &o)
    }
}

TAMIS_INLINE void from_lab_any(const tamis_tile *t, const void *coef, tamis_type type)
{
    const color_coef copy = *(const color_coef *)coef, *k = &copy;
    const struct color_lab_in o = color_lab_in_of(k);
    if (k->outputs == 1) {
        COLOR_EACH(t, k, from_lab_block, type, 1, &o)
    } else {
        COLOR_EACH(t, k, from_lab_block, type, 3, &o)
    }
}

void TAMIS_FN(tamis_priv_color_to_lab)(const tamis_tile *t, const void *coef, tamis_type type)
{
    if (type == TAMIS_U8)
        to_lab_any(t, coef, TAMIS_U8);
    else if (type == TAMIS_U16)
        to_lab_any(t, coef, TAMIS_U16);
    else
        to_lab_any(t, coef, TAMIS_F32);
}

void TAMIS_FN(tamis_priv_color_from_lab)(const tamis_tile *t, const void *coef, tamis_type type)
{
    if (type == TAMIS_U8)
        from_lab_any(t, coef, TAMIS_U8);
    else if (type == TAMIS_U16)
        from_lab_any(t, coef, TAMIS_U16);
    else
        from_lab_any(t, coef, TAMIS_F32);
}
