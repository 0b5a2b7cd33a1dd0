/* SPDX-License-Identifier: Apache-2.0 */
/* The taps of a kernel, in the forms that kernels read. */
#include <math.h>

#include "convolve_kernel.h"

tamis_status tamis_priv_convolve_no_memory(tamis_node *node)
{
    return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY, "convolve: no memory for the kernel");
}

tamis_status tamis_priv_convolve_taps(tamis_node *node, const struct convolve_wish *k,
                                      struct convolve_coef *c)
{
    int all = k->w * k->h;
    struct convolve_tap *taps = tamis_priv_node_alloc(node, (size_t)all * sizeof *taps);
    float *dense = tamis_priv_node_alloc(node, (size_t)all * sizeof *dense);
    if (!taps || !dense)
        return tamis_priv_convolve_no_memory(node);
    for (int i = 0; i < all; i++) {
        dense[i] = (float)(k->v[i] / k->divisor);
        if (k->v[i] != 0)
            taps[c->count++] =
                (struct convolve_tap){.row = i / k->w, .column = i % k->w, .f = dense[i]};
    }
    c->taps = taps;
    c->dense = c->count == all ? dense : NULL;
    c->bias = (float)k->bias;
    return TAMIS_OK;
}

/* ---- whole numbers */

static int is_whole(double v)
{
    return fabs(v) < 0x1p30 && v == floor(v);
}

/* The power of two that makes kernel and divisor whole numbers and the bias whole when it is
 * multiplied by the divisor; 0 when none up to 2^14 does. */
static double common_factor(const struct convolve_wish *k)
{
    for (double factor = 1; factor <= 0x1p14; factor *= 2) {
        int whole = is_whole(k->divisor * factor) && is_whole(k->bias * k->divisor * factor);
        for (int i = 0; whole && i < k->w * k->h; i++)
            whole = is_whole(k->v[i] * factor);
        if (whole)
            return factor;
    }
    return 0;
}

/* 1 / divisor for a multiplication whose truncated product is the quotient or, where it is inexact,
 * one less: as for u8 with divisors up to 16384, where numbers up to 2^24 are exact and multiples
 * of 1 / divisor lie farther apart than errors are wide. */
static void make_inverse(struct convolve_coef *c, tamis_type type)
{
    double exact = 1.0 / c->divisor;
    c->shift = -1;
    for (int s = 0; s < 31; s++)
        if (c->divisor == 1 << s)
            c->shift = s;
    c->inexact = type != TAMIS_U8 || c->divisor > 16384;
    c->inverse = (float)exact;
    if (c->inexact)
        c->inverse = (float)(exact * (1 - 0x1p-21));
    else if ((double)c->inverse * c->divisor < 1)
        c->inverse = nextafterf(c->inverse, 2);
}

/* Two taps in the lanes of a multiply-add. */
static int32_t pair(int low, int high)
{
    return (int32_t)((uint32_t)(uint16_t)low | (uint32_t)(uint16_t)high << 16);
}

static int32_t at(const int32_t *row, int w, int i)
{
    return i >= 0 && i < w ? row[i] : 0;
}

tamis_status tamis_priv_convolve_pairs(tamis_node *node, const int32_t *v, int w, int h,
                                       const struct convolve_pair **out, int *count)
{
    size_t most = ((size_t)w / 2 + 1) * (size_t)h;
    struct convolve_pair *pairs = tamis_priv_node_alloc(node, most * sizeof *pairs);
    if (!pairs)
        return tamis_priv_convolve_no_memory(node);
    for (int y = 0; y < h; y++) {
        const int32_t *row = v + (size_t)y * (size_t)w;
        for (int x = 0; x <= w; x += 2) {
            int32_t even = pair(at(row, w, x), at(row, w, x + 1));
            int32_t odd = pair(at(row, w, x - 1), at(row, w, x));
            if (even || odd)
                pairs[(*count)++] = (struct convolve_pair){y, x, even, odd};
        }
    }
    *out = pairs;
    return TAMIS_OK;
}

static tamis_status make_quads(tamis_node *node, const int32_t *v, struct convolve_coef *c)
{
    int count = (c->w + 3) / 4;
    size_t rows = (size_t)c->h;
    int32_t *quads = tamis_priv_node_alloc(node, rows * (size_t)count * sizeof *quads);
    if (!quads)
        return tamis_priv_convolve_no_memory(node);
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w; x++) {
            uint32_t tap = (uint8_t)v[y * c->w + x];
            int32_t *word = &quads[y * count + x / 4];
            *word = (int32_t)((uint32_t)*word | tap << 8 * (x % 4));
        }
    c->quads = quads;
    c->quad_count = count;
    return TAMIS_OK;
}

tamis_status tamis_priv_convolve_whole(tamis_node *node, const struct convolve_wish *k,
                                       struct convolve_coef *c, int *out)
{
    double factor = common_factor(k), magnitude = 0, greatest = 0;
    double levels = node->work == TAMIS_U8 ? 256 : 65536;
    *out = 0;
    if (factor == 0 || node->work == TAMIS_F32)
        return TAMIS_OK;
    if (k->divisor < 0)
        factor = -factor;
    for (int i = 0; i < k->w * k->h; i++) {
        double tap = fabs(k->v[i] * factor);
        magnitude += tap;
        greatest = fmax(greatest, tap);
    }
    double divisor = k->divisor * factor, add = k->bias * divisor + floor(divisor / 2);
    if (node->work == TAMIS_S16) /* levels are counted from -32768 on while they are made */
        add += 32768 * divisor;
    if (greatest > 32767 || levels * (magnitude + divisor) + fabs(add) >= 0x1p31)
        return TAMIS_OK;
    int32_t *v = tamis_priv_node_alloc(node, (size_t)k->w * (size_t)k->h * sizeof *v);
    if (!v)
        return tamis_priv_convolve_no_memory(node);
    struct convolve_tap *taps = (struct convolve_tap *)(uintptr_t)c->taps;
    for (int i = 0; i < c->count; i++) {
        int place = taps[i].row * k->w + taps[i].column;
        v[place] = taps[i].whole = (int32_t)(k->v[place] * factor);
        c->total += taps[i].whole;
    }
    c->divisor = (int32_t)divisor;
    c->add = (int32_t)add;
    make_inverse(c, node->work);
    c->narrow = node->work == TAMIS_U8 && c->shift >= 0 && 255 * magnitude + fabs(add) < 32767;
    *out = 1;
    if (node->work == TAMIS_U8 && greatest <= 127 && (c->shift >= 0 || !c->inexact))
        TAMIS_TRY(make_quads(node, v, c));
    return tamis_priv_convolve_pairs(node, v, k->w, k->h, &c->pairs, &c->pair_count);
}
