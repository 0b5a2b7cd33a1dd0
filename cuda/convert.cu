/* SPDX-License-Identifier: Apache-2.0 */
/* Pixels from one type and alpha convention to another, as image/convert.h says. */
#include "backend.cuh"
#include "pixels.cuh"

struct convert_args {
    tamis_gpu_planes src, dst;
    int64_t src_next, dst_next;
    tamis_rect part;
    int channels, first, src_pitch, dst_pitch, shift;
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

__global__ void convert_pixels(convert_args a, unsigned tiles_x)
{
    int x = (int)(blockIdx.x % tiles_x) * BLOCK_W + (int)threadIdx.x;
    int y = (int)(blockIdx.x / tiles_x) * BLOCK_H + (int)threadIdx.y;
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
__global__ void copy_pixels(convert_args a, unsigned tiles_x)
{
    int x = (int)(blockIdx.x % tiles_x) * BLOCK_W + (int)threadIdx.x;
    int y = (int)(blockIdx.x / tiles_x) * BLOCK_H + (int)threadIdx.y;
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
            store_bytes(to, (uint16_t)(load_bytes<uint16_t>(from) >> a.shift));
        else
            store_bytes(to, load_bytes<uint32_t>(from));
    }
}

/* ---- rows of samples that lie side by side in both: four to a thread, in a few rows */

enum { RUN = 4, RUN_THREADS = 128, RUN_ROWS = 4 };

struct run_args {
    tamis_gpu_planes src, dst;
    int64_t src_next, dst_next;
    int begin, end; /* samples of a row */
    int y, y_end;
    unsigned tiles_x;
};

template <typename S, typename D>
__global__ void __launch_bounds__(RUN_THREADS) convert_runs(const __grid_constant__ run_args a)
{
    unsigned tile = blockIdx.x / a.tiles_x, column = blockIdx.x - tile * a.tiles_x;
    int x = a.begin / RUN * RUN + (int)(column * RUN_THREADS + threadIdx.x) * RUN;
    int y = a.y + (int)tile * RUN_ROWS, rows = min((int)RUN_ROWS, a.y_end - y), p = blockIdx.y;
    if (x >= a.end)
        return;
    const char *from =
        tamis_picture(a.src.data[p], a.src_next) + y * a.src.stride[p] + x * (int64_t)sizeof(S);
    char *to =
        tamis_picture(a.dst.data[p], a.dst_next) + y * a.dst.stride[p] + x * (int64_t)sizeof(D);
    if (x >= a.begin && x + RUN <= a.end && rows == RUN_ROWS) {
        S in[RUN_ROWS][RUN];
        D out[RUN];
#pragma unroll
        for (int v = 0; v < RUN_ROWS; v++)
            tamis_vector_load<S>(from + v * a.src.stride[p], 0, in[v]);
#pragma unroll
        for (int v = 0; v < RUN_ROWS; v++) {
#pragma unroll
            for (int k = 0; k < RUN; k++)
                out[k] = tamis_sample<D>::of((float)in[v][k]);
            tamis_vector_store<D>(to + v * a.dst.stride[p], 0, out);
        }
        return;
    }
    for (int v = 0; v < rows; v++, from += a.src.stride[p], to += a.dst.stride[p])
        for (int k = 0; k < RUN; k++)
            if (x + k >= a.begin && x + k < a.end)
                ((D *)to)[k] = tamis_sample<D>::of((float)((const S *)from)[k]);
}

/* Whether channels from `first` on are planes of their own, or all side by side; and vectors of
 * samples at aligned places. */
static bool lie_in_runs(const tamis_gpu_planes *planes, int64_t next, tamis_type type, int pitch,
                        const tamis_gpu_convert *c)
{
    int size = type == TAMIS_U8 ? 1 : type == TAMIS_F32 ? 4 : 2;
    int64_t bits = c->count > 1 ? next : 0;
    if (type == TAMIS_F16 || (pitch > 1 && (c->first > 0 || pitch != c->channels)))
        return false;
    for (int p = c->first; p < c->channels; p++) {
        bool own = pitch == 1 || p == 0;
        if (own)
            bits |= (int64_t)(uintptr_t)planes->data[p] | planes->stride[p];
        else if (planes->data[p] != planes->data[0] + p * size)
            return false;
    }
    return bits % (RUN * size) == 0;
}

static bool convert_runs_fit(const tamis_gpu_convert *c)
{
    return c->alpha == TAMIS_GPU_ALPHA_KEEP && c->src_type != c->dst_type &&
           c->src_pitch == c->dst_pitch &&
           lie_in_runs(&c->src, c->src_next, c->src_type, c->src_pitch, c) &&
           lie_in_runs(&c->dst, c->dst_next, c->dst_type, c->dst_pitch, c);
}

template <typename S>
static void launch_runs_from(const run_args &a, tamis_type type, dim3 grid, void *stream)
{
    if (type == TAMIS_U8)
        TAMIS_LAUNCH((convert_runs<S, uint8_t>), grid, RUN_THREADS, 0, stream, a);
    else if (type == TAMIS_U16)
        TAMIS_LAUNCH((convert_runs<S, uint16_t>), grid, RUN_THREADS, 0, stream, a);
    else if (type == TAMIS_S16)
        TAMIS_LAUNCH((convert_runs<S, int16_t>), grid, RUN_THREADS, 0, stream, a);
    else
        TAMIS_LAUNCH((convert_runs<S, float>), grid, RUN_THREADS, 0, stream, a);
}

static tamis_status launch_runs(const tamis_gpu_convert *c, tamis_gpu_fault *fault)
{
    run_args a = {};
    int planes = c->src_pitch == 1 ? c->channels - c->first : 1;
    for (int p = 0; p < planes; p++) {
        a.src.data[p] = c->src.data[c->first + p];
        a.src.stride[p] = c->src.stride[c->first + p];
        a.dst.data[p] = c->dst.data[c->first + p];
        a.dst.stride[p] = c->dst.stride[c->first + p];
    }
    a.src_next = c->src_next;
    a.dst_next = c->dst_next;
    a.begin = c->part.x * c->src_pitch;
    a.end = (c->part.x + c->part.w) * c->src_pitch;
    a.y = c->part.y;
    a.y_end = c->part.y + c->part.h;
    a.tiles_x = (unsigned)tamis_tiles(a.end - a.begin / RUN * RUN, RUN * RUN_THREADS);
    dim3 grid(a.tiles_x * (unsigned)tamis_tiles(c->part.h, RUN_ROWS), (unsigned)planes,
              (unsigned)c->count);
    if (c->src_type == TAMIS_U8)
        launch_runs_from<uint8_t>(a, c->dst_type, grid, c->stream);
    else if (c->src_type == TAMIS_U16)
        launch_runs_from<uint16_t>(a, c->dst_type, grid, c->stream);
    else if (c->src_type == TAMIS_S16)
        launch_runs_from<int16_t>(a, c->dst_type, grid, c->stream);
    else
        launch_runs_from<float>(a, c->dst_type, grid, c->stream);
    return tamis_cuda_launched("convert", fault);
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
    a.shift = c->shift;
    a.alpha = c->alpha;
    a.src_type = c->src_type;
    a.dst_type = c->dst_type;
    a.range = original == TAMIS_U8 ? 255.f : is_float ? 1.f : 65535.f;
    a.clear = is_float ? 0.f : 0.5f;
    if (convert_runs_fit(c))
        return launch_runs(c, fault);
    unsigned tiles_x = (unsigned)tamis_tiles(c->part.w, BLOCK_W);
    dim3 grid(tiles_x * (unsigned)tamis_tiles(c->part.h, BLOCK_H), 1, (unsigned)c->count);
    dim3 block(BLOCK_W, BLOCK_H);
    if (c->alpha == TAMIS_GPU_ALPHA_KEEP && c->src_type == c->dst_type)
        TAMIS_LAUNCH(copy_pixels, grid, block, 0, c->stream, a, tiles_x);
    else
        TAMIS_LAUNCH(convert_pixels, grid, block, 0, c->stream, a, tiles_x);
    return tamis_cuda_launched("convert", fault);
}
