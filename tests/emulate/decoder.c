/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's decoder for tests: libnvcuvid.so.1 that knows the pictures beforehand. For clips with
 * one picture that others may begin at, in planes of 4:2:0.
 *
 *   TAMIS_EMULATE_VIDEO=WxH:FILE      the pictures, raw, in the order of showing
 *   TAMIS_EMULATE_VIDEO_FAIL=n        picture n, counted as they come, cannot be decoded
 *   TAMIS_EMULATE_VIDEO_LACKS=1       the device has no such decoder */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ffnvcodec/dynlink_cuda.h>
#include <ffnvcodec/dynlink_cuviddec.h>

#define NOTHING(name)                                                                              \
    int name(void);                                                                                \
    int name(void)                                                                                 \
    {                                                                                              \
        return 0;                                                                                  \
    }

NOTHING(cuvidDestroyDecoder)
NOTHING(cuvidGetDecodeStatus)
NOTHING(cuvidReconfigureDecoder)
NOTHING(cuvidCtxLockCreate)
NOTHING(cuvidCtxLockDestroy)
NOTHING(cuvidCtxLock)
NOTHING(cuvidCtxUnlock)
NOTHING(cuvidCreateVideoSource)
NOTHING(cuvidCreateVideoSourceW)
NOTHING(cuvidDestroyVideoSource)
NOTHING(cuvidSetVideoSourceState)
NOTHING(cuvidGetVideoSourceState)
NOTHING(cuvidGetSourceVideoFormat)
NOTHING(cuvidGetSourceAudioFormat)
NOTHING(cuvidCreateVideoParser)
NOTHING(cuvidParseVideoData)
NOTHING(cuvidDestroyVideoParser)

tcuvidGetDecoderCaps cuvidGetDecoderCaps;
tcuvidCreateDecoder cuvidCreateDecoder;
tcuvidDecodePicture cuvidDecodePicture;
tcuvidMapVideoFrame64 cuvidMapVideoFrame64;
tcuvidUnmapVideoFrame64 cuvidUnmapVideoFrame64;

static CUVIDDECODECREATEINFO kind;
static long order[64]; /* of the picture in each surface, in the order of showing */
static int begun;

CUresult cuvidGetDecoderCaps(CUVIDDECODECAPS *caps)
{
    caps->bIsSupported = !getenv("TAMIS_EMULATE_VIDEO_LACKS");
    caps->nMaxWidth = caps->nMaxHeight = 8192;
    caps->nMaxMBCount = 1 << 20;
    return CUDA_SUCCESS;
}

CUresult cuvidCreateDecoder(CUvideodecoder *decoder, CUVIDDECODECREATEINFO *info)
{
    static int any;
    kind = *info;
    begun = 0;
    *decoder = &any;
    return CUDA_SUCCESS;
}

CUresult cuvidDecodePicture(CUvideodecoder decoder, CUVIDPICPARAMS *picture)
{
    const char *fail = getenv("TAMIS_EMULATE_VIDEO_FAIL");
    (void)decoder;
    if (fail && atoi(fail) == begun++)
        return CUDA_ERROR_UNKNOWN;
    order[picture->CurrPicIdx] = kind.CodecType == cudaVideoCodec_H264
                                     ? picture->CodecSpecific.h264.CurrFieldOrderCnt[0] % 65536 / 2
                                     : picture->CodecSpecific.hevc.CurrPicOrderCntVal;
    return CUDA_SUCCESS;
}

/* A row of samples, each `step` places from the next; those of more than 8 bits in the upper bits.
 */
static void put_row(FILE *file, uint8_t *to, int count, int step, int bytes)
{
    for (int x = 0; x < count; x++) {
        int low = fgetc(file), high = bytes > 1 ? fgetc(file) : 0;
        unsigned v = (unsigned)(low | high << 8) << (bytes > 1 ? 8 - kind.bitDepthMinus8 : 0);
        to[(size_t)x * (size_t)(step * bytes)] = (uint8_t)v;
        if (bytes > 1)
            to[(size_t)x * (size_t)(step * bytes) + 1] = (uint8_t)(v >> 8);
    }
}

static void fill(uint8_t *surface, size_t pitch, long number)
{
    int w = 0, h = 0, at = 0, bytes = kind.bitDepthMinus8 ? 2 : 1;
    const char *video = getenv("TAMIS_EMULATE_VIDEO");
    if (!video || sscanf(video, "%dx%d:%n", &w, &h, &at) != 2)
        return;
    FILE *file = fopen(video + at, "rb");
    if (!file)
        return;
    uint8_t *chroma = surface + pitch * kind.ulTargetHeight;
    int half_w = (w + 1) / 2, half_h = (h + 1) / 2;
    fseek(file, number * bytes * (w * h + 2 * half_w * half_h), SEEK_SET);
    for (int y = 0; y < h; y++)
        put_row(file, surface + pitch * (size_t)y, w, 1, bytes);
    for (int c = 0; c < 2; c++)
        for (int y = 0; y < half_h; y++)
            put_row(file, chroma + pitch * (size_t)y + c * bytes, half_w, 2, bytes);
    fclose(file);
}

CUresult cuvidMapVideoFrame64(CUvideodecoder decoder, int index, unsigned long long *data,
                              unsigned *pitch, CUVIDPROCPARAMS *how)
{
    (void)decoder;
    (void)how;
    *pitch = (unsigned)(kind.ulTargetWidth * (kind.bitDepthMinus8 ? 2 : 1) + 511) / 512 * 512;
    size_t size = *pitch * (size_t)kind.ulTargetHeight * 3 / 2;
    uint8_t *surface = malloc(size);
    if (!surface)
        return CUDA_ERROR_UNKNOWN;
    memset(surface, 0x5a, size);
    fill(surface, *pitch, order[index]);
    *data = (unsigned long long)(uintptr_t)surface;
    return CUDA_SUCCESS;
}

CUresult cuvidUnmapVideoFrame64(CUvideodecoder decoder, unsigned long long data)
{
    (void)decoder;
    free((void *)(uintptr_t)data);
    return CUDA_SUCCESS;
}
