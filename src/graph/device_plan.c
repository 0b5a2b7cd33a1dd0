/* SPDX-License-Identifier: Apache-2.0 */
/* From steps to kernel rows of a device. */
#include <stdio.h>
#include <string.h>

#include "core/ctx.h"
#include "core/devices.h"
#include "graph/device.h"

static const tamis_gpu_kernel *find_row(const tamis_backend *backend, const tamis_step *s)
{
    const tamis_gpu_filter *f = backend->filters;
    while (f->name && strcmp(f->name, s->filter->name) != 0)
        f++;
    for (const tamis_gpu_kernel *k = f->name ? f->kernels : NULL; k && k->stage; k++)
        if (k->type == s->node.work && strcmp(k->stage, s->node.stage) == 0)
            return k;
    return NULL;
}

/* What a row sees while it prepares, and what that needs. */
struct preparing {
    tamis_gpu_prep prep; /* first, so that the row's pointer is that of all */
    tamis_plan *plan;
    struct tamis_device_plan *device;
};

static void *prep_alloc(tamis_gpu_prep *prep, size_t size)
{
    struct preparing *p = (struct preparing *)(void *)prep;
    void *data = tamis_priv_plan_alloc(p->plan, size);
    if (!data)
        snprintf(prep->fault->text, sizeof prep->fault->text, "no memory");
    return data;
}

/* Remembers device memory that is to go with the plan; 0 when there is no room for that. */
static int keep(tamis_plan *plan, struct tamis_device_plan *d, void *data)
{
    if (d->upload_count == d->upload_room) {
        int room = 2 * d->upload_room + 8;
        void **more = tamis_priv_plan_alloc(plan, (size_t)room * sizeof *more);
        if (!more)
            return 0;
        if (d->upload_count)
            memcpy(more, d->uploads, (size_t)d->upload_count * sizeof *more);
        d->uploads = more;
        d->upload_room = room;
    }
    d->uploads[d->upload_count++] = data;
    return 1;
}

static void *prep_upload(tamis_gpu_prep *prep, const void *data, size_t size)
{
    struct preparing *p = (struct preparing *)(void *)prep;
    struct tamis_device_plan *d = p->device;
    void *memory = NULL, *stream = NULL;
    if (d->backend->alloc(d->gpu, NULL, size ? size : 1, &memory, prep->fault) != TAMIS_OK)
        return NULL;
    if (!keep(p->plan, d, memory)) {
        d->backend->free(d->gpu, NULL, memory);
        snprintf(prep->fault->text, sizeof prep->fault->text, "no memory");
        return NULL;
    }
    tamis_gpu_copy copy = {.device = memory, .host = (char *)data, .bytes = size, .count = 1};
    tamis_status status = d->backend->stream_get(d->gpu, &stream, prep->fault);
    if (status == TAMIS_OK) {
        status = d->backend->upload(d->gpu, stream, &copy, prep->fault);
        if (status == TAMIS_OK)
            status = d->backend->wait(d->gpu, stream, prep->fault);
        d->backend->stream_put(d->gpu, stream);
    }
    return status == TAMIS_OK ? memory : NULL;
}

/* Kernels count rows, and the samples of one, in 32 bits, and some go beyond the picture's ends. */
static tamis_status check_size(const tamis_plan *plan, const struct tamis_device_plan *d,
                               const tamis_step *s)
{
    const int most = INT32_MAX - (1 << 20);
    const tamis_node *n = &s->node;
    int64_t in = (int64_t)n->w * n->in.channels, out = (int64_t)s->out_w * n->out.channels;
    int64_t samples = in > out ? in : out;
    int32_t rows = n->h > s->out_h ? n->h : s->out_h;
    if (samples > most)
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_UNSUPPORTED,
                               "%s: rows of %lld samples are too long for %s; at most %d",
                               s->filter->name, (long long)samples, d->name, most);
    if (rows > most)
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_UNSUPPORTED,
                               "%s: %d rows are too many for %s; at most %d", s->filter->name,
                               (int)rows, d->name, most);
    return TAMIS_OK;
}

static tamis_status prepare_step(tamis_plan *plan, struct tamis_device_plan *d, int k)
{
    const tamis_step *s = &plan->steps[k];
    tamis_gpu_fault fault = {""};
    TAMIS_TRY(check_size(plan, d, s));
    const tamis_gpu_kernel *row = find_row(d->backend, s);
    if (!row || (s->node.finish && !row->finish))
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_UNSUPPORTED, "%s: no kernel %s/%s for %s",
                               s->filter->name, s->node.stage, tamis_type_name(s->node.work),
                               d->backend->name);
    d->kernels[k] = row;
    if (!row->prepare)
        return TAMIS_OK;
    struct preparing p = {
        .prep = {.node = &s->node, .alloc = prep_alloc, .upload = prep_upload, .fault = &fault},
        .plan = plan,
        .device = d};
    tamis_status status = row->prepare(&p.prep);
    d->states[k] = p.prep.state;
    if (status == TAMIS_OK)
        return TAMIS_OK;
    return tamis_priv_fail(plan->ctx, status, "%s: %s: %s", s->filter->name, d->name, fault.text);
}

static tamis_status no_memory(tamis_ctx *ctx)
{
    return tamis_priv_fail(ctx, TAMIS_ERR_MEMORY, "plan: no memory");
}

static tamis_status prepare_steps(tamis_plan *plan, struct tamis_device_plan *d)
{
    tamis_gpu_fault fault = {""};
    void *before = NULL;
    tamis_status status = d->backend->enter(d->gpu, &before, &fault);
    if (status != TAMIS_OK)
        return tamis_priv_fail(plan->ctx, status, "%s: %s", d->name, fault.text);
    for (int k = 0; k < plan->count && status == TAMIS_OK; k++)
        status = prepare_step(plan, d, k);
    d->backend->leave(d->gpu, before);
    return status;
}

/* Joins *at, so that what it holds is given back with the plan, and prepares. */
static tamis_status plan_device(tamis_plan *plan, int index, struct tamis_device_plan **at)
{
    tamis_ctx *ctx = plan->ctx;
    struct tamis_device_plan *d = tamis_priv_plan_alloc(plan, sizeof *d);
    size_t steps = (size_t)plan->count + 1;
    if (!d)
        return no_memory(ctx);
    d->kernels = tamis_priv_plan_alloc(plan, steps * sizeof *d->kernels);
    d->states = tamis_priv_plan_alloc(plan, steps * sizeof *d->states);
    if (!d->kernels || !d->states)
        return no_memory(ctx);
    TAMIS_TRY(tamis_priv_devices_open(ctx, index, &d->gpu));
    d->backend = tamis_priv_devices_backend(ctx);
    d->index = index;
    snprintf(d->name, sizeof d->name, "%s:%d", d->backend->name, index);
    *at = d;
    return prepare_steps(plan, d);
}

/* A chain that cannot run in bands needs a device large enough. */
static tamis_status check_memory(const tamis_plan *plan)
{
    size_t need = tamis_priv_device_bytes(plan, 1);
    for (const struct tamis_device_plan *d = plan->device; d; d = d->next) {
        size_t memory = tamis_priv_devices_info(plan->ctx, d->index)->memory;
        if (need > memory)
            return tamis_priv_fail(plan->ctx, TAMIS_ERR_MEMORY,
                                   "plan: the chain needs its whole picture at once, %zu MiB of "
                                   "device memory, and %s has %zu",
                                   need >> 20, d->name, memory >> 20);
    }
    return TAMIS_OK;
}

/* The first one's name, and the others' numbers. */
static tamis_status name_devices(tamis_plan *plan)
{
    size_t size = 0;
    for (const struct tamis_device_plan *d = plan->device; d; d = d->next)
        size += sizeof d->name;
    plan->device_names = tamis_priv_plan_alloc(plan, size);
    if (!plan->device_names)
        return no_memory(plan->ctx);
    size_t length = (size_t)snprintf(plan->device_names, size, "%s", plan->device->name);
    for (const struct tamis_device_plan *d = plan->device->next; d; d = d->next)
        length += (size_t)snprintf(plan->device_names + length, size - length, ",%d", d->index);
    return TAMIS_OK;
}

tamis_status tamis_priv_device_plan(tamis_plan *plan)
{
    struct tamis_device_plan **at = &plan->device;
    for (int k = 0; k < plan->count; k++)
        tamis_priv_step_make_outside(&plan->steps[k]);
    for (int i = 0, index; (index = tamis_priv_devices_wanted(plan->ctx, i)) >= 0; i++) {
        TAMIS_TRY(plan_device(plan, index, at));
        at = &(*at)->next;
    }
    if (tamis_priv_device_needs_whole(plan))
        TAMIS_TRY(check_memory(plan));
    return name_devices(plan);
}

int tamis_priv_device_count(const tamis_plan *plan)
{
    int n = 0;
    for (const struct tamis_device_plan *d = plan->device; d; d = d->next)
        n++;
    return n;
}

void tamis_priv_device_plan_free(tamis_plan *plan)
{
    for (struct tamis_device_plan *d = plan->device; d; d = d->next)
        for (int i = 0; i < d->upload_count; i++)
            d->backend->free(d->gpu, NULL, d->uploads[i]);
    plan->device = NULL;
}
