/* SPDX-License-Identifier: Apache-2.0 */
#include "support/picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const test_rows_names[] = {"tight", "wide", "negative", "odd"};

enum { MARGIN = 192 }; /* bytes around each plane: more than kernels may read beyond */

static uint8_t canary(size_t offset)
{
    return (uint8_t)(test_mix(offset) | 1);
}

static size_t row_bytes(tamis_format format, int w)
{
    int step = format.layout == TAMIS_PACKED ? format.channels : 1;
    return (size_t)w * (size_t)step * tamis_type_size(format.type);
}

static size_t stride_for(size_t bytes, test_rows rows)
{
    switch (rows) {
    case TEST_ROWS_WIDE:
        return (bytes + 63) / 64 * 64 + 64;
    case TEST_ROWS_ODD:
        return (bytes + 6) | 1;
    default:
        return bytes;
    }
}

void test_picture_make(test_picture *picture, tamis_format format, int w, int h, test_rows rows)
{
    size_t bytes = row_bytes(format, w), stride = stride_for(bytes, rows);
    int planes = format.layout == TAMIS_PLANAR ? format.channels : 1;
    size_t plane = (size_t)h * stride + MARGIN + (rows == TEST_ROWS_ODD ? 1 : 0);

    memset(picture, 0, sizeof *picture);
    picture->size = (size_t)planes * plane + MARGIN;
    picture->block = malloc(picture->size);
    if (!picture->block) {
        fprintf(stderr, "test: out of memory\n");
        abort();
    }
    for (size_t i = 0; i < picture->size; i++)
        picture->block[i] = canary(i);
    picture->image = (tamis_image){.format = format, .w = w, .h = h};
    for (int p = 0; p < planes; p++) {
        uint8_t *start = picture->block + (size_t)p * plane + MARGIN + (rows == TEST_ROWS_ODD);
        picture->image.data[p] = start;
        picture->image.stride[p] = (ptrdiff_t)stride;
        if (rows == TEST_ROWS_NEGATIVE) {
            picture->image.data[p] = start + (size_t)(h - 1) * stride;
            picture->image.stride[p] = -(ptrdiff_t)stride;
        }
        for (int y = 0; y < h; y++)
            memset(tamis_image_row(&picture->image, p, y), 0, bytes);
    }
}

void test_picture_free(test_picture *picture)
{
    free(picture->block);
    memset(picture, 0, sizeof *picture);
}

int test_picture_intact(const test_picture *picture)
{
    const tamis_image *image = &picture->image;
    size_t bytes = row_bytes(image->format, image->w), sum = 0, expected = 0;
    int intact = 1;
    uint8_t *used = calloc(1, picture->size);

    if (!used)
        abort();
    for (int p = 0; p < tamis_image_planes(image); p++)
        for (int y = 0; y < image->h; y++) {
            memset(used + ((uint8_t *)tamis_image_row(image, p, y) - picture->block), 1, bytes);
            expected += bytes;
        }
    for (size_t i = 0; i < picture->size; i++) {
        sum += used[i];
        if (!used[i] && picture->block[i] != canary(i))
            intact = 0;
    }
    free(used);
    return intact && sum == expected;
}

static uint8_t *sample_at(const tamis_image *image, int x, int y, int c)
{
    size_t size = tamis_type_size(image->format.type);
    if (image->format.layout == TAMIS_PLANAR)
        return (uint8_t *)tamis_image_row(image, c, y) + (size_t)x * size;
    return (uint8_t *)tamis_image_row(image, 0, y) +
           ((size_t)x * (size_t)image->format.channels + (size_t)c) * size;
}

double test_half_to_double(uint16_t half)
{
    int exponent = half >> 10 & 31, mantissa = half & 1023;
    double sign = half & 0x8000 ? -1.0 : 1.0;
    if (exponent == 31)
        return mantissa ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0)
        return sign * ldexp(mantissa, -24);
    return sign * ldexp(1024 + mantissa, exponent - 25);
}

uint16_t test_half_from_double(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double a = fabs(value);
    int exponent;

    if (isnan(value))
        return 0x7e00;
    if (a >= 65520.0) /* half way between the largest number and the next power of two */
        return sign | 0x7c00;
    frexp(a, &exponent);
    if (a == 0.0 || exponent < -13) /* subnormal: multiples of 2^-24 */
        return sign | (uint16_t)nearbyint(ldexp(a, 24));
    /* 1024 .. 2048 times a power of two; 2048 carries into the exponent by itself. */
    return sign | (uint16_t)(((exponent + 13) << 10) + (int)nearbyint(ldexp(a, 11 - exponent)));
}

double test_sample_get(const tamis_image *image, int x, int y, int c)
{
    const uint8_t *p = sample_at(image, x, y, c);
    uint16_t u;
    int16_t s;
    float f;

    switch (image->format.type) {
    case TAMIS_U8:
        return *p;
    case TAMIS_U16:
        memcpy(&u, p, sizeof u);
        return u;
    case TAMIS_S16:
        memcpy(&s, p, sizeof s);
        return s;
    case TAMIS_F16:
        memcpy(&u, p, sizeof u);
        return test_half_to_double(u);
    default:
        memcpy(&f, p, sizeof f);
        return (double)f;
    }
}

static double clip(double v, double lo, double hi)
{
    v = nearbyint(v);
    return v < lo ? lo : v > hi ? hi : v;
}

void test_sample_set(const tamis_image *image, int x, int y, int c, double value)
{
    uint8_t *p = sample_at(image, x, y, c);
    tamis_type type = image->format.type;
    uint16_t u;
    int16_t s;
    float f;

    switch (type) {
    case TAMIS_U8:
        *p = (uint8_t)clip(value, 0, 255);
        break;
    case TAMIS_U16:
        u = (uint16_t)clip(value, 0, 65535);
        memcpy(p, &u, sizeof u);
        break;
    case TAMIS_S16:
        s = (int16_t)clip(value, -32768, 32767);
        memcpy(p, &s, sizeof s);
        break;
    case TAMIS_F16:
        u = test_half_from_double(value);
        memcpy(p, &u, sizeof u);
        break;
    default:
        f = (float)value;
        memcpy(p, &f, sizeof f);
    }
}

double test_type_min(tamis_type type)
{
    return type == TAMIS_S16 ? -32768 : 0;
}

double test_type_max(tamis_type type)
{
    return test_type_min(type) + tamis_type_range(type);
}

tamis_format test_format(tamis_type type, int channels)
{
    return (tamis_format){.type = type, .channels = channels};
}

uint32_t test_crc(const tamis_image *image)
{
    size_t size = tamis_type_size(image->format.type);
    uint32_t crc = ~0u;

    for (int y = 0; y < image->h; y++)
        for (int x = 0; x < image->w; x++)
            for (int c = 0; c < image->format.channels; c++) {
                const uint8_t *p = sample_at(image, x, y, c);
                for (size_t i = 0; i < size; i++) {
                    crc ^= p[i];
                    for (int bit = 0; bit < 8; bit++)
                        crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
                }
            }
    return ~crc;
}

int test_same(const tamis_image *a, const tamis_image *b)
{
    size_t size = tamis_type_size(a->format.type);

    if (a->format.type != b->format.type || a->format.channels != b->format.channels ||
        a->w != b->w || a->h != b->h)
        return 0;
    for (int y = 0; y < a->h; y++)
        for (int x = 0; x < a->w; x++)
            for (int c = 0; c < a->format.channels; c++)
                if (memcmp(sample_at(a, x, y, c), sample_at(b, x, y, c), size) != 0 &&
                    !(isnan(test_sample_get(a, x, y, c)) && isnan(test_sample_get(b, x, y, c))))
                    return 0;
    return 1;
}
