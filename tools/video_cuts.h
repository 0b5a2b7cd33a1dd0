/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts of scenes, by a look at luma.
 *
 * A frame is brought down to the means of GRID x GRID blocks, in which noise is gone. The distance
 * of two frames is the mean absolute difference of these, less that of the frames' means, in per
 * cent of the range: light that goes on or off all over the picture is no cut. A frame begins a
 * scene when it is further than the threshold from the one before, and three times as far as
 * frames usually are: as the second largest of the last distances says. So fast motion, which goes
 * on, is no cut but for its first frames. */
#ifndef TOOL_VIDEO_CUTS_H
#define TOOL_VIDEO_CUTS_H

#include <tamis/image.h>

enum { TOOL_CUTS_GRID = 16, TOOL_CUTS_MEMORY = 4 };

typedef struct tool_cuts {
    double threshold; /* per cent of the range; 0 = nothing is a cut */
    double range;
    double means[TOOL_CUTS_GRID * TOOL_CUTS_GRID]; /* of the frame before */
    double distances[TOOL_CUTS_MEMORY];            /* of the frames before */
    int64_t frames;                                /* seen */
} tool_cuts;

void tool_cuts_open(tool_cuts *cuts, double threshold, double range);
/* The rows that are looked at, as a picture in the same memory: of large ones every so many. */
tamis_image tool_cuts_rows(const tamis_image *luma);
/* Whether the next frame, the rows of its luma or first channel, begins a scene; the first one does
 * not. */
int tool_cuts_step(tool_cuts *cuts, const tamis_image *rows);

#endif
