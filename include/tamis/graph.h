/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of filters, plans and runs.
 *
 * A tamis_graph is a wish: filters in order, each with its parameters. A tamis_plan is a decision:
 * a graph compiled for one image format and size, with kernels chosen, halos known and every
 * buffer allocated. Compiling may fail; running allocates nothing and fails only when canceled or
 * given images that do not match. */
#ifndef TAMIS_GRAPH_H
#define TAMIS_GRAPH_H

#include <tamis/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Thread-safety: one thread at a time. */
typedef struct tamis_graph tamis_graph;

/* Filters that a chain may have. */
#define TAMIS_GRAPH_MAX_SIZE 256

/* An empty chain, owned by the caller, who frees it with tamis_graph_free(). Errors: MEMORY. */
TAMIS_API tamis_status tamis_graph_create(tamis_ctx *ctx, tamis_graph **out);

/* Reads "name=key=value:key=value,name2=key=value". White space around names, keys and values is
 * skipped. A parameter may be given once. "@name" in the place of a filter stands for the filters
 * of a preset (preset.h), which the graph then has. The chain is the caller's, as above. Errors:
 * ARGUMENT (the message shows the place), MEMORY; then *out is NULL. */
TAMIS_API tamis_status tamis_graph_parse(tamis_ctx *ctx, const char *text, tamis_graph **out);

/* Appends a filter. params points to the filter's parameter struct and is copied; NULL means the
 * defaults. Errors: ARGUMENT (a value out of range, too many filters), MEMORY. */
TAMIS_API tamis_status tamis_graph_add(tamis_graph *graph, const tamis_filter *filter,
                                       const void *params);

/* Frees the chain; *graph becomes NULL. NULL and *graph == NULL are fine. Plans do not need it. */
TAMIS_API void tamis_graph_free(tamis_graph **graph);

/* Number of filters, and the filter and parameters (which belong to the chain) at index
 * 0 .. size-1; NULL beyond. */
TAMIS_API int tamis_graph_size(const tamis_graph *graph);
TAMIS_API const tamis_filter *tamis_graph_filter(const tamis_graph *graph, int index);
TAMIS_API const void *tamis_graph_params(const tamis_graph *graph, int index);

/* Prints the chain, with every parameter that differs from its default, so that parsing the text
 * gives the same chain. Returns the length without the terminator, as snprintf does. */
TAMIS_API size_t tamis_graph_print(const tamis_graph *graph, char *buf, size_t size);

/* What images are that hold less than a whole picture of full-range samples, as the planes of video
 * do. A filter's parameters are still those for the picture: windows in pixels are scaled for a
 * plane with fewer samples, odd ones staying odd, and what moves pixels moves the plane's samples
 * along, wherever between the picture's pixels they lie. */
typedef struct tamis_plane {
    int bits; /* 1 .. 15: U16 samples are 0 .. 2^bits - 1, and "10%" is a tenth of that. Results may
                 leave this range, for the caller to clip; 0 = the type's own */
    int sub_x, sub_y;  /* one sample stands for 2^sub_x columns and 2^sub_y rows; 0 .. 12 */
    double at_x, at_y; /* where its first sample lies in the picture, in pixels from the middle of
                          the first: 0 = on it, 0.5 = between two */
    int32_t w, h; /* of the picture: ceil(w / 2^sub_x) must be the plane's width, likewise h; 0 = by
                     the plane's size */
    double outside;     /* the level that border_value = 0 stands for: black, or no color */
    int outside_always; /* 1: whatever border_value is */
} tamis_plane;

/* Options of a plan. Zero-initialize; every zero field means its default. */
typedef struct tamis_plan_options {
    int tile_w, tile_h;        /* size of the tiles, for tests; 0 = chosen by the planner */
    const char *kernel;        /* use this kernel row ("c", "avx2", "cuda" ...) and fail where it is
                                  missing; NULL = the best row the context allows */
    const tamis_format *guide; /* format of the guide image, a second input of the first filter;
                                  NULL = none is given */
    int32_t guide_w, guide_h;  /* its size; 0 = that of the first input */
    size_t whole_bytes; /* memory for the images that the plan has as a whole (see tamis_plan);
                           those beyond are in temporary files without a name in TMPDIR, else
                           /var/tmp, that are mapped into memory. 0 = all are in memory */
    const tamis_plane *plane; /* what the images are; copied. NULL = whole pictures */
} tamis_plan_options;

/* Thread-safety: immutable once made; any number of threads may run one plan at once. Where a
 * filter needs its whole input or output in a buffer there is one, and runs take turns: Canny, and
 * warps that follow another filter or whose input is converted first (f16, and color to be weighted
 * by alpha). The progress function of a run must not run the same plan. */
typedef struct tamis_plan tamis_plan;

/* Compiles a graph for images of the given format and size. options may be NULL. The plan keeps
 * what it needs of the graph; the context must outlive it. An empty graph copies. The caller owns
 * *out and gives it back with tamis_plan_free(); on failure it is NULL.
 * Errors: ARGUMENT, UNSUPPORTED, MEMORY, LIMIT, WRITE (no room for a temporary file). */
TAMIS_API tamis_status tamis_plan_create(tamis_ctx *ctx, const tamis_graph *graph,
                                         tamis_format format, int32_t w, int32_t h,
                                         const tamis_plan_options *options, tamis_plan **out);
/* Frees the plan, which no run may be using, and sets *plan to NULL. NULL and *plan == NULL are
 * fine. */
TAMIS_API void tamis_plan_free(tamis_plan **plan);

/* Format and size of the result. */
TAMIS_API tamis_format tamis_plan_format(const tamis_plan *plan);
TAMIS_API void tamis_plan_size(const tamis_plan *plan, int32_t *w, int32_t *h);

/* Pixels of the input that a pixel of the result may depend on, to each side: exact.
 * TAMIS_HALO_ALL to all sides when a filter of the chain does not stay around the same place, as
 * warps and resizing do. */
#define TAMIS_HALO_ALL 0x40000000
typedef struct tamis_halo {
    int left, right, top, bottom;
} tamis_halo;
TAMIS_API tamis_halo tamis_plan_halo(const tamis_plan *plan);

/* The part of the input that the part rect of the result, which must lie inside it, depends on.
 * Errors: ARGUMENT. */
TAMIS_API tamis_status tamis_plan_need(const tamis_plan *plan, tamis_rect rect, tamis_rect *out);

/* The part of the guide image that the part rect of the result depends on. Errors: ARGUMENT (also
 * when the plan was made without a guide). */
TAMIS_API tamis_status tamis_plan_need_guide(const tamis_plan *plan, tamis_rect rect,
                                             tamis_rect *out);

/* How many frames before and after the current one a run may read; 0 without temporal filters. */
TAMIS_API int tamis_plan_frames(const tamis_plan *plan);

/* Where the plan runs: "cpu", "cuda:0", or "cuda:0,1" for several devices. The text lives as long
 * as the plan. */
TAMIS_API const char *tamis_plan_device(const tamis_plan *plan);

/* Bytes of memory that the plan's buffers take, for all threads that may run it at once; without
 * what is on a device or in temporary files. 0 for NULL. */
TAMIS_API size_t tamis_plan_bytes(const tamis_plan *plan);

/* Prints the plan for people: one line per step with types, kernel, tile, halo and memory.
 * Returns the length without the terminator, as snprintf does. */
TAMIS_API size_t tamis_plan_explain(const tamis_plan *plan, char *buf, size_t size);

/* Called on the thread that runs the plan, now and then and once at the end: done of total units
 * of work. */
typedef void (*tamis_progress_fn)(void *user, int64_t done, int64_t total);

typedef struct tamis_run_options {
    tamis_progress_fn progress; /* may be NULL */
    void *progress_user;
    const volatile int *cancel; /* the run stops soon after *cancel becomes non-zero, which a signal
                                   handler or another thread may do (by an atomic store of an int);
                                   may be NULL */
    /* For plans that run on a device, with src, dst, guide and frames all in its memory: a stream
     * (cudaStream_t) of the device's primary context to enqueue the work on. What
     * fills the images must be done or enqueued there before. The call returns before the work is
     * done and nothing waits; it may be captured into a graph, which the plan must outlive, as its
     * launches read tables that the plan has on the device. NULL = the call waits for what was
     * enqueued on the device's default stream, and returns when dst is complete. */
    void *stream;
    const tamis_image *guide; /* required when the plan was made with a guide */
    /* For chains with temporal filters: 2 * tamis_plan_frames() + 1 pointers to the frames before,
     * the current one (ignored: it is src) and those after, oldest first; NULL where the sequence
     * has none. NULL = src stands alone. */
    const tamis_image *const *frames;
    /* The part of the input that src and the frames hold, where it is not all of it; they have its
     * size. It must contain what tamis_plan_need() tells of the part of the result that is asked
     * for. The bits are those that the whole input would give. NULL = they hold all. */
    const tamis_rect *window;
    /* The same for the guide and tamis_plan_need_guide(). NULL = it is there as a whole. */
    const tamis_rect *guide_window;
} tamis_run_options;

/* Filters src into dst. src has the plan's input format and size, dst its result format and size
 * (strides are free, but rows of dst may not overlap). They may not share memory; views of one
 * parent that do not overlap are fine. After CANCELED the contents of dst are undefined. Images in
 * device memory need a plan for that device. Where dst is there, src, guide and frames must be,
 * too; to host memory src and frames may come from there, all of them, and the guide from either.
 * A plan for several devices runs an image in host memory in bands on all of them, or, where that
 * would not pay, on one after the other by turns. The bits are the same.
 * Errors: ARGUMENT, CANCELED; for plans on a device MEMORY and DEVICE, too. */
TAMIS_API tamis_status tamis_plan_run(const tamis_plan *plan, const tamis_image *src,
                                      const tamis_image *dst, const tamis_run_options *options);

/* As tamis_plan_run(), for the part rect of the result; dst has the size of rect. The bits are
 * those that a whole run would give there. */
TAMIS_API tamis_status tamis_plan_run_region(const tamis_plan *plan, const tamis_image *src,
                                             tamis_rect rect, const tamis_image *dst,
                                             const tamis_run_options *options);

/* Filters srcs[i] into dsts[i] for i = 0 .. count-1: the same bits as one run after the other, but
 * small images keep all threads busy, and those on a GPU are filtered many at a time. There they
 * are fastest where srcs, and dsts, lie at equal distances, as in one allocation. All images are as
 * tamis_plan_run() wants them, the srcs all in one place, and so the dsts; and no dst may share
 * memory with another's src or dst, either. options are for all: the guide is the same for each
 * image, progress counts the work on all of them; frames and windows must be NULL. count 0 does
 * nothing. All images are checked before anything is written: after ARGUMENT all dsts are as
 * before. After any other error the contents of all of them are undefined. Errors: ARGUMENT (the
 * message gives i), CANCELED; for plans on a device MEMORY and DEVICE. */
TAMIS_API tamis_status tamis_plan_run_many(const tamis_plan *plan, const tamis_image *srcs,
                                           const tamis_image *dsts, size_t count,
                                           const tamis_run_options *options);

/* One filter on one image: chooses what is "auto" (see tamis_graph_resolve()), plans, runs and
 * frees. params NULL = defaults. dst has the format and size of the result. Errors: as these
 * functions. */
TAMIS_API tamis_status tamis_filter_run(tamis_ctx *ctx, const tamis_filter *filter,
                                        const void *params, const tamis_image *src,
                                        const tamis_image *dst);

#ifdef __cplusplus
}
#endif

#endif
