/* SPDX-License-Identifier: Apache-2.0 */
/* First bytes of files, and what they tell. */
#ifndef TAMIS_IO_VIDEO_PROBE_H
#define TAMIS_IO_VIDEO_PROBE_H

#include "video_ops.h"

/* Up to size of the first bytes of a file, or of what standard input gives next, which keeps them;
 * returns how many. */
size_t tamis_priv_video_peek(tamis_ctx *ctx, const char *path, uint8_t *head, size_t size);
/* Whether a file that begins so is a video. */
int tamis_priv_video_is(const uint8_t *head, size_t size);

#endif
