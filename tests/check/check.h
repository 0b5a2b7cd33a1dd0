/* SPDX-License-Identifier: Apache-2.0 */
/* The harness: every filter with sampled parameters, formats, sizes and memory layouts, each kernel
 * row against the plain C row. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>

#include "cpu/kernel.h"
#include "graph/registry.h"
#include "support/picture.h"

enum { CHECK_TEXT = 1536, CHECK_MAX_PARAMS = 1 << 20, CHECK_THREAD_COUNTS = 4 };

typedef struct check_options {
    const char *filter; /* NULL = all */
    const char *cpu;    /* rows of this instruction set only; NULL = all */
    uint64_t seed;
    int samples; /* random samples for each filter */
    int only;    /* index of the one sample to run; -1 = all */
    int full;    /* the whole product */
    int part;    /* so few samples that they need not reach all rows */
    int bench;
} check_options;

/* One set of conditions under which all rows must agree. */
typedef struct check_sample {
    const tamis_filter *filter;
    int index;
    double params[CHECK_MAX_PARAMS / sizeof(double)]; /* the filter's struct */
    char text[CHECK_TEXT];                            /* the same as a chain */
    tamis_format format, guide;
    int has_guide;
    int w, h, guide_w, guide_h;
    test_rows src_rows, dst_rows;
    test_fill fill;
    uint64_t seed; /* of the pixels and of what is drawn while running */
    double budget; /* how much work the sample may cost, in samples times taps */
} check_sample;

typedef struct check_counts {
    long passed, failed, skipped;
    long refused;  /* samples that the filter does not do */
    long costly;   /* samples left out for the time they would take */
    long compared; /* results compared with the C row's */
} check_counts;

/* Contexts for each instruction set and thread count, made once; the last set is a device's. */
enum { CHECK_CPUS = 5, CHECK_CUDA = 4 };
typedef struct check_machine {
    tamis_ctx *ctx[CHECK_CPUS][CHECK_THREAD_COUNTS]; /* NULL where this machine lacks the set */
    size_t bytes[CHECK_CPUS][CHECK_THREAD_COUNTS];   /* what a fresh one holds */
    check_counts counts;
    const check_options *options;
    int seeking; /* past --samples: only those run that reach rows not chosen yet */
} check_machine;
extern const char *const check_cpu_names[CHECK_CPUS];
extern const unsigned check_cpu_bits[CHECK_CPUS];
extern const int check_thread_counts[CHECK_THREAD_COUNTS];

/* draw.c: the parameters and conditions of random sample number index of a filter. */
void check_draw(check_machine *machine, const tamis_filter *filter, int index, check_sample *out);
/* Sample number index of the whole product; 0 when there are no more. */
int check_enumerate(check_machine *machine, const tamis_filter *filter, int index,
                    check_sample *out);

/* run.c: runs a sample with every row; counts and reports. */
void check_run(check_machine *machine, const check_sample *sample);

/* rows.c: which rows were chosen so far. */
void check_row_chosen(const tamis_kernel *kernel);
/* Whether usable rows of a filter were chosen by no sample yet, and whether one of those that stand
 * beside a C row, which may be NULL, was not. */
int check_rows_missing(const check_machine *machine, const tamis_filter *filter);
int check_rows_new(const check_machine *machine, const tamis_filter *filter,
                   const tamis_kernel *c_row);
/* Counts rows this CPU lacks as skipped, and usable rows that nothing chose as failed. */
void check_rows_report(check_machine *machine);
/* The row of the same stage and type as kernel with instruction set number cpu; NULL when there is
 * none. */
const tamis_kernel *check_row_find(const check_machine *machine, const tamis_filter *filter,
                                   const tamis_kernel *kernel, int cpu);
/* The row that step 0 of a plan uses; NULL when it has none. */
const tamis_kernel *check_plan_kernel(const tamis_plan *plan);

/* compare.c: 0 when got is within the kernel row's tolerance of ref, given the largest finite
 * magnitude in the source; else buf says where not. */
int check_compare(const tamis_image *ref, const tamis_image *got, const tamis_kernel *kernel,
                  double largest, char *buf, size_t size);
double check_largest(const tamis_image *image);

/* bench.c */
void check_bench(check_machine *machine);

#endif
