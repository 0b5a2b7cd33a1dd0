/* SPDX-License-Identifier: Apache-2.0 */
#include <tamis/remap.h>

#include "warp_kernel.h"

/* Without area, the last: a map says where pixels lie, but not what they cover. */
static const char *const interp_names[] = {"nearest", "linear", "cubic", "lanczos3", NULL};

static const tamis_param params[] = {
    WARP_PARAMS_INTERP(struct tamis_remap, interp_names, TAMIS_INTERP_LANCZOS3),
};

static tamis_status check_map(const tamis_node *node)
{
    char text[64];
    if (!node->has_guide)
        return tamis_priv_fail(
            node->ctx, TAMIS_ERR_ARGUMENT,
            "remap: needs a second picture, the map (guide), with the column and "
            "the row of each pixel");
    int is_float = node->guide.type == TAMIS_F32 || node->guide.type == TAMIS_F16;
    if (node->guide.channels == 2 && is_float)
        return TAMIS_OK;
    return tamis_priv_fail(node->ctx, TAMIS_ERR_ARGUMENT,
                           "remap: the map (guide) is %s; allowed: f32 or f16 with two channels",
                           tamis_format_print(node->guide, text, sizeof text));
}

static tamis_status plan(tamis_node *node)
{
    const struct tamis_remap *p = node->params;
    struct warp_wish wish = {.name = "remap",
                             .kind = WARP_MAP,
                             .interp = p->interp,
                             .cubic_a = p->cubic_a,
                             .border = p->border,
                             .border_value = p->border_value,
                             .alpha = p->alpha};
    TAMIS_TRY(check_map(node));
    TAMIS_TRY(tamis_priv_warp_plan(node, &wish));
    node->guide_is_map = 1;
    node->out_w = node->guide_w;
    node->out_h = node->guide_h;
    return TAMIS_OK;
}

const tamis_filter tamis_priv_filter_remap = {
    .name = "remap",
    .brief = "take each pixel from where a map says",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .params_size = sizeof(struct tamis_remap),
    .traits = TAMIS_TRAIT_GEOMETRY,
    .max_inputs = 2,
    .needs_guide = 1,
    .plan = plan,
    .kernels = tamis_priv_warp_kernels,
};
