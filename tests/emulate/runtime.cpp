// SPDX-License-Identifier: Apache-2.0
// A runtime whose devices are this process's memory. It refuses what a real one would: launches on
// a stream of another device than the thread's, blocks with more shared memory than their kernel
// was allowed, copies to and from memory that is another device's or nobody's or with longer rows
// than there may be, more memory than there is. What comes from a device is only there when its
// stream or an event was waited for.
//
// Settings, from the environment, read anew at each call:
//   TAMIS_EMULATE_DEVICES=n  so many devices; 0: none
//   TAMIS_EMULATE_BYTES=n    so much memory on each
//   TAMIS_EMULATE_UNLIKE=i   device i has another compute capability than the others
//   TAMIS_EMULATE_PITCH=n    at most so many bytes from row to row of a copy
//   TAMIS_EMULATE_FAIL=i     launches on device i fail
//   TAMIS_EMULATE_IDLE=1     launches do nothing, and what they would write is left undefined
#include <stdio.h>

#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "emulate.h"

namespace
{

enum { MAX_DEVICES = 64, HOST = -1 };
// Of a block's shared memory: what is there for the asking, and without.
const size_t SHARED_LIMIT = 64 * 1024, SHARED_PRESET = 48 * 1024;

// Rows on their way to the host.
struct arrival {
    char *to;
    size_t pitch, width, height;
    std::vector<char> bytes;
};

struct allocation {
    size_t size;
    int device; // or HOST: pinned
};

std::mutex mutex; // guards all of it
std::map<const char *, allocation> allocations;
std::map<std::pair<const void *, int>, size_t> shared_allowed; // to a kernel's blocks on a device
std::set<cudaStream_t> streams;
size_t in_use[MAX_DEVICES];
int64_t uploaded; // bytes

thread_local int current;
thread_local cudaError_t last_error;

} // namespace

struct emulate_stream {
    int device;
    std::vector<arrival> arrivals;
};

struct emulate_event {
    cudaStream_t stream;
};

// The streams that are there without being made, one for each device.
static struct default_streams {
    emulate_stream of[MAX_DEVICES];
    default_streams()
    {
        for (int i = 0; i < MAX_DEVICES; i++)
            of[i].device = i;
    }
} defaults;

// What a handle stands for: 1 (legacy) and 2 (of the thread) are default streams.
static emulate_stream *behind(cudaStream_t stream)
{
    return (uintptr_t)stream <= 2 ? &defaults.of[current] : stream;
}

struct emulate_pool {
    int device;
};

static cudaError_t result(cudaError_t error)
{
    if (error)
        last_error = error;
    return error;
}

static size_t setting(const char *name, size_t preset)
{
    const char *text = getenv(name);
    return text ? strtoull(text, nullptr, 10) : preset;
}

static size_t memory_size()
{
    return setting("TAMIS_EMULATE_BYTES", (size_t)1 << 32);
}

static size_t pitch_limit()
{
    return setting("TAMIS_EMULATE_PITCH", INT32_MAX);
}

static int device_count()
{
    return (int)setting("TAMIS_EMULATE_DEVICES", 1);
}

bool emulate_may_launch(const void *kernel, dim3 grid, size_t shared, cudaStream_t stream)
{
    std::lock_guard<std::mutex> lock(mutex);
    auto allowed = shared_allowed.find({kernel, current});
    if (shared > (allowed == shared_allowed.end() ? SHARED_PRESET : allowed->second)) {
        result(cudaErrorInvalidValue);
        return false;
    }
    if (!grid.x) {
        result(cudaErrorInvalidConfiguration);
        return false;
    }
    if (streams.count(stream) && stream->device != current) {
        result(cudaErrorInvalidResourceHandle);
        return false;
    }
    if (setting("TAMIS_EMULATE_FAIL", MAX_DEVICES) == (size_t)current) {
        result(cudaErrorLaunchFailure);
        return false;
    }
    return !getenv("TAMIS_EMULATE_IDLE");
}

// ---- devices and errors

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = device_count();
    return result(*count ? cudaSuccess : cudaErrorNoDevice);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *prop, int device)
{
    memset(prop, 0, sizeof *prop);
    snprintf(prop->name, sizeof prop->name, "emulated device %d", device);
    prop->major = setting("TAMIS_EMULATE_UNLIKE", MAX_DEVICES) == (size_t)device ? 8 : 9;
    prop->multiProcessorCount = 2;
    prop->totalGlobalMem = memory_size();
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    if (device < 0 || device >= MAX_DEVICES)
        return result(cudaErrorInvalidValue);
    current = device;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = current;
    return cudaSuccess;
}

// As much shared memory as the smallest devices give, and few multiprocessors.
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
    *value = attribute == cudaDevAttrMultiProcessorCount ? 2
             : attribute == cudaDevAttrMaxPitch          ? (int)pitch_limit()
                                                         : (int)SHARED_LIMIT;
    return cudaSuccess;
}

// Never less than before, which a launch by another thread may be about to use.
cudaError_t emulate_allow_shared(const void *kernel, int bytes)
{
    std::lock_guard<std::mutex> lock(mutex);
    size_t &allowed = shared_allowed.insert({{kernel, current}, SHARED_PRESET}).first->second;
    if (bytes < 0 || (size_t)bytes > SHARED_LIMIT || (size_t)bytes < allowed)
        return result(cudaErrorInvalidValue);
    allowed = (size_t)bytes;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    std::lock_guard<std::mutex> lock(mutex);
    *total = memory_size();
    *free = *total > in_use[current] ? *total - in_use[current] : 0;
    return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorNoDevice:
        return "no CUDA-capable device is detected";
    case cudaErrorInvalidResourceHandle:
        return "invalid resource handle";
    case cudaErrorLaunchFailure:
        return "unspecified launch failure";
    default:
        return "emulated error";
    }
}

cudaError_t cudaGetLastError()
{
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

// ---- memory

// What is not written is nothing sensible.
static cudaError_t allocate(void **p, size_t size, int device)
{
    std::lock_guard<std::mutex> lock(mutex);
    size_t limit = memory_size();
    *p = nullptr;
    if (device != HOST && (size > limit || in_use[device] > limit - size))
        return result(cudaErrorMemoryAllocation);
    if (posix_memalign(p, 256, size ? size : 1))
        return result(cudaErrorMemoryAllocation);
    memset(*p, 0xa5, size);
    if (device != HOST)
        in_use[device] += size;
    allocations[(const char *)*p] = {size, device};
    return cudaSuccess;
}

static cudaError_t release(void *p, bool host)
{
    std::lock_guard<std::mutex> lock(mutex);
    if (!p)
        return cudaSuccess;
    auto found = allocations.find((const char *)p);
    if (found == allocations.end() || (found->second.device == HOST) != host)
        return result(cudaErrorInvalidValue);
    if (!host)
        in_use[found->second.device] -= found->second.size;
    allocations.erase(found);
    free(p);
    return cudaSuccess;
}

// The device that an address belongs to; HOST: pinned. MAX_DEVICES: nobody's.
static int owner(const void *p, size_t size)
{
    auto next = allocations.upper_bound((const char *)p);
    if (next == allocations.begin())
        return MAX_DEVICES;
    --next;
    size_t at = (size_t)((const char *)p - next->first);
    return at + size <= next->second.size ? next->second.device : (int)MAX_DEVICES;
}

cudaError_t cudaMalloc(void **p, size_t size)
{
    return allocate(p, size, current);
}

cudaError_t cudaFree(void *p)
{
    return release(p, false);
}

cudaError_t cudaHostAlloc(void **p, size_t size, unsigned)
{
    return allocate(p, size, HOST);
}

cudaError_t cudaFreeHost(void *p)
{
    return release(p, true);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *p)
{
    std::lock_guard<std::mutex> lock(mutex);
    int device = owner(p, 1);
    attributes->type = device == HOST          ? cudaMemoryTypeHost
                       : device == MAX_DEVICES ? cudaMemoryTypeUnregistered
                                               : cudaMemoryTypeDevice;
    return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *props)
{
    *pool = new emulate_pool{props->location.id};
    return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    delete pool;
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *)
{
    return cudaSuccess;
}

cudaError_t cudaMallocFromPoolAsync(void **p, size_t size, cudaMemPool_t pool, cudaStream_t stream)
{
    if (behind(stream)->device != pool->device)
        return result(cudaErrorInvalidValue);
    return allocate(p, size, pool->device);
}

cudaError_t cudaFreeAsync(void *p, cudaStream_t stream)
{
    {
        std::lock_guard<std::mutex> lock(mutex);
        if (owner(p, 1) != behind(stream)->device)
            return result(cudaErrorInvalidValue);
    }
    return release(p, false);
}

// ---- streams

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    std::lock_guard<std::mutex> lock(mutex);
    *stream = new emulate_stream{current, {}};
    streams.insert(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    std::lock_guard<std::mutex> lock(mutex);
    streams.erase(stream);
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
    emulate_stream *stream = behind(handle);
    std::lock_guard<std::mutex> lock(mutex); // several threads may wait for a default stream
    for (const arrival &a : stream->arrivals)
        for (size_t y = 0; y < a.height; y++)
            memcpy(a.to + y * a.pitch, a.bytes.data() + y * a.width, a.width);
    stream->arrivals.clear();
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    *event = new emulate_event{nullptr};
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    event->stream = stream;
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return event->stream ? cudaStreamSynchronize(event->stream) : cudaSuccess;
}

// ---- copies

static cudaError_t copy(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
                        size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    const void *there = kind == cudaMemcpyHostToDevice ? dst : src;
    size_t pitch = kind == cudaMemcpyHostToDevice ? dst_pitch : src_pitch;
    {
        std::lock_guard<std::mutex> lock(mutex);
        if (height && owner(there, pitch * (height - 1) + width) != behind(stream)->device)
            return result(cudaErrorInvalidValue);
        if (kind == cudaMemcpyHostToDevice)
            uploaded += (int64_t)(width * height);
    }
    arrival a = {(char *)dst, dst_pitch, width, height, {}};
    for (size_t y = 0; y < height; y++) {
        const char *row = (const char *)src + y * src_pitch;
        if (kind == cudaMemcpyDeviceToHost)
            a.bytes.insert(a.bytes.end(), row, row + width);
        else
            memcpy((char *)dst + y * dst_pitch, row, width);
    }
    if (kind == cudaMemcpyDeviceToHost)
        behind(stream)->arrivals.push_back(std::move(a));
    return cudaSuccess;
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    if (max(dst_pitch, src_pitch) > pitch_limit() || width > min(dst_pitch, src_pitch))
        return result(cudaErrorInvalidPitchValue);
    return copy(dst, dst_pitch, src, src_pitch, width, height, kind, stream);
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return copy(dst, size, src, size, size, 1, kind, stream);
}

cudaError_t cudaMemsetAsync(void *p, int value, size_t size, cudaStream_t)
{
    memset(p, value, size);
    return cudaSuccess;
}

cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t)
{
    if (pitch > pitch_limit() || width > pitch)
        return result(cudaErrorInvalidPitchValue);
    for (size_t y = 0; y < height; y++)
        memset((char *)p + y * pitch, value, width);
    return cudaSuccess;
}

// For tests: bytes that come to a device's memory by its default stream, when that is waited for.
extern "C" __attribute__((visibility("default"))) void
tamis_emulate_enqueue(int device, void *to, const void *bytes, size_t size)
{
    std::lock_guard<std::mutex> lock(mutex);
    const char *from = (const char *)bytes;
    defaults.of[device].arrivals.push_back(
        {(char *)to, size, size, 1, std::vector<char>(from, from + size)});
}

// For tests: what has gone to devices.
extern "C" __attribute__((visibility("default"))) int64_t tamis_emulate_uploaded(void)
{
    std::lock_guard<std::mutex> lock(mutex);
    return uploaded;
}
