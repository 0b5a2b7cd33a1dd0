/* SPDX-License-Identifier: Apache-2.0 */
#include <tamis/rotate.h>

#include "warp_kernel.h"

static const tamis_param params[] = {
    TAMIS_PARAM(struct tamis_rotate, angle, .def = 90, .min = -1e6, .max = 1e6, .unit = "degrees",
                .doc = "counter-clockwise as seen"),
    TAMIS_PARAM(struct tamis_rotate, center, .least = 2, .most = 2, .min = -1e9, .max = 1e9,
                .unit = "px", .doc = "what stays in place; auto: the middle"),
    WARP_PARAM_SIZE(struct tamis_rotate),
    WARP_PARAMS(struct tamis_rotate),
};

static tamis_status plan(tamis_node *node)
{
    const struct tamis_rotate *p = node->params;
    struct warp_wish wish = {.name = "rotate",
                             .kind = WARP_AFFINE,
                             .size = p->size,
                             .interp = p->interp,
                             .cubic_a = p->cubic_a,
                             .border = p->border,
                             .border_value = p->border_value,
                             .alpha = p->alpha};
    double x = p->center.count ? p->center.v[0] : (node->picture_w - 1) / 2.0;
    double y = p->center.count ? p->center.v[1] : (node->picture_h - 1) / 2.0;
    tamis_priv_warp_turn(wish.forward, p->angle);
    tamis_priv_warp_about(wish.forward, wish.forward, x, y);
    if (p->size.w > 0) { /* middle on middle */
        wish.forward[2] += (p->size.w - 1) / 2.0 - (node->picture_w - 1) / 2.0;
        wish.forward[5] += (p->size.h - 1) / 2.0 - (node->picture_h - 1) / 2.0;
    }
    return tamis_priv_warp_plan(node, &wish);
}

const tamis_filter tamis_priv_filter_rotate = {
    .name = "rotate",
    .brief = "turn by any angle",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .params_size = sizeof(struct tamis_rotate),
    .traits = TAMIS_TRAIT_GEOMETRY,
    .max_inputs = 1,
    .plan = plan,
    .kernels = tamis_priv_warp_kernels,
};
