/* SPDX-License-Identifier: Apache-2.0 */
#include <tamis/laplacian.h>

#include "edges_kernel.h"

static const char *const neighbor_names[] = {"4", "8", NULL};

static const tamis_param params[] = {
    TAMIS_PARAM(struct tamis_laplacian, neighbors, .def = TAMIS_LAPLACIAN_4,
                .max = TAMIS_LAPLACIAN_8, .choices = neighbor_names, .unit = "",
                .doc = "which neighbors count: those beside the pixel, or corners too"),
    EDGES_PARAM_TYPE(struct tamis_laplacian),
    EDGES_PARAM_SCALE(struct tamis_laplacian),
    EDGES_PARAM_COLOR(struct tamis_laplacian),
    TAMIS_PARAM_BORDER(struct tamis_laplacian),
    TAMIS_PARAM_ALPHA(struct tamis_laplacian),
};

static tamis_status plan(tamis_node *node)
{
    const struct tamis_laplacian *p = node->params;
    edges_wish wish = {
        .name = "laplacian",
        .kind = p->neighbors == TAMIS_LAPLACIAN_8 ? EDGES_LAPLACIAN8 : EDGES_LAPLACIAN4,
        .output = TAMIS_GRADIENT_DX,
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

extern const tamis_filter tamis_priv_filter_laplacian;
const tamis_filter tamis_priv_filter_laplacian = {
    .name = "laplacian",
    .brief = "how much the neighbors are brighter: second derivative, edges of both signs",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .params_size = sizeof(struct tamis_laplacian),
    .traits = TAMIS_TRAIT_EDGES,
    .max_inputs = 1,
    .plan = plan,
    .kernels = tamis_priv_edges_laplacians,
};
