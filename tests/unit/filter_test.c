/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of every filter: setting, getting, checking and what refusals say. */
#include <math.h>
#include <stdlib.h>

#include "unit.h"

typedef struct each {
    tamis_ctx *ctx;
    const tamis_filter *filter;
    const tamis_param *param;
    double params[UNIT_PARAMS / sizeof(double)];
} each;

/* Calls fn for every parameter of every filter, with defaults filled in. */
static void for_each_param(void (*fn)(each *))
{
    each e = {.ctx = unit_ctx(1)};

    assert_true(tamis_filter_count() > 0);
    for (int f = 0; f < tamis_filter_count(); f++) {
        int count;
        const tamis_param *params;
        e.filter = tamis_filter_at(f);
        params = tamis_filter_params(e.filter, &count);
        assert_true(tamis_filter_params_size(e.filter) <= sizeof e.params);
        for (int i = 0; i < count; i++) {
            e.param = &params[i];
            tamis_filter_defaults(e.filter, e.params);
            fn(&e);
        }
    }
    tamis_ctx_free(&e.ctx);
}

static void accept(each *e, const char *text)
{
    if (tamis_filter_set(e->ctx, e->filter, e->params, e->param->name, text) != TAMIS_OK) {
        char message[600];
        fail_msg("%s %s=%s: %s", tamis_filter_name(e->filter), e->param->name, text,
                 tamis_ctx_last_message(e->ctx, message, sizeof message));
    }
}

/* Refused, with parameter and value in the message and params as before. */
static void refuse(each *e, const char *text)
{
    double before[UNIT_PARAMS / sizeof(double)];
    memcpy(before, e->params, sizeof before);
    if (tamis_filter_set(e->ctx, e->filter, e->params, e->param->name, text) != TAMIS_ERR_ARGUMENT)
        fail_msg("%s %s=%s is accepted", tamis_filter_name(e->filter), e->param->name, text);
    unit_message_has(e->ctx, e->param->name);
    unit_message_has(e->ctx, text);
    assert_memory_equal(before, e->params, sizeof before);
}

/* Such a parameter may be left open, which its default stands for. */
static int has_auto(const tamis_param *p)
{
    return p->type == TAMIS_PARAM_NUMBERS ||
           (p->type != TAMIS_PARAM_CHOICE && p->type != TAMIS_PARAM_MATRIX && !p->words &&
            (p->def < p->min || p->def > p->max));
}

static void is_described(each *e)
{
    const tamis_param *p = e->param;
    assert_non_null(p->name);
    assert_true(p->name[0] && p->doc && strlen(p->doc) > 5 && p->unit);
    assert_true(p->min <= p->max);
    assert_true((p->def >= p->min && p->def <= p->max) || has_auto(p) || p->words);
    assert_int_equal(p->type == TAMIS_PARAM_CHOICE, p->choices != NULL);
    if (p->choices) {
        int n = 0;
        while (p->choices[n])
            n++;
        assert_true(p->max == n - 1);
    }
}

static void default_round_trip(each *e)
{
    char text[128], again[128];
    tamis_filter_get(e->filter, e->params, e->param->name, text, sizeof text);
    assert_true(text[0] != '\0');
    accept(e, text);
    tamis_filter_get(e->filter, e->params, e->param->name, again, sizeof again);
    assert_string_equal(text, again);
}

static void junk(each *e)
{
    static const char *const bad[] = {"x",   "nan", "NAN", "inf",   "-inf", "1e999", "seven",
                                      "3 ",  " 3",  "3a",  "0x1p1", "3..1", "--3",   "+-3",
                                      "1,5", "3x",  "x3",  "3%%",   "%",    "3x5x7", "3;"};
    int pairs = e->param->type == TAMIS_PARAM_NUMBERS && e->param->least <= 2;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!(pairs && strcmp(bad[i], "1,5") == 0) &&
            !(e->param->type == TAMIS_PARAM_MATRIX && strspn(bad[i], "135 ,") == strlen(bad[i])))
            refuse(e, bad[i]);
    assert_int_equal(tamis_filter_set(e->ctx, e->filter, e->params, e->param->name, ""),
                     TAMIS_ERR_ARGUMENT);
}

static void ranges(each *e)
{
    const tamis_param *p = e->param;
    char text[128];

    if (p->type == TAMIS_PARAM_CHOICE || p->type == TAMIS_PARAM_NUMBERS ||
        p->type == TAMIS_PARAM_MATRIX)
        return;
    if (!p->odd || fmod(p->min, 2) != 0 || p->min == 0) {
        snprintf(text, sizeof text, "%.17g", p->min);
        accept(e, text);
    }
    if (!p->odd || fmod(p->max, 2) != 0) {
        snprintf(text, sizeof text, "%.17g", p->max);
        accept(e, text);
    }
    snprintf(text, sizeof text, "%.17g", p->min - fmax(1, fabs(p->min) * 1e-3));
    refuse(e, text);
    snprintf(text, sizeof text, "%.10g", p->max);
    unit_message_has(e->ctx, text);
    snprintf(text, sizeof text, "%.17g", p->max + fmax(1, fabs(p->max) * 1e-3));
    refuse(e, text);
    snprintf(text, sizeof text, "%.10g", p->min);
    unit_message_has(e->ctx, text);
}

static void choices(each *e)
{
    char text[128];

    if (e->param->type != TAMIS_PARAM_CHOICE)
        return;
    for (int i = 0; e->param->choices[i]; i++) {
        accept(e, e->param->choices[i]);
        tamis_filter_get(e->filter, e->params, e->param->name, text, sizeof text);
        assert_string_equal(text, e->param->choices[i]);
        unsigned v;
        memcpy(&v, (char *)e->params + e->param->offset, sizeof v);
        assert_int_equal(v, i);
    }
    refuse(e, "none of these");
    unit_message_has(e->ctx, e->param->choices[0]);
}

static void words(each *e)
{
    char text[128];

    if (e->param->type != TAMIS_PARAM_SIZE)
        return;
    for (int i = 0; e->param->words && e->param->words[i]; i++) {
        tamis_size size;
        accept(e, e->param->words[i]);
        memcpy(&size, (char *)e->params + e->param->offset, sizeof size);
        assert_true(size.w == -1 - i && size.h == -1 - i);
        tamis_filter_get(e->filter, e->params, e->param->name, text, sizeof text);
        assert_string_equal(text, e->param->words[i]);
    }
}

/* As many as the row says, each within its range. */
static void numbers(each *e)
{
    const tamis_param *p = e->param;
    tamis_numbers n;
    char text[300] = "", again[300], more[330];

    if (p->type != TAMIS_PARAM_NUMBERS)
        return;
    for (int i = 1; i <= p->most; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s0.%d", i > 1 ? "," : "", i);
        if (i < p->least)
            refuse(e, text);
        else
            accept(e, text);
    }
    memcpy(&n, (char *)e->params + p->offset, sizeof n);
    assert_true(n.count == p->most && n.v[0] == 0.1);
    assert_string_equal(tamis_filter_get(e->filter, e->params, p->name, again, sizeof again), text);
    snprintf(more, sizeof more, "%s,1", text);
    refuse(e, more);
    snprintf(more, sizeof more, "%s,", text);
    refuse(e, more);
    snprintf(more, sizeof more, "%.17g%s", p->max * 2 + 1,
             strchr(text, ',') ? strchr(text, ',') : "");
    refuse(e, more);
}

static void matrix_is(each *e, const char *text, int w, int h, int outer, double last,
                      const char *printed)
{
    const tamis_param *p = e->param;
    tamis_matrix m;
    char again[128];

    accept(e, text);
    memcpy(&m, (char *)e->params + p->offset, sizeof m);
    assert_true(m.w == w && m.h == h && m.outer == outer);
    assert_true(m.v[(outer ? w + h : w * h) - 1] == last);
    assert_string_equal(tamis_filter_get(e->filter, e->params, p->name, again, sizeof again),
                        printed);
}

/* Rows and columns in all their spellings, names, and as many numbers as fit. */
static void matrices(each *e)
{
    enum { SIDE = 256 };
    static char text[2 * SIDE * SIDE + 3];
    char again[64];

    if (e->param->type != TAMIS_PARAM_MATRIX)
        return;
    matrix_is(e, "1 2 3; 4 5 6", 3, 2, 0, 6, "1,2,3;4,5,6");
    matrix_is(e, " -1, .5 ;3e2 ,4 ", 2, 2, 0, 4, "-1,0.5;300,4");
    matrix_is(e, "1,2,3x4,5", 3, 2, 1, 5, "1,2,3x4,5");
    matrix_is(e, "1;2\n;3", 1, 3, 0, 3, "1;2;3");
    for (int i = 0; e->param->words && e->param->words[i]; i++) {
        accept(e, e->param->words[i]);
        assert_string_equal(
            tamis_filter_get(e->filter, e->params, e->param->name, again, sizeof again),
            e->param->words[i]);
    }
    refuse(e, "1,2;3");
    refuse(e, "1,2;3,4x5");
    refuse(e, "1,2,");
    refuse(e, ";1");
    for (int i = 0; i < SIDE * SIDE; i++)
        memcpy(text + 2 * i, i % SIDE == SIDE - 1 ? "1;" : "1,", 2);
    text[2 * SIDE * SIDE - 1] = '\0';
    accept(e, text);
    memcpy(text + 2 * SIDE * SIDE - 1, ";1", 3);
    assert_int_equal(tamis_filter_set(e->ctx, e->filter, e->params, e->param->name, text),
                     TAMIS_ERR_ARGUMENT);
}

static void sizes(each *e)
{
    char text[128];
    tamis_size size;

    if (e->param->type != TAMIS_PARAM_SIZE || e->param->max < 7)
        return;
    accept(e, "7x5");
    memcpy(&size, (char *)e->params + e->param->offset, sizeof size);
    assert_int_equal(size.w, 7);
    assert_int_equal(size.h, 5);
    assert_string_equal(tamis_filter_get(e->filter, e->params, e->param->name, text, sizeof text),
                        "7x5");
    accept(e, "5");
    assert_string_equal(tamis_filter_get(e->filter, e->params, e->param->name, text, sizeof text),
                        "5");
    refuse(e, "7x99999999");
    refuse(e, "-3");
    refuse(e, "5.5");
    if (e->param->odd) {
        refuse(e, "6");
        refuse(e, "7x6");
    }
}

static void values(each *e)
{
    char text[128];
    tamis_value value;

    if (e->param->type != TAMIS_PARAM_VALUE) {
        refuse(e, "12%");
        return;
    }
    accept(e, "12%");
    memcpy(&value, (char *)e->params + e->param->offset, sizeof value);
    assert_true(value.percent == 1 && value.value == 12);
    assert_true(fabs(tamis_value_resolve(value, TAMIS_U8) - 30.6) < 1e-12);
    assert_true(fabs(tamis_value_resolve(value, TAMIS_F32) - 0.12) < 1e-12);
    assert_string_equal(tamis_filter_get(e->filter, e->params, e->param->name, text, sizeof text),
                        "12%");
    accept(e, "30.25");
    memcpy(&value, (char *)e->params + e->param->offset, sizeof value);
    assert_true(value.percent == 0 && value.value == 30.25);
    assert_true(tamis_value_resolve(value, TAMIS_U16) == 30.25);
}

/* Values set in C, past the text layer, meet the same ranges. */
static void check_rejects(each *e)
{
    char *at = (char *)e->params + e->param->offset;
    const double nan = (double)NAN;

    assert_int_equal(tamis_filter_check(e->ctx, e->filter, e->params), TAMIS_OK);
    switch (e->param->type) {
    case TAMIS_PARAM_DOUBLE:
        memcpy(at, &nan, sizeof nan);
        break;
    case TAMIS_PARAM_VALUE:
        memcpy(at, &(tamis_value){nan, 0}, sizeof(tamis_value));
        break;
    case TAMIS_PARAM_SIZE:
        memcpy(at, &(tamis_size){3, -1}, sizeof(tamis_size));
        break;
    case TAMIS_PARAM_CHOICE:
        memcpy(at, &(unsigned){77}, sizeof(unsigned));
        break;
    case TAMIS_PARAM_INT:
        if (e->param->max >= 2147483647)
            return;
        memcpy(at, &(int){(int)e->param->max + 1}, sizeof(int));
        break;
    case TAMIS_PARAM_NUMBERS:
        memcpy(at, &(int){e->param->most + 1}, sizeof(int));
        break;
    case TAMIS_PARAM_MATRIX:
        ((tamis_matrix *)(void *)at)->name = -1;
    }
    assert_int_equal(tamis_filter_check(e->ctx, e->filter, e->params), TAMIS_ERR_ARGUMENT);
    unit_message_has(e->ctx, e->param->name);
    unit_message_has(e->ctx, tamis_filter_name(e->filter));
}

#define EACH(name, fn)                                                                             \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        for_each_param(fn);                                                                        \
    }
/* The word is a value of its own, which is printed and read back, and no number stands for it. */
static void from_picture(each *e)
{
    char text[128];
    snprintf(text, sizeof text, "%d", TAMIS_AUTO);
    refuse(e, text);
    accept(e, "auto");
    tamis_filter_get(e->filter, e->params, e->param->name, text, sizeof text);
    assert_string_equal(text, "auto");
    assert_int_equal(tamis_filter_check(e->ctx, e->filter, e->params), TAMIS_OK);
    assert_true(e->param->min > TAMIS_AUTO);
    assert_false(e->param->words || e->param->choices);
}

static void automatic(each *e)
{
    char text[128];
    double before[UNIT_PARAMS / sizeof(double)];

    for (int i = 0; e->param->choices && e->param->choices[i]; i++)
        if (strcmp(e->param->choices[i], "auto") == 0)
            return; /* a choice of that name */
    if (e->param->automatic) {
        from_picture(e);
        return;
    }
    if (!has_auto(e->param)) {
        refuse(e, "auto");
        return;
    }
    memcpy(before, e->params, sizeof before);
    assert_string_equal(tamis_filter_get(e->filter, e->params, e->param->name, text, sizeof text),
                        "auto");
    assert_int_equal(tamis_filter_check(e->ctx, e->filter, e->params), TAMIS_OK);
    if (e->param->type == TAMIS_PARAM_NUMBERS) {
        accept(e, "auto");
        return;
    }
    snprintf(text, sizeof text, "%.17g", e->param->max);
    accept(e, text);
    accept(e, "auto");
    assert_memory_equal(before, e->params, sizeof before);
    snprintf(text, sizeof text, "%.17g", e->param->def);
    refuse(e, text); /* the number behind the word is no value of its own */
}

EACH(params_are_described, is_described)
EACH(defaults_print_and_read_back, default_round_trip)
EACH(junk_is_refused, junk)
EACH(ranges_hold_at_both_ends, ranges)
EACH(choices_by_name, choices)
EACH(sizes_one_or_two_sides, sizes)
EACH(sizes_by_word, words)
EACH(numbers_as_many_as_allowed, numbers)
EACH(matrices_in_rows, matrices)
EACH(values_in_levels_or_per_cent, values)
EACH(auto_where_it_is_the_default, automatic)
EACH(structs_are_checked, check_rejects)

static void filters_are_listed_in_order(void **state)
{
    (void)state;
    for (int i = 0; i < tamis_filter_count(); i++) {
        const tamis_filter *f = tamis_filter_at(i);
        assert_ptr_equal(tamis_filter_find(tamis_filter_name(f)), f);
        assert_true(strlen(tamis_filter_brief(f)) > 5);
        assert_in_range(tamis_filter_max_inputs(f), 1, 2);
        assert_in_range(tamis_filter_min_inputs(f), 1, tamis_filter_max_inputs(f));
        if (i)
            assert_true(strcmp(tamis_filter_name(tamis_filter_at(i - 1)), tamis_filter_name(f)) <
                        0);
    }
    assert_null(tamis_filter_at(-1));
    assert_null(tamis_filter_at(tamis_filter_count()));
    assert_null(tamis_filter_find("no such filter"));
    assert_null(tamis_filter_find(""));
}

static void unknown_names_list_the_known(void **state)
{
    tamis_ctx *ctx = unit_ctx(1);
    const tamis_filter *f = tamis_filter_at(0);
    double params[UNIT_PARAMS / sizeof(double)];
    int count;

    (void)state;
    tamis_filter_defaults(f, params);
    assert_int_equal(tamis_filter_set(ctx, f, params, "sgima", "1"), TAMIS_ERR_ARGUMENT);
    unit_message_has(ctx, "sgima");
    unit_message_has(ctx, tamis_filter_params(f, &count)[0].name);
    tamis_ctx_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(params_are_described),
        cmocka_unit_test(defaults_print_and_read_back),
        cmocka_unit_test(junk_is_refused),
        cmocka_unit_test(ranges_hold_at_both_ends),
        cmocka_unit_test(choices_by_name),
        cmocka_unit_test(sizes_one_or_two_sides),
        cmocka_unit_test(sizes_by_word),
        cmocka_unit_test(numbers_as_many_as_allowed),
        cmocka_unit_test(matrices_in_rows),
        cmocka_unit_test(values_in_levels_or_per_cent),
        cmocka_unit_test(auto_where_it_is_the_default),
        cmocka_unit_test(structs_are_checked),
        cmocka_unit_test(filters_are_listed_in_order),
        cmocka_unit_test(unknown_names_list_the_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
