/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the video module share: clips to make, to copy and to compare. */
#ifndef TAMIS_TESTS_IO_VIDEO_SUPPORT_H
#define TAMIS_TESTS_IO_VIDEO_SUPPORT_H

#include <tamis/video.h>

#include "io_support.h"

/* Threads inside FFmpeg; 1 where a thread sanitizer would not see how they agree. */
#ifndef TEST_VIDEO_THREADS
#define TEST_VIDEO_THREADS 0
#endif
/* Options with that many threads; either may be NULL. */
tamis_video_read_options video_reading(const tamis_video_read_options *options);
tamis_video_write_options video_writing(const tamis_video_write_options *options);

/* Makes a clip with samples that are the same for the same seed; time[i] in seconds, or NULL for a
 * constant rate. */
void video_make(const char *path, const tamis_video_format *format, int frames, const double *time,
                const tamis_video_write_options *options);
/* Copies all frames as they are; returns how many, or -1 with the reason in the context. Neither
 * set of options needs to be there. dropped and damage may be NULL, else have 512 bytes. */
int video_copy(const char *from, const char *to, const tamis_video_read_options *read,
               const tamis_video_write_options *write, char *dropped, char *damage);

/* A hash of all samples; frames, times and the format go where these are not NULL. times has room
 * for 256. */
uint32_t video_hash(const char *path, int *frames, double *times, tamis_video_info *info);

/* Runs ffmpeg with these arguments in the scratch folder; skips the test where there is no such
 * program. */
void video_ffmpeg(const char *arguments);
/* What ffprobe or ffmpeg print, in a buffer that the next call uses again. */
const char *video_ask(const char *command);

#endif
