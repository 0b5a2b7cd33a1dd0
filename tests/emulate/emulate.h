/* SPDX-License-Identifier: Apache-2.0 */
/* As much of CUDA as tamis uses, on the CPU: so that kernels, their index arithmetic and the host
 * side of the backend are tested where there is no GPU, with sanitizers as well.
 *
 * A block's threads are fibers of one thread, switched where they wait for each other: at
 * __syncthreads, __syncwarp, shuffles and votes. Blocks run one after the other. Device memory is
 * host memory, streams are always done. Floating-point arithmetic is the CPU's: the same for +, -,
 * *, / and fma, other for approximations such as ex2.approx, which are exact here. */
#ifndef TAMIS_EMULATE_H
#define TAMIS_EMULATE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <functional>

/* ---- the language */

#define __global__ static
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__    __attribute__((noinline))
#define __shared__      static /* one block runs at a time */
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
};
struct uint3 {
    unsigned x, y, z;
};

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

/* A launch: its arguments are what they were when it was made. */
struct emulate_work {
    const void *kernel;
    dim3 grid, block;
    size_t shared;
    std::function<void()> thread;
};
void emulate_run(const emulate_work &work);
/* Whether the thread's device may do the work on the stream now. Of a stream that is captured it
 * keeps the work, whose arguments are at args, and says no. */
bool emulate_may_launch(void *stream, const emulate_work &work, const void *args, size_t size);
unsigned char *emulate_shared_bytes();

/* The arguments of a launch. No std::tuple: files have different types of the same name, whose
 * functions the linker would take for each other outside of a file's own namespace. */
namespace
{
template <typename... T> struct emulate_args {
    template <typename K, typename... V> void call(K kernel, const V &...values) const
    {
        kernel(values...);
    }
};
template <typename T, typename... Rest> struct emulate_args<T, Rest...> {
    T first;
    emulate_args<Rest...> rest;
    template <typename K, typename... V> void call(K kernel, const V &...values) const
    {
        rest.call(kernel, values..., first);
    }
};
} // namespace
static inline emulate_args<> emulate_pack()
{
    return {};
}
template <typename T, typename... Rest>
static inline emulate_args<T, Rest...> emulate_pack(T first, Rest... rest)
{
    return {first, emulate_pack(rest...)};
}

template <typename K, typename T>
static inline void emulate_launch(dim3 grid, dim3 block, size_t shared, void *stream, K kernel,
                                  T args)
{
    emulate_work work = {(const void *)kernel, grid, block, shared, [=] { args.call(kernel); }};
    if (emulate_may_launch(stream, work, &args, sizeof args))
        emulate_run(work);
}

/* ---- threads that wait for each other */

void __syncthreads();
int __syncthreads_or(int value);
void __syncwarp(unsigned mask = 0xffffffffu);
/* Gives a value to the warp and returns that of another lane, or one's own where it is none. */
uint64_t emulate_exchange(uint64_t value, int from_lane, unsigned mask);
unsigned __ballot_sync(unsigned mask, int value);
/* mma.sync of a warp: m16n8k32 of signed bytes, so many steps of it, and m16n8k8 of binary16. */
void emulate_multiply_s8(int d[4], const unsigned *a, const unsigned *b, const int c[4], int steps);
/* m16n8k16 of unsigned bytes. */
void emulate_multiply_u8(int d[4], const unsigned *a, const unsigned *b, const int c[4],
                         int halves);
void emulate_multiply_f16(float d[4], const unsigned a[2], unsigned b);

static inline int emulate_lane()
{
    return (int)((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32);
}

template <typename T> static inline T emulate_exchange_as(T value, int from, unsigned mask)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = emulate_exchange(bits, from, mask);
    memcpy(&value, &bits, sizeof value);
    return value;
}

template <typename T> static inline T __shfl_sync(unsigned mask, T value, int lane, int width = 32)
{
    int base = emulate_lane() / width * width;
    return emulate_exchange_as(value, base + (lane & (width - 1)), mask);
}
template <typename T>
static inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    int lane = emulate_lane(), from = lane - (int)delta;
    return emulate_exchange_as(value, from < lane / width * width ? lane : from, mask);
}
template <typename T>
static inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    int lane = emulate_lane(), from = lane + (int)delta;
    return emulate_exchange_as(value, from >= (lane / width + 1) * width ? lane : from, mask);
}
template <typename T>
static inline T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32)
{
    int lane = emulate_lane(), from = lane ^ bits;
    return emulate_exchange_as(value, from >= (lane / width + 1) * width ? lane : from, mask);
}
static inline int __any_sync(unsigned mask, int value)
{
    return __ballot_sync(mask, value) != 0;
}
static inline int __all_sync(unsigned mask, int value)
{
    return __ballot_sync(mask, value) == mask;
}

/* ---- vectors */

#define EMULATE_VECTORS(T, name, bytes)                                                            \
    struct __attribute__((aligned(2 * bytes))) name##2                                             \
    {                                                                                              \
        T x, y;                                                                                    \
    };                                                                                             \
    struct name##3                                                                                 \
    {                                                                                              \
        T x, y, z;                                                                                 \
    };                                                                                             \
    struct __attribute__((aligned(4 * bytes > 16 ? 16 : 4 * bytes))) name##4                       \
    {                                                                                              \
        T x, y, z, w;                                                                              \
    };                                                                                             \
    static inline name##2 make_##name##2(T x, T y)                                                 \
    {                                                                                              \
        return name##2 {x, y};                                                                     \
    }                                                                                              \
    static inline name##4 make_##name##4(T x, T y, T z, T w)                                       \
    {                                                                                              \
        return name##4 {x, y, z, w};                                                               \
    }
EMULATE_VECTORS(unsigned char, uchar, 1)
EMULATE_VECTORS(signed char, char, 1)
EMULATE_VECTORS(unsigned short, ushort, 2)
EMULATE_VECTORS(short, short, 2)
EMULATE_VECTORS(int, int, 4)
EMULATE_VECTORS(float, float, 4)
struct __attribute__((aligned(8))) uint2 {
    unsigned x, y;
};
struct __attribute__((aligned(16))) uint4 {
    unsigned x, y, z, w;
};
static inline uint2 make_uint2(unsigned x, unsigned y)
{
    return uint2{x, y};
}
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return uint4{x, y, z, w};
}

/* ---- instructions */

template <typename T> static inline T __ldg(const T *p)
{
    return *p;
}
template <typename T> static inline T min(T a, T b)
{
    return b < a ? b : a;
}
template <typename T> static inline T max(T a, T b)
{
    return a < b ? b : a;
}

static inline float __fadd_rn(float a, float b)
{
    return a + b;
}
static inline float __fsub_rn(float a, float b)
{
    return a - b;
}
static inline float __fmul_rn(float a, float b)
{
    return a * b;
}
static inline float __fdiv_rn(float a, float b)
{
    return a / b;
}
static inline float __fsqrt_rn(float a)
{
    return sqrtf(a);
}
static inline int __float2int_rn(float a)
{
    return a != a               ? 0
           : a >= 2147483648.f  ? INT32_MAX
           : a <= -2147483648.f ? INT32_MIN
                                : (int)nearbyintf(a);
}
static inline int __float2int_rz(float a)
{
    return a != a ? 0 : a >= 2147483648.f ? INT32_MAX : a <= -2147483648.f ? INT32_MIN : (int)a;
}
static inline int __float2int_rd(float a)
{
    return __float2int_rz(floorf(a));
}
static inline long long __double2ll_rn(double a)
{
    return a != a                       ? INT64_MIN
           : a >= 9223372036854775808.  ? INT64_MAX
           : a <= -9223372036854775808. ? INT64_MIN
                                        : (long long)nearbyint(a);
}
static inline int __float_as_int(float a)
{
    int b;
    memcpy(&b, &a, sizeof b);
    return b;
}
static inline unsigned __float_as_uint(float a)
{
    return (unsigned)__float_as_int(a);
}
static inline float __int_as_float(int a)
{
    float b;
    memcpy(&b, &a, sizeof b);
    return b;
}
static inline float __uint_as_float(unsigned a)
{
    return __int_as_float((int)a);
}
static inline float __saturatef(float a)
{
    return a > 0 ? a < 1 ? a : 1.f : 0.f;
}
static inline int __popc(unsigned a)
{
    return __builtin_popcount(a);
}
static inline int __ffs(int a)
{
    return __builtin_ffs(a);
}
static inline unsigned __brev(unsigned a)
{
    unsigned r = 0;
    for (int i = 0; i < 32; i++)
        r |= (a >> i & 1) << (31 - i);
    return r;
}
static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((uint64_t)a * b >> 32);
}
static inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n)
{
    return (unsigned)(((uint64_t)hi << 32 | lo) >> (n & 31));
}
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned s)
{
    uint64_t both = (uint64_t)b << 32 | a;
    unsigned r = 0;
    for (int i = 0; i < 4; i++) {
        unsigned n = s >> 4 * i;
        unsigned byte = (unsigned)(both >> 8 * (n & 7)) & 255;
        if (n & 8)
            byte = byte & 128 ? 255 : 0;
        r |= byte << 8 * i;
    }
    return r;
}

/* Lanes of 16 and 8 bits. */
template <typename F> static inline unsigned emulate_16(unsigned a, unsigned b, F f)
{
    return (unsigned)(uint16_t)f(a & 65535, b & 65535) | (unsigned)(uint16_t)f(a >> 16, b >> 16)
                                                             << 16;
}
template <typename F> static inline unsigned emulate_8(unsigned a, unsigned b, F f)
{
    unsigned r = 0;
    for (int i = 0; i < 32; i += 8)
        r |= (unsigned)(uint8_t)f(a >> i & 255, b >> i & 255) << i;
    return r;
}
#define EMULATE_LANES(name, width, expression)                                                     \
    static inline unsigned name(unsigned a, unsigned b)                                            \
    {                                                                                              \
        return emulate_##width(a, b, [](unsigned x, unsigned y) { return expression; });           \
    }
EMULATE_LANES(__vminu2, 16, x < y ? x : y)
EMULATE_LANES(__vmaxu2, 16, x > y ? x : y)
EMULATE_LANES(__vabsdiffu4, 8, x > y ? x - y : y - x)
EMULATE_LANES(__vadd2, 16, x + y)
static inline unsigned __viaddmin_u16x2(unsigned a, unsigned b, unsigned c)
{
    return __vminu2(__vadd2(a, b), c);
}
static inline unsigned __vimin3_u16x2(unsigned a, unsigned b, unsigned c)
{
    return __vminu2(__vminu2(a, b), c);
}
static inline unsigned __vimax3_u16x2(unsigned a, unsigned b, unsigned c)
{
    return __vmaxu2(__vmaxu2(a, b), c);
}
static inline unsigned __dp4a(unsigned a, unsigned b, unsigned c)
{
    for (int i = 0; i < 32; i += 8)
        c += (a >> i & 255) * (b >> i & 255);
    return c;
}
static inline int __dp4a(int a, int b, int c)
{
    for (int i = 0; i < 32; i += 8)
        c += (int8_t)(a >> i) * (int8_t)(b >> i);
    return c;
}
static inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c)
{
    return c + (a & 65535) * (b & 255) + (a >> 16) * (b >> 8 & 255);
}
static inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c)
{
    return __dp2a_lo(a, b >> 16, c);
}
static inline int __dp2a_lo(int a, int b, int c)
{
    return c + (int16_t)a * (int8_t)b + (int16_t)(a >> 16) * (int8_t)(b >> 8);
}
static inline int __dp2a_hi(int a, int b, int c)
{
    return __dp2a_lo(a, b >> 16, c);
}

/* Nothing runs at the same time. */
template <typename T, typename U> static inline T atomicAdd(T *p, U v)
{
    T old = *p;
    *p = (T)(old + (T)v);
    return old;
}
template <typename T, typename U, typename V> static inline T atomicCAS(T *p, U expected, V v)
{
    T old = *p;
    if (old == (T)expected)
        *p = (T)v;
    return old;
}
/* ---- binary16, as bits */

struct __half {
    unsigned short bits;
};
float __half2float(__half h);
__half __float2half_rn(float f);
unsigned emulate_fma_f16x2(unsigned a, unsigned b, unsigned c);

/* ---- the runtime, and what it knows of the driver */

#define CUDART_VERSION 13000

typedef enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidPitchValue = 12,
    cudaErrorInsufficientDriver = 35,
    cudaErrorDevicesUnavailable = 46,
    cudaErrorNoDevice = 100,
    cudaErrorNoKernelImageForDevice = 209,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorSymbolNotFound = 500,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchFailure = 719,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorStreamCaptureInvalidated = 901
} cudaError_t;
typedef int CUresult; /* numbered as cudaError_t */
typedef struct emulate_context *CUcontext;
typedef struct emulate_stream *cudaStream_t;
typedef struct emulate_event *cudaEvent_t;
typedef struct emulate_pool *cudaMemPool_t;
typedef struct emulate_graph *cudaGraph_t;
typedef struct emulate_exec *cudaGraphExec_t;
typedef struct emulate_node *cudaGraphNode_t;
struct cudaDeviceProp {
    char name[256];
    int major, minor, multiProcessorCount;
    size_t totalGlobalMem;
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice };
struct cudaPointerAttributes {
    cudaMemoryType type;
};
enum { cudaMemAllocationTypePinned = 1, cudaMemLocationTypeDevice = 1 };
struct cudaMemPoolProps {
    int allocType;
    struct {
        int type, id;
    } location;
};
enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold };
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2, cudaHostAllocPortable = 1 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal = 1 };
enum cudaDeviceAttr {
    cudaDevAttrMaxPitch,
    cudaDevAttrMaxSharedMemoryPerBlockOptin,
    cudaDevAttrMultiProcessorCount
};
enum { cudaEnableDefault };
enum cudaDriverEntryPointQueryResult {
    cudaDriverEntryPointSuccess,
    cudaDriverEntryPointSymbolNotFound
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };

CUresult cuCtxGetCurrent(CUcontext *context);
CUresult cuCtxSetCurrent(CUcontext context);
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult *found);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *prop, int device);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaMemGetInfo(size_t *free, size_t *total);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaMalloc(void **p, size_t size);
cudaError_t cudaFree(void *p);
cudaError_t cudaHostAlloc(void **p, size_t size, unsigned flags);
cudaError_t cudaFreeHost(void *p);
cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *props);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attr, void *value);
cudaError_t cudaMallocFromPoolAsync(void **p, size_t size, cudaMemPool_t pool, cudaStream_t stream);
cudaError_t cudaFreeAsync(void *p, cudaStream_t stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                 unsigned long long flags);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream);
cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *p, int value, size_t size, cudaStream_t stream);
cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *p);
cudaError_t emulate_allow_shared(const void *kernel, int bytes);
template <typename F>
static inline cudaError_t cudaFuncSetAttribute(F *kernel, cudaFuncAttribute, int bytes)
{
    return emulate_allow_shared((const void *)kernel, bytes);
}

#endif
