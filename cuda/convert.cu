/* SPDX-License-Identifier: Apache-2.0 */
/* Pixels from one type and alpha convention to another, as image/convert.h says. */
#include "backend.cuh"

struct convert_args {
    tamis_gpu_planes src, dst;
    int64_t src_next, dst_next;
    tamis_rect part;
    int channels, first, src_pitch, dst_pitch;
    tamis_gpu_alpha alpha;
    tamis_type src_type, dst_type;
    float range, clear;
};

/* Bytes, since foreign memory may have any alignment. */
template <typename T> static __device__ __forceinline__ T load_bytes(const char *p)
{
    T v;
    if (sizeof(T) == 1 || (uintptr_t)p % sizeof(T) == 0)
        return *(const T *)p;
    for (size_t i = 0; i < sizeof(T); i++)
        ((char *)&v)[i] = p[i];
    return v;
}

template <typename T> static __device__ __forceinline__ void store_bytes(char *p, T v)
{
    if (sizeof(T) == 1 || (uintptr_t)p % sizeof(T) == 0)
        *(T *)p = v;
    else
        for (size_t i = 0; i < sizeof(T); i++)
            p[i] = ((char *)&v)[i];
}

static __device__ float load(const char *p, tamis_type type)
{
    switch (type) {
    case TAMIS_U8:
        return (float)*(const uint8_t *)p;
    case TAMIS_U16:
        return (float)load_bytes<uint16_t>(p);
    case TAMIS_S16:
        return (float)load_bytes<int16_t>(p);
    case TAMIS_F16:
        return __half2float(load_bytes<__half>(p));
    default:
        return load_bytes<float>(p);
    }
}

static __device__ void store(char *p, tamis_type type, float v)
{
    switch (type) {
    case TAMIS_U8:
        *(uint8_t *)p = tamis_sample<uint8_t>::of(v);
        break;
    case TAMIS_U16:
        store_bytes(p, tamis_sample<uint16_t>::of(v));
        break;
    case TAMIS_S16:
        store_bytes(p, tamis_sample<int16_t>::of(v));
        break;
    case TAMIS_F16:
        store_bytes(p, __float2half_rn(v));
        break;
    default:
        store_bytes(p, v);
    }
}

static __device__ __forceinline__ int size_of(tamis_type type)
{
    return type == TAMIS_U8 ? 1 : type == TAMIS_F32 ? 4 : 2;
}

static __device__ __forceinline__ const char *source(const convert_args &a, int c, int x, int y)
{
    return tamis_picture(a.src.data[c], a.src_next) + y * a.src.stride[c] +
           (int64_t)x * a.src_pitch * size_of(a.src_type);
}

static __device__ __forceinline__ char *target(const convert_args &a, int c, int x, int y)
{
    return tamis_picture(a.dst.data[c], a.dst_next) + y * a.dst.stride[c] +
           (int64_t)x * a.dst_pitch * size_of(a.dst_type);
}

enum { BLOCK_W = 32, BLOCK_H = 8 };

__global__ void convert_pixels(convert_args a, int64_t tiles_x)
{
    int x = (int)(blockIdx.x % tiles_x) * BLOCK_W + threadIdx.x;
    int y = (int)(blockIdx.x / tiles_x) * BLOCK_H + threadIdx.y;
    if (x >= a.part.w || y >= a.part.h)
        return;
    x += a.part.x;
    y += a.part.y;
    float v[TAMIS_MAX_CHANNELS] = {0};
    for (int c = a.first; c < a.channels; c++)
        v[c] = load(source(a, c, x, y), a.src_type);
    float alpha = v[a.channels - 1];
    if (a.alpha == TAMIS_GPU_ALPHA_MULTIPLY)
        for (int c = 0; c < a.channels - 1; c++)
            v[c] = __fmul_rn(v[c], __fdiv_rn(alpha, a.range));
    if (a.alpha == TAMIS_GPU_ALPHA_DIVIDE)
        for (int c = 0; c < a.channels - 1; c++)
            v[c] = alpha <= a.clear ? 0.f : __fdiv_rn(v[c], __fdiv_rn(alpha, a.range));
    for (int c = a.first; c < a.channels; c++)
        store(target(a, c, x, y), a.dst_type, v[c]);
}

/* Without a change of type: bytes, so that NaN payloads survive. */
__global__ void copy_pixels(convert_args a, int64_t tiles_x)
{
    int x = (int)(blockIdx.x % tiles_x) * BLOCK_W + threadIdx.x;
    int y = (int)(blockIdx.x / tiles_x) * BLOCK_H + threadIdx.y;
    int size = size_of(a.src_type);
    if (x >= a.part.w || y >= a.part.h)
        return;
    x += a.part.x;
    y += a.part.y;
    for (int c = a.first; c < a.channels; c++) {
        const char *from = source(a, c, x, y);
        char *to = target(a, c, x, y);
        if (size == 1)
            *to = *from;
        else if (size == 2)
            store_bytes(to, load_bytes<uint16_t>(from));
        else
            store_bytes(to, load_bytes<uint32_t>(from));
    }
}

tamis_status tamis_cuda_convert(tamis_gpu *gpu, const tamis_gpu_convert *c, tamis_gpu_fault *fault)
{
    (void)gpu;
    tamis_type original = c->alpha == TAMIS_GPU_ALPHA_DIVIDE ? c->dst_type : c->src_type;
    int is_float = original == TAMIS_F32 || original == TAMIS_F16;
    convert_args a = {};
    a.src = c->src;
    a.dst = c->dst;
    a.src_next = c->src_next;
    a.dst_next = c->dst_next;
    a.part = c->part;
    a.channels = c->channels;
    a.first = c->first;
    a.src_pitch = c->src_pitch;
    a.dst_pitch = c->dst_pitch;
    a.alpha = c->alpha;
    a.src_type = c->src_type;
    a.dst_type = c->dst_type;
    a.range = original == TAMIS_U8 ? 255.f : is_float ? 1.f : 65535.f;
    a.clear = is_float ? 0.f : 0.5f;
    int64_t tiles_x = tamis_tiles(c->part.w, BLOCK_W), tiles_y = tamis_tiles(c->part.h, BLOCK_H);
    dim3 grid((unsigned)(tiles_x * tiles_y), 1, (unsigned)c->count), block(BLOCK_W, BLOCK_H);
    if (c->alpha == TAMIS_GPU_ALPHA_KEEP && c->src_type == c->dst_type)
        TAMIS_LAUNCH(copy_pixels, grid, block, 0, c->stream, a, tiles_x);
    else
        TAMIS_LAUNCH(convert_pixels, grid, block, 0, c->stream, a, tiles_x);
    return tamis_cuda_launched("convert", fault);
}
