/* SPDX-License-Identifier: Apache-2.0 */
/* Bilateral filter: smooths noise and keeps edges, by averaging only what is near and alike.
 *
 *     out(p) = sum over q in the window of w(p,q) in(q)  /  sum of w(p,q)
 *     w(p,q) = exp(-|p-q|^2 / (2 sigma_space^2)) * exp(-D(p,q)^2 / (2 sigma_color^2))
 *
 * |p-q| is the distance in pixels and D the difference of the two pixels (C. Tomasi, R. Manduchi,
 * "Bilateral filtering for gray and color images", ICCV 1998). sigma_color tells noise from
 * edges: about two to three times the standard deviation of the noise. It is in sample units or
 * in per cent of the type's range; the default, 30 on the scale of 8 bits, is given in per cent
 * and so serves every type. sigma_color=auto is twice the noise of the picture (tamis/estimate.h;
 * color=luma that of luma), and with color=joint 1.3 times as much for three colors; of a guide it
 * knows nothing.
 *
 * color says what D is:
 *     joint     the Euclidean distance of the colors; all channels share one weight, so no color
 *               appears that was not there
 *     separate  each channel is filtered alone, with its own difference
 *     luma      the difference of BT.601 luma, Y = 0.299 R + 0.587 G + 0.114 B; Y is filtered with
 *               these weights and the color differences R-Y and B-Y by a plain Gaussian over the
 *               same window, which removes color noise most strongly. For 3 color channels;
 *               pictures of one channel are filtered as with joint.
 * When a second image, the guide, is given, D is the Euclidean distance of the guide's channels
 * ("joint bilateral" or "cross bilateral" filter), whatever color says.
 *
 * The window is ksize wide and high; ksize = 0 takes the radius ceil(2 sigma_space), where the
 * spatial weight has sunk to 0.135. window=disc keeps the pixels inside the circle (ellipse) that
 * the window holds.
 *
 * compat=opencv gives what cv::bilateralFilter computes: a disc, the sum of the channels' absolute
 * differences for D, and the radius round(1.5 sigma_space), at least 1, for ksize = 0.
 *
 * All sample types are filtered at their full precision. A picture that is flat within a window,
 * whatever its level, is unchanged there. NaN and infinities make NaN of every pixel whose window
 * holds one, in its channel and in those whose weights it enters, and of no other; a window of one
 * pixel leaves them as they are. Alpha, with alpha=premultiply, is part of the pixel: with joint it
 * counts in D like a color, with luma it is averaged by the luma weights, and the color of clear
 * pixels has no part in the result. With separate it is one more channel that is filtered alone,
 * so that colors may shift at soft edges: use joint there. With alpha=straight it is always
 * filtered alone.
 *
 * Integer results are within one level of the definition in exact arithmetic, and almost always
 * its nearest level; float results within 1e-5 of it, relative to max(1, |result|).
 *
 * Cost grows with the area of the window. Bad at: single wild pixels ("salt and pepper", use
 * median), slow gradients, which it turns into steps where sigma_color is large, and noise coarser
 * than the window. */
#ifndef TAMIS_BILATERAL_H
#define TAMIS_BILATERAL_H

#include <tamis/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tamis_bilateral_color {
    TAMIS_BILATERAL_JOINT,
    TAMIS_BILATERAL_SEPARATE,
    TAMIS_BILATERAL_LUMA
} tamis_bilateral_color;

typedef enum tamis_bilateral_window {
    TAMIS_BILATERAL_SQUARE,
    TAMIS_BILATERAL_DISC
} tamis_bilateral_window;

typedef enum tamis_bilateral_compat {
    TAMIS_BILATERAL_COMPAT_NONE,
    TAMIS_BILATERAL_COMPAT_OPENCV
} tamis_bilateral_compat;

struct tamis_bilateral {
    double sigma_space;      /* px */
    tamis_value sigma_color; /* levels, or per cent of the range */
    tamis_size ksize;        /* px, odd; 0 = from sigma_space */
    unsigned color;          /* tamis_bilateral_color */
    unsigned window;         /* tamis_bilateral_window */
    unsigned compat;         /* tamis_bilateral_compat */
    tamis_border border;
    tamis_value border_value;
    tamis_alpha_mode alpha;
};

#ifdef __cplusplus
}
#endif

#endif
