/* SPDX-License-Identifier: Apache-2.0 */
/* Handing rows to kernels: borders, layouts, sample types and alpha end here.
 *
 * A kernel sees rows of the type it asked for, complete on all sides. Where the image's own memory
 * already looks like that, rows point into it; otherwise they are copied, converted and padded. */
#ifndef TAMIS_IMAGE_FETCH_H
#define TAMIS_IMAGE_FETCH_H

#include <tamis/image.h>

#include "image/box.h"
#include "image/convert.h"

/* How the rows are to look; fixed when planning. */
typedef struct tamis_fetch {
    const tamis_convert *loops;
    tamis_format format; /* of the source samples */
    tamis_type work;     /* of the rows */
    int planes, step; /* of the rows: channels each in a plane of step 1, or 1 plane, all inside */
    int premultiply;  /* multiply color by the last plane; work is F32 then */
    tamis_border border;
    int32_t w, h; /* size of the source image */
    int left;     /* columns of a box before the one that row pointers point at */
    void *constant[TAMIS_MAX_CHANNELS]; /* rows of the border's value; NULL without CONSTANT */
    size_t row_bytes, plane_bytes;      /* of the padded buffer */
} tamis_fetch;

/* Source samples in memory: the columns x .. x+w-1 and rows y .. y+h-1 of an image. */
typedef struct tamis_source {
    const void *data[TAMIS_MAX_CHANNELS]; /* the sample at (x, y) of each plane */
    ptrdiff_t stride[TAMIS_MAX_CHANNELS];
    int64_t x, y;
    int w, h;
    int slack;    /* 1: tamis_priv_fetch_slack() bytes before and after each row may be read */
    int between;  /* 1: bytes between the first row and the last may be read: only before and after
                     these two there is no slack */
    int complete; /* 1: holds every pixel of the box asked for, those outside the image included */
} tamis_source;

/* Bytes that kernels may read before and after the samples of a row: 128, or 64 samples. */
#define TAMIS_FETCH_SLACK_MAX 256
static inline int tamis_priv_fetch_slack(tamis_type work)
{
    int bytes = 64 * (int)tamis_type_size(work);
    return bytes < 128 ? 128 : bytes;
}

/* Fills in row_bytes and plane_bytes for boxes up to w x h; returns the bytes of the buffer. */
size_t tamis_priv_fetch_layout(tamis_fetch *f, int w, int h);

/* Whether rows can point into the source, given that work and layout agree. */
int tamis_priv_fetch_is_inside(const tamis_fetch *f, const tamis_source *s, tamis_box need);

/* Sets rows[p][0 .. need.h-1] to point at column need.x + left of each row: into the source (rows
 * without slack are copied to the padded buffer) ... */
void tamis_priv_fetch_direct(const tamis_fetch *f, const tamis_source *s, tamis_box need,
                             void *buffer, const void **const *rows);
/* ... or into the padded buffer, which is filled. columns has room for need.w numbers. */
void tamis_priv_fetch_padded(const tamis_fetch *f, const tamis_source *s, tamis_box need,
                             void *buffer, int64_t *columns, const void **const *rows);

/* Writes n pixels of the source from (x, y) on, in the form that the fetch asks for, to a row of
 * each plane. */
void tamis_priv_fetch_row(const tamis_fetch *f, const tamis_source *s, int64_t x, int64_t y,
                          size_t n, void *const *dst);

/* The part of the image that the pixels of need come from under the fetch's border. */
tamis_box tamis_priv_fetch_origin(const tamis_fetch *f, tamis_box need);

#endif
