/* SPDX-License-Identifier: Apache-2.0 */
/* Chain text: "name=key=value:key=value,name2=key=value", to graphs and back. "@name" among the
 * filters is the chain of a preset. The characters : = and white space have no place in names or
 * values, so there is no quoting. A comma belongs to a value where a number follows: names of
 * filters begin with a letter. So does white space before a number or a semicolon. */
#include <stdio.h>
#include <string.h>

#include <tamis/preset.h>

#include "core/mem.h"
#include "core/status.h"
#include "graph/graph.h"
#include "graph/param.h"

#define WORD_MAX 256
/* Presets inside of presets: none holds itself, but there may be many. */
#define MOST_DEEP 16

struct reader {
    tamis_ctx *ctx;
    const char *text, *at;
    char *value;                /* room for a value as long as the text */
    const tamis_preset *preset; /* whose chain the text is; NULL: it is nobody's */
    const struct reader *outer; /* which reads the text where the preset stands */
};

static tamis_status complain(const struct reader *r, const char *what)
{
    return tamis_priv_fail(r->ctx, TAMIS_ERR_ARGUMENT, "chain: %s at character %d of \"%s\"", what,
                           (int)(r->at - r->text) + 1, r->text);
}

static void skip_space(struct reader *r)
{
    r->at += strspn(r->at, " \t\r\n");
}

static tamis_status expected(struct reader *r, const char *what, size_t n)
{
    return n ? TAMIS_OK : complain(r, what);
}

/* A run of characters that mean nothing to the grammar. */
static tamis_status read_word(struct reader *r, const char *what, char word[WORD_MAX])
{
    skip_space(r);
    size_t n = strcspn(r->at, ",:= \t\r\n");
    TAMIS_TRY(expected(r, what, n));
    if (n >= WORD_MAX)
        return complain(r, "too long a word");
    memcpy(word, r->at, n);
    word[n] = '\0';
    r->at += n;
    skip_space(r);
    return TAMIS_OK;
}

/* How much of the text belongs to the value after its first word: a comma, white space or both, if
 * a number or a semicolon follows; else 0. */
static size_t continuation(const char *text)
{
    size_t gap = strspn(text, " \t\r\n");
    gap += text[gap] == ',';
    gap += strspn(text + gap, " \t\r\n");
    if (gap == 0 || !text[gap] || !strchr("+-.0123456789;", text[gap]))
        return 0;
    return gap + strcspn(text + gap, ",:= \t\r\n");
}

/* Copies the value unless it is only to be passed over. */
static tamis_status read_value(struct reader *r, char *value)
{
    skip_space(r);
    size_t n = strcspn(r->at, ",:= \t\r\n");
    TAMIS_TRY(expected(r, "expected a value", n));
    for (size_t more = continuation(r->at + n); more; more = continuation(r->at + n))
        n += more;
    if (value) {
        memcpy(value, r->at, n);
        value[n] = '\0';
    }
    r->at += n;
    skip_space(r);
    return TAMIS_OK;
}

static int accept(struct reader *r, char c)
{
    if (*r->at != c)
        return 0;
    r->at++;
    return 1;
}

static tamis_status read_param(struct reader *r, char key[WORD_MAX], char *value)
{
    TAMIS_TRY(read_word(r, "expected a parameter's name", key));
    if (!accept(r, '='))
        return complain(r, "expected \"=\" and a value");
    return read_value(r, value);
}

/* Whether key is among the parameters, all well formed, from start up to the one that ends at
 * r->at. They are few: an unknown or repeated one has ended the reading. */
static int is_repeated(const struct reader *r, const char *start, const char *key)
{
    char other[WORD_MAX];
    struct reader again = {.ctx = r->ctx, .text = r->text, .at = start};
    while (read_param(&again, other, NULL) == TAMIS_OK && again.at < r->at) {
        if (strcmp(other, key) == 0)
            return 1;
        accept(&again, ':');
    }
    return 0;
}

static tamis_status read_params(struct reader *r, const tamis_filter *filter, void *params)
{
    char key[WORD_MAX];
    const char *start = r->at;
    do {
        TAMIS_TRY(read_param(r, key, r->value));
        TAMIS_TRY(tamis_filter_set(r->ctx, filter, params, key, r->value));
        if (is_repeated(r, start, key))
            return tamis_priv_fail(r->ctx, TAMIS_ERR_ARGUMENT, "%s: %s is given twice",
                                   tamis_filter_name(filter), key);
    } while (accept(r, ':'));
    return TAMIS_OK;
}

static tamis_status unknown_filter(tamis_ctx *ctx, const char *name)
{
    char list[384] = "";
    if (tamis_preset_find(ctx, name))
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT,
                               "chain: no filter \"%s\"; the preset is written @%s", name, name);
    for (int i = 0; i < tamis_filter_count(); i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
                 tamis_filter_name(tamis_filter_at(i)));
    }
    return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT, "chain: no filter \"%s\"; there are %s", name,
                           list);
}

static tamis_status unknown_preset(tamis_ctx *ctx, const char *name)
{
    char list[384] = "";
    for (int i = 0; i < tamis_preset_count(ctx); i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
                 tamis_preset_at(ctx, i)->name);
    }
    return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT, "chain: no preset \"%.63s\"; there are %s",
                           name, list);
}

/* Whether a preset may stand where the reader is: not in itself, and not too deep. */
static tamis_status check_nesting(const struct reader *r, const tamis_preset *preset)
{
    int depth = 0;
    for (const struct reader *at = r; at->preset; at = at->outer, depth++)
        if (at->preset == preset)
            return tamis_priv_fail(r->ctx, TAMIS_ERR_ARGUMENT,
                                   at == r ? "@%s stands in itself"
                                           : "@%s stands in itself, by way of @%s",
                                   preset->name, r->preset->name);
    if (depth < MOST_DEEP)
        return TAMIS_OK;
    return tamis_priv_fail(r->ctx, TAMIS_ERR_ARGUMENT,
                           "@%s: presets stand in each other more than %d deep", preset->name,
                           MOST_DEEP);
}

static tamis_status read_text(struct reader *r, tamis_graph *graph);

/* Appends what "@name" stands for. */
static tamis_status read_preset(struct reader *r, tamis_graph *graph)
{
    char name[WORD_MAX], message[WORD_MAX * 2];
    r->at++;
    TAMIS_TRY(read_word(r, "expected a preset's name", name));
    if (*r->at == '=')
        return tamis_priv_fail(r->ctx, TAMIS_ERR_ARGUMENT, "chain: @%.63s takes no parameters",
                               name);
    const tamis_preset *preset = tamis_preset_find(r->ctx, name);
    if (!preset)
        return unknown_preset(r->ctx, name);
    TAMIS_TRY(check_nesting(r, preset));
    struct reader inner = {
        .ctx = r->ctx, .text = preset->chain, .at = preset->chain, .preset = preset, .outer = r};
    tamis_status status = read_text(&inner, graph);
    if (status == TAMIS_ERR_ARGUMENT) {
        tamis_ctx_last_message(r->ctx, message, sizeof message);
        tamis_priv_fail(r->ctx, status, "preset %s: %s", preset->name, message);
    }
    return status;
}

static tamis_status read_filter(struct reader *r, tamis_graph *graph)
{
    char name[WORD_MAX];
    skip_space(r);
    if (*r->at == '@')
        return read_preset(r, graph);
    TAMIS_TRY(read_word(r, "expected a filter's name", name));
    const tamis_filter *filter = tamis_filter_find(name);
    if (!filter)
        return unknown_filter(r->ctx, name);
    TAMIS_TRY(tamis_graph_add(graph, filter, NULL));
    if (!accept(r, '='))
        return TAMIS_OK;
    return read_params(r, filter, graph->items[graph->size - 1].params);
}

static tamis_status read_chain(struct reader *r, tamis_graph *graph)
{
    skip_space(r);
    if (*r->at == '\0')
        return TAMIS_OK;
    do {
        TAMIS_TRY(read_filter(r, graph));
    } while (accept(r, ','));
    return *r->at ? complain(r, "expected \",\", \":\" or the end") : TAMIS_OK;
}

static tamis_status read_text(struct reader *r, tamis_graph *graph)
{
    r->value = tamis_priv_mem_alloc(r->ctx, strlen(r->text) + 1);
    tamis_status status = r->value ? read_chain(r, graph)
                                   : tamis_priv_fail(r->ctx, TAMIS_ERR_MEMORY, "chain: no memory");
    tamis_priv_mem_free(r->ctx, r->value);
    return status;
}

tamis_status tamis_graph_parse(tamis_ctx *ctx, const char *text, tamis_graph **out)
{
    TAMIS_REQUIRE(ctx, out);
    *out = NULL;
    TAMIS_REQUIRE(ctx, ctx);
    TAMIS_REQUIRE(ctx, text);
    tamis_graph *graph;
    TAMIS_TRY(tamis_graph_create(ctx, &graph));
    struct reader r = {.ctx = ctx, .text = text, .at = text};
    tamis_status status = read_text(&r, graph);
    if (status != TAMIS_OK)
        tamis_graph_free(&graph);
    *out = graph;
    return status;
}

/* Appends to a buffer that may be too small, counting what there would be. */
struct writer {
    char *buf;
    size_t size, length;
};

static void put(struct writer *w, const char *text)
{
    size_t n = strlen(text);
    if (w->length < w->size) {
        size_t room = w->size - w->length - 1, m = n < room ? n : room;
        memcpy(w->buf + w->length, text, m);
        w->buf[w->length + m] = '\0';
    }
    w->length += n;
}

/* Matrices may be long, so they go straight to their place; others are short. */
static void put_value(struct writer *w, const struct tamis_graph_item *item, const tamis_param *p)
{
    char value[WORD_MAX];
    if (p->type == TAMIS_PARAM_MATRIX) {
        size_t room = w->length < w->size ? w->size - w->length : 0;
        const tamis_matrix *m = tamis_priv_matrix_at(p, item->params);
        w->length += tamis_priv_matrix_print(p, m, room ? w->buf + w->length : NULL, room);
        return;
    }
    put(w, tamis_filter_get(item->filter, item->params, p->name, value, sizeof value));
}

/* Whether the parameter prints as its default does. Without memory for the defaults everything is
 * printed: longer, but right. */
static int is_default(const struct tamis_graph_item *item, const tamis_param *p,
                      const void *defaults)
{
    char value[WORD_MAX], standard[WORD_MAX];
    if (!defaults)
        return 0;
    if (p->type == TAMIS_PARAM_MATRIX)
        return memcmp(tamis_priv_matrix_at(p, item->params), tamis_priv_matrix_at(p, defaults),
                      sizeof(tamis_matrix)) == 0;
    tamis_filter_get(item->filter, item->params, p->name, value, sizeof value);
    tamis_filter_get(item->filter, defaults, p->name, standard, sizeof standard);
    return strcmp(value, standard) == 0;
}

static void print_filter(struct writer *w, tamis_ctx *ctx, const struct tamis_graph_item *item)
{
    int count;
    const tamis_param *params = tamis_filter_params(item->filter, &count);
    void *defaults = tamis_priv_mem_alloc(ctx, tamis_filter_params_size(item->filter));
    if (defaults)
        tamis_filter_defaults(item->filter, defaults);
    put(w, tamis_filter_name(item->filter));
    char sep = '=';
    for (int i = 0; i < count; i++) {
        if (is_default(item, &params[i], defaults))
            continue;
        put(w, (char[2]){sep, '\0'});
        put(w, params[i].name);
        put(w, "=");
        put_value(w, item, &params[i]);
        sep = ':';
    }
    tamis_priv_mem_free(ctx, defaults);
}

size_t tamis_graph_print(const tamis_graph *graph, char *buf, size_t size)
{
    struct writer w = {buf, buf ? size : 0, 0};
    if (w.size)
        *buf = '\0';
    for (int i = 0; i < tamis_graph_size(graph); i++) {
        if (i)
            put(&w, ",");
        print_filter(&w, graph->ctx, &graph->items[i]);
    }
    return w.length;
}
