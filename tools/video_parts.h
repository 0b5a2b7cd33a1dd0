/* SPDX-License-Identifier: Apache-2.0 */
/* What is done to each part of a video's frames: luma or RGB, chroma, alpha. */
#ifndef TOOL_VIDEO_PARTS_H
#define TOOL_VIDEO_PARTS_H

#include "video.h"

typedef enum tool_part_way {
    TOOL_PART_NONE,   /* frames have no such part */
    TOOL_PART_COPY,   /* it stays */
    TOOL_PART_FILTER, /* it is filtered */
    TOOL_PART_NEUTRAL /* no color: what there was does not fit the result */
} tool_part_way;

typedef struct tool_video_part {
    tool_part_way way;
    tamis_graph *graph; /* the filters that are about it */
    tamis_plan *plan;   /* with FILTER */
    tamis_image guide;  /* for the plan; zero without one */
    int32_t w, h;       /* of the result */
    int level;          /* with NEUTRAL: of all samples */
    int offset;         /* added to all results: the level of black, where 0 stands for nothing */
    int highest;        /* results are clipped to; 0 = the type does it */
} tool_video_part;

typedef struct tool_video_parts {
    tamis_video_format in, out;
    tool_video_part part[TAMIS_VIDEO_PARTS];
    int around; /* frames before and after, that temporal filters look at */
} tool_video_parts;

/* Chooses from the chain and the options, and plans for frames like that one, the first. End it in
 * any case. Errors: ARGUMENT, UNSUPPORTED, MEMORY ... */
tamis_status tool_video_parts_open(tool_worker *worker, const tamis_video_format *format,
                                   const tamis_video_frame *like, tool_video_parts *out);
void tool_video_parts_close(tool_video_parts *parts);

/* Samples of a part that was filtered: the offset, and no more than the highest. */
void tool_video_levels(const tamis_image *image, int offset, int highest);
/* All samples of a part. */
void tool_video_fill(const tamis_image *image, int level);

#endif
