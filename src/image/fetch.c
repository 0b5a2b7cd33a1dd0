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
    return align_up((size_t)tamis_priv_fetch_slack(f->work) + (size_t)f->left * pixel_bytes(f));
}

size_t tamis_priv_fetch_layout(tamis_fetch *f, int w, int h)
{
    size_t tail = tamis_priv_size_mul((size_t)(w - f->left), pixel_bytes(f));
    f->row_bytes = align_up(
        tamis_priv_size_add(lead_bytes(f) + (size_t)tamis_priv_fetch_slack(f->work), tail));
    f->plane_bytes = tamis_priv_size_mul(f->row_bytes, (size_t)(h < f->h ? h : f->h));
    return tamis_priv_size_mul(f->plane_bytes, (size_t)f->planes);
}

static int64_t map(const tamis_fetch *f, const tamis_source *s, int64_t i, int64_t n)
{
    return s->complete ? i : tamis_border_index(f->border, i, n);
}

int tamis_priv_fetch_is_inside(const tamis_fetch *f, const tamis_source *s, tamis_box need)
{
    int64_t px = (int64_t)pixel_bytes(f);
    int64_t slack = s->slack || s->between ? 0 : tamis_priv_fetch_slack(f->work);
    return (need.x - s->x) * px >= slack && (s->x + s->w - need.x - need.w) * px >= slack;
}

/* Copies what need has of the source's first or last row to where kernels may read beyond it. */
static void *copy_end_row(const tamis_fetch *f, const tamis_source *s, tamis_box need, int p,
                          int64_t y, void *buffer)
{
    size_t px = pixel_bytes(f), slot = y == s->y ? 0 : f->plane_bytes / f->row_bytes - 1;
    char *to = (char *)buffer + (size_t)p * f->plane_bytes + slot * f->row_bytes + lead_bytes(f);
    const char *from = (const char *)s->data[p] + (y - s->y) * s->stride[p];
    memcpy(to - (size_t)f->left * px, from + (size_t)(need.x - s->x) * px, (size_t)need.w * px);
    return to;
}

void tamis_priv_fetch_direct(const tamis_fetch *f, const tamis_source *s, tamis_box need,
                             void *buffer, const void **const *rows)
{
    ptrdiff_t column = (ptrdiff_t)(need.x + f->left - s->x) * (ptrdiff_t)pixel_bytes(f);
    for (int p = 0; p < f->planes; p++) {
        const void *ends[2] = {NULL, NULL};
        for (int i = 0; i < need.h; i++) {
            int64_t y = map(f, s, need.y + i, f->h);
            int last = y == s->y + s->h - 1;
            if (y < 0 && !s->complete) {
                rows[p][i] = (const char *)f->constant[p] + lead_bytes(f);
            } else if (s->between && (y == s->y || last)) {
                if (!ends[last])
                    ends[last] = copy_end_row(f, s, need, p, y, buffer);
                rows[p][i] = ends[last];
            } else {
                rows[p][i] = (const char *)s->data[p] + (y - s->y) * s->stride[p] + column;
            }
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

/* The columns of a box: those from inside to inside_end - 1 are in the source, for the others
 * columns[i] tells which column stands for need.x + i. */
struct span {
    int64_t x;
    int w, inside, inside_end;
    int near;  /* 1: those outside repeat some of those inside */
    int plain; /* 1: pixels of the source and of the rows have the same bytes */
    size_t px; /* bytes of a pixel in a row */
    const int64_t *columns;
};

static int is_plain(const tamis_fetch *f)
{
    int same = f->format.layout == TAMIS_PLANAR || f->step == f->format.channels;
    return same && f->format.type == f->work && !f->premultiply;
}

static struct span make_span(const tamis_fetch *f, const tamis_source *s, tamis_box need,
                             int64_t *columns)
{
    int64_t from = s->x > need.x ? s->x - need.x : 0;
    int64_t to = s->x + s->w - need.x < need.w ? s->x + s->w - need.x : need.w;
    int inside = (int)(from < need.w ? from : need.w);
    struct span span = {.x = need.x,
                        .w = need.w,
                        .inside = inside,
                        .inside_end = (int)(to > inside ? to : inside),
                        .near = 1,
                        .plain = is_plain(f),
                        .px = pixel_bytes(f),
                        .columns = columns};
    for (int i = 0; i < need.w; i++) {
        if (i >= span.inside && i < span.inside_end)
            continue;
        columns[i] = map(f, s, need.x + i, f->w);
        int64_t at = columns[i] - need.x;
        span.near &= at >= span.inside && at < span.inside_end;
    }
    return span;
}

/* Pixels from .. to-1 of a row get those that stand for them, px bytes each. */
static inline void repeat_pixels(char *row, const int64_t *columns, int64_t x, int from, int to,
                                 size_t px)
{
    for (int i = from; i < to; i++)
        memcpy(row + (size_t)i * px, row + (size_t)(columns[i] - x) * px, px);
}

/* Of common sizes, so that a pixel is moved without a call. */
static void repeat_columns(char *row, const struct span *span, int from, int to, size_t px)
{
    const int64_t *columns = span->columns;
    int64_t x = span->x;
    if (px == 1)
        repeat_pixels(row, columns, x, from, to, 1);
    else if (px == 2)
        repeat_pixels(row, columns, x, from, to, 2);
    else if (px == 3)
        repeat_pixels(row, columns, x, from, to, 3);
    else if (px == 4)
        repeat_pixels(row, columns, x, from, to, 4);
    else
        repeat_pixels(row, columns, x, from, to, px);
}

/* Pixels from .. to-1 of the box, which lie outside the source's columns. */
static void pad_columns(const tamis_fetch *f, const tamis_source *s, const struct row *r,
                        const struct span *span, int from, int to)
{
    size_t px = span->px;
    if (span->near) {
        for (int p = 0; p < f->planes && to > from; p++)
            repeat_columns(r->at[p], span, from, to, px);
        return;
    }
    for (int i = from; i < to; i++) {
        int64_t column = span->columns[i];
        int64_t at = column - span->x; /* in the padded row, if it was loaded there */
        if (column < 0 && !s->complete) {
            for (int p = 0; p < f->planes; p++)
                memcpy(r->at[p] + (size_t)i * px, (char *)f->constant[p] + lead_bytes(f), px);
        } else if (at >= span->inside && at < span->inside_end) {
            for (int p = 0; p < f->planes; p++)
                memcpy(r->at[p] + (size_t)i * px, r->at[p] + (size_t)at * px, px);
        } else {
            load(f, s, r, column, i, 1);
        }
    }
}

/* The smallest interval that holds the image of first .. first+count-1. */
static void origin(tamis_border border, int64_t first, int count, int64_t n, int64_t *lo, int *size)
{
    int64_t low = n, high = -1;
    if (first >= 0 && first + count <= n) {
        *lo = first;
        *size = count;
        return;
    }
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

/* The pixels that the source has. */
static void load_inside(const tamis_fetch *f, const tamis_source *s, const struct row *r,
                        const struct span *span)
{
    size_t n = (size_t)(span->inside_end - span->inside), px = span->px;
    int64_t x = span->x + span->inside;
    if (!span->plain) {
        load(f, s, r, x, span->inside, n);
        return;
    }
    for (int p = 0; p < f->planes; p++)
        memcpy(r->at[p] + (size_t)span->inside * px,
               (const char *)s->data[p] + (r->y - s->y) * s->stride[p] + (size_t)(x - s->x) * px,
               n * px);
}

/* Fills row `slot` of the buffer from row y of the source. */
static void pad_row(const tamis_fetch *f, const tamis_source *s, const struct span *span, int64_t y,
                    void *buffer, int64_t slot)
{
    struct row r = {.y = y};
    size_t start = align_up((size_t)tamis_priv_fetch_slack(f->work) + (size_t)f->left * span->px) -
                   (size_t)f->left * span->px;
    for (int p = 0; p < f->planes; p++)
        r.at[p] = (char *)buffer + (size_t)p * f->plane_bytes + (size_t)slot * f->row_bytes + start;
    load_inside(f, s, &r, span);
    pad_columns(f, s, &r, span, 0, span->inside);
    pad_columns(f, s, &r, span, span->inside_end, span->w);
}

static void point_row(const tamis_fetch *f, const void **const *rows, int i, void *buffer,
                      int64_t slot)
{
    for (int p = 0; p < f->planes; p++)
        rows[p][i] = slot < 0 ? (char *)f->constant[p] + lead_bytes(f)
                              : (char *)buffer + (size_t)p * f->plane_bytes +
                                    (size_t)slot * f->row_bytes + lead_bytes(f);
}

/* A box higher than the image shows rows more than once: each is padded once, into the slot of its
 * number. */
static void pad_tall(const tamis_fetch *f, const tamis_source *s, tamis_box need,
                     const struct span *span, void *buffer, const void **const *rows)
{
    int64_t first;
    int count;
    tamis_border border = s->complete ? TAMIS_BORDER_WRAP : f->border;
    origin(border, need.y, need.h, f->h, &first, &count);
    for (int64_t y = first; y < first + count; y++) {
        int64_t gap = s->y - y; /* to the first row of the source that repeats row y */
        int64_t ahead = s->complete ? (gap > 0 ? gap + f->h - 1 : gap) / f->h * f->h : 0;
        pad_row(f, s, span, y + ahead, buffer, y);
    }
    for (int i = 0; i < need.h; i++)
        point_row(f, rows, i, buffer, tamis_border_index(border, need.y + i, f->h));
}

void tamis_priv_fetch_padded(const tamis_fetch *f, const tamis_source *s, tamis_box need,
                             void *buffer, int64_t *columns, const void **const *rows)
{
    struct span span = make_span(f, s, need, columns);
    if (need.h > f->h) {
        pad_tall(f, s, need, &span, buffer, rows);
        return;
    }
    for (int i = 0; i < need.h; i++) {
        int64_t y = map(f, s, need.y + i, f->h);
        int constant = y < 0 && !s->complete;
        if (!constant)
            pad_row(f, s, &span, y, buffer, i);
        point_row(f, rows, i, buffer, constant ? -1 : i);
    }
}

void tamis_priv_fetch_row(const tamis_fetch *f, const tamis_source *s, int64_t x, int64_t y,
                          size_t n, void *const *dst)
{
    struct row r = {.y = y};
    for (int p = 0; p < f->planes; p++)
        r.at[p] = dst[p];
    load(f, s, &r, x, 0, n);
}

tamis_box tamis_priv_fetch_origin(const tamis_fetch *f, tamis_box need)
{
    tamis_box box;
    origin(f->border, need.x, need.w, f->w, &box.x, &box.w);
    origin(f->border, need.y, need.h, f->h, &box.y, &box.h);
    return box;
}
