/* SPDX-License-Identifier: Apache-2.0 */
/* unsharp: sharpens by what a Gaussian takes away.
 *
 * Formula. With b the picture smoothed by "gaussian" of sigma, d = in - b, amount a and threshold
 * t, out = in + a (d - min(max(d, -t), t)). a = 1 doubles the contrast of details finer than sigma;
 * negative a smooths. Differences up to the threshold are left alone, which keeps flat areas and
 * the noise in them as they are; larger ones are less by it, so that nothing jumps where a
 * difference passes it.
 *
 * Arithmetic. b is not rounded to levels: in u8 it is kept in 1/128 level, being made as "gaussian"
 * makes it up to there; in u16 and s16 it is the Gaussian's sum in binary32. Then d is exact or
 * rounded once, and one fused multiply-add in binary32 is rounded to the nearest level, ties to
 * even, and clipped to the type's range: overshoot never wraps around. All else is made with the
 * Gaussian of f32: f32 and f16, which are not clipped, integers whose color is weighted by alpha,
 * and those with a sigma for which "gaussian" skips pixels (10 in u8, 20 in others). A flat picture
 * stays as it is. Rows of the kernel table with tolerance 0 agree bit by bit, on any device; b
 * itself is within 0.03 levels of the exact one in u8, and a few 1e-7 of the range in others.
 *
 * Window and borders as in "gaussian". NaN and infinities spread over their window as there, but
 * an infinite sample becomes NaN at its own pixel, where d = Inf - Inf, and infinite in the rest of
 * its window, of the other sign if a is positive. Alpha is kept as it is by default: sharpening it
 * would eat into edges. Cost: that of a Gaussian and a little more. */
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
