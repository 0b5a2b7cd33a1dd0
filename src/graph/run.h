/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of a run. */
#ifndef TAMIS_GRAPH_RUN_H
#define TAMIS_GRAPH_RUN_H

#include "graph/plan.h"

/* Where a step's output goes: the sample at the tile's top left corner of each plane. */
typedef struct tamis_surface {
    char *data[TAMIS_MAX_CHANNELS];
    ptrdiff_t stride[TAMIS_MAX_CHANNELS];
    int aligned; /* 1: kernels may write there */
} tamis_surface;

/* One segment of a run. */
typedef struct tamis_pass {
    const tamis_plan *plan;
    const tamis_segment *segment;
    const tamis_image *src, *guide;
    /* Frames before and after src, NULL where there are none; frames[0] is plan->frames before.
     * NULL without temporal filters. */
    const tamis_image *const *frames;
    /* The pixel of the whole that is the first of src and of the frames, and of the guide. */
    int32_t src_x, src_y, guide_x, guide_y;
    const tamis_image *dst;
    tamis_rect rect; /* of the segment's result; dst's top left pixel is its corner */
    int src_aligned, dst_aligned;
    const volatile int *cancel; /* the caller's flag, or NULL */
} tamis_pass;

/* Whether all samples of an image have the alignment of their type. */
int tamis_priv_is_aligned(const tamis_image *image);

/* Bytes from one pixel to the next in a plane. */
size_t tamis_priv_pixel_bytes(const tamis_format *format);

/* pull.c: as fetching sees it, an image that is a part, from (x, y) on, of another. */
tamis_source tamis_priv_source_of_image(const tamis_image *image, int32_t x, int32_t y);

/* pull.c: computes a part of the segment's result, with the memory of one slot. What the slot has
 * from a part before, where the segment rolls, is kept until tamis_priv_pull_begin() forgets it,
 * which each thread calls first. */
void tamis_priv_pull_begin(const tamis_pass *pass, const tamis_slot *slot);
void tamis_priv_pull(const tamis_pass *pass, const tamis_slot *slot, tamis_rect part,
                     const tamis_surface *dst);

/* Computes a part of the result of segment i, on the CPU, from src or, where that is NULL, from
 * what the plan holds of the segment before; into dst, which has the part's size, or where it is
 * NULL into what the plan holds. A result that is to be finished is so by the second function, when
 * all of it is there. The caller has the plan's turn. */
void tamis_priv_run_part(const tamis_plan *plan, int i, const tamis_image *src, tamis_rect part,
                         const tamis_image *dst, const tamis_run_options *options);
void tamis_priv_run_finish(const tamis_plan *plan, int i, const tamis_run_options *options);

/* run.c: runs a plan for the CPU, the images having been checked. 0: it was canceled. */
int tamis_priv_host_run(const tamis_plan *plan, const tamis_image *src, tamis_rect rect,
                        const tamis_image *dst, const tamis_run_options *options);

/* The same part of the results of many pictures, alike in all but their samples. */
int tamis_priv_host_run_many(const tamis_plan *plan, const tamis_image *srcs,
                             const tamis_image *dsts, size_t count, tamis_rect rect,
                             const tamis_run_options *options);

/* match.c: whether two images share bytes. */
int tamis_priv_images_overlap(const tamis_image *a, const tamis_image *b);

/* match.c: rows that lie in one another would be written by several threads at once. A source may
 * have them: with stride 0 all its rows are the same. what names the caller. Errors: ARGUMENT. */
tamis_status tamis_priv_rows_check(tamis_ctx *ctx, const char *what, const tamis_image *dst);

/* match.c: whether a run's images fit the plan and each other. what names the caller in messages.
 * Errors: ARGUMENT. */
tamis_status tamis_priv_run_check(const tamis_plan *plan, const tamis_image *src, tamis_rect rect,
                                  const tamis_image *dst, const tamis_run_options *options);
/* Whether the guide does, for a part of the result. */
tamis_status tamis_priv_guide_check(const tamis_plan *plan, tamis_rect rect,
                                    const tamis_run_options *options);
/* match.c: fails with CANCELED when the caller wants the run to stop. */
tamis_status tamis_priv_cancel_check(const tamis_plan *plan, const tamis_run_options *options);
/* match.c: what two parts of an image have in common, and whether they are the same. */
tamis_rect tamis_priv_rect_common(tamis_rect a, tamis_rect b);
int tamis_priv_rect_is_same(tamis_rect a, tamis_rect b);
tamis_status tamis_priv_rect_check(tamis_ctx *ctx, const char *what, tamis_rect rect, int32_t w,
                                   int32_t h);

#endif
