/* SPDX-License-Identifier: Apache-2.0 */
/* Names of pixel formats, as FFmpeg's users know them, and the bytes of a frame laid out so. */
#ifndef TAMIS_IO_VIDEO_PIXELS_H
#define TAMIS_IO_VIDEO_PIXELS_H

#include <tamis/video.h>

/* Samples of an axis with n that are left when sub halvings are made. */
static inline int32_t tamis_priv_video_sub(int32_t n, int sub)
{
    return (int32_t)(((int64_t)n + (1 << sub) - 1) >> sub);
}

/* Whether two formats hold samples of one kind, whatever their size, range and siting. */
static inline int tamis_priv_video_pixels_alike(const tamis_video_format *a,
                                                const tamis_video_format *b)
{
    return a->model == b->model && a->type == b->type && a->bits == b->bits &&
           a->sub_x == b->sub_x && a->sub_y == b->sub_y && a->alpha == b->alpha;
}

/* How bare frames lie in a file: plane after plane, or with a pixel's samples side by side. */
typedef struct tamis_video_layout {
    tamis_video_format format;
    int packed; /* 1: R, G, B (and no more) interleaved; 2: Cb and Cr interleaved (NV12); 0: planes;
                   -1: planes, G, B, R in this order */
} tamis_video_layout;

/* Reads a name such as "yuv420p10" or "yuv420p10le" into all but the size of *out. Returns 0 when
 * there is no such name here. */
int tamis_priv_video_pixels_parse(const char *name, tamis_video_layout *out);
/* The name of frames of that format, planar: "yuv420p10"; returns buf. */
const char *tamis_priv_video_pixels_print(const tamis_video_format *format, char *buf, size_t size);

/* Reads "WxH:PIXELS[:RATE]". num / den is 0 / 0 without a rate. */
int tamis_priv_video_raw_parse(const char *text, tamis_video_layout *out, int *num, int *den);

/* Bytes of a frame; 0 when it would be too large. */
uint64_t tamis_priv_video_frame_bytes(const tamis_video_layout *layout);
/* The parts of a frame whose bytes begin at data. */
void tamis_priv_video_frame_map(const tamis_video_layout *layout, void *data,
                                tamis_video_frame *frame);

#endif
