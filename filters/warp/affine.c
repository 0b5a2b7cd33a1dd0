/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <tamis/affine.h>

#include "warp_kernel.h"

#define FAR 1e9

static const tamis_param params[] = {
    TAMIS_PARAM(struct tamis_affine, matrix, .least = 6, .most = 6, .min = -FAR, .max = FAR,
                .unit = "", .doc = "x' = a x + b y + c, y' = d x + e y + f as a,b,c,d,e,f"),
    TAMIS_PARAM(struct tamis_affine, inverse, .def = 0, .min = 0, .max = 1, .unit = "",
                .doc = "1: matrix maps the result to the picture"),
    TAMIS_PARAM(struct tamis_affine, scale, .least = 1, .most = 2, .min = -1e6, .max = 1e6,
                .unit = "", .doc = "larger by so much; across and down may differ"),
    TAMIS_PARAM(struct tamis_affine, shear, .least = 1, .most = 2, .min = -1e6, .max = 1e6,
                .unit = "px", .doc = "moved across per pixel down, and down per pixel across"),
    TAMIS_PARAM(struct tamis_affine, angle, .def = 0, .min = -1e6, .max = 1e6, .unit = "degrees",
                .doc = "turn, counter-clockwise as seen"),
    TAMIS_PARAM(struct tamis_affine, translate, .least = 2, .most = 2, .min = -FAR, .max = FAR,
                .unit = "px", .doc = "move across and down"),
    TAMIS_PARAM(struct tamis_affine, center, .least = 2, .most = 2, .min = -FAR, .max = FAR,
                .unit = "px", .doc = "what scale, shear and angle keep; auto: the middle"),
    WARP_PARAM_SIZE(struct tamis_affine),
    WARP_PARAMS(struct tamis_affine),
};

static double number(const tamis_numbers *n, int index, double otherwise)
{
    return index < n->count ? n->v[index] : otherwise;
}

/* T C R H S C^-1, C moving the origin to the center. */
static void compose(const tamis_node *node, const struct tamis_affine *p, double m[9])
{
    double sx = number(&p->scale, 0, 1), sy = number(&p->scale, 1, sx), turn[9];
    double hx = number(&p->shear, 0, 0), hy = number(&p->shear, 1, 0);
    double shear_scale[9] = {sx, hx * sy, 0, hy * sx, sy, 0, 0, 0, 1};
    tamis_priv_warp_turn(turn, p->angle);
    tamis_priv_warp_multiply(m, turn, shear_scale);
    tamis_priv_warp_about(m, m, number(&p->center, 0, (node->picture_w - 1) / 2.0),
                          number(&p->center, 1, (node->picture_h - 1) / 2.0));
    m[2] += number(&p->translate, 0, 0);
    m[5] += number(&p->translate, 1, 0);
}

static int has_parts(const struct tamis_affine *p)
{
    return p->scale.count || p->shear.count || p->angle != 0 || p->translate.count;
}

static tamis_status plan(tamis_node *node)
{
    const struct tamis_affine *p = node->params;
    struct warp_wish wish = {.name = "affine",
                             .kind = WARP_AFFINE,
                             .forward = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                             .size = p->size,
                             .interp = p->interp,
                             .cubic_a = p->cubic_a,
                             .border = p->border,
                             .border_value = p->border_value,
                             .alpha = p->alpha};
    double parts[9];
    for (int i = 0; i < p->scale.count; i++)
        if (p->scale.v[i] == 0)
            return tamis_priv_fail(node->ctx, TAMIS_ERR_ARGUMENT,
                                   "affine: scale = 0 makes the matrix singular: it flattens the "
                                   "picture; allowed: -1000000 .. 1000000 but 0");
    compose(node, p, parts);
    if (p->matrix.count == 0) {
        memcpy(wish.forward, parts, sizeof parts);
        return tamis_priv_warp_plan(node, &wish);
    }
    memcpy(wish.forward, p->matrix.v, 6 * sizeof *wish.forward);
    wish.inverse = p->inverse;
    if (!has_parts(p))
        return tamis_priv_warp_plan(node, &wish);
    TAMIS_TRY(tamis_priv_warp_check(node, &wish));
    if (wish.inverse)
        tamis_priv_warp_invert(wish.forward, wish.forward);
    wish.inverse = 0;
    tamis_priv_warp_multiply(wish.forward, parts, wish.forward);
    return tamis_priv_warp_plan(node, &wish);
}

const tamis_filter tamis_priv_filter_affine = {
    .name = "affine",
    .brief = "move, turn, scale and shear",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .params_size = sizeof(struct tamis_affine),
    .traits = TAMIS_TRAIT_GEOMETRY,
    .max_inputs = 1,
    .plan = plan,
    .kernels = tamis_priv_warp_kernels_all,
};
