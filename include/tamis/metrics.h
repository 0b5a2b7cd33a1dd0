/* SPDX-License-Identifier: Apache-2.0 */
/* How two pictures of one size differ. */
#ifndef TAMIS_METRICS_H
#define TAMIS_METRICS_H

#include <tamis/image.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sums over samples; zero-initialize, add pictures, then read. A pair of NaNs, or of equal
 * infinities, is no difference; one NaN against a number is counted in unordered and nowhere else.
 */
typedef struct tamis_metrics {
    uint64_t samples, different, unordered;
    double max_abs;              /* largest absolute difference, in sample units */
    int32_t x, y;                /* where it is: the first such place */
    int channel, page;           /* likewise */
    double sum_abs, sum_squares; /* of the differences */
    double ssim_sum;             /* over channels and pages */
    int ssim_count;              /* 0 where pictures are smaller than the SSIM window */
} tamis_metrics;

/* What the SSIM is, for reports. */
#define TAMIS_SSIM_VARIANT                                                                         \
    "Wang 2004: 11x11 Gaussian window, sigma 1.5, K1=0.01, K2=0.03, windows inside the picture, "  \
    "mean over channels"

/* Adds a pair of pictures of one size and number of channels; sample types and layouts may differ,
 * and alpha is a channel like the others. page is what `page` of the metrics says if the largest
 * difference is here. peak is the data range for SSIM, which is left out when peak is 0.
 * Errors: ARGUMENT (shapes differ, pictures on a device), MEMORY; then *metrics is as it was.
 * Thread-safe for distinct metrics. */
TAMIS_API tamis_status tamis_metrics_add(tamis_ctx *ctx, const tamis_image *a, const tamis_image *b,
                                         int page, double peak, tamis_metrics *metrics);

/* Where two pictures are alike: sample (x, y) of map, a picture of one F32 channel that is 10
 * pixels narrower and lower than a and b, is the SSIM of the window around pixel (x + 5, y + 5),
 * mean over channels. The map's mean is what tamis_metrics_ssim() tells of the pair. Errors:
 * ARGUMENT (shapes differ, pictures smaller than 11x11, peak not above 0), MEMORY. Thread-safe for
 * distinct maps. */
TAMIS_API tamis_status tamis_metrics_map(tamis_ctx *ctx, const tamis_image *a, const tamis_image *b,
                                         double peak, const tamis_image *map);

/* Mean squared and mean absolute error, NaN without samples. */
TAMIS_API double tamis_metrics_mse(const tamis_metrics *metrics);
TAMIS_API double tamis_metrics_mae(const tamis_metrics *metrics);
/* 10 log10(peak^2 / MSE) in dB; infinite when the pictures are the same. */
TAMIS_API double tamis_metrics_psnr(const tamis_metrics *metrics, double peak);
/* Mean over channels and pages; NaN when there is none. */
TAMIS_API double tamis_metrics_ssim(const tamis_metrics *metrics);

#ifdef __cplusplus
}
#endif

#endif
