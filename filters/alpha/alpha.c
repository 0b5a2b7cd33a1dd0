/* SPDX-License-Identifier: Apache-2.0 */
#include "alpha.h"

#include <string.h>

#include "alpha_kernel.h"
#include "cpu/kernel.h"

static float *out_row(const tamis_tile *t, int p, int y)
{
    return (float *)(void *)((char *)t->dst[p] + y * t->dst_stride[p]);
}

static float change(const alpha_coef *k, float color, float alpha)
{
    switch (k->way) {
    case ALPHA_MULTIPLY:
        return color * alpha / k->range;
    case ALPHA_DIVIDE:
        return alpha > 0 ? color * k->range / alpha : 0;
    default:
        return color;
    }
}

static void alpha_c(const tamis_tile *t, const void *coef, void *scratch)
{
    const alpha_coef *k = coef;
    (void)scratch;
    for (int y = 0; y < t->h; y++) {
        const float *alpha = k->has_alpha ? t->src[k->colors][y] : NULL;
        for (int p = 0; p < k->colors; p++)
            for (int x = 0; x < t->w; x++)
                out_row(t, p, y)[x] =
                    change(k, ((const float *)t->src[p][y])[x], alpha ? alpha[x] : 0);
        for (int x = 0; x < t->w && k->writes_alpha; x++)
            out_row(t, k->colors, y)[x] = k->opaque ? k->highest : alpha[x];
    }
}

static const tamis_kernel alpha_kernels_c[] = {
    {"change", TAMIS_F32, TAMIS_CPU_C, alpha_c, 0},
    {.fn = NULL},
};

static const char *const to_names[] = {"premultiplied", "straight", "none", "opaque", NULL};

static const tamis_param params[] = {
    TAMIS_PARAM(struct tamis_alpha_change, to, .def = TAMIS_ALPHA_TO_NONE,
                .max = TAMIS_ALPHA_TO_OPAQUE, .choices = to_names, .unit = "",
                .doc = "what the result's alpha is to be"),
};

static tamis_alpha wanted(tamis_alpha have, unsigned to)
{
    return to == TAMIS_ALPHA_TO_PREMULTIPLIED ? TAMIS_ALPHA_PREMULTIPLIED
           : to == TAMIS_ALPHA_TO_STRAIGHT    ? TAMIS_ALPHA_STRAIGHT
           : to == TAMIS_ALPHA_TO_NONE        ? TAMIS_ALPHA_NONE
           : have == TAMIS_ALPHA_NONE         ? TAMIS_ALPHA_STRAIGHT
                                              : have;
}

static tamis_status check(const tamis_node *node, unsigned to)
{
    int has_alpha = node->in.alpha != TAMIS_ALPHA_NONE;
    if (!has_alpha && to <= TAMIS_ALPHA_TO_STRAIGHT)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_ARGUMENT,
                               "alpha: to = %s: the image has no alpha channel; none and opaque "
                               "are possible",
                               to_names[to]);
    if (!has_alpha && to == TAMIS_ALPHA_TO_OPAQUE && node->in.channels == TAMIS_MAX_CHANNELS)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_ARGUMENT,
                               "alpha: to = opaque: the image has %d channels already",
                               node->in.channels);
    return TAMIS_OK;
}

static tamis_status plan(tamis_node *node)
{
    const struct tamis_alpha_change *p = node->params;
    int has_alpha = node->in.alpha != TAMIS_ALPHA_NONE;
    TAMIS_TRY(check(node, p->to));
    alpha_coef *k = tamis_priv_node_alloc(node, sizeof *k);
    if (!k)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY, "alpha: out of memory");
    node->out.alpha = wanted(node->in.alpha, p->to);
    k->colors = node->in.channels - has_alpha;
    k->has_alpha = has_alpha;
    k->writes_alpha = node->out.alpha != TAMIS_ALPHA_NONE;
    k->opaque = p->to == TAMIS_ALPHA_TO_OPAQUE;
    k->way = p->to == TAMIS_ALPHA_TO_PREMULTIPLIED && node->in.alpha == TAMIS_ALPHA_STRAIGHT
                 ? ALPHA_MULTIPLY
             : p->to == TAMIS_ALPHA_TO_STRAIGHT && node->in.alpha == TAMIS_ALPHA_PREMULTIPLIED
                 ? ALPHA_DIVIDE
                 : ALPHA_COPY;
    k->range = (float)tamis_type_range(node->in.type);
    k->highest = node->in.type == TAMIS_S16 ? 32767 : k->range;
    node->out.channels = k->colors + k->writes_alpha;
    node->alpha = TAMIS_ALPHA_MODE_STRAIGHT;
    node->planar = 1;
    node->work = TAMIS_F32;
    node->stage = "change";
    node->coef = k;
    return TAMIS_OK;
}

TAMIS_KERNEL_DECLARE(alpha);
static const tamis_kernel *const kernels[] = TAMIS_KERNEL_LIST(alpha);

extern const tamis_filter tamis_priv_filter_alpha;
const tamis_filter tamis_priv_filter_alpha = {
    .name = "alpha",
    .brief = "multiply color by alpha, divide it again, drop alpha or add it",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .params_size = sizeof(struct tamis_alpha_change),
    .traits = TAMIS_TRAIT_COLOR,
    .max_inputs = 1,
    .plan = plan,
    .kernels = kernels,
};
