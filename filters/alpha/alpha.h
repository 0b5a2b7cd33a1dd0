/* SPDX-License-Identifier: Apache-2.0 */
/* alpha: multiplies color by alpha, divides it again, drops alpha or adds it.
 *
 * Filters with a window take care of alpha by themselves (alpha=premultiply); this filter is for
 * files and programs that want another convention.
 *
 * to=premultiplied: color * alpha / range. to=straight: color * range / alpha, and 0 where alpha is
 * 0. to=none: alpha is left out; color stays as it is, straight or premultiplied. to=opaque: alpha
 * is added with the highest level of the type (32767 in s16), or set to it.
 * A picture that already is as asked for is copied.
 *
 * Computed in binary32, rounded once to the nearest level, ties to even, and clipped. From
 * premultiplied u8 back to straight, color is as exact as alpha lets it be: off by up to half a
 * level * 255 / alpha. NaN and infinities touch their own pixel only. */
#ifndef TAMIS_ALPHA_H
#define TAMIS_ALPHA_H

#include <tamis/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tamis_alpha_to {
    TAMIS_ALPHA_TO_PREMULTIPLIED,
    TAMIS_ALPHA_TO_STRAIGHT,
    TAMIS_ALPHA_TO_NONE,
    TAMIS_ALPHA_TO_OPAQUE
} tamis_alpha_to;

/* Parameters of "alpha"; the filter's name being taken by the type of images' alpha, the struct is
 * called after what it does. */
struct tamis_alpha_change {
    unsigned to; /* tamis_alpha_to */
};

#ifdef __cplusplus
}
#endif

#endif
