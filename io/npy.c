/* SPDX-License-Identifier: Apache-2.0 */
/* NPY, versions 1 to 3: arrays of shape (H, W) or (H, W, C) with C up to 4. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "plain.h"

#define MAX_HEADER 65536

typedef struct npy_state {
    uint64_t shape[3]; /* height, width, channels */
    int dimensions;
    tamis_type type;
    int big_endian, fortran;
    uint64_t data_at;
} npy_state;

static const struct {
    char name[3];
    tamis_type type;
} npy_types[] = {
    {"u1", TAMIS_U8}, {"u2", TAMIS_U16}, {"i2", TAMIS_S16}, {"f2", TAMIS_F16}, {"f4", TAMIS_F32},
};
#define NPY_TYPE_COUNT (sizeof npy_types / sizeof *npy_types)

static int npy_probe(const uint8_t *head, size_t size)
{
    return size >= 10 && memcmp(head, "\x93NUMPY", 6) == 0;
}

/* Text of a key's value in the header's dictionary, or NULL. */
static const char *find_value(const char *header, const char *key)
{
    size_t n = strlen(key);
    for (const char *p = strstr(header, key); p; p = strstr(p + n, key)) {
        if (p == header || (p[-1] != '\'' && p[-1] != '"') || p[n] != p[-1])
            continue;
        p += n + 1;
        while (isspace((unsigned char)*p))
            p++;
        if (*p++ != ':')
            return NULL;
        while (isspace((unsigned char)*p))
            p++;
        return p;
    }
    return NULL;
}

/* "'<u2'" */
static tamis_status parse_type(tamis_reader *reader, const char *text, npy_state *s)
{
    char name[16] = "";
    if (text && (*text == '\'' || *text == '"')) {
        size_t n = strcspn(text + 1, "'\"");
        if (n < sizeof name) {
            memcpy(name, text + 1, n);
            name[n] = 0;
        }
    }
    s->big_endian = name[0] == '>';
    for (size_t i = 0; i < NPY_TYPE_COUNT && name[0] && strchr("<>|=", name[0]); i++)
        if (strcmp(name + 1, npy_types[i].name) == 0) {
            s->type = npy_types[i].type;
            return TAMIS_OK;
        }
    return tamis_priv_reader_fail(reader, TAMIS_ERR_UNSUPPORTED,
                                  "NPY of type '%s' is not supported (u1, u2, i2, f2 and f4 are)",
                                  *name ? name : "record");
}

/* "(480, 640, 3)"; dimensions stays 0 when it is no such text, and counts beyond what is kept. */
static void parse_shape(const char *text, npy_state *s)
{
    int n = 0;
    if (!text || *text++ != '(')
        return;
    for (;;) {
        while (isspace((unsigned char)*text) || *text == ',')
            text++;
        if (*text == ')')
            break;
        if (!isdigit((unsigned char)*text))
            return;
        uint64_t v = 0;
        for (; isdigit((unsigned char)*text); text++)
            v = v > INT32_MAX ? v : 10 * v + (uint64_t)(*text - '0');
        if (n < 3)
            s->shape[n] = v;
        n++;
    }
    s->dimensions = n;
}

static tamis_status parse_header(tamis_reader *reader, const char *header, npy_state *s)
{
    tamis_status status = parse_type(reader, find_value(header, "descr"), s);
    if (status != TAMIS_OK)
        return status;
    const char *order = find_value(header, "fortran_order");
    parse_shape(find_value(header, "shape"), s);
    if (!order || s->dimensions == 0)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_READ, "broken NPY header: no %s",
                                      order ? "shape such as (480, 640)" : "fortran_order");
    s->fortran = strncmp(order, "True", 4) == 0;
    if (!s->fortran && strncmp(order, "False", 5) != 0)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_READ,
                                      "broken NPY header: fortran_order is neither True nor False");
    if (s->dimensions == 2)
        s->shape[2] = 1;
    if (s->dimensions < 2 || s->dimensions > 3 || s->shape[2] < 1 ||
        s->shape[2] > TAMIS_MAX_CHANNELS)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_UNSUPPORTED,
                                      "NPY of %d dimensions with %llu as the last is not supported "
                                      "((H, W) and (H, W, 1 .. 4) are)",
                                      s->dimensions,
                                      (unsigned long long)s->shape[s->dimensions > 2 ? 2 : 0]);
    return TAMIS_OK;
}

static tamis_status npy_open(tamis_reader *reader)
{
    npy_state *s = calloc(1, sizeof *s);
    char *header = calloc(1, MAX_HEADER + 1);
    reader->state = s;
    uint8_t head[12];
    tamis_status status = TAMIS_OK;
    if (!s || !header)
        status = tamis_priv_reader_fail(reader, TAMIS_ERR_MEMORY, "no memory");
    if (status == TAMIS_OK)
        status = tamis_priv_reader_bytes(reader, 0, head, sizeof head);
    if (status == TAMIS_OK) {
        uint64_t at = head[6] == 1 ? 10 : 12;
        uint64_t size = head[6] == 1 ? tamis_priv_le16(head + 8) : tamis_priv_le32(head + 8);
        s->data_at = at + size;
        if (head[6] < 1 || head[6] > 3)
            status =
                tamis_priv_reader_fail(reader, TAMIS_ERR_READ,
                                       "broken NPY header: version %d is none of 1, 2, 3", head[6]);
        else if (size > MAX_HEADER)
            status = tamis_priv_reader_fail(reader, TAMIS_ERR_READ,
                                            "broken NPY header: its length is %llu, above %d",
                                            (unsigned long long)size, MAX_HEADER);
        else
            status = tamis_priv_reader_bytes(reader, at, header, (size_t)size);
    }
    if (status == TAMIS_OK)
        status = parse_header(reader, header, s);
    free(header);
    return status;
}

static void npy_close(tamis_reader *reader)
{
    free(reader->state);
}

static tamis_status npy_info(tamis_reader *reader, int page, tamis_file_info *out)
{
    const npy_state *s = reader->state;
    (void)page;
    tamis_status status = tamis_priv_reader_check_size(reader, s->shape[1], s->shape[0]);
    if (status != TAMIS_OK)
        return status;
    uint64_t row = s->shape[1] * s->shape[2] * tamis_type_size(s->type);
    if (!tamis_priv_reader_can_hold(row, s->shape[0], reader->source.size - s->data_at, 1))
        return tamis_priv_reader_short(reader);
    out->image = (tamis_format){s->type, (int)s->shape[2], TAMIS_PACKED, TAMIS_ALPHA_NONE};
    out->w = (int32_t)s->shape[1];
    out->h = (int32_t)s->shape[0];
    if (!s->fortran) { /* whose columns lie together */
        out->block_w = out->w;
        out->block_h = tamis_priv_reader_rows(out, row);
    }
    out->file_bits = (int)(8 * tamis_type_size(s->type));
    snprintf(out->detail, sizeof out->detail, "%s endian, %s order",
             s->big_endian ? "big" : "little", s->fortran ? "Fortran" : "C");
    return TAMIS_OK;
}

/* Spreads samples of n columns from x0 on, each h samples long, into channel c. */
static void place_columns(const tamis_image *image, const uint8_t *columns, int32_t x0, int32_t n,
                          int c)
{
    size_t size = tamis_type_size(image->format.type);
    size_t pixel = size * (size_t)image->format.channels;
    for (int32_t y = 0; y < image->h; y++) {
        uint8_t *dst = (uint8_t *)tamis_image_row(image, 0, y) + pixel * (size_t)x0;
        const uint8_t *src = columns + size * (size_t)y;
        for (int32_t x = 0; x < n; x++)
            memcpy(dst + pixel * (size_t)x + size * (size_t)c,
                   src + size * (size_t)image->h * (size_t)x, size);
    }
}

/* Fortran order: the first index, the row, runs fastest, then the column, then the channel. */
static tamis_status read_fortran(tamis_reader *reader, const tamis_image *image)
{
    enum { COLUMNS = 32 };
    const npy_state *s = reader->state;
    size_t size = tamis_type_size(s->type);
    size_t column = size * (size_t)image->h;
    uint8_t *columns = malloc(column * COLUMNS);
    if (!columns)
        return tamis_priv_reader_fail(reader, TAMIS_ERR_MEMORY, "no memory");
    uint64_t at = s->data_at;
    tamis_status status = TAMIS_OK;
    for (int c = 0; c < image->format.channels; c++)
        for (int32_t x = 0; x < image->w && status == TAMIS_OK; x += COLUMNS) {
            int32_t n = image->w - x < COLUMNS ? image->w - x : COLUMNS;
            status = tamis_priv_reader_bytes(reader, at, columns, column * (size_t)n);
            at += column * (size_t)n;
            if (s->big_endian != tamis_priv_host_is_big())
                tamis_priv_swap_samples(columns, column * (size_t)n / size, size);
            place_columns(image, columns, x, n, c);
        }
    free(columns);
    return status;
}

static tamis_status npy_part(tamis_reader *reader, int page, tamis_rect rect,
                             const tamis_image *into)
{
    const npy_state *s = reader->state;
    (void)page;
    if (s->fortran) /* all of it */
        return read_fortran(reader, into);
    return tamis_priv_plain_read(reader, s->data_at, (tamis_plain){.big_endian = s->big_endian},
                                 (int32_t)s->shape[1], (int32_t)s->shape[0], rect, into);
}

static tamis_status npy_begin(tamis_writer *writer, const tamis_meta *meta)
{
    enum { HEADER = 128 }; /* the data must begin at a multiple of 64 */
    char header[HEADER + 1];
    tamis_format format = writer->page.format;
    char channels[16] = "";
    const char *name = "";
    (void)meta;
    for (size_t i = 0; i < NPY_TYPE_COUNT; i++)
        if (npy_types[i].type == format.type)
            name = npy_types[i].name;
    if (format.channels > 1)
        snprintf(channels, sizeof channels, ", %d", format.channels);
    memset(header, ' ', HEADER);
    memcpy(header, "\x93NUMPY\1", 8); /* with the minor version, 0 */
    tamis_priv_put_le16((uint8_t *)header + 8, HEADER - 10);
    int n = snprintf(header + 10, HEADER - 10,
                     "{'descr': '%c%s', 'fortran_order': False, 'shape': (%d, %d%s), }",
                     format.type == TAMIS_U8 ? '|' : '<', name, writer->page.h, writer->page.w,
                     channels);
    header[10 + n] = ' ';
    header[HEADER - 1] = '\n';
    return tamis_priv_plain_header(writer, header, HEADER);
}

static tamis_status npy_write_part(tamis_writer *writer, tamis_rect rect, const tamis_image *image)
{
    return tamis_priv_plain_write(writer, (tamis_plain){0}, rect, image);
}

const tamis_decoder tamis_priv_decoder_npy = {
    .name = "npy",
    .probe = npy_probe,
    .open = npy_open,
    .info = npy_info,
    .part = npy_part,
    .close = npy_close,
};

const tamis_encoder tamis_priv_encoder_npy = {
    .name = "npy",
    .extensions = "npy",
    .types = TAMIS_TYPE_BIT(TAMIS_U8) | TAMIS_TYPE_BIT(TAMIS_U16) | TAMIS_TYPE_BIT(TAMIS_S16) |
             TAMIS_TYPE_BIT(TAMIS_F16) | TAMIS_TYPE_BIT(TAMIS_F32),
    .channels = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4,
    .holds_alpha = 1,
    .begin = npy_begin,
    .part = npy_write_part,
    .block = tamis_priv_plain_block,
};
