/* SPDX-License-Identifier: Apache-2.0 */
/* How large parts are. */
#include "core/ctx.h"
#include "core/mem.h"
#include "graph/parts.h"

/* Parts of fewer pixels are not worth a turn of the pipe. */
#define PIXELS_LEAST (1 << 20)
/* There should be some parts, for reading, filtering and writing to go on at once. */
#define PARTS_WANTED 8
/* Reading more than this of what has to be read once is worth a temporary file, which is written
 * and read. */
#define READ_WITHIN 4
/* Parts inside of blocks: more are not tried. */
#define COUNT_WITHIN (1 << 18)
/* Reading more than this of what has to be read once is worth looking for another shape. */
#define READ_WELL 1.2

static int32_t smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t round_up(int64_t v, int32_t unit, int32_t most)
{
    int64_t up = (v + unit - 1) / unit * unit;
    return up < most ? (int32_t)up : most;
}

size_t tamis_priv_parts_bytes(tamis_format format, int32_t w, int32_t h, size_t *stride)
{
    size_t planes = format.layout == TAMIS_PLANAR ? (size_t)format.channels : 1;
    /* At least what kernels may read beyond a row. */
    size_t row = tamis_priv_size_mul((size_t)w, tamis_priv_pixel_bytes(&format));
    row = tamis_priv_size_add(row, 63) / 64 * 64;
    if (stride)
        *stride = row;
    return tamis_priv_size_mul(tamis_priv_size_mul(row, (size_t)h), planes);
}

tamis_rect tamis_priv_parts_at(const tamis_stage *s, int64_t index)
{
    int32_t x = (int32_t)(index % s->across) * s->part_w;
    int32_t y = (int32_t)(index / s->across) * s->part_h;
    return (tamis_rect){s->result.x + x, s->result.y + y, smaller(s->part_w, s->result.w - x),
                        smaller(s->part_h, s->result.h - y)};
}

tamis_rect tamis_priv_parts_window(const tamis_stage *s, int feed, tamis_rect part)
{
    const tamis_feed *f = &s->feeds[feed];
    tamis_rect first = s->is_first ? part : tamis_priv_plan_first_part(s->plan, part);
    tamis_rect need = feed == TAMIS_FEED_GUIDE
                          ? tamis_priv_first_need_guide(s->plan, first)
                          : tamis_priv_segment_need(s->plan, s->plan->segments, first);
    int32_t block = f->source->block_h;
    if (s->across == 1 && block > 1 && block <= s->part_h)
        need.h = round_up((int64_t)need.y + need.h, block, f->h) - need.y;
    return need;
}

tamis_rect tamis_priv_parts_kept(tamis_rect last, tamis_rect window)
{
    tamis_rect both = tamis_priv_rect_common(last, window);
    int useful = both.w == window.w || both.h == window.h;
    return both.w > 0 && both.h > 0 && useful ? both : (tamis_rect){window.x, window.y, 0, 0};
}

int tamis_priv_parts_rest(tamis_rect window, tamis_rect kept, tamis_rect rest[2])
{
    tamis_rect before = window, after = window;
    int count = 0;
    if (kept.w == 0) {
        rest[0] = window;
        return 1;
    }
    if (kept.w == window.w) {
        before.h = kept.y - window.y;
        after.y = kept.y + kept.h;
        after.h = window.y + window.h - after.y;
    } else {
        before.w = kept.x - window.x;
        after.x = kept.x + kept.w;
        after.w = window.x + window.w - after.x;
    }
    if (before.w > 0 && before.h > 0)
        rest[count++] = before;
    if (after.w > 0 && after.h > 0)
        rest[count++] = after;
    return count;
}

/* Samples along an axis of the whole blocks that first .. first+count-1 lie in. */
static double in_blocks(int32_t first, int32_t count, int32_t block, int32_t n)
{
    if (block <= 1)
        return count;
    int64_t from = first / block * (int64_t)block;
    return (double)(round_up((int64_t)first + count, block, n) - from);
}

/* Pixels that a feed has to come by for a window, in whole blocks. */
static double to_read(const tamis_feed *f, tamis_rect last, tamis_rect window)
{
    tamis_rect rest[2];
    double sum = 0;
    int count = tamis_priv_parts_rest(window, tamis_priv_parts_kept(last, window), rest);
    int32_t block_w = f->source->block_w ? f->source->block_w : f->w;
    for (int i = 0; i < count; i++)
        sum += in_blocks(rest[i].x, rest[i].w, block_w, f->w) *
               in_blocks(rest[i].y, rest[i].h, f->source->block_h, f->h);
    return sum;
}

/* What parts of some size take. */
struct cost {
    size_t bytes; /* in memory */
    double read;  /* pixels that are read, in whole blocks */
    double all;   /* and pixels of all windows */
};

static void add_feed(tamis_stage *s, int index, struct cost *cost)
{
    tamis_feed *f = &s->feeds[index];
    tamis_rect last = {0};
    size_t most = 0;
    if (!f->source || f->whole.data[0])
        return;
    for (int64_t i = 0; i < s->count; i++) {
        tamis_rect window = tamis_priv_parts_window(s, index, tamis_priv_parts_at(s, i));
        size_t bytes = tamis_priv_parts_bytes(f->format, window.w, window.h, NULL);
        most = bytes > most ? bytes : most;
        cost->read += to_read(f, last, window);
        cost->all += (double)window.w * window.h;
        last = window;
    }
    f->window_bytes = most;
    cost->bytes = tamis_priv_size_add(cost->bytes, most);
}

static void set_parts(tamis_stage *s, int32_t w, int32_t h)
{
    s->part_w = w;
    s->part_h = h;
    s->across = ((int64_t)s->result.w + w - 1) / w;
    s->count = s->across * (((int64_t)s->result.h + h - 1) / h);
}

static struct cost try_parts(tamis_stage *s, int32_t w, int32_t h)
{
    struct cost cost = {0};
    set_parts(s, w, h);
    s->part_bytes = s->make && s->target ? tamis_priv_parts_bytes(s->format, w, h, NULL) : 0;
    cost.bytes = s->part_bytes;
    for (int f = 0; s->feeds && f < TAMIS_FEED_COUNT; f++)
        add_feed(s, f, &cost);
    size_t depth = s->count > 1 ? TAMIS_PARTS_DEPTH : 1;
    cost.bytes = tamis_priv_size_mul(cost.bytes, depth);
    return cost;
}

/* Heights are multiples of this, where blocks do not say of what: rows of tiles. */
static int32_t height_unit(const tamis_stage *s)
{
    const tamis_plan *plan = s->plan;
    int last = s->is_first ? 0 : plan->segment_count - 1;
    int32_t tile = plan->device ? TAMIS_PLAN_TILE_H : plan->segments[last].tile_h;
    int32_t unit = s->block_h > 1 ? s->block_h : tile;
    return smaller(unit > 1 ? unit : 1, s->result.h);
}

static int32_t first_height(const tamis_stage *s, int32_t w, int32_t unit)
{
    int64_t share = ((int64_t)s->result.h + PARTS_WANTED - 1) / PARTS_WANTED;
    int64_t least = PIXELS_LEAST / w + 1;
    return round_up(share > least ? share : least, unit, s->result.h);
}

/* The highest parts of a width that fit the bound; 0 when none do. */
static int32_t fit_height(tamis_stage *s, int32_t w, size_t bound, struct cost *cost)
{
    int32_t unit = height_unit(s), h = first_height(s, w, unit);
    for (;;) {
        *cost = try_parts(s, w, h);
        if (cost->bytes <= bound)
            return h;
        if (h <= unit && (s->block_h > 1 || h == 1))
            return 0;
        double share = (double)bound / (double)cost->bytes;
        int32_t next = (int32_t)(h * share);
        next = next < h / 8 ? h / 8 : next;
        next = h > unit && next > unit ? next / unit * unit : next;
        next = h > unit && next < unit ? unit : next;
        h = next < 1 ? 1 : next < h ? next : h - 1;
    }
}

static double price(const struct cost *c)
{
    return c->read + c->all / 8;
}

/* Pixels of all that is read. */
static double pixels_once(const tamis_stage *s)
{
    double once = 0;
    for (int f = 0; s->feeds && f < TAMIS_FEED_COUNT; f++)
        if (s->feeds[f].source && !s->feeds[f].whole.data[0])
            once += (double)s->feeds[f].w * s->feeds[f].h;
    return once;
}

int tamis_priv_parts_layout(tamis_stage *s, size_t bound, size_t *least)
{
    int32_t unit = s->block_w > 0 ? smaller(s->block_w, s->result.w) : s->result.w;
    int32_t w = s->result.w, best_w = 0, best_h = 0;
    struct cost cost, best = {0};
    double once = pixels_once(s);
    *least = SIZE_MAX;
    for (;;) {
        int32_t h = fit_height(s, w, bound, &cost);
        *least = cost.bytes < *least ? cost.bytes : *least;
        if (h > 0 && (best_h == 0 || price(&cost) < price(&best))) {
            best = cost;
            best_w = w;
            best_h = h;
        }
        if (w == unit || (best_h > 0 && best.read <= READ_WELL * once))
            break;
        w = w / 2 > unit ? w / 2 / unit * unit : unit;
    }
    if (best_h > 0)
        try_parts(s, best_w, best_h);
    return best_h > 0;
}

/* The highest parts of a width that fit; 0 when none do. */
static int32_t fit_within(tamis_stage *s, int32_t w, int32_t rows, size_t bound, struct cost *cost)
{
    for (int32_t h = rows; h > 0; h--) {
        if (rows % h != 0)
            continue;
        set_parts(s, w, h);
        if (s->count > COUNT_WITHIN)
            return 0;
        *cost = try_parts(s, w, h);
        if (cost->bytes <= bound)
            return h;
    }
    return 0;
}

int tamis_priv_parts_layout_within(tamis_stage *s, int32_t h, size_t bound)
{
    struct cost cost;
    for (int32_t w = s->result.w; w > 0; w /= 2) {
        if (fit_within(s, w, h, bound, &cost) > 0)
            return cost.read <= READ_WITHIN * pixels_once(s);
    }
    return 0;
}
