/* SPDX-License-Identifier: Apache-2.0 */
/* A part of a segment's result, pulled through the segment's steps from the last to the first. */
#include <stdint.h>
#include <string.h>

#include "core/ctx.h"
#include "graph/run.h"

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Bytes between rows that may be more than padding are left alone: another thread may write them.
 */
tamis_source tamis_priv_source_of_image(const tamis_image *image, int32_t x, int32_t y)
{
    tamis_source s = {.x = x, .y = y, .w = image->w, .h = image->h, .between = 1};
    size_t bytes = (size_t)image->w * tamis_priv_pixel_bytes(&image->format);
    for (int p = 0; p < tamis_image_planes(image); p++) {
        size_t stride = (size_t)(image->stride[p] < 0 ? -image->stride[p] : image->stride[p]);
        s.data[p] = image->data[p];
        s.stride[p] = image->stride[p];
        s.between &= stride >= TAMIS_FETCH_SLACK_MAX && stride < bytes + 64;
    }
    return s;
}

/* The frame so far before (negative) or after the current one; NULL when there is none. */
static const tamis_image *frame_at(const tamis_pass *pass, int frame)
{
    if (frame == 0)
        return pass->src;
    return pass->frames ? pass->frames[pass->plan->frames + frame] : NULL;
}

/* ---- one step on one part of its output */

/* Where the rows of one frame come from. */
struct input {
    tamis_source source;
    int direct; /* rows can point into it */
};

static void set_rows(const tamis_slot *slot, const size_t *offsets, int planes,
                     const void **rows[TAMIS_MAX_CHANNELS])
{
    for (int p = 0; p < planes; p++)
        rows[p] = (const void **)(void *)(slot->data + offsets[p]);
}

static void load_guide(const tamis_pass *pass, const tamis_step *s, const tamis_slot *slot,
                       tamis_rect part, tamis_box need, tamis_tile *tile)
{
    const void **rows[TAMIS_MAX_CHANNELS];
    tamis_source source = tamis_priv_source_of_image(pass->guide, pass->guide_x, pass->guide_y);
    if (s->node.guide_is_map)
        need = (tamis_box){part.x, part.y, part.w, part.h};
    set_rows(slot, s->guide_rows, s->guide.planes, rows);
    tamis_priv_fetch_padded(&s->guide, &source, need, slot->data + s->guide_padded,
                            (int64_t *)(void *)(slot->data + s->columns), rows);
    for (int p = 0; p < s->guide.planes; p++)
        tile->guide[p] = rows[p] + (s->node.guide_is_map ? 0 : s->node.halo.top);
    tile->guide_planes = s->guide.planes - (s->guide.format.alpha != TAMIS_ALPHA_NONE);
}

/* Calls the kernel for all planes at once or for one after the other. */
static void call_kernel(const tamis_step *s, const tamis_slot *slot, const tamis_tile *tile)
{
    void *scratch = slot->data + s->scratch;
    if (s->node.planar) {
        s->kernel->fn(tile, s->node.coef, scratch);
        return;
    }
    for (int p = 0; p < s->filtered; p++) {
        tamis_tile one = *tile;
        tamis_whole whole;
        one.planes = 1;
        one.plane = p;
        one.src[0] = tile->src[p];
        one.dst[0] = tile->dst[p];
        one.dst_stride[0] = tile->dst_stride[p];
        if (tile->whole) {
            whole = *tile->whole;
            whole.data[0] = whole.data[p];
            whole.stride[0] = whole.stride[p];
            whole.outside[0] = whole.outside[p];
            one.whole = &whole;
        }
        s->kernel->fn(&one, s->node.coef, scratch);
    }
}

/* Row y of the kernel's result, with the input's alpha where it is only copied. */
static void result_row(const tamis_step *s, const tamis_slot *slot, const tamis_tile *tile, int y,
                       const void *row[TAMIS_MAX_CHANNELS])
{
    for (int p = 0; p < s->written; p++)
        row[p] =
            slot->data + s->result + (size_t)p * s->result_plane + (size_t)y * s->result_stride;
    if (s->copies_alpha)
        row[s->written] = tile->src[s->fetch.planes - 1][y];
}

static void divide_by_alpha(const tamis_step *s, const tamis_slot *slot, int y, size_t n)
{
    int alpha = s->written - 1;
    tamis_type type = s->node.out.type;
    float clear = type == TAMIS_F32 || type == TAMIS_F16 ? 0 : 0.5f; /* rounds to 0 */
    char *row = slot->data + s->result + (size_t)y * s->result_stride;
    for (int p = 0; p < alpha; p++)
        s->fetch.loops->unpremultiply((float *)(void *)(row + (size_t)p * s->result_plane),
                                      (float *)(void *)(row + (size_t)alpha * s->result_plane), n,
                                      (float)tamis_type_range(type), clear);
}

/* Turns the kernel's rows into the output's format. */
static void store_result(const tamis_step *s, const tamis_slot *slot, tamis_rect part,
                         const tamis_tile *tile, const tamis_surface *dst)
{
    const tamis_convert *loops = s->fetch.loops;
    tamis_format out = s->node.out;
    tamis_type type = tamis_priv_node_result(&s->node);
    int planes = s->written + s->copies_alpha;
    size_t n = (size_t)part.w;
    for (int y = 0; y < part.h; y++) {
        const void *row[TAMIS_MAX_CHANNELS];
        if (s->divides_alpha)
            divide_by_alpha(s, slot, y, n);
        result_row(s, slot, tile, y, row);
        char *d = dst->data[0] + y * dst->stride[0];
        if (out.layout == TAMIS_PLANAR)
            for (int p = 0; p < planes; p++)
                loops->convert(dst->data[p] + y * dst->stride[p], out.type, row[p], type, n);
        else if (planes == 1)
            loops->convert(d, out.type, row[0], type, n * (size_t)s->fetch.step);
        else
            loops->join(d, out.type, row, type, planes, n);
    }
}

/* Calls the kernel for a tile whose input is set, and brings its result to dst. */
static void compute(const tamis_pass *pass, const tamis_step *s, const tamis_slot *slot,
                    tamis_rect part, tamis_box need, tamis_tile *tile, const tamis_surface *dst)
{
    int convert = s->convert_out || !dst->aligned;
    tile->w = part.w;
    tile->h = part.h;
    tile->x = part.x;
    tile->y = part.y;
    tile->step = s->fetch.step;
    tile->planes = s->filtered;
    for (int p = 0; p < s->written; p++) {
        tile->dst[p] =
            convert ? slot->data + s->result + (size_t)p * s->result_plane : dst->data[p];
        tile->dst_stride[p] = convert ? (ptrdiff_t)s->result_stride : dst->stride[p];
    }
    if (s->node.has_guide)
        load_guide(pass, s, slot, part, need, tile);
    call_kernel(s, slot, tile);
    if (convert)
        store_result(s, slot, part, tile, dst);
}

/* Sets rows for one frame; f counts from 0, the first before. */
static void fetch_rows(const tamis_step *s, const tamis_slot *slot, int f,
                       const struct input *input, tamis_box need,
                       const void **rows[TAMIS_MAX_CHANNELS])
{
    set_rows(slot, s->rows[f], s->fetch.planes, rows);
    if (input->direct)
        tamis_priv_fetch_direct(&s->fetch, &input->source, need, slot->data + s->padded[f], rows);
    else
        tamis_priv_fetch_padded(&s->fetch, &input->source, need, slot->data + s->padded[f],
                                (int64_t *)(void *)(slot->data + s->columns), rows);
}

/* One part of a step's output from inputs[0 .. 2 * node.frames], oldest first; NULL data where
 * there is no such frame. */
static void run_rows(const tamis_pass *pass, const tamis_step *s, const tamis_slot *slot,
                     tamis_rect part, tamis_box need, const struct input *inputs,
                     const tamis_surface *dst)
{
    int now = s->node.frames, top = s->node.need ? 0 : s->node.halo.top;
    tamis_frames frames;
    tamis_tile tile = {.from = need, .frames = now ? &frames : NULL, .cancel = pass->cancel};
    if (now)
        memset(&frames, 0, sizeof frames);
    for (int f = 0; f <= 2 * now; f++) {
        const void **rows[TAMIS_MAX_CHANNELS];
        if (!inputs[f].source.data[0])
            continue;
        fetch_rows(s, slot, f, &inputs[f], need, rows);
        for (int p = 0; p < s->fetch.planes; p++) {
            if (now)
                frames.rows[TAMIS_MAX_FRAMES + f - now][p] = rows[p] + top;
            if (f == now)
                tile.src[p] = rows[p] + top;
        }
    }
    compute(pass, s, slot, part, need, &tile, dst);
}

static tamis_surface moved(tamis_format format, const tamis_surface *surface, int columns, int rows)
{
    tamis_surface d = *surface;
    for (int p = 0; p < TAMIS_MAX_CHANNELS; p++)
        if (d.data[p])
            d.data[p] += rows * d.stride[p] + columns * (ptrdiff_t)tamis_priv_pixel_bytes(&format);
    return d;
}

/* The columns from .. to - 1 of a part, as many at a time as suit the step: the tiles of a chain
 * may be wider. Of inputs the sources are set, which may be read where they lie if in_place. */
static void run_columns(const tamis_pass *pass, const tamis_step *s, const tamis_slot *slot,
                        tamis_rect part, int from, int to, int in_place, struct input *inputs,
                        const tamis_surface *dst)
{
    for (int x = from, w; x < to; x += w) {
        w = s->node.need || to - x < 2 * s->node.tile_w ? to - x : s->node.tile_w;
        tamis_rect one = {part.x + x, part.y, w, part.h};
        tamis_box need = tamis_priv_step_need(s, one);
        tamis_surface d = moved(s->node.out, dst, x, 0);
        for (int f = 0; f <= 2 * s->node.frames; f++)
            inputs[f].direct =
                in_place && tamis_priv_fetch_is_inside(&s->fetch, &inputs[f].source, need);
        run_rows(pass, s, slot, one, need, inputs, &d);
    }
}

/* ---- a step that reads the source image */

/* Most of a tile can be read in place; only what reaches over the source's left or right side needs
 * padded copies. Cuts the tile's columns into at most three parts: cuts[i] .. cuts[i+1]. */
static int cut_columns(const tamis_step *s, const tamis_source *source, tamis_rect part, int *cuts)
{
    int64_t px = (int64_t)s->fetch.step * (int64_t)tamis_type_size(s->fetch.work);
    int64_t least = 2 * ((tamis_priv_fetch_slack(s->fetch.work) + px - 1) / px);
    int64_t slack = source->between ? 0 : least / 2;
    int64_t shift = s->node.border == TAMIS_BORDER_VALID ? s->node.halo.left : 0;
    int64_t first = source->x + slack + s->node.halo.left - shift;
    int64_t last = source->x + source->w - slack - s->node.halo.right - shift;
    int64_t from = first > part.x ? first - part.x : 0;
    int64_t to = last - part.x < part.w ? last - part.x : part.w;
    int n = 0;
    cuts[n++] = 0;
    if (to - from >= least) {
        if (from > 0)
            cuts[n++] = (int)from;
        if (to < part.w)
            cuts[n++] = (int)to;
    }
    cuts[n] = part.w;
    return n;
}

static void run_first_step(const tamis_pass *pass, const tamis_slot *slot, int frame,
                           tamis_rect part, const tamis_surface *dst)
{
    const tamis_step *s = &pass->plan->steps[pass->segment->first];
    struct input inputs[2 * TAMIS_MAX_FRAMES + 1];
    int cuts[4] = {0, part.w};
    int in_place = !s->convert_in && pass->src_aligned;
    for (int f = -s->node.frames; f <= s->node.frames; f++) {
        const tamis_image *image = frame_at(pass, frame + f);
        inputs[s->node.frames + f].source =
            image ? tamis_priv_source_of_image(image, pass->src_x, pass->src_y) : (tamis_source){0};
    }
    const tamis_source *now = &inputs[s->node.frames].source;
    int parts = in_place && !s->node.need ? cut_columns(s, now, part, cuts) : 1;
    for (int i = 0; i < parts; i++)
        run_columns(pass, s, slot, part, cuts[i], cuts[i + 1], in_place, inputs, dst);
}

/* Where pixel (0, 0) of a plane would be whose pixel (x, y) is the image's first: nowhere in memory
 * perhaps, so it is found in numbers. */
static const void *origin_of(const tamis_image *image, int p, int32_t x, int32_t y)
{
    uintptr_t before = (uintptr_t)y * (uintptr_t)image->stride[p] +
                       (uintptr_t)x * tamis_priv_pixel_bytes(&image->format);
    return (const void *)((uintptr_t)image->data[p] - before);
}

/* A step that reads the source anywhere. */
static void run_gather(const tamis_pass *pass, const tamis_slot *slot, tamis_rect part,
                       const tamis_surface *dst)
{
    const tamis_step *s = &pass->plan->steps[pass->segment->first];
    const tamis_image *image = s->convert_in ? &s->prepared : pass->src;
    int32_t x = s->convert_in ? 0 : pass->src_x, y = s->convert_in ? 0 : pass->src_y;
    tamis_whole whole = {.w = s->node.w, .h = s->node.h};
    tamis_tile tile = {.whole = &whole, .cancel = pass->cancel};
    for (int p = 0; p < s->fetch.planes; p++) {
        whole.data[p] = origin_of(image, p, x, y);
        whole.stride[p] = image->stride[p];
        whole.outside[p] = s->outside[p];
    }
    compute(pass, s, slot, part, (tamis_box){0}, &tile, dst);
}

/* ---- a step that reads the step before */

static void run_step(const tamis_pass *pass, const tamis_slot *slot, int k, int frame,
                     tamis_rect part, const tamis_surface *dst);

/* The buffer for the output of step k-1, as a surface whose corner is pixel (0, 0) of it. */
static tamis_surface previous_surface(const tamis_step *s, const tamis_slot *slot, int f)
{
    tamis_surface d = {.aligned = 1};
    int planes = s->node.in.layout == TAMIS_PLANAR ? s->node.in.channels : 1;
    for (int p = 0; p < planes; p++) {
        d.data[p] =
            slot->data + s->previous[f] + (size_t)p * s->previous_plane + TAMIS_FETCH_SLACK_MAX;
        d.stride[p] = (ptrdiff_t)s->previous_stride;
    }
    return d;
}

static tamis_source previous_source(const tamis_step *s, const tamis_surface *d, tamis_box box,
                                    int complete)
{
    tamis_source source = {
        .x = box.x, .y = box.y, .w = box.w, .h = box.h, .slack = 1, .complete = complete};
    int planes = s->node.in.layout == TAMIS_PLANAR ? s->node.in.channels : 1;
    for (int p = 0; p < planes; p++) {
        source.data[p] = d->data[p];
        source.stride[p] = d->stride[p];
    }
    return source;
}

/* Fills the buffer from its first w x h pixels, a whole period where the box is larger. */
static void repeat_period(const tamis_step *s, const tamis_surface *buffer, tamis_box need, int w,
                          int h)
{
    size_t px = tamis_priv_pixel_bytes(&s->node.in);
    for (int p = 0; p < TAMIS_MAX_CHANNELS && buffer->data[p]; p++) {
        for (int y = 0; y < need.h; y++) {
            char *row = buffer->data[p] + y * buffer->stride[p];
            if (y >= h)
                memcpy(row, row - h * buffer->stride[p], (size_t)need.w * px);
            else
                for (int x = w; x < need.w; x += w)
                    memcpy(row + (size_t)x * px, row, (size_t)smaller(w, need.w - x) * px);
        }
    }
}

/* With border=wrap a box over the edge comes from several places of the image: each is computed
 * into its place in the buffer. A step before that wraps as well goes on over the edge by itself:
 * asking for the parts one by one would take four times as long with every further step. */
static void produce_wrapped(const tamis_pass *pass, const tamis_slot *slot, int k, int frame,
                            tamis_box need, const tamis_surface *buffer)
{
    const tamis_step *s = &pass->plan->steps[k];
    const tamis_node *before = &pass->plan->steps[k - 1].node;
    int seamless = before->border == TAMIS_BORDER_WRAP && !before->need && !before->gather;
    int w = smaller(need.w, s->node.w), h = smaller(need.h, s->node.h);
    tamis_rect part;
    for (int y = 0; y < h; y += part.h) {
        part.y = (int32_t)tamis_border_index(TAMIS_BORDER_WRAP, need.y + y, s->node.h);
        part.h = seamless ? h : smaller(h - y, s->node.h - part.y);
        for (int x = 0; x < w; x += part.w) {
            part.x = (int32_t)tamis_border_index(TAMIS_BORDER_WRAP, need.x + x, s->node.w);
            part.w = seamless ? w : smaller(w - x, s->node.w - part.x);
            tamis_surface d = moved(s->node.in, buffer, x, y);
            run_step(pass, slot, k - 1, frame, part, &d);
        }
    }
    repeat_period(s, buffer, need, w, h);
}

/* Computes the rows of box that the buffer does not have from the tile above. */
static void produce_rows(const tamis_pass *pass, const tamis_slot *slot, int k, int frame,
                         tamis_box box, const tamis_surface *buffer)
{
    tamis_box *held = &slot->held[k];
    int64_t above = box.y - held->y, end = held->y + held->h;
    int kept = 0;
    if (pass->segment->rolls && held->x == box.x && held->w == box.w && above >= 0 && box.y < end) {
        kept = (int)(end - box.y < box.h ? end - box.y : box.h);
        for (int p = 0; p < TAMIS_MAX_CHANNELS && buffer->data[p]; p++)
            for (int y = 0; above > 0 && y < kept; y++)
                memcpy(buffer->data[p] + y * buffer->stride[p],
                       buffer->data[p] + (y + above) * buffer->stride[p],
                       (size_t)box.w * tamis_priv_pixel_bytes(&pass->plan->steps[k].node.in));
    }
    *held = box;
    if (kept == box.h)
        return;
    tamis_rect part = {(int32_t)box.x, (int32_t)box.y + kept, box.w, box.h - kept};
    tamis_surface d = moved(pass->plan->steps[k].node.in, buffer, 0, kept);
    run_step(pass, slot, k - 1, frame, part, &d);
}

/* What step k reads of one frame; f counts from 0, the first before. */
static struct input produce(const tamis_pass *pass, const tamis_slot *slot, int k, int frame,
                            tamis_box need, int f)
{
    const tamis_step *s = &pass->plan->steps[k];
    tamis_surface buffer = previous_surface(s, slot, f);
    tamis_box box = need;
    int wrapped = s->node.border == TAMIS_BORDER_WRAP;
    if (wrapped) {
        produce_wrapped(pass, slot, k, frame, need, &buffer);
    } else {
        box = tamis_priv_fetch_origin(&s->fetch, need);
        produce_rows(pass, slot, k, frame, box, &buffer);
    }
    return (struct input){.source = previous_source(s, &buffer, box, wrapped)};
}

static void run_later_step(const tamis_pass *pass, const tamis_slot *slot, int k, int frame,
                           tamis_rect part, const tamis_surface *dst)
{
    const tamis_step *s = &pass->plan->steps[k];
    tamis_box need = tamis_priv_step_need(s, part);
    struct input inputs[2 * TAMIS_MAX_FRAMES + 1];
    for (int f = -s->node.frames; f <= s->node.frames; f++)
        inputs[s->node.frames + f] =
            frame_at(pass, frame + f) ? produce(pass, slot, k, frame + f, need, s->node.frames + f)
                                      : (struct input){0};
    run_columns(pass, s, slot, part, 0, part.w, !s->convert_in, inputs, dst);
}

static void run_step(const tamis_pass *pass, const tamis_slot *slot, int k, int frame,
                     tamis_rect part, const tamis_surface *dst)
{
    if (k > pass->segment->first)
        run_later_step(pass, slot, k, frame, part, dst);
    else if (pass->plan->steps[k].node.gather)
        run_gather(pass, slot, part, dst);
    else
        run_first_step(pass, slot, frame, part, dst);
}

void tamis_priv_pull_begin(const tamis_pass *pass, const tamis_slot *slot)
{
    for (int k = pass->segment->first; k < pass->segment->end; k++)
        slot->held[k] = (tamis_box){0};
}

void tamis_priv_pull(const tamis_pass *pass, const tamis_slot *slot, tamis_rect part,
                     const tamis_surface *dst)
{
    run_step(pass, slot, pass->segment->end - 1, 0, part, dst);
}
