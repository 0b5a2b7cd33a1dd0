/* SPDX-License-Identifier: Apache-2.0 */
/* FFmpeg's libavfilter as a peer: a buffer source, the filter, a buffer sink. Color is planar
 * there, as its filters want it. Its gblur is a recursive approximation and its bilateral another
 * definition. */
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/log.h>
#include <libavutil/pixdesc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

typedef struct ffmpeg_peer {
    peer_job job;
    size_t sample; /* bytes */
    AVFilterGraph *graph;
    AVFilterContext *source, *sink;
    AVFrame *src, *result;
} ffmpeg_peer;

static enum AVPixelFormat format_of(const peer_job *job)
{
    int rgb = job->channels == 3;
    if (job->channels != 1 && !rgb)
        return AV_PIX_FMT_NONE;
    if (!strcmp(job->type, "u8"))
        return rgb ? AV_PIX_FMT_GBRP : AV_PIX_FMT_GRAY8;
    if (!strcmp(job->type, "u16"))
        return rgb ? AV_PIX_FMT_GBRP16 : AV_PIX_FMT_GRAY16;
    return rgb ? AV_PIX_FMT_GBRPF32 : AV_PIX_FMT_GRAYF32;
}

static double range_of(const char *type)
{
    return !strcmp(type, "u8") ? 255 : !strcmp(type, "u16") ? 65535 : 1;
}

const char *peer_version(void)
{
    static char text[64];
    snprintf(text, sizeof text, "FFmpeg %s", av_version_info());
    return text;
}

/* Plane of channel c: planar color is stored G, B, R. */
static int plane_of(const peer_job *job, int c)
{
    static const int planes[3] = {2, 0, 1};
    return job->channels == 3 ? planes[c] : 0;
}

/* Copies between the packed picture and the planes of a frame. */
static void exchange(const ffmpeg_peer *p, AVFrame *frame, char *packed, int to_frame)
{
    int channels = p->job.channels;
    for (int c = 0; c < channels; c++) {
        int plane = plane_of(&p->job, c);
        for (int y = 0; y < p->job.h; y++) {
            char *row = (char *)frame->data[plane] + (ptrdiff_t)y * frame->linesize[plane];
            char *other =
                packed + ((size_t)y * (size_t)p->job.w * (size_t)channels + (size_t)c) * p->sample;
            for (int x = 0; x < p->job.w; x++, row += p->sample) {
                memcpy(to_frame ? row : other, to_frame ? other : row, p->sample);
                other += (size_t)channels * p->sample;
            }
        }
    }
}

static int write_filter(const peer_job *job, char *text, size_t size)
{
    if (!strcmp(job->filter, "gaussian"))
        return snprintf(text, size, "gblur=sigma=%g:steps=1", job->sigma);
    if (!strcmp(job->filter, "box"))
        return snprintf(text, size, "avgblur=sizeX=%d", job->ksize / 2);
    if (!strcmp(job->filter, "median"))
        return snprintf(text, size, "median=radius=%d", job->ksize / 2);
    if (!strcmp(job->filter, "nlmeans"))
        return snprintf(text, size, "nlmeans=s=%g:p=%d:r=%g", job->sigma_color / 10, job->ksize,
                        job->sigma);
    if (!strcmp(job->filter, "bilateral"))
        return snprintf(text, size, "bilateral=sigmaS=%g:sigmaR=%g", job->sigma,
                        job->sigma_color / range_of(job->type));
    return -1;
}

/* source -> text -> sink, refusing hidden conversions of the pixel format. */
static int make_graph(ffmpeg_peer *p, enum AVPixelFormat format, const char *text)
{
    char size[128];
    snprintf(size, sizeof size, "video_size=%dx%d:pix_fmt=%d:time_base=1/1:pixel_aspect=1/1",
             p->job.w, p->job.h, format);
    AVFilterGraph *graph = p->graph = avfilter_graph_alloc();
    AVFilterInOut *in = avfilter_inout_alloc(), *out = avfilter_inout_alloc();
    int ok = graph && in && out;
    if (ok) {
        graph->nb_threads = p->job.threads;
        avfilter_graph_set_auto_convert(graph, AVFILTER_AUTO_CONVERT_NONE);
        ok = avfilter_graph_create_filter(&p->source, avfilter_get_by_name("buffer"), "in", size,
                                          NULL, graph) >= 0 &&
             avfilter_graph_create_filter(&p->sink, avfilter_get_by_name("buffersink"), "out", NULL,
                                          NULL, graph) >= 0;
    }
    if (ok) {
        *out = (AVFilterInOut){av_strdup("in"), p->source, 0, NULL};
        *in = (AVFilterInOut){av_strdup("out"), p->sink, 0, NULL};
        ok = avfilter_graph_parse_ptr(graph, text, &in, &out, NULL) >= 0 &&
             avfilter_graph_config(graph, NULL) >= 0;
    }
    avfilter_inout_free(&in);
    avfilter_inout_free(&out);
    return ok;
}

static int make_frames(ffmpeg_peer *p, enum AVPixelFormat format, const void *src)
{
    p->src = av_frame_alloc();
    p->result = av_frame_alloc();
    if (!p->src || !p->result)
        return 0;
    p->src->format = format;
    p->src->width = p->job.w;
    p->src->height = p->job.h;
    if (av_frame_get_buffer(p->src, 0) < 0)
        return 0;
    exchange(p, p->src, (char *)src, 1);
    return 1;
}

void *peer_open(const peer_job *job, const void *src)
{
    char text[128];
    enum AVPixelFormat format = format_of(job);
    if (format == AV_PIX_FMT_NONE || write_filter(job, text, sizeof text) < 0)
        return NULL;
    ffmpeg_peer *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->job = *job;
    p->sample = !strcmp(job->type, "u8") ? 1 : !strcmp(job->type, "u16") ? 2 : 4;
    av_log_set_level(AV_LOG_QUIET);
    if (!make_graph(p, format, text) || !make_frames(p, format, src)) {
        peer_close(p);
        return NULL;
    }
    return p;
}

int peer_run(void *peer)
{
    ffmpeg_peer *p = peer;
    p->src->pts++;
    av_frame_unref(p->result);
    if (av_buffersrc_add_frame_flags(p->source, p->src, AV_BUFFERSRC_FLAG_KEEP_REF) < 0)
        return 1;
    return av_buffersink_get_frame(p->sink, p->result) < 0;
}

int peer_result(void *peer, void *dst)
{
    ffmpeg_peer *p = peer;
    if (!p->result->data[0])
        return 1;
    exchange(p, p->result, dst, 0);
    return 0;
}

void peer_close(void *peer)
{
    ffmpeg_peer *p = peer;
    avfilter_graph_free(&p->graph);
    av_frame_free(&p->src);
    av_frame_free(&p->result);
    free(p);
}
