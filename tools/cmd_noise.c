/* SPDX-License-Identifier: Apache-2.0 */
/* tamis noise: adds noise of a known kind and strength, to try a denoiser on. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "json.h"
#include "random.h"
#include "rows.h"

/* Noise of one page, in sample units. */
typedef struct noise {
    int kind;
    double sigma;     /* gaussian: levels; speckle: share of the sample */
    double amount;    /* saltpepper: share of the pixels; poisson: photons a level */
    double low, high; /* pepper and salt */
    uint64_t seed;
} noise;

static double low_level(tamis_type type)
{
    return type == TAMIS_S16 ? -32768 : 0;
}

/* "25" or "10%". */
static int parse_value(const char *text, tamis_value *out)
{
    char *end;
    out->value = strtod(text, &end);
    out->percent = *end == '%';
    return end != text && end[out->percent] == '\0' && out->value >= 0 && isfinite(out->value);
}

static int make_noise(tool *t, tamis_type type, int page, noise *out)
{
    const tool_options *o = &t->options;
    tamis_value sigma;
    if (!parse_value(o->sigma, &sigma))
        return tool_usage_error(t, "--sigma: '%s' is not a number from 0 on, or one with %%",
                                o->sigma);
    *out = (noise){.kind = o->kind, .low = low_level(type), .seed = o->seed + (uint64_t)page};
    out->high = out->low + tamis_type_range(type);
    out->sigma = tamis_value_resolve(sigma, type);
    if (o->kind == TOOL_NOISE_SPECKLE)
        out->sigma = sigma.percent ? sigma.value / 100 : sigma.value;
    int salt = o->kind == TOOL_NOISE_SALTPEPPER;
    out->amount = isnan(o->amount) ? (salt ? 0.05 : 255) : o->amount;
    if (salt && out->amount > 1)
        return tool_usage_error(t, "--amount: %.10g is not a share from 0 to 1", out->amount);
    if (o->kind == TOOL_NOISE_POISSON && out->amount <= 0)
        return tool_usage_error(t, "--amount: poisson needs more than 0 photons");
    if (o->kind == TOOL_NOISE_POISSON)
        out->amount /= tamis_type_range(type);
    return TOOL_OK;
}

/* The sample v of the given channel and pixel with noise. Salt and pepper strike whole pixels, as
 * dead sensor sites do; the other kinds are independent from channel to channel. */
static double noisy(const noise *n, double v, uint64_t sample, uint64_t pixel)
{
    switch (n->kind) {
    case TOOL_NOISE_GAUSSIAN:
        return v + n->sigma * tool_random_normal(n->seed, sample);
    case TOOL_NOISE_SPECKLE:
        return v * (1 + n->sigma * tool_random_normal(n->seed, sample));
    case TOOL_NOISE_POISSON: /* there are no negative counts: such samples stay */
        return v > 0 ? tool_random_poisson(n->seed, sample, v * n->amount) / n->amount : v;
    default: {
        double u = tool_random_uniform(n->seed, pixel);
        if (u >= n->amount)
            return v;
        return u < n->amount / 2 ? n->low : n->high;
    }
    }
}

static void add_noise(const noise *n, const tamis_image *image)
{
    int colors = image->format.channels - (image->format.alpha != TAMIS_ALPHA_NONE);
    double *row = tool_alloc((size_t)image->w * sizeof(*row));
    for (int32_t y = 0; y < image->h && !tool_canceled(); y++) {
        for (int c = 0; c < colors; c++) {
            tool_row_read(image, c, y, row);
            uint64_t pixel = (uint64_t)y * (uint64_t)image->w;
            for (int32_t x = 0; x < image->w; x++, pixel++)
                row[x] = noisy(n, row[x], pixel * TAMIS_MAX_CHANNELS + (uint64_t)c, pixel);
            tool_row_write(image, c, y, row);
        }
    }
    free(row);
}

static int do_page(tool *t, tamis_reader *reader, int page, tamis_writer *writer)
{
    tamis_image image = {0};
    tamis_meta meta = {0};
    noise n;
    int code = TOOL_OK;
    tamis_status status = tamis_reader_read(reader, page, &image, &meta);
    if (!status && image.format.type == TAMIS_F16) {
        tool_error(t, "%s: noise cannot be added to half floats", t->args[0]);
        code = TOOL_UNSUPPORTED;
    }
    if (!status && !code)
        code = make_noise(t, image.format.type, page, &n);
    if (!status && !code) {
        add_noise(&n, &image);
        status = tool_canceled()
                     ? TAMIS_ERR_CANCELED
                     : tamis_writer_write(writer, &image, t->options.strip ? NULL : &meta);
    }
    tamis_meta_clear(&meta);
    tamis_image_unref(&image);
    return status ? tool_fail(t, status) : code;
}

static int do_pages(tool *t, tamis_reader *reader, const tamis_file_info *info, const char *out)
{
    tamis_write_options options = tool_write_options(t);
    options.format = tool_output_format(t, out, info->format);
    options.pages = info->pages;
    tamis_writer *writer = NULL;
    tamis_status status = tamis_writer_open(t->ctx, out, &options, &writer);
    int code = status ? tool_fail(t, status) : TOOL_OK;
    for (int page = 0; !code && page < info->pages; page++)
        code = do_page(t, reader, page, writer);
    if (!code) {
        status = tamis_writer_finish(writer);
        code = status ? tool_fail(t, status) : TOOL_OK;
    }
    tamis_writer_close(&writer);
    return code;
}

static int print_json(tool *t, const tool_file *file, int skipped)
{
    json_t *o = tool_json_new(t);
    json_object_set_new(o, "input", tool_json_text(file->in));
    json_object_set_new(o, "output", tool_json_text(file->out));
    json_object_set_new(o, "skipped", json_boolean(skipped));
    json_object_set_new(o, "kind", json_string(tool_noise_names[t->options.kind]));
    json_object_set_new(o, "sigma", tool_json_text(t->options.sigma));
    json_object_set_new(o, "amount", tool_json_number(t->options.amount));
    json_object_set_new(o, "seed", json_integer((json_int_t)t->options.seed));
    return tool_json_print(t, o);
}

static int do_file(tool *t, const tool_file *file)
{
    char message[1024];
    int check = tool_output_check(t, file, message, sizeof(message));
    if (check == TOOL_SKIP)
        return t->options.json ? print_json(t, file, 1) : TOOL_OK;
    if (check) {
        tool_error(t, "%s", message);
        return check;
    }
    noise unused; /* parameters are checked before any work */
    int code = make_noise(t, TAMIS_U8, 0, &unused);
    if (code)
        return code;
    tamis_read_options options = tool_read_options(t);
    tamis_reader *reader = NULL;
    tamis_file_info info;
    tamis_status status = tamis_reader_open(t->ctx, file->in, &options, &reader);
    if (!status)
        status = tamis_reader_info(reader, 0, &info);
    code = status ? tool_fail(t, status) : do_pages(t, reader, &info, file->out);
    tamis_reader_close(&reader);
    if (!code && t->options.json)
        code = print_json(t, file, 0);
    return code;
}

int cmd_noise(tool *t)
{
    if (t->arg_count != 1)
        return tool_usage_error(t, "noise takes one picture; got %d", t->arg_count);
    tool_files files = {0};
    int code = tool_context(t);
    if (!code)
        code = tool_write_options_check(t);
    if (!code)
        code = tool_files_expand(t, t->args, 1, &files);
    if (!code && files.count != 1)
        code = tool_usage_error(t, "noise takes one picture; %s stands for %zu", t->args[0],
                                files.count);
    if (!code)
        code = tool_files_assign(t, &files);
    if (!code)
        code = do_file(t, &files.items[0]);
    tool_files_free(&files);
    return code;
}
