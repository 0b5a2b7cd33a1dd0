/* SPDX-License-Identifier: Apache-2.0 */
/* denoise: looks at a picture's noise and takes the filter that suits it.
 *
 * It stands for a chain of other filters, which `tamis explain denoise FILE` shows, as does -v:
 *
 *     impulses      in at least 1 % of the samples: median=ksize=auto, then nlmeans for what that
 *                   leaves of other noise, with a sigma of 0.4 of it and h of 0.5. Three tenths of
 *                   them must stand out from their neighbors by a quarter of the range
 *     other noise   the one of nlmeans, bilateral and gaussian, and the setting, that should leave
 *                   the least error
 *
 * The error that a setting would leave can be told from the noisy picture and its noise
 * (tamis/estimate.h) alone: by Stein's estimate, for which the filter runs twice, the second time
 * with small steps added. So some 20 to 30 settings are tried on 20 places of the picture, 61,000
 * pixels in all: the patch (3x3 to 9x9), search window (11x11 or 21x21) and h of nlmeans, both
 * sigmas of bilateral, sigma of gaussian, each from what is usual towards what is better. Filters
 * other than nlmeans must leave 2 % less. On real pictures the result is within 0.3 dB of the best
 * that a search with the clean picture in hand finds (median; bench/RESULTS.md).
 *
 * strength=auto and medium take what was found; light and strong 0.7 and 1.4 times its h,
 * sigma_color or, of gaussian, sigma: light leaves more of the noise and of fine texture.
 *
 * Noise that grows with brightness, and such as colors have in common (JPEG leaves it), count as
 * what they are. Where a tenth of the samples stand at the ends of the range, noise is known badly,
 * and nlmeans is taken. Noise that neighbors share (demosaicing, scaling) is taken for less than it
 * is: give strong, or nlmeans with an h of your own. In pictures that are texture all over it is
 * taken for more. The choice does not depend on threads.
 *
 * Cost: that of the filter, and to choose it about that of nlmeans on a picture of a million
 * pixels, whatever the size. */
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
