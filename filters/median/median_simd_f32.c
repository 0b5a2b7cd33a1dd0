/* SPDX-License-Identifier: Apache-2.0 */
/* Square medians of f32: networks of integers that sort as the floats do. */
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

/* Puts NaN where the window holds one. Rare, so it looks at whole windows. */
static void spread_nans(const int32_t *const *rows, int32_t *dst, int w, int step, int k)
{
    for (int x = 0; x < w; x += TV_BYTES / 4) {
        vec nans = {0};
        for (int y = 0; y < k; y++)
            for (int i = 0; i < k; i++)
                nans |= (vec)((tv_load_s32(rows[y] + x + i * step) & 0x7fffffff) > 0x7f800000);
        int32_t lanes[TV_BYTES / 4];
        memcpy(lanes, &nans, sizeof lanes);
        for (int i = 0; i < TV_BYTES / 4 && x + i < w; i++)
            if (lanes[i])
                dst[x + i] = MEDIAN_NAN_BITS;
    }
}

static void spread_nans_pair(const int32_t *const *rows, int32_t *const *dst, int w, int step,
                             int k)
{
    for (int i = 0; i < 2 && dst[i]; i++)
        spread_nans(rows + i, dst[i], w, step, k);
}

#define KERNEL                  TAMIS_FN(tamis_priv_median_sort_f32)
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
#define CHECK_LIST(check, v, n) ((check) |= nan_lanes(v, n))
#define CHECK_END(check, rows, dst, w, step, k)                                                    \
    do {                                                                                           \
        if (any_lane(check))                                                                       \
            spread_nans_pair(rows, dst, w, step, k);                                               \
    } while (0)
#include "median_network.h"
