/* SPDX-License-Identifier: Apache-2.0 */
#include "ifd.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"

#define MAX_DEPTH 3 /* main, EXIF, interoperability */

size_t tamis_priv_ifd_type_size(unsigned type)
{
    static const uint8_t sizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
    return type < sizeof sizes ? sizes[type] : 0;
}

/* Rationals are pairs of 4-byte numbers. */
static size_t swap_size(unsigned type)
{
    return type == TAMIS_IFD_RATIONAL || type == 10 ? 4 : tamis_priv_ifd_type_size(type);
}

static int is_directory_tag(uint16_t tag)
{
    return tag == TAMIS_TAG_EXIF_IFD || tag == TAMIS_TAG_GPS_IFD || tag == TAMIS_TAG_INTEROP_IFD;
}

static uint64_t get_number(const tamis_ifd_input *input, const uint8_t *p, size_t bytes)
{
    uint64_t v = 0;
    for (size_t i = 0; i < bytes; i++)
        v = v << 8 | p[input->big_endian ? i : bytes - 1 - i];
    return v;
}

uint64_t tamis_priv_ifd_header(tamis_ifd_input *input)
{
    uint8_t head[16] = {0};
    size_t n = input->read(input->user, 0, head, sizeof head);
    if (n < 8 || head[0] != head[1] || (head[0] != 'I' && head[0] != 'M'))
        return 0;
    input->big_endian = head[0] == 'M';
    uint64_t magic = get_number(input, head + 2, 2);
    input->big_tiff = magic == 43;
    if (input->big_tiff)
        return n == 16 ? get_number(input, head + 8, 8) : 0;
    return magic == 42 ? get_number(input, head + 4, 4) : 0;
}

static int parse_at(tamis_ifd_input *input, uint64_t offset, int depth, tamis_ifd *out);

static int parse_sub(tamis_ifd_input *input, uint64_t offset, int depth, tamis_ifd_entry *entry)
{
    entry->sub = calloc(1, sizeof *entry->sub);
    return entry->sub && parse_at(input, offset, depth + 1, entry->sub);
}

/* Returns 0 when the entry is not usable. */
static int parse_entry(tamis_ifd_input *input, const uint8_t *raw, int depth,
                       tamis_ifd_entry *entry)
{
    size_t word = input->big_tiff ? 8 : 4;
    entry->tag = (uint16_t)get_number(input, raw, 2);
    entry->type = (uint16_t)get_number(input, raw + 2, 2);
    entry->count = get_number(input, raw + 4, word);
    const uint8_t *inline_value = raw + 4 + word;
    size_t size = tamis_priv_ifd_type_size(entry->type);
    if (size == 0 || entry->count == 0 || entry->count > input->budget / size ||
        (input->want && !input->want(entry->tag)))
        return 0;
    if (is_directory_tag(entry->tag))
        return size * entry->count <= word && depth + 1 < MAX_DEPTH &&
               parse_sub(input, get_number(input, inline_value, size), depth, entry);
    entry->size = (size_t)entry->count * size;
    input->budget -= entry->size;
    entry->data = malloc(entry->size);
    if (!entry->data)
        return 0;
    if (entry->size <= word)
        memcpy(entry->data, inline_value, entry->size);
    else if (input->read(input->user, get_number(input, inline_value, word), entry->data,
                         entry->size) != entry->size)
        return 0;
    size_t unit = swap_size(entry->type);
    if (input->big_endian != tamis_priv_host_is_big())
        tamis_priv_swap_samples(entry->data, entry->size / unit, unit);
    return 1;
}

static void clear_entry(tamis_ifd_entry *entry)
{
    free(entry->data);
    if (entry->sub) {
        tamis_priv_ifd_clear(entry->sub);
        free(entry->sub);
    }
    *entry = (tamis_ifd_entry){0};
}

static int parse_at(tamis_ifd_input *input, uint64_t offset, int depth, tamis_ifd *out)
{
    *out = (tamis_ifd){0};
    uint8_t raw[20];
    size_t count_bytes = input->big_tiff ? 8 : 2;
    size_t entry_bytes = input->big_tiff ? 20 : 12;
    if (input->read(input->user, offset, raw, count_bytes) != count_bytes)
        return 0;
    uint64_t count = get_number(input, raw, count_bytes);
    if (count == 0 || count > 65535)
        return 0;
    out->entries = calloc((size_t)count, sizeof *out->entries);
    if (!out->entries)
        return 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = offset + count_bytes + i * entry_bytes;
        if (input->read(input->user, at, raw, entry_bytes) != entry_bytes)
            break;
        tamis_ifd_entry entry = {0};
        if (parse_entry(input, raw, depth, &entry) &&
            (out->count == 0 || entry.tag > out->entries[out->count - 1].tag))
            out->entries[out->count++] = entry;
        else
            clear_entry(&entry);
    }
    return out->count > 0;
}

int tamis_priv_ifd_parse(tamis_ifd_input *input, uint64_t offset, tamis_ifd *out)
{
    int found = parse_at(input, offset, 0, out);
    if (!found)
        tamis_priv_ifd_clear(out);
    return found;
}

int tamis_priv_ifd_next(const tamis_ifd_input *input, uint64_t offset, uint64_t *next)
{
    uint8_t raw[8];
    size_t count_bytes = input->big_tiff ? 8 : 2;
    size_t word = input->big_tiff ? 8 : 4;
    if (input->read(input->user, offset, raw, count_bytes) != count_bytes)
        return 0;
    uint64_t count = get_number(input, raw, count_bytes);
    if (count > UINT32_MAX)
        return 0;
    offset += count_bytes + count * (input->big_tiff ? 20 : 12);
    if (input->read(input->user, offset, raw, word) != word)
        return 0;
    *next = get_number(input, raw, word);
    return 1;
}

void tamis_priv_ifd_clear(tamis_ifd *ifd)
{
    for (size_t i = 0; i < ifd->count; i++)
        clear_entry(&ifd->entries[i]);
    free(ifd->entries);
    *ifd = (tamis_ifd){0};
}

/* Index of the first entry whose tag is not below the given one. */
static size_t lower_bound(const tamis_ifd *ifd, uint16_t tag)
{
    size_t i = 0;
    while (i < ifd->count && ifd->entries[i].tag < tag)
        i++;
    return i;
}

const tamis_ifd_entry *tamis_priv_ifd_find(const tamis_ifd *ifd, uint16_t tag)
{
    size_t i = lower_bound(ifd, tag);
    return i < ifd->count && ifd->entries[i].tag == tag ? &ifd->entries[i] : NULL;
}

int tamis_priv_ifd_set(tamis_ifd *ifd, uint16_t tag, uint16_t type, uint64_t count,
                       const void *data)
{
    size_t size = (size_t)count * tamis_priv_ifd_type_size(type);
    uint8_t *copy = malloc(size);
    tamis_ifd_entry *entries = realloc(ifd->entries, (ifd->count + 1) * sizeof *entries);
    if (entries)
        ifd->entries = entries;
    if (!copy || !entries) {
        free(copy);
        return 0;
    }
    memcpy(copy, data, size);
    tamis_priv_ifd_remove(ifd, tag);
    size_t i = lower_bound(ifd, tag);
    memmove(entries + i + 1, entries + i, (ifd->count - i) * sizeof *entries);
    entries[i] =
        (tamis_ifd_entry){.tag = tag, .type = type, .count = count, .data = copy, .size = size};
    ifd->count++;
    return 1;
}

void tamis_priv_ifd_remove(tamis_ifd *ifd, uint16_t tag)
{
    size_t i = lower_bound(ifd, tag);
    if (i == ifd->count || ifd->entries[i].tag != tag)
        return;
    clear_entry(&ifd->entries[i]);
    ifd->count--;
    memmove(ifd->entries + i, ifd->entries + i + 1, (ifd->count - i) * sizeof *ifd->entries);
}

static size_t round_up8(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

/* Bytes of the table alone: entry count, entries, link to the next directory. */
static size_t table_bytes(const tamis_ifd *ifd, int big_tiff)
{
    return round_up8(big_tiff ? 8 + 20 * ifd->count + 8 : 2 + 12 * ifd->count + 4);
}

size_t tamis_priv_ifd_bytes(const tamis_ifd *ifd, int big_tiff)
{
    size_t total = table_bytes(ifd, big_tiff);
    size_t word = big_tiff ? 8 : 4;
    for (size_t i = 0; i < ifd->count; i++) {
        const tamis_ifd_entry *entry = &ifd->entries[i];
        if (entry->sub)
            total += tamis_priv_ifd_bytes(entry->sub, big_tiff);
        else if (entry->size > word)
            total += round_up8(entry->size);
    }
    return total;
}

/* Stores the low bytes of v in host order. */
static void put_number(uint8_t *p, uint64_t v, size_t bytes)
{
    uint16_t v16 = (uint16_t)v;
    uint32_t v32 = (uint32_t)v;
    memcpy(p, bytes == 2 ? (void *)&v16 : bytes == 4 ? (void *)&v32 : (void *)&v, bytes);
}

void tamis_priv_ifd_write(const tamis_ifd *ifd, int big_tiff, uint64_t base, uint8_t *buf)
{
    size_t word = big_tiff ? 8 : 4;
    size_t end = table_bytes(ifd, big_tiff);
    memset(buf, 0, tamis_priv_ifd_bytes(ifd, big_tiff));
    put_number(buf, ifd->count, big_tiff ? 8 : 2);
    uint8_t *p = buf + (big_tiff ? 8 : 2);
    for (size_t i = 0; i < ifd->count; i++, p += 4 + 2 * word) {
        const tamis_ifd_entry *entry = &ifd->entries[i];
        put_number(p, entry->tag, 2);
        put_number(p + 2, entry->sub ? TAMIS_IFD_LONG : entry->type, 2);
        put_number(p + 4, entry->sub ? 1 : entry->count, word);
        if (!entry->sub && entry->size <= word) {
            memcpy(p + 4 + word, entry->data, entry->size);
            continue;
        }
        put_number(p + 4 + word, base + end, entry->sub ? 4 : word);
        if (entry->sub) {
            tamis_priv_ifd_write(entry->sub, big_tiff, base + end, buf + end);
            end += tamis_priv_ifd_bytes(entry->sub, big_tiff);
        } else {
            memcpy(buf + end, entry->data, entry->size);
            end += round_up8(entry->size);
        }
    }
}
