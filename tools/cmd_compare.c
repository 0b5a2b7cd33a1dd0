/* SPDX-License-Identifier: Apache-2.0 */
/* tamis compare: measures, thresholds and a difference picture. */
#include <math.h>
#include <stdio.h>

#include "compare.h"
#include "json.h"

/* Thresholds hold only for numbers: an undefined measure passes none. */
static int check_thresholds(tool *t, const tool_comparison *p)
{
    const tool_options *o = &t->options;
    const tamis_metrics *m = &p->metrics;
    const struct {
        const char *name;
        double limit, value;
        int upper;
    } checks[] = {{"max_abs", o->max_abs, m->max_abs, 1},
                  {"max_mse", o->max_mse, tamis_metrics_mse(m), 1},
                  {"min_psnr", o->min_psnr, tamis_metrics_psnr(m, p->peak), 0},
                  {"min_ssim", o->min_ssim, tamis_metrics_ssim(m), 0}};
    int code = TOOL_OK;
    for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
        if (isnan(checks[i].limit))
            continue;
        int holds = checks[i].upper ? checks[i].value <= checks[i].limit
                                    : checks[i].value >= checks[i].limit;
        if (holds && !m->unordered)
            continue;
        tool_note(t, "--%s %.10g does not hold: %.10g%s", checks[i].name, checks[i].limit,
                  checks[i].value, m->unordered ? ", and there are NaNs" : "");
        code = TOOL_THRESHOLD;
    }
    return code;
}

static void print_text(const tool_comparison *p)
{
    const tamis_metrics *m = &p->metrics;
    double ssim = tamis_metrics_ssim(m);
    printf("max abs    %.10g", m->max_abs);
    if (m->max_abs > 0)
        printf("  at x %d, y %d, channel %d, page %d", m->x, m->y, m->channel, m->page);
    printf("\ndifferent  %ju of %ju samples\n", (uintmax_t)m->different, (uintmax_t)m->samples);
    if (m->unordered)
        printf("unordered  %ju samples are NaN in one picture only\n", (uintmax_t)m->unordered);
    printf("MAE        %.10g\nMSE        %.10g\n", tamis_metrics_mae(m), tamis_metrics_mse(m));
    printf("PSNR       %.4f dB  (data range %.10g)\n", tamis_metrics_psnr(m, p->peak), p->peak);
    if (isnan(ssim) && !m->ssim_count)
        printf("SSIM       none: the picture is smaller than 11x11\n");
    else
        printf("SSIM       %.6f  (%s, data range %.10g)\n", ssim, TAMIS_SSIM_VARIANT, p->peak);
}

static int print_json(tool *t, const tool_comparison *p, int code)
{
    const tamis_metrics *m = &p->metrics;
    json_t *o = tool_json_new(t);
    json_object_set_new(o, "a", tool_json_text(t->args[0]));
    json_object_set_new(o, "b", tool_json_text(t->args[1]));
    json_object_set_new(o, "identical", json_boolean(m->different == 0));
    json_object_set_new(o, "max_abs", tool_json_number(m->max_abs));
    json_object_set_new(o, "max_abs_at",
                        json_pack("{s:i,s:i,s:i,s:i}", "x", m->x, "y", m->y, "channel", m->channel,
                                  "page", m->page));
    json_object_set_new(o, "samples", json_integer((json_int_t)m->samples));
    json_object_set_new(o, "different", json_integer((json_int_t)m->different));
    json_object_set_new(o, "unordered", json_integer((json_int_t)m->unordered));
    json_object_set_new(o, "mae", tool_json_number(tamis_metrics_mae(m)));
    json_object_set_new(o, "mse", tool_json_number(tamis_metrics_mse(m)));
    /* null when the pictures are the same: JSON has no infinity. */
    json_object_set_new(o, "psnr", tool_json_number(tamis_metrics_psnr(m, p->peak)));
    json_object_set_new(o, "ssim", tool_json_number(tamis_metrics_ssim(m)));
    json_object_set_new(o, "ssim_variant", json_string(TAMIS_SSIM_VARIANT));
    json_object_set_new(o, "data_range", tool_json_number(p->peak));
    json_object_set_new(o, "exit_code", json_integer(code));
    int bad = tool_json_print(t, o);
    return code ? code : bad;
}

static int report(tool *t, const tool_comparison *p)
{
    int code = check_thresholds(t, p);
    if (t->options.json)
        return print_json(t, p, code);
    print_text(p);
    return code;
}

int cmd_compare(tool *t)
{
    if (t->arg_count != 2)
        return tool_usage_error(t, "compare takes two pictures; got %d", t->arg_count);
    tool_comparison result;
    tool_end_at_once(!t->options.diff);
    int code = tool_compare(t, t->args[0], t->args[1], t->options.diff, &result);
    return code ? code : report(t, &result);
}
