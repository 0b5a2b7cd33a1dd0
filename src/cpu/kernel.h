/* SPDX-License-Identifier: Apache-2.0 */
/* What a filter is made of: its description, its plan function and its kernel rows.
 *
 * Three structs divide a filter's numbers. *Params* is what the user says, in user units. *Coef* is
 * what kernels need (taps, tables, fixed-point weights), made once by the filter's plan function.
 * *Tile* says where. A kernel reads a tile and coef and writes samples; it never parses,
 * validates, allocates, or asks about borders, layouts or strides: the engine hands it rows that
 * are already padded. */
#ifndef TAMIS_CPU_KERNEL_H
#define TAMIS_CPU_KERNEL_H

#include <tamis/filter.h>
#include <tamis/graph.h>

#include "core/cpu.h"
#include "core/pool.h"
#include "core/status.h"
#include "image/box.h"

/* The whole input of a node that reads it anywhere (gather). Nothing is promised about alignment,
 * and nothing outside w x h may be read. */
typedef struct tamis_whole {
    const void *data[TAMIS_MAX_CHANNELS]; /* pixel (0, 0) of each plane */
    ptrdiff_t stride[TAMIS_MAX_CHANNELS]; /* bytes, may be negative */
    int32_t w, h;
    double outside[TAMIS_MAX_CHANNELS]; /* the border's value, in samples of each plane */
} tamis_whole;

/* The same rows in the frames before and after, for a node that asked for them. */
#define TAMIS_MAX_FRAMES 16 /* to each side */
typedef struct tamis_frames {
    /* rows[TAMIS_MAX_FRAMES + f][p] are the rows of plane p, frame f, as tile.src[p] are those of
     * frame 0; NULL where the sequence has no such frame. */
    const void *const *rows[2 * TAMIS_MAX_FRAMES + 1][TAMIS_MAX_CHANNELS];
} tamis_frames;

/* One piece of work for a kernel.
 * src[p][y] points at the sample of output column 0 in source row y of plane p, for
 * y = -top .. h-1+bottom, where top, bottom, left, right are the halo the filter's plan asked for.
 * In each such row the samples of columns -left .. w-1+right may be used: sample c of the pixel in
 * column x is src[p][y][x * step + c], 0 <= c < step. Another 64 samples, at least 128 bytes,
 * before and after may be read but not used; nothing may ever be written outside the tile. Pointers
 * have the alignment of the sample type and no more.
 * A node with need() has its rows counted from the box that need() answered instead: src[p][i] is
 * row from.y + i of the input, at column from.x. A node with gather has no rows but `whole`. */
typedef struct tamis_tile {
    int w, h;   /* pixels to write */
    int step;   /* samples between horizontally neighboring pixels; the row has w * step samples */
    int planes; /* 1, or the number of channels where the node asked for planar rows */
    int plane;  /* which plane of the image src[0] is; 0 where planes > 1 */
    int32_t x, y; /* of its first pixel in the node's output image; with border=wrap it may reach
                     over the right and lower edge, where the image begins anew */
    const void *const *src[TAMIS_MAX_CHANNELS];
    tamis_box from;             /* of the input, for a node with need() */
    const tamis_whole *whole;   /* for a node with gather; its planes start with src[0]'s */
    const tamis_frames *frames; /* NULL unless the node asked for frames */
    const void *const *guide[TAMIS_MAX_CHANNELS]; /* like src; NULL when there is no guide */
    int guide_planes;
    void *dst[TAMIS_MAX_CHANNELS];            /* output column 0, row 0 of each plane */
    ptrdiff_t dst_stride[TAMIS_MAX_CHANNELS]; /* bytes, may be negative */
    const volatile int *cancel;               /* see tamis_tile_canceled(); may be NULL */
} tamis_tile;

/* Whether the caller wants the run to stop. The engine asks between tiles; kernels that may take
 * more than a few tenths of a second for one ask, too, and may then return at any point: nobody
 * looks at the result. */
static inline int tamis_tile_canceled(const tamis_tile *tile)
{
    return tile->cancel && __atomic_load_n(tile->cancel, __ATOMIC_RELAXED);
}

/* scratch has the bytes that the node's scratch function asked for, aligned to 64. */
typedef void (*tamis_kernel_fn)(const tamis_tile *tile, const void *coef, void *scratch);

/* One kernel: how to compute one stage for one sample type with one instruction set. */
typedef struct tamis_kernel {
    const char *stage; /* the name by which a node asks for it */
    tamis_type type;   /* of the samples it reads, and writes unless the node's output differs */
    unsigned cpu;      /* the instruction set it needs, one of TAMIS_CPU_* */
    tamis_kernel_fn fn;
    /* How far it may be from the reference row: levels for integers; for F32 relative to
     * max(1, |reference|). 0 means the same bits. */
    double tolerance;
} tamis_kernel;

/* Tables of kernel rows end with a row whose fn is NULL. */

/* The complete output of a node, for its finish function. */
typedef struct tamis_result {
    void *data[TAMIS_MAX_CHANNELS];
    ptrdiff_t stride[TAMIS_MAX_CHANNELS]; /* bytes, may be negative */
    int planes;                           /* channels where the layout is planar, else 1 */
    int step;                             /* samples from pixel to pixel in a plane */
    int32_t w, h;                         /* pixels */
    tamis_pool *pool;                     /* for tamis_priv_pool_each() */
} tamis_result;

/* One filter of a chain while it is planned. The engine fills in the first part and sensible
 * values of the second; the filter's plan function changes what differs. */
typedef struct tamis_node {
    /* Given. */
    tamis_ctx *ctx;
    struct tamis_plan_block **blocks; /* memory of the plan; for tamis_priv_node_alloc() only */
    const void *params;
    tamis_format in;
    int32_t w, h; /* size of the input */
    int has_guide;
    tamis_format guide; /* meaningful when has_guide */
    int32_t guide_w, guide_h;
    double range; /* what "100%" of a level is: tamis_type_range(), or less for samples of fewer
                     bits than their type has */
    /* The picture that the input belongs to: itself, of w x h, unless it is a plane of one with
     * fewer samples. Then sample (x, y) lies at (plane->at_x + (x << plane->sub_x), likewise y) of
     * a picture of picture_w x picture_h pixels, and what plan() says in pixels, such as sizes and
     * places, is about those; windows have been scaled already. */
    const tamis_plane *plane; /* NULL: the input is the picture */
    int32_t picture_w, picture_h;

    /* Answered by plan(). */
    int32_t picture_out_w, picture_out_h; /* with out_w and out_h: the size of that picture's
                                             result; preset 0: out_w x out_h */
    const char *stage;                    /* which kernel rows to choose among */
    tamis_type work;     /* sample type that the kernel reads and writes; preset and, after a change
                            of alpha, to be set to tamis_priv_node_work() */
    int planar;          /* 1: the kernel wants all color channels of a tile as planes; preset 0 */
    tamis_halo halo;     /* pixels it reads around each output pixel; preset 0 */
    tamis_border border; /* preset REFLECT101 */
    double border_value; /* in sample units, for BORDER_CONSTANT */
    tamis_alpha_mode alpha; /* preset PREMULTIPLY; only meaningful when in has alpha */
    tamis_format out;       /* preset to in. Kernels write tamis_priv_node_result() samples. Other
                               channels than in's need planar; the layout must stay. alpha=ignore
                               copies alpha, or drops it where out has none; so does premultiply,
                               and color stays multiplied by it */
    int32_t out_w, out_h;   /* size of the output; preset 0: that of the input, less with VALID */
    /* The part of the input that a part of the output needs, where it is not halo around the same
     * place: any box whose size depends on that of the part and, by a pixel at most, on its
     * place. With gather it must lie inside the input and hold whatever kernels read there, used
     * or not, and NULL means all of it. */
    tamis_box (*need)(const void *coef, tamis_rect part);
    int gather;       /* 1: reads its input anywhere; coordinates and borders are its own */
    int frames;       /* frames it reads before and after; preset 0 */
    int guide_is_map; /* 1: the guide has the output's size and comes as F32 rows of the
                         pixels to write; 0: it comes like src */
    /* Called once when the output is complete, and may change it. It may write and read its scratch
     * of finish_scratch bytes, which is not initialized. */
    void (*finish)(const tamis_result *result, const void *coef, void *scratch);
    size_t finish_scratch;
    int tile_w, tile_h; /* size of tile that suits the kernel; preset by the engine */
    int tile_share;     /* tiles that each thread should find; preset 4, so that slow threads do not
                           keep others waiting; 1 where a halo costs as much as what it surrounds */
    void *coef;         /* from tamis_priv_node_alloc() */
    size_t (*scratch)(const void *coef, int w, int h, int step); /* bytes for a tile; NULL = none */
} tamis_node;

/* The sample type in which the engine can hand rows to the kernel: that of the input, but F32 for
 * F16 and wherever color is multiplied by alpha. */
static inline tamis_type tamis_priv_node_work(const tamis_node *node)
{
    int premultiply =
        node->in.alpha == TAMIS_ALPHA_STRAIGHT && node->alpha == TAMIS_ALPHA_MODE_PREMULTIPLY;
    return premultiply || node->in.type == TAMIS_F16 ? TAMIS_F32 : node->in.type;
}

/* The sample type that the kernel writes: that which it reads, or that of the output where it
 * differs from the input's. */
static inline tamis_type tamis_priv_node_result(const tamis_node *node)
{
    if (node->out.type == node->in.type)
        return node->work;
    return node->out.type == TAMIS_F16 ? TAMIS_F32 : node->out.type;
}

/* A parameter's value in sample units. */
static inline double tamis_priv_node_value(const tamis_node *node, tamis_value v)
{
    return v.percent ? v.value * node->range / 100 : v.value;
}

/* Samples that a plane with the node's sampling has for n pixels, across (0) or down (1). */
static inline int32_t tamis_priv_node_sampled(const tamis_node *node, int down, int32_t n)
{
    int sub = !node->plane ? 0 : down ? node->plane->sub_y : node->plane->sub_x;
    return (int32_t)(((int64_t)n + (1 << sub) - 1) >> sub);
}

/* Pixels of the picture from one sample to the next, across (0) or down (1). */
static inline int tamis_priv_node_pitch(const tamis_node *node, int down)
{
    return 1 << (!node->plane ? 0 : down ? node->plane->sub_y : node->plane->sub_x);
}

/* Zeroed memory, aligned to 64 bytes, that lives as long as the plan; NULL when out of memory. */
void *tamis_priv_node_alloc(tamis_node *node, size_t size);

struct tamis_picture;

struct tamis_filter {
    const char *name;
    const char *brief;
    const tamis_param *params;
    int param_count;
    size_t params_size;
    int max_inputs;  /* 2 where a guide may be given */
    int needs_guide; /* 1: it must be */
    unsigned traits; /* TAMIS_TRAIT_*: what programs that apply it to parts of pictures must know */
    /* Decides everything about a node or refuses, naming the parameter, its value and the allowed
     * range. Ranges of single parameters have already been checked against the table. */
    tamis_status (*plan)(tamis_node *node);
    const tamis_kernel *const *kernels; /* tables, best first, ended by NULL */
    /* For filters that have automatic parameters; see cpu/picture.h. measure() may write a chain
     * whose result is to be counted in a histogram; NULL: noise is all that is looked at. choose()
     * gives a value to every parameter that waits for one. */
    void (*measure)(const void *params, char *chain, size_t size);
    void (*choose)(const struct tamis_picture *picture, void *params);
    /* For a filter that stands for others, and has neither plan nor kernels: writes the chain that
     * takes its place for a picture. That may have automatic parameters in turn, but no filter that
     * stands for others. */
    void (*expand)(const struct tamis_picture *picture, const void *params, char *chain,
                   size_t size);
};

/* A row of a parameter table. The type follows from the field, so that the two cannot disagree. */
#define TAMIS_PARAM(S, field, ...)                                                                 \
    {                                                                                              \
        .name = #field, .type = TAMIS_PARAM_TYPE_OF(((S *)0)->field),                              \
        .offset = offsetof(S, field), __VA_ARGS__                                                  \
    }
/* Enumerations without negative values have the type unsigned with GCC and Clang. */
#define TAMIS_PARAM_TYPE_OF(x)                                                                     \
    _Generic((x), int                                                                              \
             : TAMIS_PARAM_INT, double                                                             \
             : TAMIS_PARAM_DOUBLE, unsigned                                                        \
             : TAMIS_PARAM_CHOICE, tamis_size                                                      \
             : TAMIS_PARAM_SIZE, tamis_value                                                       \
             : TAMIS_PARAM_VALUE, tamis_numbers                                                    \
             : TAMIS_PARAM_NUMBERS, tamis_matrix                                                   \
             : TAMIS_PARAM_MATRIX)

/* The rows that every filter with a window has: fields border, border_value and alpha. */
extern const char *const tamis_priv_border_names[];
extern const char *const tamis_priv_alpha_names[];
extern const char *const tamis_priv_interp_names[];
#define TAMIS_PARAM_BORDER(S)                                                                      \
    TAMIS_PARAM(S, border, .def = TAMIS_BORDER_REFLECT101, .max = TAMIS_BORDER_COUNT - 1,          \
                .choices = tamis_priv_border_names, .unit = "",                                    \
                .doc = "how the picture continues outside itself"),                                \
        TAMIS_PARAM(S, border_value, .def = 0, .min = -1e30, .max = 1e30, .unit = "levels",        \
                    .outside = 1, .doc = "value outside the picture for border=constant")
#define TAMIS_PARAM_ALPHA(S)                                                                       \
    TAMIS_PARAM(S, alpha, .def = TAMIS_ALPHA_MODE_PREMULTIPLY, .max = TAMIS_ALPHA_MODE_IGNORE,     \
                .choices = tamis_priv_alpha_names, .unit = "",                                     \
                .doc = "alpha channel: weight color by it, treat it as a channel, or leave it")

/* The list of kernel tables of a filter whose <name>_simd.c is compiled once per instruction set
 * and defines TAMIS_FN(<name>_kernels), and whose <name>.c defines <name>_kernels_c. */
#if defined(__x86_64__) && !defined(TAMIS_NO_SIMD)
#define TAMIS_KERNEL_DECLARE(name)                                                                 \
    extern const tamis_kernel name##_kernels_base[], name##_kernels_avx2[], name##_kernels_avx512[]
#define TAMIS_KERNEL_TABLES(name)                                                                  \
    name##_kernels_avx512, name##_kernels_avx2, name##_kernels_base, name##_kernels_c
#elif defined(__aarch64__) && !defined(TAMIS_NO_SIMD)
#define TAMIS_KERNEL_DECLARE(name) extern const tamis_kernel name##_kernels_base[]
#define TAMIS_KERNEL_TABLES(name)  name##_kernels_base, name##_kernels_c
#else
#define TAMIS_KERNEL_DECLARE(name) struct tamis_kernel
#define TAMIS_KERNEL_TABLES(name)  name##_kernels_c
#endif
#define TAMIS_KERNEL_LIST(name)                                                                    \
    {                                                                                              \
        TAMIS_KERNEL_TABLES(name), NULL                                                            \
    }

#endif
