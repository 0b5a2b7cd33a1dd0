/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"

/* Longer sides of what is embedded: of pictures as a whole, and of the part that is shown pixel by
 * pixel where the whole is scaled. */
#define VIEW_SIDE   1600
#define DETAIL_SIDE 900
/* Pictures that take more are measured on their scaled copies, where their files allow it. */
#define WHOLE_BYTES ((size_t)1 << 30)

enum { BEFORE, AFTER, ORIGINAL };
static const char *const side_names[TOOL_SIDES] = {"before", "after", "original"};

/* A report in the making. */
typedef struct report {
    tool *tool;
    const tool_story *story;
    tool_picture picture[TOOL_SIDES];
    int sides;         /* 2, or 3 with an original */
    tamis_rect detail; /* of the picture, pixel by pixel; empty where the whole is not scaled */
    int most_changed;  /* the detail is where most has changed; else the middle */
    json_t *data, *pictures;
} report;

static int can_compare(const report *r, int a, int b)
{
    const tamis_file_info *x = &r->picture[a].info, *y = &r->picture[b].info;
    return a < r->sides && b < r->sides && x->w == y->w && x->h == y->h &&
           x->image.channels == y->image.channels && x->pages == y->pages &&
           r->picture[a].whole == r->picture[b].whole;
}

/* ---- reading */

static int open_pictures(report *r)
{
    tool *t = r->tool;
    const char *names[TOOL_SIDES] = {r->story->before, r->story->after, r->story->original};
    size_t bytes = 0;
    tamis_status status = TAMIS_OK;
    r->sides = names[ORIGINAL] ? 3 : 2;
    for (int i = 0; i < r->sides && !status; i++) {
        status = tool_picture_open(t, names[i], &r->picture[i]);
        bytes += status ? 0 : tool_picture_bytes(&r->picture[i]);
    }
    size_t limit = t->options.max_memory ? t->options.max_memory / 3 : WHOLE_BYTES;
    for (int i = 0; i < r->sides && !status; i++) {
        tool_picture *p = &r->picture[i];
        int32_t w, h;
        tool_fit(p->info.w, p->info.h, VIEW_SIDE, &w, &h);
        status = tool_picture_load(t, p, bytes <= limit, w, h);
    }
    return status ? tool_fail(t, status) : TOOL_OK;
}

/* Pictures of one type share their levels, so that what looks the same is the same. */
static int choose_windows(report *r)
{
    const tool_picture *first = &r->picture[BEFORE];
    for (int i = 0; i < r->sides; i++) {
        tool_picture *p = &r->picture[i];
        if (i > 0 && p->image.format.type == first->image.format.type) {
            p->window = first->window;
            continue;
        }
        int code = tool_window_choose(r->tool, r->tool->options.levels, &p->image, &p->window);
        if (code)
            return code;
    }
    return TOOL_OK;
}

/* ---- facts */

static json_t *json_file(const tool_picture *p)
{
    json_t *o = tool_json_shape(p->info.w, p->info.h, p->info.image);
    json_object_set_new(o, "name", tool_json_text(p->name));
    json_object_set_new(o, "format", json_string(p->info.format));
    json_object_set_new(o, "detail", tool_json_text(p->info.detail));
    json_object_set_new(o, "pages", json_integer(p->info.pages));
    json_object_set_new(o, "range", json_real(tamis_type_range(p->info.image.type)));
    json_object_set_new(o, "window",
                        json_pack("{s:f,s:f,s:s}", "low", p->window.low, "high", p->window.high,
                                  "how", p->window.how));
    return o;
}

static void add_files(report *r)
{
    json_t *files = json_object();
    for (int i = 0; i < r->sides; i++)
        json_object_set_new(files, side_names[i], json_file(&r->picture[i]));
    json_object_set_new(r->data, "files", files);
}

static tamis_status read_part(void *user, tamis_rect part, const tamis_image *into)
{
    const tool_picture *p = user;
    return tamis_reader_read_part(p->reader, 0, part, into);
}

static json_t *estimate(tool *t, tool_picture *p)
{
    tamis_noise noise[TAMIS_MAX_CHANNELS];
    const tamis_file_info *info = &p->info;
    tamis_part_source source = {read_part, p, info->block_w < info->w ? info->block_w : 0,
                                info->block_h};
    tamis_status status =
        p->whole ? tamis_noise_estimate(t->ctx, &p->image, noise)
                 : tamis_noise_estimate_parts(t->ctx, info->image, info->w, info->h, &source,
                                              t->options.max_memory / 2, noise);
    if (status)
        return json_null();
    json_t *o = json_object(), *sigma = json_array(), *impulses = json_array();
    for (int c = 0; c < info->image.channels - (info->image.alpha != TAMIS_ALPHA_NONE); c++) {
        json_array_append_new(sigma, tool_json_number(noise[c].sigma));
        json_array_append_new(impulses, tool_json_number(noise[c].impulses));
    }
    json_object_set_new(o, "sigma", sigma);
    json_object_set_new(o, "impulses", impulses);
    return o;
}

static void add_noise(report *r)
{
    json_t *noise = json_object();
    for (int i = 0; i < r->sides; i++)
        json_object_set_new(noise, side_names[i], estimate(r->tool, &r->picture[i]));
    json_object_set_new(r->data, "noise", noise);
}

static void add_histograms(report *r)
{
    json_t *o = json_object();
    for (int i = 0; i < r->sides; i++)
        json_object_set_new(o, side_names[i],
                            tool_histogram(&r->picture[i].image, &r->picture[i].window));
    json_object_set_new(r->data, "histograms", o);
}

static int measure(report *r, int a, int b, tool_comparison *out)
{
    tool *t = r->tool;
    const tool_picture *x = &r->picture[a], *y = &r->picture[b];
    if (x->info.pages > 1)
        return tool_compare(t, x->name, y->name, NULL, out);
    *out = (tool_comparison){.peak = isnan(t->options.peak) ? tamis_type_range(x->info.image.type)
                                                            : t->options.peak};
    tamis_status status =
        tamis_metrics_add(t->ctx, &x->image, &y->image, 0, out->peak, &out->metrics);
    return status ? tool_fail(t, status) : TOOL_OK;
}

static json_t *json_comparison(const report *r, int a, int b, const tool_comparison *c)
{
    const tamis_metrics *m = &c->metrics;
    json_t *o = json_object();
    json_object_set_new(o, "a", tool_json_text(r->picture[a].name));
    json_object_set_new(o, "b", tool_json_text(r->picture[b].name));
    json_object_set_new(o, "sides", json_pack("[s,s]", side_names[a], side_names[b]));
    json_object_set_new(o, "identical", json_boolean(m->different == 0));
    json_object_set_new(o, "psnr", tool_json_number(tamis_metrics_psnr(m, c->peak)));
    json_object_set_new(o, "ssim", tool_json_number(tamis_metrics_ssim(m)));
    json_object_set_new(o, "mse", tool_json_number(tamis_metrics_mse(m)));
    json_object_set_new(o, "mae", tool_json_number(tamis_metrics_mae(m)));
    json_object_set_new(o, "max_abs", tool_json_number(m->max_abs));
    json_object_set_new(o, "max_abs_at",
                        json_pack("{s:i,s:i,s:i,s:i}", "x", m->x, "y", m->y, "channel", m->channel,
                                  "page", m->page));
    json_object_set_new(o, "samples", json_integer((json_int_t)m->samples));
    json_object_set_new(o, "different", json_integer((json_int_t)m->different));
    json_object_set_new(o, "data_range", tool_json_number(c->peak));
    return o;
}

static int add_comparisons(report *r)
{
    static const int pairs[][2] = {{BEFORE, AFTER}, {ORIGINAL, BEFORE}, {ORIGINAL, AFTER}};
    json_t *list = json_array();
    json_object_set_new(r->data, "comparisons", list);
    json_object_set_new(r->data, "ssim_variant", json_string(TAMIS_SSIM_VARIANT));
    json_object_set_new(r->data, "measured_on",
                        json_string(r->picture[BEFORE].whole ? "all pixels" : "the scaled copy"));
    int code = TOOL_OK;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs) && !code; i++) {
        tool_comparison c;
        if (!can_compare(r, pairs[i][0], pairs[i][1]))
            continue;
        code = measure(r, pairs[i][0], pairs[i][1], &c);
        if (!code)
            json_array_append_new(list, json_comparison(r, pairs[i][0], pairs[i][1], &c));
    }
    return code;
}

static void add_run(report *r)
{
    const tool_story *s = r->story;
    tool *t = r->tool;
    if (!s->graph) {
        json_object_set_new(r->data, "run", json_null());
        return;
    }
    json_t *o = json_object();
    char *chain = tool_graph_text(s->graph);
    json_object_set_new(o, "chain", tool_json_text(chain));
    json_object_set_new(o, "steps", tool_json_steps(s->graph));
    json_object_set_new(o, "device", json_string(s->run->device));
    json_object_set_new(o, "cpu", json_string(tamis_ctx_cpu(t->ctx)));
    json_object_set_new(o, "threads", json_integer(tamis_ctx_threads(t->ctx)));
    json_object_set_new(o, "by_parts", json_boolean(s->run->by_parts));
    if (s->run->chain)
        json_object_set_new(o, "choose_seconds", json_real(s->run->choose_s));
    json_object_set_new(o, "read_seconds", json_real(s->run->read_s));
    json_object_set_new(o, "filter_seconds", json_real(s->run->filter_s));
    json_object_set_new(o, "write_seconds", json_real(s->run->write_s));
    json_object_set_new(r->data, "run", o);
    free(chain);
}

/* ---- pictures */

/* A picture under its key, as a whole and in detail. */
static json_t *entry(report *r, const char *key)
{
    json_t *o = json_object_get(r->pictures, key);
    if (o)
        return o;
    o = json_object();
    json_object_set_new(r->pictures, key, o);
    return o;
}

static tamis_status add_url(report *r, const char *key, const char *which, const tamis_image *shown,
                            const tamis_meta *profile)
{
    json_t *url = NULL;
    tamis_status status = tool_picture_url(r->tool, shown, "png", profile, &url);
    if (!status)
        json_object_set_new(entry(r, key), which, url);
    return status;
}

static tamis_status add_shown(report *r, int side, const char *which, const tamis_image *image)
{
    tamis_image shown = {0};
    const tool_picture *p = &r->picture[side];
    tamis_status status = tool_shown(r->tool, image, &p->window, &shown);
    if (!status)
        status = add_url(r, side_names[side], which, &shown, &p->profile);
    tamis_image_unref(&shown);
    return status;
}

static tamis_status add_view(report *r, int side)
{
    const tool_picture *p = &r->picture[side];
    tamis_image view = {0};
    int32_t w, h;
    tool_fit(p->image.w, p->image.h, VIEW_SIDE, &w, &h);
    tamis_status status = tool_scaled(r->tool, &p->image, w, h, &view);
    if (!status)
        status = add_shown(r, side, "view", &view);
    tamis_image_unref(&view);
    return status;
}

/* The same place of each picture that has the size of the first. */
static tamis_status add_detail(report *r, int side)
{
    const tool_picture *p = &r->picture[side], *first = &r->picture[BEFORE];
    tamis_image part = {0};
    if (r->detail.w == 0 || p->info.w != first->info.w || p->info.h != first->info.h)
        return TAMIS_OK;
    tamis_status status = tool_picture_part(r->tool, p, r->detail, &part);
    if (!status)
        status = add_shown(r, side, "detail", &part);
    tamis_image_unref(&part);
    return status;
}

static tamis_status add_map_view(report *r, const tool_map *map)
{
    tool *t = r->tool;
    tamis_image view = {0}, shown = {0};
    int32_t w, h;
    tool_fit(map->image.w, map->image.h, VIEW_SIDE, &w, &h);
    tamis_status status = tool_scaled(t, &map->image, w, h, &view);
    if (!status)
        status = tool_map_shown(t, map, &view, &shown);
    if (!status)
        status = add_url(r, map->key, "view", &shown, NULL);
    tamis_image_unref(&view);
    tamis_image_unref(&shown);
    return status;
}

static tamis_status add_map_detail(report *r, const tool_map *map)
{
    tool *t = r->tool;
    const tamis_file_info *first = &r->picture[BEFORE].info;
    tamis_image part = {0}, shown = {0};
    if (r->detail.w == 0 || map->image.w != first->w || map->image.h != first->h)
        return TAMIS_OK;
    tamis_status status = tamis_image_view(t->ctx, &map->image, r->detail, &part);
    if (!status)
        status = tool_map_shown(t, map, &part, &shown);
    if (!status)
        status = add_url(r, map->key, "detail", &shown, NULL);
    tamis_image_unref(&shown);
    return status;
}

/* Where most has changed, else the middle. */
static tamis_status choose_detail(report *r, const tool_map *differences)
{
    const tamis_file_info *info = &r->picture[BEFORE].info;
    tamis_image view = {0};
    int32_t w, h, x, y;
    tool_fit(info->w, info->h, VIEW_SIDE, &w, &h);
    if (w == info->w && h == info->h)
        return TAMIS_OK;
    tamis_rect *d = &r->detail;
    d->w = info->w < DETAIL_SIDE ? info->w : DETAIL_SIDE;
    d->h = info->h < DETAIL_SIDE * 3 / 4 ? info->h : DETAIL_SIDE * 3 / 4;
    d->x = (info->w - d->w) / 2;
    d->y = (info->h - d->h) / 2;
    if (!differences->image.data[0])
        return TAMIS_OK;
    tamis_status status = tool_scaled(r->tool, &differences->image, w, h, &view);
    if (status)
        return status;
    double across = (double)info->w / w, down = (double)info->h / h;
    int32_t part_w = (int32_t)fmax(1, d->w / across), part_h = (int32_t)fmax(1, d->h / down);
    tool_map_peak(&view, part_w < w ? part_w : w, part_h < h ? part_h : h, &x, &y);
    r->most_changed = 1;
    d->x = (int32_t)fmin(x * across, info->w - d->w);
    d->y = (int32_t)fmin(y * down, info->h - d->h);
    tamis_image_unref(&view);
    return TAMIS_OK;
}

static json_t *json_map(const tool_map *map)
{
    return json_pack("{s:s,s:s,s:s,s:f,s:f}", "key", map->key, "title", map->title, "kind",
                     map->is_ssim ? "ssim" : "difference", "low", map->is_ssim ? 1.0 : 0.0, "high",
                     map->is_ssim ? 0.0 : map->high);
}

/* Maps against the original share their levels, so that they can be compared. */
static tamis_status make_maps(report *r, tool_map *maps, int count)
{
    double errors = 0;
    for (int i = 0; i < count; i++) {
        tool_map *m = &maps[i];
        const tamis_image *a = &r->picture[m->a].image, *b = &r->picture[m->b].image;
        if (!can_compare(r, m->a, m->b) || (m->is_ssim && (a->w < 11 || a->h < 11)))
            continue;
        tamis_status status = tool_map_make(r->tool, a, b, tamis_type_range(a->format.type), m);
        if (status)
            return status;
        m->high = m->is_ssim ? 1 : tool_map_high(&m->image);
        if (!m->is_ssim && m->a == ORIGINAL)
            errors = fmax(errors, m->high);
    }
    for (int i = 0; i < count; i++) {
        if (!maps[i].is_ssim && maps[i].a == ORIGINAL)
            maps[i].high = errors;
    }
    return TAMIS_OK;
}

static tamis_status add_pictures(report *r)
{
    tool_map maps[] = {
        {.key = "difference", .title = "Difference", .a = BEFORE, .b = AFTER},
        {.key = "error_before", .title = "Error of before", .a = ORIGINAL, .b = BEFORE},
        {.key = "error_after", .title = "Error of after", .a = ORIGINAL, .b = AFTER},
        {.key = "ssim_before", .title = "SSIM of before", .a = ORIGINAL, .b = BEFORE, .is_ssim = 1},
        {.key = "ssim_after", .title = "SSIM of after", .a = ORIGINAL, .b = AFTER, .is_ssim = 1}};
    enum { MAPS = sizeof(maps) / sizeof(*maps) };
    json_t *list = json_array();
    json_object_set_new(r->data, "maps", list);
    tamis_status status = make_maps(r, maps, MAPS);
    if (!status)
        status = choose_detail(r, &maps[0]);
    for (int i = 0; i < r->sides && !status; i++) {
        status = add_view(r, i);
        if (!status)
            status = add_detail(r, i);
    }
    for (int i = 0; i < MAPS; i++) {
        if (!status && maps[i].image.data[0]) {
            json_array_append_new(list, json_map(&maps[i]));
            status = add_map_view(r, &maps[i]);
            if (!status)
                status = add_map_detail(r, &maps[i]);
        }
        tamis_image_unref(&maps[i].image);
    }
    json_object_set_new(r->data, "detail",
                        r->detail.w ? json_pack("{s:i,s:i,s:i,s:i,s:b}", "x", r->detail.x, "y",
                                                r->detail.y, "width", r->detail.w, "height",
                                                r->detail.h, "most_changed", r->most_changed)
                                    : json_null());
    return status;
}

static int fill(report *r)
{
    int code = open_pictures(r);
    if (!code)
        code = choose_windows(r);
    if (code)
        return code;
    add_files(r);
    code = add_comparisons(r);
    if (code)
        return code;
    add_noise(r);
    add_histograms(r);
    add_run(r);
    tamis_status status = add_pictures(r);
    return status ? tool_fail(r->tool, status) : TOOL_OK;
}

int tool_report_data(tool *t, const tool_story *story, json_t **out)
{
    report r = {.tool = t, .story = story, .data = tool_json_new(t), .pictures = json_object()};
    *out = NULL;
    int code = tool_context(t);
    if (!code)
        code = fill(&r);
    json_object_set_new(r.data, "pictures", r.pictures);
    for (int i = 0; i < TOOL_SIDES; i++)
        tool_picture_close(&r.picture[i]);
    if (code)
        json_decref(r.data);
    else
        *out = r.data;
    return code;
}

int tool_report_write(tool *t, const char *path, const tool_story *story, json_t **data)
{
    json_t *all = NULL;
    int code = tool_report_data(t, story, &all);
    if (!code) {
        const char *slash = strrchr(story->after, '/');
        char *title = tool_print_text("%s \xe2\x80\x93 tamis", slash ? slash + 1 : story->after);
        code = tool_page_write(t, path, "report.html", title, all);
        free(title);
    }
    if (all)
        json_object_del(all, "pictures");
    if (!code && data)
        *data = all;
    else
        json_decref(all);
    return code;
}
