/* SPDX-License-Identifier: Apache-2.0 */
/* Affine maps of color, Lab and back, with the arithmetic of the CPU's rows: binary32 throughout;
 * pixels of f32 far outside, with NaN or with infinities as in the reference. */
#include "pixels.cuh"

#include "color_lab.h"

enum { THREADS = TAMIS_RUNS_X * TAMIS_RUNS_Y };

struct color_args {
    tamis_pixelwise p;
    color_coef k;
};

/* Lab's numbers for one direction. */
struct lab_args {
    color_args a;
    color_power to_linear, root; /* or, from Lab: none, and of 1 / 2.4 */
    float m[3][3];
    float scale[3], offset[3];
    float rgb_scale; /* of what comes in, or goes out */
};

template <int IN>
static __device__ __forceinline__ float mix(const color_coef &k, int p, const float (&in)[3])
{
    float v = k.offset[p];
#pragma unroll
    for (int c = 0; c < IN; c++)
        v = fmaf(k.m[p][c], in[c], v);
    return v;
}

/* ---- Lab in binary64, for single pixels */

static __device__ double exact_to_linear(double v)
{
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static __device__ double exact_to_srgb(double v)
{
    return v <= 0.0031308 ? v * 12.92 : 1.055 * pow(v, 1 / 2.4) - 0.055;
}

static __device__ double exact_f(double t)
{
    return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
}

static __device__ double exact_f_inverse(double f)
{
    return f * f * f > 216.0 / 24389 ? f * f * f : (116 * f - 16) / (24389.0 / 27);
}

static __device__ __noinline__ void exact_to_lab(const color_coef &k, float *v)
{
    double r = exact_to_linear(v[0] / k.range), g = exact_to_linear(v[1] / k.range);
    double b = exact_to_linear(v[2] / k.range);
    double x = exact_f((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047);
    double y = exact_f(0.2126729 * r + 0.7151522 * g + 0.0721750 * b);
    double z = exact_f((0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883);
    v[0] = (float)((116 * y - 16) * k.lab_scale[0] + k.lab_offset[0]);
    v[1] = (float)(500 * (x - y) * k.lab_scale[1] + k.lab_offset[1]);
    v[2] = (float)(200 * (y - z) * k.lab_scale[2] + k.lab_offset[2]);
}

static __device__ __noinline__ void exact_from_lab(const color_coef &k, float *v)
{
    double l = (v[0] - k.lab_offset[0]) / k.lab_scale[0];
    double a = (v[1] - k.lab_offset[1]) / k.lab_scale[1];
    double b = (v[2] - k.lab_offset[2]) / k.lab_scale[2];
    double f = (l + 16) / 116;
    double x = exact_f_inverse(f + a / 500) * 0.95047;
    double y = exact_f_inverse(f), z = exact_f_inverse(f - b / 200) * 1.08883;
    v[0] = (float)(exact_to_srgb(3.2404542 * x - 1.5371385 * y - 0.4985314 * z) * k.range);
    v[1] = (float)(exact_to_srgb(-0.9692660 * x + 1.8760108 * y + 0.0415560 * z) * k.range);
    v[2] = (float)(exact_to_srgb(0.0556434 * x - 0.2040259 * y + 1.0572252 * z) * k.range);
}

/* ---- Lab in binary32 */

static __device__ __forceinline__ float raise(const color_power &p, const float *exponents, float v)
{
    int bits = __float_as_int(v);
    float x = __fsub_rn(__int_as_float((bits & 0x7fffff) | 0x3f800000), 1.5f);
    float sum = p.c[7]; /* 0 where the degree is less */
#pragma unroll
    for (int i = 6; i >= 0; i--)
        sum = fmaf(sum, x, p.c[i]);
    return sum * exponents[((bits >> 23) - (127 + p.first)) & 15];
}

static __device__ __forceinline__ float to_linear(const lab_args &a, const float *exponents,
                                                  float v)
{
    float high = raise(a.to_linear, exponents, fmaf(v, (float)(1 / 1.055), (float)(0.055 / 1.055)));
    return v > 0.04045f ? high : v * (float)(1 / 12.92);
}

static __device__ __forceinline__ float lab_f(const lab_args &a, const float *exponents, float t)
{
    float low = fmaf(t, (float)(24389.0 / 27 / 116), (float)(16.0 / 116));
    return t > COLOR_EPSILON ? raise(a.root, exponents, t) : low;
}

static __device__ __forceinline__ float to_srgb(const lab_args &a, const float *exponents, float v)
{
    float high = fmaf(raise(a.root, exponents, v), 1.055f, -0.055f);
    return v > 0.0031308f ? high : v * 12.92f;
}

static __device__ __forceinline__ float lab_f_inverse(float f)
{
    float cube = f * f * f, low = fmaf(f, 116 / COLOR_KAPPA, -16 / COLOR_KAPPA);
    return cube > COLOR_EPSILON ? cube : low;
}

static __device__ __forceinline__ float times(const float (&m)[3], const float (&v)[3])
{
    return fmaf(m[2], v[2], fmaf(m[1], v[1], m[0] * v[0]));
}

/* What a kernel does with one pixel: in and v may be the same. */
template <int IN, int OUT> struct affine {
    typedef color_args args;
    static __device__ __forceinline__ const color_args &base(const args &a)
    {
        return a;
    }
    static __device__ __forceinline__ void map(const args &a, const float *, const float (&in)[3],
                                               float (&v)[3])
    {
#pragma unroll
        for (int p = 0; p < OUT; p++)
            v[p] = mix<IN>(a.k, p, in);
    }
    enum { INPUTS = IN, OUTPUTS = OUT };
};

template <int IN> struct to_lab {
    typedef lab_args args;
    static __device__ __forceinline__ const color_args &base(const args &a)
    {
        return a.a;
    }
    static __device__ __forceinline__ void map(const args &a, const float *exponents,
                                               const float (&in)[3], float (&v)[3])
    {
        float rgb[3], linear[3], f[3];
        bool good = true;
#pragma unroll
        for (int c = 0; c < 3; c++) {
            rgb[c] = mix<IN>(a.a.k, c, in);
            float part = rgb[c] * a.rgb_scale;
            good = good && fabsf(part) <= COLOR_RGB_LIMIT;
            linear[c] = to_linear(a, exponents, part);
        }
        if (!good) {
            exact_to_lab(a.a.k, rgb);
            for (int c = 0; c < 3; c++)
                v[c] = rgb[c];
            return;
        }
#pragma unroll
        for (int i = 0; i < 3; i++)
            f[i] = lab_f(a, exponents + 16, times(a.m[i], linear));
        v[0] = fmaf(f[1], a.scale[0], a.offset[0]);
        v[1] = fmaf(f[0] - f[1], a.scale[1], a.offset[1]);
        v[2] = fmaf(f[1] - f[2], a.scale[2], a.offset[2]);
    }
    enum { INPUTS = IN, OUTPUTS = 3 };
};

template <int OUT> struct from_lab {
    typedef lab_args args;
    static __device__ __forceinline__ const color_args &base(const args &a)
    {
        return a.a;
    }
    static __device__ __forceinline__ void map(const args &a, const float *exponents,
                                               const float (&in)[3], float (&v)[3])
    {
        float y = (in[0] - a.offset[0]) * a.scale[0];
        const float f[3] = {fmaf(in[1] - a.offset[1], a.scale[1], y), y,
                            fmaf(in[2] - a.offset[2], a.scale[2], y)};
        float xyz[3], rgb[3] = {in[0], in[1], in[2]};
        bool good = true;
#pragma unroll
        for (int i = 0; i < 3; i++) {
            good = good && fabsf(f[i]) <= COLOR_ROOT_LIMIT;
            xyz[i] = lab_f_inverse(f[i]);
        }
        if (good) {
#pragma unroll
            for (int i = 0; i < 3; i++)
                rgb[i] = to_srgb(a, exponents + 16, times(a.m[i], xyz)) * a.rgb_scale;
        } else {
            exact_from_lab(a.a.k, rgb);
        }
#pragma unroll
        for (int p = 0; p < OUT; p++)
            v[p] = mix<3>(a.a.k, p, rgb);
    }
    enum { INPUTS = 3, OUTPUTS = OUT };
};

/* ---- kernels */

static __device__ __forceinline__ void share_exponents(const color_args &, float *)
{
}

/* Where 16 numbers have banks of their own. */
static __device__ __forceinline__ void share_exponents(const lab_args &a, float *exponents)
{
    if (threadIdx.y == 0)
        exponents[threadIdx.x] = threadIdx.x < 16 ? a.to_linear.exponents[threadIdx.x]
                                                  : a.root.exponents[threadIdx.x - 16];
    __syncthreads();
}

template <typename T, typename F>
__global__ void __launch_bounds__(THREADS) map_pixels(const __grid_constant__ typename F::args a)
{
    __shared__ float exponents[32];
    const tamis_pixelwise &p = F::base(a).p;
    tamis_run r = tamis_run_of(p);
    T v[TAMIS_MAX_CHANNELS][TAMIS_RUN], out[TAMIS_MAX_CHANNELS][TAMIS_RUN];
    share_exponents(a, exponents);
    if (r.from >= r.to)
        return;
    tamis_run_load<T>(p.src, r, F::INPUTS, v);
#pragma unroll
    for (int i = 0; i < TAMIS_RUN; i++) {
        float in[3], pixel[3];
#pragma unroll
        for (int c = 0; c < 3; c++)
            in[c] = (float)v[c][i];
        F::map(a, exponents, in, pixel);
#pragma unroll
        for (int c = 0; c < F::OUTPUTS; c++)
            out[c][i] = tamis_sample<T>::of(pixel[c]);
        for (int c = F::OUTPUTS; c < TAMIS_MAX_CHANNELS; c++)
            out[c][i] = v[F::INPUTS][i]; /* alpha goes along */
    }
    tamis_run_store<T>(p.dst, r, F::OUTPUTS, out);
}

/* ---- gray of packed RGB in bytes: sixteen pixels of a thread come and go as whole words */

enum { GRAY_V = 16, GRAY_THREADS = 128 };

struct gray_args {
    color_args a;
    int first;      /* of the first thread's pixels, a multiple of GRAY_V */
    unsigned tiles; /* blocks in a row */
};

/* A byte of a word: what has 2^23 in front of it is that much too large. large: its bits, which an
 * instruction with two numbers that the compiler knows has no room for. */
static __device__ __forceinline__ float byte_of(const unsigned *words, int i, unsigned large)
{
    return __uint_as_float(__byte_perm(words[i / 4], large, 0x7650 | i % 4)) - 8388608.f;
}

/* As tamis_sample<uint8_t>::of(), in the last byte of the number of 3 * 2^22 and it. */
static __device__ __forceinline__ unsigned level_of(float v)
{
    return __float_as_uint(fminf(fmaxf(v, 0.f), 255.f) + 12582912.f);
}

__global__ void __launch_bounds__(GRAY_THREADS)
    gray_of_bytes(const __grid_constant__ gray_args g, unsigned large)
{
    const tamis_pixelwise &p = g.a.p;
    unsigned row = blockIdx.x / g.tiles, tile = blockIdx.x - row * g.tiles;
    int x = g.first + (int)(tile * GRAY_THREADS + threadIdx.x) * GRAY_V, y = p.y + (int)row;
    int from = max(p.x - x, 0), to = min(p.x + p.w - x, (int)GRAY_V);
    const char *at = p.src.row(0, y) + (int64_t)x * 3;
    char *out = p.dst.row(0, y) + x;
    if (from >= to)
        return;
    if (from > 0 || to < GRAY_V) {
        for (int i = from; i < to; i++) {
            const uint8_t *v = (const uint8_t *)at + 3 * i;
            const float in[3] = {(float)v[0], (float)v[1], (float)v[2]};
            out[i] = (char)tamis_sample<uint8_t>::of(mix<3>(g.a.k, 0, in));
        }
        return;
    }
    unsigned words[3 * GRAY_V / 4], levels[GRAY_V / 4];
#pragma unroll
    for (int k = 0; k < 3; k++) {
        uint4 q = ((const uint4 *)(const void *)at)[k];
        words[4 * k] = q.x;
        words[4 * k + 1] = q.y;
        words[4 * k + 2] = q.z;
        words[4 * k + 3] = q.w;
    }
#pragma unroll
    for (int k = 0; k < GRAY_V / 4; k++) {
        unsigned v[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int first = 3 * (4 * k + i);
            const float in[3] = {byte_of(words, first, large), byte_of(words, first + 1, large),
                                 byte_of(words, first + 2, large)};
            v[i] = level_of(mix<3>(g.a.k, 0, in));
        }
        levels[k] =
            __byte_perm(__byte_perm(v[0], v[1], 0x0040), __byte_perm(v[2], v[3], 0x0040), 0x5410);
    }
    *(uint4 *)(void *)out = make_uint4(levels[0], levels[1], levels[2], levels[3]);
}

template <typename T>
__global__ void __launch_bounds__(THREADS) copy_pixels(const __grid_constant__ color_args a)
{
    tamis_run r = tamis_run_of(a.p);
    T v[TAMIS_MAX_CHANNELS][TAMIS_RUN];
    if (r.from >= r.to)
        return;
    tamis_run_load<T>(a.p.src, r, a.k.inputs, v);
    tamis_run_store<T>(a.p.dst, r, a.k.inputs, v);
}

/* ---- launches */

template <typename T>
static color_args make_args(const tamis_gpu_work *w, const tamis_node *node, dim3 *grid)
{
    color_args a = {tamis_pixelwise_of(w, sizeof(T), grid), *(const color_coef *)node->coef};
    return a;
}

template <typename T>
static tamis_status launch_copy(const tamis_gpu_work *w, const tamis_node *node, const void *,
                                tamis_gpu_fault *fault)
{
    dim3 grid(1, 1, 1), block(TAMIS_RUNS_X, TAMIS_RUNS_Y, 1);
    color_args a = make_args<T>(w, node, &grid);
    TAMIS_LAUNCH(copy_pixels<T>, grid, block, 0, w->stream, a);
    return tamis_cuda_launched("color", fault);
}

static bool is_gray_of_bytes(const tamis_gpu_work *w, const color_args &a, tamis_type type)
{
    return type == TAMIS_U8 && a.k.inputs == 3 && a.k.outputs == 1 && w->src_pitch == 3 &&
           w->dst_pitch == 1 && w->aligned >= GRAY_V;
}

static tamis_status launch_gray(const tamis_gpu_work *w, const color_args &a,
                                tamis_gpu_fault *fault)
{
    gray_args g = {a, w->part.x / GRAY_V * GRAY_V, 0};
    int64_t width = (int64_t)w->part.x + w->part.w - g.first;
    g.tiles = (unsigned)tamis_tiles(width, GRAY_V * GRAY_THREADS);
    TAMIS_LAUNCH(gray_of_bytes, tamis_grid(w, g.tiles, w->part.h, 1), GRAY_THREADS, 0, w->stream, g,
                 0x4b000000u);
    return tamis_cuda_launched("color", fault);
}

template <typename T>
static tamis_status launch_matrix(const tamis_gpu_work *w, const tamis_node *node, const void *,
                                  tamis_gpu_fault *fault)
{
    dim3 grid(1, 1, 1), block(TAMIS_RUNS_X, TAMIS_RUNS_Y, 1);
    color_args a = make_args<T>(w, node, &grid);
    if (is_gray_of_bytes(w, a, tamis_sample<T>::type))
        return launch_gray(w, a, fault);
    auto kernel = a.k.inputs == 1    ? map_pixels<T, affine<1, 3>>
                  : a.k.outputs == 1 ? map_pixels<T, affine<3, 1>>
                                     : map_pixels<T, affine<3, 3>>;
    TAMIS_LAUNCH(kernel, grid, block, 0, w->stream, a);
    return tamis_cuda_launched("color", fault);
}

template <typename T>
static tamis_status launch_to_lab(const tamis_gpu_work *w, const tamis_node *node, const void *,
                                  tamis_gpu_fault *fault)
{
    dim3 grid(1, 1, 1), block(TAMIS_RUNS_X, TAMIS_RUNS_Y, 1);
    lab_args a = {make_args<T>(w, node, &grid), color_power_2_4, color_cube_root};
    const struct color_lab_out o = color_lab_out_of(&a.a.k);
    memcpy(a.m, color_xyz_of_linear, sizeof a.m);
    memcpy(a.scale, o.scale, sizeof a.scale);
    memcpy(a.offset, o.offset, sizeof a.offset);
    a.rgb_scale = (float)(1 / a.a.k.range);
    auto kernel = a.a.k.inputs == 1 ? map_pixels<T, to_lab<1>> : map_pixels<T, to_lab<3>>;
    TAMIS_LAUNCH(kernel, grid, block, 0, w->stream, a);
    return tamis_cuda_launched("color", fault);
}

template <typename T>
static tamis_status launch_from_lab(const tamis_gpu_work *w, const tamis_node *node, const void *,
                                    tamis_gpu_fault *fault)
{
    dim3 grid(1, 1, 1), block(TAMIS_RUNS_X, TAMIS_RUNS_Y, 1);
    lab_args a = {make_args<T>(w, node, &grid), color_power_2_4, color_root_2_4};
    const struct color_lab_in o = color_lab_in_of(&a.a.k);
    memcpy(a.m, color_linear_of_xyz, sizeof a.m);
    memcpy(a.scale, o.scale, sizeof a.scale);
    memcpy(a.offset, o.offset, sizeof a.offset);
    a.rgb_scale = (float)a.a.k.range;
    auto kernel = a.a.k.outputs == 1 ? map_pixels<T, from_lab<1>> : map_pixels<T, from_lab<3>>;
    TAMIS_LAUNCH(kernel, grid, block, 0, w->stream, a);
    return tamis_cuda_launched("color", fault);
}

/* Tolerances as on the CPU. */
#define COLOR_ROWS(T, type, to_lab_tolerance, from_lab_tolerance)                                  \
    {"copy", type, 0, nullptr, nullptr, launch_copy<T>},                                           \
        {"matrix", type, 0, nullptr, nullptr, launch_matrix<T>},                                   \
        {"to_lab", type, to_lab_tolerance, nullptr, nullptr, launch_to_lab<T>},                    \
    {                                                                                              \
        "from_lab", type, from_lab_tolerance, nullptr, nullptr, launch_from_lab<T>                 \
    }
TAMIS_CUDA_KERNELS(color) = {
    COLOR_ROWS(uint8_t, TAMIS_U8, 1, 1),
    COLOR_ROWS(uint16_t, TAMIS_U16, 1, 1),
    COLOR_ROWS(float, TAMIS_F32, 3e-4, 1e-5),
    {},
};
