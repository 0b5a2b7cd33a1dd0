/* SPDX-License-Identifier: Apache-2.0 */
#include "png_chunks.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "bytes.h"
#include "exif.h"
#include "meta.h"
#include "png_profile.h"

#define SIGNATURE_BYTES 8
#define MAX_META_BYTES  ((size_t)64 << 20)

typedef struct png_chunk {
    char name[5];
    uint64_t offset; /* of its data */
    uint32_t size;
} png_chunk;

typedef tamis_status (*chunk_fn)(tamis_reader *reader, const png_chunk *chunk, void *user);

/* Calls visit for each chunk, IEND excluded. A chunk that leaves the file is an error. */
static tamis_status walk(tamis_reader *reader, chunk_fn visit, void *user)
{
    uint64_t at = SIGNATURE_BYTES;
    for (;;) {
        uint8_t head[8];
        tamis_status status = tamis_priv_reader_bytes(reader, at, head, sizeof head);
        if (status != TAMIS_OK)
            return status;
        png_chunk chunk = {.offset = at + 8, .size = tamis_priv_be32(head)};
        memcpy(chunk.name, head + 4, 4);
        if (chunk.offset + chunk.size + 4 > reader->source.size)
            return tamis_priv_reader_short(reader);
        if (strcmp(chunk.name, "IEND") == 0)
            return TAMIS_OK;
        status = visit(reader, &chunk, user);
        if (status != TAMIS_OK)
            return status;
        at = chunk.offset + chunk.size + 4;
    }
}

/* The chunk's data, to be freed; NULL (with *status OK) when it is too large or fails its check
 * sum, since broken metadata is no reason to refuse a picture. */
static uint8_t *load(tamis_reader *reader, const png_chunk *chunk, tamis_status *status)
{
    *status = TAMIS_OK;
    if (chunk->size > MAX_META_BYTES)
        return NULL;
    uint8_t *data = malloc((size_t)chunk->size + 4);
    if (!data) {
        *status = tamis_priv_reader_fail(reader, TAMIS_ERR_MEMORY, "no memory");
        return NULL;
    }
    *status = tamis_priv_reader_bytes(reader, chunk->offset, data, (size_t)chunk->size + 4);
    uLong crc = crc32(crc32(0, NULL, 0), (const Bytef *)chunk->name, 4);
    if (*status == TAMIS_OK)
        crc = crc32_z(crc, data, chunk->size);
    if (*status == TAMIS_OK && crc == tamis_priv_be32(data + chunk->size))
        return data;
    free(data);
    return NULL;
}

static tamis_status scan_chunk(tamis_reader *reader, const png_chunk *chunk, void *user)
{
    tamis_png_facts *facts = user;
    tamis_status status = TAMIS_OK;
    if (facts->w == 0) {
        uint8_t head[13];
        if (strcmp(chunk->name, "IHDR") != 0 || chunk->size != sizeof head)
            return tamis_priv_reader_fail(reader, TAMIS_ERR_READ, "PNG without a header chunk");
        status = tamis_priv_reader_bytes(reader, chunk->offset, head, sizeof head);
        facts->w = tamis_priv_be32(head);
        facts->h = tamis_priv_be32(head + 4);
        facts->depth = head[8];
        facts->color = head[9];
        facts->interlace = head[12];
        if (status == TAMIS_OK && (facts->w == 0 || facts->h == 0))
            status = tamis_priv_reader_fail(reader, TAMIS_ERR_READ, "PNG of %ux%u pixels",
                                            (unsigned)facts->w, (unsigned)facts->h);
    } else if (strcmp(chunk->name, "IDAT") == 0) {
        facts->idat_bytes += chunk->size;
    } else if (strcmp(chunk->name, "tRNS") == 0) {
        facts->has_transparency = 1;
    } else if (strcmp(chunk->name, "acTL") == 0) {
        facts->animated = 1;
    } else if (strcmp(chunk->name, "eXIf") == 0) {
        uint8_t *exif = load(reader, chunk, &status);
        int orientation = exif ? tamis_priv_exif_orientation(exif, chunk->size) : 0;
        if (orientation)
            facts->orientation = orientation;
        free(exif);
    }
    return status;
}

tamis_status tamis_priv_png_scan(tamis_reader *reader, tamis_png_facts *out)
{
    *out = (tamis_png_facts){.orientation = 1};
    return walk(reader, scan_chunk, out);
}

uint8_t *tamis_priv_inflate(const uint8_t *data, size_t size, size_t *out_size)
{
    z_stream z = {.next_in = (Bytef *)data, .avail_in = (uInt)size};
    if (size > MAX_META_BYTES || inflateInit(&z) != Z_OK)
        return NULL;
    uint8_t *out = NULL;
    size_t capacity = 0;
    int result = Z_OK;
    while (result == Z_OK && z.total_out == capacity && capacity < MAX_META_BYTES) {
        capacity = capacity ? 2 * capacity : 4096;
        uint8_t *larger = realloc(out, capacity);
        if (!larger)
            break;
        out = larger;
        z.next_out = out + z.total_out;
        z.avail_out = (uInt)(capacity - z.total_out);
        result = inflate(&z, Z_NO_FLUSH);
    }
    *out_size = z.total_out;
    inflateEnd(&z);
    if (result == Z_STREAM_END)
        return out;
    free(out);
    return NULL;
}

/* The color chunks that pass as they are, and their sizes (0 = any). */
static const struct {
    const char *name;
    uint32_t size;
} color_chunks[] = {
    {"gAMA", 4}, {"cHRM", 32}, {"sRGB", 1}, {"cICP", 4}, {"mDCV", 24}, {"mDCv", 24},
    {"cLLI", 8}, {"cLLi", 8},  {"sCAL", 0}, {"pCAL", 0}, {"oFFs", 9},  {"sTER", 1},
};
#define COLOR_CHUNK_COUNT (sizeof color_chunks / sizeof *color_chunks)

static int is_color_chunk(const char *name, size_t size)
{
    for (size_t i = 0; i < COLOR_CHUNK_COUNT; i++)
        if (strcmp(name, color_chunks[i].name) == 0)
            return color_chunks[i].size == 0 || color_chunks[i].size == size;
    return 0;
}

/* Position after the zero byte that ends a string within the first limit bytes, or 0. */
static size_t after_zero(const uint8_t *data, size_t from, size_t limit)
{
    const uint8_t *zero = from < limit ? memchr(data + from, 0, limit - from) : NULL;
    return zero ? (size_t)(zero - data) + 1 : 0;
}

static tamis_status keep_text(tamis_meta *meta, const uint8_t *key, const uint8_t *text,
                              size_t size)
{
    char name[8 + 2 * 80] = "text:";
    size_t length = strlen((const char *)key), n;
    uint8_t *utf8 = tamis_priv_latin1_to_utf8(key, length, &n);
    if (!utf8)
        return TAMIS_ERR_MEMORY;
    memcpy(name + 5, utf8, n);
    name[5 + n] = 0;
    free(utf8);
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        return TAMIS_ERR_MEMORY;
    if (size)
        memcpy(copy, text, size);
    return tamis_priv_meta_append(meta, name, copy, size);
}

static tamis_status parse_latin1(tamis_meta *meta, const uint8_t *key, const uint8_t *text,
                                 size_t size)
{
    if (tamis_priv_png_profile_read(meta, (const char *)key, text, size))
        return TAMIS_OK;
    size_t n;
    uint8_t *utf8 = tamis_priv_latin1_to_utf8(text, size, &n);
    tamis_status status = utf8 ? keep_text(meta, key, utf8, n) : TAMIS_ERR_MEMORY;
    free(utf8);
    return status;
}

static tamis_status parse_utf8(tamis_meta *meta, const uint8_t *key, const uint8_t *text,
                               size_t size)
{
    if (strcmp((const char *)key, "XML:com.adobe.xmp") == 0)
        return tamis_meta_set(meta, "xmp", text, size);
    return keep_text(meta, key, text, size);
}

/* iTXt: key 0 compressed method language 0 translated-key 0 text */
static tamis_status parse_itxt(tamis_meta *meta, const uint8_t *data, size_t size, size_t at)
{
    if (at + 2 > size)
        return TAMIS_OK;
    int compressed = data[at];
    at = after_zero(data, at + 2, size);
    at = at ? after_zero(data, at, size) : 0;
    if (!at)
        return TAMIS_OK;
    if (!compressed)
        return parse_utf8(meta, data, data + at, size - at);
    size_t n;
    uint8_t *text = tamis_priv_inflate(data + at, size - at, &n);
    tamis_status status = text ? parse_utf8(meta, data, text, n) : TAMIS_OK;
    free(text);
    return status;
}

/* zTXt and iCCP: key 0 method deflated */
static tamis_status parse_deflated(tamis_meta *meta, const char *name, const uint8_t *data,
                                   size_t size, size_t at)
{
    size_t n;
    uint8_t *text = at < size ? tamis_priv_inflate(data + at + 1, size - at - 1, &n) : NULL;
    if (!text)
        return TAMIS_OK;
    if (strcmp(name, "iCCP") == 0)
        return tamis_priv_meta_take(meta, "icc", text, n);
    tamis_status status = parse_latin1(meta, data, text, n);
    free(text);
    return status;
}

static tamis_status parse_chunk(tamis_meta *meta, const char *name, const uint8_t *data,
                                size_t size)
{
    if (is_color_chunk(name, size)) {
        char key[16] = "png:";
        memcpy(key + 4, name, 5);
        return tamis_meta_set(meta, key, data, size);
    }
    if (strcmp(name, "eXIf") == 0)
        return tamis_meta_set(meta, "exif", data, size);
    if (strcmp(name, "pHYs") == 0) {
        if (size == 9 && data[8] == 1) {
            meta->dpi_x = tamis_priv_be32(data) * 0.0254;
            meta->dpi_y = tamis_priv_be32(data + 4) * 0.0254;
        }
        return TAMIS_OK;
    }
    size_t at = after_zero(data, 0, size < 80 ? size : 80);
    if (at < 2)
        return TAMIS_OK;
    if (strcmp(name, "tEXt") == 0)
        return parse_latin1(meta, data, data + at, size - at);
    if (strcmp(name, "iTXt") == 0)
        return parse_itxt(meta, data, size, at);
    return parse_deflated(meta, name, data, size, at);
}

static tamis_status meta_chunk(tamis_reader *reader, const png_chunk *chunk, void *user)
{
    static const char *const known[] = {"eXIf", "pHYs", "tEXt", "zTXt", "iTXt", "iCCP"};
    int wanted = is_color_chunk(chunk->name, chunk->size);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        wanted |= strcmp(chunk->name, known[i]) == 0;
    if (!wanted)
        return TAMIS_OK;
    tamis_status status;
    uint8_t *data = load(reader, chunk, &status);
    if (data && parse_chunk(user, chunk->name, data, chunk->size) != TAMIS_OK)
        status = tamis_priv_reader_fail(reader, TAMIS_ERR_MEMORY, "no memory");
    free(data);
    return status;
}

tamis_status tamis_priv_png_meta(tamis_reader *reader, tamis_meta *meta)
{
    return walk(reader, meta_chunk, meta);
}

/* key 0 [method] and then data, deflated when method is asked for. */
static tamis_status emit_keyed(const char *chunk, const char *key, int deflated,
                               const uint8_t *data, size_t size, tamis_png_emit emit, void *user)
{
    size_t head = strlen(key) + 1 + (deflated ? 1 : 0);
    uLong bound = deflated ? compressBound((uLong)size) : (uLong)size;
    uint8_t *out = calloc(1, head + bound);
    if (!out)
        return TAMIS_ERR_MEMORY;
    memcpy(out, key, strlen(key));
    if (!deflated && size)
        memcpy(out + head, data, size);
    int failed = deflated && compress2(out + head, &bound, data, (uLong)size, 9) != Z_OK;
    if (!failed)
        emit(user, chunk, out, head + bound);
    free(out);
    return failed ? TAMIS_ERR_MEMORY : TAMIS_OK;
}

static tamis_status emit_itxt(const char *key, const uint8_t *text, size_t size,
                              tamis_png_emit emit, void *user)
{
    /* Not compressed, no language, no translated key: four zero bytes after the key's own. */
    size_t head = strlen(key) + 1 + 4;
    uint8_t *out = calloc(1, head + size);
    if (!out)
        return TAMIS_ERR_MEMORY;
    memcpy(out, key, strlen(key));
    if (size)
        memcpy(out + head, text, size);
    emit(user, "iTXt", out, head + size);
    free(out);
    return TAMIS_OK;
}

/* The key in Latin-1; 0 when PNG cannot have such a key. */
static int latin1_key(const char *utf8, char key[80])
{
    size_t n = 0;
    for (const uint8_t *p = (const uint8_t *)utf8; *p; p++) {
        unsigned v = *p;
        if (v >= 0x80 && (v > 0xC3 || v < 0xC2 || (p[1] & 0xC0) != 0x80))
            return 0;
        if (v >= 0x80)
            v = (v & 3) << 6 | (*++p & 0x3Fu);
        if (n == 79 || v < 32 || (v > 126 && v < 161))
            return 0;
        key[n++] = (char)v;
    }
    key[n] = 0;
    return n > 0 && key[0] != ' ' && key[n - 1] != ' ';
}

static tamis_status emit_text(const tamis_meta_entry *entry, tamis_png_emit emit, void *user)
{
    enum { COMPRESS_FROM = 1024 };
    char key[80];
    if (!latin1_key(entry->name + 5, key))
        return TAMIS_OK;
    int ascii = 1;
    for (size_t i = 0; i < entry->size; i++)
        ascii &= entry->data[i] < 0x80 && entry->data[i] != 0;
    if (!ascii && tamis_priv_utf8_valid(entry->data, entry->size))
        return emit_itxt(key, entry->data, entry->size, emit, user);
    if (!ascii)
        return TAMIS_OK;
    int deflated = entry->size >= COMPRESS_FROM;
    return emit_keyed(deflated ? "zTXt" : "tEXt", key, deflated, entry->data, entry->size, emit,
                      user);
}

static tamis_status emit_entry(const tamis_meta_entry *entry, tamis_png_emit emit, void *user)
{
    const char *name = entry->name;
    if (strcmp(name, "icc") == 0)
        return emit_keyed("iCCP", "ICC profile", 1, entry->data, entry->size, emit, user);
    if (strcmp(name, "xmp") == 0)
        return emit_itxt("XML:com.adobe.xmp", entry->data, entry->size, emit, user);
    if (strcmp(name, "exif") == 0)
        emit(user, "eXIf", entry->data, entry->size);
    else if (strncmp(name, "png:", 4) == 0 && is_color_chunk(name + 4, entry->size))
        emit(user, name + 4, entry->data, entry->size);
    else if (strncmp(name, "text:", 5) == 0)
        return emit_text(entry, emit, user);
    else if (strcmp(name, "iptc") == 0) {
        size_t size;
        uint8_t *text = tamis_priv_png_profile_make(name, entry->data, entry->size, &size);
        tamis_status status =
            text ? emit_keyed("zTXt", "Raw profile type iptc", 1, text, size, emit, user)
                 : TAMIS_ERR_MEMORY;
        free(text);
        return status;
    }
    return TAMIS_OK;
}

tamis_status tamis_priv_png_emit_meta(const tamis_meta *meta, tamis_png_emit emit, void *user)
{
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < meta->count && status == TAMIS_OK; i++)
        status = emit_entry(&meta->entries[i], emit, user);
    if (status == TAMIS_OK && meta->dpi_x > 0 && meta->dpi_y > 0 && meta->dpi_x < 1e7 &&
        meta->dpi_y < 1e7) {
        uint8_t phys[9] = {0};
        tamis_priv_put_be32(phys, (uint32_t)(meta->dpi_x / 0.0254 + 0.5));
        tamis_priv_put_be32(phys + 4, (uint32_t)(meta->dpi_y / 0.0254 + 0.5));
        phys[8] = 1;
        emit(user, "pHYs", phys, sizeof phys);
    }
    return status;
}
