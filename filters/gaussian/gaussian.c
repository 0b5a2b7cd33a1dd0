/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include <tamis/gaussian.h>

#include "cpu/sample.h"
#include "gaussian_kernel.h"
#include "unsharp_kernel.h"

static const char *const compat_names[] = {"none", "opencv", NULL};

#define SIGMA_MIN 0.01
#define SIGMA_MAX 5000
#define KSIZE_MAX 32767

static const tamis_param params[] = {
    TAMIS_PARAM(struct tamis_gaussian, sigma, .def = -1, .min = SIGMA_MIN, .max = SIGMA_MAX,
                .scales = TAMIS_SCALES_BOTH, .unit = "px",
                .doc = "standard deviation; auto: from ksize, or 1.5"),
    TAMIS_PARAM(struct tamis_gaussian, sigma_x, .def = -1, .min = SIGMA_MIN, .max = SIGMA_MAX,
                .scales = TAMIS_SCALES_X, .unit = "px",
                .doc = "standard deviation across; auto: sigma"),
    TAMIS_PARAM(struct tamis_gaussian, sigma_y, .def = -1, .min = SIGMA_MIN, .max = SIGMA_MAX,
                .scales = TAMIS_SCALES_Y, .unit = "px",
                .doc = "standard deviation down; auto: sigma"),
    TAMIS_PARAM(struct tamis_gaussian, ksize, .def = 0, .min = 0, .max = KSIZE_MAX,
                .scales = TAMIS_SCALES_BOTH, .unit = "px", .odd = 1,
                .doc = "window; 0: about 6 sigma + 1"),
    TAMIS_PARAM(struct tamis_gaussian, compat, .def = TAMIS_GAUSSIAN_COMPAT_NONE,
                .max = TAMIS_GAUSSIAN_COMPAT_OPENCV, .choices = compat_names, .unit = "",
                .doc = "whose rule gives ksize from sigma"),
    TAMIS_PARAM_BORDER(struct tamis_gaussian),
    TAMIS_PARAM_ALPHA(struct tamis_gaussian),
};

/* ---- taps */

static double sigma_of_ksize(int ksize)
{
    return 0.3 * ((ksize - 1) * 0.5 - 1) + 0.8;
}

static int radius_of_sigma(double sigma, unsigned compat, tamis_type type)
{
    if (compat == TAMIS_GAUSSIAN_COMPAT_OPENCV)
        return ((int)nearbyint(sigma * (type == TAMIS_U8 ? 3 : 4) * 2 + 1) | 1) / 2;
    return (int)ceil(3 * sigma);
}

static void exact_taps(double *d, int radius, double sigma)
{
    double sum = 0;
    for (int i = radius; i >= 0; i--) { /* small ones first */
        d[i] = exp(-0.5 * ((double)i / sigma) * ((double)i / sigma));
        sum += i ? 2 * d[i] : d[i];
    }
    for (int i = 0; i <= radius; i++)
        d[i] /= sum;
}

/* Puts taps on a grid of 2^-bits so that they sum to exactly one: every pair is rounded to nearest
 * and the center takes the rest; while that leaves the center off by more than a step, the pair
 * whose rounding was farthest in the opposite direction moves by one. */
void tamis_priv_gaussian_round_taps(const double *exact, double *grid, int radius, int bits)
{
    double one = ldexp(1, bits), rest = one;
    for (int i = 1; i <= radius; i++) {
        grid[i] = nearbyint(exact[i] * one);
        rest -= 2 * grid[i];
    }
    while (radius > 0 && fabs(rest - exact[0] * one) > 1) {
        double sign = rest > exact[0] * one ? 1 : -1, best_gap = -2;
        int best = 1;
        for (int i = 1; i <= radius; i++) {
            double gap = sign * (exact[i] * one - grid[i]);
            if (gap > best_gap && grid[i] + sign >= 0) {
                best_gap = gap;
                best = i;
            }
        }
        grid[best] += sign;
        rest -= 2 * sign;
    }
    grid[0] = rest;
}

static tamis_status no_memory(tamis_node *node)
{
    return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY, "gaussian: no memory for the taps");
}

/* Two 16-bit taps in the lanes of a multiply-add. */
static int32_t pair(int low, int high)
{
    return (int32_t)((uint32_t)(uint16_t)low | (uint32_t)(uint16_t)high << 16);
}

static int tap_at(const int16_t *q, int radius, int i)
{
    int distance = i < 0 ? -i : i;
    return distance <= radius ? q[distance] : 0;
}

static tamis_status make_fixed(tamis_node *node, struct gaussian_axis *a, const double *exact,
                               double *grid)
{
    int r = a->radius;
    a->bits = 16;
    do { /* the greatest tap must fit a signed 16-bit lane */
        tamis_priv_gaussian_round_taps(exact, grid, r, a->bits);
    } while (grid[0] > 32767 && a->bits-- > 14);
    int16_t *q = tamis_priv_node_alloc(node, (size_t)(r + 1) * sizeof *q);
    int32_t *even = tamis_priv_node_alloc(node, (size_t)(r + 1) * sizeof *even);
    int32_t *odd = tamis_priv_node_alloc(node, (size_t)(r + 1) * sizeof *odd);
    int32_t *folded = tamis_priv_node_alloc(node, (size_t)(r / 2 + 1) * sizeof *folded);
    if (!q || !even || !odd || !folded)
        return no_memory(node);
    for (int i = 0; i <= r; i++)
        q[i] = (int16_t)grid[i];
    for (int i = 0; i <= r; i++) {
        even[i] = pair(tap_at(q, r, 2 * i - r), tap_at(q, r, 2 * i + 1 - r));
        odd[i] = pair(tap_at(q, r, 2 * i - 1 - r), tap_at(q, r, 2 * i - r));
    }
    for (int i = 0; i <= r / 2; i++)
        folded[i] = pair(tap_at(q, r, 2 * i), tap_at(q, r, 2 * i + 1));
    a->q = q;
    a->folded = folded;
    a->even = even;
    a->odd = odd;
    return TAMIS_OK;
}

static tamis_status make_axis(tamis_node *node, struct gaussian_axis *a, int radius, double sigma)
{
    size_t count = (size_t)radius + 1;
    double *exact = tamis_priv_node_alloc(node, count * sizeof *exact);
    double *grid = tamis_priv_node_alloc(node, count * sizeof *grid);
    float *f = tamis_priv_node_alloc(node, count * sizeof *f);
    if (!exact || !grid || !f)
        return no_memory(node);
    exact_taps(exact, radius, sigma);
    while (radius > 0 && exact[radius] < 0x1p-54) /* zero on every grid below; 0 * inf is NaN */
        radius--;
    a->radius = radius;
    TAMIS_TRY(make_fixed(node, a, exact, grid));
    tamis_priv_gaussian_round_taps(exact, grid, radius,
                                   24); /* exact in binary32, which has 24 bits */
    for (int i = 0; i <= radius; i++)
        f[i] = (float)ldexp(grid[i], -24);
    tamis_priv_gaussian_round_taps(exact, grid, radius, 53);
    for (int i = 0; i <= radius; i++)
        grid[i] = ldexp(grid[i], -53);
    a->f = f;
    a->d = grid;
    return TAMIS_OK;
}

/* ---- planning */

struct axis_wish {
    double sigma;
    int radius;
};

static tamis_status choose_axis(tamis_node *node, double sigma, int ksize, const char *suffix,
                                struct axis_wish *out)
{
    const struct tamis_gaussian *p = node->params;
    if (sigma < 0)
        sigma = ksize ? sigma_of_ksize(ksize) : 1.5 / tamis_priv_node_pitch(node, suffix[1] == 'y');
    int radius = ksize ? ksize / 2 : radius_of_sigma(sigma, p->compat, node->in.type);
    if (radius > KSIZE_MAX / 2)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_ARGUMENT,
                               "gaussian: sigma%s = %g asks for a window of %d; allowed: 1 .. %d "
                               "(set ksize to cut it off)",
                               suffix, sigma, 2 * radius + 1, KSIZE_MAX);
    *out = (struct axis_wish){sigma, radius};
    return TAMIS_OK;
}

static size_t scratch_bytes(const void *coef, int w, int h, int step)
{
    const struct gaussian_coef *c = coef;
    (void)h;
    /* Column sums of up to 16 rows, in floats, with room for whole vectors and blocks. */
    return ((size_t)w + 2 * (size_t)c->x.radius + 64) * (size_t)step * 64 + 8192;
}

static int is_identity(const struct gaussian_coef *c)
{
    return c->x.radius == 0 && c->y.radius == 0;
}

/* With border=valid the result's size tells how far the filter may read, which is not enough. */
static int grid_step(const tamis_node *node, const struct gaussian_axis *a, double sigma)
{
    if (node->border == TAMIS_BORDER_VALID)
        return 1;
    return tamis_priv_gaussian_grid_step(sigma, a->radius, node->work);
}

static tamis_status plan_grid(tamis_node *node, struct gaussian_coef *coef, int step_x, int step_y)
{
    int wraps = node->border == TAMIS_BORDER_WRAP;
    TAMIS_TRY(tamis_priv_gaussian_make_grid(node, &coef->grid_x, &coef->x, step_x));
    TAMIS_TRY(tamis_priv_gaussian_make_grid(node, &coef->grid_y, &coef->y, step_y));
    coef->period_w = wraps ? node->w : INT32_MAX;
    coef->period_h = wraps ? node->h : INT32_MAX;
    int rx = gaussian_grid_halo(&coef->grid_x), ry = gaussian_grid_halo(&coef->grid_y);
    node->stage = "grid";
    node->scratch = tamis_priv_gaussian_grid_scratch;
    node->halo = (tamis_halo){rx, rx, ry, ry};
    /* The halo is brought down to the grid for every tile. */
    node->tile_w = 2048;
    node->tile_h = ry < 128 ? 1024 : 8 * ry;
    node->tile_share = 1;
    return TAMIS_OK;
}

static tamis_status plan(tamis_node *node)
{
    const struct tamis_gaussian *p = node->params;
    struct axis_wish x = {0}, y = {0};
    double sigma_x = p->sigma_x < 0 ? p->sigma : p->sigma_x;
    double sigma_y = p->sigma_y < 0 ? p->sigma : p->sigma_y;
    TAMIS_TRY(choose_axis(node, sigma_x, p->ksize.w, "_x", &x));
    TAMIS_TRY(choose_axis(node, sigma_y, p->ksize.h, "_y", &y));
    struct gaussian_coef *coef = tamis_priv_node_alloc(node, sizeof *coef);
    if (!coef)
        return no_memory(node);
    TAMIS_TRY(make_axis(node, &coef->x, x.radius, x.sigma));
    TAMIS_TRY(make_axis(node, &coef->y, y.radius, y.sigma));

    node->coef = coef;
    node->border = p->border;
    node->border_value = tamis_priv_node_value(node, p->border_value);
    /* A window of one sample must change none, not even the color of a clear pixel. */
    node->alpha = is_identity(coef) ? TAMIS_ALPHA_MODE_STRAIGHT : p->alpha;
    node->work = tamis_priv_node_work(node);
    int step_x = grid_step(node, &coef->x, x.sigma), step_y = grid_step(node, &coef->y, y.sigma);
    if (step_x > 1 && step_y > 1)
        return plan_grid(node, coef, step_x, step_y);
    int rx = p->border == TAMIS_BORDER_VALID ? x.radius : coef->x.radius;
    int ry = p->border == TAMIS_BORDER_VALID ? y.radius : coef->y.radius;
    node->stage = "separable";
    node->scratch = scratch_bytes;
    node->halo = (tamis_halo){rx, rx, ry, ry};
    /* Where a tile's window leaves the image, its rows are copied, window and all; the column sums
     * beside a tile are made twice. Both weigh less in larger tiles. */
    node->tile_w = 2048;
    node->tile_h = ry < 32 ? 64 : 128;
    return TAMIS_OK;
}

/* ---- the reference: columns first into a row of sums, then rows */

static int round_down(int sum, int bits)
{
    return (sum + (1 << (bits - 1))) >> bits;
}

void tamis_priv_gaussian_u8_c(const tamis_tile *t, const void *coef, void *scratch)
{
    const struct gaussian_coef *c = coef;
    int r = c->x.radius * t->step, n = t->w * t->step;
    int *sums = (int *)scratch + r; /* sums[-r .. n-1+r], in 1/128 level */
    for (int y = 0; y < t->h; y++) {
        for (int i = -r; i < n + r; i++) {
            int sum = 0;
            for (int j = -c->y.radius; j <= c->y.radius; j++)
                sum += c->y.q[j < 0 ? -j : j] * ((const uint8_t *)t->src[0][y + j])[i];
            sums[i] = round_down(sum, c->y.bits - GAUSSIAN_FRACTION);
        }
        const uint8_t *in = t->src[0][y];
        uint8_t *dst = (uint8_t *)t->dst[0] + y * t->dst_stride[0];
        for (int i = 0; i < n; i++) {
            int sum = 0;
            for (int j = -c->x.radius; j <= c->x.radius; j++)
                sum += c->x.q[j < 0 ? -j : j] * sums[i + j * t->step];
            if (c->sharpen) {
                int d = (in[i] << GAUSSIAN_FRACTION) - round_down(sum, c->x.bits);
                float out = unsharp_sample(c->sharpen, in[i], (float)d / (1 << GAUSSIAN_FRACTION));
                tamis_priv_sample_put(TAMIS_U8, dst, i, out);
            } else {
                dst[i] = (uint8_t)round_down(sum, c->x.bits + GAUSSIAN_FRACTION);
            }
        }
    }
}

static void gaussian_16_c(const tamis_tile *t, const struct gaussian_coef *c, float *scratch,
                          tamis_type type)
{
    int r = c->x.radius * t->step, n = t->w * t->step;
    float *sums = scratch + r;
    for (int y = 0; y < t->h; y++) {
        for (int i = -r; i < n + r; i++) {
            float sum = c->y.f[0] * (float)tamis_priv_sample_get(type, t->src[0][y], i);
            for (int j = 1; j <= c->y.radius; j++)
                sum = fmaf(c->y.f[j],
                           (float)tamis_priv_sample_get(type, t->src[0][y - j], i) +
                               (float)tamis_priv_sample_get(type, t->src[0][y + j], i),
                           sum);
            sums[i] = sum;
        }
        char *dst = (char *)t->dst[0] + y * t->dst_stride[0];
        for (int i = 0; i < n; i++) {
            float sum = c->x.f[0] * sums[i],
                  in = (float)tamis_priv_sample_get(type, t->src[0][y], i);
            for (int j = 1; j <= c->x.radius; j++)
                sum = fmaf(c->x.f[j], sums[i - j * t->step] + sums[i + j * t->step], sum);
            tamis_priv_sample_put(type, dst, i,
                                  c->sharpen ? unsharp_sample(c->sharpen, in, in - sum) : sum);
        }
    }
}

void tamis_priv_gaussian_u16_c(const tamis_tile *t, const void *coef, void *scratch)
{
    gaussian_16_c(t, coef, scratch, TAMIS_U16);
}

void tamis_priv_gaussian_s16_c(const tamis_tile *t, const void *coef, void *scratch)
{
    gaussian_16_c(t, coef, scratch, TAMIS_S16);
}

void tamis_priv_gaussian_f32_c(const tamis_tile *t, const void *coef, void *scratch)
{
    const struct gaussian_coef *c = coef;
    int r = c->x.radius * t->step, n = t->w * t->step;
    float *sums = (float *)scratch + r;
    for (int y = 0; y < t->h; y++) {
        for (int i = -r; i < n + r; i++) {
            double sum = c->y.d[0] * ((const float *)t->src[0][y])[i];
            for (int j = 1; j <= c->y.radius; j++)
                sum += c->y.d[j] * ((double)((const float *)t->src[0][y - j])[i] +
                                    ((const float *)t->src[0][y + j])[i]);
            sums[i] = (float)sum;
        }
        const float *in = t->src[0][y];
        float *dst = (float *)(void *)((char *)t->dst[0] + y * t->dst_stride[0]);
        for (int i = 0; i < n; i++) {
            double sum = c->x.d[0] * sums[i];
            for (int j = 1; j <= c->x.radius; j++)
                sum += c->x.d[j] * ((double)sums[i - j * t->step] + sums[i + j * t->step]);
            dst[i] = (float)sum;
            if (c->sharpen)
                dst[i] = unsharp_sample(c->sharpen, in[i], in[i] - dst[i]);
        }
    }
}

static const tamis_kernel gaussian_kernels_c[] = {
    {"separable", TAMIS_U8, TAMIS_CPU_C, tamis_priv_gaussian_u8_c, 0},
    {"separable", TAMIS_U16, TAMIS_CPU_C, tamis_priv_gaussian_u16_c, 0},
    {"separable", TAMIS_S16, TAMIS_CPU_C, tamis_priv_gaussian_s16_c, 0},
    {"separable", TAMIS_F32, TAMIS_CPU_C, tamis_priv_gaussian_f32_c, 0},
    {"grid", TAMIS_U8, TAMIS_CPU_C, tamis_priv_gaussian_grid_u8_c, 0},
    {"grid", TAMIS_U16, TAMIS_CPU_C, tamis_priv_gaussian_grid_u16_c, 0},
    {"grid", TAMIS_S16, TAMIS_CPU_C, tamis_priv_gaussian_grid_s16_c, 0},
    {"grid", TAMIS_F32, TAMIS_CPU_C, tamis_priv_gaussian_grid_f32_c, 0},
    {NULL},
};

TAMIS_KERNEL_DECLARE(gaussian);
static const tamis_kernel *const kernels[] = TAMIS_KERNEL_LIST(gaussian);

const tamis_filter tamis_priv_filter_gaussian = {
    .name = "gaussian",
    .brief = "smooth with a Gaussian window",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .params_size = sizeof(struct tamis_gaussian),
    .max_inputs = 1,
    .plan = plan,
    .kernels = kernels,
};
