/* SPDX-License-Identifier: Apache-2.0 */
/* unsharp: sharpens by what a Gaussian takes away.
 *
 * Formula. With b the picture smoothed by "gaussian" of sigma, d = in - b, amount a and threshold
 * t, out = in + a (d - min(max(d, -t), t)). a = 1 doubles the contrast of details finer than sigma;
 * negative a smooths. Differences up to the threshold are left alone, which keeps flat areas and
 * the noise in them as they are; larger ones are less by it, so that nothing jumps where a
 * difference passes it.
 *
 * Arithmetic. The Gaussian is that of f32 for all types, so that b is not rounded to levels; then
 * one fused multiply-add in binary32, rounded to the nearest level, ties to even, and clipped to
 * the type's range: overshoot never wraps around. f32 and f16 are not clipped. A flat picture stays
 * as it is. Integers may be one level off the nearest where the exact value lies within a few 1e-5
 * of the range of the middle between two.
 *
 * Window and borders as in "gaussian". NaN and infinities spread over their window as there, but
 * an infinite sample becomes NaN at its own pixel, where d = Inf - Inf, and infinite in the rest of
 * its window, of the other sign if a is positive. Alpha is kept as it is by default: sharpening it
 * would eat into edges. Cost: that of a Gaussian of f32, and conversions. */
#ifndef TAMIS_UNSHARP_H
#define TAMIS_UNSHARP_H

#include <tamis/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parameters of "unsharp"; start from tamis_filter_defaults(). */
struct tamis_unsharp {
    double sigma; /* of the Gaussian, in pixels */
    double amount;
    tamis_value threshold;
    tamis_border border;
    tamis_value border_value;
    tamis_alpha_mode alpha;
};

#ifdef __cplusplus
}
#endif

#endif
