/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/risk.h"

#include <math.h>

#include "core/status.h"
#include "cpu/picture.h"
#include "graph/plan.h"
#include "graph/run.h"

/* Pictures of a few more pixels than this are one piece; of larger ones PIECES places are looked
 * at, of so many pixels, with those around them that filters look at. Wide ones are filtered
 * faster. */
#define PIXELS 3072
#define WIDTH  192
#define ACROSS 4
#define MARGIN 16
#define WHOLE  (PIXELS * TAMIS_RISK_PIECES)

/* ---- pieces */

static int32_t smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Their size, and how many there are side by side and one below the other. */
static void choose_pieces(tamis_risk *r, int *across, int *down)
{
    int32_t width = smaller(r->w, WIDTH), height = PIXELS / width;
    int is_whole = (int64_t)r->w * r->h <= WHOLE;
    r->piece_w = is_whole ? r->w : smaller(r->w, width + 2 * MARGIN);
    r->piece_h = is_whole ? r->h : smaller(r->h, height + 2 * MARGIN);
    int left = r->piece_w < r->w ? MARGIN : 0, top = r->piece_h < r->h ? MARGIN : 0;
    r->inside = (tamis_rect){left, top, r->piece_w - 2 * left, r->piece_h - 2 * top};
    *across = is_whole ? 1 : smaller(ACROSS, r->w / width);
    *down = is_whole ? 1 : smaller(TAMIS_RISK_PIECES / *across, larger(1, r->h / height));
    if (!is_whole)
        *across = smaller(TAMIS_RISK_PIECES / *down, r->w / width);
}

/* Where the i-th of count pieces of that length begins: evenly, not at the very edges. */
static int32_t place(int i, int count, int32_t length, int32_t all)
{
    return (int32_t)((int64_t)(all - length) * (2 * i + 1) / (2 * count));
}

static tamis_format values_of(const tamis_risk *r)
{
    tamis_format format = r->format;
    format.type = TAMIS_F32;
    format.layout = TAMIS_PLANAR;
    return format;
}

/* Reads the pieces first .. first + count - 1 of row j, with what lies between them. */
static tamis_status read_pieces(tamis_risk *r, int first, int count, int across, int j, int down)
{
    int32_t x0 = place(first, across, r->piece_w, r->w);
    int32_t x1 = place(first + count - 1, across, r->piece_w, r->w);
    tamis_rect part = {x0, place(j, down, r->piece_h, r->h), x1 + r->piece_w - x0, r->piece_h};
    tamis_image band, view;
    TAMIS_TRY(tamis_image_create(r->ctx, r->format, part.w, part.h, &band));
    tamis_status status = r->source->read(r->source->user, part, &band);
    for (int i = first; i < first + count && status == TAMIS_OK; i++) {
        tamis_risk_piece *p = &r->pieces[r->count++];
        int32_t x = place(i, across, r->piece_w, r->w) - x0;
        status = tamis_image_create(r->ctx, values_of(r), r->piece_w, r->piece_h, &p->noisy);
        if (status == TAMIS_OK)
            status =
                tamis_image_view(r->ctx, &band, (tamis_rect){x, 0, r->piece_w, r->piece_h}, &view);
        if (status == TAMIS_OK)
            status = tamis_image_copy(r->ctx, &view, &p->noisy);
    }
    tamis_image_unref(&band);
    return status;
}

/* Row by row, for sources that have no other way back than from the beginning. */
static tamis_status read_all(tamis_risk *r)
{
    int across, down;
    choose_pieces(r, &across, &down);
    size_t row = (size_t)r->w * (size_t)r->format.channels * tamis_type_size(r->format.type);
    int at_once = row > r->max_bytes / (size_t)r->piece_h ? 1 : across;
    for (int j = 0; j < down; j++)
        for (int i = 0; i < across; i += at_once)
            TAMIS_TRY(read_pieces(r, i, at_once, across, j, down));
    return TAMIS_OK;
}

static tamis_status prepare(tamis_risk *r)
{
    TAMIS_TRY(read_all(r));
    TAMIS_TRY(tamis_priv_risk_move(r));
    int32_t w = r->inside.w, h = r->inside.h;
    for (int i = 0; i < 2 * r->count; i++)
        TAMIS_TRY(tamis_image_create(r->ctx, r->tried, w, h, &r->results[i]));
    for (int i = 0; i < 2; i++)
        TAMIS_TRY(tamis_image_create(r->ctx, values_of(r), w, h, &r->values[i]));
    return TAMIS_OK;
}

void tamis_priv_risk_free(tamis_risk *r)
{
    for (int i = 0; i < r->count; i++) {
        tamis_image_unref(&r->pieces[i].noisy);
        tamis_image_unref(&r->pieces[i].moved);
    }
    for (int i = 0; i < 2 * r->count; i++) {
        tamis_image_unref(&r->tries[i]);
        tamis_image_unref(&r->results[i]);
    }
    tamis_image_unref(&r->values[0]);
    tamis_image_unref(&r->values[1]);
    r->count = 0;
}

/* ---- chains */

/* The sum over a row of a channel; NaN and infinities in the picture have no part in it. */
static double add_row(const tamis_risk *r, const tamis_risk_piece *p, int c, int32_t y)
{
    const tamis_noise *noise = &r->noise[c];
    tamis_rect in = r->inside;
    const float *y0 = tamis_image_row(&p->noisy, c, y + in.y);
    const float *y1 = tamis_image_row(&p->moved, c, y + in.y);
    const float *f0 = tamis_image_row(&r->values[0], c, y);
    const float *f1 = tamis_image_row(&r->values[1], c, y);
    double sum = 0;
    for (int32_t x = 0; x < in.w; x++) {
        double f = (double)f0[x], far = f - (double)y0[in.x + x];
        double step = (double)y1[in.x + x] - (double)y0[in.x + x];
        double v = fmax(0, noise->slope * f + noise->offset);
        double slope = step * ((double)f1[x] - f) / (r->step * r->step);
        double risk = far * far + v * (2 * slope - 1);
        sum += isfinite(risk) ? risk : 0;
    }
    return sum;
}

/* What a plan makes of the parts of the pieces that count: at once, for each is small. */
static tamis_status run(const tamis_risk *r, const tamis_plan *plan)
{
    tamis_run_options options = {.cancel = r->cancel};
    int count = 2 * r->count;
    for (int i = 0; i < count && plan->device; i++)
        TAMIS_TRY(tamis_plan_run_region(plan, &r->tries[i], r->inside, &r->results[i], &options));
    if (!plan->device &&
        !tamis_priv_host_run_many(plan, r->tries, r->results, (size_t)count, r->inside, &options))
        return tamis_priv_fail(r->ctx, TAMIS_ERR_CANCELED, "resolve: canceled");
    return TAMIS_OK;
}

static tamis_status try_plan(const tamis_risk *r, const tamis_plan *plan, double *out)
{
    double sum = 0;
    TAMIS_TRY(run(r, plan));
    for (int i = 0; i < r->count; i++) {
        TAMIS_TRY(tamis_image_copy(r->ctx, &r->results[2 * i], &r->values[0]));
        TAMIS_TRY(tamis_image_copy(r->ctx, &r->results[2 * i + 1], &r->values[1]));
        for (int c = 0; c < r->colors; c++)
            for (int32_t y = 0; y < r->inside.h; y++)
                sum += add_row(r, &r->pieces[i], c, y);
    }
    *out = sum / ((double)r->count * r->colors * r->inside.w * r->inside.h);
    return TAMIS_OK;
}

static tamis_status try_chain(const tamis_risk *r, const char *chain, double *out)
{
    tamis_graph *graph;
    tamis_plan *plan = NULL;
    TAMIS_TRY(tamis_graph_parse(r->ctx, chain, &graph));
    tamis_status status =
        tamis_plan_create(r->ctx, graph, r->tried, r->piece_w, r->piece_h, NULL, &plan);
    if (status == TAMIS_OK)
        status = try_plan(r, plan, out);
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    return status;
}

/* Makes the pieces, once. */
static int is_ready(tamis_risk *r)
{
    if (r->status == TAMIS_OK && r->count == 0)
        r->status = prepare(r);
    return r->status == TAMIS_OK;
}

double tamis_priv_picture_risk(const tamis_picture *picture, const char *chain)
{
    double risk = 0;
    tamis_risk *r = picture->risk;
    if (is_ready(r))
        r->status = try_chain(r, chain, &risk);
    return r->status == TAMIS_OK ? risk : 0;
}

double tamis_priv_picture_alone(const tamis_picture *picture)
{
    tamis_risk *r = picture->risk;
    return is_ready(r) ? r->alone : 0;
}

double tamis_priv_picture_ends(const tamis_picture *picture)
{
    tamis_risk *r = picture->risk;
    return is_ready(r) ? r->ends : 0;
}
