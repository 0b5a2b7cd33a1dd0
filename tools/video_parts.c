/* SPDX-License-Identifier: Apache-2.0 */
/* Which filters go to which part of a video's frames, and their plans. */
#include "video_parts.h"

#include "video_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tamis/device.h>
#include <tamis/estimate.h>

/* ---- planes */

static tamis_status refuse(tool_worker *worker, tamis_status status, const char *format,
                           const char *what, const tamis_video_format *f)
{
    char text[96];
    return tamis_ctx_fail(worker->tool.ctx, status, format, what,
                          tamis_video_format_print(f, text, sizeof(text)));
}

/* What --planes asks for: bit i for part i; by default 0. */
static tamis_status wanted_parts(tool_worker *worker, const tamis_video_format *f, unsigned *out)
{
    const char *text = worker->tool.options.planes;
    static const struct {
        const char *letters;
        int part, rgb;
    } names[] = {{"rgb", TAMIS_VIDEO_MAIN, 1},
                 {"uv", TAMIS_VIDEO_CHROMA, 0},
                 {"y", TAMIS_VIDEO_MAIN, 0},
                 {"a", TAMIS_VIDEO_ALPHA, -1}};
    *out = 0;
    if (!text)
        return TAMIS_OK;
    if (strcmp(text, "all") == 0) {
        *out = 1u << TAMIS_VIDEO_MAIN | 1u << TAMIS_VIDEO_CHROMA | 1u << TAMIS_VIDEO_ALPHA;
        return TAMIS_OK;
    }
    for (const char *p = text; *p;) {
        size_t i = 0, count = sizeof(names) / sizeof(*names);
        while (i < count && strncmp(p, names[i].letters, strlen(names[i].letters)) != 0)
            i++;
        if (i == count)
            return tamis_ctx_fail(worker->tool.ctx, TAMIS_ERR_ARGUMENT,
                                  "--planes: '%s' is none of y, uv, yuv, a, yuva, rgb, rgba, all",
                                  text);
        int is_rgb = f->model == TAMIS_VIDEO_RGB;
        if (names[i].rgb >= 0 && names[i].rgb != is_rgb)
            return refuse(worker, TAMIS_ERR_ARGUMENT, "--planes: there is no %s in frames of %s",
                          names[i].letters, f);
        if (tamis_video_part_format(f, names[i].part, NULL, NULL).channels == 0)
            return refuse(worker, TAMIS_ERR_ARGUMENT, "--planes: there is no %s in frames of %s",
                          names[i].letters, f);
        *out |= 1u << names[i].part;
        p += strlen(names[i].letters);
    }
    return TAMIS_OK;
}

/* Whether a filter is about a part, when no planes were asked for. */
static int is_about(const tamis_filter *filter, const tamis_video_format *f, int part)
{
    unsigned traits = tamis_filter_traits(filter);
    if (part == TAMIS_VIDEO_MAIN)
        return 1;
    return part == TAMIS_VIDEO_CHROMA && f->model == TAMIS_VIDEO_YUV &&
           !(traits & (TAMIS_TRAIT_DETAIL | TAMIS_TRAIT_EDGES));
}

static unsigned traits_of(const tamis_graph *graph)
{
    unsigned traits = 0;
    for (int i = 0; i < tamis_graph_size(graph); i++)
        traits |= tamis_filter_traits(tamis_graph_filter(graph, i));
    return traits;
}

static tamis_status check_chain(tool_worker *worker, const tamis_graph *graph,
                                const tamis_video_format *f)
{
    for (int i = 0; i < tamis_graph_size(graph); i++) {
        const tamis_filter *filter = tamis_graph_filter(graph, i);
        int colors = (tamis_filter_traits(filter) & TAMIS_TRAIT_COLOR) != 0;
        if (colors && f->model != TAMIS_VIDEO_RGB)
            return refuse(worker, TAMIS_ERR_UNSUPPORTED,
                          "%s works on colors, and frames of %s are filtered plane by plane",
                          tamis_filter_name(filter), f);
    }
    return TAMIS_OK;
}

/* ---- graphs */

/* The filters for a part: those about it, and all that move pixels. */
static tamis_status add_filters(const tamis_graph *chain, const tamis_video_format *f, int part,
                                unsigned wanted, tamis_graph *out)
{
    tamis_status status = TAMIS_OK;
    for (int i = 0; i < tamis_graph_size(chain) && !status; i++) {
        const tamis_filter *filter = tamis_graph_filter(chain, i);
        int moves = (tamis_filter_traits(filter) & TAMIS_TRAIT_GEOMETRY) != 0;
        int about = wanted ? (int)(wanted >> part & 1) : is_about(filter, f, part);
        if (moves || about)
            status = tamis_graph_add(out, filter, tamis_graph_params(chain, i));
    }
    return status;
}

static tamis_status make_graph(tool_worker *worker, const tamis_video_format *f, int part,
                               unsigned wanted, tamis_graph **out)
{
    tool *t = &worker->tool;
    if (part == TAMIS_VIDEO_CHROMA && t->options.chroma)
        return tamis_graph_parse(t->ctx, t->options.chroma, out);
    tamis_status status = tamis_graph_create(t->ctx, out);
    if (!status)
        status = add_filters(worker->graph, f, part, wanted, *out);
    return status;
}

/* ---- levels */

static int is_limited(const tamis_video_format *f)
{
    return !f->full_range && f->type != TAMIS_F32;
}

static int black_level(const tamis_video_format *f)
{
    return is_limited(f) ? 16 << (f->bits - 8) : 0;
}

static int neutral_level(const tamis_video_format *f)
{
    return f->type == TAMIS_F32 ? 0 : 1 << (f->bits - 1);
}

/* Where the first chroma sample lies. */
static void place_chroma(const tamis_video_format *f, tamis_plane *plane)
{
    double middle_x = ((1 << f->sub_x) - 1) / 2.0, middle_y = ((1 << f->sub_y) - 1) / 2.0;
    plane->at_x = f->siting == TAMIS_VIDEO_SITING_CENTER ? middle_x : 0;
    plane->at_y = f->siting == TAMIS_VIDEO_SITING_TOPLEFT ? 0 : middle_y;
}

static tamis_plane describe_part(const tamis_video_format *f, int part)
{
    tamis_plane plane = {.w = f->w, .h = f->h};
    if (f->type == TAMIS_U16 && f->bits < 16)
        plane.bits = f->bits;
    if (part == TAMIS_VIDEO_MAIN)
        plane.outside = black_level(f);
    if (part != TAMIS_VIDEO_CHROMA)
        return plane;
    plane.sub_x = f->sub_x;
    plane.sub_y = f->sub_y;
    place_chroma(f, &plane);
    plane.outside = neutral_level(f);
    plane.outside_always = 1;
    return plane;
}

/* ---- plans */

static tamis_status check_result(tool_worker *worker, const tamis_video_format *f, int part,
                                 const tamis_plan *plan)
{
    static const char *const names[] = {"the picture", "chroma", "alpha"};
    char text[64], frames[96];
    tamis_format want = tamis_video_part_format(f, part, NULL, NULL), got = tamis_plan_format(plan);
    /* Another sample type is converted, as laplacian's s16 is: what is below 0 becomes that. */
    if (got.channels == want.channels)
        return TAMIS_OK;
    return tamis_ctx_fail(worker->tool.ctx, TAMIS_ERR_UNSUPPORTED,
                          "the chain makes %s of %s, which does not go into frames of %s",
                          tamis_format_print(got, text, sizeof(text)), names[part],
                          tamis_video_format_print(f, frames, sizeof(frames)));
}

/* The guide is the first filter's; a map for a plane with fewer samples is made from it. */
static tamis_status set_guide(tool_worker *worker, tool_video_part *part, const tamis_plane *plane,
                              tamis_plan_options *options)
{
    const tool_job *job = worker->job;
    tamis_status status = TAMIS_OK;
    if (!job->has_guide || tamis_filter_max_inputs(tamis_graph_filter(part->graph, 0)) < 2)
        return TAMIS_OK;
    if (plane->sub_x || plane->sub_y) {
        status = tool_video_map(worker->tool.ctx, &job->guide, plane, &part->guide);
    } else {
        part->guide = job->guide;
        tamis_image_ref(&part->guide);
    }
    options->guide = &part->guide.format;
    options->guide_w = part->guide.w;
    options->guide_h = part->guide.h;
    return status;
}

static tamis_status plan_part(tool_worker *worker, tool_video_parts *parts, int number,
                              const tamis_video_frame *like)
{
    tool *t = &worker->tool;
    tool_video_part *part = &parts->part[number];
    int32_t w, h;
    tamis_video_part_format(&parts->in, number, &w, &h);
    tamis_format format = like->part[number].format; /* in the layout that frames have */
    tamis_plane plane = describe_part(&parts->in, number);
    tamis_plan_options options = {
        .tile_w = t->options.tile.w, .tile_h = t->options.tile.h, .plane = &plane};
    tamis_status status = set_guide(worker, part, &plane, &options);
    if (!status)
        status = tamis_plan_create(t->ctx, part->graph, format, w, h, &options, &part->plan);
    if (status)
        return status;
    tamis_plan_size(part->plan, &part->w, &part->h);
    int around = tamis_plan_frames(part->plan);
    parts->around = around > parts->around ? around : parts->around;
    return check_result(worker, &parts->in, number, part->plan);
}

/* Chroma and alpha must come out as large as luma asks. */
static tamis_status check_sizes(tool_worker *worker, const tool_video_parts *parts)
{
    for (int i = 0; i < TAMIS_VIDEO_PARTS; i++) {
        const tool_video_part *part = &parts->part[i];
        int32_t w, h;
        tamis_video_part_format(&parts->out, i, &w, &h);
        int as_is = part->way == TOOL_PART_FILTER || part->way == TOOL_PART_COPY;
        if (as_is && (part->w != w || part->h != h))
            return tamis_ctx_fail(worker->tool.ctx, TAMIS_ERR_UNSUPPORTED,
                                  "the chain makes %dx%d of %s where %dx%d of luma ask for %dx%d "
                                  "(border = valid, or another --chroma?)",
                                  part->w, part->h, i == TAMIS_VIDEO_CHROMA ? "chroma" : "alpha",
                                  parts->out.w, parts->out.h, w, h);
    }
    return TAMIS_OK;
}

static void choose_way(tool_video_parts *parts, int number, unsigned traits, unsigned wanted)
{
    tool_video_part *part = &parts->part[number];
    const tamis_video_format *f = &parts->in;
    int edges = (traits & TAMIS_TRAIT_EDGES) != 0;
    part->way = tamis_graph_size(part->graph) ? TOOL_PART_FILTER : TOOL_PART_COPY;
    if (f->type == TAMIS_U16 && f->bits < 16)
        part->highest = (1 << f->bits) - 1;
    if (number == TAMIS_VIDEO_MAIN && edges)
        part->offset = black_level(f);
    if (number == TAMIS_VIDEO_CHROMA && (traits_of(part->graph) & TAMIS_TRAIT_EDGES))
        part->offset = neutral_level(f);
    if (number == TAMIS_VIDEO_CHROMA && edges && !(wanted >> number & 1)) {
        part->way = TOOL_PART_NEUTRAL;
        part->level = neutral_level(f);
    }
}

/* What the filters leave to the picture is chosen from the first frame, each part by itself. */
static tamis_status choose(tool_worker *worker, tool_video_part *part, int number,
                           const tamis_image *image)
{
    static const char *const names[] = {"", "chroma: ", "alpha: "};
    tool *t = &worker->tool;
    tamis_run_options options = {.cancel = tool_cancel_flag()};
    tamis_graph *chosen = NULL;
    tamis_image here = {.buffer = NULL};
    tamis_status status = TAMIS_OK;
    if (!tamis_graph_is_open(part->graph))
        return TAMIS_OK;
    if (image->device) {
        status = tamis_image_create(t->ctx, image->format, image->w, image->h, &here);
        if (!status)
            status = tamis_image_transfer(t->ctx, image, &here);
        image = &here;
    }
    if (!status)
        status = tamis_graph_resolve(t->ctx, part->graph, image, &options, &chosen);
    tamis_image_unref(&here);
    if (status)
        return status;
    tamis_graph_free(&part->graph);
    part->graph = chosen;
    char *text = tool_graph_text(chosen);
    tool_detail(t, "%s%s", names[number], text);
    free(text);
    return TAMIS_OK;
}

static tamis_status open_part(tool_worker *worker, tool_video_parts *parts, int number,
                              unsigned wanted, const tamis_video_frame *like)
{
    tool_video_part *part = &parts->part[number];
    if (tamis_video_part_format(&parts->in, number, &part->w, &part->h).channels == 0)
        return TAMIS_OK;
    tamis_status status = make_graph(worker, &parts->in, number, wanted, &part->graph);
    if (status)
        return status;
    /* With planes other than luma asked for, the traits are those of what luma still gets. */
    status = choose(worker, part, number, &like->part[number]);
    if (status)
        return status;
    choose_way(parts, number, traits_of(parts->part[TAMIS_VIDEO_MAIN].graph), wanted);
    if (part->way == TOOL_PART_FILTER)
        status = plan_part(worker, parts, number, like);
    if (number == TAMIS_VIDEO_MAIN) {
        parts->out.w = part->w;
        parts->out.h = part->h;
    }
    return status;
}

/* A picture to be looked at for edges has no chroma's size; a map can be made to. */
static tamis_status check_guide(tool_worker *worker, const tamis_video_format *f)
{
    const tamis_filter *first = tamis_graph_filter(worker->graph, 0);
    int is_map = (tamis_filter_traits(first) & TAMIS_TRAIT_GEOMETRY) != 0;
    if (worker->job->has_guide && f->model == TAMIS_VIDEO_YUV && !is_map)
        return refuse(worker, TAMIS_ERR_UNSUPPORTED,
                      "--guide: %s looks at a picture, and frames of %s have chroma besides luma",
                      tamis_filter_name(first), f);
    return TAMIS_OK;
}

tamis_status tool_video_parts_open(tool_worker *worker, const tamis_video_format *format,
                                   const tamis_video_frame *like, tool_video_parts *out)
{
    unsigned wanted = 0;
    *out = (tool_video_parts){.in = *format, .out = *format};
    tamis_status status = wanted_parts(worker, format, &wanted);
    if (!status && worker->tool.options.chroma && format->model != TAMIS_VIDEO_YUV)
        status = refuse(worker, TAMIS_ERR_ARGUMENT, "--chroma: %s in frames of %s",
                        "there is no chroma", format);
    if (!status)
        status = check_chain(worker, worker->graph, format);
    if (!status)
        status = check_guide(worker, format);
    for (int i = 0; i < TAMIS_VIDEO_PARTS && !status; i++)
        status = open_part(worker, out, i, wanted, like);
    return status ? status : check_sizes(worker, out);
}

void tool_video_parts_close(tool_video_parts *parts)
{
    for (int i = 0; i < TAMIS_VIDEO_PARTS; i++) {
        tamis_plan_free(&parts->part[i].plan);
        tamis_image_unref(&parts->part[i].guide);
        tamis_graph_free(&parts->part[i].graph);
    }
}

/* ---- samples */

static void limit_u8(uint8_t *row, size_t n, int offset)
{
    for (size_t i = 0; i < n; i++) {
        int v = row[i] + offset;
        row[i] = (uint8_t)(v < 255 ? v : 255);
    }
}

static void limit_u16(uint16_t *row, size_t n, int offset, int highest)
{
    for (size_t i = 0; i < n; i++) {
        int v = row[i] + offset;
        row[i] = (uint16_t)(v < highest ? v : highest);
    }
}

static size_t row_samples(const tamis_image *image)
{
    int packed = image->format.layout == TAMIS_PACKED;
    return (size_t)image->w * (size_t)(packed ? image->format.channels : 1);
}

void tool_video_levels(const tamis_image *image, int offset, int highest)
{
    tamis_type type = image->format.type;
    int u16 = type == TAMIS_U16;
    if ((type != TAMIS_U8 && !u16) || (offset == 0 && highest == 0))
        return;
    for (int p = 0; p < tamis_image_planes(image); p++)
        for (int32_t y = 0; y < image->h; y++) {
            void *row = tamis_image_row(image, p, y);
            if (u16)
                limit_u16(row, row_samples(image), offset, highest ? highest : 65535);
            else
                limit_u8(row, row_samples(image), offset);
        }
}

void tool_video_fill(const tamis_image *image, int level)
{
    for (int p = 0; p < tamis_image_planes(image); p++)
        for (int32_t y = 0; y < image->h; y++) {
            void *row = tamis_image_row(image, p, y);
            size_t n = row_samples(image);
            if (image->format.type == TAMIS_U8)
                memset(row, level, n);
            for (size_t i = 0; i < n && image->format.type == TAMIS_U16; i++)
                ((uint16_t *)row)[i] = (uint16_t)level;
            for (size_t i = 0; i < n && image->format.type == TAMIS_F32; i++)
                ((float *)row)[i] = (float)level;
        }
}
