/* SPDX-License-Identifier: Apache-2.0 */
/* The module's entry: devices, streams, memory and copies. */
#include <mutex>
#include <new>
#include <vector>

#include "backend.cuh"

/* A stream and pinned memory through which rows of ordinary host memory pass, in two halves. */
enum { STAGING = 4 << 20 };
struct lane {
    cudaStream_t stream;
    cudaEvent_t copied[2];
    char *staging[2];
    int used[2]; /* an event that is still to come guards it */
    int half;
};

struct tamis_gpu {
    int index;
    CUcontext context;
    int most_pitch; /* bytes from row to row of a copy */
    cudaMemPool_t pool;
    std::mutex mutex; /* guards the lists */
    std::vector<lane *> all;
    std::vector<lane *> idle;
};

/* ---- errors */

static const char *explain(cudaError_t error, char *text, size_t size)
{
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (error == cudaErrorInsufficientDriver && driver == 0)
        snprintf(text, size, "no NVIDIA driver is installed");
    else if (error == cudaErrorInsufficientDriver)
        snprintf(text, size, "the NVIDIA driver is for CUDA %d.%d, this module needs %d.%d",
                 driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    else if (error == cudaErrorNoDevice)
        snprintf(text, size, "there is no NVIDIA GPU, or none is visible to this process");
    else if (error == cudaErrorNoKernelImageForDevice)
        snprintf(text, size, "this module was built for other GPUs (see TAMIS_CUDA_ARCHS)");
    else
        snprintf(text, size, "%s", cudaGetErrorString(error));
    return text;
}

tamis_status tamis_cuda_check(cudaError_t error, const char *what, tamis_gpu_fault *fault)
{
    char text[200];
    if (error == cudaSuccess)
        return TAMIS_OK;
    cudaGetLastError(); /* so that it is not found again by the next call */
    snprintf(fault->text, sizeof fault->text, "%s: %s", what, explain(error, text, sizeof text));
    return error == cudaErrorMemoryAllocation ? TAMIS_ERR_MEMORY : TAMIS_ERR_DEVICE;
}

tamis_status tamis_cuda_shared_limit(size_t *bytes, tamis_gpu_fault *fault)
{
    int device = 0, most = 0;
    TAMIS_TRY(tamis_cuda_check(cudaGetDevice(&device), "device", fault));
    TAMIS_TRY(tamis_cuda_check(
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
        "shared memory of a device", fault));
    *bytes = (size_t)most;
    return TAMIS_OK;
}

tamis_status tamis_cuda_processors(int *count, tamis_gpu_fault *fault)
{
    int device = 0;
    TAMIS_TRY(tamis_cuda_check(cudaGetDevice(&device), "device", fault));
    return tamis_cuda_check(cudaDeviceGetAttribute(count, cudaDevAttrMultiProcessorCount, device),
                            "multiprocessors of a device", fault);
}

#define CHECK(call, what)                                                                          \
    do {                                                                                           \
        tamis_status status_ = tamis_cuda_check(call, what, fault);                                \
        if (status_ != TAMIS_OK)                                                                   \
            return status_;                                                                        \
    } while (0)

/* ---- the calling thread's context */

/* By the driver's own functions: a program may have made contexts that the runtime does not know,
 * or have none current. */
struct driver {
    decltype(&cuCtxGetCurrent) get;
    decltype(&cuCtxSetCurrent) set;
    cudaError_t error; /* of looking for them */
};

template <typename F> static cudaError_t find_in_driver(const char *name, F *out)
{
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    void *symbol = nullptr;
#if CUDART_VERSION < 12050
    cudaError_t error = cudaGetDriverEntryPoint(name, &symbol, cudaEnableDefault, &found);
#else
    cudaError_t error =
        cudaGetDriverEntryPointByVersion(name, &symbol, 12000, cudaEnableDefault, &found);
#endif
    *out = reinterpret_cast<F>(symbol);
    return error == cudaSuccess && found != cudaDriverEntryPointSuccess ? cudaErrorSymbolNotFound
                                                                        : error;
}

static driver find_driver()
{
    driver d = {};
    d.error = find_in_driver("cuCtxGetCurrent", &d.get);
    if (d.error == cudaSuccess)
        d.error = find_in_driver("cuCtxSetCurrent", &d.set);
    return d;
}

static const driver &the_driver()
{
    static const driver found = find_driver();
    return found;
}

static cudaError_t get_current(CUcontext *out)
{
    const driver &d = the_driver();
    *out = nullptr;
    return d.error == cudaSuccess ? (cudaError_t)d.get(out) : d.error; /* errors have one number */
}

static void put_back(CUcontext before)
{
    CUcontext now;
    if (get_current(&now) == cudaSuccess && now != before)
        the_driver().set(before);
}

/* A device whose context is known may be current already. */
static cudaError_t make_current(int index, CUcontext context, CUcontext *before)
{
    cudaError_t error = get_current(before);
    if (error != cudaSuccess || (context && *before == context))
        return error;
    error = cudaSetDevice(index);
    if (error != cudaSuccess)
        put_back(*before);
    return error;
}

/* A device is the calling thread's until the end of the block, unless there was an error; then what
 * was current is so again, whatever the block did. */
class visit
{
    CUcontext before;

  public:
    const cudaError_t error;

    explicit visit(int index, CUcontext context = nullptr)
        : error(make_current(index, context, &before))
    {
    }
    explicit visit(const tamis_gpu *gpu) : visit(gpu->index, gpu->context)
    {
    }
    visit(const visit &) = delete;
    ~visit()
    {
        put_back(before);
    }
};

static tamis_status backend_enter(tamis_gpu *gpu, void **before, tamis_gpu_fault *fault)
{
    CUcontext found;
    CHECK(make_current(gpu->index, gpu->context, &found), "device");
    if (before)
        *before = found;
    return TAMIS_OK;
}

static void backend_leave(tamis_gpu *gpu, void *before)
{
    (void)gpu;
    put_back((CUcontext)before);
}

/* ---- devices */

static int backend_count(tamis_gpu_fault *why)
{
    char text[200];
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0)
        return count;
    cudaGetLastError();
    if (error == cudaSuccess)
        error = cudaErrorNoDevice;
    snprintf(why->text, sizeof why->text, "%s", explain(error, text, sizeof text));
    return 0;
}

static tamis_status backend_describe(int index, tamis_device_info *out, tamis_gpu_fault *fault)
{
    cudaDeviceProp prop;
    size_t total = 0;
    visit here(index);
    CHECK(here.error, "device");
    CHECK(cudaGetDeviceProperties(&prop, index), "device");
    CHECK(cudaMemGetInfo(&out->free, &total), "device");
    snprintf(out->name, sizeof out->name, "%.127s", prop.name);
    out->major = prop.major;
    out->minor = prop.minor;
    out->processors = prop.multiProcessorCount;
    out->memory = prop.totalGlobalMem;
    cudaDriverGetVersion(&out->driver);
    cudaRuntimeGetVersion(&out->runtime);
    return TAMIS_OK;
}

/* Memory that was freed stays with the pool: the next run finds it without asking the driver. */
static tamis_status make_pool(tamis_gpu *gpu, tamis_gpu_fault *fault)
{
    cudaMemPoolProps props;
    uint64_t keep = UINT64_MAX;
    memset(&props, 0, sizeof props);
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = gpu->index;
    CHECK(cudaDeviceGetAttribute(&gpu->most_pitch, cudaDevAttrMaxPitch, gpu->index), "device");
    CHECK(cudaMemPoolCreate(&gpu->pool, &props), "memory pool");
    CHECK(cudaMemPoolSetAttribute(gpu->pool, cudaMemPoolAttrReleaseThreshold, &keep),
          "memory pool");
    return TAMIS_OK;
}

/* What is given back may tell of work that failed before, which those hear who wait for it. The
 * next launch shall not be blamed. */
static void forget(cudaError_t error)
{
    if (error != cudaSuccess)
        cudaGetLastError();
}

static void close_lane(lane *l)
{
    for (int i = 0; i < 2; i++) {
        if (l->copied[i])
            forget(cudaEventDestroy(l->copied[i]));
        if (l->staging[i])
            forget(cudaFreeHost(l->staging[i]));
    }
    if (l->stream)
        forget(cudaStreamDestroy(l->stream));
    delete l;
}

static void backend_close(tamis_gpu *gpu)
{
    visit here(gpu);
    forget(here.error);
    for (lane *l : gpu->all)
        close_lane(l);
    if (gpu->pool)
        forget(cudaMemPoolDestroy(gpu->pool));
    delete gpu;
}

static tamis_status backend_open(int index, tamis_gpu **out, tamis_gpu_fault *fault)
{
    tamis_gpu *gpu = new (std::nothrow) tamis_gpu();
    if (!gpu) {
        snprintf(fault->text, sizeof fault->text, "no memory");
        return TAMIS_ERR_MEMORY;
    }
    gpu->index = index;
    visit here(index);
    tamis_status status = tamis_cuda_check(here.error, "device", fault);
    if (status == TAMIS_OK)
        status = tamis_cuda_check(get_current(&gpu->context), "device", fault);
    if (status == TAMIS_OK)
        status = make_pool(gpu, fault);
    if (status == TAMIS_OK)
        *out = gpu;
    else
        backend_close(gpu);
    return status;
}

/* ---- streams */

/* With room for it among the idle ones, so that it can be put back. */
static bool list_lane(tamis_gpu *gpu, lane *l)
{
    std::lock_guard<std::mutex> lock(gpu->mutex);
    try {
        gpu->idle.reserve(gpu->all.size() + 1);
        gpu->all.push_back(l);
        return true;
    } catch (const std::bad_alloc &) {
        return false;
    }
}

static tamis_status make_lane(tamis_gpu *gpu, lane **out, tamis_gpu_fault *fault)
{
    lane *l = new (std::nothrow) lane();
    if (!l) {
        snprintf(fault->text, sizeof fault->text, "no memory");
        return TAMIS_ERR_MEMORY;
    }
    cudaError_t error = cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking);
    for (int i = 0; i < 2 && error == cudaSuccess; i++)
        error = cudaEventCreateWithFlags(&l->copied[i], cudaEventDisableTiming);
    if (error != cudaSuccess) {
        close_lane(l);
        return tamis_cuda_check(error, "stream", fault);
    }
    if (!list_lane(gpu, l)) {
        close_lane(l);
        snprintf(fault->text, sizeof fault->text, "no memory");
        return TAMIS_ERR_MEMORY;
    }
    *out = l;
    return TAMIS_OK;
}

static tamis_status backend_stream_get(tamis_gpu *gpu, void **out, tamis_gpu_fault *fault)
{
    lane *l = nullptr;
    {
        std::lock_guard<std::mutex> lock(gpu->mutex);
        if (!gpu->idle.empty()) {
            l = gpu->idle.back();
            gpu->idle.pop_back();
        }
    }
    tamis_status status = l ? TAMIS_OK : make_lane(gpu, &l, fault);
    if (status == TAMIS_OK)
        *out = l->stream;
    return status;
}

static lane *lane_of(tamis_gpu *gpu, void *stream)
{
    std::lock_guard<std::mutex> lock(gpu->mutex);
    for (lane *l : gpu->all)
        if (l->stream == (cudaStream_t)stream)
            return l;
    return nullptr;
}

static void backend_stream_put(tamis_gpu *gpu, void *stream)
{
    lane *l = lane_of(gpu, stream);
    std::lock_guard<std::mutex> lock(gpu->mutex);
    gpu->idle.push_back(l);
}

static tamis_status backend_wait(tamis_gpu *gpu, void *stream, tamis_gpu_fault *fault)
{
    (void)gpu;
    return tamis_cuda_check(cudaStreamSynchronize((cudaStream_t)stream), "waiting", fault);
}

/* ---- memory */

static cudaError_t try_alloc(tamis_gpu *gpu, void *stream, size_t size, void **out)
{
    if (stream)
        return cudaMallocFromPoolAsync(out, size, gpu->pool, (cudaStream_t)stream);
    return cudaMalloc(out, size);
}

/* Where memory is short, what the pool keeps and nobody uses is given back first: it may be in
 * pieces of other sizes, and memory without a stream does not come from there. */
static tamis_status backend_alloc(tamis_gpu *gpu, void *stream, size_t size, void **out,
                                  tamis_gpu_fault *fault)
{
    visit here(gpu);
    CHECK(here.error, "device");
    cudaError_t error = try_alloc(gpu, stream, size, out);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        cudaMemPoolTrimTo(gpu->pool, 0);
        error = try_alloc(gpu, stream, size, out);
    }
    if (error == cudaSuccess)
        return TAMIS_OK;
    char what[64];
    snprintf(what, sizeof what, "%zu bytes of device memory", size);
    return tamis_cuda_check(error, what, fault);
}

static void backend_free(tamis_gpu *gpu, void *stream, void *data)
{
    if (stream) {
        forget(cudaFreeAsync(data, (cudaStream_t)stream));
        return;
    }
    visit here(gpu);
    forget(here.error);
    forget(cudaFree(data));
}

static tamis_status backend_host_alloc(tamis_gpu *gpu, size_t size, void **out,
                                       tamis_gpu_fault *fault)
{
    visit here(gpu);
    CHECK(here.error, "device");
    return tamis_cuda_check(cudaHostAlloc(out, size, cudaHostAllocPortable), "pinned memory",
                            fault);
}

static void backend_host_free(tamis_gpu *gpu, void *data)
{
    visit here(gpu);
    forget(here.error);
    forget(cudaFreeHost(data));
}

/* ---- copies */

/* Whether the device can reach the rows without a detour. */
static bool is_pinned(const tamis_gpu_copy *c)
{
    cudaPointerAttributes attributes;
    if (!c->host || (c->host_stride < (int64_t)c->bytes && c->count > 1))
        return false;
    if (cudaPointerGetAttributes(&attributes, c->host) != cudaSuccess) {
        cudaGetLastError();
        return false;
    }
    return attributes.type == cudaMemoryTypeHost;
}

static cudaError_t copy_rows(const tamis_gpu *gpu, char *dst, int64_t dst_stride, const char *src,
                             int64_t src_stride, size_t bytes, int32_t count, cudaMemcpyKind kind,
                             cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    if (count > 1 && dst_stride == (int64_t)bytes && src_stride == (int64_t)bytes) {
        bytes *= (size_t)count;
        count = 1;
    }
    if (count > 1 && max(dst_stride, src_stride) <= gpu->most_pitch)
        return cudaMemcpy2DAsync(dst, (size_t)dst_stride, src, (size_t)src_stride, bytes,
                                 (size_t)count, kind, stream);
    for (int32_t y = 0; y < count && error == cudaSuccess; y++)
        error = cudaMemcpyAsync(dst + y * dst_stride, src + y * src_stride, bytes, kind, stream);
    return error;
}

static void move_rows(const tamis_gpu_copy *c, const tamis_gpu_rows &rows)
{
    if (c->move) {
        c->move(c->user, &rows);
        return;
    }
    for (int32_t y = 0; y < rows.count; y++)
        memcpy(rows.to + y * rows.to_stride, rows.from + y * rows.from_stride, rows.bytes);
}

/* The next half of the staging memory, when the device has done with it. */
static tamis_status next_half(lane *l, tamis_gpu_fault *fault)
{
    l->half ^= 1;
    if (!l->staging[l->half])
        CHECK(cudaHostAlloc((void **)&l->staging[l->half], STAGING, cudaHostAllocPortable),
              "pinned memory");
    if (l->used[l->half])
        CHECK(cudaEventSynchronize(l->copied[l->half]), "copying");
    l->used[l->half] = 0;
    return TAMIS_OK;
}

/* One piece of a copy that fits a half: some rows, or a part of one that is longer. */
struct piece {
    char *device, *host;
    size_t bytes;
    int32_t count;
};

static bool next_piece(const tamis_gpu_copy *c, int32_t *row, size_t *at, piece *out)
{
    if (*row == c->count)
        return false;
    out->device = c->device + *row * c->device_stride + *at;
    out->host = c->host + *row * c->host_stride + *at;
    if (c->bytes > STAGING) {
        out->bytes = min(c->bytes - *at, (size_t)STAGING);
        out->count = 1;
        *at += out->bytes;
        if (*at == c->bytes) {
            *at = 0;
            ++*row;
        }
        return true;
    }
    int32_t rows = (int32_t)(STAGING / c->bytes);
    out->bytes = c->bytes;
    out->count = c->count - *row < rows ? c->count - *row : rows;
    *row += out->count;
    return true;
}

static tamis_status backend_upload(tamis_gpu *gpu, void *stream, const tamis_gpu_copy *c,
                                   tamis_gpu_fault *fault)
{
    lane *l = lane_of(gpu, stream);
    cudaStream_t s = (cudaStream_t)stream;
    int32_t row = 0;
    size_t at = 0;
    piece p;
    if (c->bytes == 0)
        return TAMIS_OK;
    if (is_pinned(c))
        return tamis_cuda_check(copy_rows(gpu, c->device, c->device_stride, c->host, c->host_stride,
                                          c->bytes, c->count, cudaMemcpyHostToDevice, s),
                                "upload", fault);
    while (next_piece(c, &row, &at, &p)) {
        tamis_status status = next_half(l, fault);
        if (status != TAMIS_OK)
            return status;
        char *staging = l->staging[l->half];
        move_rows(c, {staging, p.host, (int64_t)p.bytes, c->host_stride, p.bytes, p.count});
        CHECK(copy_rows(gpu, p.device, c->device_stride, staging, (int64_t)p.bytes, p.bytes,
                        p.count, cudaMemcpyHostToDevice, s),
              "upload");
        CHECK(cudaEventRecord(l->copied[l->half], s), "upload");
        l->used[l->half] = 1;
    }
    return TAMIS_OK;
}

static void take_piece(const tamis_gpu_copy *c, const piece *p, const char *staging)
{
    move_rows(c, {p->host, staging, c->host_stride, (int64_t)p->bytes, p->bytes, p->count});
}

/* While one half is on its way the other is copied out. */
static tamis_status backend_download(tamis_gpu *gpu, void *stream, const tamis_gpu_copy *c,
                                     tamis_gpu_fault *fault)
{
    lane *l = lane_of(gpu, stream);
    cudaStream_t s = (cudaStream_t)stream;
    int32_t row = 0;
    size_t at = 0;
    piece p, before = {};
    int half = -1;
    if (c->bytes == 0)
        return TAMIS_OK;
    if (is_pinned(c))
        return tamis_cuda_check(copy_rows(gpu, c->host, c->host_stride, c->device, c->device_stride,
                                          c->bytes, c->count, cudaMemcpyDeviceToHost, s),
                                "download", fault);
    while (next_piece(c, &row, &at, &p)) {
        tamis_status status = next_half(l, fault);
        if (status != TAMIS_OK)
            return status;
        CHECK(copy_rows(gpu, l->staging[l->half], (int64_t)p.bytes, p.device, c->device_stride,
                        p.bytes, p.count, cudaMemcpyDeviceToHost, s),
              "download");
        CHECK(cudaEventRecord(l->copied[l->half], s), "download");
        if (half >= 0) {
            CHECK(cudaEventSynchronize(l->copied[half]), "download");
            take_piece(c, &before, l->staging[half]);
        }
        before = p;
        half = l->half;
    }
    CHECK(cudaEventSynchronize(l->copied[half]), "download");
    take_piece(c, &before, l->staging[half]);
    return TAMIS_OK;
}

static tamis_status backend_clear(tamis_gpu *gpu, void *stream, char *device, int64_t stride,
                                  size_t bytes, int32_t count, tamis_gpu_fault *fault)
{
    cudaStream_t s = (cudaStream_t)stream;
    if (count > 1 && stride <= gpu->most_pitch)
        return tamis_cuda_check(
            cudaMemset2DAsync(device, (size_t)stride, 0, bytes, (size_t)count, s), "clearing",
            fault);
    for (int32_t y = 0; y < count; y++)
        CHECK(cudaMemsetAsync(device + y * stride, 0, bytes, s), "clearing");
    return TAMIS_OK;
}

/* ---- the entry */

static const tamis_backend backend = {
    TAMIS_GPU_ABI,
    "cuda",
    tamis_cuda_filters,
    backend_count,
    backend_describe,
    backend_open,
    backend_close,
    backend_stream_get,
    backend_stream_put,
    backend_wait,
    backend_alloc,
    backend_free,
    backend_host_alloc,
    backend_host_free,
    backend_upload,
    backend_download,
    backend_clear,
    tamis_cuda_convert,
    backend_enter,
    backend_leave,
    tamis_cuda_capture_begin,
    tamis_cuda_capture_end,
    tamis_cuda_graph_launch,
    tamis_cuda_graph_free,
};

extern "C" __attribute__((visibility("default"))) const tamis_backend *tamis_cuda_backend(void)
{
    return &backend;
}
