/* SPDX-License-Identifier: Apache-2.0 */
/* Median and percentile filter: parameters, plan and reference. */
#include <tamis/median.h>

#include <math.h>
#include <string.h>

#include "cpu/picture.h"
#include "median_kernel.h"

/* Sample i of a row as an integer that sorts as the samples do. */
static int32_t sample_key(tamis_type type, const void *row, ptrdiff_t i)
{
    int32_t bits;
    switch (type) {
    case TAMIS_U8:
        return ((const uint8_t *)row)[i];
    case TAMIS_U16:
        return ((const uint16_t *)row)[i];
    case TAMIS_S16:
        return ((const int16_t *)row)[i];
    default:
        memcpy(&bits, (const float *)row + i, sizeof bits);
        return median_key(bits);
    }
}

static void put_key(tamis_type type, void *row, ptrdiff_t i, int32_t key)
{
    switch (type) {
    case TAMIS_U8:
        ((uint8_t *)row)[i] = (uint8_t)key;
        break;
    case TAMIS_U16:
        ((uint16_t *)row)[i] = (uint16_t)key;
        break;
    case TAMIS_S16:
        ((int16_t *)row)[i] = (int16_t)key;
        break;
    default:
        key = median_key(key);
        memcpy((float *)row + i, &key, sizeof key);
    }
}

/* The element at index rank of the sorted list, by quickselect: split by a pivot into smaller ones
 * on the left and larger ones on the right, and go on in the part that holds the index. */
static int32_t select_rank(int32_t *list, int n, int rank)
{
    int first = 0, last = n - 1;
    while (first < last) {
        int32_t pivot = list[first + (last - first) / 2];
        int i = first, j = last;
        while (i <= j) {
            while (list[i] < pivot)
                i++;
            while (list[j] > pivot)
                j--;
            if (i <= j) {
                int32_t t = list[i];
                list[i++] = list[j];
                list[j--] = t;
            }
        }
        if (rank <= j)
            last = j;
        else if (rank >= i)
            first = i;
        else
            break;
    }
    return list[rank];
}

static void rank_c(const tamis_tile *tile, const median_coef *k, int32_t *list, tamis_type type)
{
    int rx = k->w / 2, ry = k->h / 2;
    for (int p = 0; p < tile->planes; p++)
        for (int y = 0; y < tile->h; y++) {
            char *dst = (char *)tile->dst[p] + y * tile->dst_stride[p];
            for (int i = 0; i < tile->w * tile->step; i++) {
                int n = 0, nans = 0;
                for (int dy = -ry; dy <= ry; dy++)
                    for (int dx = -rx; dx <= rx; dx++) {
                        const void *row = tile->src[p][y + dy];
                        ptrdiff_t at = i + (ptrdiff_t)dx * tile->step;
                        if (type == TAMIS_F32)
                            nans += isnan(((const float *)row)[at]) != 0;
                        list[n++] = sample_key(type, row, at);
                    }
                put_key(type, dst, i,
                        nans ? median_key(MEDIAN_NAN_BITS) : select_rank(list, n, k->rank));
            }
        }
}

static void median_rank_u8_c(const tamis_tile *tile, const void *coef, void *scratch)
{
    rank_c(tile, coef, scratch, TAMIS_U8);
}

static void median_rank_u16_c(const tamis_tile *tile, const void *coef, void *scratch)
{
    rank_c(tile, coef, scratch, TAMIS_U16);
}

static void median_rank_s16_c(const tamis_tile *tile, const void *coef, void *scratch)
{
    rank_c(tile, coef, scratch, TAMIS_S16);
}

static void median_rank_f32_c(const tamis_tile *tile, const void *coef, void *scratch)
{
    rank_c(tile, coef, scratch, TAMIS_F32);
}

/* The reference knows one method for everything. */
#define ROW(stage, TYPE, type)                                                                     \
    {                                                                                              \
        stage, TYPE, TAMIS_CPU_C, median_rank_##type##_c, 0                                        \
    }
static const tamis_kernel median_kernels_c[] = {
    ROW("sort", TAMIS_U8, u8),   ROW("sort", TAMIS_U16, u16), ROW("sort", TAMIS_S16, s16),
    ROW("sort", TAMIS_F32, f32), ROW("rank", TAMIS_U8, u8),   ROW("rank", TAMIS_U16, u16),
    ROW("rank", TAMIS_S16, s16), ROW("rank", TAMIS_F32, f32), {NULL},
};
#undef ROW

TAMIS_KERNEL_DECLARE(median);
static const tamis_kernel *const median_kernels[] = TAMIS_KERNEL_LIST(median);

/* Enough for every row: the reference's list, the networks' lists, the histograms. */
static size_t median_scratch(const void *coef, int w, int h, int step)
{
    const median_coef *k = coef;
    size_t list = sizeof(int32_t) * (size_t)k->w * (size_t)k->h;
    (void)w;
    (void)h;
    (void)step;
    size_t other = k->sorts     ? MEDIAN_SORT_BYTES(k->w)
                   : k->block_h ? median_levels_bytes(k)
                                : median_strip_bytes(k);
    return list > other ? list : other;
}

/* Strips have columns enough to share sums, and few enough for the histograms to stay in a core's
 * own cache. Blocks with levels prefer to have at most 256 rows and columns, for then coordinates
 * are bytes, and at most 32768 samples, for then a level has no more than 128. */
static void choose_strips(median_coef *k, tamis_type type)
{
    const int side = k->w > k->h ? k->w : k->h;
    k->columns = k->w + (k->w < 64 ? 192 : 320);
    if (type == TAMIS_U8)
        return;
    if (side < 64) {
        k->block_h = 32768 / k->columns - k->h;
    } else if (side < 128) {
        k->columns = 256;
        k->block_h = 256 - k->h;
    } else {
        k->block_h = 256;
    }
}

static tamis_status median_plan(tamis_node *node)
{
    const struct tamis_median *p = node->params;
    median_coef *k = tamis_priv_node_alloc(node, sizeof *k);
    if (!k)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY, "median: out of memory");
    k->w = p->ksize.w;
    k->h = p->ksize.h;
    k->rank = (int)floor(p->percentile / 100 * (k->w * k->h - 1) + 0.5);
    node->coef = k;
    k->sorts = k->w == k->h && k->w >= 3 && k->rank == k->w * k->h / 2 &&
               k->w <= (node->work == TAMIS_U8 ? MEDIAN_MAX_SORT : 13);

    node->stage = "sort";
    if (!k->sorts) {
        node->stage = "rank";
        node->planar = 1; /* so that a strip has no more columns than it must */
        choose_strips(k, node->work);
        node->tile_w = 2 * (k->columns - k->w + 1);
        node->tile_h = k->h < 64 ? 256 : 512; /* each tile takes in k->h rows before its first */
    }
    node->scratch = median_scratch;
    node->halo = (tamis_halo){k->w / 2, k->w / 2, k->h / 2, k->h / 2};
    node->border = p->border;
    node->border_value = tamis_priv_node_value(node, p->border_value);
    /* A window of one pixel must change none, not even the color of a clear one. */
    node->alpha = k->w * k->h == 1 ? TAMIS_ALPHA_MODE_STRAIGHT : p->alpha;
    node->work = tamis_priv_node_work(node);
    return TAMIS_OK;
}

static const tamis_param median_params[] = {
    TAMIS_PARAM(struct tamis_median, ksize, .def = 3, .min = 1, .max = MEDIAN_MAX_SIDE,
                .scales = TAMIS_SCALES_BOTH, .automatic = 1, .unit = "px",
                .doc = "window: one odd number, or odd width x height; auto: by the share of "
                       "impulses in the picture",
                .odd = 1),
    TAMIS_PARAM(struct tamis_median, percentile, .def = 50, .min = 0, .max = 100, .unit = "%",
                .doc = "which sample of the sorted window: 0 the smallest, 50 the median, "
                       "100 the largest"),
    TAMIS_PARAM_BORDER(struct tamis_median),
    /* Its default is not that of the weighting filters, so not TAMIS_PARAM_ALPHA. */
    TAMIS_PARAM(struct tamis_median, alpha, .def = TAMIS_ALPHA_MODE_STRAIGHT,
                .max = TAMIS_ALPHA_MODE_IGNORE, .choices = tamis_priv_alpha_names, .unit = "",
                .doc = "alpha channel: weight color by it, treat it as a channel, or leave it"),
};

/* The smallest window whose middle is hardly ever an impulse. */
static void median_choose(const tamis_picture *picture, void *open)
{
    static const double shares[] = {0.001, 0.15, 0.35, 0.5};
    struct tamis_median *p = open;
    double share = tamis_priv_picture_impulses(picture);
    int side = 1;
    for (int i = 0; i < 4 && share >= shares[i]; i++)
        side += 2;
    p->ksize = (tamis_size){side, side};
}

const tamis_filter tamis_priv_filter_median = {
    .name = "median",
    .brief = "median or other percentile of a window: removes impulse noise, keeps edges",
    .params = median_params,
    .param_count = sizeof median_params / sizeof median_params[0],
    .params_size = sizeof(struct tamis_median),
    .max_inputs = 1,
    .plan = median_plan,
    .kernels = median_kernels,
    .choose = median_choose,
};
