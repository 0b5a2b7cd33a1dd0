/* SPDX-License-Identifier: Apache-2.0 */
/* Presets: names, lists, and chains that hold them. */
#include <stdlib.h>

#include "unit.h"

static tamis_ctx *ctx_with(const tamis_preset *presets, size_t count)
{
    tamis_ctx_options options = {.threads = 1, .presets = presets, .preset_count = count};
    tamis_ctx *ctx;
    assert_int_equal(tamis_ctx_create(&options, &ctx), TAMIS_OK);
    return ctx;
}

static void prints(tamis_ctx *ctx, const char *chain, const char *want)
{
    char text[512];
    tamis_graph *graph;
    if (tamis_graph_parse(ctx, chain, &graph) != TAMIS_OK)
        fail_msg("'%s': %s", chain, tamis_ctx_last_message(ctx, text, sizeof text));
    tamis_graph_print(graph, text, sizeof text);
    assert_string_equal(text, want);
    tamis_graph_free(&graph);
}

static void refuses(tamis_ctx *ctx, const char *chain, const char *words)
{
    tamis_graph *graph;
    assert_int_equal(tamis_graph_parse(ctx, chain, &graph), TAMIS_ERR_ARGUMENT);
    assert_null(graph);
    unit_message_has(ctx, words);
}

static void names(void **state)
{
    static const char *const good[] = {"a", "low_light", "low-light", "X9", "a-_9"};
    static const char *const bad[] = {"", "9a", "_a", "a b", "a=b", "@a", "a,", "\xc3\xa4", "a."};
    char text[TAMIS_PRESET_MAX_NAME + 2];

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(tamis_preset_is_name(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(tamis_preset_is_name(bad[i]));
    assert_false(tamis_preset_is_name(NULL));
    memset(text, 'a', sizeof text);
    text[TAMIS_PRESET_MAX_NAME + 1] = '\0';
    assert_false(tamis_preset_is_name(text));
    text[TAMIS_PRESET_MAX_NAME] = '\0';
    assert_true(tamis_preset_is_name(text));
    assert_true(tamis_preset_same_name("low_light", "low-light"));
    assert_false(tamis_preset_same_name("low_light", "low_ligh"));
    assert_false(tamis_preset_same_name("low_ligh", "low_light"));
    assert_false(tamis_preset_same_name(NULL, NULL));
}

/* Each of the library's own is complete, reads, and prints as the same filters. */
static void own(void **state)
{
    static const char *const groups[] = {"scene", "noise", "video"};
    tamis_ctx *ctx = unit_ctx(1);

    (void)state;
    assert_true(tamis_preset_count(NULL) >= 13);
    for (int i = 0; i < tamis_preset_count(NULL); i++) {
        const tamis_preset *p = tamis_preset_at(NULL, i);
        char chain[80], text[512];
        tamis_graph *graph;
        assert_true(tamis_preset_is_name(p->name));
        assert_null(tamis_filter_find(p->name));
        assert_true(p->about && *p->about);
        assert_true(strcmp(p->group, groups[0]) == 0 || strcmp(p->group, groups[1]) == 0 ||
                    strcmp(p->group, groups[2]) == 0);
        assert_ptr_equal(tamis_preset_find(NULL, p->name), p);
        assert_ptr_equal(tamis_preset_find(ctx, p->name), p);
        snprintf(chain, sizeof chain, "@%s", p->name);
        assert_int_equal(tamis_graph_parse(ctx, chain, &graph), TAMIS_OK);
        assert_true(tamis_graph_size(graph) > 0);
        tamis_graph_print(graph, text, sizeof text);
        prints(ctx, p->chain, text);
        tamis_graph_free(&graph);
    }
    assert_null(tamis_preset_at(NULL, -1));
    assert_null(tamis_preset_at(NULL, tamis_preset_count(NULL)));
    assert_null(tamis_preset_find(NULL, "nothing"));
    assert_null(tamis_preset_find(NULL, NULL));
    tamis_ctx_free(&ctx);
}

static void in_chains(void **state)
{
    static const tamis_preset given[] = {
        {.name = "soft", .chain = " gaussian=sigma=2 , median"},
        {.name = "two-fold", .chain = "@soft,box,@soft"},
        {.name = "photo", .chain = "box"},
        {.name = "kernel", .chain = "convolve=kernel=1,2,1;2,4,2;1,2,1"},
    };
    tamis_ctx *ctx = ctx_with(given, 4);

    (void)state;
    prints(ctx, "@soft", "gaussian=sigma=2,median");
    prints(ctx, " median , @ soft\n,box", "median,gaussian=sigma=2,median,box");
    prints(ctx, "@two_fold", "gaussian=sigma=2,median,box,gaussian=sigma=2,median");
    prints(ctx, "@kernel,@kernel",
           "convolve=kernel=1,2,1;2,4,2;1,2,1,convolve=kernel=1,2,1;2,4,2;1,2,1");
    prints(ctx, "@photo", "box");
    refuses(ctx, "@sofd", "no preset \"sofd\"; there are soft, two-fold, photo, kernel, portrait");
    refuses(ctx, "soft", "the preset is written @soft");
    refuses(ctx, "@soft=sigma=3", "@soft takes no parameters");
    refuses(ctx, "@", "expected a preset's name at character 2");
    refuses(ctx, "@soft:", "at character 6 of \"@soft:\"");
    refuses(ctx, "@soft,", "expected a filter's name");
    refuses(ctx, "median=@soft", "character");
    tamis_ctx_free(&ctx);
}

/* What a context was given comes first and stands for what has the same name. */
static void lists(void **state)
{
    static const tamis_preset given[] = {{.name = "mine", .chain = "box"},
                                         {.name = "low-light", .chain = "median", .about = "x"}};
    tamis_ctx *ctx = ctx_with(given, 2);

    (void)state;
    assert_int_equal(tamis_preset_count(ctx), tamis_preset_count(NULL) + 1);
    assert_string_equal(tamis_preset_at(ctx, 0)->name, "mine");
    assert_null(tamis_preset_at(ctx, 0)->about);
    assert_string_equal(tamis_preset_at(ctx, 1)->about, "x");
    assert_string_equal(tamis_preset_at(ctx, 2)->name, tamis_preset_at(NULL, 0)->name);
    for (int i = 2; i < tamis_preset_count(ctx); i++)
        assert_false(tamis_preset_same_name(tamis_preset_at(ctx, i)->name, "low_light"));
    assert_null(tamis_preset_at(ctx, tamis_preset_count(ctx)));
    assert_string_equal(tamis_preset_find(ctx, "low_light")->chain, "median");
    tamis_ctx_free(&ctx);
}

static void copies(void **state)
{
    char name[] = "mine", chain[] = "box", about[] = "what for";
    const tamis_preset given = {.name = name, .chain = chain, .about = about};
    tamis_ctx *ctx = ctx_with(&given, 1);

    (void)state;
    memset(name, 'x', 4);
    memset(chain, 'x', 3);
    memset(about, 'x', 8);
    assert_string_equal(tamis_preset_find(ctx, "mine")->about, "what for");
    prints(ctx, "@mine", "box");
    tamis_ctx_free(&ctx);
}

static void faults(void **state)
{
    static const tamis_preset given[] = {
        {.name = "bad", .chain = "gausian"},
        {.name = "worse", .chain = "box,@bad"},
        {.name = "range", .chain = "median,box=ksize=0"},
        {.name = "self", .chain = "box,@self"},
        {.name = "a", .chain = "@b"},
        {.name = "b", .chain = "box,@c,box"},
        {.name = "c", .chain = "@a"},
        {.name = "missing", .chain = "@nowhere"},
        {.name = "good", .chain = "box"},
    };
    tamis_ctx *ctx = ctx_with(given, sizeof given / sizeof given[0]);

    (void)state;
    refuses(ctx, "@bad", "preset bad: chain: no filter \"gausian\"");
    refuses(ctx, "@worse", "preset worse: preset bad: chain: no filter \"gausian\"");
    refuses(ctx, "@range", "preset range: box: ksize = 0");
    refuses(ctx, "@self", "@self stands in itself");
    refuses(ctx, "@a", "@a stands in itself, by way of @c");
    refuses(ctx, "@missing", "preset missing: chain: no preset \"nowhere\"");
    prints(ctx, "@good,@good", "box,box");
    tamis_ctx_free(&ctx);
}

/* Presets that double each other run into the largest chain, deep ones into the deepest. */
static void many(void **state)
{
    enum { COUNT = 40 };
    static char name[COUNT][8], chain[COUNT][24];
    tamis_preset given[COUNT];

    (void)state;
    for (int doubled = 0; doubled < 2; doubled++) {
        for (int i = 0; i < COUNT; i++) {
            snprintf(name[i], sizeof name[i], "p%d", i);
            snprintf(chain[i], sizeof chain[i],
                     i + 1 == COUNT ? "box"
                     : doubled      ? "@p%d,@p%d"
                                    : "@p%d",
                     i + 1, i + 1);
            given[i] = (tamis_preset){.name = name[i], .chain = chain[i]};
        }
        tamis_ctx *ctx = ctx_with(given, COUNT);
        refuses(ctx, "@p0", "more than 16 deep");
        prints(ctx, doubled ? "@p39" : "@p30", "box");
        if (doubled)
            refuses(ctx, "@p30", "more than 256 filters");
        tamis_ctx_free(&ctx);
    }
}

static void keep(void *user, tamis_log_level level, const char *text)
{
    (void)level;
    snprintf(user, 200, "%s", text);
}

static void refused_ones(void **state)
{
    static const struct {
        tamis_preset given[2];
        const char *words;
    } cases[] = {
        {{{.name = "a", .chain = "box"}, {.chain = "box"}}, "\"\" is no name"},
        {{{.name = "a", .chain = "box"}, {.name = "@b", .chain = "box"}}, "\"@b\" is no name"},
        {{{.name = "a", .chain = "box"}, {.name = "b"}}, "b has no chain"},
        {{{.name = "a", .chain = "box"}, {.name = "b", .chain = " \t"}}, "b has no chain"},
        {{{.name = "a-b", .chain = "box"}, {.name = "a_b", .chain = "box"}}, "two a_b"},
    };
    char said[200];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tamis_ctx_options options = {.threads = 1,
                                     .log = keep,
                                     .log_user = said,
                                     .presets = cases[i].given,
                                     .preset_count = 2};
        tamis_ctx *ctx;
        said[0] = '\0';
        assert_int_equal(tamis_ctx_create(&options, &ctx), TAMIS_ERR_ARGUMENT);
        assert_null(ctx);
        assert_non_null(strstr(said, cases[i].words));
    }
    tamis_ctx_options none = {.threads = 1, .preset_count = 1};
    tamis_ctx *ctx;
    assert_int_equal(tamis_ctx_create(&none, &ctx), TAMIS_ERR_ARGUMENT);
}

/* An allocator that gives a number of blocks and then none. */
typedef struct stock {
    int left, out;
} stock;

static void *take(void *user, size_t size)
{
    stock *s = user;
    if (s->left-- <= 0)
        return NULL;
    s->out++;
    return malloc(size);
}

static void give(void *user, void *ptr)
{
    stock *s = user;
    s->out -= ptr != NULL;
    free(ptr);
}

static void no_memory(void **state)
{
    static const tamis_preset given[] = {{.name = "a", .chain = "box"},
                                         {.name = "b", .chain = "@a,median"}};
    tamis_status status = TAMIS_ERR_MEMORY;

    (void)state;
    for (int blocks = 0; status != TAMIS_OK; blocks++) {
        stock s = {.left = blocks};
        tamis_allocator allocator = {take, give, &s};
        tamis_ctx_options options = {
            .threads = 1, .allocator = &allocator, .presets = given, .preset_count = 2};
        tamis_ctx *ctx;
        tamis_graph *graph = NULL;
        assert_true(blocks < 100);
        status = tamis_ctx_create(&options, &ctx);
        if (status == TAMIS_OK)
            status = tamis_graph_parse(ctx, "@b,@a", &graph);
        assert_true(status == TAMIS_OK || status == TAMIS_ERR_MEMORY);
        tamis_graph_free(&graph);
        tamis_ctx_free(&ctx);
        assert_int_equal(s.out, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names), cmocka_unit_test(own),          cmocka_unit_test(in_chains),
        cmocka_unit_test(lists), cmocka_unit_test(copies),       cmocka_unit_test(faults),
        cmocka_unit_test(many),  cmocka_unit_test(refused_ones), cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
