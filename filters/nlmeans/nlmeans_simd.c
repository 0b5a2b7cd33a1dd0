/* SPDX-License-Identifier: Apache-2.0 */
/* Vector rows of non-local means: what goes into the search of nlmeans_simd_f32.c and what comes
 * out of it, and when nlmeans_simd_u8.c does it instead. */
#include "nlmeans_simd.h"
#include "nlmeans_motion.h"

enum { LANES = TV_FLOATS };

/* Memory: what is not yet taken of the scratch. */
typedef struct store {
    char *next;
} store;

static tv_f32 *take(store *s, ptrdiff_t vectors)
{
    void *p = s->next;
    s->next += (size_t)vectors * sizeof(tv_f32);
    return p;
}

static int margin_x(const nlmeans_coef *k)
{
    return k->sx + k->px;
}

static int margin_y(const nlmeans_coef *k)
{
    return k->sy + k->py;
}

TAMIS_INLINE float sample(tamis_type type, const void *row, ptrdiff_t i)
{
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

/* Samples of 1e15 and less have differences whose squares add up without overflow. */
TAMIS_INLINE int moderate(float v)
{
    return v >= -1e15f && v <= 1e15f;
}

/* Deals the columns of a row, whose samples have the given step between them; 0 if one of them is
 * so large that sums of squares might not be finite. */
TAMIS_INLINE int deal_row(const nlmeans_field *f, int w, tamis_type type, const void *row, int step,
                          tv_f32 *to)
{
    int margin = margin_x(f->coef), first = -f->coef->sx - margin, finite = 1;
    memset(to, 0, (size_t)f->row * sizeof *to);
    for (int l = 0; l < LANES; l++) {
        float *lane = (float *)to + l;
        int x = first + l * f->run, begin = x < -margin ? -margin - x : 0;
        int end = w + margin - x < f->row ? w + margin - x : (int)f->row;
        for (int i = begin; i < end; i++) {
            float v = sample(type, row, (ptrdiff_t)(x + i) * step);
            finite &= type != TAMIS_F32 || moderate(v);
            lane[i * LANES] = v;
        }
    }
    return finite;
}

/* Rows of samples with their margins; the result is where row 0 has column 0. */
static tv_f32 *take_plane(store *s, const nlmeans_field *f)
{
    tv_f32 *rows = take(s, (f->h + 2 * margin_y(f->coef)) * f->row);
    return rows + margin_y(f->coef) * f->row + margin_x(f->coef);
}

/* The luma of planes 0 .. 2; not finite where a further plane is not. */
static const tv_f32 *make_luma(store *s, const nlmeans_field *f, const nlmeans_view *v)
{
    tv_f32 *plane = take_plane(s, f);
    ptrdiff_t begin = -margin_y(f->coef) * f->row - margin_x(f->coef);
    ptrdiff_t end = begin + (f->h + 2 * margin_y(f->coef)) * f->row;
    for (ptrdiff_t i = begin; i < end; i++) {
        tv_f32 luma =
            v->planes[0][i] * 0.299f + v->planes[1][i] * 0.587f + v->planes[2][i] * 0.114f;
        for (int p = 3; p < v->count; p++)
            luma = tv_muladd_f32(v->planes[p][i], (tv_f32){0}, luma);
        plane[i] = luma;
    }
    return plane;
}

/* Which samples of a tile: sample channel of the pixels of the planes first .. first + count - 1.
 */
typedef struct part {
    const tamis_tile *tile;
    tamis_type type;
    int first, count, channel;
} part;

/* The rows of its planes in a frame. */
typedef struct frame {
    const void *const *const *rows;
    int step, channel;
} frame;

/* A frame, as what is averaged and what is compared. */
TAMIS_INLINE void deal_frame(store *s, nlmeans_field *f, const part *a, frame from,
                             nlmeans_view *values, nlmeans_view *distance)
{
    int margin = margin_y(f->coef);
    size_t skip = (size_t)from.channel * tamis_type_size(a->type);
    values->count = a->count;
    for (int p = 0; p < a->count; p++) {
        tv_f32 *plane = take_plane(s, f);
        for (int y = -margin; y < f->h + margin; y++)
            f->finite &= deal_row(f, a->tile->w, a->type, (const char *)from.rows[p][y] + skip,
                                  from.step, plane + y * f->row - margin_x(f->coef));
        values->planes[p] = plane;
    }
    *distance = *values;
    if (f->coef->luma && a->first == 0)
        *distance = (nlmeans_view){{make_luma(s, f, values)}, 1};
}

TAMIS_INLINE void store_sample(tamis_type type, void *row, ptrdiff_t i, float v)
{
    switch (type) {
    case TAMIS_U8:
        ((uint8_t *)row)[i] = (uint8_t)v;
        break;
    case TAMIS_U16:
        ((uint16_t *)row)[i] = (uint16_t)v;
        break;
    case TAMIS_S16:
        ((int16_t *)row)[i] = (int16_t)v;
        break;
    default:
        ((float *)row)[i] = v;
    }
}

/* The result: whole numbers within the range of integer types. */
TAMIS_INLINE tv_f32 mean(const nlmeans_field *f, tamis_type type, int p, int y, ptrdiff_t i)
{
    static const float limits[][2] = {{0, 255}, {0, 65535}, {-32768, 32767}};
    const tv_f32 *totals = f->totals + ((ptrdiff_t)y * f->run + i) * (f->values.count + 1);
    tv_f32 weight = totals[f->values.count] + 1; /* 1 for the pixel itself */
    tv_f32 v = tv_move_f32(type, f->values.planes[p][y * f->row + i], totals[p] / weight);
    if (type == TAMIS_F32)
        return v;
    return tv_min_f32(tv_max_f32(v, tv_splat_f32(limits[type][0])), tv_splat_f32(limits[type][1]));
}

TAMIS_INLINE void store_row(const nlmeans_field *f, const part *a, int p, int y)
{
    const tamis_tile *t = a->tile;
    char *dst = (char *)t->dst[a->first + p] + y * t->dst_stride[a->first + p];
    tv_f32 *means = f->weights[0];
    dst += (size_t)a->channel * tamis_type_size(a->type);
    for (ptrdiff_t i = 0; i < f->run; i++)
        means[i] = mean(f, a->type, p, y, i);
    for (int l = 0; l < LANES; l++)
        for (int i = 0, x = l * f->run - f->coef->sx; i < f->run; i++, x++)
            if (x >= 0 && x < t->w)
                store_sample(a->type, dst, (ptrdiff_t)x * t->step, ((float *)means)[i * LANES + l]);
}

/* Sums are only those of this tile, so that they start from 0. */
static void take_sums(store *s, nlmeans_field *f)
{
    const nlmeans_coef *k = f->coef;
    ptrdiff_t sums = (ptrdiff_t)f->h * f->run * (f->values.count + 1);
    f->totals = memset(take(s, sums), 0, (size_t)sums * sizeof(tv_f32));
    f->sums = memset(take(s, sums), 0, (size_t)sums * sizeof(tv_f32));
    for (int g = 0; g < NLMEANS_TOGETHER; g++) {
        f->kept[g] = take(s, (2 * k->py + 1) * f->run);
        f->weights[g] = take(s, f->run + 2 * k->sx) + k->sx;
    }
    f->squares = take(s, f->run + 2 * k->px);
}

/* One of the other frames at a time, in memory that the next one uses again. */
TAMIS_INLINE void search_frames(store s, nlmeans_field *f, const part *a, frame now)
{
    const nlmeans_coef *k = f->coef;
    const tamis_tile *t = a->tile;
    nlmeans_motion motion;
    if (k->motion)
        motion = motion_begin(k, t, a->type, now.rows, a->count, a->channel, &s.next);
    for (int i = -k->frames; i <= k->frames; i++) {
        store reused = s;
        if (i == 0 || !t->frames->rows[TAMIS_MAX_FRAMES + i][t->plane + a->first])
            continue;
        frame other = {t->frames->rows[TAMIS_MAX_FRAMES + i] + t->plane + a->first, t->step,
                       a->channel};
        if (k->motion)
            other = (frame){motion_follow(&motion, other.rows), 1, 0};
        deal_frame(&reused, f, a, other, &f->other_values, &f->other_distance);
        TAMIS_FN(nlmeans_search)(f, 0);
    }
}

TAMIS_INLINE void filter_part(const nlmeans_coef *k, void *scratch, const part *a)
{
    store s = {scratch};
    nlmeans_field f = {.coef = k, .tile = a->tile, .h = a->tile->h, .finite = 1};
    frame now = {a->tile->src + a->first, a->tile->step, a->channel};
    f.run = nlmeans_run(k, a->tile->w, LANES);
    f.row = f.run + 2 * margin_x(k);
    deal_frame(&s, &f, a, now, &f.values, &f.distance);
    f.other_values = f.values;
    f.other_distance = f.distance;
    take_sums(&s, &f);
    TAMIS_FN(nlmeans_search)(&f, 1);
    if (k->frames)
        search_frames(s, &f, a, now);
    for (int p = 0; p < a->count; p++)
        for (int y = 0; y < f.h; y++)
            store_row(&f, a, p, y);
}

TAMIS_INLINE void filter_tile(const tamis_tile *t, const nlmeans_coef *k, tamis_type type,
                              void *scratch)
{
    int count = k->colors, first = 0;
    if (type == TAMIS_U8 && k->levels.tables) {
        for (; first + count <= t->planes && (first == 0 || k->colors == 1); first += count)
            TAMIS_FN(nlmeans_levels)(t, k, scratch, first);
        count = 1;
    }
    for (; first < t->planes; first += count, count = 1)
        for (int c = 0; c < t->step; c++)
            filter_part(k, scratch, &(part){t, type, first, count, c});
}

#define ROW(type, suffix)                                                                          \
    static void means_##suffix(const tamis_tile *tile, const void *coef, void *scratch)            \
    {                                                                                              \
        filter_tile(tile, coef, type, scratch);                                                    \
    }
ROW(TAMIS_U8, u8)
ROW(TAMIS_U16, u16)
ROW(TAMIS_S16, s16)
ROW(TAMIS_F32, f32)
#undef ROW

/* Integers may be one level off the reference where its mean lies near the middle between two
 * levels. */
extern const tamis_kernel TAMIS_FN(nlmeans_kernels)[];
const tamis_kernel TAMIS_FN(nlmeans_kernels)[] = {
    {"means", TAMIS_U8, TV_CPU, means_u8, 1},
    {"means", TAMIS_U16, TV_CPU, means_u16, 1},
    {"means", TAMIS_S16, TV_CPU, means_s16, 1},
    {"means", TAMIS_F32, TV_CPU, means_f32, 1e-5},
    {NULL},
};
