/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters for planes with fewer samples than their picture has pixels. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/status.h"
#include "graph/plan.h"

#define SUB_MAX 12

static tamis_status check_side(tamis_ctx *ctx, const char *side, int sub, int32_t picture,
                               int32_t n)
{
    if (sub < 0 || sub > SUB_MAX)
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT,
                               "plane: one sample for 2^%d pixels of its %s; allowed: 2^0 .. 2^%d",
                               sub, side, SUB_MAX);
    if (picture != 0 && (int32_t)(((int64_t)picture + (1 << sub) - 1) >> sub) != n)
        return tamis_priv_fail(
            ctx, TAMIS_ERR_ARGUMENT,
            "plane: a %s of %d is not that of a picture's %d pixels with one sample for %d", side,
            n, picture, 1 << sub);
    if (picture == 0 && ((int64_t)n << sub) > INT32_MAX)
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT, "plane: a %s of %d is too large", side, n);
    return TAMIS_OK;
}

tamis_status tamis_priv_plane_check(tamis_ctx *ctx, const tamis_plane *plane, int32_t w, int32_t h)
{
    if (plane->bits < 0 || plane->bits > 16)
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT, "plane: bits = %d is outside 0 .. 16",
                               plane->bits);
    if (!isfinite(plane->at_x) || !isfinite(plane->at_y) || !isfinite(plane->outside))
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT, "plane: a place or level is not finite");
    TAMIS_TRY(check_side(ctx, "width", plane->sub_x, plane->w, w));
    return check_side(ctx, "height", plane->sub_y, plane->h, h);
}

/* ---- scaling */

/* A window of n samples, of which the plane has one for 2^sub. Of odd ones the halves are scaled,
 * halves of a sample rounded up, so that 3 stays 3 and is not nothing. */
static int scale_window(const tamis_param *p, int n, int sub)
{
    if (sub == 0 || n < p->min || n <= 0)
        return n; /* not given */
    int scaled = n % 2 ? 2 * ((n / 2 + (1 << sub) / 2) >> sub) + 1 : (n + (1 << sub) / 2) >> sub;
    return scaled < p->min ? (int)p->min : scaled < 1 ? 1 : scaled;
}

/* An anchor is a place in a window: rounded down, it stays inside. */
static int scale_int(const tamis_param *p, int n, double sub)
{
    if (p->odd)
        return scale_window(p, n, (int)(sub + 0.5));
    return n < p->min || n <= 0 ? n : (int)floor(ldexp(n, -(int)sub));
}

static double scale_length(const tamis_param *p, double v, double sub)
{
    if (v < p->min) /* not given */
        return v;
    v *= exp2(-sub);
    return v < p->min ? p->min : v;
}

/* Row NAME_x or NAME_y of a filter whose row NAME is about both. */
static const tamis_param *axis_row(const tamis_filter *filter, const char *name, const char *axis)
{
    char text[64];
    snprintf(text, sizeof text, "%s_%s", name, axis);
    for (int i = 0; i < filter->param_count; i++)
        if (strcmp(filter->params[i].name, text) == 0)
            return &filter->params[i];
    return NULL;
}

/* A length that holds across and down, where the two are scaled apart: if the filter has one for
 * each, those are set, unless they were given. Returns 0 when it has not. */
static int split_length(const tamis_filter *filter, const tamis_param *p, void *params)
{
    const tamis_param *x = axis_row(filter, p->name, "x"), *y = axis_row(filter, p->name, "y");
    double v = *(double *)(void *)((char *)params + p->offset);
    if (!x || !y || v < p->min)
        return 0;
    double *at_x = (double *)(void *)((char *)params + x->offset);
    double *at_y = (double *)(void *)((char *)params + y->offset);
    *at_x = *at_x < x->min ? v : *at_x;
    *at_y = *at_y < y->min ? v : *at_y;
    return 1;
}

static void scale(const tamis_filter *filter, const tamis_plane *plane, const tamis_param *p,
                  void *params)
{
    void *at = (char *)params + p->offset;
    double both = (plane->sub_x + plane->sub_y) / 2.0; /* the area's scale is kept */
    double sub = p->scales == TAMIS_SCALES_X   ? plane->sub_x
                 : p->scales == TAMIS_SCALES_Y ? plane->sub_y
                                               : both;
    switch (p->type) {
    case TAMIS_PARAM_SIZE: {
        tamis_size *size = at;
        size->w = scale_window(p, size->w, plane->sub_x);
        size->h = scale_window(p, size->h, plane->sub_y);
        break;
    }
    case TAMIS_PARAM_INT:
        *(int *)at = scale_int(p, *(int *)at, sub);
        break;
    case TAMIS_PARAM_DOUBLE:
        if (p->scales == TAMIS_SCALES_BOTH && plane->sub_x != plane->sub_y)
            split_length(filter, p, params);
        *(double *)at = scale_length(p, *(double *)at, sub);
        break;
    default:
        break;
    }
}

static void set_outside(const tamis_param *p, const tamis_plane *plane, void *params)
{
    tamis_value *v = (tamis_value *)(void *)((char *)params + p->offset);
    if (plane->outside_always || v->value == 0)
        *v = (tamis_value){plane->outside, 0};
}

void tamis_priv_plane_scale(const tamis_filter *filter, const tamis_plane *plane, void *params)
{
    for (int i = 0; i < filter->param_count; i++) {
        const tamis_param *p = &filter->params[i];
        if (p->outside)
            set_outside(p, plane, params);
        if (p->scales && (plane->sub_x || plane->sub_y))
            scale(filter, plane, p, params);
    }
}
