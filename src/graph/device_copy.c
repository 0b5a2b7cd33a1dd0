/* SPDX-License-Identifier: Apache-2.0 */
/* Pixels on a device: memory for them, the ways there and back, and their forms. */
#include <string.h>

#include "core/ctx.h"
#include "core/mem.h"
#include "graph/device_session.h"

#define ROW_ALIGNMENT   256
#define STACK_ALIGNMENT 16 /* of rows in stacks of pictures, the most that kernels ask for */

/* ---- memory */

static int64_t pixel_bytes(const tamis_format *f)
{
    return (int64_t)tamis_priv_pixel_bytes(f);
}

int tamis_priv_plane_count(const tamis_format *f)
{
    return f->layout == TAMIS_PLANAR ? f->channels : 1;
}

void tamis_priv_held_move(tamis_held *h, int64_t x, int64_t y)
{
    for (int p = 0; p < tamis_priv_plane_count(&h->format); p++)
        h->planes.data[p] += y * h->planes.stride[p] + x * pixel_bytes(&h->format);
}

tamis_status tamis_priv_held_make(tamis_session *s, tamis_format format, tamis_rect part,
                                  int32_t count, tamis_held *out)
{
    int32_t left = part.x % 16;
    int64_t row = ((int64_t)part.w + left) * pixel_bytes(&format);
    int64_t alignment = count > 1 ? STACK_ALIGNMENT : ROW_ALIGNMENT;
    row = (row + alignment - 1) / alignment * alignment;
    size_t picture = tamis_priv_size_mul((size_t)row, (size_t)part.h);
    size_t plane = tamis_priv_size_mul(picture, (size_t)count);
    size_t size = tamis_priv_size_mul(plane, (size_t)tamis_priv_plane_count(&format));
    *out = (tamis_held){
        .format = format, .next = (int64_t)picture, .count = count, .box = part, .there = part};
    TAMIS_TRY(tamis_priv_room_alloc(s, size, &out->block));
    for (int p = 0; p < tamis_priv_plane_count(&format); p++) {
        out->planes.data[p] = (char *)out->block + (size_t)p * plane;
        out->planes.stride[p] = row;
    }
    tamis_priv_held_move(out, left - part.x, -(int64_t)part.y);
    return TAMIS_OK;
}

static int32_t smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

tamis_rect tamis_priv_with_slack(tamis_rect r, int32_t w, int32_t h)
{
    int32_t left = smaller(r.x, TAMIS_GPU_SLACK_W), top = smaller(r.y, TAMIS_GPU_SLACK_H);
    int32_t right = smaller(w - r.x - r.w, TAMIS_GPU_SLACK_W);
    int32_t bottom = smaller(h - r.y - r.h, TAMIS_GPU_SLACK_H);
    return (tamis_rect){r.x - left, r.y - top, r.w + left + right, r.h + top + bottom};
}

void tamis_priv_held_drop(tamis_session *s, tamis_held *h)
{
    if (h->block)
        tamis_priv_room_free(s, h->block);
    *h = (tamis_held){0};
}

static tamis_status clear_part(tamis_session *s, const tamis_held *h, tamis_rect part)
{
    const tamis_backend *backend = s->device->backend;
    int64_t px = pixel_bytes(&h->format);
    for (int p = 0; p < tamis_priv_plane_count(&h->format) && part.w > 0 && part.h > 0; p++)
        for (int32_t i = 0; i < h->count; i++)
            TAMIS_TRY(backend->clear(
                s->device->gpu, s->stream,
                h->planes.data[p] + i * h->next + part.y * h->planes.stride[p] + part.x * px,
                h->planes.stride[p], (size_t)(part.w * px), part.h, &s->fault));
    return TAMIS_OK;
}

tamis_status tamis_priv_held_clear(tamis_session *s, const tamis_held *h)
{
    tamis_rect b = h->box, t = h->there;
    int32_t right = t.x + t.w, bottom = t.y + t.h;
    TAMIS_TRY(clear_part(s, h, (tamis_rect){b.x, b.y, b.w, t.y - b.y}));
    TAMIS_TRY(clear_part(s, h, (tamis_rect){b.x, t.y, t.x - b.x, t.h}));
    TAMIS_TRY(clear_part(s, h, (tamis_rect){right, t.y, b.x + b.w - right, t.h}));
    return clear_part(s, h, (tamis_rect){b.x, bottom, b.w, b.y + b.h - bottom});
}

tamis_held tamis_priv_held_of_image(const tamis_image *image, int32_t x, int32_t y)
{
    tamis_rect box = {x, y, image->w, image->h};
    tamis_held h = {.format = image->format, .count = 1, .box = box, .there = box};
    for (int p = 0; p < tamis_image_planes(image); p++) {
        h.planes.data[p] = image->data[p];
        h.planes.stride[p] = image->stride[p];
    }
    tamis_priv_held_move(&h, -(int64_t)x, -(int64_t)y);
    return h;
}

/* ---- from host to device and back */

/* Rows between the caller's memory and pinned memory, some for each thread of the pool. */
#define MOVE_BYTES ((size_t)256 << 10)

struct move {
    const tamis_gpu_rows *rows;
    int32_t share;
};

static void move_share(void *user, int64_t index)
{
    const struct move *m = user;
    const tamis_gpu_rows *r = m->rows;
    int64_t first = index * m->share, end = first + m->share;
    for (int64_t y = first; y < end && y < r->count; y++)
        memcpy(r->to + y * r->to_stride, r->from + y * r->from_stride, r->bytes);
}

void tamis_priv_device_move_rows(void *user, const tamis_gpu_rows *rows)
{
    size_t fit = MOVE_BYTES / rows->bytes;
    struct move m = {rows, fit < 1 ? 1 : fit < (size_t)rows->count ? (int32_t)fit : rows->count};
    tamis_priv_pool_each(user, ((int64_t)rows->count + m.share - 1) / m.share, move_share, &m);
}

void tamis_priv_held_copy(const tamis_session *s, const tamis_image *image, int p, int32_t x,
                          int32_t y, const tamis_held *h, tamis_rect part, tamis_gpu_copy *out)
{
    int64_t px = pixel_bytes(&image->format);
    *out =
        (tamis_gpu_copy){.device = h->planes.data[p] + part.y * h->planes.stride[p] + part.x * px,
                         .device_stride = h->planes.stride[p],
                         .host = (char *)image->data[p] + (part.y - y) * (int64_t)image->stride[p] +
                                 (part.x - x) * px,
                         .host_stride = image->stride[p],
                         .bytes = (size_t)((int64_t)part.w * px),
                         .count = part.h,
                         .move = tamis_priv_device_move_rows,
                         .user = s->plan->ctx->pool};
}

tamis_status tamis_priv_held_upload(tamis_session *s, const tamis_image *image, tamis_rect window,
                                    int32_t w, int32_t h, tamis_rect part, tamis_held *out)
{
    tamis_gpu_copy copy;
    part = tamis_priv_with_slack(part, w, h);
    TAMIS_TRY(tamis_priv_held_make(s, image->format, part, 1, out));
    part = tamis_priv_rect_common(part, window); /* slack may be missing there */
    out->there = part;
    TAMIS_TRY(tamis_priv_held_clear(s, out));
    for (int p = 0; p < tamis_image_planes(image); p++) {
        tamis_priv_held_copy(s, image, p, window.x, window.y, out, part, &copy);
        TAMIS_TRY(s->device->backend->upload(s->device->gpu, s->stream, &copy, &s->fault));
    }
    return TAMIS_OK;
}

tamis_status tamis_priv_held_download(tamis_session *s, const tamis_held *h, tamis_rect part,
                                      const tamis_image *image, int32_t x, int32_t y)
{
    tamis_gpu_copy copy;
    for (int p = 0; p < tamis_image_planes(image); p++) {
        tamis_priv_held_copy(s, image, p, x, y, h, part, &copy);
        TAMIS_TRY(s->device->backend->download(s->device->gpu, s->stream, &copy, &s->fault));
    }
    return TAMIS_OK;
}

/* ---- other forms of pixels */

void tamis_priv_held_by_channel(const tamis_held *h, tamis_gpu_planes *planes, int *pitch)
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

tamis_status tamis_priv_held_convert(tamis_session *s, const tamis_held *src, const tamis_held *dst,
                                     tamis_rect part, int first, int end, tamis_gpu_alpha alpha)
{
    tamis_gpu_convert c = {.part = part,
                           .channels = end,
                           .first = first,
                           .alpha = alpha,
                           .src_type = src->format.type,
                           .dst_type = dst->format.type,
                           .count = dst->count,
                           .src_next = src->next,
                           .dst_next = dst->next,
                           .stream = s->stream};
    tamis_gpu_planes planes;
    tamis_priv_held_by_channel(src, &planes, &c.src_pitch);
    tamis_priv_held_by_channel(dst, &c.dst, &c.dst_pitch);
    for (int p = first; p < c.channels; p++) {
        int from = p + src->format.channels - dst->format.channels;
        c.src.data[p] = planes.data[from];
        c.src.stride[p] = planes.stride[from];
    }
    return s->device->backend->convert(s->device->gpu, &c, &s->fault);
}

uintptr_t tamis_priv_held_address_bits(const tamis_held *h)
{
    uintptr_t bits = h->count > 1 ? (uintptr_t)h->next : 0;
    for (int p = 0; p < tamis_priv_plane_count(&h->format); p++)
        bits |= (uintptr_t)h->planes.data[p] | (uintptr_t)h->planes.stride[p];
    return bits;
}

/* Samples that lie at odd places come to kernels as a copy. */
int tamis_priv_held_is_aligned(const tamis_held *h)
{
    return tamis_priv_held_address_bits(h) % tamis_type_size(h->format.type) == 0;
}

void tamis_priv_shared_drop(const struct tamis_device_plan *device, tamis_shared_frame *frame)
{
    tamis_session s = {.device = device};
    const tamis_backend *backend = device->backend;
    void *before = NULL;
    if (frame->state == TAMIS_SHARED_THERE &&
        backend->enter(device->gpu, &before, &s.fault) == TAMIS_OK) {
        if (backend->stream_get(device->gpu, &s.stream, &s.fault) == TAMIS_OK) {
            tamis_priv_held_drop(&s, &frame->held);
            backend->stream_put(device->gpu, s.stream);
        }
        backend->leave(device->gpu, before);
    }
    frame->state = TAMIS_SHARED_ABSENT;
}
