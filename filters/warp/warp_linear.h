/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of interp=linear on a vector of pixels, as in the reference. */
#ifndef TAMIS_WARP_LINEAR_H
#define TAMIS_WARP_LINEAR_H

#include "warp_lanes.h"

/* Of fractions in units of 2^-32: (2^14 - f, f) in the halves of each lane. */
TAMIS_INLINE tv_s16 warp_weights_u8(tv_u32 fraction)
{
    tv_u32 f = fraction >> 18;
    return (tv_s16)((f << 16) - f + 16384);
}

/* Each lane's bytes are the samples left and right, then those below. */
TAMIS_INLINE tv_s32 warp_blend_bytes(tv_u32 v, tv_s16 wx, tv_s16 wy)
{
    const tv_s32 half = (tv_s32){0} + 64, half_y = (tv_s32){0} + (1 << 20);
    tv_s32 t = tv_dot_s16(half, warp_two_bytes(v, 0), wx) >> 7;
    tv_s32 u = tv_dot_s16(half, warp_two_bytes(v, 1), wx) >> 7;
    return tv_dot_s16(half_y, (tv_s16)(t | u << 16), wy) >> 21;
}

/* Of units of 2^-32, to 2^-24. */
TAMIS_INLINE tv_f32 warp_fractions(tv_u32 fraction)
{
    return __builtin_convertvector((tv_s32)(fraction >> 8), tv_f32) * 0x1p-24f;
}

/* a + (b - a) f; where f is 0, a whatever b is. */
TAMIS_INLINE tv_f32 warp_between(tv_f32 a, tv_f32 b, tv_f32 f, int any_value)
{
    tv_f32 v = a + (b - a) * f;
    tv_s32 none = f == 0;
    return any_value ? (tv_f32)(((tv_s32)a & none) | ((tv_s32)v & ~none)) : v;
}

/* The two 16-bit samples of each lane. */
TAMIS_INLINE void warp_split_16(tv_u32 v, tamis_type type, tv_f32 *a, tv_f32 *b)
{
    tv_s32 low = type == TAMIS_U16 ? (tv_s32)(v & 0xffff) : (tv_s32)(v << 16) >> 16;
    tv_s32 high = type == TAMIS_U16 ? (tv_s32)(v >> 16) : (tv_s32)v >> 16;
    *a = __builtin_convertvector(low, tv_f32);
    *b = __builtin_convertvector(high, tv_f32);
}

#endif
