/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures for tests: memory whose every byte is accounted for, and samples as doubles. */
#ifndef TEST_PICTURE_H
#define TEST_PICTURE_H

#include <tamis/image.h>

#include "support/rng.h"

/* How rows lie in memory. */
typedef enum test_rows {
    TEST_ROWS_TIGHT,    /* no byte between rows */
    TEST_ROWS_WIDE,     /* gaps, aligned */
    TEST_ROWS_NEGATIVE, /* last row first */
    TEST_ROWS_ODD,      /* odd addresses and odd strides */
    TEST_ROWS_COUNT
} test_rows;
extern const char *const test_rows_names[];

/* An image in a block of its own whose other bytes hold a known pattern. */
typedef struct test_picture {
    tamis_image image;
    uint8_t *block;
    size_t size;
} test_picture;

/* Samples are zero bytes. Ends the program when out of memory. */
void test_picture_make(test_picture *picture, tamis_format format, int w, int h, test_rows rows);
void test_picture_free(test_picture *picture);
/* 1 when no byte outside the samples has changed. */
int test_picture_intact(const test_picture *picture);

/* Sample c of pixel (x, y). */
double test_sample_get(const tamis_image *image, int x, int y, int c);
/* value must be representable or is rounded to nearest even and saturated. */
void test_sample_set(const tamis_image *image, int x, int y, int c, double value);
/* Lowest and highest level; 0 and 1 for floats. */
double test_type_min(tamis_type type);
double test_type_max(tamis_type type);

/* What pictures show. */
typedef enum test_fill {
    TEST_FILL_NOISE,    /* independent levels over the whole range */
    TEST_FILL_SMOOTH,   /* a slow wave with a little noise */
    TEST_FILL_EXTREMES, /* lowest and highest level at random */
    TEST_FILL_EDGES,    /* flat blocks of a few levels */
    TEST_FILL_CONSTANT, /* one level */
    TEST_FILL_SPECIALS, /* floats: noise with NaN, infinities, -0, tiny and large numbers */
    TEST_FILL_COUNT
} test_fill;
extern const char *const test_fill_names[];
void test_picture_fill(const tamis_image *image, test_fill fill, uint64_t seed);

/* Formats in short. */
tamis_format test_format(tamis_type type, int channels);

/* CRC-32 as in zlib, over the samples: row by row, packed, little endian. */
uint32_t test_crc(const tamis_image *image);
/* 1 when all samples have the same bits; NaN equals NaN. */
int test_same(const tamis_image *a, const tamis_image *b);

/* IEEE binary16 by arithmetic, as an oracle. */
double test_half_to_double(uint16_t half);
uint16_t test_half_from_double(double value);

#endif
