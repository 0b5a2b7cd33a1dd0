/* SPDX-License-Identifier: Apache-2.0 */
#include "unsharp.h"

#include <string.h>

#include "cpu/kernel.h"
#include "gaussian.h"
#include "gaussian_kernel.h"
#include "unsharp_kernel.h"

static void unsharp_c(const tamis_tile *t, const void *coef, void *scratch)
{
    const unsharp_coef *k = coef;
    const struct gaussian_sharpen sharpen = {k->amount, k->threshold};
    const tamis_kernel *const *table = tamis_priv_filter_gaussian.kernels;
    while (table[1]) /* the reference is the last */
        table++;
    const float *smooth = unsharp_smooth(t, k, *table, scratch);
    size_t stride = unsharp_stride(t->w, t->step);
    for (int y = 0; y < t->h; y++) {
        const float *src = t->src[0][y];
        float *dst = (float *)(void *)((char *)t->dst[0] + y * t->dst_stride[0]);
        for (int i = 0; i < t->w * t->step; i++) {
            float d = src[i] - smooth[(size_t)y * stride + (size_t)i];
            dst[i] = unsharp_sample(&sharpen, src[i], d);
        }
    }
}

/* Of direct sums, the Gaussian's kernels do it all. */
static const tamis_kernel unsharp_kernels_c[] = {
    {"separable", TAMIS_U8, TAMIS_CPU_C, tamis_priv_gaussian_u8_c, 0},
    {"separable", TAMIS_U16, TAMIS_CPU_C, tamis_priv_gaussian_u16_c, 0},
    {"separable", TAMIS_S16, TAMIS_CPU_C, tamis_priv_gaussian_s16_c, 0},
    {"separable", TAMIS_F32, TAMIS_CPU_C, tamis_priv_gaussian_f32_c, 0},
    {"grid", TAMIS_F32, TAMIS_CPU_C, unsharp_c, 0},
    {.fn = NULL},
};

static size_t scratch_bytes(const void *coef, int w, int h, int step)
{
    const unsharp_coef *k = coef;
    size_t smooth = unsharp_stride(w, step) * (size_t)h * sizeof(float);
    return smooth + (k->gaussian_scratch ? k->gaussian_scratch(k->gaussian, w, h, step) : 0);
}

static const tamis_param params[] = {
    TAMIS_PARAM(struct tamis_unsharp, sigma, .def = 1.5, .min = 0.1, .max = 1000,
                .scales = TAMIS_SCALES_BOTH, .unit = "px",
                .doc = "standard deviation of the Gaussian: details finer than this are sharpened"),
    TAMIS_PARAM(struct tamis_unsharp, amount, .def = 1, .min = -1, .max = 20, .unit = "",
                .doc = "how much of the difference from the smoothed picture is added"),
    TAMIS_PARAM(struct tamis_unsharp, threshold, .def = 0, .min = 0, .max = 1e9, .unit = "levels",
                .doc = "differences up to this are left alone, larger ones count as less by it"),
    TAMIS_PARAM_BORDER(struct tamis_unsharp),
    TAMIS_PARAM(struct tamis_unsharp, alpha, .def = TAMIS_ALPHA_MODE_IGNORE,
                .max = TAMIS_ALPHA_MODE_IGNORE, .choices = tamis_priv_alpha_names, .unit = "",
                .doc = "alpha channel: weight color by it, treat it as a channel, or leave it"),
};

static tamis_status no_memory(tamis_node *node)
{
    return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY, "unsharp: out of memory");
}

/* The Gaussian of the same picture in samples of that type. */
static tamis_status plan_gaussian(const tamis_node *node, tamis_type type, tamis_node *out)
{
    const struct tamis_unsharp *p = node->params;
    struct tamis_gaussian g;
    *out = *node;
    tamis_filter_defaults(&tamis_priv_filter_gaussian, &g);
    g.sigma = p->sigma;
    g.border = p->border;
    g.alpha = p->alpha;
    out->params = &g;
    out->in.type = out->out.type = type;
    tamis_status status = tamis_priv_filter_gaussian.plan(out);
    out->params = NULL; /* they end here */
    return status;
}

/* The Gaussian with another end. */
static tamis_status plan_direct(tamis_node *node, const tamis_node *gaussian,
                                struct gaussian_sharpen sharpen)
{
    struct gaussian_sharpen *s = tamis_priv_node_alloc(node, sizeof *s);
    struct gaussian_coef *c = tamis_priv_node_alloc(node, sizeof *c);
    if (!s || !c)
        return no_memory(node);
    *s = sharpen;
    *c = *(const struct gaussian_coef *)gaussian->coef;
    c->sharpen = s;
    node->coef = c;
    return TAMIS_OK;
}

/* The difference from a Gaussian in f32. */
static tamis_status plan_grid(tamis_node *node, const tamis_node *gaussian,
                              struct gaussian_sharpen sharpen)
{
    unsharp_coef *k = tamis_priv_node_alloc(node, sizeof *k);
    if (!k)
        return no_memory(node);
    k->gaussian = gaussian->coef;
    k->gaussian_scratch = gaussian->scratch;
    k->amount = sharpen.amount;
    k->threshold = sharpen.threshold;
    node->coef = k;
    node->scratch = scratch_bytes;
    return TAMIS_OK;
}

static int is_direct(const tamis_node *gaussian)
{
    return strcmp(gaussian->stage, "separable") == 0;
}

static tamis_status plan(tamis_node *node)
{
    const struct tamis_unsharp *p = node->params;
    struct gaussian_sharpen sharpen = {(float)p->amount,
                                       (float)tamis_priv_node_value(node, p->threshold)};
    tamis_node gaussian;
    node->alpha = p->alpha;
    node->work = tamis_priv_node_work(node);
    TAMIS_TRY(plan_gaussian(node, node->work, &gaussian));
    if (!is_direct(&gaussian) && node->work != TAMIS_F32) {
        node->work = TAMIS_F32;
        TAMIS_TRY(plan_gaussian(node, TAMIS_F32, &gaussian));
    }
    node->stage = gaussian.stage;
    node->halo = gaussian.halo;
    node->tile_w = gaussian.tile_w;
    node->tile_h = gaussian.tile_h;
    node->tile_share = gaussian.tile_share;
    node->scratch = gaussian.scratch;
    node->border = p->border;
    node->border_value = tamis_priv_node_value(node, p->border_value);
    return is_direct(&gaussian) ? plan_direct(node, &gaussian, sharpen)
                                : plan_grid(node, &gaussian, sharpen);
}

TAMIS_KERNEL_DECLARE(unsharp);
static const tamis_kernel *const kernels[] = TAMIS_KERNEL_LIST(unsharp);

extern const tamis_filter tamis_priv_filter_unsharp;
const tamis_filter tamis_priv_filter_unsharp = {
    .name = "unsharp",
    .brief = "sharpen by what a Gaussian takes away",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .params_size = sizeof(struct tamis_unsharp),
    .traits = TAMIS_TRAIT_DETAIL,
    .max_inputs = 1,
    .plan = plan,
    .kernels = kernels,
};
