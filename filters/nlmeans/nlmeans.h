/* SPDX-License-Identifier: Apache-2.0 */
/* Non-local means: removes noise by averaging pixels whose surroundings look alike.
 *
 *     out(p) = sum over q in the search window of w(p,q) in(q)  /  sum of w(p,q)
 *     w(p,q) = exp(-max(d2(p,q) - 2 sigma^2, 0) / h^2)
 *     d2(p,q) = mean over the patch of (in(p+o) - in(q+o))^2
 *
 * (A. Buades, B. Coll, J.-M. Morel, "A non-local algorithm for image denoising", CVPR 2005, with
 * an unweighted patch.) search and patch are the full, odd sides of the window around p that q
 * runs over and of the patches compared; both may be given as WxH. The pixel itself takes part
 * with weight 1, which its d2 = 0 gives. (The other usual rule, to give it the largest of the other
 * weights, was measured at the best h of each rule on skimage's 512x512 camera picture: -0.83 dB at
 * noise of sigma 10, +0.06 dB at 25 and 50.)
 *
 * h is the strength, in sample units or in per cent of the type's range; the default, 10 on the
 * scale of 8 bits, is given in per cent and so serves every type. Two patches of the same thing
 * under noise of standard deviation s have d2 near 2 s^2. Hence, with sigma = 0, h near s to 0.8 s
 * is best: 10 for noise of 10, 20 for 25, 40 for 50. sigma > 0 takes that part of d2 off; then h
 * = 0.6 s is best for sigma = s up to 25 and half that for more. sigma is at most 8 h. h = 0
 * returns the picture as it is.
 *
 * sigma=auto takes the standard deviation of the noise from the picture (tamis/estimate.h;
 * color=luma that of luma). h=auto follows from it: with sigma 0.7 of it, falling to 0.4 from 20 to
 * 50 levels of 8 bits; without sigma 1.1 of it, falling to 0.8 from 10 to 50: the best of a search
 * on real pictures. Where there is no noise nothing changes.
 *
 * The same strength elsewhere, for values of 8 bits and windows of 21 and 7:
 *     here          h=20:search=21:patch=7
 *     OpenCV        fastNlMeansDenoising(h=20, templateWindowSize=7, searchWindowSize=21): the
 *                   same weights, but tabulated and cut off below 0.001
 *     scikit-image  denoise_nl_means(h=18, patch_size=7, patch_distance=10): patch_distance is a
 *                   radius; pictures of 0 .. 1 take h = 18/255. Its fast mode compares a little
 *                   less than the patch but divides by all of it: its h = 20 gave our h = 22
 *     KNLMeansCL    h=20, a=10, s=3, d=0, wmode=0: a and s are radii, h always counts in levels of
 *                   8 bits; there the pixel itself has the largest of the other weights, times wref
 *
 * color says what d2 is:
 *     joint     the mean over patch and channels; all channels share one weight, so no color
 *               appears that was not there
 *     luma      that of BT.601 luma, Y = 0.299 R + 0.587 G + 0.114 B; all channels are averaged
 *               with these weights. For 3 color channels; pictures of one channel are filtered as
 *               with joint
 *     separate  each channel is filtered alone, with its own d2
 *
 * frames = d searches the d frames before and the d after as well, in the same window around p,
 * with the same weights; d2 compares the patch around p with patches of those frames. What moves
 * little between frames is found there again with other noise, which video and stacks of scans gain
 * much from. Frames come from tamis_run_options.frames, in the command from the pages of the file;
 * where the sequence ends there are fewer.
 *
 * motion = r, with frames, follows what moves by up to r pixels across and down from the current
 * frame to each other one: there each block of 16x16 pixels is sought together with what surrounds
 * it, and the frame counts as if its blocks had been put back to where they are in the current one;
 * search window and patches are as before, and a search of 5 or 7 is wide enough then. A block goes
 * where the sum of absolute differences is least, on pictures smoothed by 1 2 1 both ways: first of
 * half the size, twice over, in steps of two pixels, then from size to size around what was found
 * (hierarchical block matching: M. Bierling, "Displacement estimation by hierarchical
 * blockmatching", SPIE 1001, 1988). Of places as good as each other no motion comes first. r is
 * rounded up to a multiple of 8. Whole numbers are compared, 16 of which are one h (fewer where an
 * integer type has more than 2048 h; of floats, modulo 65536), so that all devices move the same
 * blocks. With border=valid the result shrinks by what is sought, too. Not to be had with
 * border=wrap.
 *
 * Beyond its edges the picture continues as border says, for patches and search window alike: a
 * flat picture stays exactly as it is up to its last pixel. All sample types are filtered at their
 * full precision.
 *
 * A patch that holds a NaN or an infinity has no weight, so that these reach no other pixel; where
 * the patch around a pixel holds one, the pixel stays as it is. Alpha, with alpha=premultiply, is
 * part of the pixel: with joint it counts in d2 like a color, with luma it is averaged by the luma
 * weights. With separate, and with alpha=straight, it is filtered alone.
 *
 * Integer results are within one level of the definition in exact arithmetic, and almost always
 * its nearest level; float results within 1e-5 of it, relative to max(1, |result|).
 *
 * Cost grows with the area of the search window and, times two, with frames; seeking blocks within
 * 32 pixels costs two fifths of a search of 5. Bad at: pixels that have no like in the search
 * window (they keep their noise), single wild pixels (use median), noise coarser than the patch. */
#ifndef TAMIS_NLMEANS_H
#define TAMIS_NLMEANS_H

#include <tamis/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tamis_nlmeans_color {
    TAMIS_NLMEANS_JOINT,
    TAMIS_NLMEANS_LUMA,
    TAMIS_NLMEANS_SEPARATE
} tamis_nlmeans_color;

/* Parameters of "nlmeans"; start from tamis_filter_defaults(). */
struct tamis_nlmeans {
    tamis_value h;     /* levels, or per cent of the range; 0 = no change */
    tamis_size patch;  /* px, odd */
    tamis_size search; /* px, odd */
    tamis_value sigma; /* levels, or per cent of the range; at most 8 h */
    unsigned color;    /* tamis_nlmeans_color */
    int frames;        /* before and after the current one that are searched too */
    int motion;        /* px that things may move from the current frame to each other one */
    tamis_border border;
    tamis_value border_value;
    tamis_alpha_mode alpha;
};

#ifdef __cplusplus
}
#endif

#endif
