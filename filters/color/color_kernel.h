/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLOR_KERNEL_H
#define COLOR_KERNEL_H

#include "cpu/kernel.h"

/* What all rows compute: for each output plane p
 *     offset[p] + m[p][0] in[0] + m[p][1] in[1] + m[p][2] in[2]
 * in binary32, from the offset on, each term by a fused multiply-add. */
typedef struct color_coef {
    int inputs, outputs; /* planes: 1 or 3 */
    float m[3][3], offset[3];
    /* Lab: sample = value * scale + offset. */
    double lab_scale[3], lab_offset[3];
    double range; /* of RGB samples */
} color_coef;

/* The references of Lab, for pixels beyond what the vector rows can do. */
void tamis_priv_color_to_lab_f32(const tamis_tile *t, const void *coef);
void tamis_priv_color_from_lab_f32(const tamis_tile *t, const void *coef);

/* Kernels in files of their own; here TAMIS_ISA is defined only where kernels are compiled. */
#ifdef TAMIS_ISA
void TAMIS_FN(tamis_priv_color_to_lab)(const tamis_tile *t, const void *coef, tamis_type type);
void TAMIS_FN(tamis_priv_color_from_lab)(const tamis_tile *t, const void *coef, tamis_type type);
#endif

#endif
