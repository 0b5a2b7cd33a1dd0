/* SPDX-License-Identifier: Apache-2.0 */
/* tamis report: two pictures side by side in one HTML file, with the measures. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare.h"
#include "html.h"
#include "job.h"
#include "json.h"

/* A line of the table. */
typedef struct report_row {
    const char *title, *a, *b;
    tool_comparison result;
} report_row;

static const char style[] =
    "body{font:16px/1.5 sans-serif;margin:2em auto;max-width:70em;padding:0 1em}\n"
    "table{border-collapse:collapse}td,th{padding:.2em .8em;border-bottom:1px solid #ccc;"
    "text-align:right}td:first-child,th:first-child{text-align:left}\n"
    ".pair{position:relative;overflow:hidden;line-height:0}.pair img{width:100%}"
    ".pair div{position:absolute;top:0;left:0;height:100%;overflow:hidden;"
    "border-right:2px solid #fff}\n"
    "input{width:100%}.zoom{display:flex;gap:1em}"
    ".zoom figure{flex:1;margin:0;position:relative;overflow:hidden;aspect-ratio:4/3}"
    ".zoom img{position:absolute;width:400%;left:50%;top:50%;transform:translate(-50%,-50%);"
    "image-rendering:pixelated}\n";

/* The left picture lies in a box over the right one; the slider sets the width of the box. The
 * images below are copies, made here so that the file holds each picture once. */
static const char script[] =
    "const box=document.getElementById('box'),slider=document.getElementById('slider');\n"
    "const before=document.getElementById('before'),after=document.getElementById('after');\n"
    "function place(){before.style.width=after.clientWidth+'px';"
    "box.style.width=slider.value+'%'}\n"
    "slider.oninput=place;window.onresize=place;after.onload=place;place();\n"
    "for(const id of ['before','after'])"
    "document.getElementById('zoom-'+id).src=document.getElementById(id).src;\n";

static void print_number(tool_html *html, const char *format, double value)
{
    fputs("<td>", html->file);
    if (isnan(value))
        fputs("none", html->file);
    else if (isinf(value))
        fputs("infinite", html->file);
    else
        fprintf(html->file, format, value);
    fputs("</td>", html->file);
}

static void print_table(tool_html *html, const report_row *rows, int count)
{
    fputs("<table><tr><th></th><th>PSNR, dB</th><th>SSIM</th><th>MSE</th><th>largest "
          "difference</th></tr>\n",
          html->file);
    for (int i = 0; i < count; i++) {
        const tool_comparison *r = &rows[i].result;
        fprintf(html->file, "<tr><td>%s</td>", rows[i].title);
        print_number(html, "%.2f", tamis_metrics_psnr(&r->metrics, r->peak));
        print_number(html, "%.4f", tamis_metrics_ssim(&r->metrics));
        print_number(html, "%.6g", tamis_metrics_mse(&r->metrics));
        print_number(html, "%.6g", r->metrics.max_abs);
        fputs("</tr>\n", html->file);
    }
    fprintf(html->file, "</table>\n<p>Data range %.6g. SSIM: %s.</p>\n", rows[0].result.peak,
            TAMIS_SSIM_VARIANT);
}

static int print_pictures(tool_html *html, const char *before, const char *after)
{
    fputs("<div class=\"pair\"><img id=\"after\" alt=\"after\" src=\"", html->file);
    int code = tool_html_picture(html, after);
    fputs("\"><div id=\"box\"><img id=\"before\" alt=\"before\" src=\"", html->file);
    if (!code)
        code = tool_html_picture(html, before);
    fputs("\"></div></div>\n<input id=\"slider\" type=\"range\" min=\"0\" max=\"100\" value=\"50\" "
          "aria-label=\"before and after\">\n<h2>The middle, four times larger</h2>\n"
          "<div class=\"zoom\"><figure><img id=\"zoom-before\" alt=\"\"></figure><figure><img "
          "id=\"zoom-after\" alt=\"\"></figure></div>\n",
          html->file);
    return code;
}

static int print_page(tool_html *html, tool *t, const report_row *rows, int count)
{
    fprintf(html->file,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            "<title>tamis: before and after</title>\n<style>%s</style></head><body>\n"
            "<h1>Before and after</h1>\n<p>Before: <code>",
            style);
    tool_html_text(html, t->args[0]);
    fputs("</code>. After: <code>", html->file);
    tool_html_text(html, t->args[1]);
    fputs("</code>.", html->file);
    if (t->options.reference) {
        fputs(" Reference: <code>", html->file);
        tool_html_text(html, t->options.reference);
        fputs("</code>.", html->file);
    }
    fprintf(html->file, " Made by tamis %s.</p>\n", tamis_version());
    print_table(html, rows, count);
    int code = print_pictures(html, t->args[0], t->args[1]);
    fprintf(html->file, "<script>%s</script>\n</body></html>\n", script);
    return code;
}

static int print_json(tool *t, const report_row *rows, int count)
{
    json_t *o = tool_json_new(t), *list = json_array();
    for (int i = 0; i < count; i++) {
        const tool_comparison *r = &rows[i].result;
        json_t *row = json_object();
        json_object_set_new(row, "a", tool_json_text(rows[i].a));
        json_object_set_new(row, "b", tool_json_text(rows[i].b));
        json_object_set_new(row, "psnr",
                            tool_json_number(tamis_metrics_psnr(&r->metrics, r->peak)));
        json_object_set_new(row, "ssim", tool_json_number(tamis_metrics_ssim(&r->metrics)));
        json_object_set_new(row, "mse", tool_json_number(tamis_metrics_mse(&r->metrics)));
        json_object_set_new(row, "max_abs", tool_json_number(r->metrics.max_abs));
        json_array_append_new(list, row);
    }
    json_object_set_new(o, "output", tool_json_text(t->options.out));
    json_object_set_new(o, "comparisons", list);
    return tool_json_print(t, o);
}

int cmd_report(tool *t)
{
    const char *out = t->options.out, *reference = t->options.reference;
    if (t->arg_count != 2)
        return tool_usage_error(t, "report takes two pictures; got %d", t->arg_count);
    if (!out)
        return tool_usage_error(t, "-o OUT is missing, such as report.html");
    report_row rows[] = {{.title = "before and after", .a = t->args[0], .b = t->args[1]},
                         {.title = "reference and before", .a = reference, .b = t->args[0]},
                         {.title = "reference and after", .a = reference, .b = t->args[1]}};
    int count = reference ? 3 : 1, code = TOOL_OK;
    for (int i = 0; i < count && !code; i++)
        code = tool_compare(t, rows[i].a, rows[i].b, NULL, &rows[i].result);
    tool_html html;
    if (!code)
        code = tool_html_open(&html, t, out);
    if (code)
        return code;
    code = tool_html_close(&html, print_page(&html, t, rows, count));
    if (!code && t->options.json)
        code = print_json(t, rows, count);
    return code;
}
