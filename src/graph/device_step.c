/* SPDX-License-Identifier: Apache-2.0 */
/* One step of a plan on a device. */
#include "core/ctx.h"
#include "core/mem.h"
#include "graph/device_session.h"

/* The input in the form that the kernel wants: *out is it or a copy. */
static tamis_status as_wanted(tamis_session *s, const tamis_held *in, tamis_type type,
                              int premultiply, tamis_rect part, tamis_held *out)
{
    tamis_rect there = tamis_priv_rect_common(part, in->box); /* a window may have no slack */
    *out = *in;
    out->block = NULL;
    if (in->format.type == type && !premultiply && tamis_priv_held_is_aligned(in) &&
        tamis_priv_rect_is_same(there, part))
        return TAMIS_OK;
    tamis_format format = in->format;
    format.type = type;
    TAMIS_TRY(tamis_priv_held_make(s, format, part, in->count, out));
    out->there = tamis_priv_rect_common(there, in->there);
    TAMIS_TRY(tamis_priv_held_clear(s, out));
    return tamis_priv_held_convert(s, in, out, out->there, 0, format.channels,
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

static int alignment_of(const tamis_held *const *helds, int count)
{
    uintptr_t bits = 0;
    for (int i = 0; i < count; i++)
        bits |= tamis_priv_held_address_bits(helds[i]);
    return largest_power(bits);
}

/* What a step reads and writes, in the kernel's form. */
struct operands {
    tamis_held in[2 * TAMIS_MAX_FRAMES + 1]; /* frames, oldest first */
    tamis_held guide, out;
};

static void fill_work(const tamis_step *step, const struct operands *o, tamis_rect part,
                      tamis_gpu_planes *frames, tamis_gpu_work *w)
{
    const tamis_node *n = &step->node;
    /* Packed pixels whose alpha the result has not are planes that lie in one another, too. */
    int drops = n->in.layout == TAMIS_PACKED && n->out.channels < n->in.channels;
    int planar = n->planar || drops, now = n->frames, valid = n->border == TAMIS_BORDER_VALID;
    const tamis_held *helds[2 * TAMIS_MAX_FRAMES + 3] = {&o->out};
    int held_count = 1, pitch = 1;
    *w = (tamis_gpu_work){.part = part,
                          .w = n->w,
                          .h = n->h,
                          .held = o->in[now].box,
                          .guide_held = o->guide.box,
                          .shift_x = valid ? n->halo.left : 0,
                          .shift_y = valid ? n->halo.top : 0,
                          .border = n->border,
                          .frame = frames,
                          .count = o->out.count,
                          .src_next = o->in[now].next,
                          .dst_next = o->out.next};
    for (int c = 0; c < n->in.channels; c++)
        w->outside[c] = (float)step->outside[c];
    int packed = n->in.layout == TAMIS_PACKED;
    int hides = n->in.channels - (planar || !packed ? step->filtered : n->in.channels);
    w->planes = planar || !packed ? n->in.channels - hides : 1;
    w->written = n->planar ? step->written : w->planes;
    w->step = planar || !packed ? 1 : n->in.channels;
    for (int f = 0; f <= 2 * now; f++) {
        if (!o->in[f].count)
            continue;
        helds[held_count++] = &o->in[f];
        frames[TAMIS_MAX_FRAMES + f - now] = o->in[f].planes;
        if (planar)
            tamis_priv_held_by_channel(&o->in[f], &frames[TAMIS_MAX_FRAMES + f - now], &pitch);
    }
    w->src = frames[TAMIS_MAX_FRAMES];
    w->src_pitch = planar ? pitch : w->step;
    w->dst = o->out.planes;
    w->dst_pitch = w->step;
    if (planar)
        tamis_priv_held_by_channel(&o->out, &w->dst, &w->dst_pitch);
    if (o->guide.count) {
        helds[held_count++] = &o->guide;
        tamis_priv_held_by_channel(&o->guide, &w->guide, &w->guide_pitch);
        w->guide_planes = o->guide.format.channels - (n->guide.alpha != TAMIS_ALPHA_NONE);
    }
    w->aligned = alignment_of(helds, held_count);
}

static tamis_status launch_work(tamis_session *s, int k, const tamis_gpu_work *work)
{
    const tamis_node *node = &s->plan->steps[k].node;
    const tamis_gpu_kernel *row = s->device->kernels[k];
    tamis_status status = row->launch(work, node, s->device->states[k], &s->fault);
    if (status == TAMIS_OK && row->finish)
        status = row->finish(work, node, s->device->states[k], &s->fault);
    return status;
}

static void next_picture(tamis_gpu_planes *planes, int64_t next)
{
    for (int p = 0; p < TAMIS_MAX_CHANNELS; p++)
        if (planes->data[p])
            planes->data[p] += next;
}

/* For rows that take one picture at a time: all use the same scratch memory in turn. */
static tamis_status launch_each(tamis_session *s, int k, tamis_gpu_work work,
                                tamis_gpu_planes *frames)
{
    tamis_status status = TAMIS_OK;
    int32_t count = work.count;
    work.count = 1;
    for (int32_t i = 0; i < count && status == TAMIS_OK; i++) {
        status = launch_work(s, k, &work);
        next_picture(&work.src, work.src_next);
        next_picture(&work.dst, work.dst_next);
        for (int f = 0; f <= 2 * TAMIS_MAX_FRAMES; f++)
            next_picture(&frames[f], work.src_next);
    }
    return status;
}

/* Bytes of scratch memory for one picture, so that the next one's begins as well aligned. */
static size_t scratch_bytes(const tamis_session *s, int k, tamis_rect part)
{
    const tamis_gpu_kernel *row = s->device->kernels[k];
    const tamis_node *node = &s->plan->steps[k].node;
    size_t size = row->scratch ? row->scratch(node, s->device->states[k], part.w, part.h) : 0;
    return (size + 255) / 256 * 256;
}

static tamis_status launch(tamis_session *s, int k, const struct operands *o, tamis_rect part)
{
    tamis_gpu_planes frames[2 * TAMIS_MAX_FRAMES + 1] = {0};
    tamis_gpu_work work;
    fill_work(&s->plan->steps[k], o, part, frames, &work);
    work.stream = s->stream;
    int in_turn = s->device->kernels[k]->alone && work.count > 1;
    size_t scratch = scratch_bytes(s, k, part);
    size_t size = tamis_priv_size_mul(scratch, in_turn ? 1 : (size_t)work.count);
    work.scratch_next = (int64_t)scratch;
    if (scratch)
        TAMIS_TRY(tamis_priv_room_alloc(s, size, &work.scratch));
    tamis_status status = in_turn ? launch_each(s, k, work, frames) : launch_work(s, k, &work);
    if (scratch)
        tamis_priv_room_free(s, work.scratch);
    return status;
}

static tamis_status prepare_guide(tamis_session *s, const tamis_step *step, const tamis_held *guide,
                                  tamis_rect part, tamis_held *out)
{
    tamis_type type = step->node.guide_is_map ? TAMIS_F32 : step->node.work;
    if (!step->node.has_guide)
        return TAMIS_OK;
    part = tamis_priv_with_slack(part, step->node.guide_w, step->node.guide_h);
    return as_wanted(s, guide, type, 0, part, out);
}

/* The kernel's result becomes the output's pixels. */
static tamis_status store(tamis_session *s, const tamis_step *step, const struct operands *o,
                          const tamis_held *in, tamis_rect part, const tamis_held *out)
{
    int channels = out->format.channels, copied = step->copies_alpha ? 1 : 0;
    if (o->out.block || step->divides_alpha)
        TAMIS_TRY(tamis_priv_held_convert(s, &o->out, out, part, 0, channels - copied,
                                          step->divides_alpha ? TAMIS_GPU_ALPHA_DIVIDE
                                                              : TAMIS_GPU_ALPHA_KEEP));
    if (!copied)
        return TAMIS_OK;
    tamis_held moved = *in;
    if (step->node.border == TAMIS_BORDER_VALID)
        tamis_priv_held_move(&moved, step->node.halo.left, step->node.halo.top);
    return tamis_priv_held_convert(s, &moved, out, part, channels - 1, channels,
                                   TAMIS_GPU_ALPHA_KEEP);
}

/* A result of another form than the output's needs memory of its own. */
static tamis_status make_result(tamis_session *s, const tamis_step *step, tamis_rect part,
                                const tamis_held *out, tamis_held *result)
{
    tamis_type type = tamis_priv_node_result(&step->node);
    *result = *out;
    result->block = NULL;
    if (type == out->format.type && !step->divides_alpha && tamis_priv_held_is_aligned(out))
        return TAMIS_OK;
    tamis_format format = out->format;
    format.type = type;
    return tamis_priv_held_make(s, format, part, out->count, result);
}

tamis_status tamis_priv_device_step(tamis_session *s, int k, const tamis_held *inputs,
                                    const tamis_held *guide, const tamis_held *out)
{
    const tamis_step *step = &s->plan->steps[k];
    int now = step->node.frames;
    struct operands o = {0};
    tamis_status status = TAMIS_OK;
    for (int f = 0; f <= 2 * now && status == TAMIS_OK; f++)
        if (inputs[f].count)
            status =
                as_wanted(s, &inputs[f], step->node.work, step->fetch.premultiply,
                          tamis_priv_with_slack(s->parts[k], step->node.w, step->node.h), &o.in[f]);
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
        tamis_priv_held_drop(s, &o.in[f]);
    tamis_priv_held_drop(s, &o.guide);
    tamis_priv_held_drop(s, &o.out);
    return status;
}
