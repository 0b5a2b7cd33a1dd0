/* SPDX-License-Identifier: Apache-2.0 */
#include "sharpen.h"

#include <math.h>

#include "cpu/kernel.h"
#include "cpu/sample.h"
#include "sharpen_kernel.h"

/* ---- reference */

/* Sums by pairs: of equal samples they are exact in binary32. */
static float difference(const sharpen_coef *k, tamis_type type, const void *const *rows,
                        ptrdiff_t i, ptrdiff_t step)
{
    float center = (float)tamis_priv_sample_get(type, rows[0], i);
    float sides = ((float)tamis_priv_sample_get(type, rows[-1], i) +
                   (float)tamis_priv_sample_get(type, rows[1], i)) +
                  ((float)tamis_priv_sample_get(type, rows[0], i - step) +
                   (float)tamis_priv_sample_get(type, rows[0], i + step));
    if (!k->corners)
        return 4 * center - sides;
    float corners = ((float)tamis_priv_sample_get(type, rows[-1], i - step) +
                     (float)tamis_priv_sample_get(type, rows[-1], i + step)) +
                    ((float)tamis_priv_sample_get(type, rows[1], i - step) +
                     (float)tamis_priv_sample_get(type, rows[1], i + step));
    return 8 * center - (sides + corners);
}

static void sharpen_c(const tamis_tile *t, const sharpen_coef *k, tamis_type type)
{
    for (int y = 0; y < t->h; y++) {
        const void *const *rows = t->src[0] + y;
        char *dst = (char *)t->dst[0] + y * t->dst_stride[0];
        for (int i = 0; i < t->w * t->step; i++)
            tamis_priv_sample_put(type, dst, i,
                                  fmaf(k->amount, difference(k, type, rows, i, t->step),
                                       (float)tamis_priv_sample_get(type, rows[0], i)));
    }
}

#define ROW(suffix, type)                                                                          \
    static void sharpen_##suffix##_c(const tamis_tile *t, const void *coef, void *scratch)         \
    {                                                                                              \
        (void)scratch;                                                                             \
        sharpen_c(t, coef, type);                                                                  \
    }
ROW(u8, TAMIS_U8)
ROW(u16, TAMIS_U16)
ROW(s16, TAMIS_S16)
ROW(f32, TAMIS_F32)

static const tamis_kernel sharpen_kernels_c[] = {
    {"whole", TAMIS_U8, TAMIS_CPU_C, sharpen_u8_c, 0},
    {"any", TAMIS_U8, TAMIS_CPU_C, sharpen_u8_c, 0},
    {"any", TAMIS_U16, TAMIS_CPU_C, sharpen_u16_c, 0},
    {"any", TAMIS_S16, TAMIS_CPU_C, sharpen_s16_c, 0},
    {"any", TAMIS_F32, TAMIS_CPU_C, sharpen_f32_c, 0},
    {.fn = NULL},
};

/* ---- plan */

static const char *const neighbor_names[] = {"4", "8", NULL};

static const tamis_param params[] = {
    TAMIS_PARAM(struct tamis_sharpen, amount, .def = 1, .min = -1, .max = 100, .unit = "",
                .doc = "how much of the difference from the neighbors is added"),
    TAMIS_PARAM(struct tamis_sharpen, neighbors, .def = TAMIS_SHARPEN_4, .max = TAMIS_SHARPEN_8,
                .choices = neighbor_names, .unit = "", .doc = "neighbors that count"),
    TAMIS_PARAM_BORDER(struct tamis_sharpen),
    TAMIS_PARAM(struct tamis_sharpen, alpha, .def = TAMIS_ALPHA_MODE_IGNORE,
                .max = TAMIS_ALPHA_MODE_IGNORE, .choices = tamis_priv_alpha_names, .unit = "",
                .doc = "alpha channel: weight color by it, treat it as a channel, or leave it"),
};

static tamis_status plan(tamis_node *node)
{
    const struct tamis_sharpen *p = node->params;
    sharpen_coef *k = tamis_priv_node_alloc(node, sizeof *k);
    if (!k)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY, "sharpen: out of memory");
    k->corners = p->neighbors == TAMIS_SHARPEN_8;
    k->amount = (float)p->amount;
    node->coef = k;
    node->border = p->border;
    node->border_value = tamis_priv_node_value(node, p->border_value);
    node->alpha = p->alpha;
    node->work = tamis_priv_node_work(node);
    node->halo = (tamis_halo){1, 1, 1, 1};
    node->tile_w = 2048;
    int whole = p->amount == nearbyint(p->amount) && fabs(p->amount) <= SHARPEN_WHOLE_MAX;
    k->whole = whole ? (int)p->amount : 0;
    node->stage = whole && node->work == TAMIS_U8 ? "whole" : "any";
    return TAMIS_OK;
}

TAMIS_KERNEL_DECLARE(sharpen);
static const tamis_kernel *const kernels[] = TAMIS_KERNEL_LIST(sharpen);

extern const tamis_filter tamis_priv_filter_sharpen;
const tamis_filter tamis_priv_filter_sharpen = {
    .name = "sharpen",
    .brief = "add the difference from the nearest neighbors",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .params_size = sizeof(struct tamis_sharpen),
    .traits = TAMIS_TRAIT_DETAIL,
    .max_inputs = 1,
    .plan = plan,
    .kernels = kernels,
};
