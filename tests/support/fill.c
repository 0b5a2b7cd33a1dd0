/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "support/picture.h"

const char *const test_fill_names[] = {"noise", "smooth",   "extremes",
                                       "edges", "constant", "specials"};

static uint64_t hash_at(uint64_t seed, int x, int y, int c)
{
    return test_mix(seed ^ test_mix((uint64_t)x << 40 ^ (uint64_t)y << 8 ^ (uint64_t)c));
}

static double unit_at(uint64_t seed, int x, int y, int c)
{
    return (double)(hash_at(seed, x, y, c) >> 11) / 9007199254740992.0;
}

static double special_at(uint64_t seed, int x, int y, int c)
{
    static const double values[] = {
        (double)NAN, (double)INFINITY, -(double)INFINITY, -0.0, 1e-40, 1e30, -1e30, 65504, -1e-6};
    uint64_t h = hash_at(seed + 1, x, y, c);
    if (h % 11 == 0)
        return values[h / 11 % (sizeof values / sizeof *values)];
    return 4 * unit_at(seed, x, y, c) - 2;
}

/* Alpha outside 0 .. 1 has no meaning; it may be missing or unknown. */
static double special_alpha(uint64_t seed, int x, int y, int c)
{
    uint64_t h = hash_at(seed + 1, x, y, c);
    return h % 41 == 0 ? (double)NAN : h % 11 == 0 ? 0 : unit_at(seed, x, y, c);
}

/* Fraction of the type's range. */
static double level_at(test_fill fill, uint64_t seed, int x, int y, int c)
{
    switch (fill) {
    case TEST_FILL_SMOOTH:
        return 0.5 + 0.4 * sin(x * 0.13 + c) * cos(y * 0.17) +
               0.08 * (unit_at(seed, x, y, c) - 0.5);
    case TEST_FILL_EXTREMES:
        return (double)(hash_at(seed, x, y, c) & 1);
    case TEST_FILL_EDGES:
        return (double)(hash_at(seed, x / 5, y / 4, c) % 4) / 3.0;
    case TEST_FILL_CONSTANT:
        return unit_at(seed, 0, 0, c);
    default:
        return unit_at(seed, x, y, c);
    }
}

/* Sample c of a pixel, before alpha has a say in it. */
static double plain_at(tamis_format f, test_fill fill, uint64_t seed, int x, int y, int c)
{
    int alpha = f.alpha != TAMIS_ALPHA_NONE && c == f.channels - 1;
    double v = test_type_min(f.type) + tamis_type_range(f.type) * level_at(fill, seed, x, y, c);

    if (fill == TEST_FILL_SPECIALS && (f.type == TAMIS_F16 || f.type == TAMIS_F32))
        return alpha ? special_alpha(seed, x, y, c) : special_at(seed, x, y, c);
    return alpha ? fabs(v) : v; /* never below clear */
}

void test_picture_fill(const tamis_image *image, test_fill fill, uint64_t seed)
{
    tamis_format f = image->format;

    for (int y = 0; y < image->h; y++)
        for (int x = 0; x < image->w; x++)
            for (int c = 0; c < f.channels; c++) {
                double v = plain_at(f, fill, seed, x, y, c);
                /* Color within what alpha allows. */
                if (f.alpha == TAMIS_ALPHA_PREMULTIPLIED && c < f.channels - 1)
                    v = fabs(v) * plain_at(f, fill, seed, x, y, f.channels - 1) /
                        test_type_max(f.type);
                test_sample_set(image, x, y, c, v);
            }
}
