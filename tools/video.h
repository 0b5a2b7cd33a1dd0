/* SPDX-License-Identifier: Apache-2.0 */
/* Videos: one thread reads, the worker has frames filtered, another thread writes. */
#ifndef TOOL_VIDEO_H
#define TOOL_VIDEO_H

#include <tamis/video.h>

#include "job.h"

/* Whether a file is a video, by --raw or by its content. */
int tool_video_is(const tool_worker *worker, const tool_file *file);

/* Filters it, as tool_worker_file() does with pictures. */
tamis_status tool_video_file(tool_worker *worker, const tool_file *file, tool_report *report);

/* The options that go to the reader. Errors: ARGUMENT. */
tamis_status tool_video_read_options(tool *t, tamis_video_read_options *out);

/* For tamis info. */
struct json_t;
tamis_status tool_video_info(tool *t, const char *name, struct json_t *file);

#endif
