/* SPDX-License-Identifier: Apache-2.0 */
/* Files of formats that are not our own, read by the module with libvips. */
#include <stdlib.h>
#include <string.h>

#include "reader.h"
#include "vips_module.h"

typedef struct vips_state {
    const tamis_vips_module *module;
    tamis_vips *picture;
    uint8_t *bytes; /* of what has no name */
} vips_state;

/* What is no file is read to its end, which some have not: only where it begins as a picture does.
 */
static tamis_status load_bytes(tamis_reader *reader, vips_state *state, int *foreign)
{
    uint8_t head[TAMIS_PROBE_BYTES];
    size_t n = tamis_priv_source_read(&reader->source, 0, head, sizeof head);
    *foreign = !state->module->knows(head, n);
    tamis_status status = *foreign ? TAMIS_OK : tamis_priv_source_load(&reader->source, UINT64_MAX);
    if (status != TAMIS_OK || *foreign)
        return status;
    size_t size = (size_t)reader->source.size;
    if (reader->source.size > SIZE_MAX / 2 || !(state->bytes = malloc(size ? size : 1)))
        return tamis_priv_reader_fail(reader, TAMIS_ERR_MEMORY, "no memory");
    return tamis_priv_reader_bytes_apart(reader, 0, state->bytes, size);
}

tamis_status tamis_priv_vips_try(tamis_reader *reader, int *foreign, char *why, size_t size)
{
    *foreign = 1;
    char cause[256];
    const tamis_vips_module *module = tamis_priv_vips_module(cause, sizeof cause);
    if (!module) {
        snprintf(why, size, "libvips for others is not there: %s", cause);
        return TAMIS_OK;
    }
    vips_state *state = calloc(1, sizeof *state);
    if (!state)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_MEMORY, "no memory");
    state->module = module;
    /* libvips would take what is in brackets at a name's end for options. */
    int is_file = reader->source.fd >= 0 && !reader->source.is_pipe && !strchr(reader->name, '[');
    tamis_status status = TAMIS_OK;
    *foreign = 0;
    if (!is_file)
        status = load_bytes(reader, state, foreign);
    if (status == TAMIS_OK && !*foreign)
        status = module->open(reader->ctx, reader->name, is_file ? reader->name : NULL,
                              state->bytes, (size_t)reader->source.size, &state->picture, foreign);
    if (status == TAMIS_OK && !*foreign) {
        reader->state = state;
        reader->decoder = &tamis_priv_decoder_vips;
        return TAMIS_OK;
    }
    free(state->bytes);
    free(state);
    snprintf(why, size, "nor one that libvips knows");
    return status;
}

static tamis_status vips_open(tamis_reader *reader)
{
    (void)reader; /* tamis_priv_vips_try() has done it */
    return TAMIS_OK;
}

static tamis_status vips_info(tamis_reader *reader, int page, tamis_file_info *out)
{
    const vips_state *state = reader->state;
    (void)page;
    state->module->info(state->picture, out);
    return TAMIS_OK;
}

static tamis_status vips_part(tamis_reader *reader, int page, tamis_rect rect,
                              const tamis_image *into)
{
    const vips_state *state = reader->state;
    (void)page;
    return state->module->part(state->picture, rect, into);
}

static tamis_status vips_meta(tamis_reader *reader, int page, tamis_meta *meta)
{
    const vips_state *state = reader->state;
    (void)page;
    return state->module->meta(state->picture, meta);
}

static void vips_close(tamis_reader *reader)
{
    vips_state *state = reader->state;
    if (!state)
        return;
    state->module->close(state->picture);
    free(state->bytes);
    free(state);
}

const tamis_decoder tamis_priv_decoder_vips = {
    .name = "vips",
    .open = vips_open,
    .info = vips_info,
    .part = vips_part,
    .meta = vips_meta,
    .close = vips_close,
};
