/* SPDX-License-Identifier: Apache-2.0 */
#include "support/parts.h"

static void expect(test_store *s, int holds, const char *otherwise)
{
    if (!holds && !s->misused)
        s->misused = otherwise;
}

static int is_inside(const test_store *s, tamis_rect r)
{
    return r.x >= 0 && r.y >= 0 && r.w > 0 && r.h > 0 && r.x <= s->image->w - r.w &&
           r.y <= s->image->h - r.h;
}

static tamis_status copy(test_store *s, tamis_rect part, const tamis_image *other, int writes)
{
    tamis_image view;
    tamis_status status = tamis_image_view(s->ctx, s->image, part, &view);
    if (status != TAMIS_OK)
        return status;
    return writes ? tamis_image_copy(s->ctx, other, &view) : tamis_image_copy(s->ctx, &view, other);
}

/* Begins a call; 0 when it is to fail. */
static int begin(test_store *s, tamis_rect part, const tamis_image *image)
{
    expect(s, atomic_fetch_add(&s->inside, 1) == 0, "two calls at once");
    expect(s, is_inside(s, part), "a part outside the picture");
    expect(s, image->w == part.w && image->h == part.h, "an image of another size");
    s->pixels += (int64_t)part.w * part.h;
    return ++s->calls != s->fail_at;
}

tamis_status test_store_read(void *store, tamis_rect part, const tamis_image *into)
{
    test_store *s = store;
    tamis_status status = TAMIS_ERR_READ;
    if (begin(s, part, into))
        status = copy(s, part, into, 0);
    else
        tamis_ctx_fail(s->ctx, status, "the test's reader fails");
    atomic_fetch_sub(&s->inside, 1);
    return status;
}

/* Whole blocks, but for the picture's right and lower edge. */
static int is_whole(int32_t at, int32_t size, int32_t block, int32_t all)
{
    return block == 0 ? at == 0 && size == all
                      : at % block == 0 && (size % block == 0 || at + size == all);
}

tamis_status test_store_write(void *store, tamis_rect part, const tamis_image *from)
{
    test_store *s = store;
    tamis_status status = TAMIS_ERR_WRITE;
    int below = part.x == 0 && part.y == s->last.y + s->last.h;
    int beside = part.y == s->last.y && part.h == s->last.h && part.x == s->last.x + s->last.w;
    expect(s, s->calls == 0 ? part.x == 0 && part.y == 0 : below || beside, "another order");
    expect(s, is_whole(part.x, part.w, s->block_w, s->image->w), "blocks cut across");
    expect(s, is_whole(part.y, part.h, s->block_h ? s->block_h : 1, s->image->h),
           "blocks cut downwards");
    s->last = part;
    if (begin(s, part, from))
        status = copy(s, part, from, 1);
    else
        tamis_ctx_fail(s->ctx, status, "the test's writer fails");
    atomic_fetch_sub(&s->inside, 1);
    return status;
}

tamis_status test_parts_run(const tamis_plan *plan, test_store *src, test_store *guide,
                            test_store *dst, size_t max_bytes, const tamis_run_options *options)
{
    tamis_parts parts = {.src = {test_store_read, src, src->block_w, src->block_h},
                         .dst = {test_store_write, dst, dst->block_w, dst->block_h},
                         .max_bytes = max_bytes};
    if (guide)
        parts.guide = (tamis_part_source){test_store_read, guide, guide->block_w, guide->block_h};
    tamis_status status = tamis_plan_run_parts(plan, &parts, options);
    if (status == TAMIS_OK)
        expect(dst, dst->pixels == (int64_t)dst->image->w * dst->image->h,
               "other than all pixels were written");
    return status;
}
