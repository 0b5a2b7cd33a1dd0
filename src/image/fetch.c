/* SPDX-License-Identifier: Apache-2.0 */
#include "image/fetch.h"

#include <string.h>

#include "core/mem.h"

#define ROW_ALIGNMENT 64

static size_t align_up(size_t n)
{
    return (n + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
}

static size_t pixel_bytes(const tamis_fetch *f)
{
    return (size_t)f->step * tamis_type_size(f->work);
}

/* Bytes before the sample at column need.x + left, which shall be aligned. */
static size_t lead_bytes(const tamis_fetch *f)
{
    return align_up(TAMIS_FETCH_SLACK + (size_t)f->left * pixel_bytes(f));
}

size_t tamis_priv_fetch_layout(tamis_fetch *f, int w, int h)
{
    size_t tail = tamis_priv_size_mul((size_t)(w - f->left), pixel_bytes(f));
    f->row_bytes = align_up(tamis_priv_size_add(lead_bytes(f) + TAMIS_FETCH_SLACK, tail));
    f->plane_bytes = tamis_priv_size_mul(f->row_bytes, (size_t)h);
    return tamis_priv_size_mul(f->plane_bytes, (size_t)f->planes);
}

static int64_t map(const tamis_fetch *f, const tamis_source *s, int64_t i, int64_t n)
{
    return s->complete ? i : tamis_border_index(f->border, i, n);
}

int tamis_priv_fetch_is_inside(const tamis_fetch *f, const tamis_source *s, tamis_box need)
{
    int64_t px = (int64_t)pixel_bytes(f), slack = s->slack ? 0 : TAMIS_FETCH_SLACK;
    return (need.x - s->x) * px >= slack && (s->x + s->w - need.x - need.w) * px >= slack;
}

void tamis_priv_fetch_direct(const tamis_fetch *f, const tamis_source *s, tamis_box need,
                             const void **const *rows)
{
    ptrdiff_t column = (ptrdiff_t)(need.x + f->left - s->x) * (ptrdiff_t)pixel_bytes(f);
    for (int i = 0; i < need.h; i++) {
        int64_t y = map(f, s, need.y + i, f->h);
        for (int p = 0; p < f->planes; p++) {
            if (y < 0 && !s->complete)
                rows[p][i] = (const char *)f->constant[p] + lead_bytes(f);
            else
                rows[p][i] = (const char *)s->data[p] + (y - s->y) * s->stride[p] + column;
        }
    }
}

/* One row while it is padded: where each plane's column need.x lies. */
struct row {
    char *at[TAMIS_MAX_CHANNELS];
    int64_t y;
};

/* Converts n pixels from column x of the source's row on, to the padded row at offset. */
static void load(const tamis_fetch *f, const tamis_source *s, const struct row *r, int64_t x,
                 int offset, size_t n)
{
    void *dst[TAMIS_MAX_CHANNELS];
    size_t size = tamis_type_size(f->format.type), channels = (size_t)f->format.channels;
    for (int p = 0; p < f->planes; p++)
        dst[p] = r->at[p] + (size_t)offset * pixel_bytes(f);
    if (f->format.layout == TAMIS_PLANAR) {
        for (int p = 0; p < f->planes; p++)
            f->loops->convert(dst[p], f->work,
                              (const char *)s->data[p] + (r->y - s->y) * s->stride[p] +
                                  (size_t)(x - s->x) * size,
                              f->format.type, n);
    } else {
        const char *src = (const char *)s->data[0] + (r->y - s->y) * s->stride[0] +
                          (size_t)(x - s->x) * channels * size;
        if (f->planes == 1 && f->step == f->format.channels)
            f->loops->convert(dst[0], f->work, src, f->format.type, n * channels);
        else
            f->loops->split(dst, f->work, src, f->format.type, f->planes, n);
    }
    for (int p = 0; f->premultiply && p < f->planes - 1; p++)
        f->loops->premultiply(dst[p], dst[f->planes - 1], n,
                              (float)tamis_type_range(f->format.type));
}

/* Pixels outside the source's columns: columns[i] tells which column stands for need.x + i. */
static void pad_columns(const tamis_fetch *f, const tamis_source *s, const struct row *r,
                        int64_t need_x, int inside, int inside_end, int from, int to,
                        const int64_t *columns)
{
    size_t px = pixel_bytes(f);
    for (int i = from; i < to; i++) {
        int64_t at = columns[i] - need_x; /* in the padded row, if it was loaded there */
        if (columns[i] < 0 && !s->complete) {
            for (int p = 0; p < f->planes; p++)
                memcpy(r->at[p] + (size_t)i * px, (char *)f->constant[p] + lead_bytes(f), px);
        } else if (at >= inside && at < inside_end) {
            for (int p = 0; p < f->planes; p++)
                memcpy(r->at[p] + (size_t)i * px, r->at[p] + (size_t)at * px, px);
        } else {
            load(f, s, r, columns[i], i, 1);
        }
    }
}

void tamis_priv_fetch_padded(const tamis_fetch *f, const tamis_source *s, tamis_box need,
                             void *buffer, int64_t *columns, const void **const *rows)
{
    int64_t from = s->x > need.x ? s->x - need.x : 0;
    int64_t to = s->x + s->w - need.x < need.w ? s->x + s->w - need.x : need.w;
    int inside = (int)(from < need.w ? from : need.w);
    int inside_end = (int)(to > inside ? to : inside);
    for (int i = 0; i < need.w; i++)
        if (i < inside || i >= inside_end)
            columns[i] = map(f, s, need.x + i, f->w);

    size_t lead = lead_bytes(f), start = lead - (size_t)f->left * pixel_bytes(f);
    for (int i = 0; i < need.h; i++) {
        struct row r = {.y = map(f, s, need.y + i, f->h)};
        for (int p = 0; p < f->planes; p++) {
            char *row = (char *)buffer + (size_t)p * f->plane_bytes + (size_t)i * f->row_bytes;
            r.at[p] = row + start;
            rows[p][i] = r.y < 0 && !s->complete ? (char *)f->constant[p] + lead : row + lead;
        }
        if (r.y < 0 && !s->complete)
            continue;
        load(f, s, &r, need.x + inside, inside, (size_t)(inside_end - inside));
        pad_columns(f, s, &r, need.x, inside, inside_end, 0, inside, columns);
        pad_columns(f, s, &r, need.x, inside, inside_end, inside_end, need.w, columns);
    }
}

/* The smallest interval that holds the image of first .. first+count-1. */
static void origin(tamis_border border, int64_t first, int count, int64_t n, int64_t *lo, int *size)
{
    int64_t low = n, high = -1;
    for (int64_t i = first; i < first + count; i++) {
        int64_t m = tamis_border_index(border, i, n);
        if (m >= 0 && m < low)
            low = m;
        if (m > high)
            high = m;
    }
    *lo = low;
    *size = (int)(high - low + 1);
}

tamis_box tamis_priv_fetch_origin(const tamis_fetch *f, tamis_box need)
{
    tamis_box box;
    origin(f->border, need.x, need.w, f->w, &box.x, &box.w);
    origin(f->border, need.y, need.h, f->h, &box.y, &box.h);
    return box;
}
