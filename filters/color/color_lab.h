/* SPDX-License-Identifier: Apache-2.0 */
/* Lab in binary32: numbers that the vector rows and those of devices share. The powers are of the
 * mantissa by a polynomial of least relative error, times that of the exponent from a table; it has
 * 16 of them, which holds every color of integers. */
#ifndef TAMIS_COLOR_LAB_H
#define TAMIS_COLOR_LAB_H

#include "color_kernel.h"

/* v to a power, for 2^first <= v < 2^(first+16): coefficients for the mantissa less 1.5, and the
 * powers of 2^first, 2^(first+1) and so on. */
struct color_power {
    int first, degree;
    float c[8];
    float exponents[16];
};

static const struct color_power color_power_2_4 = {
    -4,
    6,
    {2.64617785f, 4.23388498f, 1.97580878f, 0.175608998f, -0.0175139323f, 0.00390834501f,
     -0.00125756078f},
    {0.00128858194f, 0.00680117628f, 0.0358968236f, 0.189464571f, 1, 5.27803164f, 27.857618f,
     147.033389f, 776.046882f, 4096, 21618.8176f, 114104.803f, 602248.763f, 3178688.03f, 16777216,
     88550676.9f}};
static const struct color_power color_cube_root = {
    -7,
    7,
    {1.14471427f, 0.254380774f, -0.0565323815f, 0.020943526f, -0.00924059168f, 0.00447271316f,
     -0.0027573354f, 0.00159081862f},
    {0.198425131f, 0.25f, 0.314980262f, 0.396850263f, 0.5f, 0.629960525f, 0.793700526f, 1,
     1.25992105f, 1.58740105f, 2, 2.5198421f, 3.1748021f, 4, 5.0396842f, 6.34960421f}};
static const struct color_power color_root_2_4 = {
    -9,
    7,
    {1.18405361f, 0.328903601f, -0.0639566819f, 0.0225090596f, -0.0096259247f, 0.00455271463f,
     -0.00274351499f, 0.00156488745f},
    {0.0743254447f, 0.0992125657f, 0.132432887f, 0.176776695f, 0.235968578f, 0.314980262f,
     0.420448208f, 0.561231024f, 0.749153538f, 1, 1.33483985f, 1.78179744f, 2.37841423f, 3.1748021f,
     4.23785238f, 5.65685425f}};

/* Up to here they do: the cube root then stays below 2^9. */
#define COLOR_RGB_LIMIT 8
#define COLOR_EPSILON   ((float)(216.0 / 24389))
#define COLOR_KAPPA     ((float)(24389.0 / 27))

/* Linear light to X, Y, Z over those of white. */
static const float color_xyz_of_linear[3][3] = {
    {(float)(0.4124564 / 0.95047), (float)(0.3575761 / 0.95047), (float)(0.1804375 / 0.95047)},
    {0.2126729f, 0.7151522f, 0.0721750f},
    {(float)(0.0193339 / 1.08883), (float)(0.1191920 / 1.08883), (float)(0.9503041 / 1.08883)}};

/* Up to here they do: light then stays below 2^7. */
#define COLOR_ROOT_LIMIT 2.5f

/* X, Y, Z over those of white to linear light. */
static const float color_linear_of_xyz[3][3] = {
    {(float)(3.2404542 * 0.95047), -1.5371385f, (float)(-0.4985314 * 1.08883)},
    {(float)(-0.9692660 * 0.95047), 1.8760108f, (float)(0.0415560 * 1.08883)},
    {(float)(0.0556434 * 0.95047), -0.2040259f, (float)(1.0572252 * 1.08883)}};

/* What is stored of L, a and b, from the three roots. */
struct color_lab_out {
    float scale[3], offset[3];
};

static inline struct color_lab_out color_lab_out_of(const color_coef *k)
{
    static const double unit[] = {116, 500, 200}, zero[] = {-16, 0, 0};
    struct color_lab_out o;
    for (int p = 0; p < 3; p++) {
        o.scale[p] = (float)(unit[p] * k->lab_scale[p]);
        o.offset[p] = (float)(zero[p] * k->lab_scale[p] + k->lab_offset[p]);
    }
    return o;
}

/* What L, a and b add to the three roots: (sample - offset) * scale. */
struct color_lab_in {
    float scale[3], offset[3];
};

static inline struct color_lab_in color_lab_in_of(const color_coef *k)
{
    static const double unit[] = {116, 500, -200}, zero[] = {-16, 0, 0};
    struct color_lab_in o;
    for (int c = 0; c < 3; c++) {
        o.scale[c] = (float)(1 / (unit[c] * k->lab_scale[c]));
        o.offset[c] = (float)(zero[c] * k->lab_scale[c] + k->lab_offset[c]);
    }
    return o;
}

#endif
