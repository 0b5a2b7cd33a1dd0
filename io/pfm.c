/* SPDX-License-Identifier: Apache-2.0 */
/* PFM: "Pf" (gray) or "PF" (RGB), size, scale, then float rows from the bottom up. The scale's sign
 * tells the byte order (negative: little endian); its magnitude, a unit that nobody agrees upon, is
 * not applied. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "plain.h"
#include "text_input.h"

typedef struct pfm_state {
    uint32_t w, h;
    int channels, big_endian;
    uint64_t data_at;
} pfm_state;

static int pfm_probe(const uint8_t *head, size_t size)
{
    return size >= 3 && head[0] == 'P' && (head[1] == 'F' || head[1] == 'f') && isspace(head[2]);
}

static int parse_header(tamis_text_input *in, pfm_state *s)
{
    char word[32];
    if (!tamis_priv_text_word(in, word, sizeof word))
        return tamis_priv_text_complain(in, "the magic number", word);
    s->channels = word[1] == 'F' ? 3 : 1;
    if (!tamis_priv_text_field(in, "the width", INT32_MAX, &s->w) ||
        !tamis_priv_text_field(in, "the height", INT32_MAX, &s->h))
        return 0;
    if (!tamis_priv_text_word(in, word, sizeof word) || word[strspn(word, "+-0123456789.eE")] ||
        !strpbrk(word, "123456789"))
        return tamis_priv_text_complain(in, "the scale", word);
    s->big_endian = word[0] != '-';
    return tamis_priv_text_end(in);
}

static tamis_status pfm_open(tamis_reader *reader)
{
    pfm_state *s = calloc(1, sizeof *s);
    reader->state = s;
    if (!s)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_MEMORY, "no memory");
    tamis_text_input in;
    tamis_priv_text_open(&in, &reader->source, 0);
    if (!parse_header(&in, s))
        return tamis_priv_reader_fail(reader, TAMIS_ERR_READ, "broken PFM header: %s", in.problem);
    s->data_at = tamis_priv_text_position(&in);
    return TAMIS_OK;
}

static void pfm_close(tamis_reader *reader)
{
    free(reader->state);
}

static tamis_status pfm_info(tamis_reader *reader, int page, tamis_file_info *out)
{
    const pfm_state *s = reader->state;
    (void)page;
    tamis_status status = tamis_priv_reader_check_size(reader, s->w, s->h);
    if (status != TAMIS_OK)
        return status;
    uint64_t row = (uint64_t)s->w * (unsigned)s->channels * 4;
    if (!tamis_priv_reader_can_hold(row, s->h, reader->source.size - s->data_at, 1))
        return tamis_priv_reader_short(reader);
    out->image = (tamis_format){TAMIS_F32, s->channels, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    out->w = (int32_t)s->w;
    out->h = (int32_t)s->h;
    out->block_w = out->w;
    out->block_h = tamis_priv_reader_rows(out, row);
    out->file_bits = 32;
    snprintf(out->detail, sizeof out->detail, "%s endian", s->big_endian ? "big" : "little");
    return TAMIS_OK;
}

static tamis_status pfm_part(tamis_reader *reader, int page, tamis_rect rect,
                             const tamis_image *into)
{
    const pfm_state *s = reader->state;
    (void)page;
    tamis_plain order = {.big_endian = s->big_endian, .bottom_up = 1};
    return tamis_priv_plain_read(reader, s->data_at, order, (int32_t)s->w, (int32_t)s->h, rect,
                                 into);
}

static tamis_status pfm_begin(tamis_writer *writer, const tamis_meta *meta)
{
    char header[64];
    (void)meta;
    int n = snprintf(header, sizeof header, "P%c\n%d %d\n-1.0\n",
                     writer->page.format.channels == 3 ? 'F' : 'f', writer->page.w, writer->page.h);
    return tamis_priv_plain_header(writer, header, (size_t)n);
}

static tamis_status pfm_write_part(tamis_writer *writer, tamis_rect rect, const tamis_image *image)
{
    return tamis_priv_plain_write(writer, (tamis_plain){.bottom_up = 1}, rect, image);
}

static void pfm_block(const tamis_writer *writer, const tamis_page *page, int32_t *w, int32_t *h)
{
    (void)page;
    *w = *h = tamis_priv_writer_seeks(writer); /* the last row comes first */
}

const tamis_decoder tamis_priv_decoder_pfm = {
    .name = "pfm",
    .probe = pfm_probe,
    .open = pfm_open,
    .info = pfm_info,
    .part = pfm_part,
    .close = pfm_close,
};

const tamis_encoder tamis_priv_encoder_pfm = {
    .name = "pfm",
    .extensions = "pfm",
    .types = TAMIS_TYPE_BIT(TAMIS_F32),
    .channels = 1u << 1 | 1u << 3,
    .begin = pfm_begin,
    .part = pfm_write_part,
    .block = pfm_block,
};
