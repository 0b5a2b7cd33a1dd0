/* SPDX-License-Identifier: Apache-2.0 */
/* Slopes and Laplacians: plan and reference. */
#include "cpu/sample.h"
#include "edges_kernel.h"

#include <math.h>

const char *const tamis_priv_edges_output_names[] = {"magnitude", "dx", "dy", "direction", NULL};
const char *const tamis_priv_edges_norm_names[] = {"l2", "l1", NULL};
const char *const tamis_priv_edges_type_names[] = {"auto", "same", "u8", "u16", "s16", "f32", NULL};
const char *const tamis_priv_edges_color_names[] = {"separate", "luma", NULL};

const edges_taps tamis_priv_edges_taps[] = {
    [EDGES_SOBEL3] = {1, {0, 1}, {2, 1}},
    [EDGES_PREWITT] = {1, {0, 1}, {1, 1}},
    [EDGES_SCHARR] = {1, {0, 1}, {10, 3}},
    [EDGES_SOBEL5] = {2, {0, 2, 1}, {6, 4, 1}},
    [EDGES_SOBEL7] = {3, {0, 5, 4, 1}, {20, 15, 6, 1}},
};

/* ---- the reference: binary32 in the order written here, in which integers below 2^24 are exact */

float tamis_priv_edges_sample(const tamis_tile *t, tamis_type type, int luma, int p, int y,
                              ptrdiff_t i)
{
    const void *row = t->src[p][y];
    if (luma) {
        float r = tamis_priv_edges_sample(t, type, 0, 0, y, i);
        float g = tamis_priv_edges_sample(t, type, 0, 1, y, i);
        float b = tamis_priv_edges_sample(t, type, 0, 2, y, i);
        if (type == TAMIS_F32)
            return (0.299f * r + 0.587f * g) + 0.114f * b;
        double sum = EDGES_LUMA_R * (double)r + EDGES_LUMA_G * (double)g + EDGES_LUMA_B * (double)b;
        return (float)floor((sum + 16384) / 32768);
    }
    switch (type) {
    case TAMIS_U8:
        return ((const uint8_t *)row)[i];
    case TAMIS_U16:
        return ((const uint16_t *)row)[i];
    case TAMIS_S16:
        return ((const int16_t *)row)[i];
    default:
        return ((const float *)row)[i];
    }
}

float tamis_priv_edges_dx(const tamis_tile *t, const edges_taps *k, tamis_type type, int luma,
                          int p, int y, ptrdiff_t i)
{
    float line[2 * EDGES_MAX_RADIUS + 1], *middle = line + k->radius;
    for (int v = -k->radius; v <= k->radius; v++) {
        middle[v] = 0;
        for (int j = 1; j <= k->radius; j++) {
            float after = tamis_priv_edges_sample(t, type, luma, p, y + v, i + j * t->step);
            float before = tamis_priv_edges_sample(t, type, luma, p, y + v, i - j * t->step);
            middle[v] += k->derivative[j] * (after - before);
        }
    }
    float sum = k->smooth[0] * middle[0];
    for (int v = 1; v <= k->radius; v++)
        sum += k->smooth[v] * (middle[-v] + middle[v]);
    return sum;
}

static float smooth_row(const tamis_tile *t, const edges_taps *k, tamis_type type, int luma, int p,
                        int y, ptrdiff_t i)
{
    float sum = k->smooth[0] * tamis_priv_edges_sample(t, type, luma, p, y, i);
    for (int j = 1; j <= k->radius; j++)
        sum += k->smooth[j] * (tamis_priv_edges_sample(t, type, luma, p, y, i - j * t->step) +
                               tamis_priv_edges_sample(t, type, luma, p, y, i + j * t->step));
    return sum;
}

float tamis_priv_edges_dy(const tamis_tile *t, const edges_taps *k, tamis_type type, int luma,
                          int p, int y, ptrdiff_t i)
{
    float sum = 0;
    for (int v = 1; v <= k->radius; v++)
        sum += k->derivative[v] * (smooth_row(t, k, type, luma, p, y + v, i) -
                                   smooth_row(t, k, type, luma, p, y - v, i));
    return sum;
}

static float laplacian(const tamis_tile *t, const edges_coef *k, int p, int y, ptrdiff_t i)
{
    float around[3][3];
    for (int v = -1; v <= 1; v++)
        for (int u = -1; u <= 1; u++)
            around[v + 1][u + 1] =
                tamis_priv_edges_sample(t, k->type, k->luma, p, y + v, i + u * t->step);
    float beside = (around[0][1] + around[2][1]) + (around[1][0] + around[1][2]);
    if (k->kind == EDGES_LAPLACIAN4)
        return beside - 4 * around[1][1];
    float corners = (around[0][0] + around[2][2]) + (around[0][2] + around[2][0]);
    return (beside + corners) - 8 * around[1][1];
}

static float magnitude(const edges_coef *k, float dx, float dy)
{
    return k->norm == TAMIS_GRADIENT_L1 ? fabsf(dx) + fabsf(dy) : sqrtf(dx * dx + dy * dy);
}

/* Adding 0 makes -0 a 0, so that no angle is -pi where there is no slope down. */
static float direction(float dx, float dy)
{
    return (float)atan2((double)dy + 0.0, (double)dx + 0.0);
}

static float value_at(const tamis_tile *t, const edges_coef *k, int p, int y, ptrdiff_t i)
{
    if (k->kind >= EDGES_LAPLACIAN4)
        return laplacian(t, k, p, y, i) * k->scale + k->delta;
    float dx = tamis_priv_edges_dx(t, &k->taps, k->type, k->luma, p, y, i);
    float dy = tamis_priv_edges_dy(t, &k->taps, k->type, k->luma, p, y, i);
    switch (k->output) {
    case TAMIS_GRADIENT_DX:
        return dx * k->scale + k->delta;
    case TAMIS_GRADIENT_DY:
        return dy * k->scale + k->delta;
    case TAMIS_GRADIENT_MAGNITUDE:
        return magnitude(k, dx, dy) * k->scale + k->delta;
    default:
        return direction(dx, dy);
    }
}

static void edges_c(const tamis_tile *t, const void *coef, void *scratch)
{
    const edges_coef *k = coef;
    (void)scratch;
    for (int p = 0; p < (k->luma ? 1 : t->planes); p++)
        for (int y = 0; y < t->h; y++) {
            void *dst = (char *)t->dst[p] + y * t->dst_stride[p];
            for (ptrdiff_t i = 0; i < (ptrdiff_t)t->w * t->step; i++)
                tamis_priv_sample_put(k->result, dst, i, value_at(t, k, p, y, i));
        }
}

#define ROWS(stage, tolerance)                                                                     \
    {stage, TAMIS_U8, TAMIS_CPU_C, edges_c, tolerance},                                            \
        {stage, TAMIS_U16, TAMIS_CPU_C, edges_c, tolerance},                                       \
        {stage, TAMIS_S16, TAMIS_CPU_C, edges_c, tolerance},                                       \
    {                                                                                              \
        stage, TAMIS_F32, TAMIS_CPU_C, edges_c, tolerance                                          \
    }
static const tamis_kernel edges_gradient_kernels_c[] = {
    ROWS("dx", 0), ROWS("dy", 0), ROWS("magnitude", 0), ROWS("direction", 0), {NULL},
};
static const tamis_kernel edges_laplacian_kernels_c[] = {ROWS("laplacian", 0), {NULL}};
#undef ROWS

TAMIS_KERNEL_DECLARE(edges_gradient);
TAMIS_KERNEL_DECLARE(edges_laplacian);
const tamis_kernel *const tamis_priv_edges_gradients[] = TAMIS_KERNEL_LIST(edges_gradient);
const tamis_kernel *const tamis_priv_edges_laplacians[] = TAMIS_KERNEL_LIST(edges_laplacian);

/* ---- plan */

tamis_status tamis_priv_edges_channels(tamis_node *node, const char *name, unsigned color,
                                       tamis_alpha_mode alpha, int *luma)
{
    int has_alpha = node->in.alpha != TAMIS_ALPHA_NONE;
    int colors = node->in.channels - has_alpha;
    if (color == TAMIS_GRADIENT_LUMA && colors != 1 && colors != 3)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_UNSUPPORTED,
                               "%s: color = luma is for 1 or 3 color channels, not for %d", name,
                               colors);
    *luma = color == TAMIS_GRADIENT_LUMA && colors == 3;
    node->planar = *luma;
    node->alpha = alpha;
    /* What is stored already weighted is not to be weighted again. */
    if (color == TAMIS_GRADIENT_LUMA && alpha == TAMIS_ALPHA_MODE_STRAIGHT)
        node->alpha = TAMIS_ALPHA_MODE_IGNORE;
    if (node->in.alpha == TAMIS_ALPHA_PREMULTIPLIED && alpha == TAMIS_ALPHA_MODE_PREMULTIPLY)
        node->alpha = TAMIS_ALPHA_MODE_IGNORE;
    node->work = tamis_priv_node_work(node);
    node->out.alpha = TAMIS_ALPHA_NONE;
    if (node->alpha != TAMIS_ALPHA_MODE_STRAIGHT)
        node->out.channels = colors;
    if (*luma)
        node->out.channels = 1;
    return TAMIS_OK;
}

static tamis_type auto_type(const tamis_node *node, const edges_wish *wish)
{
    int is_float = node->in.type == TAMIS_F32 || node->in.type == TAMIS_F16;
    if (wish->output == TAMIS_GRADIENT_DIRECTION)
        return TAMIS_F32;
    if (wish->output == TAMIS_GRADIENT_MAGNITUDE || is_float)
        return node->in.type;
    return node->in.type == TAMIS_U8 && wish->kind != EDGES_SOBEL7 ? TAMIS_S16 : TAMIS_F32;
}

static tamis_type result_type(const tamis_node *node, const edges_wish *wish)
{
    switch (wish->type) {
    case TAMIS_GRADIENT_AUTO:
        return auto_type(node, wish);
    case TAMIS_GRADIENT_SAME:
        return node->in.type;
    case TAMIS_GRADIENT_U8:
        return TAMIS_U8;
    case TAMIS_GRADIENT_U16:
        return TAMIS_U16;
    case TAMIS_GRADIENT_S16:
        return TAMIS_S16;
    default:
        return TAMIS_F32;
    }
}

static tamis_status check_direction(tamis_node *node, const edges_wish *wish)
{
    if (wish->output != TAMIS_GRADIENT_DIRECTION)
        return TAMIS_OK;
    if (node->out.type != TAMIS_F32 && node->out.type != TAMIS_F16)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_UNSUPPORTED,
                               "%s: type = %s: output = direction is in radians, which take "
                               "type = auto or f32",
                               wish->name, tamis_priv_edges_type_names[wish->type]);
    if (wish->scale != 1 || wish->delta != 0)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_UNSUPPORTED,
                               "%s: scale = %g, delta = %g: output = direction takes none but 1 "
                               "and 0",
                               wish->name, wish->scale, wish->delta);
    return TAMIS_OK;
}

size_t tamis_priv_edges_luma_bytes(tamis_type type, int radius, int w, int h)
{
    size_t row = ((size_t)w + 2 * (size_t)radius + 64) * tamis_type_size(type) + 2 * 320;
    return ((size_t)h + 2 * (size_t)radius) * (row + sizeof(void *)) + 64;
}

static size_t edges_scratch(const void *coef, int w, int h, int step)
{
    const edges_coef *k = coef;
    (void)step;
    return EDGES_SLOPES_BYTES +
           (k->luma ? tamis_priv_edges_luma_bytes(k->type, k->radius, w, h) : 0);
}

tamis_status tamis_priv_edges_plan(tamis_node *node, const edges_wish *wish)
{
    static const char *const stages[] = {"magnitude", "dx", "dy", "direction"};
    edges_coef *k = tamis_priv_node_alloc(node, sizeof *k);
    if (!k)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY, "%s: no memory", wish->name);
    TAMIS_TRY(tamis_priv_edges_channels(node, wish->name, wish->color, wish->alpha, &k->luma));
    node->out.type = result_type(node, wish);
    TAMIS_TRY(check_direction(node, wish));
    k->kind = wish->kind;
    k->radius = 1;
    if (k->kind <= EDGES_SOBEL7) {
        k->taps = tamis_priv_edges_taps[k->kind];
        k->radius = k->taps.radius;
    }
    k->output = wish->output;
    k->norm = wish->norm;
    k->type = node->work;
    k->result = tamis_priv_node_result(node);
    k->scale = (float)wish->scale;
    k->delta = (float)(wish->delta + 0.0); /* not -0, so that no result is */

    node->stage = k->kind <= EDGES_SOBEL7 ? stages[k->output] : "laplacian";
    node->halo = (tamis_halo){k->radius, k->radius, k->radius, k->radius};
    node->border = wish->border;
    node->border_value = tamis_priv_node_value(node, wish->border_value);
    node->coef = k;
    node->scratch = edges_scratch;
    node->tile_w = 2048;
    return TAMIS_OK;
}
