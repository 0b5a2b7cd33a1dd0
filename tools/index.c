/* SPDX-License-Identifier: Apache-2.0 */
#include "index.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"
#include "report.h"

/* Longer side of the pictures of an index, and how many files have some: a page must stay one that
 * browsers open. */
#define THUMB_SIDE  224
#define MOST_THUMBS 4000

struct tool_index {
    tool *tool;
    const tamis_graph *graph;
    const tool_files *files;
    json_t *entries;
    size_t shown;     /* files with pictures, asked for; atomic */
    tool_report only; /* of the only file; of its texts the chain is kept */
};

static int check_file(tool *t, const tool_file *file)
{
    if (strcmp(file->in, "-") == 0 || strcmp(file->out, "-") == 0)
        return tool_usage_error(t, "--report: what comes from or goes to a pipe is not there to be "
                                   "looked at afterwards; use files");
    return TOOL_OK;
}

int tool_index_open(tool *t, const tamis_graph *graph, const tool_files *files, tool_index **out)
{
    const tool_options *o = &t->options;
    *out = NULL;
    if (!o->report && o->original)
        return tool_usage_error(t, "--original is for --report, which is missing");
    if (!o->report || o->dry_run)
        return TOOL_OK;
    if (o->in_place)
        return tool_usage_error(t, "--report: with --in_place the pictures before are gone");
    if (o->original && files->count != 1)
        return tool_usage_error(t, "--original is for the report of one file, not of %zu",
                                files->count);
    int code = tool_window_check(t, o->levels);
    if (!code)
        code = tool_page_check(t, o->report);
    for (size_t i = 0; i < files->count && !code; i++)
        code = check_file(t, &files->items[i]);
    if (!code)
        code = tool_check_apart_files(t, "--report", o->report, files);
    if (code)
        return code;
    *out = tool_alloc(sizeof(**out));
    **out = (tool_index){.tool = t, .graph = graph, .files = files, .entries = json_array()};
    return TOOL_OK;
}

void tool_index_close(tool_index **index)
{
    if (!*index)
        return;
    json_decref((*index)->entries);
    free((*index)->only.chain);
    free(*index);
    *index = NULL;
}

/* ---- an entry */

/* A small picture of a file, beside the levels it is shown by, and its noise in per cent of the
 * range. */
static tamis_status look_at(tool *t, const char *name, tool_picture *p, tamis_image *small,
                            double *noise)
{
    int32_t w, h;
    tamis_noise found[TAMIS_MAX_CHANNELS];
    tamis_status status = tool_picture_open(t, name, p);
    if (status)
        return status;
    tool_fit(p->info.w, p->info.h, THUMB_SIDE, &w, &h);
    status = tool_picture_load(t, p, tool_picture_bytes(p) < (size_t)64 << 20, w, h);
    if (!status)
        status = tool_scaled(t, &p->image, w, h, small);
    *noise = NAN;
    if (status || !p->whole || tamis_noise_estimate(t->ctx, &p->image, found))
        return status;
    int colors = p->info.image.channels - (p->info.image.alpha != TAMIS_ALPHA_NONE);
    for (int c = 0; c < colors; c++)
        *noise = (c ? *noise : 0) + found[c].sigma / colors;
    *noise *= 100 / tamis_type_range(p->info.image.type);
    return TAMIS_OK;
}

static tamis_status put_small(tool *t, json_t *o, const char *key, const tool_picture *p,
                              const tamis_image *small, const tool_window *window)
{
    tamis_image shown = {0};
    json_t *url = NULL;
    tamis_status status = tool_shown(t, small, window, &shown);
    const char *format = shown.format.alpha == TAMIS_ALPHA_NONE ? "jpeg" : "png";
    if (!status)
        status = tool_picture_url(t, &shown, format, &p->profile, &url);
    if (!status)
        json_object_set_new(o, key, url);
    tamis_image_unref(&shown);
    return status;
}

/* How much has changed, in per cent of the range: the root of the mean squared difference. */
static void put_change(tool *t, json_t *o, const tool_picture *a, const tool_picture *b)
{
    tamis_metrics m = {0};
    double range = tamis_type_range(a->info.image.type);
    if (a->whole && b->whole && !tamis_metrics_add(t->ctx, &a->image, &b->image, 0, range, &m)) {
        json_object_set_new(o, "change",
                            tool_json_number(100 * sqrt(tamis_metrics_mse(&m)) / range));
        json_object_set_new(o, "ssim", tool_json_number(tamis_metrics_ssim(&m)));
    }
}

static tamis_status show_pair(tool *t, json_t *o, const tool_file *file)
{
    tool_picture p[2];
    tamis_image small[2];
    double noise[2];
    memset(p, 0, sizeof(p));
    memset(small, 0, sizeof(small));
    tamis_status status = look_at(t, file->in, &p[0], &small[0], &noise[0]);
    if (!status)
        status = look_at(t, file->out, &p[1], &small[1], &noise[1]);
    if (!status) {
        json_object_set_new(o, "noise_before", tool_json_number(noise[0]));
        json_object_set_new(o, "noise_after", tool_json_number(noise[1]));
        if (p[0].info.w == p[1].info.w && p[0].info.h == p[1].info.h &&
            p[0].info.image.channels == p[1].info.image.channels)
            put_change(t, o, &p[0], &p[1]);
    }
    for (int i = 0; i < 2 && !status; i++) {
        int same = i > 0 && small[0].format.type == small[1].format.type;
        if (same)
            p[1].window = p[0].window;
        else if (tool_window_choose(t, t->options.levels, &small[i], &p[i].window))
            break;
        status = put_small(t, o, i ? "after" : "before", &p[i], &small[i], &p[i].window);
    }
    for (int i = 0; i < 2; i++) {
        tamis_image_unref(&small[i]);
        tool_picture_close(&p[i]);
    }
    return status;
}

json_t *tool_index_entry(tool_index *index, tool *t, const tool_file *file,
                         const tool_report *report)
{
    if (!index || index->files->count < 2 || report->outcome != TOOL_DONE || tool_canceled())
        return NULL;
    if (__atomic_fetch_add(&index->shown, 1, __ATOMIC_RELAXED) >= MOST_THUMBS)
        return NULL;
    json_t *o = json_object();
    if (show_pair(t, o, file))
        json_object_set_new(o, "note", tool_json_text(t->error));
    t->error[0] = '\0';
    return o;
}

void tool_index_add(tool_index *index, const tool_file *file, const tool_report *r)
{
    static const char *const outcomes[] = {"done", "skipped", "planned", "failed"};
    if (!index)
        return;
    free(index->only.chain);
    index->only = *r;
    index->only.chain = r->chain ? tool_copy_text(r->chain) : NULL;
    json_t *o = r->entry ? json_incref(r->entry) : json_object();
    json_object_set_new(o, "input", tool_json_text(file->in));
    json_object_set_new(o, "output", tool_json_text(file->out));
    json_object_set_new(o, "status", json_string(outcomes[r->outcome]));
    if (r->message)
        json_object_set_new(o, "message", tool_json_text(r->message));
    if (r->outcome == TOOL_DONE) {
        json_object_set_new(o, "picture", tool_json_shape(r->in_w, r->in_h, r->in));
        json_object_set_new(o, "result", tool_json_shape(r->out_w, r->out_h, r->out));
        json_object_set_new(o, "pages", json_integer(r->pages));
        json_object_set_new(o, "device", json_string(r->device));
        if (r->chain)
            json_object_set_new(o, "choose_seconds", json_real(r->choose_s));
        json_object_set_new(o, "read_seconds", json_real(r->read_s));
        json_object_set_new(o, "filter_seconds", json_real(r->filter_s));
        json_object_set_new(o, "write_seconds", json_real(r->write_s));
    }
    json_array_append_new(index->entries, o);
}

/* ---- the page */

static int write_index(tool_index *index)
{
    tool *t = index->tool;
    char *chain = tool_graph_text(index->graph);
    json_t *data = tool_json_new(t);
    json_object_set_new(data, "chain", tool_json_text(chain));
    json_object_set_new(data, "steps", tool_json_steps(index->graph));
    json_object_set_new(data, "cpu", json_string(tamis_ctx_cpu(t->ctx)));
    json_object_set_new(data, "threads", json_integer(tamis_ctx_threads(t->ctx)));
    json_object_set_new(data, "most_pictures", json_integer(MOST_THUMBS));
    json_object_set(data, "files", index->entries);
    char *title = tool_print_text("%zu pictures \xe2\x80\x93 tamis", index->files->count);
    int code = tool_page_write(t, t->options.report, "index.html", title, data);
    free(title);
    free(chain);
    json_decref(data);
    return code;
}

int tool_index_write(tool_index *index)
{
    if (!index)
        return TOOL_OK;
    tool *t = index->tool;
    if (index->files->count != 1)
        return write_index(index);
    const tool_file *file = &index->files->items[0];
    if (index->only.outcome == TOOL_FAILED || json_array_size(index->entries) == 0)
        return TOOL_OK; /* which has been said */
    if (index->only.outcome != TOOL_DONE || index->only.is_video) {
        tool_note(t, "%s: no report: %s", t->options.report,
                  index->only.is_video ? "it is for pictures" : "nothing was filtered");
        return TOOL_OK;
    }
    /* With what was chosen for the file, where the chain says auto. */
    tamis_graph *chosen = NULL;
    tamis_status status =
        index->only.chain ? tamis_graph_parse(t->ctx, index->only.chain, &chosen) : TAMIS_OK;
    if (status)
        return tool_fail(t, status);
    tool_story story = {.before = file->in,
                        .after = file->out,
                        .original = t->options.original,
                        .graph = chosen ? chosen : index->graph,
                        .run = &index->only};
    int code = tool_report_write(t, t->options.report, &story, NULL);
    tamis_graph_free(&chosen);
    return code;
}
