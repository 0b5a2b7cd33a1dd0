/* SPDX-License-Identifier: Apache-2.0 */
#include "compare.h"

#include <math.h>
#include <stdlib.h>

#include "job.h"
#include "rows.h"

/* A comparison at work. */
typedef struct comparison {
    tool *tool;
    const char *name[2], *diff_name;
    tamis_reader *reader[2];
    tamis_file_info info[2];
    tamis_writer *diff;
    tool_comparison result;
} comparison;

static tamis_status open_one(comparison *p, int i)
{
    tamis_read_options options = tool_read_options(p->tool);
    tamis_status status = tamis_reader_open(p->tool->ctx, p->name[i], &options, &p->reader[i]);
    return status ? status : tamis_reader_info(p->reader[i], 0, &p->info[i]);
}

/* F16 and planar files are compared as packed F32 and the like: one shape for all that follows. */
static tamis_status read_page(comparison *p, int i, int page, tamis_image *out)
{
    tamis_status status = tamis_reader_read(p->reader[i], page, out, NULL);
    if (status || out->format.type != TAMIS_F16)
        return status;
    tamis_image wide = {0};
    tamis_format format = out->format;
    format.type = TAMIS_F32;
    status = tamis_image_create(p->tool->ctx, format, out->w, out->h, &wide);
    if (!status)
        status = tamis_image_copy(p->tool->ctx, out, &wide);
    tamis_image_unref(out);
    *out = wide;
    return status;
}

static int check_shapes(comparison *p, const tamis_image *a, const tamis_image *b)
{
    tool *t = p->tool;
    if (a->w == b->w && a->h == b->h && a->format.channels == b->format.channels)
        return TOOL_OK;
    tool_error(t, "%s is %dx%d with %d channels, %s is %dx%d with %d: these cannot be compared",
               p->name[0], a->w, a->h, a->format.channels, p->name[1], b->w, b->h,
               b->format.channels);
    return TOOL_UNSUPPORTED;
}

static int open_diff(comparison *p)
{
    tool *t = p->tool;
    const char *out = p->diff_name;
    if (!out)
        return TOOL_OK;
    for (int i = 0; i < 2; i++) {
        int code = tool_check_apart(t, "--diff", out, p->name[i]);
        if (code)
            return code;
    }
    tamis_write_options options = {.overwrite = t->options.overwrite};
    options.format = tool_output_format(t, out, p->info[0].format);
    options.pages = p->info[0].pages;
    tamis_status status = tamis_writer_open(t->ctx, out, &options, &p->diff);
    return status ? tool_fail(t, status) : TOOL_OK;
}

static tamis_status write_diff(comparison *p, const tamis_image *a, const tamis_image *b)
{
    tool *t = p->tool;
    tamis_image out = {0};
    tamis_format format = {.type = a->format.type, .channels = a->format.channels};
    tamis_status status = tamis_image_create(t->ctx, format, a->w, a->h, &out);
    if (status)
        return status;
    size_t w = (size_t)a->w;
    double *rows = tool_alloc(2 * w * sizeof(double));
    for (int c = 0; c < format.channels; c++) {
        for (int32_t y = 0; y < a->h; y++) {
            tool_row_read(a, c, y, rows);
            tool_row_read(b, c, y, rows + w);
            for (size_t x = 0; x < w; x++)
                rows[x] = t->options.diff_gain * fabs(rows[x] - rows[w + x]);
            tool_row_write(&out, c, y, rows);
        }
    }
    free(rows);
    status = tamis_writer_write(p->diff, &out, NULL);
    tamis_image_unref(&out);
    return status;
}

static int compare_page(comparison *p, int page)
{
    tamis_image a = {0}, b = {0};
    int code = TOOL_OK;
    tamis_status status = read_page(p, 0, page, &a);
    if (!status)
        status = read_page(p, 1, page, &b);
    if (!status)
        code = check_shapes(p, &a, &b);
    if (!status && !code)
        status = tamis_metrics_add(p->tool->ctx, &a, &b, page, p->result.peak, &p->result.metrics);
    if (!status && !code && p->diff)
        status = write_diff(p, &a, &b);
    tamis_image_unref(&a);
    tamis_image_unref(&b);
    return status ? tool_fail(p->tool, status) : code;
}

static int compare_pages(comparison *p)
{
    tool *t = p->tool;
    if (p->info[0].pages != p->info[1].pages) {
        tool_error(t, "%s has %d pages, %s has %d: these cannot be compared", p->name[0],
                   p->info[0].pages, p->name[1], p->info[1].pages);
        return TOOL_UNSUPPORTED;
    }
    tamis_type type[2] = {p->info[0].image.type, p->info[1].image.type};
    if (type[0] != type[1])
        tool_warn(t, "sample types differ: %s and %s are compared as numbers",
                  tamis_type_name(type[0]), tamis_type_name(type[1]));
    p->result.peak = isnan(t->options.peak) ? tamis_type_range(type[0]) : t->options.peak;
    int code = open_diff(p);
    for (int page = 0; !code && page < p->info[0].pages; page++)
        code = tool_canceled() ? TOOL_INTERRUPTED : compare_page(p, page);
    if (!code && p->diff) {
        tamis_status status = tamis_writer_finish(p->diff);
        code = status ? tool_fail(t, status) : TOOL_OK;
    }
    return code;
}

int tool_compare(tool *t, const char *a, const char *b, const char *diff, tool_comparison *out)
{
    int code = tool_context(t);
    if (code)
        return code;
    comparison p = {.tool = t, .name = {a, b}, .diff_name = diff};
    tamis_status status = open_one(&p, 0);
    if (!status)
        status = open_one(&p, 1);
    code = status ? tool_fail(t, status) : compare_pages(&p);
    tamis_writer_close(&p.diff);
    tamis_reader_close(&p.reader[0]);
    tamis_reader_close(&p.reader[1]);
    *out = p.result;
    return code;
}
