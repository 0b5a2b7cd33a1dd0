/* SPDX-License-Identifier: Apache-2.0 */
#include "image/convert.h"

#include "core/cpu.h"
#include "core/ctx.h"

extern const tamis_convert tamis_priv_convert_base;
#if defined(__x86_64__) && !defined(TAMIS_NO_SIMD)
extern const tamis_convert tamis_priv_convert_avx2, tamis_priv_convert_avx512;
#endif

const tamis_convert *tamis_priv_convert_for(unsigned cpu)
{
#if defined(__x86_64__) && !defined(TAMIS_NO_SIMD)
    if (cpu & TAMIS_CPU_AVX512)
        return &tamis_priv_convert_avx512;
    if (cpu & TAMIS_CPU_AVX2)
        return &tamis_priv_convert_avx2;
#endif
    (void)cpu;
    return &tamis_priv_convert_base;
}

/* ---- tamis_image_copy */

static tamis_status check_copy(tamis_ctx *ctx, const tamis_image *src, const tamis_image *dst)
{
    TAMIS_TRY(tamis_image_check(ctx, src));
    TAMIS_TRY(tamis_image_check(ctx, dst));
    if (src->device || dst->device)
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT,
                               "copy: pictures in a device's memory want tamis_image_transfer()");
    if (src->w == dst->w && src->h == dst->h && src->format.channels == dst->format.channels)
        return TAMIS_OK;
    return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT,
                           "copy: %dx%d with %d channels does not fit %dx%d with %d", src->w,
                           src->h, src->format.channels, dst->w, dst->h, dst->format.channels);
}

/* The n pixels of row y from column x on. Between unlike layouts they pass through aligned planes
 * of float. */
enum { PIXELS = 128 };

static void copy_pixels(const tamis_convert *c, const tamis_image *src, const tamis_image *dst,
                        int32_t y, int32_t x, size_t n)
{
    float rows[TAMIS_MAX_CHANNELS][PIXELS];
    void *planes[TAMIS_MAX_CHANNELS] = {rows[0], rows[1], rows[2], rows[3]};
    const void *from[TAMIS_MAX_CHANNELS] = {rows[0], rows[1], rows[2], rows[3]};
    tamis_type st = src->format.type, dt = dst->format.type;
    int channels = src->format.channels;
    size_t s_at = (size_t)x * tamis_type_size(st), d_at = (size_t)x * tamis_type_size(dt);
    if (src->format.layout == TAMIS_PACKED)
        c->split(planes, TAMIS_F32, (char *)tamis_image_row(src, 0, y) + s_at * (size_t)channels,
                 st, channels, n);
    else
        for (int p = 0; p < channels; p++)
            c->convert(rows[p], TAMIS_F32, (char *)tamis_image_row(src, p, y) + s_at, st, n);
    if (dst->format.layout == TAMIS_PACKED)
        c->join((char *)tamis_image_row(dst, 0, y) + d_at * (size_t)channels, dt, from, TAMIS_F32,
                channels, n);
    else
        for (int p = 0; p < channels; p++)
            c->convert((char *)tamis_image_row(dst, p, y) + d_at, dt, rows[p], TAMIS_F32, n);
}

tamis_status tamis_image_copy(tamis_ctx *ctx, const tamis_image *src, const tamis_image *dst)
{
    TAMIS_TRY(check_copy(ctx, src, dst));
    const tamis_convert *c = tamis_priv_convert_for(ctx->cpu);
    int same = src->format.layout == dst->format.layout;
    size_t samples = src->format.layout == TAMIS_PACKED ? (size_t)src->format.channels : 1;
    for (int32_t y = 0; y < src->h; y++) {
        for (int p = 0; same && p < tamis_image_planes(src); p++)
            c->convert(tamis_image_row(dst, p, y), dst->format.type, tamis_image_row(src, p, y),
                       src->format.type, (size_t)src->w * samples);
        for (int32_t x = 0; !same && x < src->w; x += PIXELS)
            copy_pixels(c, src, dst, y, x, (size_t)(src->w - x < PIXELS ? src->w - x : PIXELS));
    }
    return TAMIS_OK;
}
