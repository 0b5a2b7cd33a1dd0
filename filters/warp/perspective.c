/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <tamis/perspective.h>

#include "warp_kernel.h"

static const tamis_param params[] = {
    TAMIS_PARAM(struct tamis_perspective, matrix, .least = 6, .most = 9, .min = -1e9, .max = 1e9,
                .unit = "",
                .doc = "3x3 row by row, picture to result; 6 numbers: the last is 0,0,1"),
    TAMIS_PARAM(struct tamis_perspective, inverse, .def = 0, .min = 0, .max = 1, .unit = "",
                .doc = "1: matrix maps the result to the picture"),
    WARP_PARAM_SIZE(struct tamis_perspective),
    WARP_PARAMS(struct tamis_perspective),
};

static tamis_status plan(tamis_node *node)
{
    const struct tamis_perspective *p = node->params;
    struct warp_wish wish = {.name = "perspective",
                             .kind = WARP_PERSPECTIVE,
                             .forward = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                             .inverse = p->inverse,
                             .size = p->size,
                             .interp = p->interp,
                             .cubic_a = p->cubic_a,
                             .border = p->border,
                             .border_value = p->border_value,
                             .alpha = p->alpha};
    int n = p->matrix.count;
    if (n == 7 || n == 8)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_ARGUMENT,
                               "perspective: matrix has %d numbers; allowed: 6 or 9", n);
    memcpy(wish.forward, p->matrix.v, (size_t)n * sizeof *wish.forward);
    return tamis_priv_warp_plan(node, &wish);
}

const tamis_filter tamis_priv_filter_perspective = {
    .name = "perspective",
    .brief = "map by a 3x3 matrix",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .params_size = sizeof(struct tamis_perspective),
    .traits = TAMIS_TRAIT_GEOMETRY,
    .max_inputs = 1,
    .plan = plan,
    .kernels = tamis_priv_warp_kernels_all,
};
