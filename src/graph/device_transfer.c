/* SPDX-License-Identifier: Apache-2.0 */
/* Images of callers, as they are, between host memory and a device's, and rearranged inside of it.
 */
#include "core/ctx.h"
#include "core/devices.h"
#include "graph/device_session.h"

/* What is to be done with two images on a device's stream. */
struct job {
    const tamis_image *src, *dst;
    int shift;
    void *pool;
};
typedef tamis_status job_function(const struct job *job, const tamis_backend *backend,
                                  tamis_gpu *gpu, void *stream, tamis_gpu_fault *fault);

/* After what was enqueued on the default stream, as whoever filled src may know no other. Returns
 * when it is done. */
static tamis_status run_on_stream(const tamis_backend *backend, tamis_gpu *gpu, job_function *run,
                                  const struct job *job, tamis_gpu_fault *fault)
{
    void *stream = NULL;
    TAMIS_TRY(backend->wait(gpu, NULL, fault));
    TAMIS_TRY(backend->stream_get(gpu, &stream, fault));
    tamis_status status = run(job, backend, gpu, stream, fault);
    tamis_status waited = backend->wait(gpu, stream, fault);
    backend->stream_put(gpu, stream);
    return status == TAMIS_OK ? waited : status;
}

static tamis_status run_on(tamis_ctx *ctx, int index, const char *what, job_function *run,
                           const struct job *job)
{
    tamis_gpu_fault fault = {""};
    tamis_gpu *gpu = NULL;
    void *before = NULL;
    TAMIS_TRY(tamis_priv_devices_open(ctx, index, &gpu));
    const tamis_backend *backend = tamis_priv_devices_backend(ctx);
    tamis_status status = backend->enter(gpu, &before, &fault);
    if (status == TAMIS_OK) {
        status = run_on_stream(backend, gpu, run, job, &fault);
        backend->leave(gpu, before);
    }
    if (status != TAMIS_OK)
        return tamis_priv_fail(ctx, status, "cuda:%d: %s: %s", index, what, fault.text);
    return TAMIS_OK;
}

/* ---- to a device and back */

static tamis_status check(tamis_ctx *ctx, const tamis_image *src, const tamis_image *dst)
{
    TAMIS_TRY(tamis_image_check(ctx, src));
    TAMIS_TRY(tamis_image_check(ctx, dst));
    if (!src->device == !dst->device)
        return tamis_priv_fail(
            ctx, TAMIS_ERR_ARGUMENT,
            "transfer: one image must be in host memory, the other in a device's");
    if (!tamis_format_equal(src->format, dst->format) || src->w != dst->w || src->h != dst->h)
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT,
                               "transfer: images must have the same format and size");
    return tamis_priv_rows_check(ctx, "transfer", dst);
}

typedef tamis_status copy_function(tamis_gpu *, void *, const tamis_gpu_copy *, tamis_gpu_fault *);

/* Devices want rows from top to bottom; others are copied one by one. */
static tamis_status copy_plane(copy_function *copy, tamis_gpu *gpu, void *stream, tamis_gpu_copy c,
                               tamis_gpu_fault *fault)
{
    if (c.count == 1 || c.device_stride >= (int64_t)c.bytes)
        return copy(gpu, stream, &c, fault);
    int32_t count = c.count;
    c.count = 1;
    for (int32_t y = 0; y < count; y++) {
        TAMIS_TRY(copy(gpu, stream, &c, fault));
        c.device += c.device_stride;
        c.host += c.host_stride;
    }
    return TAMIS_OK;
}

static tamis_status copy_image(const struct job *job, const tamis_backend *backend, tamis_gpu *gpu,
                               void *stream, tamis_gpu_fault *fault)
{
    const tamis_image *src = job->src, *dst = job->dst;
    const tamis_image *there = src->device ? src : dst, *here = src->device ? dst : src;
    copy_function *copy = src->device ? backend->download : backend->upload;
    for (int p = 0; p < tamis_image_planes(src); p++) {
        tamis_gpu_copy c = {.device = there->data[p],
                            .device_stride = there->stride[p],
                            .host = here->data[p],
                            .host_stride = here->stride[p],
                            .bytes = (size_t)src->w * tamis_priv_pixel_bytes(&src->format),
                            .count = src->h,
                            .move = tamis_priv_device_move_rows,
                            .user = job->pool};
        TAMIS_TRY(copy_plane(copy, gpu, stream, c, fault));
    }
    return TAMIS_OK;
}

tamis_status tamis_image_transfer(tamis_ctx *ctx, const tamis_image *src, const tamis_image *dst)
{
    TAMIS_REQUIRE(ctx, ctx);
    TAMIS_REQUIRE(ctx, src);
    TAMIS_REQUIRE(ctx, dst);
    TAMIS_TRY(check(ctx, src, dst));
    struct job job = {.src = src, .dst = dst, .pool = ctx->pool};
    int index = (src->device ? src->device : dst->device) - 1;
    return run_on(ctx, index, "transfer", copy_image, &job);
}

/* ---- inside of a device */

static tamis_status check_inside(tamis_ctx *ctx, const tamis_image *src, const tamis_image *dst,
                                 int shift)
{
    TAMIS_TRY(tamis_image_check(ctx, src));
    TAMIS_TRY(tamis_image_check(ctx, dst));
    if (!src->device || src->device != dst->device)
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT,
                               "rearrange: both images must be in the memory of one device");
    if (src->w != dst->w || src->h != dst->h || src->format.type != dst->format.type ||
        src->format.channels != dst->format.channels)
        return tamis_priv_fail(
            ctx, TAMIS_ERR_ARGUMENT,
            "rearrange: images must have the same size, type and number of channels");
    if (shift < 0 || shift > (src->format.type == TAMIS_U16 ? 15 : 0))
        return tamis_priv_fail(
            ctx, TAMIS_ERR_ARGUMENT,
            "rearrange: shift = %d is outside 0 .. 15 for u16, 0 for other types", shift);
    if (tamis_priv_images_overlap(src, dst))
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT, "rearrange: the images share memory");
    return tamis_priv_rows_check(ctx, "rearrange", dst);
}

static tamis_status rearrange(const struct job *job, const tamis_backend *backend, tamis_gpu *gpu,
                              void *stream, tamis_gpu_fault *fault)
{
    const tamis_image *src = job->src, *dst = job->dst;
    tamis_held from = tamis_priv_held_of_image(src, 0, 0);
    tamis_held to = tamis_priv_held_of_image(dst, 0, 0);
    tamis_gpu_convert c = {.part = {0, 0, src->w, src->h},
                           .channels = src->format.channels,
                           .shift = job->shift,
                           .src_type = src->format.type,
                           .dst_type = dst->format.type,
                           .count = 1,
                           .stream = stream};
    tamis_priv_held_by_channel(&from, &c.src, &c.src_pitch);
    tamis_priv_held_by_channel(&to, &c.dst, &c.dst_pitch);
    return backend->convert(gpu, &c, fault);
}

tamis_status tamis_image_rearrange(tamis_ctx *ctx, const tamis_image *src, const tamis_image *dst,
                                   int shift)
{
    TAMIS_REQUIRE(ctx, ctx);
    TAMIS_REQUIRE(ctx, src);
    TAMIS_REQUIRE(ctx, dst);
    TAMIS_TRY(check_inside(ctx, src, dst, shift));
    struct job job = {.src = src, .dst = dst, .shift = shift};
    return run_on(ctx, src->device - 1, "rearrange", rearrange, &job);
}
