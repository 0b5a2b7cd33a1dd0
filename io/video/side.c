/* SPDX-License-Identifier: Apache-2.0 */
#include "side.h"

#include <libavutil/display.h>

#include <math.h>
#include <string.h>

const uint8_t *tamis_priv_av_side_get(const AVStream *stream, enum AVPacketSideDataType type,
                                      size_t *size)
{
#if TAMIS_AV_SIDE_IN_PARAMETERS
    const AVPacketSideData *side = av_packet_side_data_get(
        stream->codecpar->coded_side_data, stream->codecpar->nb_coded_side_data, type);
    *size = side ? side->size : 0;
    return side ? side->data : NULL;
#else
    return av_stream_get_side_data(stream, type, size);
#endif
}

int tamis_priv_av_side_add(AVStream *stream, enum AVPacketSideDataType type, const uint8_t *data,
                           size_t size)
{
    size_t old;
    if (tamis_priv_av_side_get(stream, type, &old))
        return 1;
#if TAMIS_AV_SIDE_IN_PARAMETERS
    AVPacketSideData *side = av_packet_side_data_new(
        &stream->codecpar->coded_side_data, &stream->codecpar->nb_coded_side_data, type, size, 0);
    uint8_t *copy = side ? side->data : NULL;
#else
    uint8_t *copy = av_stream_new_side_data(stream, type, size);
#endif
    if (copy)
        memcpy(copy, data, size);
    return copy != NULL;
}

double tamis_priv_av_side_turn(const AVStream *stream)
{
    size_t size;
    const uint8_t *matrix = tamis_priv_av_side_get(stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
    if (!matrix || size < 9 * sizeof(int32_t))
        return 0;
    double turn = av_display_rotation_get((const int32_t *)(const void *)matrix);
    return isfinite(turn) ? turn : 0;
}

AVRational tamis_priv_av_aspect(const AVStream *stream, const AVFrame *frame)
{
    return stream->sample_aspect_ratio.num > 0 ? stream->sample_aspect_ratio
                                               : frame->sample_aspect_ratio;
}

/* What is about the pictures, not about how they were coded. */
static const enum AVPacketSideDataType about_pictures[] = {
    AV_PKT_DATA_DISPLAYMATRIX,       AV_PKT_DATA_STEREO3D,
    AV_PKT_DATA_SPHERICAL,           AV_PKT_DATA_MASTERING_DISPLAY_METADATA,
    AV_PKT_DATA_CONTENT_LIGHT_LEVEL, AV_PKT_DATA_ICC_PROFILE,
};

static const struct {
    enum AVFrameSideDataType frame;
    enum AVPacketSideDataType track;
} in_frames[] = {
    {AV_FRAME_DATA_MASTERING_DISPLAY_METADATA, AV_PKT_DATA_MASTERING_DISPLAY_METADATA},
    {AV_FRAME_DATA_CONTENT_LIGHT_LEVEL, AV_PKT_DATA_CONTENT_LIGHT_LEVEL},
    {AV_FRAME_DATA_DISPLAYMATRIX, AV_PKT_DATA_DISPLAYMATRIX},
    {AV_FRAME_DATA_STEREO3D, AV_PKT_DATA_STEREO3D},
    {AV_FRAME_DATA_SPHERICAL, AV_PKT_DATA_SPHERICAL},
    {AV_FRAME_DATA_ICC_PROFILE, AV_PKT_DATA_ICC_PROFILE},
};

/* Of that, what the color is, and how the picture is upright. */
static int is_needed(enum AVPacketSideDataType type)
{
    return type == AV_PKT_DATA_MASTERING_DISPLAY_METADATA ||
           type == AV_PKT_DATA_CONTENT_LIGHT_LEVEL || type == AV_PKT_DATA_ICC_PROFILE ||
           type == AV_PKT_DATA_DISPLAYMATRIX;
}

int tamis_priv_av_side_keep(AVStream *out, const AVStream *in, const AVFrame *first, int strip)
{
    int ok = 1;
    for (size_t i = 0; i < sizeof about_pictures / sizeof *about_pictures; i++) {
        if (strip && !is_needed(about_pictures[i]))
            continue;
        size_t size;
        const uint8_t *data = tamis_priv_av_side_get(in, about_pictures[i], &size);
        if (data)
            ok = ok && tamis_priv_av_side_add(out, about_pictures[i], data, size);
    }
    for (size_t i = 0; i < sizeof in_frames / sizeof *in_frames; i++) {
        const AVFrameSideData *side = av_frame_get_side_data(first, in_frames[i].frame);
        if (side && !(strip && !is_needed(in_frames[i].track)))
            ok = ok && tamis_priv_av_side_add(out, in_frames[i].track, side->data, side->size);
    }
    return ok;
}

int tamis_priv_av_side_copy(AVStream *out, const AVStream *in)
{
    int ok = 1;
#if !TAMIS_AV_SIDE_IN_PARAMETERS /* else it came with the parameters */
    for (int i = 0; i < in->nb_side_data; i++) {
        const AVPacketSideData *side = &in->side_data[i];
        ok = ok && tamis_priv_av_side_add(out, side->type, side->data, side->size);
    }
#else
    (void)out;
    (void)in;
#endif
    return ok;
}
