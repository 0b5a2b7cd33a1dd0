/* SPDX-License-Identifier: Apache-2.0 */
/* The steps by which a chain's derivatives are found, like the noise. */
#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "core/status.h"
#include "graph/risk.h"

/* Of the noise, so large are the steps; whole levels in integers. */
#define STEP 0.1
/* Levels that integers are tried with at least. */
#define LEAST_STEP 0.5
/* Of the samples, so many at the ends are many. */
#define CUT_OFF 0.1
/* Noise that colors have in common is told from texture by the flattest of blocks of 8x8, such a
 * part of them, and is taken for nothing below a correlation. */
#define BLOCK        8
#define FLATTEST     0.05
#define LEAST_SHARED 0.3

static double sigma_of(const tamis_risk *r)
{
    double sum = 0;
    for (int c = 0; c < r->colors; c++)
        sum += r->noise[c].sigma * r->noise[c].sigma;
    return sqrt(sum / r->colors);
}

static int is_integer(tamis_type type)
{
    return type != TAMIS_F16 && type != TAMIS_F32;
}

/* Of the differences of neighboring rows and columns in a block: their squares, and products of
 * two colors, both in the mean over the colors. */
typedef struct block {
    double energy, product;
} block;

static int by_energy(const void *a, const void *b)
{
    double x = ((const block *)a)->energy, y = ((const block *)b)->energy;
    return (x > y) - (x < y);
}

/* The difference at a pixel, each color's by its noise. */
static void add_differences(const tamis_risk *r, const tamis_image *values, int32_t x, int32_t y,
                            block *out)
{
    double sum = 0, squares = 0;
    for (int c = 0; c < r->colors; c++) {
        const float *a = tamis_image_row(values, c, y), *b = tamis_image_row(values, c, y + 1);
        double d = (double)a[x] - (double)a[x + 1] - (double)b[x] + (double)b[x + 1];
        d /= r->noise[c].sigma;
        sum += d;
        squares += d * d;
    }
    out->energy += squares / r->colors;
    out->product += (sum * sum - squares) / (r->colors * (r->colors - 1));
}

static int count_blocks(const tamis_risk *r)
{
    return r->count * ((r->piece_w - 1) / BLOCK) * ((r->piece_h - 1) / BLOCK);
}

static void measure_blocks(const tamis_risk *r, block *out)
{
    for (int i = 0; i < r->count; i++)
        for (int32_t y = 0; y + BLOCK < r->piece_h; y += BLOCK)
            for (int32_t x = 0; x + BLOCK < r->piece_w; x += BLOCK, out++) {
                *out = (block){0, 0};
                for (int k = 0; k < BLOCK * BLOCK; k++)
                    add_differences(r, &r->pieces[i].noisy, x + k % BLOCK, y + k / BLOCK, out);
            }
}

static double correlation(block *blocks, int count)
{
    double energy = 0, product = 0;
    qsort(blocks, (size_t)count, sizeof *blocks, by_energy);
    for (int i = 0; i < ceil(FLATTEST * count); i++) {
        energy += blocks[i].energy;
        product += blocks[i].product;
    }
    double shared = energy > 0 ? product / energy : 0;
    return shared >= LEAST_SHARED ? fmin(shared, 1) : 0;
}

static int has_noise(const tamis_risk *r)
{
    for (int c = 0; c < r->colors; c++)
        if (!(r->noise[c].sigma > 0))
            return 0;
    return 1;
}

static tamis_status find_shared(tamis_risk *r)
{
    int count = count_blocks(r);
    if (r->colors < 2 || count == 0 || !has_noise(r))
        return TAMIS_OK;
    block *blocks = tamis_priv_mem_alloc(r->ctx, (size_t)count * sizeof *blocks);
    if (!blocks)
        return tamis_priv_fail(r->ctx, TAMIS_ERR_MEMORY, "resolve: no memory");
    measure_blocks(r, blocks);
    r->shared = correlation(blocks, count);
    tamis_priv_mem_free(r->ctx, blocks);
    return TAMIS_OK;
}

/* Integers are tried as such, which is faster and knows where noise was cut off. F32 takes steps of
 * any size, and goes on beyond the ends: where much has been cut off the noise is more than it
 * seems, and that makes up for it. With alpha the type stays, for color is weighted by parts of its
 * range. */
static void choose_step(tamis_risk *r)
{
    r->step = STEP * sigma_of(r);
    r->tried = r->format;
    if (!is_integer(r->format.type))
        return;
    int fine = r->step < LEAST_STEP || r->ends >= CUT_OFF || r->shared > 0;
    if (fine && r->format.alpha == TAMIS_ALPHA_NONE) {
        r->tried.type = TAMIS_F32;
    } else {
        r->step = fmax(1, rint(r->step));
        r->shared = 0;
    }
}

/* A sign for a place, as good as random: products by 2^64 over the golden ratio, whose upper halves
 * depend on all lower bits. */
static int sign(uint64_t place)
{
    for (int i = 0; i < 3; i++) {
        place = (place + 1) * 0x9e3779b97f4a7c15;
        place ^= place >> 32;
    }
    return place & 1 ? 1 : -1;
}

/* Steps from a row of a piece; the colors have one row of signs together, and each one more. */
static void move_row(const tamis_risk *r, int index, int c, int32_t y, const float *from, float *to)
{
    double common = sqrt(r->shared) * r->step, own = sqrt(1 - r->shared) * r->step;
    uint64_t width = (uint64_t)r->piece_w, rows = (uint64_t)r->piece_h;
    uint64_t first = (uint64_t)index * (TAMIS_MAX_CHANNELS + 1) * rows + (uint64_t)y;
    uint64_t all = (first + TAMIS_MAX_CHANNELS * rows) * width;
    uint64_t one = (first + (uint64_t)c * rows) * width;
    for (uint64_t x = 0; x < width; x++)
        to[x] = (float)((double)from[x] + own * sign(one + x) + common * sign(all + x));
}

/* From the picture to the same with a step to either side of each sample. */
static tamis_status move(const tamis_risk *r, int index)
{
    const tamis_risk_piece *p = &r->pieces[index];
    const tamis_image *tries = &r->tries[2 * index];
    TAMIS_TRY(tamis_image_copy(r->ctx, &p->noisy, &tries[0]));
    TAMIS_TRY(tamis_image_copy(r->ctx, &p->noisy, &p->moved));
    for (int c = 0; c < r->colors; c++)
        for (int32_t y = 0; y < r->piece_h; y++)
            move_row(r, index, c, y, tamis_image_row(&p->noisy, c, y),
                     tamis_image_row(&p->moved, c, y));
    /* Rounded and clipped by the type; the step is what comes back. */
    TAMIS_TRY(tamis_image_copy(r->ctx, &p->moved, &tries[1]));
    return tamis_image_copy(r->ctx, &tries[1], &p->moved);
}

static tamis_status create(const tamis_risk *r, const tamis_format *format, tamis_image *out)
{
    return tamis_image_create(r->ctx, *format, r->piece_w, r->piece_h, out);
}

tamis_status tamis_priv_risk_move(tamis_risk *r)
{
    tamis_priv_risk_ends(r);
    TAMIS_TRY(find_shared(r));
    choose_step(r);
    for (int i = 0; i < r->count; i++) {
        tamis_risk_piece *p = &r->pieces[i];
        TAMIS_TRY(create(r, &r->tried, &r->tries[2 * i]));
        TAMIS_TRY(create(r, &r->tried, &r->tries[2 * i + 1]));
        TAMIS_TRY(create(r, &p->noisy.format, &p->moved));
        TAMIS_TRY(move(r, i));
    }
    return TAMIS_OK;
}
