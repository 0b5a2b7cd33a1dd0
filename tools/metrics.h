/* SPDX-License-Identifier: Apache-2.0 */
/* Measures of how two pictures of one size differ. */
#ifndef TOOL_METRICS_H
#define TOOL_METRICS_H

#include <tamis/image.h>

/* Where two pictures differ most. */
typedef struct tool_spot {
    int32_t x, y;
    int channel, page;
} tool_spot;

/* Sums over samples; start zeroed, add pages, then read. A pair of NaNs, or of equal infinities,
 * is no difference; one NaN against a number is counted in unordered and nowhere else. */
typedef struct tool_metrics {
    uint64_t samples, different, unordered;
    double max_abs;
    tool_spot spot; /* of max_abs */
    double sum_abs, sum_squares;
    double ssim_sum; /* over channels and pages */
    int ssim_count;  /* 0 where the picture is smaller than the SSIM window */
} tool_metrics;

/* What the SSIM is, for reports. */
#define TOOL_SSIM_VARIANT                                                                          \
    "Wang 2004: 11x11 Gaussian window, sigma 1.5, K1=0.01, K2=0.03, windows inside the picture, "  \
    "mean over channels"

/* Adds a page: a and b are F32 or integer images of one size and number of channels, peak the data
 * range of SSIM, which is left out when peak is 0. */
void tool_metrics_add(tool_metrics *m, const tamis_image *a, const tamis_image *b, int page,
                      double peak);

double tool_metrics_mse(const tool_metrics *m);
/* Mean absolute error. */
double tool_metrics_mae(const tool_metrics *m);
/* In dB; infinite when the pictures are the same. */
double tool_metrics_psnr(const tool_metrics *m, double peak);
/* NaN when there is none. */
double tool_metrics_ssim(const tool_metrics *m);

/* One row of one channel as doubles. F16 is not known here: convert it first. */
void tool_row_read(const tamis_image *image, int channel, int32_t y, double *out);
/* Back again, rounded to nearest and saturated. */
void tool_row_write(const tamis_image *image, int channel, int32_t y, const double *row);

#endif
