/* SPDX-License-Identifier: Apache-2.0 */
/* Do the images of a run fit the plan and each other? */
#include <stdint.h>
#include <stdio.h>

#include "graph/device.h"
#include "graph/run.h"

size_t tamis_priv_pixel_bytes(const tamis_format *f)
{
    return tamis_type_size(f->type) * (f->layout == TAMIS_PACKED ? (size_t)f->channels : 1);
}

int tamis_priv_is_aligned(const tamis_image *image)
{
    uintptr_t bits = 0;
    for (int p = 0; p < tamis_image_planes(image); p++)
        bits |= (uintptr_t)image->data[p] | (uintptr_t)image->stride[p];
    return bits % tamis_type_size(image->format.type) == 0;
}

static size_t row_bytes(const tamis_image *image)
{
    return (size_t)image->w * tamis_priv_pixel_bytes(&image->format);
}

/* Whether two planes of pixels share bytes. */
static int planes_overlap(const tamis_image *a, int p, const tamis_image *b, int q)
{
    uintptr_t a0 = (uintptr_t)a->data[p], b0 = (uintptr_t)b->data[q];
    uintptr_t a1 = (uintptr_t)tamis_image_row(a, p, a->h - 1);
    uintptr_t b1 = (uintptr_t)tamis_image_row(b, q, b->h - 1);
    uintptr_t a_lo = a0 < a1 ? a0 : a1, a_hi = (a0 < a1 ? a1 : a0) + row_bytes(a);
    uintptr_t b_lo = b0 < b1 ? b0 : b1, b_hi = (b0 < b1 ? b1 : b0) + row_bytes(b);
    if (a_hi <= b_lo || b_hi <= a_lo)
        return 0;
    if (a->stride[p] != b->stride[q] || a->stride[p] == 0)
        return 1;
    /* Views of one parent: side by side, they interleave without sharing a byte. */
    size_t stride = (size_t)(a->stride[p] < 0 ? -a->stride[p] : a->stride[p]);
    size_t ahead = b0 >= a0 ? (b0 - a0) % stride : (stride - (a0 - b0) % stride) % stride;
    return ahead < row_bytes(a) || ahead + row_bytes(b) > stride;
}

int tamis_priv_images_overlap(const tamis_image *a, const tamis_image *b)
{
    for (int p = 0; p < tamis_image_planes(a); p++)
        for (int q = 0; q < tamis_image_planes(b); q++)
            if (planes_overlap(a, p, b, q))
                return 1;
    return 0;
}

static tamis_status check_image(const tamis_plan *plan, const char *what, const tamis_image *image,
                                tamis_format format, int32_t w, int32_t h)
{
    TAMIS_TRY(tamis_image_check(plan->ctx, image));
    char want[64], have[64];
    if (!tamis_format_equal(image->format, format))
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_ARGUMENT,
                               "run: %s is %s, but the plan is for %s", what,
                               tamis_format_print(image->format, have, sizeof have),
                               tamis_format_print(format, want, sizeof want));
    if (image->w != w || image->h != h)
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_ARGUMENT,
                               "run: %s is %dx%d, but the plan is for %dx%d", what, image->w,
                               image->h, w, h);
    return TAMIS_OK;
}

tamis_status tamis_priv_rows_check(tamis_ctx *ctx, const char *what, const tamis_image *dst)
{
    for (int p = 0; p < tamis_image_planes(dst) && dst->h > 1; p++) {
        ptrdiff_t stride = dst->stride[p];
        if ((size_t)(stride < 0 ? -stride : stride) < row_bytes(dst))
            return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT,
                                   "%s: the destination's stride[%d] = %td is shorter than its "
                                   "rows of %zu bytes",
                                   what, p, stride, row_bytes(dst));
    }
    return TAMIS_OK;
}

static tamis_status check_overlap(const tamis_plan *plan, const char *what,
                                  const tamis_image *image, const tamis_image *dst)
{
    if (!tamis_priv_images_overlap(image, dst))
        return TAMIS_OK;
    return tamis_priv_fail(plan->ctx, TAMIS_ERR_ARGUMENT,
                           "run: %s and the destination share memory; results need memory of their "
                           "own",
                           what);
}

tamis_rect tamis_priv_rect_common(tamis_rect a, tamis_rect b)
{
    int32_t x = a.x > b.x ? a.x : b.x, y = a.y > b.y ? a.y : b.y;
    int32_t right = a.x + a.w < b.x + b.w ? a.x + a.w : b.x + b.w;
    int32_t end = a.y + a.h < b.y + b.h ? a.y + a.h : b.y + b.h;
    return (tamis_rect){x, y, right - x, end - y};
}

int tamis_priv_rect_is_same(tamis_rect a, tamis_rect b)
{
    return a.x == b.x && a.y == b.y && a.w == b.w && a.h == b.h;
}

tamis_status tamis_priv_rect_check(tamis_ctx *ctx, const char *what, tamis_rect rect, int32_t w,
                                   int32_t h)
{
    if (rect.w >= 1 && rect.h >= 1 && rect.x >= 0 && rect.y >= 0 && rect.x <= w - rect.w &&
        rect.y <= h - rect.h)
        return TAMIS_OK;
    return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT,
                           "%s: region %dx%d at (%d, %d) leaves the result of %dx%d", what, rect.w,
                           rect.h, rect.x, rect.y, w, h);
}

static int contains(tamis_rect outer, tamis_rect inner)
{
    if (inner.w < 1 || inner.h < 1)
        return 1;
    return inner.x >= outer.x && inner.y >= outer.y &&
           (int64_t)inner.x + inner.w <= (int64_t)outer.x + outer.w &&
           (int64_t)inner.y + inner.h <= (int64_t)outer.y + outer.h;
}

/* Whether a window on a picture lies in it and has what a run needs of it. */
static tamis_status check_window(const tamis_plan *plan, const char *what, tamis_rect window,
                                 tamis_rect whole, tamis_rect need)
{
    if (window.w < 1 || window.h < 1 || !contains(whole, window))
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_ARGUMENT,
                               "run: %s of %dx%d at (%d, %d) leaves the picture of %dx%d", what,
                               window.w, window.h, window.x, window.y, whole.w, whole.h);
    if (!contains(window, need))
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_ARGUMENT,
                               "run: %s of %dx%d at (%d, %d) does not hold all that the result "
                               "depends on, %dx%d at (%d, %d)",
                               what, window.w, window.h, window.x, window.y, need.w, need.h, need.x,
                               need.y);
    return TAMIS_OK;
}

tamis_status tamis_priv_guide_check(const tamis_plan *plan, tamis_rect rect,
                                    const tamis_run_options *options)
{
    tamis_rect all = {0, 0, plan->guide_w, plan->guide_h}, held = all;
    if (plan->has_guide != (options->guide != NULL))
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_ARGUMENT, "run: the plan was made %s a guide",
                               plan->has_guide ? "with" : "without");
    if (!options->guide)
        return TAMIS_OK;
    if (options->guide_window) {
        held = *options->guide_window;
        TAMIS_TRY(check_window(plan, "the guide's window", held, all,
                               tamis_priv_plan_need_guide(plan, rect)));
    }
    return check_image(plan, "the guide", options->guide, plan->guide, held.w, held.h);
}

static tamis_status check_frames(const tamis_plan *plan, const tamis_image *src,
                                 const tamis_image *dst, const tamis_image *const *frames)
{
    char what[32];
    for (int i = 0; frames && i <= 2 * plan->frames; i++) {
        if (!frames[i] || i == plan->frames)
            continue;
        snprintf(what, sizeof what, "frame %d", i - plan->frames);
        TAMIS_TRY(check_image(plan, what, frames[i], plan->in, src->w, src->h));
        TAMIS_TRY(check_overlap(plan, what, frames[i], dst));
    }
    return TAMIS_OK;
}

static int has_device(const tamis_plan *plan, int index)
{
    const struct tamis_device_plan *d = plan->device;
    while (d && d->index != index)
        d = d->next;
    return d != NULL;
}

/* Images may be in host memory or on one of the plan's devices: what a result there is made from
 * must be there, too. */
static tamis_status check_place(const tamis_plan *plan, const char *what, const tamis_image *image,
                                const tamis_image *dst)
{
    if (image->device && !has_device(plan, image->device - 1))
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_ARGUMENT,
                               "run: %s is in memory of device %d, but the plan is for %s", what,
                               image->device - 1, tamis_plan_device(plan));
    if (dst->device && image->device != dst->device)
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_ARGUMENT,
                               "run: %s must be on the device that the destination is on", what);
    return TAMIS_OK;
}

static tamis_status check_beside(const tamis_plan *plan, const char *what, const tamis_image *image,
                                 const tamis_image *src)
{
    if (image->device == src->device)
        return TAMIS_OK;
    return tamis_priv_fail(plan->ctx, TAMIS_ERR_ARGUMENT,
                           "run: %s and the source must be both in host memory or both on one "
                           "device",
                           what);
}

static tamis_status check_places(const tamis_plan *plan, const tamis_image *src,
                                 const tamis_image *dst, const tamis_run_options *options)
{
    TAMIS_TRY(check_place(plan, "the destination", dst, dst));
    TAMIS_TRY(check_place(plan, "the source", src, dst));
    if (options->guide)
        TAMIS_TRY(check_place(plan, "the guide", options->guide, dst));
    if (options->guide && options->guide->device)
        TAMIS_TRY(check_beside(plan, "the guide", options->guide, src));
    for (int i = 0; options->frames && i <= 2 * plan->frames; i++)
        if (options->frames[i] && i != plan->frames)
            TAMIS_TRY(check_beside(plan, "a frame", options->frames[i], src));
    if (options->stream && !dst->device)
        return tamis_priv_fail(plan->ctx, TAMIS_ERR_ARGUMENT,
                               "run: a stream needs images in device memory");
    return TAMIS_OK;
}

tamis_status tamis_priv_run_check(const tamis_plan *plan, const tamis_image *src, tamis_rect rect,
                                  const tamis_image *dst, const tamis_run_options *options)
{
    int32_t w, h;
    tamis_rect all = {0, 0, plan->w, plan->h}, held = all;
    tamis_plan_size(plan, &w, &h);
    TAMIS_TRY(tamis_priv_rect_check(plan->ctx, "run", rect, w, h));
    if (options->window) {
        held = *options->window;
        TAMIS_TRY(check_window(plan, "the window", held, all, tamis_priv_plan_need(plan, rect)));
    }
    TAMIS_TRY(check_image(plan, "the source", src, plan->in, held.w, held.h));
    TAMIS_TRY(check_image(plan, "the destination", dst, tamis_plan_format(plan), rect.w, rect.h));
    TAMIS_TRY(tamis_priv_rows_check(plan->ctx, "run", dst));
    TAMIS_TRY(tamis_priv_guide_check(plan, rect, options));
    TAMIS_TRY(check_places(plan, src, dst, options));
    TAMIS_TRY(check_overlap(plan, "the source", src, dst));
    if (options->guide)
        TAMIS_TRY(check_overlap(plan, "the guide", options->guide, dst));
    return check_frames(plan, src, dst, options->frames);
}

tamis_status tamis_priv_cancel_check(const tamis_plan *plan, const tamis_run_options *options)
{
    const volatile int *cancel = options->cancel;
    if (!cancel || !__atomic_load_n(cancel, __ATOMIC_RELAXED))
        return TAMIS_OK;
    return tamis_priv_fail(plan->ctx, TAMIS_ERR_CANCELED, "run: canceled");
}
