/* SPDX-License-Identifier: Apache-2.0 */
/* Square medians of f32: networks of integers that sort as the floats do, for tiles in which the
 * floats' own bits do not. */
#include "median_simd.h"

typedef tv_s32 vec;

TAMIS_INLINE vec to_keys(vec bits)
{
    return bits ^ ((bits >> 31) & 0x7fffffff);
}

TAMIS_INLINE vec load_keys(const int32_t *src)
{
    return to_keys(tv_load_s32(src));
}

/* Lanes with a NaN among the sorted keys v[0 .. n-1]: beyond plus or minus infinity. */
TAMIS_INLINE vec nan_lanes(const vec *v, int n)
{
    return (vec)(v[n - 1] > 0x7f800000) | (vec)(v[0] < -0x7f800001);
}

static int any_lane(vec v)
{
    uint64_t parts[TV_BYTES / 8], any = 0;
    memcpy(parts, &v, sizeof parts);
    for (int i = 0; i < TV_BYTES / 8; i++)
        any |= parts[i];
    return any != 0;
}

struct strip;
static int spread_nans(const struct strip *s, int k);

#define LARGEST                 13
#define SAMPLE                  int32_t
#define V                       vec
#define LANES                   (TV_BYTES / (int)sizeof(SAMPLE))
#define LOAD                    tv_load_s32
#define STORE                   tv_store_s32
#define MIN                     tv_min_s32
#define MAX                     tv_max_s32
#define SOURCE                  load_keys
#define RESULT                  to_keys
#define CHECK                   vec
#define CHECK_ROW(check, v, n)  ((void)(check))
#define CHECK_LIST(check, v, n) ((check) |= nan_lanes(v, n))
#define CHECK_END(s, k)         spread_nans(s, k)
#include "median_network.h"

/* Puts NaN where the window holds one. Rare, so it looks at whole windows. */
static int spread_nans(const strip *s, int k)
{
    if (!any_lane(s->check))
        return 1;
    for (int y = 0; y < s->h; y++)
        for (int x = 0; x < s->n; x += LANES) {
            vec nans = {0};
            for (int i = y + 1; i <= y + k; i++)
                for (int c = 0; c < k; c++) {
                    vec v = tv_load_s32(s->rows[i] + s->x + x + c * s->step);
                    nans |= (vec)((v & 0x7fffffff) > 0x7f800000);
                }
            int32_t lanes[LANES];
            memcpy(lanes, &nans, sizeof lanes);
            for (int i = 0; i < LANES && x + i < s->n; i++)
                if (lanes[i])
                    out_row(s, y)[x + i] = MEDIAN_NAN_BITS;
        }
    return 1;
}

void TAMIS_FN(tamis_priv_median_sort_f32)(const tamis_tile *tile, const void *coef, void *scratch)
{
    if (!TAMIS_FN(tamis_priv_median_plain)(tile, coef, scratch))
        sort_tile(tile, coef, scratch);
}
