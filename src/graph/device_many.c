/* SPDX-License-Identifier: Apache-2.0 */
/* Many pictures on a device, as many as fit in one launch: those in its memory where they are,
 * those in host memory as stacks that come and go in one piece. */
#include <string.h>

#include "core/ctx.h"
#include "core/mem.h"
#include "graph/device_session.h"

/* Memory for what is made on the way, for all pictures of a launch together: so much that launches
 * are long, so little that large devices have most of it in their caches. The same for stacks of
 * what comes from the host. */
#define STACK_BYTES ((size_t)64 << 20)

/* ---- how many at once */

static size_t image_bytes(tamis_format format, int32_t w, int32_t h)
{
    size_t pixels = tamis_priv_size_mul((size_t)w, (size_t)h);
    return tamis_priv_size_mul(pixels, tamis_type_size(format.type) * (size_t)format.channels);
}

/* Memory that step k needs for a picture, beside the source and the result of the chain. */
static size_t step_bytes(const tamis_plan *plan, int k)
{
    const tamis_step *step = &plan->steps[k];
    const tamis_node *node = &step->node;
    const tamis_gpu_kernel *row = plan->device->kernels[k];
    tamis_format in = node->in, out = node->out;
    size_t bytes = k > 0 ? image_bytes(in, node->w, node->h) : 0;
    if (k < plan->count - 1)
        bytes = tamis_priv_size_add(bytes, image_bytes(out, step->out_w, step->out_h));
    if (in.type != node->work || step->fetch.premultiply) {
        in.type = node->work;
        bytes = tamis_priv_size_add(bytes, image_bytes(in, node->w, node->h));
    }
    if (out.type != tamis_priv_node_result(node) || step->divides_alpha) {
        out.type = tamis_priv_node_result(node);
        bytes = tamis_priv_size_add(bytes, image_bytes(out, step->out_w, step->out_h));
    }
    if (row->scratch && !row->alone)
        bytes = tamis_priv_size_add(
            bytes, row->scratch(node, plan->device->states[k], step->out_w, step->out_h));
    return bytes;
}

size_t tamis_priv_device_bytes(const tamis_plan *plan, int ends)
{
    size_t bytes = 1;
    int32_t w, h;
    tamis_plan_size(plan, &w, &h);
    for (int k = 0; k < plan->count; k++) {
        size_t step = step_bytes(plan, k);
        bytes = step > bytes ? step : bytes;
    }
    if (ends) {
        bytes = tamis_priv_size_add(bytes, image_bytes(plan->in, plan->w, plan->h));
        bytes = tamis_priv_size_add(bytes, image_bytes(tamis_plan_format(plan), w, h));
    }
    return bytes;
}

static int32_t pictures_at_once(const tamis_plan *plan, int ends)
{
    size_t bytes = tamis_priv_device_bytes(plan, ends);
    size_t fit = STACK_BYTES / bytes;
    return fit < 1 ? 1 : fit > TAMIS_GPU_MANY ? TAMIS_GPU_MANY : (int32_t)fit;
}

static int32_t at_most(size_t count, int32_t most)
{
    return count < (size_t)most ? (int32_t)count : most;
}

/* ---- pictures at equal distances */

static int64_t distance(const tamis_image *from, const tamis_image *to, int plane)
{
    return (int64_t)((uintptr_t)to->data[plane] - (uintptr_t)from->data[plane]);
}

/* How many of the first count images are as far from each other as the first two. */
static int32_t equally_far(const tamis_image *images, int32_t count)
{
    int32_t n = 1;
    for (; n < count; n++)
        for (int p = 0; p < tamis_image_planes(images); p++)
            if (images[n].stride[p] != images->stride[p] ||
                distance(&images[n - 1], &images[n], p) != distance(&images[0], &images[1], 0))
                return n;
    return n;
}

static tamis_held held_of_images(const tamis_image *images, int32_t count)
{
    tamis_held h = tamis_priv_held_of_image(images, 0, 0);
    h.count = count;
    h.next = count > 1 ? distance(&images[0], &images[1], 0) : 0;
    return h;
}

/* ---- stacks from host memory and back */

/* Rows of a plane of all pictures, for which `move` finds the place. */
struct loose {
    tamis_pool *pool;
    const tamis_image *images;
    int plane, up;
    int64_t row; /* the next, of all pictures */
    const tamis_gpu_rows *rows;
};

/* Rows that belong to one picture. */
static void move_picture(void *user, int64_t index)
{
    const struct loose *l = user;
    const tamis_gpu_rows *r = l->rows;
    int32_t h = l->images->h;
    int64_t picture = l->row / h + index, first = picture * h, end = first + h;
    int64_t from = first > l->row ? first : l->row;
    int64_t to = end < l->row + r->count ? end : l->row + r->count;
    for (int64_t i = from; i < to; i++) {
        char *here = tamis_image_row(&l->images[picture], l->plane, (int32_t)(i - first));
        if (l->up)
            memcpy(r->to + (i - l->row) * r->to_stride, here, r->bytes);
        else
            memcpy(here, r->from + (i - l->row) * r->from_stride, r->bytes);
    }
}

static void move_pictures(void *user, const tamis_gpu_rows *rows)
{
    struct loose *l = user;
    int32_t h = l->images->h;
    l->rows = rows;
    tamis_priv_pool_each(l->pool, (l->row + rows->count - 1) / h - l->row / h + 1, move_picture, l);
    l->row += rows->count;
}

/* Whether the pictures' planes p follow one another like rows of one. */
static int lie_together(const tamis_image *images, int p, int32_t count)
{
    int64_t height = (int64_t)images->stride[p] * images->h;
    for (int32_t i = 1; i < count; i++)
        if (images[i].stride[p] != images->stride[p] ||
            distance(&images[i - 1], &images[i], p) != height)
            return 0;
    return 1;
}

typedef tamis_status copy_function(tamis_gpu *gpu, void *stream, const tamis_gpu_copy *copy,
                                   tamis_gpu_fault *fault);

static tamis_status copy_one_by_one(tamis_session *s, const tamis_held *h,
                                    const tamis_image *images, int p, copy_function *function)
{
    tamis_gpu_copy copy;
    for (int32_t i = 0; i < h->count; i++) {
        tamis_priv_held_copy(s, &images[i], p, 0, 0, h, h->box, &copy);
        copy.device += i * h->next;
        TAMIS_TRY(function(s->device->gpu, s->stream, &copy, &s->fault));
    }
    return TAMIS_OK;
}

/* A plane of all pictures comes or goes in one piece, unless pictures are large and apart. */
static tamis_status copy_stack(tamis_session *s, const tamis_held *h, const tamis_image *images,
                               int up)
{
    copy_function *function = up ? s->device->backend->upload : s->device->backend->download;
    for (int p = 0; p < tamis_image_planes(images); p++) {
        tamis_gpu_copy copy;
        struct loose loose = {.pool = s->plan->ctx->pool, .images = images, .plane = p, .up = up};
        tamis_priv_held_copy(s, images, p, 0, 0, h, h->box, &copy);
        if (!lie_together(images, p, h->count)) {
            if (copy.bytes * (size_t)copy.count > TAMIS_GPU_LOOSE) {
                TAMIS_TRY(copy_one_by_one(s, h, images, p, function));
                continue;
            }
            copy.host = NULL;
            copy.host_stride = 0;
            copy.move = move_pictures;
            copy.user = &loose;
        }
        copy.count *= h->count;
        TAMIS_TRY(function(s->device->gpu, s->stream, &copy, &s->fault));
    }
    return TAMIS_OK;
}

/* ---- pictures on the device */

/* A run over many pictures. */
struct many {
    const tamis_plan *plan;
    const tamis_image *srcs, *dsts;
    size_t count, done; /* pictures, and those whose results are there */
    int32_t most;       /* at once */
    const tamis_run_options *options;
    const char *device;
    tamis_gpu_fault fault; /* why it failed there; empty: that has been said */
};

static tamis_status noted(struct many *m, const tamis_session *s, tamis_status status)
{
    if (status != TAMIS_OK) {
        m->device = s->device->name;
        m->fault = s->fault;
    }
    return status;
}

static void report(struct many *m, int32_t more)
{
    m->done += (size_t)more;
    if (m->options->progress && m->done < m->count)
        m->options->progress(m->options->progress_user, (int64_t)m->done, (int64_t)m->count);
}

/* Where memory does not suffice, half as many are tried; 0: there is no less. */
static int has_less(struct many *m, const tamis_session *s, int32_t tried)
{
    m->most = tried / 2;
    if (m->most > 0)
        tamis_priv_log(m->plan->ctx, TAMIS_LOG_INFO, "%s: %s; going on with %d pictures at once",
                       s->device->name, s->fault.text, m->most);
    return m->most > 0;
}

static tamis_status run_there(struct many *m, tamis_session *s)
{
    tamis_held guide = {0};
    if (m->options->guide)
        guide = tamis_priv_held_of_image(m->options->guide, 0, 0);
    for (size_t i = 0; i < m->count && !tamis_priv_device_stopped(s);) {
        int32_t n = equally_far(&m->srcs[i], at_most(m->count - i, m->most));
        n = equally_far(&m->dsts[i], n);
        tamis_held src = held_of_images(&m->srcs[i], n), dst = held_of_images(&m->dsts[i], n);
        tamis_status status = tamis_priv_device_pictures(s, &src, &guide, &dst);
        if (status == TAMIS_ERR_MEMORY && has_less(m, s, n))
            continue;
        TAMIS_TRY(noted(m, s, status));
        report(m, n);
        i += (size_t)n;
    }
    return TAMIS_OK;
}

/* ---- pictures in host memory */

/* A stack of pictures on its way, on a stream of its own. */
struct lane {
    tamis_session s;
    tamis_held guide, result;
    const tamis_image *dsts;
    int32_t count; /* 0: nothing is on its way */
};

/* Two for each device, so that it need not wait for what comes and goes. */
enum { MOST_LANES = 16 };
struct lanes {
    struct lane lane[MOST_LANES];
    int count, devices;
};

/* What was current is put back when the whole run ends. */
static tamis_status enter(tamis_session *s)
{
    return s->device->backend->enter(s->device->gpu, NULL, &s->fault);
}

/* Sources that are there already stay where they are. */
static tamis_status bring(struct many *m, struct lane *l, size_t first, int32_t n, tamis_held *src)
{
    tamis_rect all = {0, 0, m->plan->w, m->plan->h};
    if (m->srcs->device) {
        *src = held_of_images(&m->srcs[first], n);
        return TAMIS_OK;
    }
    TAMIS_TRY(tamis_priv_held_make(&l->s, m->plan->in, all, n, src));
    return copy_stack(&l->s, src, &m->srcs[first], 1);
}

static tamis_status start(struct many *m, struct lane *l, size_t first, int32_t n)
{
    tamis_held src = {0};
    const tamis_image *dst = &m->dsts[first];
    tamis_rect all = {0, 0, dst->w, dst->h}, guided = {0, 0, m->plan->guide_w, m->plan->guide_h};
    tamis_status status = TAMIS_OK;
    TAMIS_TRY(enter(&l->s));
    if (m->options->guide && m->options->guide->device)
        l->guide = tamis_priv_held_of_image(m->options->guide, 0, 0);
    else if (m->options->guide && !l->guide.count)
        status = tamis_priv_held_upload(&l->s, m->options->guide, guided, guided.w, guided.h,
                                        guided, &l->guide);
    if (status == TAMIS_OK)
        status = bring(m, l, first, n, &src);
    if (status == TAMIS_OK)
        status = tamis_priv_held_make(&l->s, dst->format, all, n, &l->result);
    if (status == TAMIS_OK)
        status = tamis_priv_device_pictures(&l->s, &src, &l->guide, &l->result);
    tamis_priv_held_drop(&l->s, &src);
    l->dsts = dst;
    l->count = status == TAMIS_OK ? n : 0;
    if (status != TAMIS_OK) {
        tamis_priv_held_drop(&l->s, &l->result);
        tamis_priv_held_drop(&l->s, &l->guide); /* it may be without memory, or not filled */
    }
    return status;
}

static tamis_status collect(struct many *m, struct lane *l)
{
    const tamis_backend *backend = l->s.device->backend;
    tamis_status status = TAMIS_OK;
    if (!l->count)
        return TAMIS_OK;
    status = enter(&l->s);
    if (status == TAMIS_OK && !tamis_priv_device_stopped(&l->s))
        status = copy_stack(&l->s, &l->result, l->dsts, 0);
    tamis_priv_held_drop(&l->s, &l->result);
    if (status == TAMIS_OK)
        status = backend->wait(l->s.device->gpu, l->s.stream, &l->s.fault);
    if (status == TAMIS_OK && !tamis_priv_device_stopped(&l->s))
        report(m, l->count);
    l->count = 0;
    return noted(m, &l->s, status);
}

/* A picture for which the device has too little memory goes there in bands. */
static tamis_status run_alone(struct many *m, size_t i)
{
    const tamis_image *dst = &m->dsts[i];
    tamis_run_options options = *m->options;
    options.progress = NULL;
    tamis_status status = tamis_priv_device_run(m->plan, &m->srcs[i],
                                                (tamis_rect){0, 0, dst->w, dst->h}, dst, &options);
    m->fault.text[0] = '\0';
    if (status == TAMIS_OK)
        report(m, 1);
    return status;
}

/* Whatever is still on its way, the oldest first. */
static tamis_status collect_all(struct many *m, struct lanes *lanes, size_t turn)
{
    for (int k = 0; k < lanes->count; k++, turn++)
        TAMIS_TRY(collect(m, &lanes->lane[turn % (size_t)lanes->count]));
    return TAMIS_OK;
}

/* Room for a picture that is to go alone; nothing is on its way. */
static void drop_guides(struct lanes *lanes)
{
    for (int k = 0; k < lanes->count; k++) {
        struct lane *l = &lanes->lane[k];
        const struct tamis_device_plan *d = l->s.device;
        tamis_gpu_fault fault; /* the lane's own is still to be told */
        if (d->backend->enter(d->gpu, NULL, &fault) != TAMIS_OK)
            continue;
        tamis_priv_held_drop(&l->s, &l->guide);
        d->backend->wait(d->gpu, l->s.stream, &fault);
    }
}

/* While one stack is filtered the next comes and the last goes. */
static tamis_status run_here(struct many *m, struct lanes *lanes)
{
    size_t turn = 0, share = m->count / (size_t)lanes->devices;
    m->most = at_most(share > 1 ? share : 1, m->most);
    for (size_t i = 0; i < m->count && !tamis_priv_device_stopped(&lanes->lane[0].s); turn++) {
        struct lane *l = &lanes->lane[turn % (size_t)lanes->count];
        int32_t n = at_most(m->count - i, m->most);
        if (m->srcs->device)
            n = equally_far(&m->srcs[i], n);
        TAMIS_TRY(collect(m, l));
        tamis_status status = noted(m, &l->s, start(m, l, i, n));
        if (status == TAMIS_ERR_MEMORY) {
            TAMIS_TRY(collect_all(m, lanes, turn));
            drop_guides(lanes);
            if (has_less(m, &l->s, n))
                continue;
            m->most = 1;
            status = run_alone(m, i);
        }
        TAMIS_TRY(status);
        i += (size_t)n;
    }
    return collect_all(m, lanes, turn);
}

/* ---- the whole */

static void close_lane(struct lane *l)
{
    const struct tamis_device_plan *d = l->s.device;
    tamis_gpu_fault fault;
    if (!l->s.stream)
        return;
    tamis_priv_held_drop(&l->s, &l->guide);
    tamis_priv_held_drop(&l->s, &l->result);
    d->backend->wait(d->gpu, l->s.stream, &fault); /* has been said, if it failed */
    d->backend->stream_put(d->gpu, l->s.stream);
}

/* The device that an image is on; the first one for images in host memory. */
static const struct tamis_device_plan *device_of(const tamis_plan *plan, const tamis_image *image)
{
    const struct tamis_device_plan *d = plan->device;
    while (image->device && d->index != image->device - 1)
        d = d->next;
    return d;
}

/* Whoever filled the sources may know no other stream. */
static tamis_status wait_default(struct many *m, const struct tamis_device_plan *d)
{
    tamis_session s = {.plan = m->plan, .device = d, .options = m->options};
    return noted(m, &s, d->backend->wait(d->gpu, NULL, &s.fault));
}

static tamis_status open_lane(struct many *m, struct lane *l, const struct tamis_device_plan *d)
{
    *l = (struct lane){.s = {.plan = m->plan, .device = d, .options = m->options}};
    TAMIS_TRY(noted(m, &l->s, enter(&l->s)));
    return noted(m, &l->s, d->backend->stream_get(d->gpu, &l->s.stream, &l->s.fault));
}

/* On all devices from `first` on, or where the sources are. */
static tamis_status run_lanes(struct many *m, const struct tamis_device_plan *first)
{
    struct lanes lanes = {.count = 0, .devices = 1};
    const struct tamis_device_plan *d = first;
    tamis_status status = m->srcs->device ? wait_default(m, d) : TAMIS_OK;
    if (!m->srcs->device)
        lanes.devices = at_most((size_t)tamis_priv_device_count(m->plan), MOST_LANES);
    for (; lanes.count < 2 * lanes.devices && lanes.count < MOST_LANES && status == TAMIS_OK;
         lanes.count++) {
        d = lanes.count % lanes.devices ? d->next : first;
        status = open_lane(m, &lanes.lane[lanes.count], d);
    }
    if (status == TAMIS_OK)
        status = run_here(m, &lanes);
    for (int k = 0; k < lanes.count; k++)
        close_lane(&lanes.lane[k]);
    return status;
}

static tamis_status run_stream(struct many *m, const struct tamis_device_plan *d)
{
    tamis_session s = {
        .plan = m->plan, .device = d, .options = m->options, .stream = m->options->stream};
    if (s.stream)
        return run_there(m, &s);
    TAMIS_TRY(wait_default(m, d));
    TAMIS_TRY(noted(m, &s, d->backend->stream_get(d->gpu, &s.stream, &s.fault)));
    tamis_status status = run_there(m, &s);
    tamis_status waited = d->backend->wait(d->gpu, s.stream, &s.fault);
    if (status == TAMIS_OK)
        status = noted(m, &s, waited);
    d->backend->stream_put(d->gpu, s.stream);
    return status;
}

static tamis_status run_entered(struct many *m)
{
    const struct tamis_device_plan *d = device_of(m->plan, m->srcs);
    tamis_session s = {.device = d};
    void *before = NULL;
    TAMIS_TRY(noted(m, &s, d->backend->enter(d->gpu, &before, &s.fault)));
    tamis_status status = m->dsts->device ? run_stream(m, d) : run_lanes(m, d);
    d->backend->leave(d->gpu, before);
    return status;
}

tamis_status tamis_priv_device_run_many(const tamis_plan *plan, const tamis_image *srcs,
                                        const tamis_image *dsts, size_t count,
                                        const tamis_run_options *options)
{
    struct many m = {.plan = plan,
                     .srcs = srcs,
                     .dsts = dsts,
                     .count = count,
                     .most = pictures_at_once(plan, !dsts->device),
                     .options = options};
    tamis_status status = run_entered(&m);
    if (status != TAMIS_OK)
        return m.fault.text[0]
                   ? tamis_priv_fail(plan->ctx, status, "run_many: %s: %s", m.device, m.fault.text)
                   : status;
    if (options->cancel && __atomic_load_n(options->cancel, __ATOMIC_RELAXED))
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_CANCELED, "run_many: canceled");
    if (options->progress)
        options->progress(options->progress_user, (int64_t)count, (int64_t)count);
    return TAMIS_OK;
}
