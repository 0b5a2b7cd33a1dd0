/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of pictures as doubles. */
#ifndef TOOL_ROWS_H
#define TOOL_ROWS_H

#include <tamis/image.h>

/* One row of one channel as doubles. F16 is not known here: convert it first. */
void tool_row_read(const tamis_image *image, int channel, int32_t y, double *out);
/* Back again, rounded to nearest and saturated. */
void tool_row_write(const tamis_image *image, int channel, int32_t y, const double *row);

#endif
