/* SPDX-License-Identifier: Apache-2.0 */
#include "video_map.h"

#include <math.h>

/* A place between two pixels of an axis with n. */
typedef struct place {
    int32_t first, second;
    double share; /* of the second */
} place;

static place place_at(double at, int32_t n)
{
    double first = floor(at);
    place p = {(int32_t)first, (int32_t)first + 1, at - first};
    p.first = p.first < n ? p.first : n - 1;
    p.second = p.second < n ? p.second : n - 1;
    return p;
}

/* Where a share is 0 the other pixel does not matter, not even when it is not a number. */
static double mix(double a, double b, double share)
{
    return share > 0 ? a + (b - a) * share : a;
}

static double value(const tamis_image *map, place x, place y, int c)
{
    const float *up = tamis_image_row(map, 0, y.first), *down = tamis_image_row(map, 0, y.second);
    double above = mix((double)up[2 * x.first + c], (double)up[2 * x.second + c], x.share);
    double below = mix((double)down[2 * x.first + c], (double)down[2 * x.second + c], x.share);
    return mix(above, below, y.share);
}

static void fill(const tamis_image *map, const tamis_plane *plane, const tamis_image *out)
{
    double sx = 1 << plane->sub_x, sy = 1 << plane->sub_y;
    for (int32_t j = 0; j < out->h; j++) {
        float *row = tamis_image_row(out, 0, j);
        place y = place_at(sy * j + plane->at_y, map->h);
        for (int32_t i = 0; i < out->w; i++) {
            place x = place_at(sx * i + plane->at_x, map->w);
            row[2 * i] = (float)((value(map, x, y, 0) - plane->at_x) / sx);
            row[2 * i + 1] = (float)((value(map, x, y, 1) - plane->at_y) / sy);
        }
    }
}

tamis_status tool_video_map(tamis_ctx *ctx, const tamis_image *map, const tamis_plane *plane,
                            tamis_image *out)
{
    tamis_format format = {TAMIS_F32, 2, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    tamis_image floats = {.w = 0};
    *out = floats;
    if (map->format.channels != 2) /* remap says what it wants */
        return tamis_ctx_fail(ctx, TAMIS_ERR_ARGUMENT, "the map (guide) has not two channels");
    tamis_status status = tamis_image_create(ctx, format, map->w, map->h, &floats);
    if (!status)
        status = tamis_image_copy(ctx, map, &floats);
    int32_t w = (int32_t)(((int64_t)map->w + (1 << plane->sub_x) - 1) >> plane->sub_x);
    int32_t h = (int32_t)(((int64_t)map->h + (1 << plane->sub_y) - 1) >> plane->sub_y);
    if (!status)
        status = tamis_image_create(ctx, format, w, h, out);
    if (!status)
        fill(&floats, plane, out);
    tamis_image_unref(&floats);
    return status;
}
