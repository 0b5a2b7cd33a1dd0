/* SPDX-License-Identifier: Apache-2.0 */
/* What a video's format means for its frames' parts, and how it is said. */
#include <stdio.h>

#include "video_pixels.h"

static const char *sampling_name(const tamis_video_format *f)
{
    static const char *const names[3][3] = {
        {"4:4:4", "4:4:0", "4:4:0"}, {"4:2:2", "4:2:0", "4:2:0"}, {"4:1:1", "4:1:0", "4:1:0"}};
    return f->sub_x >= 0 && f->sub_x < 3 && f->sub_y >= 0 && f->sub_y < 3
               ? names[f->sub_x][f->sub_y]
               : "?";
}

tamis_format tamis_video_part_format(const tamis_video_format *format, int part, int32_t *w,
                                     int32_t *h)
{
    tamis_format out = {TAMIS_U8, 0, TAMIS_PLANAR, TAMIS_ALPHA_NONE};
    int32_t pw = 0, ph = 0;
    if (format) {
        out.type = format->type;
        int is_chroma = part == TAMIS_VIDEO_CHROMA;
        if (part == TAMIS_VIDEO_MAIN)
            out.channels = format->model == TAMIS_VIDEO_RGB ? 3 : 1;
        else if (is_chroma)
            out.channels = format->model == TAMIS_VIDEO_YUV ? 2 : 0;
        else if (part == TAMIS_VIDEO_ALPHA)
            out.channels = format->alpha ? 1 : 0;
        if (out.channels == 1)
            out.layout = TAMIS_PACKED;
        if (out.channels) {
            pw = is_chroma ? tamis_priv_video_sub(format->w, format->sub_x) : format->w;
            ph = is_chroma ? tamis_priv_video_sub(format->h, format->sub_y) : format->h;
        }
    }
    if (w)
        *w = pw;
    if (h)
        *h = ph;
    return out;
}

const char *tamis_video_format_print(const tamis_video_format *format, char *buf, size_t size)
{
    if (!buf || size == 0)
        return "";
    *buf = '\0';
    if (!format)
        return buf;
    const tamis_video_format *f = format;
    const char *model = f->model == TAMIS_VIDEO_GRAY  ? "gray"
                        : f->model == TAMIS_VIDEO_RGB ? "rgb"
                                                      : "yuv ";
    char depth[24];
    if (f->type == TAMIS_F32)
        snprintf(depth, sizeof depth, "float");
    else
        snprintf(depth, sizeof depth, "%d-bit", f->bits);
    snprintf(buf, size, "%dx%d %s%s%s %s %s", f->w, f->h, model,
             f->model == TAMIS_VIDEO_YUV ? sampling_name(f) : "", f->alpha ? "+alpha" : "", depth,
             f->full_range ? "full" : "limited");
    return buf;
}
