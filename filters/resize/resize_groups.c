/* SPDX-License-Identifier: Apache-2.0 */
/* The fixed-point weights across arranged for kernels that pick samples out of tables. */
#include "resize_kernel.h"

/* Weights are kept for every pixel here, repeated or not. */
enum { MOST_PIXELS = 1 << 16 };

/* Whether the windows of so many neighbors fit a table wherever they are. */
static int groups_fit(const struct resize_axis *a, int step, int pixels, int pairs)
{
    for (int32_t i = 0; i < a->out; i += pixels) {
        int32_t last = i + pixels < a->out ? i + pixels - 1 : a->out - 1;
        if (((int64_t)a->start[last] - a->start[i] + 2 * pairs) * step > RESIZE_TABLE)
            return 0;
    }
    return 1;
}

static void fill_group(const struct resize_axis *a, const struct resize_groups *g, int32_t i,
                       int32_t end, int16_t *index, uint32_t *weights)
{
    for (int lane = 0; lane < (end - i) * g->step; lane++) {
        int32_t x = i + lane / g->step;
        const int16_t *q = resize_fixed_weights(a, x);
        int at = (a->start[x] - a->start[i]) * g->step + lane % g->step;
        index[2 * lane] = (int16_t)at;
        index[2 * lane + 1] = (int16_t)(at + g->step);
        for (int k = 0; k < g->pairs; k++)
            weights[k * RESIZE_LANES + lane] = (uint16_t)q[2 * k] | (uint32_t)(uint16_t)q[2 * k + 1]
                                                                        << 16;
    }
}

tamis_status tamis_priv_resize_groups(tamis_node *node, const struct resize_axis *a, int step,
                                      struct resize_groups *g)
{
    *g = (struct resize_groups){.pixels = RESIZE_LANES / step, .step = step};
    g->pairs = (a->taps + 1) / 2;
    if (a->ratio < 1.5 || a->out > MOST_PIXELS)
        g->pixels = 0; /* transposing takes less time or memory */
    while (g->pixels > 0 && !groups_fit(a, step, g->pixels, g->pairs))
        g->pixels--;
    if (g->pixels * step < RESIZE_LANES / 4)
        g->pixels = 0; /* no gain */
    if (g->pixels == 0)
        return TAMIS_OK;
    size_t count = ((size_t)a->out + (size_t)g->pixels - 1) / (size_t)g->pixels;
    size_t lanes = count * RESIZE_LANES;
    int32_t *first = tamis_priv_node_alloc(node, count * sizeof *first);
    int16_t *index = tamis_priv_node_alloc(node, 2 * lanes * sizeof *index);
    uint32_t *weights = tamis_priv_node_alloc(node, lanes * (size_t)g->pairs * sizeof *weights);
    if (!first || !index || !weights)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY, "resize: no memory for the tables");
    for (size_t n = 0; n < count; n++) {
        int32_t i = (int32_t)n * g->pixels, end = i + g->pixels < a->out ? i + g->pixels : a->out;
        first[n] = a->start[i];
        fill_group(a, g, i, end, index + 2 * n * RESIZE_LANES,
                   weights + n * (size_t)g->pairs * RESIZE_LANES);
    }
    g->first = first;
    g->index = index;
    g->weights = weights;
    return TAMIS_OK;
}
