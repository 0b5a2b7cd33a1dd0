/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of any type, one at a time: for reference kernels. */
#ifndef TAMIS_CPU_SAMPLE_H
#define TAMIS_CPU_SAMPLE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <tamis/image.h>

/* Exact for every type that kernels read. */
static inline double tamis_priv_sample_get(tamis_type type, const void *row, ptrdiff_t i)
{
    switch (type) {
    case TAMIS_U8:
        return ((const uint8_t *)row)[i];
    case TAMIS_U16:
        return ((const uint16_t *)row)[i];
    case TAMIS_S16:
        return ((const int16_t *)row)[i];
    default:
        return ((const float *)row)[i];
    }
}

static inline double tamis_priv_sample_level(double v, double lo, double hi)
{
    return isnan(v) ? 0 : rint(v < lo ? lo : v > hi ? hi : v);
}

/* Integers to nearest, ties to even, clipped; NaN becomes 0 there. */
static inline void tamis_priv_sample_put(tamis_type type, void *row, ptrdiff_t i, double v)
{
    switch (type) {
    case TAMIS_U8:
        ((uint8_t *)row)[i] = (uint8_t)tamis_priv_sample_level(v, 0, 255);
        break;
    case TAMIS_U16:
        ((uint16_t *)row)[i] = (uint16_t)tamis_priv_sample_level(v, 0, 65535);
        break;
    case TAMIS_S16:
        ((int16_t *)row)[i] = (int16_t)tamis_priv_sample_level(v, -32768, 32767);
        break;
    default:
        ((float *)row)[i] = (float)v;
    }
}

#endif
