/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine asks of a device, and what a filter's device kernels are given.
 *
 * The module tamis_cuda fills in a tamis_backend; the engine finds it at run time and walks a
 * plan's steps with it (graph/device_run.c). Nothing here names CUDA, and nothing needs it to
 * compile: tests run the same kernels on the CPU. All of it is C and C++. */
#ifndef TAMIS_GPU_BACKEND_H
#define TAMIS_GPU_BACKEND_H

#include <tamis/device.h>

#include "cpu/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A module made for another number is refused. */
#define TAMIS_GPU_ABI 5

/* Why a call failed, in words; status says what kind of failure it was. */
typedef struct tamis_gpu_fault {
    char text[256];
} tamis_gpu_fault;

typedef struct tamis_gpu tamis_gpu;             /* an open device */
typedef struct tamis_gpu_graph tamis_gpu_graph; /* launches to be done again */

/* Planes of pixels in device memory. */
typedef struct tamis_gpu_planes {
    char *data[TAMIS_MAX_CHANNELS];     /* pixel (0, 0) of the image, which need not be in memory */
    int64_t stride[TAMIS_MAX_CHANNELS]; /* bytes, may be negative */
} tamis_gpu_planes;

/* One launch: a part of a node's output.
 *
 * For a node that asked for planar rows, or whose packed pixels lose their alpha, there are
 * `planes` planes to read and `written` to write, and neighboring pixels of a plane are src_pitch
 * and dst_pitch samples apart. For others planes == written, all are treated alike, and a pixel has
 * `step` samples side by side, which are all filtered: sample c of pixel (x, y) is at x * step + c
 * of row y, and so in the result.
 *
 * Coordinates are those of the node's input and output image. The input is complete where the plan
 * said that the part depends on it; samples of the image a little beyond that may be read but not
 * used, and nothing else may. A border maps coordinates outside the image into it.
 *
 * A launch is for `count` pictures, all alike: picture number z is z * src_next bytes after the
 * first, in src and all frames, and likewise in dst and scratch. The guide is the same for all. */
enum { TAMIS_GPU_SLACK_W = 1024, TAMIS_GPU_SLACK_H = 64 }; /* pixels that are there beyond it */
enum { TAMIS_GPU_MANY = 65535 };                           /* pictures of one launch, at most */
typedef struct tamis_gpu_work {
    tamis_rect part;          /* of the output */
    int32_t w, h;             /* of the input image */
    tamis_rect held;          /* what of it is in memory: the part's needs and slack */
    tamis_rect guide_held;    /* likewise of the guide */
    int32_t shift_x, shift_y; /* input pixel under output pixel (0, 0): the halo, for VALID */
    tamis_border border;
    float outside[TAMIS_MAX_CHANNELS]; /* border's value in each channel, in samples */
    int planes, written, step;
    int src_pitch, dst_pitch; /* equal step where the node is not planar */
    tamis_gpu_planes src;
    /* frame[TAMIS_MAX_FRAMES + f] as src, for frame f; data[0] NULL where there is none. */
    const tamis_gpu_planes *frame;
    tamis_gpu_planes guide; /* data[0] NULL without one */
    int guide_planes, guide_pitch;
    tamis_gpu_planes dst; /* pixel (0, 0) of the output image, likewise */
    int aligned;   /* all of src, guide and dst: data, strides and what is between pictures are
                      multiples of this; a power of two, the size of a sample to 16 */
    int32_t count; /* pictures, 1 .. TAMIS_GPU_MANY */
    int64_t src_next, dst_next; /* bytes from one to the next, may be negative */
    void *scratch;              /* device memory, as the row asked for */
    int64_t scratch_next;
    void *stream;
} tamis_gpu_work;

/* While a kernel row prepares for a node. */
typedef struct tamis_gpu_prep {
    const tamis_node *node;
    void *state; /* the row's own, for its launches; from alloc */
    /* Zeroed host memory that lives as long as the plan; NULL when there is none. */
    void *(*alloc)(struct tamis_gpu_prep *prep, size_t size);
    /* Device memory that lives as long as the plan, filled from the host; NULL on failure. */
    void *(*upload)(struct tamis_gpu_prep *prep, const void *data, size_t size);
    tamis_gpu_fault *fault;
} tamis_gpu_prep;

/* One kernel row, as tamis_kernel is for the CPU. */
typedef struct tamis_gpu_kernel {
    const char *stage;
    tamis_type type;
    double tolerance; /* as in tamis_kernel, to the same reference */
    /* Called once for a node; NULL = nothing to prepare. Anything in coef that launches need must
     * be brought along here: pointers into host memory mean nothing to kernels. */
    tamis_status (*prepare)(tamis_gpu_prep *prep);
    /* Bytes of device memory that a launch wants for a part of w x h pixels; NULL = none. */
    size_t (*scratch)(const tamis_node *node, const void *state, int32_t w, int32_t h);
    /* Enqueues the work on its stream; never waits. */
    tamis_status (*launch)(const tamis_gpu_work *work, const tamis_node *node, const void *state,
                           tamis_gpu_fault *fault);
    /* For nodes with finish(): src is the complete result, dst the same memory. */
    tamis_status (*finish)(const tamis_gpu_work *work, const tamis_node *node, const void *state,
                           tamis_gpu_fault *fault);
    int alone; /* 1: launches want work for one picture at a time */
} tamis_gpu_kernel;

/* The kernel rows of one filter, ended by a row without a stage. */
typedef struct tamis_gpu_filter {
    const char *name;
    const tamis_gpu_kernel *kernels;
} tamis_gpu_filter;

/* Rows from one place in host memory to another, bytes of each. */
typedef struct tamis_gpu_rows {
    char *to;
    const char *from;
    int64_t to_stride, from_stride;
    size_t bytes;
    int32_t count;
} tamis_gpu_rows;

enum { TAMIS_GPU_LOOSE = 1 << 20 };

/* Rows between host and device: bytes of each of count rows. Host strides may be negative. */
typedef struct tamis_gpu_copy {
    char *device;
    int64_t device_stride;
    char *host;
    int64_t host_stride;
    size_t bytes;
    int32_t count;
    /* Copies rows of host memory, by several threads, as one is slower than the bus: for rows that
     * must pass through memory of the backend's own. Where host is NULL only `move` knows where
     * rows, of at most TAMIS_GPU_LOOSE bytes, are: it gets them in order. */
    void (*move)(void *user, const tamis_gpu_rows *rows);
    void *user;
} tamis_gpu_copy;

/* Pixels from one form to another, as tamis_convert does on the CPU. Only the type changes, and
 * how color relates to alpha, the last channel; alpha < 0: there is none to regard. */
typedef enum tamis_gpu_alpha {
    TAMIS_GPU_ALPHA_KEEP,
    TAMIS_GPU_ALPHA_MULTIPLY, /* to F32: color *= alpha / range of src_type */
    TAMIS_GPU_ALPHA_DIVIDE    /* from F32: back, by the range of dst_type */
} tamis_gpu_alpha;

typedef struct tamis_gpu_convert {
    tamis_rect part;     /* of the image */
    int channels, first; /* channels first .. channels - 1 of both sides are converted */
    tamis_gpu_alpha alpha;
    int shift; /* right, of U16 that stays U16, with KEEP; else 0 */
    tamis_type src_type, dst_type;
    tamis_gpu_planes src, dst; /* by channel: channel c at data[c] */
    int src_pitch, dst_pitch;
    int32_t count; /* pictures, as in tamis_gpu_work */
    int64_t src_next, dst_next;
    void *stream;
} tamis_gpu_convert;

/* What each function finds current in the calling thread is so again when it returns, but for
 * enter. Streams, the default one too, are used after enter, memory without a stream at any time.
 */
typedef struct tamis_backend {
    unsigned abi;
    const char *name;                /* "cuda" */
    const tamis_gpu_filter *filters; /* ended by one without a name */

    int (*count)(tamis_gpu_fault *why); /* 0: none, and why says why */
    tamis_status (*describe)(int index, tamis_device_info *out, tamis_gpu_fault *fault);
    tamis_status (*open)(int index, tamis_gpu **out, tamis_gpu_fault *fault);
    void (*close)(tamis_gpu *gpu);

    /* Streams are kept and given out again. */
    tamis_status (*stream_get)(tamis_gpu *gpu, void **out, tamis_gpu_fault *fault);
    void (*stream_put)(tamis_gpu *gpu, void *stream);
    tamis_status (*wait)(tamis_gpu *gpu, void *stream, tamis_gpu_fault *fault);

    /* Device memory, in the order of a stream; NULL stream: at once, and free waits. */
    tamis_status (*alloc)(tamis_gpu *gpu, void *stream, size_t size, void **out,
                          tamis_gpu_fault *fault);
    void (*free)(tamis_gpu *gpu, void *stream, void *data);
    tamis_status (*host_alloc)(tamis_gpu *gpu, size_t size, void **out, tamis_gpu_fault *fault);
    void (*host_free)(tamis_gpu *gpu, void *data);

    /* Host memory may change again, and what download writes is there, after wait(): pinned memory
     * is read and written by the device, other memory by upload and download themselves, which may
     * wait for the stream. */
    tamis_status (*upload)(tamis_gpu *gpu, void *stream, const tamis_gpu_copy *copy,
                           tamis_gpu_fault *fault);
    tamis_status (*download)(tamis_gpu *gpu, void *stream, const tamis_gpu_copy *copy,
                             tamis_gpu_fault *fault);
    /* Zeros in `bytes` of each of count rows. */
    tamis_status (*clear)(tamis_gpu *gpu, void *stream, char *device, int64_t stride, size_t bytes,
                          int32_t count, tamis_gpu_fault *fault);
    tamis_status (*convert)(tamis_gpu *gpu, const tamis_gpu_convert *convert,
                            tamis_gpu_fault *fault);
    /* Makes the device the calling thread's, until leave puts *before back: what was current, NULL
     * where nothing was. A failure changes nothing. Between the two, threads may go from device to
     * device by enter alone, with before NULL. */
    tamis_status (*enter)(tamis_gpu *gpu, void **before, tamis_gpu_fault *fault);
    void (*leave)(tamis_gpu *gpu, void *before);

    /* From capture_begin on a stream's launches are not done but kept, until the same thread calls
     * capture_end: in between that thread must neither wait nor ask for memory, give some back, or
     * copy from or to the host. *out is NULL where fewer than `least` launches came, and on
     * failure. A graph has the addresses that the launches had, runs on any stream of the device,
     * once at a time, and has ended before it is freed. */
    tamis_status (*capture_begin)(tamis_gpu *gpu, void *stream, tamis_gpu_fault *fault);
    tamis_status (*capture_end)(tamis_gpu *gpu, void *stream, int least, tamis_gpu_graph **out,
                                tamis_gpu_fault *fault);
    tamis_status (*graph_launch)(tamis_gpu *gpu, void *stream, tamis_gpu_graph *graph,
                                 tamis_gpu_fault *fault);
    void (*graph_free)(tamis_gpu *gpu, tamis_gpu_graph *graph);
} tamis_backend;

/* The module's one entry. */
typedef const tamis_backend *(*tamis_backend_entry)(void);
#define TAMIS_BACKEND_ENTRY "tamis_cuda_backend"

#ifdef __cplusplus
}
#endif

#endif
