/* SPDX-License-Identifier: Apache-2.0 */
/* Frames through the filters, while others are read and written. */
#ifndef TOOL_VIDEO_RUN_H
#define TOOL_VIDEO_RUN_H

#include "video_parts.h"

/* Filters the first frame, which it takes over, and all that follow. A frame that cannot be
 * filtered or written ends it; nothing is finished. */
tamis_status tool_video_run(tool_worker *worker, tamis_video_reader *reader,
                            tamis_video_writer *writer, const tool_video_parts *parts,
                            tamis_video_frame *first, tool_report *report);

/* Memory that it takes at most, beside that of plans. */
size_t tool_video_bytes(const tool_video_parts *parts);

#endif
