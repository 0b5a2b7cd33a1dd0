/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/hwcontext.h>
#include <tamis/device.h>

/* FFmpeg's header wants NVIDIA's for the names of two pointers. */
#define CUDA_VERSION 0
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
#include <libavutil/hwcontext_cuda.h>

#include "pixels.h"

/* Surfaces beside those that the codec needs: one that is looked at, one that waits. */
enum { MORE_SURFACES = 3 };

/* ---- CUDA's primary context, of which the driver has one for each device */

typedef int (*init_function)(unsigned flags);
typedef int (*get_function)(int *device, int ordinal);
typedef int (*retain_function)(CUcontext *context, int device);
typedef int (*release_function)(int device);

typedef struct primary {
    void *driver;
    int device;
    CUcontext context;
} primary;

static int find(void *driver, const char *name, void *function, size_t size)
{
    void *symbol = dlsym(driver, name);
    memcpy(function, &symbol, size); /* POSIX: the two have one representation */
    return symbol != NULL;
}

static int retain(primary *p, int index, char *why, size_t size)
{
    init_function init;
    get_function get;
    retain_function take;
    snprintf(why, size, "the driver has no such device");
    p->driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!p->driver) {
        snprintf(why, size, "there is no libcuda.so.1");
        return 0;
    }
    return find(p->driver, "cuInit", &init, sizeof init) &&
           find(p->driver, "cuDeviceGet", &get, sizeof get) &&
           find(p->driver, "cuDevicePrimaryCtxRetain", &take, sizeof take) && init(0) == 0 &&
           get(&p->device, index) == 0 && take(&p->context, p->device) == 0;
}

static void let_go(primary *p)
{
    release_function release;
    if (p->context && find(p->driver, "cuDevicePrimaryCtxRelease_v2", &release, sizeof release))
        release(p->device);
    if (p->driver)
        dlclose(p->driver);
    free(p);
}

static void free_device(AVHWDeviceContext *hardware)
{
    let_go(hardware->user_opaque);
}

/* FFmpeg's own way to the primary context refuses one that waits in another manner than it likes.
 */
static AVBufferRef *open_device(int index, char *why, size_t size)
{
    AVBufferRef *ref = av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_CUDA);
    primary *p = calloc(1, sizeof *p);
    if (!ref || !p) {
        snprintf(why, size, "FFmpeg was built without CUDA");
        av_buffer_unref(&ref);
        free(p);
        return NULL;
    }
    AVHWDeviceContext *hardware = (AVHWDeviceContext *)(void *)ref->data;
    if (!retain(p, index, why, size)) {
        let_go(p);
        av_buffer_unref(&ref);
        return NULL;
    }
    ((AVCUDADeviceContext *)hardware->hwctx)->cuda_ctx = p->context;
    hardware->user_opaque = p;
    hardware->free = free_device;
    if (av_hwdevice_ctx_init(ref) < 0) {
        snprintf(why, size, "FFmpeg cannot use the driver");
        av_buffer_unref(&ref);
    }
    return ref;
}

/* ---- decoders */

static int decodes(const AVCodec *codec)
{
    const AVCodecHWConfig *c;
    for (int i = 0; (c = avcodec_get_hw_config(codec, i)); i++)
        if (c->device_type == AV_HWDEVICE_TYPE_CUDA && c->pix_fmt == AV_PIX_FMT_CUDA &&
            (c->methods & AV_CODEC_HW_CONFIG_METHOD_HW_DEVICE_CTX))
            return 1;
    return 0;
}

int tamis_priv_av_device_attach(tamis_av_device *d, int number, AVCodecContext *codec)
{
    if (!decodes(codec->codec)) {
        snprintf(d->why, sizeof d->why, "FFmpeg decodes %s in software alone", codec->codec->name);
        return 0;
    }
    codec->hw_device_ctx = open_device(number - 1, d->why, sizeof d->why);
    if (!codec->hw_device_ctx)
        return 0;
    codec->extra_hw_frames = MORE_SURFACES;
    codec->thread_count = 1;
    d->number = number;
    snprintf(d->why, sizeof d->why, "the device does not decode this kind of %s",
             codec->codec->name);
    return 1;
}

int tamis_priv_av_device_codecs(int index, char *buf, size_t size)
{
    void *at = NULL;
    const AVCodec *codec;
    AVBufferRef *device = open_device(index, buf, size);
    if (!device)
        return 0;
    av_buffer_unref(&device);
    *buf = '\0';
    while ((codec = av_codec_iterate(&at))) {
        size_t used = strlen(buf);
        if (av_codec_is_decoder(codec) && codec->type == AVMEDIA_TYPE_VIDEO &&
            !strstr(codec->name, "_cuvid") && decodes(codec))
            snprintf(buf + used, size - used, "%s%s", used ? " " : "", codec->name);
    }
    return *buf != '\0';
}

/* ---- frames */

enum AVPixelFormat tamis_priv_av_device_pixels(const AVCodecContext *codec, const AVFrame *frame)
{
    return frame->format == AV_PIX_FMT_CUDA ? codec->sw_pix_fmt : frame->format;
}

static AVFrame *fail(tamis_av_device *d, AVFrame *frame, const char *why)
{
    if (why != d->why)
        snprintf(d->why, sizeof d->why, "%s", why);
    av_frame_free(&frame);
    return NULL;
}

/* A frame of the pool with another one's properties. */
static AVFrame *make(tamis_av_device *d, tamis_ctx *ctx, const AVFrame *like,
                     enum AVPixelFormat pixels)
{
    if (!d->pool.pool &&
        !tamis_priv_av_pool_open_at(&d->pool, ctx, d->number, pixels, like->width, like->height))
        return fail(d, NULL, "no memory");
    AVFrame *out = tamis_priv_av_pool_take(&d->pool);
    if (!out || av_frame_copy_props(out, like) < 0)
        return fail(d, out, "too little memory on the device");
    return out;
}

/* The decoder's surface as an ordinary frame, whose memory stays its own. */
static AVFrame *surface_of(const AVFrame *decoded)
{
    const AVHWFramesContext *frames =
        decoded->hw_frames_ctx ? (void *)decoded->hw_frames_ctx->data : NULL;
    AVFrame *out = frames ? av_frame_alloc() : NULL;
    if (!out)
        return NULL;
    out->format = frames->sw_format;
    out->width = decoded->width;
    out->height = decoded->height;
    memcpy(out->data, decoded->data, sizeof out->data);
    memcpy(out->linesize, decoded->linesize, sizeof out->linesize);
    return out;
}

/* Decoders leave what has 9 to 15 bits in the upper ones. */
static int copy_parts(tamis_av_device *d, tamis_ctx *ctx, const AVFrame *from, AVFrame *to)
{
    tamis_image src[TAMIS_VIDEO_PARTS], dst[TAMIS_VIDEO_PARTS];
    tamis_video_format have, want;
    if (!tamis_priv_av_pixels_describe(from->format, &have) ||
        !tamis_priv_av_pixels_describe(to->format, &want) || have.type != want.type ||
        have.model != want.model)
        return 0;
    tamis_priv_av_pixels_view(from, have.model, src);
    tamis_priv_av_pixels_view(to, want.model, dst);
    for (int i = 0; i < TAMIS_VIDEO_PARTS; i++) {
        if (src[i].format.channels != dst[i].format.channels)
            return 0;
        if (!src[i].format.channels)
            continue;
        src[i].device = dst[i].device = d->number;
        if (tamis_image_rearrange(ctx, &src[i], &dst[i],
                                  want.type == TAMIS_U16 ? 16 - want.bits : 0) != TAMIS_OK)
            return 0;
    }
    return 1;
}

AVFrame *tamis_priv_av_device_take(tamis_av_device *d, tamis_ctx *ctx, const AVFrame *decoded,
                                   enum AVPixelFormat pixels)
{
    if (decoded->crop_left || decoded->crop_top)
        return fail(d, NULL, "its frames are cut at the left or the top");
    AVFrame *out = make(d, ctx, decoded, pixels), *surface = out ? surface_of(decoded) : NULL;
    if (!out)
        return NULL;
    int is = surface && copy_parts(d, ctx, surface, out);
    av_frame_free(&surface);
    return is ? out : fail(d, out, "a frame cannot be taken from the decoder");
}

AVFrame *tamis_priv_av_device_bring(tamis_av_device *d, tamis_ctx *ctx, const AVFrame *here)
{
    tamis_image src[TAMIS_VIDEO_PARTS], dst[TAMIS_VIDEO_PARTS];
    tamis_video_format f;
    AVFrame *out = make(d, ctx, here, here->format);
    if (!out || !tamis_priv_av_pixels_describe(here->format, &f))
        return fail(d, out, d->why);
    tamis_priv_av_pixels_view(here, f.model, src);
    tamis_priv_av_pixels_view(out, f.model, dst);
    for (int i = 0; i < TAMIS_VIDEO_PARTS; i++) {
        dst[i].device = d->number;
        if (src[i].format.channels && tamis_image_transfer(ctx, &src[i], &dst[i]) != TAMIS_OK)
            return fail(d, out, "a frame cannot be brought to the device");
    }
    return out;
}

void tamis_priv_av_device_close(tamis_av_device *d)
{
    tamis_video_reader_close(&d->again);
    tamis_priv_av_pool_close(&d->pool);
}
