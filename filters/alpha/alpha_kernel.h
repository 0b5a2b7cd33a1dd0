/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ALPHA_KERNEL_H
#define ALPHA_KERNEL_H

typedef enum alpha_way { ALPHA_COPY, ALPHA_MULTIPLY, ALPHA_DIVIDE } alpha_way;

typedef struct alpha_coef {
    int colors; /* planes of color; alpha comes after them */
    int has_alpha, writes_alpha, opaque;
    alpha_way way;
    float range, highest;
} alpha_coef;

#endif
