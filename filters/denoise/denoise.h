/* SPDX-License-Identifier: Apache-2.0 */
/* denoise: looks at a picture's noise and takes the filter that suits it.
 *
 * It stands for a chain of other filters, which `tamis explain denoise FILE` shows, as does -v:
 *
 *     impulses in at least 1 % of the samples     median=ksize=auto, then nlmeans for what is left
 * of other noise: sigma 0.4 of it, h 0.5 else                                        nlmeans with
 * the noise told (sigma) and h by it
 *
 * strength=auto and medium take the h of nlmeans h=auto, which came out best in a search on real
 * pictures; light 0.7 times as much, which leaves more of the noise and of fine texture; strong 1.4
 * times. Patches grow with the noise, for that of a few pixels hides it: 3x3 up to 12 levels of 8
 * bits in one channel, 5x5 up to 40, 7x7 beyond; with three colors, which tell more of a pixel, 3x3
 * up to 30 and then 5x5.
 *
 * Noise that grows with brightness is treated as the one level that it has in the mean. Noise that
 * neighbors share (JPEG, demosaicing, scaling) is taken for less than it is: give strong, or
 * nlmeans with an h of your own. Cost: that of nlmeans, and a look at the picture. */
#ifndef TAMIS_DENOISE_H
#define TAMIS_DENOISE_H

#include <tamis/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tamis_denoise_strength {
    TAMIS_DENOISE_AUTO,
    TAMIS_DENOISE_LIGHT,
    TAMIS_DENOISE_MEDIUM,
    TAMIS_DENOISE_STRONG
} tamis_denoise_strength;

/* Parameters of "denoise"; start from tamis_filter_defaults(). */
struct tamis_denoise {
    unsigned strength; /* tamis_denoise_strength */
};

#ifdef __cplusplus
}
#endif

#endif
