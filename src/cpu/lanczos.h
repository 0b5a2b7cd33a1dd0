/* SPDX-License-Identifier: Apache-2.0 */
/* The window that interp=lanczos3 means wherever it is offered. For planning, not for kernels. */
#ifndef TAMIS_CPU_LANCZOS_H
#define TAMIS_CPU_LANCZOS_H

#include <math.h>

static inline double tamis_priv_sinc(double t)
{
    t *= 3.14159265358979323846;
    return t == 0 ? 1 : sin(t) / t;
}

/* sinc(t) sinc(t / 3) for |t| < 3, else 0; exactly 0 at whole numbers but 0. */
static inline double tamis_priv_lanczos3(double t)
{
    return fabs(t) < 3 && (t == 0 || t != floor(t)) ? tamis_priv_sinc(t) * tamis_priv_sinc(t / 3)
                                                    : 0;
}

#endif
