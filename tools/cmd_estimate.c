/* SPDX-License-Identifier: Apache-2.0 */
/* tamis estimate: how much noise is in pictures. */
#include <stdio.h>

#include "choose.h"
#include "job.h"
#include "json.h"

/* Share of impulses that is worth a word. */
#define SAID_FROM 0.001

static int color_channels(tamis_format format)
{
    return format.channels - (format.alpha != TAMIS_ALPHA_NONE);
}

/* What does not show in the standard deviation. */
static void print_more(tamis_format format, const tamis_noise *noise)
{
    int channels = color_channels(format);
    double impulses = 0, slope = 0;
    for (int c = 0; c < channels; c++) {
        impulses += noise[c].impulses / channels;
        slope = noise[c].slope > slope ? noise[c].slope : slope;
    }
    if (slope > 0) {
        printf("; growing with brightness: variance");
        for (int c = 0; c < channels; c++)
            printf("%s %.4g x %+.4g", c ? "," : "", noise[c].slope, noise[c].offset);
    }
    if (impulses >= SAID_FROM)
        printf("; impulses in %.3g%% of the samples", 100 * impulses);
}

static void print_text(const char *name, int page, tamis_format format, const tamis_noise *noise)
{
    double range = tamis_type_range(format.type), sum = 0;
    int channels = color_channels(format);
    printf("%s", name);
    if (page > 0)
        printf(" page %d", page);
    printf(": noise of standard deviation");
    for (int c = 0; c < channels; c++) {
        printf(" %.4g", noise[c].sigma);
        sum += noise[c].sigma;
    }
    printf(" (%.3g%% of %s)", 100 * sum / channels / range, tamis_type_name(format.type));
    print_more(format, noise);
    printf("\n");
}

static json_t *json_page(tamis_format format, const tamis_noise *noise)
{
    json_t *o = tool_json_format(format), *sigma = json_array(), *slope = json_array();
    json_t *offset = json_array(), *impulses = json_array();
    for (int c = 0; c < color_channels(format); c++) {
        json_array_append_new(sigma, json_real(noise[c].sigma));
        json_array_append_new(slope, json_real(noise[c].slope));
        json_array_append_new(offset, json_real(noise[c].offset));
        json_array_append_new(impulses, json_real(noise[c].impulses));
    }
    json_object_set_new(o, "sigma", sigma);
    json_object_set_new(o, "slope", slope);
    json_object_set_new(o, "offset", offset);
    json_object_set_new(o, "impulses", impulses);
    return o;
}

/* By parts where the file allows it, so that pictures of any size can be measured. */
static tamis_status measure(tool *t, tamis_reader *reader, int page, const tamis_file_info *info,
                            tamis_noise *noise)
{
    tool_page_source from = {reader, page};
    tamis_part_source source = tool_page_parts(&from, info);
    if (info->block_w > 0)
        return tamis_noise_estimate_parts(t->ctx, info->image, info->w, info->h, &source,
                                          t->options.max_memory / 2, noise);
    tamis_image image = {0};
    tamis_status status = tamis_reader_read(reader, page, &image, NULL);
    if (!status)
        status = tamis_noise_estimate(t->ctx, &image, noise);
    tamis_image_unref(&image);
    return status;
}

static tamis_status do_page(tool *t, tamis_reader *reader, const char *name, int page,
                            json_t *pages)
{
    tamis_file_info info;
    tamis_noise noise[TAMIS_MAX_CHANNELS];
    tamis_status status = tamis_reader_info(reader, page, &info);
    if (!status)
        status = measure(t, reader, page, &info, noise);
    if (!status && pages)
        json_array_append_new(pages, json_page(info.image, noise));
    else if (!status)
        print_text(name, page, info.image, noise);
    return status;
}

static tamis_status do_file(tool *t, const char *name, json_t *file)
{
    tamis_read_options options = tool_read_options(t);
    tamis_reader *reader = NULL;
    tamis_file_info info = {.pages = 1};
    json_t *pages = file ? json_array() : NULL;
    tamis_status status = tamis_reader_open(t->ctx, name, &options, &reader);
    if (!status)
        status = tamis_reader_info(reader, 0, &info);
    for (int page = 0; !status && page < info.pages; page++)
        status = do_page(t, reader, name, page, pages);
    if (file)
        json_object_set_new(file, "pages", pages);
    tamis_reader_close(&reader);
    return status;
}

int cmd_estimate(tool *t)
{
    tool_end_at_once(1);
    return tool_for_files(t, do_file);
}
