/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels as products of columns and rows, or sums of a few.
 *
 * What is found by elimination: the number of greatest magnitude that is left, its column and its
 * row, divided by it, make a product whose difference from the kernel is zero there. Since no other
 * number is greater, a row's numbers are at most 1. */
#include <math.h>
#include <string.h>

#include "convolve_kernel.h"

/* ---- floats */

/* What products may leave out, of the sum of the kernel's magnitudes: about what one rounding to
 * binary32 does. */
#define LEFT_OUT 0x1p-22
enum { MOST_TERMS = 32 };
/* How far the magnitudes of products may exceed those of the kernel, since they cancel out. */
#define CANCELED 4

/* Taps that do as much as the columns and the rows of a product cost; found by timing. */
static int cost(const struct convolve_coef *c)
{
    return c->h + c->w + 4;
}

static int greatest_of(const double *v, int n)
{
    int best = 0;
    for (int i = 0; i < n; i++)
        if (fabs(v[i]) > fabs(v[best]))
            best = i;
    return best;
}

static double magnitude_of(const double *v, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += fabs(v[i]);
    return sum;
}

/* Takes the product that begins at the greatest number out of what is left; returns the sum of its
 * magnitudes. */
static double take_out(double *left, int w, int h, double *column, double *row)
{
    int best = greatest_of(left, w * h), bx = best % w, by = best / w;
    for (int x = 0; x < w; x++)
        row[x] = left[by * w + x] / left[best];
    for (int y = 0; y < h; y++)
        column[y] = left[y * w + bx];
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            left[y * w + x] = y == by || x == bx ? 0 : left[y * w + x] - column[y] * row[x];
    return magnitude_of(column, h) * magnitude_of(row, w);
}

/* Whether the numbers of f32 kernels that are not zero, and no others, are reached by a product, so
 * that a NaN goes where it should. */
static int same_zeros(const struct convolve_wish *k, const struct convolve_term *terms, int count)
{
    for (int y = 0; y < k->h; y++)
        for (int x = 0; x < k->w; x++) {
            int reached = 0;
            for (int i = 0; i < count; i++)
                reached |= terms[i].column[y] != 0 && terms[i].row[x] != 0;
            if (reached != (k->v[y * k->w + x] != 0))
                return 0;
        }
    return 1;
}

/* As floats, the column divided. */
static void make_term(const struct convolve_wish *k, const double *column, const double *row,
                      float *to_column, float *to_row)
{
    for (int y = 0; y < k->h; y++)
        to_column[y] = (float)(column[y] / k->divisor);
    for (int x = 0; x < k->w; x++)
        to_row[x] = (float)row[x];
}

static tamis_status find_terms(tamis_node *node, const struct convolve_wish *k,
                               struct convolve_coef *c, int most, double *left)
{
    int w = k->w, h = k->h, count = 0;
    size_t side = (size_t)w + (size_t)h;
    double *column = left + (size_t)w * (size_t)h, *row = column + h;
    struct convolve_term *terms = tamis_priv_node_alloc(node, (size_t)most * sizeof *terms);
    float *numbers = tamis_priv_node_alloc(node, (size_t)most * side * sizeof *numbers);
    if (!terms || !numbers)
        return tamis_priv_convolve_no_memory(node);
    memcpy(left, k->v, (size_t)w * (size_t)h * sizeof *left);
    double all = magnitude_of(left, w * h), products = 0;
    for (; magnitude_of(left, w * h) > LEFT_OUT * all; count++) {
        if (count == most)
            return TAMIS_OK;
        float *to = numbers + (size_t)count * side;
        products += take_out(left, w, h, column, row);
        make_term(k, column, row, to, to + h);
        terms[count] = (struct convolve_term){to, to + h};
    }
    if (products > CANCELED * all || (node->work == TAMIS_F32 && !same_zeros(k, terms, count)))
        return TAMIS_OK;
    c->gaps = c->count < w * h;
    c->terms = terms;
    c->term_count = count;
    return TAMIS_OK;
}

tamis_status tamis_priv_convolve_terms(tamis_node *node, const struct convolve_wish *k,
                                       struct convolve_coef *c)
{
    int most = (c->count - 1) / cost(c);
    most = most < MOST_TERMS ? most : MOST_TERMS;
    if (most < 1)
        return TAMIS_OK;
    size_t numbers = (size_t)k->w * (size_t)k->h + (size_t)k->w + (size_t)k->h;
    double *left = tamis_priv_node_alloc(node, numbers * sizeof *left);
    return left ? find_terms(node, k, c, most, left) : tamis_priv_convolve_no_memory(node);
}

/* ---- whole numbers */

static int32_t common_divisor(int32_t a, int32_t b)
{
    while (b) {
        int32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* Takes what all numbers are multiples of out of them. */
static int32_t reduce(int32_t *v, int n)
{
    int32_t divisor = 0;
    for (int i = 0; i < n; i++)
        divisor = common_divisor(divisor, v[i]);
    for (int i = 0; i < n; i++)
        v[i] /= divisor;
    return divisor;
}

/* A row without a common divisor, of which all the kernel's rows are whole multiples, if it is a
 * product at all; then what the multiples have in common goes to the row, so that sums of a column
 * are small. */
static int split(const struct convolve_coef *c, int32_t *column, int32_t *row)
{
    const struct convolve_tap *first = &c->taps[0];
    int32_t products = 0;
    for (int i = 0; i < c->count && c->taps[i].row == first->row; i++)
        row[c->taps[i].column] = c->taps[i].whole;
    reduce(row, c->w);
    for (int i = 0; i < c->count; i++)
        if (c->taps[i].column == first->column)
            column[c->taps[i].row] = c->taps[i].whole / row[first->column];
    for (int i = 0; i < c->count; i++)
        if (column[c->taps[i].row] * row[c->taps[i].column] != c->taps[i].whole)
            return 0;
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w; x++)
            products += column[y] != 0 && row[x] != 0;
    int32_t common = reduce(column, c->h);
    for (int x = 0; x < c->w; x++)
        row[x] *= common;
    return products == c->count;
}

tamis_status tamis_priv_convolve_product(tamis_node *node, struct convolve_coef *c, int *out)
{
    struct convolve_product *p = &c->product;
    int64_t low = 0, high = 0; /* sums of a column of u8 */
    *out = 0;
    if (c->w < 2 || c->h < 2 || c->count < 25)
        return TAMIS_OK;
    int32_t *column = tamis_priv_node_alloc(node, (size_t)c->h * sizeof *column);
    int32_t *row = tamis_priv_node_alloc(node, (size_t)c->w * sizeof *row);
    if (!column || !row)
        return tamis_priv_convolve_no_memory(node);
    if (!split(c, column, row))
        return TAMIS_OK;
    for (int y = 0; y < c->h; y++) {
        low += column[y] < 0 ? 255 * (int64_t)column[y] : 0;
        high += column[y] > 0 ? 255 * (int64_t)column[y] : 0;
    }
    for (int x = 0; x < c->w; x++)
        p->total += row[x];
    p->column = column;
    p->row = row;
    p->narrow = node->work == TAMIS_U8 && high - low <= 65535;
    p->middle = (int32_t)(p->narrow ? low + 32768 : 0);
    *out = 1;
    return tamis_priv_convolve_pairs(node, row, c->w, 1, &p->pairs, &p->pair_count);
}
