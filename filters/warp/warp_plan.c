/* SPDX-License-Identifier: Apache-2.0 */
/* Planning of warps: matrices, sizes, and what a part of the result needs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cpu/lanczos.h"
#include "warp_kernel.h"

const char *const tamis_priv_warp_sizes[] = {"same", "fit", NULL};
const char *const tamis_priv_warp_alphas[] = {"premultiply", "straight", NULL};

/* ---- matrices */

void tamis_priv_warp_multiply(double out[9], const double a[9], const double b[9])
{
    double m[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
    memcpy(out, m, sizeof m);
}

void tamis_priv_warp_turn(double out[9], double degrees)
{
    static const double right[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    double turn = fmod(degrees, 360), quarter = turn / 90;
    double c = cos(turn * (3.14159265358979323846 / 180));
    double s = sin(turn * (3.14159265358979323846 / 180));
    if (quarter == floor(quarter)) {
        c = right[((int)quarter + 4) % 4][0];
        s = right[((int)quarter + 4) % 4][1];
    }
    double m[9] = {c, s, 0, -s, c, 0, 0, 0, 1}; /* y points down */
    memcpy(out, m, sizeof m);
}

void tamis_priv_warp_about(double out[9], const double m[9], double x, double y)
{
    double back[9] = {1, 0, -x, 0, 1, -y, 0, 0, 1}, there[9] = {1, 0, x, 0, 1, y, 0, 0, 1};
    double t[9];
    tamis_priv_warp_multiply(t, m, back);
    tamis_priv_warp_multiply(out, there, t);
}

/* By cofactors. */
int tamis_priv_warp_invert(double out[9], const double m[9])
{
    static const int at[9][4] = {{4, 8, 5, 7}, {2, 7, 1, 8}, {1, 5, 2, 4},
                                 {5, 6, 3, 8}, {0, 8, 2, 6}, {2, 3, 0, 5},
                                 {3, 7, 4, 6}, {1, 6, 0, 7}, {0, 4, 1, 3}};
    double det = 0, size = 0, cofactors[9];
    for (int i = 0; i < 9; i++)
        cofactors[i] = m[at[i][0]] * m[at[i][1]] - m[at[i][2]] * m[at[i][3]];
    for (int i = 0; i < 3; i++) {
        det += m[i] * cofactors[3 * i];
        size += fabs(m[i]) *
                (fabs(m[at[3 * i][0]] * m[at[3 * i][1]]) + fabs(m[at[3 * i][2]] * m[at[3 * i][3]]));
    }
    if (!(fabs(det) > 1e-13 * size) || !isfinite(size))
        return 0;
    for (int i = 0; i < 9; i++) {
        out[i] = cofactors[i] / det;
        if (!isfinite(out[i]))
            return 0;
    }
    return 1;
}

static int is_affine(const double m[9])
{
    return m[6] == 0 && m[7] == 0 && m[8] == 1;
}

/* Whether every output pixel lies on a source pixel: then nothing is interpolated. */
static int is_copy(const double m[9])
{
    for (int i = 0; i < 6; i++)
        if (m[i] != floor(m[i]) || fabs(m[i]) > 1e9)
            return 0;
    return is_affine(m);
}

static void print_matrix(const double m[9], char *buf, size_t size)
{
    int n = 0, count = is_affine(m) ? 6 : 9;
    for (int i = 0; i < count && n >= 0 && (size_t)n < size; i++)
        n += snprintf(buf + n, size - (size_t)n, "%s%.6g", i ? "," : "", m[i]);
}

static tamis_status refuse_matrix(tamis_node *node, const struct warp_wish *wish, const char *why)
{
    char text[160];
    print_matrix(wish->forward, text, sizeof text);
    return tamis_priv_fail(node->ctx, TAMIS_ERR_ARGUMENT, "%s: the matrix %s %s", wish->name, text,
                           why);
}

tamis_status tamis_priv_warp_check(tamis_node *node, const struct warp_wish *wish)
{
    double inverse[9];
    if (tamis_priv_warp_invert(inverse, wish->forward))
        return TAMIS_OK;
    return refuse_matrix(node, wish, "is singular: it flattens the picture and cannot be inverted");
}

/* ---- size */

/* The interval, on both axes, that the picture with all its pixels' area covers. */
static int covered(const double m[9], int32_t w, int32_t h, double lo[2], double hi[2])
{
    int sign = 0;
    for (int i = 0; i < 4; i++) {
        double x = i % 2 ? w - 0.5 : -0.5, y = i / 2 ? h - 0.5 : -0.5;
        double d = m[6] * x + m[7] * y + m[8];
        if (d == 0 || (i && (d > 0) != (sign > 0)))
            return 0;
        sign = d > 0 ? 1 : -1;
        for (int axis = 0; axis < 2; axis++) {
            double v = (m[3 * axis] * x + m[3 * axis + 1] * y + m[3 * axis + 2]) / d;
            lo[axis] = i == 0 || v < lo[axis] ? v : lo[axis];
            hi[axis] = i == 0 || v > hi[axis] ? v : hi[axis];
        }
    }
    return 1;
}

/* The fewest whole pixels that cover the picture, both centered alike; inverse is made to start
 * there. */
static tamis_status fit(tamis_node *node, const struct warp_wish *wish, const double forward[9],
                        double inverse[9])
{
    double lo[2], hi[2], size[2], first[2];
    if (!covered(forward, node->picture_w, node->picture_h, lo, hi))
        return refuse_matrix(node, wish,
                             "takes a part of the picture to infinity: size = fit is not possible");
    for (int axis = 0; axis < 2; axis++) {
        size[axis] = ceil(hi[axis] - lo[axis] - 1e-6);
        size[axis] = size[axis] < 1 ? 1 : size[axis];
        if (!(size[axis] <= 0x7fffffff))
            return refuse_matrix(node, wish, "makes a picture of more than 2147483647 pixels");
        first[axis] = (lo[axis] + hi[axis]) / 2 - (size[axis] - 1) / 2;
    }
    double move[9] = {1, 0, first[0], 0, 1, first[1], 0, 0, 1};
    tamis_priv_warp_multiply(inverse, inverse, move);
    node->out_w = (int32_t)size[0];
    node->out_h = (int32_t)size[1];
    return TAMIS_OK;
}

/* ---- what a part of the output needs */

/* Vectors read so many pixels from the first that they use. */
enum { VECTOR_W = 16, VECTOR_H = 8 };

static int reach(tamis_interp interp)
{
    return interp == TAMIS_INTERP_LANCZOS3 ? 3 : interp == TAMIS_INTERP_CUBIC ? 2 : 1;
}

/* Where lo .. hi lies, or what of it is outside, is mirrored at the ends of 0 .. n-1: about the
 * last sample or half a sample beyond. */
static void mirror(int32_t n, double *lo, double *hi)
{
    double low = *lo < 0 ? *hi < 0 ? -*hi - 1 : 0 : *lo;
    double high = *lo < 0 && -*lo > *hi ? -*lo : *hi;
    double end = n - 1;
    if (high > end) {
        double from = 2 * end - high;
        high = low > end ? 2 * end + 1 - low : end;
        low = from < low ? from : low;
    }
    *lo = low;
    *hi = high;
}

/* lo .. hi of one axis, as the border takes it into the image. */
static void inside(tamis_border border, double lo, double hi, int32_t n, int64_t *from, int *count)
{
    int over = !(lo >= 0 && hi <= n - 1), mirrors = border <= TAMIS_BORDER_REFLECT;
    if (over && mirrors && lo > -n && hi < 2 * (double)n - 1) {
        mirror(n, &lo, &hi);
    } else if (over && border != TAMIS_BORDER_REPLICATE && border != TAMIS_BORDER_CONSTANT) {
        lo = 0;
        hi = n - 1;
    }
    lo = lo > 0 ? lo < n - 1 ? lo : n - 1 : 0;
    hi = hi < n - 1 ? hi > 0 ? hi : 0 : n - 1;
    *from = (int64_t)lo;
    *count = (int)(hi - (double)*from + 1);
}

static tamis_box need(const void *coef, tamis_rect part)
{
    const struct warp_coef *c = coef;
    tamis_box all = {0, 0, c->w, c->h}, box;
    double lo[2], hi[2];
    double shift[9] = {1, 0, part.x, 0, 1, part.y, 0, 0, 1}, m[9];
    if (c->kind == WARP_MAP)
        return all;
    tamis_priv_warp_multiply(m, c->m, shift);
    if (!covered(m, part.w, part.h, lo, hi))
        return all;
    double more = reach(c->interp) + 1;
    for (int axis = 0; axis < 2; axis++) {
        lo[axis] = floor(lo[axis]) - more;
        hi[axis] = ceil(hi[axis]) + more + (axis ? VECTOR_H : VECTOR_W);
    }
    inside(c->border, lo[0], hi[0], c->w, &box.x, &box.w);
    inside(c->border, lo[1], hi[1], c->h, &box.y, &box.h);
    return box;
}

/* ---- kernels' numbers */

enum { GRID_MOST = 64 };

/* Samples along a side so long. */
static int grid(double length)
{
    double n = ceil(length - 1e-9);
    return n < 1 ? 1 : n < GRID_MOST ? (int)n : GRID_MOST; /* NaN: the most */
}

/* What the map's change by one column or row, part 0 or 1, is at column x, row y, in source
 * pixels; NaN or infinite on the horizon. */
static double stretch(const double m[9], int part, double x, double y)
{
    double d = m[6] * x + m[7] * y + m[8];
    double dx = m[part] * d - m[6 + part] * (m[0] * x + m[1] * y + m[2]);
    double dy = m[3 + part] * d - m[6 + part] * (m[3] * x + m[4] * y + m[5]);
    return hypot(dx, dy) / (d * d);
}

void tamis_priv_warp_grid(const struct warp_coef *c, int32_t first, int32_t y, int out[2])
{
    const double *m = c->m, last = first + (double)(WARP_BLOCK - 1);
    out[0] = c->grid_w;
    out[1] = c->grid_h;
    if (c->kind == WARP_AFFINE)
        return;
    double d0 = m[6] * first + m[7] * y + m[8], d1 = m[6] * last + m[7] * y + m[8];
    for (int part = 0; part < 2; part++) {
        int n0 = grid(stretch(m, part, first, y)), n1 = grid(stretch(m, part, last, y));
        out[part] = d0 * d1 > 0 ? n0 > n1 ? n0 : n1 : GRID_MOST;
    }
}

/* Entry i: the weights of samples -2 .. 3 for the fraction i / WARP_TABLE. */
static tamis_status make_lanczos(tamis_node *node, struct warp_coef *c)
{
    float *table =
        tamis_priv_node_alloc(node, (size_t)(WARP_TABLE + 1) * WARP_TABLE_TAPS * sizeof *table);
    if (!table)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY, "warp: no memory for the weights");
    for (int i = 0; i <= WARP_TABLE; i++) {
        double w[6], sum = 0;
        for (int k = 0; k < 6; k++) {
            w[k] = tamis_priv_lanczos3(k - 2 - (double)i / WARP_TABLE);
            sum += w[k];
        }
        for (int k = 0; k < 6; k++)
            table[i * WARP_TABLE_TAPS + k] = (float)(w[k] / sum);
    }
    c->lanczos = table;
    return TAMIS_OK;
}

static int64_t step(double m)
{
    return (int64_t)nearbyint(m * 0x1p32);
}

static size_t scratch_bytes(const void *coef, int w, int h, int step_samples)
{
    (void)coef;
    (void)w;
    (void)h;
    (void)step_samples;
    return WARP_SCRATCH;
}

static tamis_status check_wish(tamis_node *node, const struct warp_wish *wish)
{
    if (wish->border == TAMIS_BORDER_VALID)
        return tamis_priv_fail(
            node->ctx, TAMIS_ERR_ARGUMENT,
            "%s: border = valid is not possible, a warp has no window that fits; "
            "allowed: reflect101, reflect, replicate, wrap, constant",
            wish->name);
    return TAMIS_OK;
}

/* From the map between pictures, and the result's size, to those of a plane's samples. */
static void follow_picture(tamis_node *node, double m[9])
{
    if (!node->plane)
        return;
    double sx = tamis_priv_node_pitch(node, 0), x = node->plane->at_x;
    double sy = tamis_priv_node_pitch(node, 1), y = node->plane->at_y;
    const double to_pixels[9] = {sx, 0, x, 0, sy, y, 0, 0, 1};
    const double to_samples[9] = {1 / sx, 0, -x / sx, 0, 1 / sy, -y / sy, 0, 0, 1};
    tamis_priv_warp_multiply(m, m, to_pixels);
    tamis_priv_warp_multiply(m, to_samples, m);
    node->picture_out_w = node->out_w ? node->out_w : node->picture_w;
    node->picture_out_h = node->out_h ? node->out_h : node->picture_h;
    node->out_w = tamis_priv_node_sampled(node, 0, node->picture_out_w);
    node->out_h = tamis_priv_node_sampled(node, 1, node->picture_out_h);
}

static tamis_status make_map(tamis_node *node, const struct warp_wish *wish, struct warp_coef *c)
{
    double forward[9];
    memcpy(forward, wish->forward, sizeof forward);
    TAMIS_TRY(tamis_priv_warp_check(node, wish));
    tamis_priv_warp_invert(c->m, wish->forward);
    if (wish->inverse) {
        memcpy(forward, c->m, sizeof forward);
        memcpy(c->m, wish->forward, sizeof c->m);
    }
    if (wish->size.w == WARP_FIT)
        TAMIS_TRY(fit(node, wish, forward, c->m));
    else if (wish->size.w != WARP_SAME) {
        node->out_w = wish->size.w;
        node->out_h = wish->size.h;
    }
    follow_picture(node, c->m);
    if (!(fabs(c->m[0]) <= WARP_SLOPE_MAX && fabs(c->m[3]) <= WARP_SLOPE_MAX) &&
        c->kind == WARP_AFFINE)
        return refuse_matrix(node, wish, "shrinks the picture more than 1048576 times");
    c->step_x = c->kind == WARP_AFFINE ? step(c->m[0]) : 0;
    c->step_y = c->kind == WARP_AFFINE ? step(c->m[3]) : 0;
    c->grid_w = grid(hypot(c->m[0], c->m[3]));
    c->grid_h = grid(hypot(c->m[1], c->m[4]));
    return TAMIS_OK;
}

tamis_status tamis_priv_warp_plan(tamis_node *node, const struct warp_wish *wish)
{
    struct warp_coef *c = tamis_priv_node_alloc(node, sizeof *c);
    if (!c)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY, "%s: no memory", wish->name);
    TAMIS_TRY(check_wish(node, wish));
    *c = (struct warp_coef){.kind = wish->kind,
                            .interp = wish->interp,
                            .border = wish->border,
                            .w = node->w,
                            .h = node->h,
                            .cubic_a = (float)wish->cubic_a};
    if (c->kind == WARP_PERSPECTIVE && is_affine(wish->forward))
        c->kind = WARP_AFFINE;
    if (c->kind != WARP_MAP)
        TAMIS_TRY(make_map(node, wish, c));
    if (c->interp == TAMIS_INTERP_AREA && c->kind == WARP_AFFINE && c->grid_w == 1 &&
        c->grid_h == 1)
        c->interp = TAMIS_INTERP_LINEAR;
    int copy = c->kind == WARP_AFFINE && c->interp != TAMIS_INTERP_AREA && is_copy(c->m);
    if (copy)
        c->interp = TAMIS_INTERP_NEAREST;
    if (c->interp == TAMIS_INTERP_LANCZOS3)
        TAMIS_TRY(make_lanczos(node, c));
    node->stage = tamis_priv_interp_names[c->interp];
    node->coef = c;
    node->scratch = scratch_bytes;
    node->border = wish->border;
    node->border_value = tamis_priv_node_value(node, wish->border_value);
    /* What is only moved keeps the color of clear pixels. */
    node->alpha = c->interp == TAMIS_INTERP_NEAREST ? TAMIS_ALPHA_MODE_STRAIGHT : wish->alpha;
    node->work = tamis_priv_node_work(node);
    node->gather = 1;
    node->need = need;
    /* Turned, a tile's rows of the source are many pages: these fit what a core knows of them. */
    node->tile_w = 64;
    node->tile_h = 32;
    return TAMIS_OK;
}
