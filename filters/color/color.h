/* SPDX-License-Identifier: Apache-2.0 */
/* color: turns RGB into gray, YCbCr or CIE Lab, and back.
 *
 * Pictures do not say which color space their samples are in, so the chain does: from tells what
 * goes in (auto: gray for one color channel, else rgb) and to what comes out. A filter between
 * "color=to=ycbcr" and "color=from=ycbcr:to=rgb" sees luma in the first channel and chroma in the
 * other two.
 *
 * Formulas. R, G, B are gamma-coded samples divided by the type's range.
 * Gray and luma: Y = kr R + (1 - kr - kb) G + kb B with (kr, kb) of the matrix: bt601 0.299, 0.114;
 * bt709 0.2126, 0.0722; bt2020 0.2627, 0.0593.
 * YCbCr: Cb = (B - Y) / (2 - 2 kb), Cr = (R - Y) / (2 - 2 kr), both -0.5 .. 0.5 and stored from the
 * middle: 128 in u8, 32768 in u16, 0.5 in floats. range=full spreads them over the type's range (as
 * JPEG does), range=limited over 16 .. 235 for Y and 16 .. 240 for chroma (as video does; times 256
 * in u16, divided by 255 in floats).
 * Lab: sRGB to linear light to XYZ of D65 to CIE 1976 L*a*b*. Floats hold L 0 .. 100 and a, b as
 * they are; u8 holds L 255/100, a + 128, b + 128; u16 holds L 65535/100, (a + 128) 257, (b + 128)
 * 257.
 *
 * Gray to color gives equal channels. The reverse ways are the formulas solved for R, G and B.
 * Everything is computed in binary32 and rounded once to the nearest level, ties to even, and
 * clipped. YCbCr to RGB of what RGB to YCbCr gave is off by at most 2 levels of u8.
 * Lab: the reference computes in binary64, vector kernels in binary32: integers come out the same
 * but where the exact value lies beside a tie, one level off there (of random u8 colors, 14
 * samples in a million); f32 within 3e-4 of a and b, and within 1e-5 back in RGB. Far outside
 * 0 .. 1 (beyond 8, or from roots beyond 2.5) vector kernels are as slow as the reference.
 *
 * u8, u16, f32 and f16; s16 has no black and white and is refused. Alpha is kept as it is, with
 * color straight; gray can be made of color multiplied by alpha too, YCbCr and Lab are refused
 * there. NaN and infinities touch their own pixel only.
 *
 * Sources: ITU-R BT.601, BT.709, BT.2020; IEC 61966-2-1 (sRGB); CIE 15. */
#ifndef TAMIS_COLOR_H
#define TAMIS_COLOR_H

#include <tamis/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tamis_color_space {
    TAMIS_COLOR_GRAY,
    TAMIS_COLOR_RGB,
    TAMIS_COLOR_YCBCR,
    TAMIS_COLOR_LAB,
    TAMIS_COLOR_AUTO /* from only */
} tamis_color_space;

typedef enum tamis_color_matrix {
    TAMIS_COLOR_BT601,
    TAMIS_COLOR_BT709,
    TAMIS_COLOR_BT2020
} tamis_color_matrix;

typedef enum tamis_color_range { TAMIS_COLOR_FULL, TAMIS_COLOR_LIMITED } tamis_color_range;

/* Parameters of "color"; start from tamis_filter_defaults(). */
struct tamis_color {
    unsigned from, to; /* tamis_color_space */
    unsigned matrix;   /* tamis_color_matrix */
    unsigned range;    /* tamis_color_range */
};

#ifdef __cplusplus
}
#endif

#endif
