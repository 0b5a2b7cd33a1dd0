/* SPDX-License-Identifier: Apache-2.0 */
#include "picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "page.h"
#include "rows.h"

tamis_status tool_picture_open(tool *t, const char *name, tool_picture *out)
{
    tamis_read_options options = tool_read_options(t);
    *out = (tool_picture){.name = name};
    tamis_status status = tamis_reader_open(t->ctx, name, &options, &out->reader);
    return status ? status : tamis_reader_info(out->reader, 0, &out->info);
}

void tool_picture_close(tool_picture *picture)
{
    tamis_reader_close(&picture->reader);
    tamis_image_unref(&picture->image);
    tamis_meta_clear(&picture->profile);
}

size_t tool_picture_bytes(const tool_picture *picture)
{
    const tamis_file_info *info = &picture->info;
    return (size_t)info->w * (size_t)info->h * (size_t)info->image.channels *
           tamis_type_size(info->image.type);
}

/* Half floats become floats. */
static tamis_status widen(tool *t, tamis_image *image)
{
    tamis_image wide = {0};
    tamis_format format = image->format;
    if (format.type != TAMIS_F16)
        return TAMIS_OK;
    format.type = TAMIS_F32;
    tamis_status status = tamis_image_create(t->ctx, format, image->w, image->h, &wide);
    if (!status)
        status = tamis_image_copy(t->ctx, image, &wide);
    tamis_image_unref(image);
    *image = wide;
    return status;
}

/* ---- scaling */

static tamis_status plan_scaling(tool *t, tamis_format format, int32_t from_w, int32_t from_h,
                                 int32_t w, int32_t h, tamis_plan **out)
{
    char chain[64];
    tamis_graph *graph = NULL;
    snprintf(chain, sizeof(chain), "resize=size=%dx%d:interp=area", w, h);
    tamis_status status = tamis_graph_parse(t->ctx, chain, &graph);
    if (!status)
        status = tamis_plan_create(t->ctx, graph, format, from_w, from_h, NULL, out);
    tamis_graph_free(&graph);
    return status;
}

tamis_status tool_scaled(tool *t, const tamis_image *image, int32_t w, int32_t h, tamis_image *out)
{
    tamis_plan *plan = NULL;
    *out = *image;
    if (w == image->w && h == image->h) {
        tamis_image_ref(out);
        return TAMIS_OK;
    }
    *out = (tamis_image){0};
    tamis_status status = plan_scaling(t, image->format, image->w, image->h, w, h, &plan);
    if (!status)
        status = tamis_image_create(t->ctx, image->format, w, h, out);
    if (!status)
        status = tamis_plan_run(plan, image, out, NULL);
    tamis_plan_free(&plan);
    if (status)
        tamis_image_unref(out);
    return status;
}

static tamis_status read_part(void *user, tamis_rect part, const tamis_image *into)
{
    const tool_picture *p = user;
    return tamis_reader_read_part(p->reader, 0, part, into);
}

/* A part of the result goes to its place in the image. */
typedef struct target {
    tamis_ctx *ctx;
    const tamis_image *image;
} target;

static tamis_status write_part(void *user, tamis_rect part, const tamis_image *from)
{
    const target *to = user;
    tamis_image view;
    tamis_status status = tamis_image_view(to->ctx, to->image, part, &view);
    return status ? status : tamis_image_copy(to->ctx, from, &view);
}

static tamis_status scale_by_parts(tool *t, tool_picture *p, int32_t w, int32_t h)
{
    const tamis_file_info *info = &p->info;
    tamis_plan *plan = NULL;
    target to = {t->ctx, &p->image};
    tamis_parts parts = {
        .src = {read_part, p, info->block_w < info->w ? info->block_w : 0, info->block_h},
        .dst = {write_part, &to, 0, 1}};
    tamis_status status = plan_scaling(t, info->image, info->w, info->h, w, h, &plan);
    if (!status)
        status = tamis_image_create(t->ctx, info->image, w, h, &p->image);
    if (!status)
        status = tamis_plan_run_parts(plan, &parts, NULL);
    tamis_plan_free(&plan);
    return status;
}

/* What says how colors are meant, and no more: where a picture was taken is nobody's business. */
static tamis_status keep_profile(const tamis_meta *all, tamis_meta *out)
{
    tamis_status status = TAMIS_OK;
    out->orientation = 1;
    for (size_t i = 0; i < all->count && !status; i++) {
        const tamis_meta_entry *e = &all->entries[i];
        if (strcmp(e->name, "icc") == 0 || strncmp(e->name, "png:", 4) == 0)
            status = tamis_meta_set(out, e->name, e->data, e->size);
    }
    return status;
}

tamis_status tool_picture_load(tool *t, tool_picture *p, int whole, int32_t w, int32_t h)
{
    tamis_meta meta = {0};
    p->whole = whole || p->info.block_w == 0 || (w == p->info.w && h == p->info.h);
    tamis_status status =
        p->whole ? tamis_reader_read(p->reader, 0, &p->image, &meta) : scale_by_parts(t, p, w, h);
    if (!status && !p->whole)
        status = tamis_reader_meta(p->reader, 0, &meta);
    if (!status)
        status = keep_profile(&meta, &p->profile);
    tamis_meta_clear(&meta);
    return status ? status : widen(t, &p->image);
}

tamis_status tool_picture_part(tool *t, const tool_picture *p, tamis_rect rect, tamis_image *out)
{
    if (p->whole) {
        tamis_status status = tamis_image_view(t->ctx, &p->image, rect, out);
        tamis_image_ref(out);
        return status;
    }
    tamis_status status = tamis_image_create(t->ctx, p->info.image, rect.w, rect.h, out);
    if (!status)
        status = tamis_reader_read_part(p->reader, 0, rect, out);
    return status ? status : widen(t, out);
}

void tool_fit(int32_t w, int32_t h, int32_t most, int32_t *out_w, int32_t *out_h)
{
    int32_t longer = w > h ? w : h;
    double scale = longer > most ? (double)most / longer : 1;
    *out_w = (int32_t)fmax(1, nearbyint(w * scale));
    *out_h = (int32_t)fmax(1, nearbyint(h * scale));
}

/* ---- levels */

static int color_channels(tamis_format format)
{
    return format.channels - (format.alpha != TAMIS_ALPHA_NONE);
}

int tool_shown_colors(tamis_format format)
{
    return color_channels(format) >= 3 ? 3 : 1;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Levels below and above which a thousandth of the samples lies, of a million of them at most. */
static void find_quantiles(const tamis_image *image, double *low, double *high)
{
    enum { MOST = 1000000 };
    int colors = color_channels(image->format);
    double all = (double)image->w * image->h * colors, *row, *values;
    int32_t step = (int32_t)ceil(sqrt(all / MOST));
    size_t count = 0;
    row = tool_alloc((size_t)image->w * sizeof(*row));
    values = tool_alloc(((size_t)(image->w / step) + 1) * ((size_t)(image->h / step) + 1) *
                        (size_t)colors * sizeof(*values));
    for (int c = 0; c < colors; c++) {
        for (int32_t y = 0; y < image->h; y += step) {
            tool_row_read(image, c, y, row);
            for (int32_t x = 0; x < image->w; x += step) {
                if (isfinite(row[x]))
                    values[count++] = row[x];
            }
        }
    }
    qsort(values, count, sizeof(*values), by_value);
    *low = count ? values[count / 1000] : 0;
    *high = count ? values[count - 1 - count / 1000] : 0;
    free(values);
    free(row);
}

static int parse_window(tool *t, const char *text, tool_window *out)
{
    char *end;
    out->low = strtod(text, &end);
    int ok = end != text && *end == ',';
    const char *second = end + ok;
    out->high = strtod(second, &end);
    ok = ok && end != second && !*end && isfinite(out->low) && isfinite(out->high) &&
         out->low < out->high;
    out->how = "as given";
    return ok ? TOOL_OK
              : tool_usage_error(t, "--levels: '%s' is not two numbers LOW,HIGH, such as 0,4095",
                                 text);
}

int tool_window_check(tool *t, const char *given)
{
    tool_window window;
    return given ? parse_window(t, given, &window) : TOOL_OK;
}

int tool_window_choose(tool *t, const char *given, const tamis_image *image, tool_window *out)
{
    tamis_type type = image->format.type;
    double range = tamis_type_range(type);
    if (given)
        return parse_window(t, given, out);
    *out = (tool_window){0, range, "all levels"};
    if (type == TAMIS_U8)
        return TOOL_OK;
    find_quantiles(image, &out->low, &out->high);
    if (type == TAMIS_F32 && out->low >= 0 && out->high <= 1 && out->high > 0.25)
        *out = (tool_window){0, 1, "the usual range of floats"};
    else if (type == TAMIS_U16 && out->high > range / 4)
        *out = (tool_window){0, range, "all levels"};
    else
        out->how = "99.8 % of the samples lie between";
    if (!(out->high > out->low))
        out->high = out->low + (type == TAMIS_F32 ? fmax(1e-6, 1e-6 * fabs(out->low)) : 1);
    return TOOL_OK;
}

/* ---- what is shown */

/* Shown channel c is channel `from` of the picture; alpha keeps its own range. */
static void show_channel(const tamis_image *image, int from, const tool_window *window,
                         const tamis_image *out, int c)
{
    double *row = tool_alloc((size_t)image->w * sizeof(*row));
    double scale = 255 / (window->high - window->low);
    for (int32_t y = 0; y < image->h; y++) {
        tool_row_read(image, from, y, row);
        for (int32_t x = 0; x < image->w; x++)
            row[x] = (row[x] - window->low) * scale;
        tool_row_write(out, c, y, row);
    }
    free(row);
}

tamis_status tool_shown(tool *t, const tamis_image *image, const tool_window *window,
                        tamis_image *out)
{
    int colors = tool_shown_colors(image->format), alpha = image->format.alpha != TAMIS_ALPHA_NONE;
    tamis_format format = {
        .type = TAMIS_U8, .channels = colors + alpha, .alpha = image->format.alpha};
    tamis_status status = tamis_image_create(t->ctx, format, image->w, image->h, out);
    if (status)
        return status;
    for (int c = 0; c < colors; c++)
        show_channel(image, c, window, out, c);
    tool_window opaque = {0, tamis_type_range(image->format.type), ""};
    if (alpha)
        show_channel(image, image->format.channels - 1, &opaque, out, colors);
    return TAMIS_OK;
}

tamis_status tool_picture_url(tool *t, const tamis_image *shown, const char *format,
                              const tamis_meta *profile, json_t **out)
{
    tamis_writer *writer = NULL;
    tamis_write_options options = {.format = format, .quality = 85};
    tamis_status status = tamis_writer_open_memory(t->ctx, &options, &writer);
    if (!status)
        status = tamis_writer_write(writer, shown, profile);
    if (!status)
        status = tamis_writer_finish(writer);
    if (!status) {
        char mime[32];
        size_t size;
        const void *bytes = tamis_writer_bytes(writer, &size);
        snprintf(mime, sizeof(mime), "image/%s", format);
        *out = tool_json_url(mime, bytes, size);
    }
    tamis_writer_close(&writer);
    return status;
}

json_t *tool_histogram(const tamis_image *image, const tool_window *window)
{
    enum { BINS = 256 };
    json_t *channels = json_array();
    double *row = tool_alloc((size_t)image->w * sizeof(*row));
    /* Whole levels of u8 have a step each. */
    double bins = image->format.type == TAMIS_U8 && window->high - window->low == 255 ? 255 : 256;
    double scale = bins / (window->high - window->low);
    for (int c = 0; c < color_channels(image->format); c++) {
        json_int_t counts[BINS] = {0};
        for (int32_t y = 0; y < image->h; y++) {
            tool_row_read(image, c, y, row);
            for (int32_t x = 0; x < image->w; x++) {
                double at = (row[x] - window->low) * scale;
                if (!isnan(at))
                    counts[at <= 0 ? 0 : at >= BINS - 1 ? BINS - 1 : (int)at]++;
            }
        }
        json_t *list = json_array();
        for (int i = 0; i < BINS; i++)
            json_array_append_new(list, json_integer(counts[i]));
        json_array_append_new(channels, list);
    }
    free(row);
    return channels;
}
