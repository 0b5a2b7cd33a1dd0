/* SPDX-License-Identifier: Apache-2.0 */
/* What a filter may know of a picture to choose parameters by. */
#ifndef TAMIS_CPU_PICTURE_H
#define TAMIS_CPU_PICTURE_H

#include <tamis/estimate.h>

#include "core/number.h"

/* How often values of each size occur; see graph/histogram.h. */
typedef struct tamis_histogram tamis_histogram;
/* The size that a share (0 .. 1) of the values other than 0 do not exceed; 0 when there is none. */
double tamis_priv_histogram_quantile(const tamis_histogram *histogram, double share);

/* The picture that comes to a filter, for parameters that are chosen from it. */
typedef struct tamis_picture {
    tamis_format format;
    int32_t w, h;
    int colors; /* channels without alpha */
    tamis_noise noise[TAMIS_MAX_CHANNELS];
    const tamis_histogram *histogram; /* of the result of what measure() asked for */
    struct tamis_risk *risk;          /* for the functions below; only in expand() */
} tamis_picture;

/* The mean squared error that a chain is expected to leave in the picture, in sample units squared:
 * from samples of the picture and what is known of its noise; see graph/risk.h. The chain leaves
 * format and size as they are. After a failure, which ends resolving, it is 0 at once. */
double tamis_priv_picture_risk(const tamis_picture *picture, const char *chain);
/* The share of samples at an end of the type's range, where noise has been cut off. */
double tamis_priv_picture_ends(const tamis_picture *picture);
/* And of such as stand out from their neighbors: impulses, where these are not dark or bright. */
double tamis_priv_picture_alone(const tamis_picture *picture);

/* Standard deviation of the noise: of all colors taken together, and of their luma. */
double tamis_priv_picture_sigma(const tamis_picture *picture);
double tamis_priv_picture_luma_sigma(const tamis_picture *picture);
/* The largest share of impulses of a channel. */
double tamis_priv_picture_impulses(const tamis_picture *picture);

/* Four digits: no more are known, and people read them. */
double tamis_priv_picture_round(double v);

/* The h of nlmeans that suits noise of a deviation, in samples of a range, where sigma is told as
 * well or not: the best of a search on real pictures. Defined by nlmeans. */
double tamis_priv_nlmeans_strength(double noise, double range, int told);

/* An h that was computed as nlmeans takes it: 0 where it is less than the least. */
double tamis_priv_nlmeans_least(double h);

/* Whether a value waits to be chosen. */
static inline int tamis_priv_value_is_auto(tamis_value value)
{
    return value.value == TAMIS_AUTO;
}

#endif
