/* SPDX-License-Identifier: Apache-2.0 */
/* Windows and weights of one axis. They repeat after out / gcd(in, out) pixels, but for those that
 * the edges cut: only different ones are computed and kept. */
#include <math.h>

#include <tamis/resize.h>

#include "cpu/lanczos.h"
#include "resize_kernel.h"

/* ---- one window */

static double shape(const struct tamis_resize *p, double t)
{
    double a = p->cubic_a;
    t = fabs(t);
    switch (p->interp) {
    case TAMIS_INTERP_LINEAR:
        return t < 1 ? 1 - t : 0;
    case TAMIS_INTERP_CUBIC:
        if (t < 1)
            return ((a + 2) * t - (a + 3)) * t * t + 1;
        return t < 2 ? ((t - 5) * t + 8) * t * a - 4 * a : 0;
    case TAMIS_INTERP_LANCZOS3:
        return tamis_priv_lanczos3(t);
    default:
        return 0;
    }
}

/* How the windows of one axis are made. A plane with fewer samples than its picture has those
 * windows that keep its samples where the picture's result has them: from its own sizes they would
 * follow only where both are even and samples lie in the middle of their pixels. */
struct window {
    const struct tamis_resize *p;
    tamis_interp interp; /* an axis that keeps its size is copied */
    int32_t in, out;     /* samples */
    int64_t num, den;    /* the picture's sizes before and after: their ratio is that of windows */
    int moved;           /* 1: they begin at shift, in samples, and not where the image does */
    double shift;
    double stretch, reach; /* f, and how far weights may differ from 0 */
};

static struct window make_window(const tamis_node *node, int down)
{
    static const double reaches[] = {1, 1, 2, 3, 1};
    const struct tamis_resize *p = node->params;
    struct window v = {.p = p, .interp = p->interp, .stretch = 1};
    v.in = down ? node->h : node->w;
    v.out = down ? node->out_h : node->out_w;
    v.num = down ? node->picture_h : node->picture_w;
    v.den = down ? node->picture_out_h : node->picture_out_w;
    double ratio = (double)v.num / (double)v.den, pitch = tamis_priv_node_pitch(node, down);
    if (v.num == v.den) {
        v.interp = TAMIS_INTERP_NEAREST;
    } else if (node->plane) {
        double at = down ? node->plane->at_y : node->plane->at_x;
        v.moved = 1;
        v.shift = (at + 0.5 - pitch / 2) / pitch * (ratio - 1);
    }
    if (ratio > 1 && (p->antialias || p->interp == TAMIS_INTERP_AREA))
        v.stretch = ratio;
    v.reach = reaches[v.interp] * v.stretch;
    return v;
}

/* Where, in samples, the place t of the result lies in the source; both count from the image's
 * edge. */
static double place(const struct window *v, double t)
{
    return t * (double)v->num / (double)v->den + v->shift;
}

static double center(const struct window *v, int32_t i)
{
    return place(v, i + 0.5) - 0.5;
}

/* The samples first .. last that may have a weight for pixel i; they may lie outside the source.
 * Both ends grow with i. */
static void bounds(const struct window *v, int32_t i, double *first, double *last)
{
    if (v->interp == TAMIS_INTERP_NEAREST && !v->moved) {
        *first = *last = (double)((2 * (int64_t)i + 1) * v->num / (2 * v->den));
    } else if (v->interp == TAMIS_INTERP_AREA && !v->moved) {
        *first = (double)((int64_t)i * v->num / v->den);
        *last = (double)((((int64_t)i + 1) * v->num + v->den - 1) / v->den - 1);
    } else if (v->interp == TAMIS_INTERP_NEAREST) {
        *first = *last = floor(place(v, i + 0.5));
    } else if (v->interp == TAMIS_INTERP_AREA) {
        *first = floor(place(v, i));
        *last = ceil(place(v, i + 1.0)) - 1;
    } else {
        double c = center(v, i);
        *first = floor(c - v->reach) + 1;
        *last = ceil(c + v->reach) - 1;
    }
}

static int cut_before(const struct window *v, int32_t i)
{
    double first, last;
    bounds(v, i, &first, &last);
    return first < 0;
}

static int cut_behind(const struct window *v, int32_t i)
{
    double first, last;
    bounds(v, i, &first, &last);
    return last > v->in - 1;
}

/* What of pixel i's window lies inside; returns how many samples. */
static int inside(const struct window *v, int32_t i, int32_t *start)
{
    double first, last;
    bounds(v, i, &first, &last);
    double end = v->in - 1;
    first = first > 0 ? first < end ? first : end : 0;
    last = last < end ? last > first ? last : first : end;
    *start = (int32_t)first;
    return (int)(last - first) + 1;
}

/* The weights of pixel i for its samples from start on, scaled. */
static void make_weights(const struct window *v, int32_t i, int32_t start, int count, double *w)
{
    double c = center(v, i), sum = 0;
    double low = place(v, i), high = place(v, i + 1.0);
    for (int k = 0; k < count; k++) {
        double x = (double)start + k;
        if (v->interp == TAMIS_INTERP_NEAREST)
            w[k] = 1;
        else if (v->interp == TAMIS_INTERP_AREA)
            w[k] = fmax(fmin(high, x + 1) - fmax(low, x), 0);
        else
            w[k] = shape(v->p, (x - c) / v->stretch);
        sum += w[k];
    }
    for (int k = 0; k < count; k++)
        w[k] = sum != 0 ? w[k] / sum : 1.0 / count; /* a plane's last sample may lie outside */
}

/* ---- all windows */

/* Pixels same .. end - 1 have the windows of those a period before, moved on. */
struct cycle {
    int32_t period, advance, same, end;
};

static struct cycle make_cycle(const struct window *v)
{
    int64_t a = v->num, b = v->den;
    int32_t first = 0, end = v->out;
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    while (first < end && cut_before(v, first))
        first++;
    while (end > first && cut_behind(v, end - 1))
        end--;
    struct cycle c = {(int32_t)(v->den / a), (int32_t)(v->num / a), v->out, v->out};
    if ((int64_t)first + c.period < end) {
        c.same = first + c.period;
        c.end = end;
    }
    return c;
}

static tamis_status no_memory(tamis_node *node)
{
    return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY, "resize: no memory for the weights");
}

tamis_status tamis_priv_resize_windows(tamis_node *node, int down, struct resize_axis *a)
{
    struct window v = make_window(node, down);
    int32_t out = v.out;
    struct cycle c = make_cycle(&v);
    size_t phases = (size_t)(out - (c.end - c.same));
    int32_t *start = tamis_priv_node_alloc(node, (size_t)out * sizeof *start);
    int32_t *phase = tamis_priv_node_alloc(node, (size_t)out * sizeof *phase);
    int32_t *count = tamis_priv_node_alloc(node, phases * sizeof *count);
    if (!start || !phase || !count)
        return no_memory(node);
    *a = (struct resize_axis){
        .in = v.in, .out = out, .down = down, .ratio = (double)v.num / (double)v.den};
    for (int32_t i = 0; i < out; i++) {
        if (i >= c.same && i < c.end) {
            start[i] = start[i - c.period] + c.advance;
            phase[i] = phase[i - c.period];
            continue;
        }
        phase[i] = a->phases++;
        count[phase[i]] = inside(&v, i, &start[i]);
        a->taps = count[phase[i]] > a->taps ? count[phase[i]] : a->taps;
    }
    a->pitch = a->taps > 8 ? (a->taps + 7) / 8 * 8 : (a->taps + 1) / 2 * 2;
    a->start = start;
    a->phase = phase;
    a->count = count;
    return TAMIS_OK;
}

/* ---- all weights */

/* Weights of one window in multiples of 2^-bits that sum to exactly one: rounded running sums
 * differ from the exact ones by half a step at most. Returns whether all fit. */
static int make_fixed(const double *w, int taps, int bits, int16_t *q)
{
    double sum = 0, scale = 1 << bits;
    long before = 0;
    for (int k = 0; k < taps; k++) {
        if (bits == 15 && fabs(w[k]) > 0.9999)
            return 0;
        sum += w[k];
        long now = lrint(sum * scale);
        q[k] = (int16_t)(now - before);
        before = now;
    }
    return 1;
}

static int fill_fixed(const struct window *v, const struct resize_axis *a, double *w, int16_t *q)
{
    int32_t made = 0;
    for (int32_t i = 0; i < a->out; i++) {
        if (a->phase[i] != made) /* phases are numbered as they first come */
            continue;
        make_weights(v, i, a->start[i], a->count[made], w);
        if (!make_fixed(w, a->count[made], a->bits, q + (ptrdiff_t)made * a->pitch))
            return 0;
        made++;
    }
    return 1;
}

static void fill_floats(const struct window *v, const struct resize_axis *a, double *w, float *f)
{
    int32_t made = 0;
    for (int32_t i = 0; i < a->out; i++) {
        if (a->phase[i] != made)
            continue;
        make_weights(v, i, a->start[i], a->count[made], w);
        for (int k = 0; k < a->count[made]; k++)
            f[(ptrdiff_t)made * a->pitch + k] = (float)w[k];
        made++;
    }
}

tamis_status tamis_priv_resize_weights(tamis_node *node, int fixed, struct resize_axis *a)
{
    struct window v = make_window(node, a->down);
    size_t count = (size_t)a->phases * (size_t)a->pitch + 8; /* kernels read eight at a time */
    double *w = tamis_priv_node_alloc(node, (size_t)a->taps * sizeof *w);
    void *weights = tamis_priv_node_alloc(node, count * (fixed ? sizeof *a->q : sizeof *a->f));
    if (!w || !weights)
        return no_memory(node);
    if (fixed) {
        a->q = weights;
        a->bits = 15;
        if (!fill_fixed(&v, a, w, weights)) {
            a->bits = 14;
            fill_fixed(&v, a, w, weights);
        }
    } else {
        a->f = weights;
        fill_floats(&v, a, w, weights);
    }
    return TAMIS_OK;
}
