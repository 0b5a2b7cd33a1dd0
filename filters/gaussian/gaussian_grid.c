/* SPDX-License-Identifier: Apache-2.0 */
/* The Gaussian on a grid, for wide windows: its taps, found by least squares, and the reference
 * kernels. See "On a grid" in gaussian.h. */
#include <math.h>
#include <stdlib.h>

#include "cpu/sample.h"
#include "gaussian_kernel.h"

/* ---- taps */

/* Sum of grid samples that one B-spline of order 6, the spread down and up together, overlaps. */
enum { REACH = 5 };

int tamis_priv_gaussian_grid_step(double sigma, int radius, tamis_type type)
{
    /* Shorter windows end in a step that the grid would blur too much. */
    if (sigma < (type == TAMIS_U8 ? 10 : 20) || radius < 2.9 * sigma)
        return 1;
    int step = 2;
    while (2 * step <= sigma / (type == TAMIS_U8 ? 4 : 10))
        step *= 2;
    return step;
}

/* The n numbers of a summed over every d neighbors: n + d - 1 numbers. */
static void widen(double *a, int n, int d)
{
    for (int i = n + d - 2; i >= 0; i--) {
        double sum = 0;
        for (int j = i < n ? i : n - 1; j >= 0 && j > i - d; j--)
            sum += a[j];
        a[i] = sum;
    }
}

/* A row of the matrix G = L L' with REACH diagonals beside the main one. */
typedef double band_row[REACH + 1];

/* Solves G f = h in place of h, where G[i][j] = lag[|i - j|], by Cholesky's method. */
static void solve_banded(const double *lag, band_row *l, double *h, int n)
{
    for (int i = 0; i < n; i++) {
        for (int j = i > REACH ? i - REACH : 0; j <= i; j++) {
            double sum = lag[i - j];
            for (int k = i > REACH ? i - REACH : 0; k < j; k++)
                if (j - k <= REACH)
                    sum -= l[i][i - k] * l[j][j - k];
            l[i][i - j] = i == j ? sqrt(sum) : sum / l[j][0];
        }
    }
    for (int i = 0; i < n; i++) {
        for (int k = i > REACH ? i - REACH : 0; k < i; k++)
            h[i] -= l[i][i - k] * h[k];
        h[i] /= l[i][0];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n && k <= i + REACH; k++)
            h[i] -= l[k][k - i] * h[k];
        h[i] /= l[i][0];
    }
}

/* Taps f for which the sum of f[s] spline(i - s step) comes nearest to the window, among those that
 * sum to one: G f = h + m 1, with the multiplier m that makes the sum so. */
static int fit_taps(tamis_node *node, const struct gaussian_axis *window, int step, int radius,
                    double *taps)
{
    int length = 6 * step - 5, center = 3 * step - 3, n = 2 * radius + 1;
    double *spline = tamis_priv_node_alloc(node, (size_t)length * sizeof *spline);
    double *f = tamis_priv_node_alloc(node, (size_t)n * 2 * sizeof *f), *ones = f + n;
    band_row *l = tamis_priv_node_alloc(node, (size_t)n * sizeof *l);
    if (!spline || !f || !l)
        return 0;
    spline[0] = 1;
    for (int k = 0; k < 6; k++)
        widen(spline, k * (step - 1) + 1, step);
    double lag[REACH + 1] = {0}, scale = pow(step, -6);
    for (int i = 0; i < length; i++)
        spline[i] *= scale;
    for (int k = 0; k <= REACH; k++)
        for (int i = k * step; i < length; i++)
            lag[k] += spline[i] * spline[i - k * step];
    for (int s = -radius; s <= radius; s++) {
        for (int i = 0; i < length; i++) {
            int at = abs(s * step + i - center);
            if (at <= window->radius)
                f[s + radius] += window->d[at] * spline[i];
        }
        ones[s + radius] = 1;
    }
    solve_banded(lag, l, f, n);
    solve_banded(lag, l, ones, n);
    double sum = 0, sum_ones = 0;
    for (int i = 0; i < n; i++) {
        sum += f[i];
        sum_ones += ones[i];
    }
    for (int i = 0; i <= radius; i++) {
        int a = radius - i, b = radius + i;
        taps[i] = (f[a] + f[b] + (1 - sum) / sum_ones * (ones[a] + ones[b])) / 2;
    }
    return 1;
}

static int make_spread(tamis_node *node, struct gaussian_grid *g)
{
    int step = g->step, count = 3 * step;
    double *spline = tamis_priv_node_alloc(node, (size_t)count * sizeof *spline);
    float *down = tamis_priv_node_alloc(node, (size_t)count * sizeof *down);
    float *up = tamis_priv_node_alloc(node, (size_t)count * sizeof *up);
    if (!spline || !down || !up)
        return 0;
    spline[0] = 1;
    for (int k = 0; k < 3; k++)
        widen(spline, k * (step - 1) + 1, step);
    for (int i = 0; i < count; i++) { /* exact: step is a power of two */
        up[i] = (float)(spline[i] / ((double)step * step));
        down[i] = up[i] / (float)step;
    }
    g->down = down;
    g->up = up;
    return 1;
}

tamis_status tamis_priv_gaussian_make_grid(tamis_node *node, struct gaussian_grid *g,
                                           const struct gaussian_axis *window, int step)
{
    int radius = window->radius / step + 1;
    size_t count = (size_t)radius + 1;
    double *exact = tamis_priv_node_alloc(node, count * sizeof *exact);
    double *d = tamis_priv_node_alloc(node, count * sizeof *d);
    float *f = tamis_priv_node_alloc(node, count * sizeof *f);
    g->step = step;
    if (!exact || !d || !f || !make_spread(node, g) || !fit_taps(node, window, step, radius, exact))
        return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY, "gaussian: no memory for the taps");
    tamis_priv_gaussian_round_taps(exact, d, radius, 24);
    for (int i = 0; i <= radius; i++)
        f[i] = (float)ldexp(d[i], -24);
    tamis_priv_gaussian_round_taps(exact, d, radius, 53);
    for (int i = 0; i <= radius; i++)
        d[i] = ldexp(d[i], -53);
    g->smooth = (struct gaussian_axis){.radius = radius, .f = f, .d = d};
    return TAMIS_OK;
}

size_t tamis_priv_gaussian_grid_scratch(const void *coef, int w, int h, int step)
{
    const struct gaussian_coef *c = coef;
    size_t columns = (size_t)gaussian_grid_count(&c->grid_x, c->grid_x.step, w) * (size_t)step + 96;
    size_t rows = (size_t)gaussian_grid_count(&c->grid_y, c->grid_y.step, h) + 16;
    size_t samples = (columns + 2 * (size_t)step) * (size_t)c->grid_x.step + 96;
    /* In floats: the reference has a row of samples and three planes of the grid; the others lines
     * of 16 rows of samples and of the grid, five rows of samples and 18 that it stores, two planes
     * of the grid, and pointers to rows. */
    return (samples * 40 + columns * 36 + (size_t)step * 128 + rows * columns * 3 + rows * 4 +
            2048) *
           sizeof(float);
}

/* ---- the reference: columns, then rows, down to the grid; the Gaussian there; up again */

struct grid_run {
    const tamis_tile *t;
    const struct gaussian_coef *c;
    tamis_type type;
    struct gaussian_part part;
    int columns, rows; /* of the grid, with what the Gaussian there reads */
    size_t stride;     /* of rows of the grid, in floats */
};

/* Sum of n products: in binary64 for f32, else fused in binary32. */
static float weighted_sum(const float *w, const float *x, size_t step, int n, tamis_type type)
{
    double wide = 0;
    float sum = 0;
    for (int k = 0; k < n; k++) {
        if (type == TAMIS_F32)
            wide += (double)w[k] * x[(size_t)k * step];
        else
            sum = fmaf(w[k], x[(size_t)k * step], sum);
    }
    return type == TAMIS_F32 ? (float)wide : sum;
}

static float smoothed(const float *at, size_t step, const struct gaussian_axis *a, tamis_type type)
{
    double wide = a->d[0] * at[0];
    float sum = at[0];
    for (int j = 1; j <= a->radius; j++) {
        float before = *(at - (size_t)j * step), after = at[(size_t)j * step];
        if (type == TAMIS_F32)
            wide += a->d[j] * ((double)before + after);
        else
            sum = fmaf(a->f[j], (before + after) - (at[0] + at[0]), sum);
    }
    return type == TAMIS_F32 ? (float)wide : sum;
}

/* Between three samples of the grid. */
static float raised(float a, float b, float c, const struct gaussian_grid *g, int phase,
                    tamis_type type)
{
    float wa = g->up[2 * g->step + phase], wb = g->up[g->step + phase], wc = g->up[phase];
    if (type == TAMIS_F32)
        return (float)((double)wa * a + (double)wb * b + (double)wc * c);
    return fmaf(wc, c - b, fmaf(wa, a - b, b));
}

/* Row r of the grid, down both ways. NaN and Inf count as 0. */
static void grid_row(const struct grid_run *g, int r, float *samples, float *out)
{
    const struct gaussian_grid *gx = &g->c->grid_x, *gy = &g->c->grid_y;
    size_t step = (size_t)g->t->step;
    int n = (g->columns + 2) * gx->step * g->t->step;
    int first_x = g->part.x - g->part.phase_x - (2 + gx->smooth.radius) * gx->step;
    int first_y = g->part.y - g->part.phase_y + (r - 2 - gy->smooth.radius) * gy->step;
    for (int i = 0; i < n; i++) {
        double wide = 0;
        float sum = 0;
        for (int k = 0; k < 3 * gy->step; k++) {
            float v = (float)tamis_priv_sample_get(g->type, g->t->src[0][first_y + k],
                                                   first_x * g->t->step + i);
            if (g->type != TAMIS_F32)
                sum = fmaf(gy->down[k], v, sum);
            else if (isfinite(v))
                wide += (double)gy->down[k] * v;
        }
        samples[i] = g->type == TAMIS_F32 ? (float)wide : sum;
    }
    for (int q = 0; q < g->columns; q++)
        for (size_t c = 0; c < step; c++)
            out[(size_t)q * step + c] = weighted_sum(
                gx->down, samples + (size_t)(q * gx->step) * step + c, step, 3 * gx->step, g->type);
}

/* What the window at a pixel makes of NaN and Inf in it; 0 where there is none. */
static float special(const struct grid_run *g, int x, int y, int c)
{
    int rx = g->c->x.radius, ry = g->c->y.radius, found = 0;
    float sum = 0;
    for (int j = y - ry; j <= y + ry; j++) {
        const float *row = g->t->src[0][j];
        for (int i = x - rx; i <= x + rx; i++) {
            float v = row[i * g->t->step + c];
            if (!isfinite(v)) {
                sum += v;
                found = 1;
            }
        }
    }
    return found ? sum : 0;
}

static int has_special(const struct grid_run *g)
{
    int rx = g->c->x.radius, ry = g->c->y.radius;
    for (int y = g->part.y - ry; y < g->part.y + g->part.h + ry; y++)
        for (int i = (g->part.x - rx) * g->t->step; i < (g->part.x + g->part.w + rx) * g->t->step;
             i++)
            if (!isfinite(((const float *)g->t->src[0][y])[i]))
                return 1;
    return 0;
}

static void raise_part(const struct grid_run *g, const float *grid)
{
    const struct gaussian_grid *gx = &g->c->grid_x, *gy = &g->c->grid_y;
    int step = g->t->step, specials = g->type == TAMIS_F32 && has_special(g);
    for (int y = 0; y < g->part.h; y++) {
        int v = g->part.phase_y + y;
        char *dst = (char *)g->t->dst[0] + (g->part.y + y) * g->t->dst_stride[0];
        for (int i = 0; i < g->part.w * step; i++) {
            int u = g->part.phase_x + i / step;
            float rows[3];
            for (int k = 0; k < 3; k++) {
                const float *at =
                    grid + (size_t)(v / gy->step + k) * g->stride + u / gx->step * step + i % step;
                rows[k] = raised(at[0], at[step], at[2 * step], gx, u % gx->step, g->type);
            }
            float out = raised(rows[0], rows[1], rows[2], gy, v % gy->step, g->type);
            float what = specials ? special(g, g->part.x + i / step, g->part.y + y, i % step) : 0;
            tamis_priv_sample_put(g->type, dst, g->part.x * step + i, isfinite(what) ? out : what);
        }
    }
}

static void grid_part(struct grid_run *g, float *scratch)
{
    const struct gaussian_axis *ax = &g->c->grid_x.smooth, *ay = &g->c->grid_y.smooth;
    size_t step = (size_t)g->t->step;
    g->columns = gaussian_grid_count(&g->c->grid_x, g->part.phase_x, g->part.w);
    g->rows = gaussian_grid_count(&g->c->grid_y, g->part.phase_y, g->part.h);
    g->stride = (size_t)g->columns * step;
    float *down = scratch, *across = down + (size_t)g->rows * g->stride;
    float *done = across + (size_t)g->rows * g->stride;
    float *samples = done + (size_t)g->rows * g->stride;
    for (int r = 0; r < g->rows; r++) {
        const float *row = down + (size_t)r * g->stride + (size_t)ax->radius * step;
        grid_row(g, r, samples, down + (size_t)r * g->stride);
        for (size_t i = 0; i < g->stride - 2 * (size_t)ax->radius * step; i++)
            across[(size_t)r * g->stride + i] = smoothed(row + i, step, ax, g->type);
    }
    for (int r = 0; r < g->rows - 2 * ay->radius; r++) {
        const float *row = across + (size_t)(r + ay->radius) * g->stride;
        for (size_t i = 0; i < g->stride - 2 * (size_t)ax->radius * step; i++)
            done[(size_t)r * g->stride + i] = smoothed(row + i, g->stride, ay, g->type);
    }
    raise_part(g, done);
}

static void grid_c(const tamis_tile *t, const void *coef, float *scratch, tamis_type type)
{
    struct grid_run g = {.t = t, .c = coef, .type = type};
    struct gaussian_part *p = &g.part;
    while (gaussian_next_part(t, g.c, p))
        grid_part(&g, scratch);
}

void tamis_priv_gaussian_grid_u8_c(const tamis_tile *t, const void *coef, void *scratch)
{
    grid_c(t, coef, scratch, TAMIS_U8);
}

void tamis_priv_gaussian_grid_u16_c(const tamis_tile *t, const void *coef, void *scratch)
{
    grid_c(t, coef, scratch, TAMIS_U16);
}

void tamis_priv_gaussian_grid_s16_c(const tamis_tile *t, const void *coef, void *scratch)
{
    grid_c(t, coef, scratch, TAMIS_S16);
}

void tamis_priv_gaussian_grid_f32_c(const tamis_tile *t, const void *coef, void *scratch)
{
    grid_c(t, coef, scratch, TAMIS_F32);
}
