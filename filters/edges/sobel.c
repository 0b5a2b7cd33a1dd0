/* SPDX-License-Identifier: Apache-2.0 */
#include <tamis/sobel.h>

#include "edges_kernel.h"

static const tamis_param params[] = {
    EDGES_PARAM_OUTPUT(struct tamis_sobel),
    TAMIS_PARAM(struct tamis_sobel, ksize, .def = 3, .min = 3, .max = 7, .odd = 1, .unit = "px",
                .doc = "width and height of the window: 3, 5 or 7"),
    EDGES_PARAM_NORM(struct tamis_sobel),
    EDGES_PARAM_TYPE(struct tamis_sobel),
    EDGES_PARAM_SCALE(struct tamis_sobel),
    EDGES_PARAM_COLOR(struct tamis_sobel),
    TAMIS_PARAM_BORDER(struct tamis_sobel),
    TAMIS_PARAM_ALPHA(struct tamis_sobel),
};

static tamis_status plan(tamis_node *node)
{
    const struct tamis_sobel *p = node->params;
    static const edges_kind kinds[] = {EDGES_SOBEL3, EDGES_SOBEL5, EDGES_SOBEL7};
    edges_wish wish = {
        .name = "sobel",
        .kind = kinds[(p->ksize - 3) / 2],
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

extern const tamis_filter tamis_priv_filter_sobel;
const tamis_filter tamis_priv_filter_sobel = {
    .name = "sobel",
    .brief = "slope of the picture: edges across, down, their size or direction",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .params_size = sizeof(struct tamis_sobel),
    .traits = TAMIS_TRAIT_EDGES,
    .max_inputs = 1,
    .plan = plan,
    .kernels = tamis_priv_edges_gradients,
};
