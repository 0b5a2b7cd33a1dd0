/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of a plan. */
#ifndef TAMIS_GRAPH_PLAN_H
#define TAMIS_GRAPH_PLAN_H

#include <pthread.h>

#include "cpu/kernel.h"
#include "image/fetch.h"

/* Memory that nodes own, in a list. */
struct tamis_plan_block {
    struct tamis_plan_block *next;
    void *data;
    size_t mapped; /* bytes of a temporary file that data is */
};

/* One filter of a plan. Offsets are into a slot. */
typedef struct tamis_step {
    const tamis_filter *filter;
    void *params;
    tamis_node node;
    const tamis_kernel *kernel;
    int32_t out_w, out_h;
    tamis_fetch fetch, guide;
    int convert_in;    /* rows must be copied on the way in: type, layout or alpha differ */
    int convert_out;   /* ... and on the way out */
    int filtered;      /* planes the kernel reads; after them comes an alpha it does not see */
    int written;       /* planes the kernel writes */
    int copies_alpha;  /* 1: the output's last plane is the input's */
    int divides_alpha; /* 1: color was multiplied by alpha, which is the last plane */
    int max_w, max_h;  /* of the output of one tile */
    size_t previous[2 * TAMIS_MAX_FRAMES + 1]; /* output of the step before, per frame */
    size_t previous_stride, previous_plane;
    size_t padded[2 * TAMIS_MAX_FRAMES + 1], guide_padded; /* buffers of fetch and guide */
    size_t result, result_stride, result_plane; /* the kernel's output before conversion */
    size_t rows[2 * TAMIS_MAX_FRAMES + 1][TAMIS_MAX_CHANNELS];
    size_t guide_rows[TAMIS_MAX_CHANNELS], columns;
    size_t scratch;
    /* For gather with convert_in: the whole input as the kernel wants it. */
    tamis_image prepared;
    double outside[TAMIS_MAX_CHANNELS];
    void *finish_scratch;
} tamis_step;

/* Steps that are pulled through tile by tile. The result of one segment is whole before the next
 * begins: a segment ends before a step that reads its input anywhere and after one that has to
 * finish its output. */
typedef struct tamis_segment {
    int first, end; /* steps first .. end-1 */
    int tile_w, tile_h;
    int rolls;        /* tiles go down in columns, and rows that steps have in common stay */
    tamis_image hold; /* the whole result, where it does not go straight into the destination */
} tamis_segment;

/* Memory for one thread in one run. */
typedef struct tamis_slot {
    struct tamis_slot *next;
    char *data;
    tamis_box *held; /* for each step: what its buffer has of the output of the step before */
} tamis_slot;

struct tamis_plan {
    tamis_ctx *ctx;
    tamis_format in;
    int32_t w, h;
    int has_guide;
    tamis_format guide;
    int32_t guide_w, guide_h;
    int has_plane;
    tamis_plane plane;
    tamis_step *steps;
    int count;
    tamis_segment *segments;
    int segment_count; /* at least 1 */
    int frames;        /* before and after, that the first segment reads */
    size_t slot_bytes;
    size_t hold_bytes;                        /* of whole images */
    size_t file_bytes;                        /* of those that are in temporary files */
    size_t whole_bytes;                       /* of those that may be in memory; 0: all */
    struct tamis_plan_block *blocks, *mapped; /* ordinary memory, and temporary files */
    struct tamis_device_plan *device;         /* the first of a list; NULL: runs on the CPU */
    char *device_names;                       /* "cuda:0", "cuda:0,1" */
    int device_tile_h;                        /* rows of a band; 0: as many as possible */
    /* Slots are handed out under the mutex, and whole images belong to the run that has the turn:
     * only these parts of a plan change. */
    tamis_slot *slots, *free_slots;
    int slot_count;
    pthread_mutex_t mutex, turn;
    pthread_cond_t slot_freed;
};

/* The size of tile that steps begin with. */
#define TAMIS_PLAN_TILE_W 1024
#define TAMIS_PLAN_TILE_H 64

/* Whether the segment's last step has to see its complete output. */
int tamis_priv_segment_finishes(const tamis_plan *plan, const tamis_segment *segment);

/* Format and size of what goes into step k; k = count gives the plan's result. */
tamis_format tamis_priv_plan_format(const tamis_plan *plan, int k);
void tamis_priv_plan_size(const tamis_plan *plan, int k, int32_t *w, int32_t *h);

/* Zeroed memory that lives as long as the plan; NULL when there is none. */
void *tamis_priv_plan_alloc(tamis_plan *plan, size_t size);

/* step.c: decides step k, the filters before it being decided. only: the kernel rows to choose
 * among, or NULL. */
tamis_status tamis_priv_step_make(tamis_plan *plan, int k, const tamis_filter *filter,
                                  const void *params, const char *only);
/* plane.c: checks a plane's description. Errors: ARGUMENT. */
tamis_status tamis_priv_plane_check(tamis_ctx *ctx, const tamis_plane *plane, int32_t w, int32_t h);
/* Makes a filter's parameters those for the plane. */
void tamis_priv_plane_scale(const tamis_filter *filter, const tamis_plane *plane, void *params);

/* The pixels of its input that a step needs for a part of its output. */
tamis_box tamis_priv_step_need(const tamis_step *step, tamis_rect part);

/* tile.c: sets the segment's tile, its steps being decided. */
void tamis_priv_segment_choose_tile(const tamis_plan *plan, tamis_segment *segment,
                                    const tamis_plan_options *options);
/* How many tiles a thread takes at a time of a part of the segment's result, which is made for so
 * many pictures at once: side by side, or one below the other where the segment rolls. */
int64_t tamis_priv_segment_group(const tamis_plan *plan, const tamis_segment *segment,
                                 tamis_rect part, int64_t pictures);

/* memory.c: sets the step's outside, the border's value as a sample of the work type holds it, for
 * each channel. */
void tamis_priv_step_make_outside(tamis_step *s);

/* memory.c: reserves the memory of all steps and slots, tiles and segments being decided. */
tamis_status tamis_priv_plan_reserve(tamis_plan *plan);

/* The part of a segment's result that has to be computed for a part of it: all where it is finished
 * as a whole. */
tamis_rect tamis_priv_segment_part(const tamis_plan *plan, const tamis_segment *segment,
                                   tamis_rect part);

/* The part of a segment's input that a part of its output depends on. */
tamis_rect tamis_priv_segment_need(const tamis_plan *plan, const tamis_segment *segment,
                                   tamis_rect part);

/* The part of the first segment's result that has to be computed for a part of the plan's. */
tamis_rect tamis_priv_plan_first_part(const tamis_plan *plan, tamis_rect part);
/* The part of the plan's guide that a part of the first segment's result depends on. */
tamis_rect tamis_priv_first_need_guide(const tamis_plan *plan, tamis_rect part);

/* The part of the plan's input, and of its guide, that a part of its result depends on. */
tamis_rect tamis_priv_plan_need(const tamis_plan *plan, tamis_rect part);
tamis_rect tamis_priv_plan_need_guide(const tamis_plan *plan, tamis_rect part);

#endif
