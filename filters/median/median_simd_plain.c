/* SPDX-License-Identifier: Apache-2.0 */
/* Square medians of f32 without negative numbers and NaN, which pictures seldom hold: their bits
 * are integers that sort as they do, so nothing has to be converted. Minima are taken of floats and
 * maxima of integers: wide vectors of floats have a unit more on Intel's processors, those of
 * integers on AMD's, and half of each suits both. */
#include "median_simd.h"

typedef tv_s32 vec;

TAMIS_INLINE vec min_plain(vec a, vec b)
{
    return (vec)tv_min_f32((tv_f32)a, (tv_f32)b);
}

TAMIS_INLINE vec max_plain(vec a, vec b)
{
#if TV_BYTES > 16
    return tv_max_s32(a, b);
#else /* SSE2 has no other maximum than that of floats */
    return (vec)tv_max_f32((tv_f32)a, (tv_f32)b);
#endif
}

/* Collects the largest bits as unsigned numbers: those of negative numbers and NaN exceed the bits
 * of infinity. The first and the last vector of a row will do, for those between them are the first
 * or last elsewhere in a tile that is no narrower than the window. */
TAMIS_INLINE void collect(tv_u32 *largest, const vec *v, int n)
{
    *largest = tv_max_u32(*largest, tv_max_u32((tv_u32)v[0], (tv_u32)v[n - 1]));
}

static int is_plain(const tv_u32 *largest)
{
    uint32_t lanes[TV_BYTES / 4], all = 0;
    memcpy(lanes, largest, sizeof lanes);
    for (int i = 0; i < TV_BYTES / 4; i++)
        all = lanes[i] > all ? lanes[i] : all;
    return all <= 0x7f800000;
}

#define LARGEST                 13
#define SAMPLE                  int32_t
#define V                       vec
#define LANES                   (TV_BYTES / (int)sizeof(SAMPLE))
#define LOAD                    tv_load_s32
#define STORE                   tv_store_s32
#define MIN                     min_plain
#define MAX                     max_plain
#define SOURCE                  LOAD
#define RESULT(v)               (v)
#define CHECK                   tv_u32
#define CHECK_ROW(check, v, n)  collect(&(check), v, n)
#define CHECK_LIST(check, v, n) ((void)(check))
#define CHECK_END(s, k)         is_plain(&(s)->check)
#include "median_network.h"

/* Whether the middle row is plain, which tells early of pictures that never are. */
static int middle_is_plain(const tamis_tile *tile)
{
    tv_u32 largest = {0};
    for (int p = 0; p < tile->planes; p++) {
        const int32_t *row = tile->src[p][tile->h / 2];
        for (int i = 0; i < tile->w * tile->step; i += LANES)
            largest = tv_max_u32(largest, (tv_u32)LOAD(row + i));
    }
    return is_plain(&largest);
}

int TAMIS_FN(tamis_priv_median_plain)(const tamis_tile *tile, const void *coef, void *scratch)
{
    return tile->w >= ((const median_coef *)coef)->w && middle_is_plain(tile) &&
           sort_tile(tile, coef, scratch);
}
