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

static tamis_status do_page(tool *t, tamis_reader *reader, const char *name, int page,
                            json_t *pages)
{
    tamis_image image = {0};
    double sigma[TAMIS_MAX_CHANNELS];
    tamis_status status = tamis_reader_read(reader, page, &image, NULL);
    if (!status)
        status = tamis_noise_estimate(t->ctx, &image, sigma);
    if (!status && pages)
        json_array_append_new(pages, json_page(image.format, sigma));
    else if (!status)
        print_text(name, page, image.format, sigma);
    tamis_image_unref(&image);
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
