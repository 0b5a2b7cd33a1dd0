/* SPDX-License-Identifier: Apache-2.0 */
/* PBM, PGM, PPM (P1 .. P6) and PAM (P7). Samples are scaled from 0 .. maxval to the full range of
 * 8 or 16 bit, to nearest. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "reader.h"
#include "text_input.h"

#define MAXVAL 65535 /* the largest there may be */

typedef struct pnm_state {
    int kind; /* 1 .. 7, as in "P5" */
    uint32_t w, h, depth, maxval;
    int has_alpha;
    uint64_t data_at;
} pnm_state;

static int pnm_probe(const uint8_t *head, size_t size)
{
    return size >= 3 && head[0] == 'P' && head[1] >= '1' && head[1] <= '7' &&
           (isspace(head[2]) || head[2] == '#');
}

/* WIDTH 4 / HEIGHT 3 / DEPTH 1 / MAXVAL 255 / TUPLTYPE GRAYSCALE / ENDHDR, in any order */
static int parse_pam_header(tamis_text_input *in, pnm_state *s)
{
    const struct {
        const char *name;
        uint32_t max, *value;
    } fields[] = {{"WIDTH", INT32_MAX, &s->w},
                  {"HEIGHT", INT32_MAX, &s->h},
                  {"DEPTH", INT32_MAX, &s->depth},
                  {"MAXVAL", MAXVAL, &s->maxval}};
    enum { FIELDS = sizeof fields / sizeof *fields };
    char word[32];
    for (;;) {
        int i = 0;
        if (!tamis_priv_text_word(in, word, sizeof word))
            return tamis_priv_text_complain(in, *word ? "a keyword" : "ENDHDR", word);
        if (strcmp(word, "ENDHDR") == 0)
            break;
        if (strcmp(word, "TUPLTYPE") == 0) {
            if (!tamis_priv_text_word(in, word, sizeof word))
                return tamis_priv_text_complain(in, "TUPLTYPE", word);
            size_t n = strlen(word);
            s->has_alpha = n > 6 && strcmp(word + n - 6, "_ALPHA") == 0;
            continue;
        }
        while (i < FIELDS && strcmp(word, fields[i].name) != 0)
            i++;
        if (i == FIELDS)
            return tamis_priv_text_complain(in, "a keyword", word);
        if (!tamis_priv_text_field(in, fields[i].name, fields[i].max, fields[i].value))
            return 0;
    }
    for (int i = 0; i < FIELDS; i++)
        if (*fields[i].value == 0) {
            snprintf(in->problem, sizeof in->problem, "there is no %s", fields[i].name);
            return 0;
        }
    return tamis_priv_text_skip_line(in) ||
           tamis_priv_text_complain(in, "the newline after ENDHDR", "");
}

static int parse_header(tamis_text_input *in, pnm_state *s)
{
    char magic[4];
    if (!tamis_priv_text_word(in, magic, sizeof magic))
        return tamis_priv_text_complain(in, "the magic number", magic);
    s->kind = magic[1] - '0';
    if (s->kind == 7)
        return parse_pam_header(in, s);
    s->depth = s->kind == 3 || s->kind == 6 ? 3 : 1;
    s->maxval = 1;
    if (!tamis_priv_text_field(in, "the width", INT32_MAX, &s->w) ||
        !tamis_priv_text_field(in, "the height", INT32_MAX, &s->h))
        return 0;
    if (s->kind != 1 && s->kind != 4 &&
        !tamis_priv_text_field(in, "the maxval", MAXVAL, &s->maxval))
        return 0;
    return tamis_priv_text_end(in);
}

static tamis_status pnm_open(tamis_reader *reader)
{
    pnm_state *s = calloc(1, sizeof *s);
    reader->state = s;
    if (!s)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_MEMORY, "no memory");
    tamis_text_input in;
    tamis_priv_text_open(&in, &reader->source, 0);
    if (!parse_header(&in, s))
        return tamis_priv_reader_fail(reader, TAMIS_ERR_READ, "broken PNM header: %s", in.problem);
    s->data_at = tamis_priv_text_position(&in);
    return TAMIS_OK;
}

static void pnm_close(tamis_reader *reader)
{
    free(reader->state);
}

/* Bytes that a row takes at least: text has a digit a sample, and blanks but for P1. */
static uint64_t min_row_bytes(const pnm_state *s)
{
    uint64_t samples = (uint64_t)s->w * s->depth;
    if (s->kind == 1)
        return samples;
    if (s->kind == 4)
        return (samples + 7) / 8;
    if (s->kind == 2 || s->kind == 3)
        return 2 * samples - 1;
    return samples * (s->maxval > 255 ? 2 : 1);
}

static tamis_status pnm_info(tamis_reader *reader, int page, tamis_file_info *out)
{
    const pnm_state *s = reader->state;
    (void)page;
    if (s->depth > TAMIS_MAX_CHANNELS)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_UNSUPPORTED,
                                      "PAM with %u channels; at most %d are possible",
                                      (unsigned)s->depth, TAMIS_MAX_CHANNELS);
    tamis_status status = tamis_priv_reader_check_size(reader, s->w, s->h);
    if (status != TAMIS_OK)
        return status;
    if (!tamis_priv_reader_can_hold(min_row_bytes(s), s->h, reader->source.size - s->data_at, 1))
        return tamis_priv_reader_short(reader);
    int alpha = s->has_alpha && s->depth % 2 == 0;
    out->image = (tamis_format){s->maxval > 255 ? TAMIS_U16 : TAMIS_U8, (int)s->depth, TAMIS_PACKED,
                                alpha ? TAMIS_ALPHA_STRAIGHT : TAMIS_ALPHA_NONE};
    out->w = (int32_t)s->w;
    out->h = (int32_t)s->h;
    if (s->kind > 3) {
        out->block_w = out->w;
        out->block_h = tamis_priv_reader_rows(out, min_row_bytes(s));
    }
    for (uint32_t v = s->maxval; v; v >>= 1)
        out->file_bits++;
    snprintf(out->detail, sizeof out->detail, "P%d, maxval %u", s->kind, (unsigned)s->maxval);
    return TAMIS_OK;
}

static tamis_status too_bright(const tamis_reader *reader, unsigned v, unsigned maxval)
{
    return tamis_priv_reader_fail(reader, TAMIS_ERR_READ, "a sample of %u is above maxval %u", v,
                                  maxval);
}

static void store(uint8_t *row, size_t i, unsigned v, unsigned maxval)
{
    unsigned full = maxval > 255 ? 65535 : 255;
    if (maxval != full)
        v = (v * full + maxval / 2) / maxval; /* below 2^32: both factors are at most 65535 */
    uint16_t wide = (uint16_t)v;
    if (maxval > 255)
        memcpy(row + 2 * i, &wide, 2);
    else
        row[i] = (uint8_t)v;
}

static tamis_status read_text(tamis_reader *reader, const tamis_image *image)
{
    const pnm_state *s = reader->state;
    tamis_text_input in;
    tamis_priv_text_open(&in, &reader->source, s->data_at);
    size_t samples = (size_t)s->w * s->depth;
    for (int32_t y = 0; y < image->h; y++) {
        uint8_t *row = tamis_image_row(image, 0, y);
        for (size_t i = 0; i < samples; i++) {
            uint32_t v;
            int ok = s->kind == 1 ? tamis_priv_text_bit(&in, &v) : tamis_priv_text_number(&in, &v);
            if (!ok)
                return tamis_priv_reader_fail(reader, TAMIS_ERR_READ, "row %d: a number is missing",
                                              y);
            if (v > s->maxval)
                return too_bright(reader, v, s->maxval);
            store(row, i, s->kind == 1 ? 1 - v : v, s->maxval);
        }
    }
    return TAMIS_OK;
}

/* n pixels from the first one on of a row of bits. */
static void unpack_bits(const uint8_t *bits, uint32_t first, uint32_t n, uint8_t *row)
{
    for (uint32_t x = first; x < first + n; x++)
        *row++ = bits[x / 8] >> (7 - x % 8) & 1 ? 0 : 255; /* 1 is black */
}

/* Scales raw samples into the image's. */
static tamis_status scale_row(tamis_reader *reader, const uint8_t *raw, size_t samples,
                              uint8_t *row)
{
    const pnm_state *s = reader->state;
    if (s->maxval == 255) {
        memcpy(row, raw, samples);
        return TAMIS_OK;
    }
    for (size_t i = 0; i < samples; i++) {
        unsigned v = s->maxval > 255 ? tamis_priv_be16(raw + 2 * i) : raw[i];
        if (v > s->maxval)
            return too_bright(reader, v, s->maxval);
        store(row, i, v, s->maxval);
    }
    return TAMIS_OK;
}

/* Bytes of a row that hold the rect's pixels: from where on, and how many. */
static void span(const pnm_state *s, tamis_rect rect, size_t *from, size_t *bytes)
{
    size_t pixel = s->depth * (size_t)(s->maxval > 255 ? 2 : 1);
    *from = s->kind == 4 ? (size_t)rect.x / 8 : pixel * (size_t)rect.x;
    *bytes =
        s->kind == 4 ? ((size_t)rect.x + (size_t)rect.w + 7) / 8 - *from : pixel * (size_t)rect.w;
}

static tamis_status read_binary(tamis_reader *reader, tamis_rect rect, const tamis_image *into)
{
    const pnm_state *s = reader->state;
    size_t from, bytes, row_bytes = (size_t)min_row_bytes(s);
    span(s, rect, &from, &bytes);
    uint8_t *raw = malloc(bytes);
    tamis_status status = TAMIS_OK;
    if (!raw)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_MEMORY, "no memory");
    for (int32_t y = 0; y < rect.h && status == TAMIS_OK; y++) {
        uint8_t *row = tamis_image_row(into, 0, y);
        uint64_t at = s->data_at + (uint64_t)(rect.y + y) * row_bytes + from;
        status = (uint32_t)rect.w == s->w ? tamis_priv_reader_bytes(reader, at, raw, bytes)
                                          : tamis_priv_reader_bytes_apart(reader, at, raw, bytes);
        if (status != TAMIS_OK)
            break;
        if (s->kind == 4)
            unpack_bits(raw, (uint32_t)rect.x % 8, (uint32_t)rect.w, row);
        else
            status = scale_row(reader, raw, (size_t)rect.w * s->depth, row);
    }
    free(raw);
    return status;
}

static tamis_status pnm_part(tamis_reader *reader, int page, tamis_rect rect,
                             const tamis_image *into)
{
    const pnm_state *s = reader->state;
    (void)page;
    return s->kind <= 3 ? read_text(reader, into) : read_binary(reader, rect, into);
}

const tamis_decoder tamis_priv_decoder_pnm = {
    .name = "pnm",
    .probe = pnm_probe,
    .open = pnm_open,
    .info = pnm_info,
    .part = pnm_part,
    .close = pnm_close,
};
