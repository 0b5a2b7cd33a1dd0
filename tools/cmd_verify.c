/* SPDX-License-Identifier: Apache-2.0 */
/* tamis verify: every kernel row of this CPU, and of its GPU, against the C reference.
 *
 * With the defaults every sample type meets every number of channels and every border; then each
 * parameter in turn takes its smallest value, one in the middle, a large one and each choice. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "random.h"
#include "rows.h"
#include "tool.h"

/* What one kernel row did on one sample type. Pictures with alpha are an entry of their own: the
 * engine multiplies their colors by alpha, has the F32 row work on them, and rounds at the end. */
typedef struct row_result {
    const char *cpu;
    tamis_type type;
    int alpha;
    double tolerance;
    int cases, failures;
    tamis_metrics metrics;
    char worst[256]; /* chain and type of the largest error beyond tolerance */
    double excess;
} row_result;

enum { MAX_ROWS = 64, LARGEST_RESULT = 1 << 20 };

typedef struct verify {
    tool *tool;
    const tamis_filter *filter;
    int32_t w, h;
    int device;    /* whether a GPU's rows are run */
    char why[512]; /* why not, or its name */
    int only;      /* --type: a tamis_type, or -1 */
    row_result rows[MAX_ROWS];
    int row_count;
    int refused; /* cases that the filter's plan does not accept */
    int failures;
    json_t *results;
    tamis_image map; /* where a filter needs a second picture; made with the first case */
} verify;

/* A share of the range: random, with flat patches and extreme levels among them. */
static double sample(int32_t x, int32_t y, int c)
{
    uint64_t place = ((uint64_t)y << 32 | (uint32_t)x) * TAMIS_MAX_CHANNELS + (uint64_t)c;
    double u = tool_random_uniform(1, place);
    if ((x / 9 + y / 7) % 4 == 0)
        return 0.625;
    return u >= 0.1 ? u : u < 0.05 ? 0 : 1;
}

/* Few enough that most windows hold none. */
static double special(int32_t x, int32_t y, double otherwise)
{
    if (x % 53 == 45 && y % 31 == 9)
        return NAN;
    return x % 59 == 20 && y % 37 == 28 ? INFINITY : otherwise;
}

/* Floats reach beyond 0 .. 1, and hold NaN and infinity. */
static void fill(const tamis_image *image)
{
    tamis_type type = image->format.type;
    double range = tamis_type_range(type), low = type == TAMIS_S16 ? -32768 : 0;
    int alpha = image->format.alpha != TAMIS_ALPHA_NONE ? image->format.channels - 1 : -1;
    double *row = tool_alloc((size_t)image->w * sizeof(*row));
    for (int c = 0; c < image->format.channels; c++) {
        for (int32_t y = 0; y < image->h; y++) {
            for (int32_t x = 0; x < image->w; x++) {
                double u = sample(x, y, c);
                row[x] = c == alpha ? u * range : low + range * u;
                if (type == TAMIS_F32 && c != alpha)
                    row[x] = special(x, y, 1.5 * u - 0.25);
            }
            tool_row_write(image, c, y, row);
        }
    }
    free(row);
}

static const tamis_type types[] = {TAMIS_U8, TAMIS_U16, TAMIS_S16, TAMIS_F32};
enum { TYPES = sizeof(types) / sizeof(*types) };

static row_result *find_row(verify *v, const char *cpu, tamis_type type, int alpha)
{
    for (int i = 0; i < v->row_count; i++) {
        row_result *row = &v->rows[i];
        if (row->type == type && row->alpha == alpha && strcmp(row->cpu, cpu) == 0)
            return row;
    }
    return NULL;
}

/* Several stages of one instruction set share an entry; the loosest tolerance holds. */
static void add_row(verify *v, const char *cpu, tamis_type type, int alpha, double tolerance)
{
    row_result *row = find_row(v, cpu, type, alpha);
    if (!row && v->row_count < MAX_ROWS) {
        row = &v->rows[v->row_count++];
        *row = (row_result){.cpu = cpu, .type = type, .alpha = alpha};
    }
    if (row && tolerance > row->tolerance)
        row->tolerance = tolerance;
}

/* Where F32 rows may differ in their last bits, rounding to integers may make that one level. */
static void add_kernel(verify *v, const tamis_kernel_info *info)
{
    if (strcmp(info->cpu, "c") == 0)
        return;
    add_row(v, info->cpu, info->type, 0, info->tolerance);
    for (int k = 0; info->type == TAMIS_F32 && k < TYPES; k++) {
        double rounded = types[k] == TAMIS_F32 ? info->tolerance : info->tolerance > 0;
        add_row(v, info->cpu, types[k], 1, rounded);
    }
}

static void list_rows(verify *v)
{
    tamis_kernel_info info;
    v->row_count = 0;
    for (int i = 0; v->device && tamis_device_kernel(v->tool->ctx, v->filter, i, &info); i++)
        add_kernel(v, &info);
    for (int i = 0; tamis_filter_kernel(v->filter, i, &info); i++)
        add_kernel(v, &info);
    for (int i = 0; i < v->row_count; i++) {
        row_result *row = &v->rows[i], *plain = find_row(v, row->cpu, row->type, 0);
        if (row->alpha && plain && plain->tolerance > row->tolerance)
            row->tolerance = plain->tolerance;
    }
}

/* A row of one channel; in floats, color is multiplied by alpha again, as filters see it: divided
 * by an alpha of next to nothing it may be anything. */
static void read_weighted(const tamis_image *image, int c, int32_t y, double *row, double *alpha)
{
    int last = image->format.channels - 1;
    tool_row_read(image, c, y, row);
    if (image->format.alpha != TAMIS_ALPHA_STRAIGHT || image->format.type != TAMIS_F32 || c == last)
        return;
    tool_row_read(image, last, y, alpha);
    for (int32_t x = 0; x < image->w; x++)
        row[x] *= alpha[x];
}

/* The largest error, for floats relative to max(1, |reference|); infinite where only one is NaN. */
static double largest_error(const tamis_image *got, const tamis_image *want)
{
    double worst = 0, *rows = tool_alloc(3 * (size_t)got->w * sizeof(*rows));
    double *ref = rows + got->w, *alpha = ref + got->w;
    int is_float = got->format.type == TAMIS_F32;
    for (int c = 0; c < got->format.channels; c++) {
        for (int32_t y = 0; y < got->h; y++) {
            read_weighted(got, c, y, rows, alpha);
            read_weighted(want, c, y, ref, alpha);
            for (int32_t x = 0; x < got->w; x++) {
                if (rows[x] == ref[x] || (isnan(rows[x]) && isnan(ref[x])))
                    continue;
                double d = fabs(rows[x] - ref[x]) / (is_float ? fmax(1, fabs(ref[x])) : 1);
                worst = isnan(d) ? INFINITY : fmax(worst, d);
            }
        }
    }
    free(rows);
    return worst;
}

/* A second picture for filters that cannot do without: places in and around the first, on waves. */
static tamis_status make_map(tamis_ctx *ctx, const tamis_image *src, tamis_image *out)
{
    tamis_format format = {TAMIS_F32, 2, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    tamis_status status = tamis_image_create(ctx, format, src->w, src->h, out);
    for (int y = 0; !status && y < out->h; y++) {
        float *row = tamis_image_row(out, 0, y);
        for (int x = 0; x < out->w; x++) {
            row[2 * x] = (float)(x + 4.3 * sin(0.11 * y));
            row[2 * x + 1] = (float)(y + 3.7 * sin(0.07 * x));
        }
    }
    return status;
}

static tamis_status run_kernel(verify *v, const tamis_graph *graph, const char *kernel,
                               const tamis_image *src, tamis_image *out)
{
    tamis_ctx *ctx = v->tool->ctx;
    tamis_plan *plan = NULL;
    int guided = tamis_filter_min_inputs(v->filter) > 1;
    tamis_plan_options options = {.kernel = kernel, .guide = guided ? &v->map.format : NULL};
    tamis_run_options run = {.cancel = tool_cancel_flag(), .guide = guided ? &v->map : NULL};
    int32_t w, h;
    tamis_status status = TAMIS_OK;
    if (guided && !v->map.data[0])
        status = make_map(ctx, src, &v->map);
    if (!status)
        status = tamis_plan_create(ctx, graph, src->format, src->w, src->h, &options, &plan);
    if (status)
        return status;
    tamis_plan_size(plan, &w, &h);
    if ((int64_t)w * h > LARGEST_RESULT) /* enlarged by so much, a picture says nothing new */
        status = TAMIS_ERR_UNSUPPORTED;
    else
        status = tamis_image_create(ctx, tamis_plan_format(plan), w, h, out);
    if (!status)
        status = tamis_plan_run(plan, src, out, &run);
    tamis_plan_free(&plan);
    if (status)
        tamis_image_unref(out);
    return status;
}

static void judge(verify *v, row_result *row, const tamis_graph *graph, const tamis_image *got,
                  const tamis_image *want)
{
    double error = largest_error(got, want);
    row->cases++;
    tamis_status status = tamis_metrics_add(v->tool->ctx, want, got, 0, 0, &row->metrics);
    if (status) { /* no memory, as was said: they have one shape */
        row->failures++;
        v->failures++;
        return;
    }
    if (error <= row->tolerance)
        return;
    row->failures++;
    v->failures++;
    if (error <= row->excess)
        return;
    char format[16], *chain = tool_graph_text(graph);
    tool_format_name(got->format, format, sizeof(format));
    row->excess = error;
    snprintf(row->worst, sizeof(row->worst), "%s on %s", chain, format);
    free(chain);
}

/* One picture and one set of parameters through the reference and each row of its type. */
static tamis_status verify_case(verify *v, const void *params, tamis_format format)
{
    tool *t = v->tool;
    tamis_graph *graph = NULL;
    tamis_image src = {0}, want = {0}, got = {0};
    tamis_status status = tamis_graph_create(t->ctx, &graph);
    if (!status)
        status = tamis_graph_add(graph, v->filter, params);
    if (!status)
        status = tamis_image_create(t->ctx, format, v->w, v->h, &src);
    if (status)
        goto done;
    fill(&src);
    status = run_kernel(v, graph, "c", &src, &want);
    for (int i = 0; !status && i < v->row_count; i++) {
        row_result *row = &v->rows[i];
        if (row->type != format.type || row->alpha != (format.alpha != TAMIS_ALPHA_NONE))
            continue;
        tamis_status ran = run_kernel(v, graph, row->cpu, &src, &got);
        if (ran == TAMIS_ERR_CANCELED || ran == TAMIS_ERR_MEMORY)
            status = ran;
        if (!ran) {
            judge(v, row, graph, &got, &want);
        } else if (ran != TAMIS_ERR_UNSUPPORTED) { /* what the reference does, rows have to do */
            row->failures++;
            v->failures++;
        }
        tamis_image_unref(&got);
    }
    if (status == TAMIS_ERR_ARGUMENT || status == TAMIS_ERR_UNSUPPORTED) {
        v->refused++;
        status = TAMIS_OK;
    }
done:
    tamis_image_unref(&want);
    tamis_image_unref(&src);
    tamis_graph_free(&graph);
    return status;
}

static tamis_status verify_formats(verify *v, const void *params, int channel_step)
{
    for (int i = 0; i < TYPES; i++) {
        if (v->only >= 0 && types[i] != (tamis_type)v->only)
            continue;
        for (int channels = 1; channels <= TAMIS_MAX_CHANNELS; channels += channel_step) {
            tamis_format format = {.type = types[i], .channels = channels};
            format.alpha = channels % 2 ? TAMIS_ALPHA_NONE : TAMIS_ALPHA_STRAIGHT;
            tamis_status status = verify_case(v, params, format);
            if (status)
                return status;
        }
    }
    return TAMIS_OK;
}

/* Sets one parameter from text and tries it; values that the table refuses are no cases. */
static tamis_status verify_value(verify *v, const tamis_param *param, const char *text, int step)
{
    void *params = tool_alloc(tamis_filter_params_size(v->filter));
    tamis_filter_defaults(v->filter, params);
    tamis_status status = TAMIS_OK;
    if (!tamis_filter_set(v->tool->ctx, v->filter, params, param->name, text))
        status = verify_formats(v, params, step);
    free(params);
    return status;
}

/* Windows larger than this say nothing new on a small picture and take long. */
static double cap(const tamis_param *param, double value)
{
    double limit = param->unit && strcmp(param->unit, "px") == 0 ? 15 : 1e4;
    value = fmin(value, limit);
    if (param->odd && fmod(value, 2) == 0 && value > 0)
        value -= 1;
    return param->type == TAMIS_PARAM_INT || param->type == TAMIS_PARAM_SIZE ? floor(value) : value;
}

static tamis_status verify_param(verify *v, const tamis_param *param)
{
    tamis_status status = TAMIS_OK;
    int borders = strcmp(param->name, "border") == 0;
    for (int i = 0; param->choices && param->choices[i] && !status; i++)
        status = verify_value(v, param, param->choices[i], borders ? 1 : 2);
    if (param->choices)
        return status;
    double top = cap(param, param->max), low = cap(param, fmax(param->min, -top));
    double values[] = {low, cap(param, low > 0 ? sqrt(low * top) : (low + top) / 4), top};
    for (size_t i = 0; i < sizeof(values) / sizeof(*values) && !status; i++) {
        char text[32];
        snprintf(text, sizeof(text), "%.6g", values[i]);
        status = verify_value(v, param, text, 2);
    }
    return status;
}

static void print_row(verify *v, const row_result *row)
{
    char type[16];
    double peak = tamis_type_range(row->type), mse = tamis_metrics_mse(&row->metrics);
    const char *verdict = row->failures ? "FAILED" : row->cases ? "ok" : "not run";
    snprintf(type, sizeof(type), "%s%s", tamis_type_name(row->type), row->alpha ? "+alpha" : "");
    printf("%-12s %-7s %-9s %6d %12.6g %12.6g %9.2f %10.3g  %s\n", tamis_filter_name(v->filter),
           row->cpu, type, row->cases, row->metrics.max_abs, mse,
           tamis_metrics_psnr(&row->metrics, peak), row->tolerance, verdict);
    if (row->failures)
        printf("  %d of %d cases fail, worst by %.6g: %s\n", row->failures, row->cases, row->excess,
               row->worst);
    fflush(stdout);
}

static json_t *json_row(verify *v, const row_result *row)
{
    double peak = tamis_type_range(row->type);
    json_t *o = json_object();
    json_object_set_new(o, "filter", json_string(tamis_filter_name(v->filter)));
    json_object_set_new(o, "kernel", json_string(row->cpu));
    json_object_set_new(o, "type", json_string(tamis_type_name(row->type)));
    json_object_set_new(o, "alpha", json_boolean(row->alpha));
    json_object_set_new(o, "cases", json_integer(row->cases));
    json_object_set_new(o, "failures", json_integer(row->failures));
    json_object_set_new(o, "max_abs", tool_json_number(row->metrics.max_abs));
    json_object_set_new(o, "mse", tool_json_number(tamis_metrics_mse(&row->metrics)));
    json_object_set_new(o, "psnr", tool_json_number(tamis_metrics_psnr(&row->metrics, peak)));
    json_object_set_new(o, "tolerance", json_real(row->tolerance));
    json_object_set_new(o, "worst", row->failures ? tool_json_text(row->worst) : json_null());
    return o;
}

static int verify_filter(verify *v)
{
    int count;
    const tamis_param *params = tamis_filter_params(v->filter, &count);
    list_rows(v);
    tamis_status status = verify_formats(v, NULL, 1);
    for (int i = 0; i < count && !status; i++)
        status = verify_param(v, &params[i]);
    if (status)
        return tool_fail(v->tool, status);
    for (int i = 0; i < v->row_count; i++) {
        if (v->only >= 0 && v->rows[i].type != (tamis_type)v->only)
            continue;
        if (v->tool->options.json)
            json_array_append_new(v->results, json_row(v, &v->rows[i]));
        else
            print_row(v, &v->rows[i]);
    }
    return TOOL_OK;
}

static int verify_filters(verify *v)
{
    tool *t = v->tool;
    if (t->options.filter) {
        v->filter = tool_filter_find(t, t->options.filter);
        if (!v->filter)
            return TOOL_USAGE;
    }
    if (!t->options.json)
        printf("%-12s %-7s %-9s %6s %12s %12s %9s %10s\n", "filter", "kernel", "type", "cases",
               "max abs", "MSE", "PSNR", "tolerance");
    if (t->options.filter)
        return verify_filter(v);
    int code = TOOL_OK;
    for (int i = 0; i < tamis_filter_count() && !code; i++) {
        v->filter = tamis_filter_at(i);
        code = verify_filter(v);
    }
    return code;
}

static int report(verify *v)
{
    tool *t = v->tool;
    int code = v->failures ? TOOL_THRESHOLD : TOOL_OK;
    if (!t->options.json) {
        printf("%s: %d failures, %d cases refused by the filters; GPU: %s%s\n",
               v->failures ? "FAILED" : "ok", v->failures, v->refused, v->device ? "" : "skipped, ",
               v->why);
        return code;
    }
    json_t *o = tool_json_new(t);
    json_object_set_new(o, "reference", json_string("c"));
    json_object_set_new(o, "picture", json_pack("{s:i,s:i}", "width", v->w, "height", v->h));
    json_object_set_new(o, "failures", json_integer(v->failures));
    json_object_set_new(o, "refused", json_integer(v->refused));
    json_object_set_new(o, "device", v->device ? tool_json_text(v->why) : json_null());
    json_object_set_new(o, "skipped", json_array());
    if (!v->device)
        json_array_append_new(json_object_get(o, "skipped"), tool_json_text(v->why));
    json_object_set(o, "rows", v->results);
    int bad = tool_json_print(t, o);
    return code ? code : bad;
}

/* The device whose rows are run: none with --device cpu, and none may be there. */
static void find_device(verify *v)
{
    tool *t = v->tool;
    const char *wish = tool_device_wish(t);
    tamis_device_info info;
    int index = 0;
    if (strcmp(wish, "cpu") == 0) {
        snprintf(v->why, sizeof(v->why), "cuda: not asked for");
        return;
    }
    sscanf(wish, "cuda:%d", &index);
    v->device = tamis_device_count(t->ctx) > 0 && !tamis_device_describe(t->ctx, index, &info);
    if (v->device)
        snprintf(v->why, sizeof(v->why), "cuda:%d, %s", index, info.name);
    else
        tamis_ctx_last_message(t->ctx, v->why, sizeof(v->why));
}

static int set_up(verify *v)
{
    tool *t = v->tool;
    tamis_format format;
    v->only = -1;
    if (t->options.type) {
        if (!tool_format_parse(t->options.type, &format) || format.type == TAMIS_F16)
            return tool_usage_error(t, "--type: '%s' is not one of u8, u16, s16, f32",
                                    t->options.type);
        v->only = (int)format.type;
    }
    v->w = t->options.size.w ? t->options.size.w : 61;
    v->h = t->options.size.w ? t->options.size.h : 37;
    int code = tool_context(t);
    if (!code)
        find_device(v);
    return code;
}

int cmd_verify(tool *t)
{
    verify v = {.tool = t, .results = json_array()};
    int code = set_up(&v);
    if (!code)
        code = verify_filters(&v);
    if (!code)
        code = report(&v);
    json_decref(v.results);
    tamis_image_unref(&v.map);
    return code;
}
