/* SPDX-License-Identifier: Apache-2.0 */
#include "png_profile.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "meta.h"

static const char prefix[] = "Raw profile type ";
static const char xmp_prefix[] = "http://ns.adobe.com/xap/1.0/";

static int hex_digit(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = tolower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Text: newline, name, newline, decimal length, newline, hexadecimal lines. */
static uint8_t *decode(const uint8_t *text, size_t size, size_t *out_size)
{
    const uint8_t *p = text, *end = text + size;
    size_t length = 0;
    while (p < end && isspace(*p))
        p++;
    while (p < end && !isspace(*p))
        p++;
    while (p < end && isspace(*p))
        p++;
    for (; p < end && isdigit(*p) && length <= size; p++)
        length = 10 * length + (size_t)(*p - '0');
    if (length == 0 || length > size / 2)
        return NULL;
    uint8_t *out = malloc(length);
    size_t digits = 0;
    for (; out && p < end && digits < 2 * length; p++) {
        int v = hex_digit(*p);
        if (v < 0)
            continue;
        if (digits % 2 == 0)
            out[digits / 2] = (uint8_t)(v << 4);
        else
            out[digits / 2] |= (uint8_t)v;
        digits++;
    }
    if (digits == 2 * length) {
        *out_size = length;
        return out;
    }
    free(out);
    return NULL;
}

static void store(tamis_meta *meta, const char *name, const uint8_t *data, size_t size)
{
    if (!tamis_meta_find(meta, name))
        (void)tamis_meta_set(meta, name, data, size);
}

int tamis_priv_png_profile_read(tamis_meta *meta, const char *key, const uint8_t *text, size_t size)
{
    if (strncmp(key, prefix, sizeof prefix - 1) != 0)
        return 0;
    const char *type = key + sizeof prefix - 1;
    size_t n;
    uint8_t *data = decode(text, size, &n);
    if (!data)
        return 0;
    int known = 1;
    if (n > 6 && memcmp(data, "Exif\0\0", 6) == 0)
        store(meta, "exif", data + 6, n - 6);
    else if (n > sizeof xmp_prefix && memcmp(data, xmp_prefix, sizeof xmp_prefix) == 0)
        store(meta, "xmp", data + sizeof xmp_prefix, n - sizeof xmp_prefix);
    else if (strcmp(type, "iptc") == 0 || strcmp(type, "xmp") == 0)
        store(meta, type, data, n);
    else if (strcmp(type, "icc") == 0 || strcmp(type, "icm") == 0)
        store(meta, "icc", data, n);
    else
        known = 0;
    free(data);
    return known;
}

uint8_t *tamis_priv_png_profile_make(const char *name, const uint8_t *data, size_t size,
                                     size_t *out_size)
{
    enum { BYTES_PER_LINE = 36 };
    size_t capacity = 64 + strlen(name) + 2 * size + size / BYTES_PER_LINE + 2;
    char *text = malloc(capacity);
    if (!text)
        return NULL;
    size_t n = (size_t)snprintf(text, capacity, "\n%s\n%8zu", name, size);
    for (size_t i = 0; i < size; i++) {
        if (i % BYTES_PER_LINE == 0)
            text[n++] = '\n';
        text[n++] = "0123456789abcdef"[data[i] >> 4];
        text[n++] = "0123456789abcdef"[data[i] & 15];
    }
    text[n++] = '\n';
    *out_size = n;
    return (uint8_t *)text;
}
