/* SPDX-License-Identifier: Apache-2.0 */
#include "color.h"

#include <math.h>
#include <string.h>

#include "color_kernel.h"
#include "cpu/kernel.h"
#include "cpu/sample.h"

/* ---- affine maps of three channels */

typedef struct affine {
    double m[3][3], offset[3];
} affine;

static const affine identity = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};

/* First a, then b. */
static affine compose(const affine *b, const affine *a)
{
    affine c = {0};
    for (int i = 0; i < 3; i++) {
        c.offset[i] = b->offset[i];
        for (int j = 0; j < 3; j++) {
            c.offset[i] += b->m[i][j] * a->offset[j];
            for (int k = 0; k < 3; k++)
                c.m[i][k] += b->m[i][j] * a->m[j][k];
        }
    }
    return c;
}

static void weights(unsigned matrix, double w[3])
{
    static const double kr[] = {0.299, 0.2126, 0.2627}, kb[] = {0.114, 0.0722, 0.0593};
    w[0] = kr[matrix];
    w[2] = kb[matrix];
    w[1] = 1 - w[0] - w[2];
}

/* How YCbCr, 0 .. 1 and -0.5 .. 0.5, is stored: value * scale + offset. */
static void ycbcr_storage(const tamis_node *node, double scale[2], double offset[2])
{
    const struct tamis_color *p = node->params;
    tamis_type type = node->in.type;
    double range = node->range;
    double unit = type == TAMIS_U16  ? (range + 1) / 256
                  : type == TAMIS_U8 ? 1
                                     : 1 / 255.0; /* of 8-bit video */
    int is_float = type == TAMIS_F32 || type == TAMIS_F16;
    int limited = p->range == TAMIS_COLOR_LIMITED;
    scale[0] = limited ? 219 * unit : range;
    scale[1] = limited ? 224 * unit : range;
    offset[0] = limited ? 16 * unit : 0;
    offset[1] = is_float ? (limited ? 128 * unit : 0.5) : (range + 1) / 2;
}

static affine rgb_to_ycbcr(const tamis_node *node)
{
    const struct tamis_color *p = node->params;
    double w[3], scale[2], offset[2], range = node->range;
    affine a;
    weights(p->matrix, w);
    ycbcr_storage(node, scale, offset);
    for (int c = 0; c < 3; c++) {
        a.m[0][c] = w[c] * scale[0] / range;
        a.m[1][c] = ((c == 2) - w[c]) / (2 - 2 * w[2]) * scale[1] / range;
        a.m[2][c] = ((c == 0) - w[c]) / (2 - 2 * w[0]) * scale[1] / range;
    }
    a.offset[0] = offset[0];
    a.offset[1] = a.offset[2] = offset[1];
    return a;
}

static affine ycbcr_to_rgb(const tamis_node *node)
{
    const struct tamis_color *p = node->params;
    double w[3], scale[2], offset[2], range = node->range;
    affine a;
    weights(p->matrix, w);
    ycbcr_storage(node, scale, offset);
    double y = range / scale[0], c = range / scale[1];
    double cb = (2 - 2 * w[2]) * c, cr = (2 - 2 * w[0]) * c;
    const double m[3][3] = {{y, 0, cr}, {y, -cb * w[2] / w[1], -cr * w[0] / w[1]}, {y, cb, 0}};
    memcpy(a.m, m, sizeof m);
    for (int i = 0; i < 3; i++)
        a.offset[i] = -(m[i][0] * offset[0] + (m[i][1] + m[i][2]) * offset[1]);
    return a;
}

static affine gray_to_rgb(void)
{
    return (affine){{{1, 0, 0}, {1, 0, 0}, {1, 0, 0}}, {0, 0, 0}};
}

static affine rgb_to_gray(const tamis_node *node)
{
    const struct tamis_color *p = node->params;
    affine a = {0};
    weights(p->matrix, a.m[0]);
    return a;
}

static affine to_rgb(const tamis_node *node, unsigned from)
{
    return from == TAMIS_COLOR_YCBCR  ? ycbcr_to_rgb(node)
           : from == TAMIS_COLOR_GRAY ? gray_to_rgb()
                                      : identity;
}

static affine from_rgb(const tamis_node *node, unsigned to)
{
    return to == TAMIS_COLOR_YCBCR  ? rgb_to_ycbcr(node)
           : to == TAMIS_COLOR_GRAY ? rgb_to_gray(node)
                                    : identity;
}

static float mix(const color_coef *k, int p, const float in[3])
{
    float v = k->offset[p];
    for (int c = 0; c < k->inputs; c++)
        v = fmaf(k->m[p][c], in[c], v);
    return v;
}

/* ---- Lab */

static double to_linear(double v)
{
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static double to_srgb(double v)
{
    return v <= 0.0031308 ? v * 12.92 : 1.055 * pow(v, 1 / 2.4) - 0.055;
}

/* The white point of D65 and the primaries of sRGB. */
static const double white[3] = {0.95047, 1, 1.08883};
static const double xyz_of_rgb[3][3] = {{0.4124564, 0.3575761, 0.1804375},
                                        {0.2126729, 0.7151522, 0.0721750},
                                        {0.0193339, 0.1191920, 0.9503041}};
static const double rgb_of_xyz[3][3] = {{3.2404542, -1.5371385, -0.4985314},
                                        {-0.9692660, 1.8760108, 0.0415560},
                                        {0.0556434, -0.2040259, 1.0572252}};

#define LAB_EPSILON (216.0 / 24389)
#define LAB_KAPPA   (24389.0 / 27)

static double lab_f(double t)
{
    return t > LAB_EPSILON ? cbrt(t) : (LAB_KAPPA * t + 16) / 116;
}

static double lab_f_inverse(double f)
{
    return f * f * f > LAB_EPSILON ? f * f * f : (116 * f - 16) / LAB_KAPPA;
}

static void lab_of_rgb(const double rgb[3], double lab[3])
{
    double f[3];
    for (int i = 0; i < 3; i++) {
        double sum = 0;
        for (int c = 0; c < 3; c++)
            sum += xyz_of_rgb[i][c] * to_linear(rgb[c]);
        f[i] = lab_f(sum / white[i]);
    }
    lab[0] = 116 * f[1] - 16;
    lab[1] = 500 * (f[0] - f[1]);
    lab[2] = 200 * (f[1] - f[2]);
}

static void rgb_of_lab(const double lab[3], double rgb[3])
{
    double y = (lab[0] + 16) / 116, xyz[3];
    xyz[0] = lab_f_inverse(y + lab[1] / 500) * white[0];
    xyz[1] = lab_f_inverse(y) * white[1];
    xyz[2] = lab_f_inverse(y - lab[2] / 200) * white[2];
    for (int i = 0; i < 3; i++)
        rgb[i] = to_srgb(rgb_of_xyz[i][0] * xyz[0] + rgb_of_xyz[i][1] * xyz[1] +
                         rgb_of_xyz[i][2] * xyz[2]);
}

/* ---- reference kernels */

static void *out_row(const tamis_tile *t, int p, int y)
{
    return (char *)t->dst[p] + y * t->dst_stride[p];
}

static void get(const tamis_tile *t, const color_coef *k, tamis_type type, int y, int x,
                float in[3])
{
    for (int c = 0; c < k->inputs; c++)
        in[c] = (float)tamis_priv_sample_get(type, t->src[c][y], x);
}

static void copy_c(const tamis_tile *t, const color_coef *k, tamis_type type)
{
    for (int p = 0; p < k->outputs; p++)
        for (int y = 0; y < t->h; y++)
            memcpy(out_row(t, p, y), t->src[p][y], (size_t)t->w * tamis_type_size(type));
}

static void matrix_c(const tamis_tile *t, const color_coef *k, tamis_type type)
{
    float in[3];
    for (int y = 0; y < t->h; y++)
        for (int x = 0; x < t->w; x++) {
            get(t, k, type, y, x, in);
            for (int p = 0; p < k->outputs; p++)
                tamis_priv_sample_put(type, out_row(t, p, y), x, mix(k, p, in));
        }
}

/* The matrix leads to RGB, then comes Lab. */
static void to_lab_c(const tamis_tile *t, const color_coef *k, tamis_type type)
{
    float in[3];
    double rgb[3], lab[3];
    for (int y = 0; y < t->h; y++)
        for (int x = 0; x < t->w; x++) {
            get(t, k, type, y, x, in);
            for (int c = 0; c < 3; c++)
                rgb[c] = mix(k, c, in) / k->range;
            lab_of_rgb(rgb, lab);
            for (int p = 0; p < 3; p++)
                tamis_priv_sample_put(type, out_row(t, p, y), x,
                                      lab[p] * k->lab_scale[p] + k->lab_offset[p]);
        }
}

/* Lab first, then the matrix that RGB still needs. */
static void from_lab_c(const tamis_tile *t, const color_coef *k, tamis_type type)
{
    float in[3];
    double rgb[3], lab[3];
    for (int y = 0; y < t->h; y++)
        for (int x = 0; x < t->w; x++) {
            get(t, k, type, y, x, in);
            for (int c = 0; c < 3; c++)
                lab[c] = (in[c] - k->lab_offset[c]) / k->lab_scale[c];
            rgb_of_lab(lab, rgb);
            for (int c = 0; c < 3; c++)
                in[c] = (float)(rgb[c] * k->range);
            for (int p = 0; p < k->outputs; p++)
                tamis_priv_sample_put(type, out_row(t, p, y), x, mix(k, p, in));
        }
}

void tamis_priv_color_to_lab_f32(const tamis_tile *t, const void *coef)
{
    to_lab_c(t, coef, TAMIS_F32);
}

void tamis_priv_color_from_lab_f32(const tamis_tile *t, const void *coef)
{
    from_lab_c(t, coef, TAMIS_F32);
}

#define KERNEL(stage, suffix, type)                                                                \
    static void stage##_##suffix##_c(const tamis_tile *t, const void *coef, void *scratch)         \
    {                                                                                              \
        (void)scratch;                                                                             \
        stage##_c(t, coef, type);                                                                  \
    }
#define KERNELS(stage)                                                                             \
    KERNEL(stage, u8, TAMIS_U8) KERNEL(stage, u16, TAMIS_U16) KERNEL(stage, f32, TAMIS_F32)
KERNELS(copy)
KERNELS(matrix)
KERNELS(to_lab)
KERNELS(from_lab)

#define ROWS(stage)                                                                                \
    {#stage, TAMIS_U8, TAMIS_CPU_C, stage##_u8_c, 0},                                              \
        {#stage, TAMIS_U16, TAMIS_CPU_C, stage##_u16_c, 0},                                        \
    {                                                                                              \
#stage, TAMIS_F32, TAMIS_CPU_C, stage##_f32_c, 0                                           \
    }
static const tamis_kernel color_kernels_c[] = {
    ROWS(copy), ROWS(matrix), ROWS(to_lab), ROWS(from_lab), {.fn = NULL},
};

/* ---- plan */

static const char *const from_names[] = {"gray", "rgb", "ycbcr", "lab", "auto", NULL};
static const char *const to_names[] = {"gray", "rgb", "ycbcr", "lab", NULL};
static const char *const matrix_names[] = {"bt601", "bt709", "bt2020", NULL};
static const char *const range_names[] = {"full", "limited", NULL};

static const tamis_param params[] = {
    TAMIS_PARAM(struct tamis_color, from, .def = TAMIS_COLOR_AUTO, .max = TAMIS_COLOR_AUTO,
                .choices = from_names, .unit = "",
                .doc = "color space of the input; auto: gray for one color channel, else rgb"),
    TAMIS_PARAM(struct tamis_color, to, .def = TAMIS_COLOR_GRAY, .max = TAMIS_COLOR_LAB,
                .choices = to_names, .unit = "", .doc = "color space of the result"),
    TAMIS_PARAM(struct tamis_color, matrix, .def = TAMIS_COLOR_BT601, .max = TAMIS_COLOR_BT2020,
                .choices = matrix_names, .unit = "", .doc = "weights of luma and gray"),
    TAMIS_PARAM(struct tamis_color, range, .def = TAMIS_COLOR_FULL, .max = TAMIS_COLOR_LIMITED,
                .choices = range_names, .unit = "", .doc = "how far YCbCr reaches"),
};

static tamis_status check(const tamis_node *node, unsigned from, unsigned to)
{
    int colors = node->in.channels - (node->in.alpha != TAMIS_ALPHA_NONE);
    int wanted = from == TAMIS_COLOR_GRAY ? 1 : 3;
    int offsets = from >= TAMIS_COLOR_YCBCR || to >= TAMIS_COLOR_YCBCR;
    if (colors != wanted)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_ARGUMENT,
                               "color: from = %s: needs %d color channel%s, the image has %d",
                               from_names[from], wanted, wanted == 1 ? "" : "s", colors);
    if (node->in.type == TAMIS_S16)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_UNSUPPORTED,
                               "color: the image is s16, which has no black and white; u8, u16, "
                               "f16 and f32 have");
    if (offsets && node->in.alpha == TAMIS_ALPHA_PREMULTIPLIED)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_UNSUPPORTED,
                               "color: %s to %s needs color that is not multiplied by alpha",
                               from_names[from], to_names[to]);
    return TAMIS_OK;
}

static void plan_lab(const tamis_node *node, color_coef *k)
{
    tamis_type type = node->in.type;
    int is_float = type == TAMIS_F32 || type == TAMIS_F16;
    double unit = type == TAMIS_U16 ? 257 : 1; /* of a and b */
    for (int c = 0; c < 3; c++) {
        k->lab_scale[c] = c == 0 && !is_float ? k->range / 100 : unit;
        k->lab_offset[c] = c == 0 || is_float ? 0 : 128 * unit;
    }
}

static void plan_matrix(const tamis_node *node, color_coef *k, unsigned from, unsigned to)
{
    affine in = to_rgb(node, from), out = from_rgb(node, to), all = compose(&out, &in);
    for (int p = 0; p < 3; p++) {
        k->offset[p] = (float)all.offset[p];
        for (int c = 0; c < 3; c++)
            k->m[p][c] = (float)all.m[p][c];
    }
}

static tamis_status plan(tamis_node *node)
{
    const struct tamis_color *p = node->params;
    int colors = node->in.channels - (node->in.alpha != TAMIS_ALPHA_NONE);
    unsigned from = p->from != TAMIS_COLOR_AUTO ? p->from
                    : colors == 1               ? TAMIS_COLOR_GRAY
                                                : TAMIS_COLOR_RGB;
    TAMIS_TRY(check(node, from, p->to));
    color_coef *k = tamis_priv_node_alloc(node, sizeof *k);
    if (!k)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY, "color: out of memory");
    k->inputs = from == TAMIS_COLOR_GRAY ? 1 : 3;
    k->outputs = p->to == TAMIS_COLOR_GRAY ? 1 : 3;
    k->range = node->range;
    plan_matrix(node, k, from, p->to);
    plan_lab(node, k);
    node->stage = from == p->to              ? "copy"
                  : p->to == TAMIS_COLOR_LAB ? "to_lab"
                  : from == TAMIS_COLOR_LAB  ? "from_lab"
                                             : "matrix";
    node->coef = k;
    node->planar = 1;
    node->alpha = TAMIS_ALPHA_MODE_IGNORE;
    node->work = tamis_priv_node_work(node);
    node->tile_w = 1024; /* without a halo, what fits the first caches is best */
    node->tile_h = 8;
    node->out.channels += k->outputs - k->inputs;
    return TAMIS_OK;
}

TAMIS_KERNEL_DECLARE(color);
static const tamis_kernel *const kernels[] = TAMIS_KERNEL_LIST(color);

extern const tamis_filter tamis_priv_filter_color;
const tamis_filter tamis_priv_filter_color = {
    .name = "color",
    .brief = "turn RGB into gray, YCbCr or Lab, and back",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .params_size = sizeof(struct tamis_color),
    .traits = TAMIS_TRAIT_COLOR,
    .max_inputs = 1,
    .plan = plan,
    .kernels = kernels,
};
