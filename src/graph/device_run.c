/* SPDX-License-Identifier: Apache-2.0 */
/* Running a plan on a device: step after step on one stream, each on the whole part that the steps
 * after it need. */
#include <string.h>

#include "core/ctx.h"
#include "core/mem.h"
#include "graph/device.h"
#include "graph/run.h"

#define ROW_ALIGNMENT 256

/* Pixels of a part of an image, on the device. */
struct held {
    void *block; /* memory to give back; NULL: somebody else's, or none */
    tamis_format format;
    tamis_gpu_planes planes;
    tamis_rect box; /* the part */
    int exists;
};

/* One run. */
struct session {
    const tamis_plan *plan;
    const struct tamis_device_plan *device;
    const tamis_run_options *options;
    void *stream;
    tamis_rect parts[TAMIS_GRAPH_MAX_SIZE + 1]; /* of what goes into each step, and of the result */
    tamis_gpu_fault fault;
};

/* ---- memory */

static int64_t pixel_bytes(const tamis_format *f)
{
    return (int64_t)tamis_priv_pixel_bytes(f);
}

static int plane_count(const tamis_format *f)
{
    return f->layout == TAMIS_PLANAR ? f->channels : 1;
}

static void move_planes(tamis_gpu_planes *planes, const tamis_format *f, int64_t x, int64_t y)
{
    for (int p = 0; p < plane_count(f); p++)
        planes->data[p] += y * planes->stride[p] + x * pixel_bytes(f);
}

/* Memory for a part of an image. Columns that lie at multiples of 16 bytes in an image do so here,
 * whatever part it is. */
static tamis_status hold(struct session *s, tamis_format format, tamis_rect part, struct held *out)
{
    int32_t left = part.x % 16;
    int64_t row = ((int64_t)part.w + left) * pixel_bytes(&format);
    row = (row + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
    size_t plane = tamis_priv_size_mul((size_t)row, (size_t)part.h);
    size_t size = tamis_priv_size_mul(plane, (size_t)plane_count(&format));
    *out = (struct held){.format = format, .box = part, .exists = 1};
    TAMIS_TRY(s->device->backend->alloc(s->device->gpu, s->stream, size, &out->block, &s->fault));
    for (int p = 0; p < plane_count(&format); p++) {
        out->planes.data[p] = (char *)out->block + (size_t)p * plane;
        out->planes.stride[p] = row;
    }
    move_planes(&out->planes, &format, left - part.x, -(int64_t)part.y);
    return TAMIS_OK;
}

static int32_t smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* A part of an image of w x h pixels with what kernels may read around it. */
static tamis_rect with_slack(tamis_rect r, int32_t w, int32_t h)
{
    int32_t left = smaller(r.x, TAMIS_GPU_SLACK_W), top = smaller(r.y, TAMIS_GPU_SLACK_H);
    int32_t right = smaller(w - r.x - r.w, TAMIS_GPU_SLACK_W);
    int32_t bottom = smaller(h - r.y - r.h, TAMIS_GPU_SLACK_H);
    return (tamis_rect){r.x - left, r.y - top, r.w + left + right, r.h + top + bottom};
}

static void drop(struct session *s, struct held *h)
{
    if (h->block)
        s->device->backend->free(s->device->gpu, s->stream, h->block);
    *h = (struct held){0};
}

/* An image on the device whose pixel (0, 0) is pixel (x, y) of what it is a part of. */
static struct held of_image(const tamis_image *image, int32_t x, int32_t y)
{
    struct held h = {.format = image->format, .box = {x, y, image->w, image->h}, .exists = 1};
    for (int p = 0; p < tamis_image_planes(image); p++) {
        h.planes.data[p] = image->data[p];
        h.planes.stride[p] = image->stride[p];
    }
    move_planes(&h.planes, &image->format, -(int64_t)x, -(int64_t)y);
    return h;
}

/* ---- from host to device and back */

/* The part of an image in host memory and where it lies on the device. */
static void make_copy(const tamis_image *image, int p, int32_t x, int32_t y, const struct held *h,
                      tamis_rect part, tamis_gpu_copy *out)
{
    int64_t px = pixel_bytes(&image->format);
    *out =
        (tamis_gpu_copy){.device = h->planes.data[p] + part.y * h->planes.stride[p] + part.x * px,
                         .device_stride = h->planes.stride[p],
                         .host = (char *)image->data[p] + (part.y - y) * (int64_t)image->stride[p] +
                                 (part.x - x) * px,
                         .host_stride = image->stride[p],
                         .bytes = (size_t)((int64_t)part.w * px),
                         .count = part.h};
}

static tamis_status upload(struct session *s, const tamis_image *image, tamis_rect part,
                           struct held *out)
{
    tamis_gpu_copy copy;
    part = with_slack(part, image->w, image->h);
    TAMIS_TRY(hold(s, image->format, part, out));
    for (int p = 0; p < tamis_image_planes(image); p++) {
        make_copy(image, p, 0, 0, out, part, &copy);
        TAMIS_TRY(s->device->backend->upload(s->device->gpu, s->stream, &copy, &s->fault));
    }
    return TAMIS_OK;
}

static tamis_status download(struct session *s, const struct held *h, tamis_rect part,
                             const tamis_image *image, int32_t x, int32_t y)
{
    tamis_gpu_copy copy;
    for (int p = 0; p < tamis_image_planes(image); p++) {
        make_copy(image, p, x, y, h, part, &copy);
        TAMIS_TRY(s->device->backend->download(s->device->gpu, s->stream, &copy, &s->fault));
    }
    return TAMIS_OK;
}

/* ---- other forms of pixels */

static void by_channel(const struct held *h, tamis_gpu_planes *planes, int *pitch)
{
    *planes = h->planes;
    *pitch = 1;
    if (h->format.layout == TAMIS_PLANAR)
        return;
    *pitch = h->format.channels;
    for (int c = 1; c < h->format.channels; c++) {
        planes->data[c] = h->planes.data[0] + (size_t)c * tamis_type_size(h->format.type);
        planes->stride[c] = h->planes.stride[0];
    }
}

/* Converts the channels from `first` on; of a source with another number of channels, as many of
 * its last ones. */
static tamis_status convert(struct session *s, const struct held *src, const struct held *dst,
                            tamis_rect part, int first, tamis_gpu_alpha alpha)
{
    tamis_gpu_convert c = {.part = part,
                           .channels = dst->format.channels,
                           .first = first,
                           .alpha = alpha,
                           .src_type = src->format.type,
                           .dst_type = dst->format.type,
                           .stream = s->stream};
    tamis_gpu_planes planes;
    by_channel(src, &planes, &c.src_pitch);
    by_channel(dst, &c.dst, &c.dst_pitch);
    for (int p = first; p < c.channels; p++) {
        int from = p + src->format.channels - c.channels;
        c.src.data[p] = planes.data[from];
        c.src.stride[p] = planes.stride[from];
    }
    return s->device->backend->convert(s->device->gpu, &c, &s->fault);
}

/* Samples that lie at odd places come to kernels as a copy. */
static int is_aligned(const struct held *h)
{
    uintptr_t bits = 0;
    for (int p = 0; p < plane_count(&h->format); p++)
        bits |= (uintptr_t)h->planes.data[p] | (uintptr_t)h->planes.stride[p];
    return bits % tamis_type_size(h->format.type) == 0;
}

/* The input in the form that the kernel wants: *out is it or a copy. */
static tamis_status as_wanted(struct session *s, const struct held *in, tamis_type type,
                              int premultiply, tamis_rect part, struct held *out)
{
    *out = *in;
    out->block = NULL;
    if (in->format.type == type && !premultiply && is_aligned(in))
        return TAMIS_OK;
    tamis_format format = in->format;
    format.type = type;
    TAMIS_TRY(hold(s, format, part, out));
    return convert(s, in, out, part, 0,
                   premultiply ? TAMIS_GPU_ALPHA_MULTIPLY : TAMIS_GPU_ALPHA_KEEP);
}

/* ---- one step */

static int largest_power(uintptr_t bits)
{
    int power = 1;
    while (power < 16 && bits % (2 * (uintptr_t)power) == 0)
        power *= 2;
    return power;
}

static int alignment_of(const struct held *const *helds, int count)
{
    uintptr_t bits = 0;
    for (int i = 0; i < count; i++)
        for (int p = 0; p < plane_count(&helds[i]->format); p++)
            bits |= (uintptr_t)helds[i]->planes.data[p] | (uintptr_t)helds[i]->planes.stride[p];
    return largest_power(bits);
}

/* What a step reads and writes, in the kernel's form. */
struct operands {
    struct held in[2 * TAMIS_MAX_FRAMES + 1]; /* frames, oldest first */
    struct held guide, out;
};

static void fill_work(const tamis_step *step, const struct operands *o, tamis_rect part,
                      tamis_gpu_planes *frames, tamis_gpu_work *w)
{
    const tamis_node *n = &step->node;
    /* Packed pixels whose alpha the result has not are planes that lie in one another, too. */
    int drops = n->in.layout == TAMIS_PACKED && n->out.channels < n->in.channels;
    int planar = n->planar || drops, now = n->frames, valid = n->border == TAMIS_BORDER_VALID;
    const struct held *helds[2 * TAMIS_MAX_FRAMES + 3] = {&o->out};
    int held_count = 1, pitch = 1;
    *w = (tamis_gpu_work){.part = part,
                          .w = n->w,
                          .h = n->h,
                          .held = o->in[now].box,
                          .guide_held = o->guide.box,
                          .shift_x = valid ? n->halo.left : 0,
                          .shift_y = valid ? n->halo.top : 0,
                          .border = n->border,
                          .frame = frames};
    for (int c = 0; c < n->in.channels; c++)
        w->outside[c] = (float)step->outside[c];
    int packed = n->in.layout == TAMIS_PACKED;
    int hides = n->in.channels - (planar || !packed ? step->filtered : n->in.channels);
    w->planes = planar || !packed ? n->in.channels - hides : 1;
    w->written = n->planar ? step->written : w->planes;
    w->step = planar || !packed ? 1 : n->in.channels;
    for (int f = 0; f <= 2 * now; f++) {
        if (!o->in[f].exists)
            continue;
        helds[held_count++] = &o->in[f];
        frames[TAMIS_MAX_FRAMES + f - now] = o->in[f].planes;
        if (planar)
            by_channel(&o->in[f], &frames[TAMIS_MAX_FRAMES + f - now], &pitch);
    }
    w->src = frames[TAMIS_MAX_FRAMES];
    w->src_pitch = planar ? pitch : w->step;
    w->dst = o->out.planes;
    w->dst_pitch = w->step;
    if (planar)
        by_channel(&o->out, &w->dst, &w->dst_pitch);
    if (o->guide.exists) {
        helds[held_count++] = &o->guide;
        by_channel(&o->guide, &w->guide, &w->guide_pitch);
        w->guide_planes = o->guide.format.channels - (n->guide.alpha != TAMIS_ALPHA_NONE);
    }
    w->aligned = alignment_of(helds, held_count);
}

static tamis_status launch(struct session *s, int k, const struct operands *o, tamis_rect part)
{
    const tamis_step *step = &s->plan->steps[k];
    const tamis_gpu_kernel *row = s->device->kernels[k];
    const void *state = s->device->states[k];
    tamis_gpu_planes frames[2 * TAMIS_MAX_FRAMES + 1] = {0};
    tamis_gpu_work work;
    fill_work(step, o, part, frames, &work);
    work.stream = s->stream;
    size_t scratch = row->scratch ? row->scratch(&step->node, state, part.w, part.h) : 0;
    if (scratch)
        TAMIS_TRY(s->device->backend->alloc(s->device->gpu, s->stream, scratch, &work.scratch,
                                            &s->fault));
    tamis_status status = row->launch(&work, &step->node, state, &s->fault);
    if (status == TAMIS_OK && row->finish)
        status = row->finish(&work, &step->node, state, &s->fault);
    if (scratch)
        s->device->backend->free(s->device->gpu, s->stream, work.scratch);
    return status;
}

static tamis_status prepare_guide(struct session *s, const tamis_step *step,
                                  const struct held *guide, tamis_rect part, struct held *out)
{
    tamis_type type = step->node.guide_is_map ? TAMIS_F32 : step->node.work;
    if (!step->node.has_guide)
        return TAMIS_OK;
    part = with_slack(part, step->node.guide_w, step->node.guide_h);
    return as_wanted(s, guide, type, 0, part, out);
}

/* The kernel's result becomes the output's pixels. */
static tamis_status store(struct session *s, const tamis_step *step, const struct operands *o,
                          const struct held *in, tamis_rect part, const struct held *out)
{
    if (o->out.block || step->divides_alpha)
        TAMIS_TRY(convert(s, &o->out, out, part, 0,
                          step->divides_alpha ? TAMIS_GPU_ALPHA_DIVIDE : TAMIS_GPU_ALPHA_KEEP));
    if (!step->copies_alpha)
        return TAMIS_OK;
    struct held moved = *in;
    if (step->node.border == TAMIS_BORDER_VALID)
        move_planes(&moved.planes, &moved.format, step->node.halo.left, step->node.halo.top);
    return convert(s, &moved, out, part, out->format.channels - 1, TAMIS_GPU_ALPHA_KEEP);
}

/* A result of another form than the output's needs memory of its own. */
static tamis_status make_result(struct session *s, const tamis_step *step, tamis_rect part,
                                const struct held *out, struct held *result)
{
    tamis_type type = tamis_priv_node_result(&step->node);
    *result = *out;
    result->block = NULL;
    if (type == out->format.type && !step->divides_alpha && is_aligned(out))
        return TAMIS_OK;
    tamis_format format = out->format;
    format.type = type;
    return hold(s, format, part, result);
}

/* Step k for one frame: inputs are those of its 2 * node.frames + 1 frames. */
static tamis_status run_step(struct session *s, int k, const struct held *inputs,
                             const struct held *guide, const struct held *out)
{
    const tamis_step *step = &s->plan->steps[k];
    int now = step->node.frames;
    struct operands o = {0};
    tamis_status status = TAMIS_OK;
    for (int f = 0; f <= 2 * now && status == TAMIS_OK; f++)
        if (inputs[f].exists)
            status = as_wanted(s, &inputs[f], step->node.work, step->fetch.premultiply,
                               with_slack(s->parts[k], step->node.w, step->node.h), &o.in[f]);
    tamis_rect guide_part = step->node.guide_is_map ? s->parts[k + 1] : s->parts[k];
    if (status == TAMIS_OK)
        status = prepare_guide(s, step, guide, guide_part, &o.guide);
    if (status == TAMIS_OK)
        status = make_result(s, step, s->parts[k + 1], out, &o.out);
    if (status == TAMIS_OK)
        status = launch(s, k, &o, s->parts[k + 1]);
    if (status == TAMIS_OK)
        status = store(s, step, &o, &inputs[now], s->parts[k + 1], out);
    for (int f = 0; f <= 2 * now; f++)
        drop(s, &o.in[f]);
    drop(s, &o.guide);
    drop(s, &o.out);
    return status;
}

/* ---- all steps */

static int stopped(const struct session *s)
{
    const volatile int *cancel = s->options->cancel;
    return cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED);
}

/* Which part of what goes into each step a part of the result depends on. */
static void plan_parts(struct session *s, tamis_rect rect)
{
    const tamis_plan *plan = s->plan;
    s->parts[plan->count] = rect;
    for (int k = plan->count - 1; k >= 0; k--) {
        const tamis_step *step = &plan->steps[k];
        if (step->node.finish)
            s->parts[k + 1] = (tamis_rect){0, 0, step->out_w, step->out_h};
        tamis_box box = tamis_priv_step_need(step, s->parts[k + 1]);
        if (!step->node.gather)
            box = tamis_priv_fetch_origin(&step->fetch, box);
        s->parts[k] = (tamis_rect){(int32_t)box.x, (int32_t)box.y, box.w, box.h};
    }
}

/* Frames -around .. around of what goes into a step. */
struct sequence {
    struct held frame[2 * TAMIS_MAX_FRAMES + 1];
    int around;
};

static void drop_sequence(struct session *s, struct sequence *q)
{
    for (int f = 0; f <= 2 * q->around; f++)
        drop(s, &q->frame[f]);
}

static int same_rect(tamis_rect a, tamis_rect b)
{
    return a.x == b.x && a.y == b.y && a.w == b.w && a.h == b.h;
}

/* Replaces the input of step k by its output; the last step's goes to dst where it fits there. */
static tamis_status advance(struct session *s, int k, struct sequence *q, const struct held *guide,
                            const struct held *dst, tamis_rect rect)
{
    const tamis_plan *plan = s->plan;
    const tamis_step *step = &plan->steps[k];
    struct sequence next = {.around = q->around - step->node.frames};
    tamis_status status = TAMIS_OK;
    for (int f = 0; f <= 2 * next.around && status == TAMIS_OK; f++) {
        struct held *out = &next.frame[f];
        if (!q->frame[f + step->node.frames].exists)
            continue;
        if (k == plan->count - 1 && same_rect(s->parts[k + 1], rect)) {
            *out = *dst;
            out->block = NULL;
        } else {
            status =
                hold(s, step->node.out, with_slack(s->parts[k + 1], step->out_w, step->out_h), out);
        }
        if (status == TAMIS_OK)
            status = run_step(s, k, &q->frame[f], guide, out);
    }
    drop_sequence(s, q);
    *q = next;
    return status;
}

/* From sources on the device to a part of the result there. */
static tamis_status run_steps(struct session *s, struct sequence *q, const struct held *guide,
                              const struct held *dst, tamis_rect rect)
{
    const tamis_plan *plan = s->plan;
    tamis_status status = TAMIS_OK;
    for (int k = 0; k < plan->count && status == TAMIS_OK && !stopped(s); k++)
        status = advance(s, k, q, guide, dst, rect);
    int direct = plan->count > 0 && same_rect(s->parts[plan->count], rect);
    if (status == TAMIS_OK && !direct && !stopped(s))
        status = convert(s, &q->frame[q->around], dst, rect, 0, TAMIS_GPU_ALPHA_KEEP);
    drop_sequence(s, q);
    return status;
}

/* ---- images on the device */

static const tamis_image *frame_at(const struct session *s, const tamis_image *src, int f)
{
    int i = s->plan->frames + f;
    return f == 0 ? src : s->options->frames ? s->options->frames[i] : NULL;
}

static tamis_status run_there(struct session *s, const tamis_image *src, tamis_rect rect,
                              const tamis_image *dst)
{
    struct sequence q = {.around = s->plan->frames};
    struct held guide = {0}, result = of_image(dst, rect.x, rect.y);
    for (int f = -q.around; f <= q.around; f++)
        if (frame_at(s, src, f))
            q.frame[q.around + f] = of_image(frame_at(s, src, f), 0, 0);
    if (s->options->guide)
        guide = of_image(s->options->guide, 0, 0);
    plan_parts(s, rect);
    return run_steps(s, &q, &guide, &result, rect);
}

/* ---- images in host memory */

static tamis_status upload_inputs(struct session *s, const tamis_image *src, struct sequence *q,
                                  struct held *guide)
{
    const tamis_plan *plan = s->plan;
    for (int f = -q->around; f <= q->around; f++)
        if (frame_at(s, src, f))
            TAMIS_TRY(upload(s, frame_at(s, src, f), s->parts[0], &q->frame[q->around + f]));
    if (!s->options->guide)
        return TAMIS_OK;
    tamis_rect part = plan->steps[0].node.guide_is_map ? s->parts[1] : s->parts[0];
    return upload(s, s->options->guide, part, guide);
}

/* The part `rect` of the result, which goes to its place in dst; (x, y) is dst's corner. */
static tamis_status run_band(struct session *s, const tamis_image *src, tamis_rect rect,
                             const tamis_image *dst, int32_t x, int32_t y)
{
    struct sequence q = {.around = s->plan->frames};
    struct held guide = {0}, result = {0};
    plan_parts(s, rect);
    tamis_status status = upload_inputs(s, src, &q, &guide);
    if (status == TAMIS_OK)
        status = hold(s, dst->format, rect, &result);
    if (status == TAMIS_OK)
        status = run_steps(s, &q, &guide, &result, rect);
    else
        drop_sequence(s, &q);
    if (status == TAMIS_OK && !stopped(s))
        status = download(s, &result, rect, dst, x, y);
    drop(s, &guide);
    drop(s, &result);
    tamis_status waited = s->device->backend->wait(s->device->gpu, s->stream, &s->fault);
    return status == TAMIS_OK ? waited : status;
}

static int32_t first_height(const struct session *s, tamis_rect rect)
{
    int32_t h = s->plan->device_tile_h;
    return h > 0 && h < rect.h ? h : rect.h;
}

/* In bands from top to bottom: one where the device's memory is enough, else of half the height,
 * and so on. The bits do not depend on it. */
static tamis_status run_here(struct session *s, const tamis_image *src, tamis_rect rect,
                             const tamis_image *dst)
{
    int32_t height = first_height(s, rect);
    for (int32_t y = 0; y < rect.h && !stopped(s);) {
        int32_t h = rect.h - y < height ? rect.h - y : height;
        tamis_status status =
            run_band(s, src, (tamis_rect){rect.x, rect.y + y, rect.w, h}, dst, rect.x, rect.y);
        if (status == TAMIS_ERR_MEMORY && h > 1) {
            height = h / 2;
            tamis_priv_log(s->plan->ctx, TAMIS_LOG_INFO, "%s: %s; going on in bands of %d rows",
                           s->device->name, s->fault.text, height);
            continue;
        }
        if (status != TAMIS_OK)
            return status;
        y += h;
        if (s->options->progress && y < rect.h && !stopped(s))
            s->options->progress(s->options->progress_user, y, rect.h);
    }
    return TAMIS_OK;
}

/* ---- the whole */

static tamis_status run(struct session *s, const tamis_image *src, tamis_rect rect,
                        const tamis_image *dst)
{
    const tamis_backend *backend = s->device->backend;
    TAMIS_TRY(backend->enter(s->device->gpu, &s->fault));
    if (s->options->stream) {
        s->stream = s->options->stream;
        return run_there(s, src, rect, dst);
    }
    TAMIS_TRY(backend->stream_get(s->device->gpu, &s->stream, &s->fault));
    tamis_status status = TAMIS_OK;
    if (src->device) {
        status = run_there(s, src, rect, dst);
        tamis_status waited = backend->wait(s->device->gpu, s->stream, &s->fault);
        status = status == TAMIS_OK ? waited : status;
    } else {
        status = run_here(s, src, rect, dst);
    }
    backend->stream_put(s->device->gpu, s->stream);
    return status;
}

tamis_status tamis_priv_device_run(const tamis_plan *plan, const tamis_image *src, tamis_rect rect,
                                   const tamis_image *dst, const tamis_run_options *options)
{
    struct session s = {.plan = plan, .device = plan->device, .options = options};
    tamis_status status = run(&s, src, rect, dst);
    if (status != TAMIS_OK)
        return tamis_priv_fail(plan->ctx, status, "run: %s: %s", s.device->name, s.fault.text);
    if (stopped(&s))
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_CANCELED, "run: canceled");
    if (options->progress)
        options->progress(options->progress_user, rect.h, rect.h);
    return TAMIS_OK;
}
