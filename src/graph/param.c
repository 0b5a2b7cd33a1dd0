/* SPDX-License-Identifier: Apache-2.0 */
/* Values of parameters: defaults, reading, checking and printing, as the table row says. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/number.h"
#include "core/status.h"
#include "cpu/kernel.h"
#include "graph/param.h"

const char *const tamis_priv_border_names[] = {"reflect101", "reflect", "replicate", "wrap",
                                               "constant",   "valid",   NULL};
const char *const tamis_priv_interp_names[] = {"nearest",  "linear", "cubic",
                                               "lanczos3", "area",   NULL};
const char *const tamis_priv_alpha_names[] = {"premultiply", "straight", "ignore", NULL};

/* A parameter's value in a form that serves every type. */
struct number {
    double a, b; /* b: the height of a SIZE */
    int percent;
};

static struct number load(const tamis_param *p, const void *params)
{
    const char *at = (const char *)params + p->offset;
    switch (p->type) {
    case TAMIS_PARAM_INT:
        return (struct number){*(const int *)at, 0, 0};
    case TAMIS_PARAM_DOUBLE:
        return (struct number){*(const double *)at, 0, 0};
    case TAMIS_PARAM_CHOICE:
        return (struct number){*(const unsigned *)at, 0, 0};
    case TAMIS_PARAM_SIZE: {
        const tamis_size *s = (const tamis_size *)at;
        return (struct number){s->w, s->h, 0};
    }
    case TAMIS_PARAM_VALUE:
    case TAMIS_PARAM_NUMBERS:
    case TAMIS_PARAM_MATRIX:
        break;
    }
    const tamis_value *v = (const tamis_value *)at;
    return (struct number){v->value, 0, v->percent};
}

static void store(const tamis_param *p, void *params, struct number n)
{
    char *at = (char *)params + p->offset;
    switch (p->type) {
    case TAMIS_PARAM_INT:
        *(int *)at = (int)n.a;
        break;
    case TAMIS_PARAM_DOUBLE:
        *(double *)at = n.a;
        break;
    case TAMIS_PARAM_CHOICE:
        *(unsigned *)at = (unsigned)n.a;
        break;
    case TAMIS_PARAM_SIZE:
        *(tamis_size *)at = (tamis_size){(int)n.a, (int)n.b};
        break;
    case TAMIS_PARAM_VALUE:
        *(tamis_value *)at = (tamis_value){n.a, n.percent};
        break;
    case TAMIS_PARAM_NUMBERS: /* none, as zeroed */
        break;
    case TAMIS_PARAM_MATRIX:
        tamis_priv_matrix_at(p, params)->name = (int)n.a;
        break;
    }
}

void tamis_filter_defaults(const tamis_filter *filter, void *params)
{
    if (!filter || !params)
        return;
    memset(params, 0, filter->params_size);
    for (int i = 0; i < filter->param_count; i++) {
        const tamis_param *p = &filter->params[i];
        store(p, params, (struct number){p->def, p->def, p->percent});
    }
}

static const tamis_param *find(const tamis_filter *filter, const char *name)
{
    for (int i = 0; i < filter->param_count; i++)
        if (strcmp(filter->params[i].name, name) == 0)
            return &filter->params[i];
    return NULL;
}

static tamis_status unknown_name(tamis_ctx *ctx, const tamis_filter *filter, const char *name)
{
    char list[384] = "";
    for (int i = 0; i < filter->param_count; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", filter->params[i].name);
    }
    return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT, "%s: no parameter \"%s\"; it has %s",
                           filter->name, name, list);
}

/* "auto": a default that no number the user may give can be confused with, or to be chosen from a
 * picture. */
static int has_auto(const tamis_param *p)
{
    return p->automatic || p->type == TAMIS_PARAM_NUMBERS ||
           (!p->words && (p->def < p->min || p->def > p->max));
}

static double auto_number(const tamis_param *p)
{
    return p->automatic ? TAMIS_AUTO : p->def;
}

static int is_auto(const tamis_param *p, struct number n)
{
    return has_auto(p) && n.a == auto_number(p) && (p->type != TAMIS_PARAM_SIZE || n.b == n.a);
}

int tamis_priv_param_unresolved(const tamis_param *p, const void *params)
{
    return p->automatic && is_auto(p, load(p, params));
}

/* The word that stands for the size n; NULL when it is a size in numbers. */
static const char *word_of(const tamis_param *p, struct number n)
{
    for (int i = 0; p->words && p->words[i]; i++)
        if (n.a == -1 - i && n.b == n.a)
            return p->words[i];
    return NULL;
}

static void append(char *buf, size_t size, const char *before, const char *text)
{
    size_t used = strlen(buf);
    snprintf(buf + used, size - used, "%s%s", before, text);
}

/* "0.1 .. 100 px", or the names of the choices. */
static const char *range_text(const tamis_param *p, char *buf, size_t size)
{
    if (p->type != TAMIS_PARAM_CHOICE) {
        const char *odd = p->odd ? "odd, " : "";
        const char *space = p->unit && *p->unit ? " " : "";
        char count[48] = "";
        if (p->type == TAMIS_PARAM_NUMBERS && p->least == p->most)
            snprintf(count, sizeof count, "%d numbers, each ", p->most);
        else if (p->type == TAMIS_PARAM_MATRIX)
            snprintf(count, sizeof count, "up to %d numbers a,b,..;c,d,.., each ",
                     TAMIS_MAX_MATRIX);
        else if (p->type == TAMIS_PARAM_NUMBERS)
            snprintf(count, sizeof count, "%d to %d numbers, each ", p->least, p->most);
        tamis_priv_number_print(buf, size, "%s%s%.10g .. %.10g%s%s%s", count, odd, p->min, p->max,
                                space, p->unit ? p->unit : "", has_auto(p) ? ", or auto" : "");
        for (int i = 0; p->words && p->words[i]; i++)
            append(buf, size, ", or ", p->words[i]);
        return buf;
    }
    *buf = '\0';
    for (int i = 0; p->choices[i]; i++)
        append(buf, size, i ? ", " : "", p->choices[i]);
    return buf;
}

static tamis_status refuse(tamis_ctx *ctx, const tamis_filter *filter, const tamis_param *p,
                           const char *text)
{
    char range[512];
    return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT, "%s: %s = %.64s is not allowed; allowed: %s",
                           filter->name, p->name, text, range_text(p, range, sizeof range));
}

static int acceptable(const tamis_param *p, double v)
{
    if (!(v >= p->min && v <= p->max)) /* refuses NaN too */
        return 0;
    int whole =
        p->type == TAMIS_PARAM_INT || p->type == TAMIS_PARAM_SIZE || p->type == TAMIS_PARAM_CHOICE;
    if (whole && v != floor(v))
        return 0;
    return !p->odd || v == 0 || fmod(fabs(v), 2) == 1;
}

/* A decimal number. What strtod() would take besides (spaces, "nan", "0x1p3") is no number here. */
int tamis_priv_param_number(const char **text, double *out)
{
    char copy[64], *end;
    size_t n = strspn(*text, "+-.0123456789eE");
    if (n == 0 || n >= sizeof copy)
        return 0;
    memcpy(copy, *text, n);
    copy[n] = '\0';
    *out = tamis_priv_number_read(copy, &end);
    if (end != copy + n || !isfinite(*out))
        return 0;
    *text += n;
    return 1;
}

static int read_choice(const tamis_param *p, const char *text, struct number *n)
{
    for (int i = 0; p->choices[i]; i++) {
        if (strcmp(p->choices[i], text) == 0) {
            n->a = i;
            return 1;
        }
    }
    return 0;
}

static int read_value(const tamis_param *p, const char *text, struct number *n)
{
    if (p->type == TAMIS_PARAM_CHOICE)
        return read_choice(p, text, n);
    for (int i = 0; p->words && p->words[i]; i++) {
        if (strcmp(p->words[i], text) == 0) {
            *n = (struct number){-1 - i, -1 - i, 0};
            return 1;
        }
    }
    if (!tamis_priv_param_number(&text, &n->a))
        return 0;
    n->b = n->a;
    if (p->type == TAMIS_PARAM_SIZE && *text == 'x') {
        text++;
        if (!tamis_priv_param_number(&text, &n->b))
            return 0;
    } else if (p->type == TAMIS_PARAM_VALUE && *text == '%') {
        text++;
        n->percent = 1;
    }
    return *text == '\0';
}

static int in_range(const tamis_param *p, struct number n)
{
    if (word_of(p, n))
        return 1;
    return acceptable(p, n.a) && (p->type != TAMIS_PARAM_SIZE || acceptable(p, n.b));
}

/* ---- several numbers */

static int read_numbers(const char *text, tamis_numbers *out)
{
    *out = (tamis_numbers){0};
    if (strcmp(text, "auto") == 0)
        return 1;
    do {
        if (out->count == TAMIS_MAX_NUMBERS ||
            !tamis_priv_param_number(&text, &out->v[out->count++]))
            return 0;
    } while (*text++ == ',');
    return text[-1] == '\0';
}

static const tamis_numbers *numbers_at(const tamis_param *p, const void *params)
{
    return (const tamis_numbers *)(const void *)((const char *)params + p->offset);
}

static int numbers_in_range(const tamis_param *p, const tamis_numbers *n)
{
    if (n->count != 0 && (n->count < p->least || n->count > p->most))
        return 0;
    for (int i = 0; i < n->count; i++)
        if (!acceptable(p, n->v[i]))
            return 0;
    return 1;
}

/* ---- one parameter */

tamis_status tamis_filter_set(tamis_ctx *ctx, const tamis_filter *filter, void *params,
                              const char *name, const char *text)
{
    TAMIS_REQUIRE(ctx, ctx);
    TAMIS_REQUIRE(ctx, filter);
    TAMIS_REQUIRE(ctx, params);
    TAMIS_REQUIRE(ctx, name);
    TAMIS_REQUIRE(ctx, text);
    const tamis_param *p = find(filter, name);
    if (!p)
        return unknown_name(ctx, filter, name);
    struct number n = {0};
    if (p->type == TAMIS_PARAM_NUMBERS) {
        tamis_numbers numbers;
        if (!read_numbers(text, &numbers) || !numbers_in_range(p, &numbers))
            return refuse(ctx, filter, p, text);
        *(tamis_numbers *)(void *)((char *)params + p->offset) = numbers;
        return TAMIS_OK;
    }
    if (p->type == TAMIS_PARAM_MATRIX) {
        int ok = tamis_priv_matrix_read(p, text, tamis_priv_matrix_at(p, params));
        return ok ? TAMIS_OK : refuse(ctx, filter, p, text);
    }
    if (has_auto(p) && strcmp(text, "auto") == 0)
        n = (struct number){auto_number(p), auto_number(p), p->automatic ? 0 : p->percent};
    else if (!read_value(p, text, &n) || !in_range(p, n))
        return refuse(ctx, filter, p, text);
    store(p, params, n);
    return TAMIS_OK;
}

/* The fewest digits that read back as the same number. */
void tamis_priv_param_digits(double v, char *buf, size_t size)
{
    for (int digits = 6; digits <= 17; digits++) {
        tamis_priv_number_print(buf, size, "%.*g", digits, v);
        if (tamis_priv_number_read(buf, NULL) == v || v != v)
            break;
    }
}

static void print_numbers(const tamis_numbers *n, char *buf, size_t size)
{
    snprintf(buf, size, "%s", n->count == 0 ? "auto" : "");
    for (int i = 0; i < n->count && i < TAMIS_MAX_NUMBERS; i++) {
        char digits[32];
        tamis_priv_param_digits(n->v[i], digits, sizeof digits);
        append(buf, size, i ? "," : "", digits);
    }
}

static void print_number(const tamis_param *p, struct number n, char *buf, size_t size)
{
    if (word_of(p, n)) {
        snprintf(buf, size, "%s", word_of(p, n));
        return;
    }
    if (p->type == TAMIS_PARAM_CHOICE) {
        unsigned count = 0;
        while (p->choices[count])
            count++;
        if (n.a < count)
            snprintf(buf, size, "%s", p->choices[(unsigned)n.a]);
        else
            tamis_priv_number_print(buf, size, "%.0f", n.a);
        return;
    }
    if (is_auto(p, n)) {
        snprintf(buf, size, "auto");
        return;
    }
    tamis_priv_param_digits(n.a, buf, size);
    size_t used = strlen(buf);
    if (p->type == TAMIS_PARAM_SIZE && n.a != n.b)
        tamis_priv_number_print(buf + used, size - used, "x%.0f", n.b);
    else if (n.percent)
        snprintf(buf + used, size - used, "%%");
}

tamis_status tamis_filter_check(tamis_ctx *ctx, const tamis_filter *filter, const void *params)
{
    TAMIS_REQUIRE(ctx, ctx);
    TAMIS_REQUIRE(ctx, filter);
    TAMIS_REQUIRE(ctx, params);
    for (int i = 0; i < filter->param_count; i++) {
        const tamis_param *p = &filter->params[i];
        if (p->type == TAMIS_PARAM_NUMBERS) {
            const tamis_numbers *numbers = numbers_at(p, params);
            char text[TAMIS_MAX_NUMBERS * 32];
            if (numbers_in_range(p, numbers))
                continue;
            print_numbers(numbers, text, sizeof text);
            return refuse(ctx, filter, p, text);
        }
        if (p->type == TAMIS_PARAM_MATRIX) {
            const tamis_matrix *matrix = tamis_priv_matrix_at(p, params);
            char text[64];
            if (tamis_priv_matrix_ok(p, matrix))
                continue;
            snprintf(text, sizeof text, "a matrix of %dx%d", matrix->w, matrix->h);
            return refuse(ctx, filter, p, text);
        }
        struct number n = load(p, params);
        if (!in_range(p, n) && !is_auto(p, n)) {
            char text[64];
            print_number(p, n, text, sizeof text);
            return refuse(ctx, filter, p, text);
        }
    }
    return TAMIS_OK;
}

const char *tamis_filter_get(const tamis_filter *filter, const void *params, const char *name,
                             char *buf, size_t size)
{
    if (!buf || size == 0)
        return buf;
    *buf = '\0';
    const tamis_param *p = filter && params && name ? find(filter, name) : NULL;
    if (p && p->type == TAMIS_PARAM_NUMBERS)
        print_numbers(numbers_at(p, params), buf, size);
    else if (p && p->type == TAMIS_PARAM_MATRIX)
        tamis_priv_matrix_print(p, tamis_priv_matrix_at(p, params), buf, size);
    else if (p)
        print_number(p, load(p, params), buf, size);
    return buf;
}
