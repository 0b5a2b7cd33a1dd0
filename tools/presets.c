/* SPDX-License-Identifier: Apache-2.0 */
#include "presets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int tool_presets_named(const char *chain)
{
    for (const char *at = chain ? strchr(chain, '@') : NULL; at; at = strchr(at + 1, '@')) {
        if (at == chain || at[-1] != '=') /* =@FILE is numbers */
            return 1;
    }
    return 0;
}

/* ---- which file */

static char *in_configuration(void)
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (base && *base == '/') /* others are to be ignored, says the specification */
        return tool_print_text("%s/tamis/presets", base);
    return home && *home ? tool_print_text("%s/.config/tamis/presets", home) : NULL;
}

/* NULL when there is none: one that is named must be there. */
static char *find_file(const tool *t)
{
    const char *named = t->options.presets ? t->options.presets : getenv("TAMIS_PRESETS");
    if (named)
        return *named ? tool_copy_text(named) : NULL;
    char *path = in_configuration();
    if (!path || access(path, F_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* ---- its lines */

static char *trim(char *text)
{
    static const char blank[] = " \t\r";
    text += strspn(text, blank);
    size_t n = strlen(text);
    while (n > 0 && strchr(blank, text[n - 1]))
        n--;
    text[n] = '\0';
    return text;
}

static const tamis_preset *find_own(const tool_presets *p, const char *name, int *line)
{
    for (size_t i = 0; i < p->count; i++) {
        if (!tamis_preset_same_name(p->items[i].name, name))
            continue;
        *line = p->lines[i];
        return &p->items[i];
    }
    return NULL;
}

static int add(tool *t, tool_presets *p, int line, tamis_preset item)
{
    int first;
    if (!tamis_preset_is_name(item.name)) {
        tool_error(t,
                   "%s:%d: '%.80s' is no name; allowed: a letter, then up to %d letters, digits, "
                   "_ and -",
                   p->path, line, item.name, TAMIS_PRESET_MAX_NAME - 1);
        return TOOL_USAGE;
    }
    if (find_own(p, item.name, &first)) {
        tool_error(t, "%s:%d: %s is given twice; first in line %d", p->path, line, item.name,
                   first);
        return TOOL_USAGE;
    }
    if (!*item.chain) {
        tool_error(t, "%s:%d: %s has no chain", p->path, line, item.name);
        return TOOL_USAGE;
    }
    if (tamis_preset_find(NULL, item.name))
        tool_detail(t, "%s:%d: preset %s, instead of tamis's own", p->path, line, item.name);
    p->items = tool_grow(p->items, (p->count + 1) * sizeof(*p->items));
    p->lines = tool_grow(p->lines, (p->count + 1) * sizeof(*p->lines));
    p->items[p->count] = item;
    p->lines[p->count++] = line;
    return TOOL_OK;
}

static int read_line(tool *t, tool_presets *p, int number, char *line)
{
    char *about = strchr(line, '#');
    if (about)
        *about++ = '\0';
    line = trim(line);
    if (!*line)
        return TOOL_OK;
    char *chain = strchr(line, '=');
    if (!chain) {
        tool_error(t, "%s:%d: expected NAME = CHAIN, not '%.80s'", p->path, number, line);
        return TOOL_USAGE;
    }
    *chain++ = '\0';
    about = about ? trim(about) : NULL;
    return add(t, p, number,
               (tamis_preset){.name = trim(line),
                              .chain = trim(chain),
                              .about = about && *about ? about : NULL,
                              .group = "own"});
}

static int read_lines(tool *t, tool_presets *p)
{
    static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8, as some editors write it */
    int number = 0, code = TOOL_OK;
    char *line = p->text + (strncmp(p->text, mark, 3) == 0 ? 3 : 0);
    for (char *next; line && !code; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        code = read_line(t, p, ++number, line);
    }
    return code;
}

int tool_presets_read(tool *t, const tool_presets **out)
{
    int code = TOOL_OK;
    *out = t->presets;
    if (t->presets)
        return TOOL_OK;
    if (t->options.presets && !*t->options.presets)
        return tool_usage_error(t, "--presets: the name of a file is missing");
    tool_presets *p = t->presets = tool_alloc(sizeof(*p));
    p->path = find_file(t);
    if (p->path) {
        p->text = tool_text_read(t, p->path, "presets");
        code = p->text ? read_lines(t, p) : TOOL_READ;
    }
    *out = p;
    return code;
}

void tool_presets_free(tool *t)
{
    tool_presets *p = t->presets;
    if (!p)
        return;
    free(p->items);
    free(p->lines);
    free(p->text);
    free(p->path);
    free(p);
    t->presets = NULL;
}

/* ---- with a context */

int tool_presets_check(tool *t, tamis_ctx *ctx)
{
    const tool_presets *p = t->presets;
    for (size_t i = 0; p && i < p->count; i++) {
        tamis_graph *graph = NULL;
        char *chain = tool_print_text("@%s", p->items[i].name);
        tamis_status status = tamis_graph_parse(ctx, chain, &graph);
        free(chain);
        tamis_graph_free(&graph);
        if (status) {
            tool_error(t, "%s:%d: %s", p->path, p->lines[i], t->error);
            return tool_exit_code(status);
        }
    }
    return TOOL_OK;
}

const tamis_preset *tool_preset_find(tool *t, const char *name)
{
    tool_nearest nearest = {0};
    name += *name == '@';
    const tamis_preset *preset = tamis_preset_find(t->ctx, name);
    if (preset)
        return preset;
    for (int i = 0; i < tamis_preset_count(t->ctx); i++)
        tool_nearest_offer(&nearest, name, tamis_preset_at(t->ctx, i)->name);
    if (nearest.best)
        tool_error(t, "there is no preset '%s'; did you mean %s?", name, nearest.best);
    else
        tool_error(t, "there is no preset '%s'; see: tamis presets", name);
    return NULL;
}

int tool_preset_graph(tool *t, const tamis_preset *preset, tamis_graph **out)
{
    char *chain = tool_print_text("@%s", preset->name);
    tamis_status status = tamis_graph_parse(t->ctx, chain, out);
    free(chain);
    return status ? tool_fail(t, status) : TOOL_OK;
}

/* The parameters of a filter that differ from their defaults, as texts. */
static json_t *json_values(const tamis_filter *filter, const void *params)
{
    int count;
    const tamis_param *rows = tamis_filter_params(filter, &count);
    void *defaults = tool_alloc(tamis_filter_params_size(filter));
    tamis_filter_defaults(filter, defaults);
    json_t *values = json_object();
    for (int i = 0; i < count; i++) {
        char value[512], plain[512];
        tamis_filter_get(filter, params, rows[i].name, value, sizeof(value));
        tamis_filter_get(filter, defaults, rows[i].name, plain, sizeof(plain));
        if (strcmp(value, plain) != 0)
            json_object_set_new(values, rows[i].name, tool_json_text(value));
    }
    free(defaults);
    return values;
}

static json_t *json_filters(const tamis_graph *graph)
{
    json_t *list = json_array();
    for (int i = 0; i < tamis_graph_size(graph); i++) {
        const tamis_filter *filter = tamis_graph_filter(graph, i);
        json_t *o = json_object();
        json_object_set_new(o, "filter", json_string(tamis_filter_name(filter)));
        json_object_set_new(o, "values", json_values(filter, tamis_graph_params(graph, i)));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *json_preset(tool *t, const tamis_preset *preset)
{
    int line;
    tamis_graph *graph = NULL;
    if (tool_preset_graph(t, preset, &graph))
        return NULL;
    int is_own = t->presets && find_own(t->presets, preset->name, &line) != NULL;
    char *source =
        is_own ? tool_print_text("%s:%d", t->presets->path, line) : tool_copy_text("tamis");
    char *expanded = tool_graph_text(graph);
    json_t *o = json_object();
    json_object_set_new(o, "name", json_string(preset->name));
    json_object_set_new(o, "about", tool_json_text(preset->about));
    json_object_set_new(o, "group", json_string(preset->group));
    json_object_set_new(o, "source", tool_json_text(source));
    json_object_set_new(o, "chain", tool_json_text(preset->chain));
    json_object_set_new(o, "expanded", tool_json_text(expanded));
    json_object_set_new(o, "filters", json_filters(graph));
    free(expanded);
    free(source);
    tamis_graph_free(&graph);
    return o;
}

void tool_presets_print(const tamis_ctx *ctx, const char *indent, int chains)
{
    for (int i = 0; i < tamis_preset_count(ctx); i++) {
        const tamis_preset *p = tamis_preset_at(ctx, i);
        if (p->about)
            printf("%s@%-14s %s\n", indent, p->name, p->about);
        else
            printf("%s@%s\n", indent, p->name);
        if (chains)
            printf("%s    %s\n", indent, p->chain);
    }
}

json_t *tool_json_presets(tool *t, const tamis_preset *only)
{
    json_t *list = json_array();
    if (only)
        json_array_append_new(list, json_preset(t, only));
    for (int i = 0; !only && i < tamis_preset_count(t->ctx); i++)
        json_array_append_new(list, json_preset(t, tamis_preset_at(t->ctx, i)));
    return list;
}
