/* SPDX-License-Identifier: Apache-2.0 */
/* tamis estimate: how much noise is in pictures. */
#include <stdio.h>

#include "job.h"
#include "json.h"

static int color_channels(tamis_format format)
{
    return format.channels - (format.alpha != TAMIS_ALPHA_NONE);
}

static void print_text(const char *name, int page, tamis_format format, const double *sigma)
{
    double range = tamis_type_range(format.type), sum = 0;
    int channels = color_channels(format);
    printf("%s", name);
    if (page > 0)
        printf(" page %d", page);
    printf(": noise of standard deviation");
    for (int c = 0; c < channels; c++) {
        printf(" %.4g", sigma[c]);
        sum += sigma[c];
    }
    printf(" (%.3g%% of %s)\n", 100 * sum / channels / range, tamis_type_name(format.type));
}

static json_t *json_page(tamis_format format, const double *sigma)
{
    json_t *o = tool_json_format(format), *list = json_array();
    for (int c = 0; c < color_channels(format); c++)
        json_array_append_new(list, json_real(sigma[c]));
    json_object_set_new(o, "sigma", list);
    return o;
}

/* A page that is read by parts. */
typedef struct page_source {
    tamis_reader *reader;
    int page;
} page_source;

static tamis_status read_part(void *user, tamis_rect part, const tamis_image *into)
{
    const page_source *s = user;
    if (tool_canceled())
        return TAMIS_ERR_CANCELED;
    return tamis_reader_read_part(s->reader, s->page, part, into);
}

/* By parts where the file allows it, so that pictures of any size can be measured. */
static tamis_status measure(tool *t, tamis_reader *reader, int page, const tamis_file_info *info,
                            double *sigma)
{
    page_source from = {reader, page};
    tamis_part_source source = {read_part, &from, info->block_w < info->w ? info->block_w : 0,
                                info->block_h};
    if (info->block_w > 0)
        return tamis_noise_estimate_parts(t->ctx, info->image, info->w, info->h, &source,
                                          t->options.max_memory / 2, sigma);
    tamis_image image = {0};
    tamis_status status = tamis_reader_read(reader, page, &image, NULL);
    if (!status)
        status = tamis_noise_estimate(t->ctx, &image, sigma);
    tamis_image_unref(&image);
    return status;
}

static tamis_status do_page(tool *t, tamis_reader *reader, const char *name, int page,
                            json_t *pages)
{
    tamis_file_info info;
    double sigma[TAMIS_MAX_CHANNELS];
    tamis_status status = tamis_reader_info(reader, page, &info);
    if (!status)
        status = measure(t, reader, page, &info, sigma);
    if (!status && pages)
        json_array_append_new(pages, json_page(info.image, sigma));
    else if (!status)
        print_text(name, page, info.image, sigma);
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
    return tool_for_files(t, do_file);
}
