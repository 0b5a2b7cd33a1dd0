/* SPDX-License-Identifier: Apache-2.0 */
/* Bare samples without a header, little endian, rows from the top down, channels interleaved. The
 * user says what they are: "WxH:TYPE[:CHANNELS[:OFFSET]]". Bytes behind the picture are ignored. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "plain.h"

typedef struct raw_state {
    uint64_t w, h, channels, offset;
    tamis_type type;
} raw_state;

static int raw_probe(const uint8_t *head, size_t size)
{
    (void)head;
    (void)size;
    return 0; /* chosen by the user alone */
}

/* Digits up to the end character; *text goes behind it. */
static int parse_number(const char **text, uint64_t *out, const char *ends)
{
    uint64_t v = 0;
    const char *p = *text;
    if (!isdigit((unsigned char)*p))
        return 0;
    for (; isdigit((unsigned char)*p); p++) {
        if (v > (uint64_t)1 << 56)
            return 0;
        v = 10 * v + (uint64_t)(*p - '0');
    }
    if (*p && !strchr(ends, *p))
        return 0;
    *text = *p ? p + 1 : p;
    *out = v;
    return 1;
}

static int parse_type(const char **text, tamis_type *out)
{
    size_t n = strcspn(*text, ":");
    for (int t = 0; t < TAMIS_TYPE_COUNT; t++) {
        const char *name = tamis_type_name((tamis_type)t);
        if (strlen(name) == n && strncmp(name, *text, n) == 0) {
            *out = (tamis_type)t;
            *text += (*text)[n] ? n + 1 : n;
            return 1;
        }
    }
    return 0;
}

static int parse_spec(const char *text, raw_state *s)
{
    s->channels = 1;
    if (!parse_number(&text, &s->w, "x") || !parse_number(&text, &s->h, ":") ||
        !parse_type(&text, &s->type))
        return 0;
    if (*text && !parse_number(&text, &s->channels, ":"))
        return 0;
    if (*text && !parse_number(&text, &s->offset, ""))
        return 0;
    return s->channels >= 1 && s->channels <= TAMIS_MAX_CHANNELS;
}

/* Of a size that was checked; at most 2^63, which no file has. */
static uint64_t picture_bytes(const raw_state *s)
{
    uint64_t most = (uint64_t)1 << 63, row = s->w * s->channels * tamis_type_size(s->type);
    return row > most / s->h ? most : row * s->h;
}

static tamis_status raw_open(tamis_reader *reader)
{
    raw_state *s = calloc(1, sizeof *s);
    reader->state = s;
    if (!s)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_MEMORY, "no memory");
    if (!parse_spec(reader->raw, s))
        return tamis_priv_reader_fail(
            reader, TAMIS_ERR_ARGUMENT,
            "raw = '%s' is not WxH:TYPE[:CHANNELS[:OFFSET]] with TYPE u8, u16, s16, f16 or f32 and "
            "CHANNELS 1 .. %d",
            reader->raw, TAMIS_MAX_CHANNELS);
    tamis_status status = tamis_priv_reader_check_size(reader, s->w, s->h);
    if (status == TAMIS_OK)
        reader->load_max = s->offset + picture_bytes(s);
    return status;
}

static void raw_close(tamis_reader *reader)
{
    free(reader->state);
}

static tamis_status raw_info(tamis_reader *reader, int page, tamis_file_info *out)
{
    const raw_state *s = reader->state;
    (void)page;
    if (s->offset + picture_bytes(s) > reader->source.size)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_READ,
                                      "raw = '%s' needs %llu bytes, the file has %llu", reader->raw,
                                      (unsigned long long)(s->offset + picture_bytes(s)),
                                      (unsigned long long)reader->source.size);
    out->image = (tamis_format){s->type, (int)s->channels, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    out->w = (int32_t)s->w;
    out->h = (int32_t)s->h;
    out->block_w = out->w;
    out->block_h = tamis_priv_reader_rows(out, tamis_priv_row_bytes(out->image, out->w));
    out->file_bits = (int)(8 * tamis_type_size(s->type));
    snprintf(out->detail, sizeof out->detail, "offset %llu", (unsigned long long)s->offset);
    return TAMIS_OK;
}

static tamis_status raw_part(tamis_reader *reader, int page, tamis_rect rect,
                             const tamis_image *into)
{
    const raw_state *s = reader->state;
    (void)page;
    return tamis_priv_plain_read(reader, s->offset, (tamis_plain){0}, (int32_t)s->w, (int32_t)s->h,
                                 rect, into);
}

static tamis_status raw_begin(tamis_writer *writer, const tamis_meta *meta)
{
    (void)meta;
    return tamis_priv_plain_header(writer, "", 0);
}

static tamis_status raw_write_part(tamis_writer *writer, tamis_rect rect, const tamis_image *image)
{
    return tamis_priv_plain_write(writer, (tamis_plain){0}, rect, image);
}

const tamis_decoder tamis_priv_decoder_raw = {
    .name = "raw",
    .probe = raw_probe,
    .open = raw_open,
    .info = raw_info,
    .part = raw_part,
    .close = raw_close,
};

const tamis_encoder tamis_priv_encoder_raw = {
    .name = "raw",
    .extensions = "raw",
    .types = TAMIS_TYPE_BIT(TAMIS_U8) | TAMIS_TYPE_BIT(TAMIS_U16) | TAMIS_TYPE_BIT(TAMIS_S16) |
             TAMIS_TYPE_BIT(TAMIS_F16) | TAMIS_TYPE_BIT(TAMIS_F32),
    .channels = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4,
    .holds_alpha = 1,
    .begin = raw_begin,
    .part = raw_write_part,
    .block = tamis_priv_plain_block,
};
