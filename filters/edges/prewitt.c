/* SPDX-License-Identifier: Apache-2.0 */
#include <tamis/prewitt.h>

#include "edges_kernel.h"

static const tamis_param params[] = {
    EDGES_PARAM_OUTPUT(struct tamis_prewitt), EDGES_PARAM_NORM(struct tamis_prewitt),
    EDGES_PARAM_TYPE(struct tamis_prewitt),   EDGES_PARAM_SCALE(struct tamis_prewitt),
    EDGES_PARAM_COLOR(struct tamis_prewitt),  TAMIS_PARAM_BORDER(struct tamis_prewitt),
    TAMIS_PARAM_ALPHA(struct tamis_prewitt),
};

static tamis_status plan(tamis_node *node)
{
    const struct tamis_prewitt *p = node->params;
    edges_wish wish = {
        .name = "prewitt",
        .kind = EDGES_PREWITT,
        .output = p->output,
        .norm = p->norm,
        .type = p->type,
        .scale = p->scale,
        .delta = p->delta,
        .color = p->color,
        .border = p->border,
        .border_value = p->border_value,
        .alpha = p->alpha,
    };
    return tamis_priv_edges_plan(node, &wish);
}

extern const tamis_filter tamis_priv_filter_prewitt;
const tamis_filter tamis_priv_filter_prewitt = {
    .name = "prewitt",
    .brief = "slope with evenly weighted rows: edges across, down, their size or direction",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .params_size = sizeof(struct tamis_prewitt),
    .traits = TAMIS_TRAIT_EDGES,
    .max_inputs = 1,
    .plan = plan,
    .kernels = tamis_priv_edges_gradients,
};
