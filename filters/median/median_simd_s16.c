/* SPDX-License-Identifier: Apache-2.0 */
/* Square medians of s16. */
#include "median_simd.h"

#define LARGEST                 13
#define SAMPLE                  int16_t
#define V                       tv_s16
#define LANES                   (TV_BYTES / (int)sizeof(SAMPLE))
#define LOAD                    tv_load_s16
#define STORE                   tv_store_s16
#define MIN                     tv_min_s16
#define MAX                     tv_max_s16
#define SOURCE                  LOAD
#define RESULT(v)               (v)
#define CHECK                   int
#define CHECK_ROW(check, v, n)  ((void)(check))
#define CHECK_LIST(check, v, n) ((void)(check))
#define CHECK_END(s, k)         ((void)(s), 1)
#include "median_network.h"

void TAMIS_FN(tamis_priv_median_sort_s16)(const tamis_tile *tile, const void *coef, void *scratch)
{
    sort_tile(tile, coef, scratch);
}
