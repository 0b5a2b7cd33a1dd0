/* SPDX-License-Identifier: Apache-2.0 */
/* Filters and their parameters, described as data.
 *
 * Every filter has a plain struct of parameters in a header of its own (tamis/gaussian.h declares
 * struct tamis_gaussian) and a table with one row per field. The table gives names, defaults,
 * ranges, units and texts to the chain parser, the command, the documentation and the tests. */
#ifndef TAMIS_FILTER_H
#define TAMIS_FILTER_H

#include <tamis/image.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A width and a height in pixels; written "7" (both) or "7x5". */
typedef struct tamis_size {
    int w, h;
} tamis_size;

/* A number in sample units, or in per cent of the sample type's range (tamis_type_range());
 * written "30" or "12%". */
typedef struct tamis_value {
    double value;
    int percent; /* 1 when value is per cent */
} tamis_value;

/* A few numbers in a row, such as a matrix or a point; written "1,0,5,0,1,0". count 0 = not given,
 * written "auto". */
#define TAMIS_MAX_NUMBERS 9
typedef struct tamis_numbers {
    int count;
    double v[TAMIS_MAX_NUMBERS];
} tamis_numbers;

/* Weights of a window, row after row; written "1,2,1;2,4,2;1,2,1" with commas or spaces, or, where
 * they are the products of a row's and a column's, "1,2,1x1,2,1". Or one of a filter's own, by its
 * name. A struct that holds one is half a megabyte: memory for it is better allocated than taken
 * from a thread's stack. */
#define TAMIS_MAX_MATRIX 65536
typedef struct tamis_matrix {
    int w, h;  /* columns and rows; both 0 = given by name */
    int name;  /* index into the parameter's words */
    int outer; /* 1: v holds a row of w and a column of h numbers, else w * h */
    double v[TAMIS_MAX_MATRIX];
} tamis_matrix;

/* The value in sample units of the given type. */
TAMIS_API double tamis_value_resolve(tamis_value value, tamis_type type);

/* What a filter does with the alpha channel of an image that has one. */
typedef enum tamis_alpha_mode {
    TAMIS_ALPHA_MODE_PREMULTIPLY, /* weight color by alpha, filter, divide again */
    TAMIS_ALPHA_MODE_STRAIGHT,    /* filter color and alpha as independent channels */
    TAMIS_ALPHA_MODE_IGNORE       /* filter color only and copy alpha */
} tamis_alpha_mode;

typedef enum tamis_param_type {
    TAMIS_PARAM_INT,     /* int */
    TAMIS_PARAM_DOUBLE,  /* double */
    TAMIS_PARAM_CHOICE,  /* an enum (unsigned int): index into choices */
    TAMIS_PARAM_SIZE,    /* tamis_size */
    TAMIS_PARAM_VALUE,   /* tamis_value */
    TAMIS_PARAM_NUMBERS, /* tamis_numbers; the default is none */
    TAMIS_PARAM_MATRIX   /* tamis_matrix; the default is a name */
} tamis_param_type;

/* What stands in a field whose value is to be chosen from a picture. */
#define TAMIS_AUTO (-1)

/* One parameter of a filter. */
typedef struct tamis_param {
    const char *name; /* the field's name, also the key in chains and on the command line */
    tamis_param_type type;
    size_t offset;              /* of the field in the filter's parameter struct */
    double def;                 /* default; for CHOICE the index, for SIZE both sides, for
                                   MATRIX the index of a word. A default
                                   outside min .. max means "not given" and is written "auto",
                                   or as words say */
    double min, max;            /* allowed range, both included; for SIZE each side */
    const char *unit;           /* "px", "levels", "" */
    const char *const *choices; /* CHOICE: NULL-terminated names in enum order; else NULL */
    const char *doc;            /* one sentence or two */
    int percent;                /* VALUE: 1 when def is per cent */
    int odd;                    /* 1: each value must be odd, or 0 where the range includes 0 */
    const char *const *words;   /* SIZE: NULL-terminated names of -1, -2, ... for both sides, each
                                   allowed though it lies outside min .. max; NULL = none.
                                   MATRIX: names of index 0, 1, ... */
    int least, most;            /* NUMBERS: how many may be given */
    int scales;                 /* TAMIS_SCALES_*: how it follows the size of the picture */
    int outside;                /* 1: a VALUE that stands for what is outside the picture */
    int automatic;              /* INT, DOUBLE, SIZE, VALUE: 1 where "auto" may be given, too. The
                                   value, TAMIS_AUTO (for SIZE both), then has to be chosen from a
                                   picture before there is a plan: see tamis_graph_resolve() */
} tamis_param;

/* Pixels of a picture become fewer when it is shrunk, or when a plane has fewer samples than
 * another; a window that is to cover as much then shrinks likewise. */
enum {
    TAMIS_SCALES_NOT,  /* numbers without pixels, places, and windows that are about single samples
                        */
    TAMIS_SCALES_BOTH, /* a length across and down; SIZE: w across, h down */
    TAMIS_SCALES_X,    /* a length across */
    TAMIS_SCALES_Y     /* a length down */
};

typedef struct tamis_filter tamis_filter;

/* Finds a filter by name; NULL when there is none. */
TAMIS_API const tamis_filter *tamis_filter_find(const char *name);
/* Number of filters, and the one at index 0 .. count-1 in alphabetical order. */
TAMIS_API int tamis_filter_count(void);
TAMIS_API const tamis_filter *tamis_filter_at(int index);

TAMIS_API const char *tamis_filter_name(const tamis_filter *filter);
/* One line that says what the filter does. */
TAMIS_API const char *tamis_filter_brief(const tamis_filter *filter);
/* The filter's parameters; *count receives their number. */
TAMIS_API const tamis_param *tamis_filter_params(const tamis_filter *filter, int *count);
/* Size of the filter's parameter struct. */
TAMIS_API size_t tamis_filter_params_size(const tamis_filter *filter);
/* What a filter does, for programs that apply filters to parts of a picture, as to the planes of
 * video. Most filters have none of these traits. */
enum {
    TAMIS_TRAIT_DETAIL = 1 << 0,   /* its result is about detail, which people see in luma */
    TAMIS_TRAIT_EDGES = 1 << 1,    /* its result is not a picture: 0 where there is nothing */
    TAMIS_TRAIT_GEOMETRY = 1 << 2, /* it moves pixels: all planes must go along */
    TAMIS_TRAIT_COLOR = 1 << 3     /* it is about channels and what they mean */
};
/* Its traits; 0 for NULL. */
TAMIS_API unsigned tamis_filter_traits(const tamis_filter *filter);
/* Number of input images: 1, or 2 where a second one (a guide) may be given. */
TAMIS_API int tamis_filter_max_inputs(const tamis_filter *filter);
/* Number of input images it cannot do without: 1, or 2 where the second one must be given. */
TAMIS_API int tamis_filter_min_inputs(const tamis_filter *filter);

/* One of the kernels that compute a filter. */
typedef struct tamis_kernel_info {
    const char *stage; /* which of the filter's ways of working it serves */
    tamis_type type;   /* of the samples it reads and writes */
    const char *cpu;   /* the instruction set it needs, as in tamis_plan_options.kernel */
    double tolerance;  /* how far it may be from the reference "c": levels for integers, relative to
                          max(1, |reference|) for F32; 0 = the same bits */
} tamis_kernel_info;

/* Facts about kernel index 0, 1, ... of a filter, best instruction set first. Returns 0 when there
 * are no more. */
TAMIS_API int tamis_filter_kernel(const tamis_filter *filter, int index, tamis_kernel_info *out);

/* Fills params, which has tamis_filter_params_size() bytes, with the defaults. */
TAMIS_API void tamis_filter_defaults(const tamis_filter *filter, void *params);

/* Sets one parameter from text. Errors: ARGUMENT; the message names the parameter, the value and
 * the allowed range. Values are never clamped. */
TAMIS_API tamis_status tamis_filter_set(tamis_ctx *ctx, const tamis_filter *filter, void *params,
                                        const char *name, const char *text);

/* Checks every field of params against its row. Errors: ARGUMENT, as above. */
TAMIS_API tamis_status tamis_filter_check(tamis_ctx *ctx, const tamis_filter *filter,
                                          const void *params);

/* Prints one parameter's value, as tamis_filter_set() reads it, into buf; returns buf. */
TAMIS_API const char *tamis_filter_get(const tamis_filter *filter, const void *params,
                                       const char *name, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#endif
