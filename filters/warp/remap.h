/* SPDX-License-Identifier: Apache-2.0 */
/* remap: takes each pixel from the place that a map names.
 *
 *     out(x, y) = in(map_0(x, y), map_1(x, y))
 *
 * The map is a second picture of float samples and two channels: the column and the row in the
 * first picture, in pixels, whose centers lie at whole numbers. The result has the map's size. The
 * command takes it from --guide FILE, a TIFF or NumPy file of float32 or float16 samples, HxWx2:
 *
 *     tamis remap --interp cubic photo.png --guide map.npy -o out.png
 *
 * In C it is the guide of tamis_plan_options and tamis_run_options. Positions outside, infinite or
 * NaN ones (which count as far to the left or above) show the border.
 *
 * interp, cubic_a, border, alpha and the arithmetic are as in affine. There is no interp=area: a
 * map says where a pixel's middle lies, but not what area the pixel covers. */
#ifndef TAMIS_REMAP_H
#define TAMIS_REMAP_H

#include <tamis/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parameters of "remap"; start from tamis_filter_defaults(). */
struct tamis_remap {
    tamis_interp interp;
    double cubic_a;
    tamis_border border;
    tamis_value border_value;
    tamis_alpha_mode alpha;
};

#ifdef __cplusplus
}
#endif

#endif
