/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the conditions of a sample: parameters from the filter's own table, then a format, a size,
 * a memory layout and a picture. */
#include <math.h>
#include <string.h>

#include "check.h"

static const int odd_sizes[] = {1, 3, 5, 7, 9, 11, 13, 15, 17, 21, 25, 31, 47, 75};
enum { ODD_SIZES = sizeof odd_sizes / sizeof *odd_sizes };

static const int picture_sizes[][2] = {
    {1, 1},  {1, 9},   {13, 1},  {2, 2},   {3, 5},   {7, 5},    {16, 16},
    {17, 3}, {33, 12}, {65, 33}, {64, 31}, {130, 7}, {257, 19}, {5, 140},
};
enum { PICTURE_SIZES = sizeof picture_sizes / sizeof *picture_sizes };

/* Channels and alpha that make sense together. */
static const struct {
    int channels;
    tamis_alpha alpha;
} channel_sets[] = {
    {1, TAMIS_ALPHA_NONE},     {2, TAMIS_ALPHA_NONE},          {3, TAMIS_ALPHA_NONE},
    {4, TAMIS_ALPHA_NONE},     {2, TAMIS_ALPHA_STRAIGHT},      {4, TAMIS_ALPHA_STRAIGHT},
    {3, TAMIS_ALPHA_STRAIGHT}, {4, TAMIS_ALPHA_PREMULTIPLIED},
};
enum { CHANNEL_SETS = sizeof channel_sets / sizeof *channel_sets };

static double clamp(double v, double lo, double hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

/* A side of a window: mostly small. */
static int draw_side(test_rng *rng, const tamis_param *param)
{
    int v;
    if (param->min <= 0 && test_rng_below(rng, 6) == 0)
        return (int)param->min;
    v = odd_sizes[test_rng_below(rng, test_rng_below(rng, 4) ? 7 : ODD_SIZES)];
    if (!param->odd && test_rng_below(rng, 2))
        v++;
    return (int)clamp(v, param->min, param->max);
}

static double draw_int(test_rng *rng, const tamis_param *param)
{
    int frames = strcmp(param->unit ? param->unit : "", "frames") == 0;
    double hi = fmin(param->max, fmax(param->def, param->min) + (frames ? 2 : 20)), v;
    switch (test_rng_below(rng, 4)) {
    case 0:
        return param->min;
    case 1:
        v = hi;
        break;
    case 2:
        v = floor((param->min + hi) / 2);
        break;
    default:
        v = floor(param->min + test_rng_unit(rng) * (hi - param->min + 1));
    }
    if (param->odd && fmod(v, 2) == 0)
        v--;
    return clamp(v, param->min, param->max);
}

/* Pixels stay within what small pictures feel; other quantities use the whole range. */
static double draw_double(test_rng *rng, const tamis_param *param)
{
    int pixels = strcmp(param->unit ? param->unit : "", "px") == 0;
    double lo = fmax(param->min, 1e-3), hi = pixels ? fmin(param->max, 12) : param->max;

    switch (test_rng_below(rng, 5)) {
    case 0:
        return param->min;
    case 1:
        return pixels ? clamp(3, param->min, hi) : param->max;
    case 2:
        return hi < lo ? hi : sqrt(lo * hi);
    case 3:
        return param->min + test_rng_unit(rng) * (hi - param->min);
    default:
        return clamp(fabs(param->def) * pow(2, 4 * test_rng_unit(rng) - 2), param->min, hi);
    }
}

/* Levels: fractions of the type's range, or per cent. */
static void draw_level(test_rng *rng, const tamis_param *param, tamis_type type, int percent,
                       char *buf, size_t size)
{
    static const double fractions[] = {0, 0.004, 0.03, 0.12, 0.5, 1, -0.25, 1.5};
    double f = fractions[test_rng_below(rng, 8)];
    double scale = percent ? 100 : tamis_type_range(type);

    if (test_rng_below(rng, 4) == 0)
        f = test_rng_unit(rng);
    snprintf(buf, size, "%.6g%s", clamp(f * scale, param->min, param->max), percent ? "%" : "");
}

/* Near 1 and 0 alternately, as the matrices have them that keep something of the picture; now and
 * then anything. */
static void draw_numbers(test_rng *rng, const tamis_param *param, char *buf, size_t size)
{
    int wild = test_rng_below(rng, 8) == 0;
    int count = param->least + test_rng_below(rng, param->most - param->least + 1);

    *buf = '\0';
    for (int i = 0; i < count; i++) {
        double v = i % 4 == 0 && count != 2 ? 1 : 0, spread = wild ? 40 : i % 3 == 2 ? 9 : 0.6;
        size_t used = strlen(buf);
        if (test_rng_below(rng, 4))
            v += spread * (2 * test_rng_unit(rng) - 1);
        if (test_rng_below(rng, 4) == 0)
            v = floor(v + 0.5);
        snprintf(buf + used, size - used, "%s%.6g", i ? "," : "", clamp(v, param->min, param->max));
    }
}

/* The sum of two products of columns and rows, with decimals, and of a single one. */
static void draw_products(test_rng *rng, char *buf, size_t size)
{
    int w = 3 + test_rng_below(rng, 9), h = 3 + test_rng_below(rng, 9);
    int two = test_rng_below(rng, 4) > 0, zeros = test_rng_below(rng, 3) == 0;
    int row[2][12], column[2][12];

    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 2; k++) {
            row[k][i] = test_rng_below(rng, 9) - (zeros ? 4 : -1);
            column[k][i] = test_rng_below(rng, 9) - (zeros ? 4 : -1);
        }
    *buf = '\0';
    for (int i = 0; i < w * h; i++) {
        size_t used = strlen(buf);
        int x = i % w, y = i / w;
        int v = row[0][x] * column[0][y] + (two ? row[1][x] * column[1][y] : 0);
        snprintf(buf + used, size - used, "%s%.4g", i == 0 ? "" : x ? "," : ";", v / 10.0);
    }
}

/* Whole numbers, small and large, with zeros or without, fractions, or the product of two rows. */
static void draw_matrix(test_rng *rng, const tamis_param *param, char *buf, size_t size)
{
    static const double scales[] = {3, 30, 3000, 1};
    int kind = test_rng_below(rng, 4), outer = test_rng_below(rng, 3) == 0, names = 0;
    int w = 1 + test_rng_below(rng, test_rng_below(rng, 3) ? 5 : 9);
    int h = 1 + test_rng_below(rng, test_rng_below(rng, 3) ? 5 : 9);

    while (param->words && param->words[names])
        names++;
    if (names && test_rng_below(rng, 3) == 0) {
        snprintf(buf, size, "%s", param->words[test_rng_below(rng, names)]);
        return;
    }
    if (test_rng_below(rng, 4) == 0) {
        draw_products(rng, buf, size);
        return;
    }
    *buf = '\0';
    for (int i = 0; i < (outer ? w + h : w * h); i++) {
        size_t used = strlen(buf);
        const char *gap = i == 0 ? "" : i % w ? "," : outer ? "x" : ";";
        double v = scales[kind] * (2 * test_rng_unit(rng) - 0.7);
        if (kind < 3)
            v = floor(v);
        snprintf(buf + used, size - used, "%s%.4g", outer && i > w ? "," : gap,
                 clamp(v, param->min, param->max));
    }
}

static void draw_text(test_rng *rng, const tamis_param *param, tamis_type type, char *buf,
                      size_t size)
{
    int w, n = 0;

    if (param->type == TAMIS_PARAM_MATRIX) {
        draw_matrix(rng, param, buf, size);
        return;
    }
    if (param->words && test_rng_below(rng, 2)) {
        while (param->words[n])
            n++;
        snprintf(buf, size, "%s", param->words[test_rng_below(rng, n)]);
        return;
    }
    if (param->type != TAMIS_PARAM_CHOICE && !param->words &&
        (param->def < param->min || param->def > param->max) && test_rng_below(rng, 4) == 0) {
        snprintf(buf, size, "auto");
        return;
    }
    switch (param->type) {
    case TAMIS_PARAM_CHOICE:
        while (param->choices[n])
            n++;
        snprintf(buf, size, "%s", param->choices[test_rng_below(rng, n)]);
        break;
    case TAMIS_PARAM_INT:
        snprintf(buf, size, "%.0f", draw_int(rng, param));
        break;
    case TAMIS_PARAM_SIZE:
        w = draw_side(rng, param);
        if (test_rng_below(rng, 2))
            snprintf(buf, size, "%d", w);
        else
            snprintf(buf, size, "%dx%d", w, w == 0 ? 0 : draw_side(rng, param));
        break;
    case TAMIS_PARAM_NUMBERS:
        draw_numbers(rng, param, buf, size);
        break;
    case TAMIS_PARAM_VALUE:
        draw_level(rng, param, type, test_rng_below(rng, 3) == 0, buf, size);
        break;
    default:
        if (strcmp(param->unit ? param->unit : "", "levels") == 0)
            draw_level(rng, param, type, 0, buf, size);
        else
            snprintf(buf, size, "%.6g", draw_double(rng, param));
    }
}

/* Draws some of the parameters; the others keep their defaults. */
static void draw_params(check_machine *machine, test_rng *rng, check_sample *out)
{
    const tamis_filter *filter = out->filter;
    char value[1024], message[512];

    tamis_filter_defaults(filter, out->params);
    for (int i = 0; i < filter->param_count; i++) {
        const tamis_param *param = &filter->params[i];
        if (test_rng_below(rng, 5) < 2)
            continue;
        draw_text(rng, param, out->format.type, value, sizeof value);
        if (tamis_filter_set(machine->ctx[0][0], filter, out->params, param->name, value)) {
            tamis_ctx_last_message(machine->ctx[0][0], message, sizeof message);
            printf("FAIL %s: %s=%s is refused: %s\n", filter->name, param->name, value, message);
            machine->counts.failed++;
        }
    }
}

/* A window so wide that the filter goes another way, whose cost does not follow from the window. */
static int draw_wide(check_machine *machine, test_rng *rng, check_sample *out)
{
    const tamis_filter *filter = out->filter;
    char value[32];

    int smooths = strcmp(filter->name, "gaussian") == 0 || strcmp(filter->name, "unsharp") == 0;

    if (!smooths || test_rng_below(rng, 8))
        return 0;
    tamis_filter_defaults(filter, out->params);
    for (int i = 0; i < filter->param_count; i++) {
        const tamis_param *param = &filter->params[i];
        if (strcmp(param->name, "sigma") == 0)
            snprintf(value, sizeof value, "%.6g", 10 + 40 * test_rng_unit(rng));
        else if (param->type == TAMIS_PARAM_CHOICE && strcmp(param->name, "compat") != 0)
            draw_text(rng, param, out->format.type, value, sizeof value);
        else
            continue;
        tamis_filter_set(machine->ctx[0][0], filter, out->params, param->name, value);
    }
    return 1;
}

/* The chain's own text, which the user can paste. */
static void print_params(check_machine *machine, check_sample *out)
{
    tamis_graph *graph = NULL;

    snprintf(out->text, sizeof out->text, "%s", out->filter->name);
    if (tamis_graph_create(machine->ctx[0][0], &graph) == TAMIS_OK &&
        tamis_graph_add(graph, out->filter, out->params) == TAMIS_OK)
        tamis_graph_print(graph, out->text, sizeof out->text);
    tamis_graph_free(&graph);
}

static void set_channels(tamis_format *format, int set)
{
    format->channels = channel_sets[set].channels;
    format->alpha = channel_sets[set].alpha;
}

static void draw_guide(test_rng *rng, check_sample *out)
{
    out->has_guide =
        out->filter->needs_guide || (out->filter->max_inputs > 1 && test_rng_below(rng, 3) == 0);
    out->guide_w = out->w;
    out->guide_h = out->h;
    if (!out->has_guide)
        return;
    if (out->filter->needs_guide) { /* a map: two coordinates, any size */
        out->guide = test_format(test_rng_below(rng, 4) ? TAMIS_F32 : TAMIS_F16, 2);
        out->guide.layout = test_rng_below(rng, 2) ? TAMIS_PLANAR : TAMIS_PACKED;
        out->guide_w = 1 + test_rng_below(rng, 150);
        out->guide_h = 1 + test_rng_below(rng, 40);
        return;
    }
    out->guide = test_format((tamis_type)test_rng_below(rng, TAMIS_TYPE_COUNT),
                             test_rng_below(rng, 2) ? 1 : 3);
    if (test_rng_below(rng, 2)) {
        out->guide.type = out->format.type;
        out->guide.layout = out->format.layout;
    }
}

static test_rng start(const check_machine *machine, const tamis_filter *filter, int index,
                      check_sample *out)
{
    test_rng rng = {machine->options->seed};

    for (const char *p = filter->name; *p; p++)
        rng.state = test_mix(rng.state + (unsigned char)*p);
    rng.state = test_mix(rng.state + (uint64_t)index);
    memset(out, 0, sizeof *out);
    out->filter = filter;
    out->index = index;
    return rng;
}

void check_draw(check_machine *machine, const tamis_filter *filter, int index, check_sample *out)
{
    test_rng rng = start(machine, filter, index, out);
    int size = test_rng_below(&rng, PICTURE_SIZES);

    out->format.type = (tamis_type)test_rng_below(&rng, TAMIS_TYPE_COUNT);
    out->format.layout = test_rng_below(&rng, 3) ? TAMIS_PACKED : TAMIS_PLANAR;
    set_channels(&out->format, test_rng_below(&rng, 2) ? 0 : test_rng_below(&rng, CHANNEL_SETS));
    out->w = picture_sizes[size][0];
    out->h = picture_sizes[size][1];
    if (test_rng_below(&rng, 4) == 0) {
        out->w = 1 + test_rng_below(&rng, 150);
        out->h = 1 + test_rng_below(&rng, 40);
    }
    draw_guide(&rng, out);
    out->src_rows = (test_rows)test_rng_below(&rng, TEST_ROWS_COUNT);
    out->dst_rows = (test_rows)test_rng_below(&rng, TEST_ROWS_COUNT);
    out->fill = (test_fill)test_rng_below(&rng, TEST_FILL_COUNT);
    int wide = draw_wide(machine, &rng, out);
    if (!wide)
        draw_params(machine, &rng, out);
    print_params(machine, out);
    out->seed = test_rng_next(&rng);
    out->budget = wide ? 1e8 : test_rng_below(&rng, 50) ? 3e5 : 2e7;
}

int check_enumerate(check_machine *machine, const tamis_filter *filter, int index,
                    check_sample *out)
{
    enum { PARAM_SETS = 12 };
    test_rng rng = start(machine, filter, index, out);
    test_rng params = start(machine, filter, index % PARAM_SETS, out);
    int rest = index / PARAM_SETS;

    out->index = index;
    out->format.type = (tamis_type)(rest % TAMIS_TYPE_COUNT);
    rest /= TAMIS_TYPE_COUNT;
    set_channels(&out->format, rest % CHANNEL_SETS);
    rest /= CHANNEL_SETS;
    out->format.layout = rest % 2 ? TAMIS_PLANAR : TAMIS_PACKED;
    rest /= 2;
    out->w = picture_sizes[rest % PICTURE_SIZES][0];
    out->h = picture_sizes[rest % PICTURE_SIZES][1];
    rest /= PICTURE_SIZES;
    out->fill = (test_fill)(rest % TEST_FILL_COUNT);
    rest /= TEST_FILL_COUNT;
    out->src_rows = (test_rows)test_rng_below(&rng, TEST_ROWS_COUNT);
    out->dst_rows = (test_rows)test_rng_below(&rng, TEST_ROWS_COUNT);
    draw_guide(&rng, out);
    draw_params(machine, &params, out);
    for (int i = 0; i < filter->param_count; i++) /* every border with every set */
        if (strcmp(filter->params[i].name, "border") == 0)
            tamis_filter_set(machine->ctx[0][0], filter, out->params, "border",
                             filter->params[i].choices[rest % TAMIS_BORDER_COUNT]);
    rest /= TAMIS_BORDER_COUNT;
    print_params(machine, out);
    out->seed = test_rng_next(&rng);
    out->budget = 3e6;
    return rest == 0;
}
