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
};

/* One filter of a plan. Offsets are into a slot. */
typedef struct tamis_step {
    const tamis_filter *filter;
    void *params;
    tamis_node node;
    const tamis_kernel *kernel;
    int32_t out_w, out_h;
    tamis_fetch fetch, guide;
    int convert;      /* rows must be copied on the way in and out: type, layout or alpha differ */
    int filtered;     /* planes the kernel works on; the rest are copied (alpha=ignore) */
    int max_w, max_h; /* of the output of one tile */
    size_t previous, previous_stride, previous_plane; /* output of the step before, for k > 0 */
    size_t padded, guide_padded;                      /* buffers of fetch and guide */
    size_t result, result_stride, result_plane;       /* the kernel's output before conversion */
    size_t rows[TAMIS_MAX_CHANNELS], guide_rows[TAMIS_MAX_CHANNELS], columns;
    size_t scratch;
} tamis_step;

/* Memory for one thread in one run. */
typedef struct tamis_slot {
    struct tamis_slot *next;
    char *data;
} tamis_slot;

struct tamis_plan {
    tamis_ctx *ctx;
    tamis_format in;
    int32_t w, h;
    int has_guide;
    tamis_format guide;
    tamis_step *steps;
    int count;
    int tile_w, tile_h;
    size_t slot_bytes;
    struct tamis_plan_block *blocks;
    /* Slots are handed out under the mutex: that is the only part of a plan that changes. */
    tamis_slot *slots, *free_slots;
    int slot_count;
    pthread_mutex_t mutex;
    pthread_cond_t slot_freed;
};

/* Format and size of what goes into step k; k = count gives the plan's result. */
tamis_format tamis_priv_plan_format(const tamis_plan *plan, int k);
void tamis_priv_plan_size(const tamis_plan *plan, int k, int32_t *w, int32_t *h);

/* The pixels of its input that a step needs for a part of its output. */
tamis_box tamis_priv_step_need(const tamis_step *step, tamis_rect rect);

#endif
