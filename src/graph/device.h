/* SPDX-License-Identifier: Apache-2.0 */
/* Plans that run on a device. */
#ifndef TAMIS_GRAPH_DEVICE_H
#define TAMIS_GRAPH_DEVICE_H

#include <stdatomic.h>

#include "gpu/backend.h"
#include "graph/plan.h"

/* What a plan for a device has beside its steps; a list, where it is for several. */
struct tamis_device_plan {
    struct tamis_device_plan *next;
    const tamis_backend *backend;
    tamis_gpu *gpu;
    int index;
    char name[16];
    /* For each step, and what its row has prepared. */
    const tamis_gpu_kernel **kernels;
    void **states;
    void **uploads; /* device memory of states */
    int upload_count, upload_room;
    atomic_int turn; /* of the first in the list: counts pictures that one device takes alone */
};

/* Chooses and prepares a kernel row for each step of a plan whose steps are decided, on each of the
 * context's devices. Errors: UNSUPPORTED (a filter has no such row), MEMORY, DEVICE. */
tamis_status tamis_priv_device_plan(tamis_plan *plan);
void tamis_priv_device_plan_free(tamis_plan *plan);

/* Whether a part of the result is made from the whole source, so that bands save no memory. */
int tamis_priv_device_needs_whole(const tamis_plan *plan);

/* Memory there that a run for a whole picture needs at once, about; ends: with source and result.
 */
size_t tamis_priv_device_bytes(const tamis_plan *plan, int ends);

/* How many devices a plan is for; 0: it is for the CPU. */
int tamis_priv_device_count(const tamis_plan *plan);

/* Runs such a plan; the images have been checked, and are all in host memory, all on the device, or
 * there but for the result and perhaps the guide. */
tamis_status tamis_priv_device_run(const tamis_plan *plan, const tamis_image *src, tamis_rect rect,
                                   const tamis_image *dst, const tamis_run_options *options);

/* As tamis_plan_run_many(), likewise. */
tamis_status tamis_priv_device_run_many(const tamis_plan *plan, const tamis_image *srcs,
                                        const tamis_image *dsts, size_t count,
                                        const tamis_run_options *options);

#endif
