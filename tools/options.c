/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

static const char *const progress_names[] = {"auto", "bar", "json", "none", NULL};
const char *const tool_noise_names[] = {"gaussian", "saltpepper", "poisson", "speckle", NULL};

#define OPTION(field, ...)                                                                         \
    {                                                                                              \
        .name = #field, .offset = offsetof(tool_options, field), __VA_ARGS__                       \
    }

const tool_option tool_option_table[] = {
    OPTION(out, .letter = 'o', .kind = TOOL_TEXT, .arg = "OUT",
           .groups = TOOL_GROUP_WRITE | TOOL_GROUP_REPORT,
           .doc = "file, folder, template of {dir} {stem} {ext} {name}, or - for standard output"),
    OPTION(overwrite, .kind = TOOL_FLAG,
           .groups = TOOL_GROUP_WRITE | TOOL_GROUP_COMPARE | TOOL_GROUP_REPORT,
           .doc = "replace files that exist"),
    OPTION(skip_existing, .kind = TOOL_FLAG, .groups = TOOL_GROUP_WRITE,
           .doc = "leave out inputs whose output exists"),
    OPTION(in_place, .kind = TOOL_FLAG, .groups = TOOL_GROUP_FILTER,
           .doc = "write each result over its input, instead of -o"),
    OPTION(dry_run, .kind = TOOL_FLAG, .groups = TOOL_GROUP_FILTER,
           .doc = "say what would be done, and write nothing"),
    OPTION(strip, .kind = TOOL_FLAG, .groups = TOOL_GROUP_WRITE,
           .doc = "do not carry metadata over"),
    OPTION(guide, .kind = TOOL_TEXT, .arg = "FILE", .groups = TOOL_GROUP_GUIDE,
           .doc = "second input, for filters that take one"),
    OPTION(format, .kind = TOOL_TEXT, .arg = "NAME", .groups = TOOL_GROUP_WRITE,
           .doc = "format to write: png, jpeg, tiff, pnm, pam, pfm, npy or raw; default: by the "
                  "output's extension, else that of the input"),
    OPTION(quality, .kind = TOOL_INT, .min = 1, .max = 100, .arg = "N", .groups = TOOL_GROUP_WRITE,
           .doc = "JPEG quality; default 92"),
    OPTION(level, .kind = TOOL_INT, .min = 1, .max = 9, .arg = "N", .groups = TOOL_GROUP_WRITE,
           .doc = "PNG and deflate effort; default 6"),
    OPTION(compression, .kind = TOOL_TEXT, .arg = "NAME", .groups = TOOL_GROUP_WRITE,
           .doc = "TIFF compression: none, deflate or lzw; default deflate"),
    OPTION(tiff_tile, .kind = TOOL_INT, .min = 16, .max = 65536, .arg = "N",
           .groups = TOOL_GROUP_WRITE, .doc = "TIFF tile side, a multiple of 16; default: strips"),
    OPTION(raw, .kind = TOOL_TEXT, .arg = "WxH:TYPE[:CHANNELS[:OFFSET]]", .groups = TOOL_GROUP_READ,
           .doc = "inputs are headerless little-endian samples, such as 640x480:u16:1"),
    OPTION(tile, .kind = TOOL_SIZE, .min = 1, .max = 1 << 20, .arg = "WxH",
           .groups = TOOL_GROUP_FILTER, .doc = "size of the tiles; results do not depend on it"),
    OPTION(progress, .kind = TOOL_CHOICE, .choices = progress_names, .def = "auto",
           .groups = TOOL_GROUP_FILTER,
           .doc = "progress on standard error; auto shows a bar on a terminal"),

    OPTION(size, .kind = TOOL_SIZE, .min = 1, .max = 1 << 20, .arg = "WxH",
           .groups = TOOL_GROUP_SHAPE,
           .doc = "size of the picture; default 1920x1080, for verify 61x37"),
    OPTION(type, .kind = TOOL_TEXT, .arg = "TYPE", .groups = TOOL_GROUP_SHAPE,
           .doc = "sample type and channels, such as u8x3; default u8x3, for verify all"),
    OPTION(filter, .kind = TOOL_TEXT, .arg = "CHAIN", .groups = TOOL_GROUP_MEASURE,
           .doc = "only this filter; bench takes a chain too"),
    OPTION(repeat, .kind = TOOL_INT, .min = 1, .max = 10000, .def = "5", .arg = "N",
           .groups = TOOL_GROUP_REPEAT, .doc = "runs of which the fastest counts"),

    OPTION(reference, .kind = TOOL_TEXT, .arg = "FILE", .groups = TOOL_GROUP_REPORT,
           .doc = "picture that both should look like"),
    OPTION(diff, .kind = TOOL_TEXT, .arg = "OUT", .groups = TOOL_GROUP_COMPARE,
           .doc = "write the picture of absolute differences"),
    OPTION(diff_gain, .kind = TOOL_NUMBER, .min = 1e-6, .max = 1e6, .def = "1", .arg = "X",
           .groups = TOOL_GROUP_COMPARE, .doc = "multiply the differences in that picture"),
    OPTION(peak, .kind = TOOL_NUMBER, .min = 1e-30, .max = 1e30, .arg = "X",
           .groups = TOOL_GROUP_COMPARE | TOOL_GROUP_REPORT,
           .doc = "data range for PSNR and SSIM; default 255, 65535 or 1 by sample type"),
    OPTION(max_abs, .kind = TOOL_NUMBER, .min = 0, .max = 1e30, .arg = "X",
           .groups = TOOL_GROUP_COMPARE, .doc = "fail when a sample differs by more"),
    OPTION(max_mse, .kind = TOOL_NUMBER, .min = 0, .max = 1e30, .arg = "X",
           .groups = TOOL_GROUP_COMPARE, .doc = "fail when the mean squared error is larger"),
    OPTION(min_psnr, .kind = TOOL_NUMBER, .min = -1e30, .max = 1e30, .arg = "DB",
           .groups = TOOL_GROUP_COMPARE, .doc = "fail when the PSNR is lower"),
    OPTION(min_ssim, .kind = TOOL_NUMBER, .min = -1, .max = 1, .arg = "X",
           .groups = TOOL_GROUP_COMPARE, .doc = "fail when the SSIM is lower"),

    OPTION(kind, .kind = TOOL_CHOICE, .choices = tool_noise_names, .def = "gaussian",
           .groups = TOOL_GROUP_NOISE, .doc = "kind of noise"),
    OPTION(sigma, .kind = TOOL_TEXT, .def = "10%", .arg = "S", .groups = TOOL_GROUP_NOISE,
           .doc = "standard deviation: gaussian in levels or % of the type's range, speckle in % "
                  "of the sample"),
    OPTION(amount, .kind = TOOL_NUMBER, .min = 0, .max = 1e9, .arg = "X",
           .groups = TOOL_GROUP_NOISE,
           .doc = "saltpepper: share of the pixels, 0 to 1, default 0.05; poisson: photons at the "
                  "type's full range, default 255"),
    OPTION(seed, .kind = TOOL_SEED, .def = "1", .arg = "N", .groups = TOOL_GROUP_NOISE,
           .doc = "the same seed gives the same noise on every machine and thread count"),

    OPTION(threads, .kind = TOOL_INT, .min = 1, .max = 1024, .arg = "N",
           .groups = TOOL_GROUP_COMPUTE, .doc = "threads that filter; default: one per CPU"),
    OPTION(cpu, .kind = TOOL_TEXT, .arg = "ISA", .groups = TOOL_GROUP_COMPUTE,
           .doc = "highest instruction set to use: c, base, avx2 or avx512; default: "
                  "TAMIS_CPU, else the best there is"),
    OPTION(device, .kind = TOOL_TEXT, .def = "auto", .arg = "auto|cpu|cuda[:I]",
           .groups = TOOL_GROUP_COMPUTE, .doc = "where to filter; cuda never falls back silently"),
    OPTION(max_memory, .kind = TOOL_BYTES, .arg = "SIZE", .groups = TOOL_GROUP_COMPUTE,
           .doc = "refuse work that needs more, such as 4G"),
    OPTION(json, .kind = TOOL_FLAG, .groups = TOOL_GROUP_JSON,
           .doc = "print one JSON object on standard output"),
    OPTION(verbose, .letter = 'v', .kind = TOOL_FLAG, .groups = TOOL_GROUP_ALL,
           .doc = "say more; twice for the library's own log"),
    OPTION(quiet, .letter = 'q', .kind = TOOL_FLAG, .groups = TOOL_GROUP_ALL,
           .doc = "say nothing but errors"),
    OPTION(help, .letter = 'h', .kind = TOOL_FLAG, .groups = TOOL_GROUP_ALL,
           .doc = "print help and leave"),
    {.name = NULL}};

int tool_option_applies(const tool_option *option, unsigned groups, const tamis_filter *filter)
{
    if (!(option->groups & (groups | TOOL_GROUP_ALL)))
        return 0;
    if ((option->groups & TOOL_GROUP_GUIDE) && filter && tamis_filter_max_inputs(filter) < 2)
        return 0;
    int count = 0;
    const tamis_param *params = filter ? tamis_filter_params(filter, &count) : NULL;
    for (int i = 0; i < count; i++) {
        if (strcmp(params[i].name, option->name) == 0)
            return 0;
    }
    return 1;
}

static int parse_number(const char *text, double *out)
{
    char *end;
    errno = 0;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*out);
}

static int parse_seed(const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 0);
    return end != text && *end == '\0' && errno == 0 && *out <= INT64_MAX &&
           strchr(text, '-') == NULL;
}

static int parse_bytes(const char *text, size_t *out)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || !isfinite(value))
        return 0;
    static const char units[] = "KMGT";
    const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;
    if (unit) {
        value *= (double)((uint64_t)1 << (10 * (unit - units + 1)));
        end++;
        if (*end == 'i')
            end++;
    }
    if (*end == 'B')
        end++;
    if (*end != '\0' || value < 1 || value >= 18e18)
        return 0;
    *out = (size_t)value;
    return 1;
}

static int parse_size(const char *text, tamis_size *out)
{
    char *end;
    long w = strtol(text, &end, 10), h = w;
    if (end == text)
        return 0;
    if (*end == 'x' || *end == 'X') {
        const char *second = end + 1;
        h = strtol(second, &end, 10);
        if (end == second)
            return 0;
    }
    if (*end != '\0' || w < 0 || h < 0 || w > 1 << 30 || h > 1 << 30)
        return 0;
    *out = (tamis_size){(int)w, (int)h};
    return 1;
}

static int parse_choice(const char *text, const char *const *choices, int *out)
{
    for (int i = 0; choices[i]; i++) {
        if (strcmp(text, choices[i]) == 0) {
            *out = i;
            return 1;
        }
    }
    return 0;
}

static int in_range(const tool_option *option, double value)
{
    return value >= option->min && value <= option->max;
}

/* Stores text in the option's field; 0 when it is not acceptable. */
static int store(const tool_option *option, tool_options *options, const char *text)
{
    void *field = (char *)options + option->offset;
    double number;
    switch (option->kind) {
    case TOOL_FLAG:
        *(int *)field += 1;
        return 1;
    case TOOL_INT:
        if (!parse_number(text, &number) || number != floor(number) || !in_range(option, number))
            return 0;
        *(int *)field = (int)number;
        return 1;
    case TOOL_NUMBER:
        if (!parse_number(text, &number) || !in_range(option, number))
            return 0;
        *(double *)field = number;
        return 1;
    case TOOL_SEED:
        return parse_seed(text, field);
    case TOOL_BYTES:
        return parse_bytes(text, field);
    case TOOL_SIZE: {
        tamis_size *size = field;
        return parse_size(text, size) && in_range(option, size->w) && in_range(option, size->h);
    }
    case TOOL_CHOICE:
        return parse_choice(text, option->choices, field);
    case TOOL_TEXT:
        *(const char **)field = text;
        return 1;
    }
    return 0;
}

static void set_defaults(tool_options *options)
{
    *options = (tool_options){0};
    for (const tool_option *o = tool_option_table; o->name; o++) {
        if (o->def)
            store(o, options, o->def);
        else if (o->kind == TOOL_NUMBER)
            *(double *)((char *)options + o->offset) = NAN;
    }
}

static int say_bad_value(tool *t, const tool_option *option, const char *text)
{
    switch (option->kind) {
    case TOOL_INT:
    case TOOL_NUMBER:
        return tool_usage_error(t, "--%s: '%s' is not a%s number from %.10g to %.10g", option->name,
                                text, option->kind == TOOL_INT ? " whole" : "", option->min,
                                option->max);
    case TOOL_SIZE:
        return tool_usage_error(t,
                                "--%s: '%s' is not a size such as 640x480, each side %.0f to "
                                "%.0f",
                                option->name, text, option->min, option->max);
    case TOOL_BYTES:
        return tool_usage_error(t, "--%s: '%s' is not an amount of memory such as 512M or 4G",
                                option->name, text);
    case TOOL_CHOICE: {
        char list[256] = "";
        for (int i = 0; option->choices[i]; i++) {
            strncat(list, i ? ", " : "", sizeof(list) - strlen(list) - 1);
            strncat(list, option->choices[i], sizeof(list) - strlen(list) - 1);
        }
        return tool_usage_error(t, "--%s: '%s' is not one of %s", option->name, text, list);
    }
    default:
        return tool_usage_error(t, "--%s: '%s' is not a whole number from 0 to 2^63-1",
                                option->name, text);
    }
}

/* What getopt_long() needs, made from the two tables. Values: OPTION_BASE + index into the option
 * table, PARAM_BASE + index into the filter's. */
enum { OPTION_BASE = 1000, PARAM_BASE = 2000 };

typedef struct long_options {
    struct option *rows;
    char **spellings; /* names with '-' instead of '_', allocated */
    int count;
    char letters[64];
} long_options;

static void add_row(long_options *l, const char *name, int has_arg, int value)
{
    l->rows[l->count] = (struct option){name, has_arg, NULL, value};
    l->spellings[l->count++] = NULL;
    if (!strchr(name, '_'))
        return;
    char *other = tool_copy_text(name);
    for (char *c = other; *c; c++) {
        if (*c == '_')
            *c = '-';
    }
    l->rows[l->count] = (struct option){other, has_arg, NULL, value};
    l->spellings[l->count++] = other;
}

static void make_rows(const tool *t, long_options *l)
{
    int params = 0, options = 0;
    const tamis_param *param = t->filter ? tamis_filter_params(t->filter, &params) : NULL;
    while (tool_option_table[options].name)
        options++;
    size_t rows = 2 * (size_t)(params + options) + 1;
    l->rows = tool_alloc(rows * sizeof(*l->rows));
    l->spellings = tool_alloc(rows * sizeof(*l->spellings));
    for (int i = 0; i < params; i++)
        add_row(l, param[i].name, required_argument, PARAM_BASE + i);
    size_t n = 0;
    l->letters[n++] = ':';
    for (int i = 0; i < options; i++) {
        const tool_option *o = &tool_option_table[i];
        if (!tool_option_applies(o, t->command->groups, t->filter))
            continue;
        int has_arg = o->kind == TOOL_FLAG ? no_argument : required_argument;
        add_row(l, o->name, has_arg, OPTION_BASE + i);
        if (o->letter) {
            l->letters[n++] = o->letter;
            if (has_arg)
                l->letters[n++] = ':';
        }
    }
    l->letters[n] = '\0';
    l->rows[l->count] = (struct option){NULL, 0, NULL, 0};
}

static void free_rows(long_options *l)
{
    for (int i = 0; i < l->count; i++)
        free(l->spellings[i]);
    free(l->spellings);
    free(l->rows);
}

static int say_unknown(tool *t, const long_options *l, const char *word)
{
    char name[64];
    size_t length = strcspn(word + 2, "=");
    if (length >= sizeof(name))
        length = sizeof(name) - 1;
    memcpy(name, word + 2, length);
    name[length] = '\0';
    tool_nearest nearest = {0};
    for (int i = 0; i < l->count; i++)
        tool_nearest_offer(&nearest, name, l->rows[i].name);
    if (nearest.best)
        return tool_usage_error(t, "%s has no option '--%s'; did you mean --%s?", t->name, name,
                                nearest.best);
    return tool_usage_error(t, "%s has no option '--%s'; see: tamis help %s", t->name, name,
                            t->name);
}

/* getopt_long() has just returned '?': a short option is named by optopt, a long option that got a
 * value it does not take by the value of its row, and a long option unknown to it not at all. */
static int say_refused(tool *t, const long_options *l, const char *word)
{
    if (optopt >= OPTION_BASE)
        return tool_usage_error(t, "option '%.*s' takes no value", (int)strcspn(word, "="), word);
    if (optopt)
        return tool_usage_error(t,
                                "%s has no option '-%c'; a file whose name begins with - is "
                                "given as ./-NAME or after --",
                                t->name, optopt);
    return say_unknown(t, l, word);
}

static const tool_option *option_of(int code)
{
    if (code >= OPTION_BASE)
        return &tool_option_table[code - OPTION_BASE];
    for (const tool_option *o = tool_option_table; o->name; o++) {
        if (o->letter == code)
            return o;
    }
    return NULL;
}

static void keep_setting(tool *t, int index, const char *text)
{
    int count;
    const tamis_param *params = tamis_filter_params(t->filter, &count);
    size_t size = (size_t)(t->setting_count + 1) * sizeof(*t->settings);
    t->settings = tool_grow(t->settings, size);
    t->settings[t->setting_count++] = (tool_setting){&params[index], text};
}

static int parse_all(tool *t, const long_options *l, int argc, char **argv)
{
    opterr = 0;
    for (;;) {
        int code = getopt_long(argc, argv, l->letters, l->rows, NULL);
        if (code == -1)
            return TOOL_OK;
        if (code == '?')
            return say_refused(t, l, argv[optind - 1]);
        if (code == ':')
            return tool_usage_error(t, "option '%s' needs a value", argv[optind - 1]);
        if (code >= PARAM_BASE) {
            keep_setting(t, code - PARAM_BASE, optarg);
            continue;
        }
        const tool_option *option = option_of(code);
        if (!store(option, &t->options, optarg))
            return say_bad_value(t, option, optarg);
    }
}

int tool_options_parse(tool *t, int argc, char **argv)
{
    long_options l = {0};
    set_defaults(&t->options);
    make_rows(t, &l);
    optind = 1;
    int code = parse_all(t, &l, argc, argv);
    free_rows(&l);
    t->args = argv + optind;
    t->arg_count = argc - optind;
    return code;
}
