// SPDX-License-Identifier: Apache-2.0
// A runtime whose devices are this process's memory. Calls that need a context make the one of the
// device of cudaSetDevice (0) current in a thread that has none. It refuses what a real one would:
// launches on a stream of another context than the thread's, blocks with more shared memory than
// their kernel was allowed, copies to and from memory that is another device's or nobody's or with
// longer rows than there may be, more memory than there is. What comes from a device is only there
// when its stream or an event was waited for. Of a stream that is captured launches and fills are
// kept with their arguments; allocating, copying and waiting spoil the capture, though CUDA would
// take some of it. A graph is refused where an address that was some memory's when it was captured
// is nobody's now, and where it runs already.
//
// Settings, from the environment, read anew at each call:
//   TAMIS_EMULATE_DEVICES=n  so many devices; 0: none
//   TAMIS_EMULATE_BYTES=n    so much memory on each
//   TAMIS_EMULATE_UNLIKE=i   device i has another compute capability than the others
//   TAMIS_EMULATE_PITCH=n    at most so many bytes from row to row of a copy
//   TAMIS_EMULATE_FAIL=i     launches on device i fail
//   TAMIS_EMULATE_LOST=i     device i cannot be made current
//   TAMIS_EMULATE_IDLE=1     launches do nothing, and what they would write is left undefined
//   TAMIS_EMULATE_GRAPHS=n   captures fail as they begin (0) or end (1)
#include <stdio.h>

#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "emulate.h"

struct emulate_pool;

struct emulate_context {
    int device;
};

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
    int device;         // or HOST: pinned
    emulate_pool *pool; // or null
};

std::mutex mutex; // guards all of it
std::map<const char *, allocation> allocations;
std::map<std::pair<const void *, int>, size_t> shared_allowed; // to a kernel's blocks on a device
std::set<cudaStream_t> streams;
std::set<cudaGraphExec_t> execs;
size_t in_use[MAX_DEVICES], idle[MAX_DEVICES]; // idle: in pools
int64_t uploaded;                              // bytes
int64_t replayed;                              // graphs

emulate_context primary[MAX_DEVICES]; // contexts of the runtime
emulate_context own[MAX_DEVICES];     // those that a program made with the driver

thread_local int chosen; // by cudaSetDevice
thread_local CUcontext current;
thread_local emulate_graph *capturing; // what the thread captures, or null
thread_local cudaError_t last_error;

} // namespace

// What was captured, and those of its arguments that were addresses in device memory.
struct emulate_node {
    std::function<void()> run;
    std::vector<const char *> addresses;
};

struct emulate_graph {
    int device;
    bool spoiled;
    std::vector<emulate_node> nodes;
};

struct emulate_exec {
    emulate_graph graph;
    bool running;
};

struct emulate_stream {
    int device;
    CUcontext context;
    std::vector<arrival> arrivals;
    emulate_graph *captured; // or null: it is not
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
            of[i].device = primary[i].device = own[i].device = i;
    }
} defaults;

// The device of the thread's context. A thread without one gets one.
static int here()
{
    if (!current)
        current = &primary[chosen];
    return current->device;
}

// What a handle stands for: 1 (legacy) and 2 (of the thread) are default streams.
static emulate_stream *behind(cudaStream_t stream)
{
    int device = here();
    return (uintptr_t)stream <= 2 ? &defaults.of[device] : stream;
}

// Memory that was freed to a pool stays there, block by block, until it is trimmed.
struct emulate_pool {
    int device;
    std::multiset<size_t> idle;
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

// What does not belong into a capture is refused, and spoils it.
static bool spoils_capture()
{
    if (!capturing)
        return false;
    capturing->spoiled = true;
    result(cudaErrorStreamCaptureUnsupported);
    return true;
}

static int owner(const void *p, size_t size);

// The mutex is held.
static void capture(emulate_graph *graph, const emulate_work &work, const void *args, size_t size)
{
    emulate_node node = {[=] { emulate_run(work); }, {}};
    for (size_t at = 0; at + sizeof(void *) <= size; at += sizeof(void *)) {
        const char *word;
        memcpy(&word, (const char *)args + at, sizeof word);
        if (owner(word, 1) == graph->device)
            node.addresses.push_back(word);
    }
    graph->nodes.push_back(std::move(node));
}

// The mutex is held.
static cudaError_t may_launch(cudaStream_t stream)
{
    int device = here();
    if (streams.count(stream) && stream->context != current)
        return cudaErrorInvalidResourceHandle;
    if (setting("TAMIS_EMULATE_FAIL", MAX_DEVICES) == (size_t)device)
        return cudaErrorLaunchFailure;
    return cudaSuccess;
}

static cudaError_t may_do(const emulate_work &work)
{
    auto allowed = shared_allowed.find({work.kernel, here()});
    if (work.shared > (allowed == shared_allowed.end() ? SHARED_PRESET : allowed->second))
        return cudaErrorInvalidValue;
    return work.grid.x ? cudaSuccess : cudaErrorInvalidConfiguration;
}

bool emulate_may_launch(void *handle, const emulate_work &work, const void *args, size_t size)
{
    std::lock_guard<std::mutex> lock(mutex);
    cudaStream_t stream = (cudaStream_t)handle;
    if (result(may_do(work)) || result(may_launch(stream)) || getenv("TAMIS_EMULATE_IDLE"))
        return false;
    emulate_graph *graph = behind(stream)->captured;
    if (graph)
        capture(graph, work, args, size);
    return !graph;
}

// ---- contexts, as the driver sees them

CUresult cuCtxGetCurrent(CUcontext *context)
{
    *context = current;
    return cudaSuccess;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    current = context;
    return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult *found)
{
    bool gets = strcmp(name, "cuCtxGetCurrent") == 0, sets = strcmp(name, "cuCtxSetCurrent") == 0;
    *function = gets ? (void *)cuCtxGetCurrent : sets ? (void *)cuCtxSetCurrent : nullptr;
    *found = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}

// For tests: what is current in the calling thread, and contexts to make so: the runtime's of a
// device, or a program's own there.
extern "C" __attribute__((visibility("default"))) void *tamis_emulate_current(void)
{
    return current;
}

extern "C" __attribute__((visibility("default"))) void tamis_emulate_make_current(void *context)
{
    current = (CUcontext)context;
}

extern "C" __attribute__((visibility("default"))) void *tamis_emulate_context(int device,
                                                                              int is_own)
{
    return is_own ? &own[device] : &primary[device];
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
    if (setting("TAMIS_EMULATE_LOST", MAX_DEVICES) == (size_t)device)
        return result(cudaErrorDevicesUnavailable);
    chosen = device;
    current = &primary[device];
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = current ? current->device : chosen;
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
    size_t &allowed = shared_allowed.insert({{kernel, here()}, SHARED_PRESET}).first->second;
    if (bytes < 0 || (size_t)bytes > SHARED_LIMIT || (size_t)bytes < allowed)
        return result(cudaErrorInvalidValue);
    allowed = (size_t)bytes;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    std::lock_guard<std::mutex> lock(mutex);
    *total = memory_size();
    size_t taken = in_use[here()] + idle[here()];
    *free = *total > taken ? *total - taken : 0;
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
static cudaError_t allocate(void **p, size_t size, int device, emulate_pool *pool = nullptr)
{
    *p = nullptr;
    here();
    if (spoils_capture())
        return cudaErrorStreamCaptureUnsupported;
    std::lock_guard<std::mutex> lock(mutex);
    size_t limit = memory_size();
    if (pool) { // a block that serves is used again
        auto block = pool->idle.lower_bound(size);
        if (block != pool->idle.end()) {
            idle[device] -= *block;
            pool->idle.erase(block);
        }
    }
    if (device != HOST && (size > limit || in_use[device] + idle[device] > limit - size))
        return result(cudaErrorMemoryAllocation);
    if (posix_memalign(p, 256, size ? size : 1))
        return result(cudaErrorMemoryAllocation);
    memset(*p, 0xa5, size);
    if (device != HOST)
        in_use[device] += size;
    allocations[(const char *)*p] = {size, device, pool};
    return cudaSuccess;
}

static cudaError_t release(void *p, bool host)
{
    here();
    if (spoils_capture())
        return cudaErrorStreamCaptureUnsupported;
    std::lock_guard<std::mutex> lock(mutex);
    if (!p)
        return cudaSuccess;
    auto found = allocations.find((const char *)p);
    if (found == allocations.end() || (found->second.device == HOST) != host)
        return result(cudaErrorInvalidValue);
    if (!host)
        in_use[found->second.device] -= found->second.size;
    if (found->second.pool) {
        found->second.pool->idle.insert(found->second.size);
        idle[found->second.device] += found->second.size;
    }
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
    return allocate(p, size, here());
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
    *pool = new emulate_pool{props->location.id, {}};
    return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t)
{
    std::lock_guard<std::mutex> lock(mutex);
    for (size_t size : pool->idle)
        idle[pool->device] -= size;
    pool->idle.clear();
    return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    cudaMemPoolTrimTo(pool, 0);
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
    return allocate(p, size, pool->device, pool);
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
    int device = here();
    *stream = new emulate_stream{device, current, {}, nullptr};
    streams.insert(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    here();
    std::lock_guard<std::mutex> lock(mutex);
    streams.erase(stream);
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
    emulate_stream *stream = behind(handle);
    if (spoils_capture())
        return cudaErrorStreamCaptureUnsupported;
    std::lock_guard<std::mutex> lock(mutex); // several threads may wait for a default stream
    for (const arrival &a : stream->arrivals)
        for (size_t y = 0; y < a.height; y++)
            memcpy(a.to + y * a.pitch, a.bytes.data() + y * a.width, a.width);
    stream->arrivals.clear();
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    here();
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
    if (spoils_capture())
        return cudaErrorStreamCaptureUnsupported;
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
    if (spoils_capture())
        return cudaErrorStreamCaptureUnsupported;
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

// The stream does it now or, if it is captured, each time the graph is launched.
static cudaError_t fill(void *p, size_t pitch, int value, size_t width, size_t height,
                        cudaStream_t stream)
{
    auto rows = [=] {
        for (size_t y = 0; y < height; y++)
            memset((char *)p + y * pitch, value, width);
    };
    emulate_graph *graph = behind(stream)->captured;
    if (graph)
        graph->nodes.push_back({rows, {(const char *)p}});
    else
        rows();
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *p, int value, size_t size, cudaStream_t stream)
{
    return fill(p, size, value, size, 1, stream);
}

cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    if (pitch > pitch_limit() || width > pitch)
        return result(cudaErrorInvalidPitchValue);
    return fill(p, pitch, value, width, height, stream);
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

// ---- graphs

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode)
{
    emulate_stream *stream = behind(handle);
    if (stream->captured || capturing || setting("TAMIS_EMULATE_GRAPHS", 2) == 0)
        return result(cudaErrorStreamCaptureUnsupported);
    stream->captured = capturing = new emulate_graph{stream->device, false, {}};
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *graph)
{
    emulate_stream *stream = behind(handle);
    *graph = nullptr;
    if (!stream->captured || stream->captured != capturing)
        return result(cudaErrorInvalidValue);
    stream->captured = nullptr;
    if (!capturing->spoiled && setting("TAMIS_EMULATE_GRAPHS", 2) != 1)
        *graph = capturing;
    else
        delete capturing;
    capturing = nullptr;
    return result(*graph ? cudaSuccess : cudaErrorStreamCaptureInvalidated);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *, size_t *count)
{
    *count = graph->nodes.size();
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    std::lock_guard<std::mutex> lock(mutex);
    *exec = new emulate_exec{*graph, false};
    execs.insert(*exec);
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return cudaSuccess;
}

// The mutex is held.
static cudaError_t may_replay(cudaGraphExec_t exec, cudaStream_t stream)
{
    if (!execs.count(exec) || exec->running || behind(stream)->device != exec->graph.device ||
        behind(stream)->captured)
        return cudaErrorInvalidValue;
    for (const emulate_node &node : exec->graph.nodes)
        for (const char *address : node.addresses)
            if (owner(address, 1) != exec->graph.device)
                return cudaErrorIllegalAddress;
    return may_launch(stream);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    {
        std::lock_guard<std::mutex> lock(mutex);
        cudaError_t error = result(may_replay(exec, stream));
        if (error)
            return error;
        exec->running = true;
        replayed++;
    }
    for (const emulate_node &node : exec->graph.nodes)
        if (!getenv("TAMIS_EMULATE_IDLE"))
            node.run();
    std::lock_guard<std::mutex> lock(mutex);
    exec->running = false;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    std::lock_guard<std::mutex> lock(mutex);
    if (!execs.erase(exec) || exec->running)
        return result(cudaErrorInvalidValue);
    delete exec;
    return cudaSuccess;
}

// For tests: graphs launched so far, and those that there are.
extern "C" __attribute__((visibility("default"))) int64_t tamis_emulate_replayed(void)
{
    std::lock_guard<std::mutex> lock(mutex);
    return replayed;
}

extern "C" __attribute__((visibility("default"))) int64_t tamis_emulate_graphs(void)
{
    std::lock_guard<std::mutex> lock(mutex);
    return (int64_t)execs.size();
}

// For tests: bytes of all devices in use, and what has gone there.
extern "C" __attribute__((visibility("default"))) int64_t tamis_emulate_in_use(void)
{
    std::lock_guard<std::mutex> lock(mutex);
    int64_t sum = 0;
    for (size_t bytes : in_use)
        sum += (int64_t)bytes;
    return sum;
}

extern "C" __attribute__((visibility("default"))) int64_t tamis_emulate_uploaded(void)
{
    std::lock_guard<std::mutex> lock(mutex);
    return uploaded;
}
