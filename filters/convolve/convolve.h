/* SPDX-License-Identifier: Apache-2.0 */
/* convolve: any weights of your own, or well-known ones by name.
 *
 * Formula. out(x, y) = bias + sum over i, j of kernel(i, j) in(x+i-anchor_x, y+j-anchor_y) /
 * divisor, i = 0 .. columns-1, j = 0 .. rows-1: the kernel lies on the picture as it is written,
 * which is called correlation. flip=on turns it by half a turn first, anchor and all: convolution
 * in the sense of mathematics. An impulse becomes the kernel itself with flip=on, else the turned
 * kernel.
 *
 * Kernel. Rows are separated by semicolons, numbers by commas or spaces: "0 -1 0; -1 5 -1; 0 -1 0".
 * "1,2,1x1,4,1" is a row of 3 and a column of 3 and means their products. "@FILE", to the command,
 * reads the numbers of a text or CSV file, one row a line. Up to 65536 numbers, such as 256 x 256,
 * and up to 1024 x 1024 products of a row and a column. Names:
 *
 *   identity   1                          emboss      -2 -1  0;  -1 1 1;   0  1  2
 *   sharpen    0 -1 0; -1 5 -1; 0 -1 0    gauss3      1 2 1; 2 4 2; 1 2 1
 *   sharpen8   9 amid eight -1            gauss5      1 4 7 4 1; 4 16 26 16 4; 7 26 41 26 7; ..
 *   edge       8 amid eight -1            box3, box5  ones
 *   laplacian  0 1 0; 1 -4 1; 0 1 0
 *
 * Divisor. auto is the sum of the kernel, so that brightness stays, or 1 where the sum is 0 or
 * less, or a millionth of what the weights' magnitudes sum to. divisor=1 takes the numbers as they
 * are. The bias, in levels or %, is added at the end; where the kernel's sum is 0, bias=50% shows
 * both signs.
 *
 * Arithmetic.
 * Integers, where kernel, divisor and bias are fractions of a common power of two: exact sums of
 * whole numbers, divided and rounded once to the nearest level, halves up. That holds while the
 * magnitudes of the kernel, brought to whole numbers, sum to less than about 16000 (8 million for
 * u8, each weight below 32768).
 * Other kernels, and f32: binary32 with fused multiply-add, row by row from the upper left on, taps
 * kernel / divisor rounded to binary32; integers are rounded at the end, ties to even. This is
 * within one level of the exact value unless taps far larger than the result cancel out, or more
 * than some 1000 are added in one sum (not as columns and rows, below) with 16 bits.
 * Results are cut off at the ends of an integer type's range, never wrapped around.
 *
 * Separable. With separable=auto the plan looks whether columns and rows, one after the other, do
 * less than all numbers together; separable=off never. The plan's text names what was found:
 *   whole_separable  whole numbers as above, 25 or more, that are the products of a column's and a
 *                    row's whole numbers: the same levels, bit for bit, in less time.
 *   separable        other kernels that are the products of a column and a row.
 *   low_rank         those that are the sum of 2 to 32 such products with less than so many times
 *                    columns + rows + 4 numbers: Gabor kernels, differences of Gaussians and
 *                    Laplacians of one, a Gaussian less its middle. Columns are summed and then
 *                    rows, product by product, in binary32 as above.
 *   whole, direct    number by number.
 * separable and low_rank are used where the products leave less than 2^-22 of the kernel's
 * magnitudes out and do not exceed them more than four times; f32 also wants the kernel's zeros,
 * which no NaN passes, to be zeros of all products. Results, before bias and rounding to levels,
 * differ from those of separable=off by less than
 *   e (N + 1) times the kernel's magnitudes / divisor times the largest magnitude of a sample,
 * N the count of numbers that are not zero, e = 2^-23 for separable, 5 2^-24 for low_rank: each of
 * N multiply-adds is off by up to 2^-24 of the sum so far, and the products, whose magnitudes may
 * be four times as large, take fewer than N. Nearly all of it is the one long sum of separable=off;
 * columns and rows come closer to the formula. It grows with N where roundings go one way: 41 x 41
 * equal numbers over white come to an eighth of the bound, 2 10^-5 of white. Over noise they cancel
 * out, and the difference is about 2^-24 times the root of N.
 *
 * NaN and Inf: a NaN makes every pixel whose window holds it NaN and no other, an infinity infinite
 * or NaN. Numbers of the kernel that are zero do not count as holding it.
 *
 * Cost grows with the count of numbers that are not zero, or for each product with columns + rows.
 */
#ifndef TAMIS_CONVOLVE_H
#define TAMIS_CONVOLVE_H

#include <tamis/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kernels by name: tamis_matrix.name where w and h are 0. */
typedef enum tamis_convolve_name {
    TAMIS_CONVOLVE_IDENTITY,
    TAMIS_CONVOLVE_SHARPEN,
    TAMIS_CONVOLVE_SHARPEN8,
    TAMIS_CONVOLVE_EDGE,
    TAMIS_CONVOLVE_LAPLACIAN,
    TAMIS_CONVOLVE_EMBOSS,
    TAMIS_CONVOLVE_GAUSS3,
    TAMIS_CONVOLVE_GAUSS5,
    TAMIS_CONVOLVE_BOX3,
    TAMIS_CONVOLVE_BOX5
} tamis_convolve_name;

typedef enum tamis_convolve_separable {
    TAMIS_CONVOLVE_SEPARABLE_AUTO,
    TAMIS_CONVOLVE_SEPARABLE_OFF
} tamis_convolve_separable;

/* Parameters of "convolve"; start from tamis_filter_defaults(). */
struct tamis_convolve {
    tamis_matrix kernel;
    double divisor;     /* -1 = the kernel's sum, or 1, as above */
    tamis_value bias;   /* added to the result */
    int anchor_x;       /* column of the kernel that lies on the pixel, from 0; -1 = w / 2 */
    int anchor_y;       /* row of the kernel that lies on the pixel; -1 = h / 2 */
    unsigned flip;      /* 0: correlation, 1: convolution */
    unsigned separable; /* tamis_convolve_separable */
    tamis_border border;
    tamis_value border_value;
    tamis_alpha_mode alpha;
};

#ifdef __cplusplus
}
#endif

#endif
