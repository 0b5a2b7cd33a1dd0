/* SPDX-License-Identifier: Apache-2.0 */
/* Timing chains: what tamis bench and its tables share. */
#ifndef TOOL_BENCH_H
#define TOOL_BENCH_H

#include "json.h"
#include "tool.h"

/* How a chain is timed: on the CPU, or on the GPU, with pictures that stay in its memory (one after
 * the other, so that neither waiting nor launching counts) or come from pinned memory and go back
 * (one at a time). */
typedef enum tool_way {
    TOOL_ONE_THREAD,
    TOOL_ALL_THREADS,
    TOOL_ON_DEVICE,
    TOOL_WITH_COPIES,
    TOOL_WAYS
} tool_way;

/* One measurement: seconds of the fastest run and of the middle one. */
typedef struct tool_timing {
    int threads, runs;
    char device[64]; /* where it ran: "cpu", "cuda:0" */
    double best, median;
    double choosing;  /* seconds, once, where the chain leaves something to the picture */
    char chosen[256]; /* the chain then; else empty */
} tool_timing;

typedef struct tool_bench {
    tool *tool;
    tamis_format format; /* of the picture to filter */
    int32_t w, h;
    int has_gpu, gpu;          /* whether the last two ways are there, and the device's number */
    tamis_ctx *ctx[TOOL_WAYS]; /* for each way that is wanted; those on a GPU share the tool's */
    json_t *results;           /* for --json and --report */
} tool_bench;

/* ---- bench_measure.c */

/* Times a chain. Returns an exit code, having said what is wrong. */
int tool_bench_measure(tool_bench *b, const char *chain, tool_way way, tool_timing *out);

/* Adds a timing to an object under the way's name. */
void tool_bench_json(const tool_bench *b, tool_way way, const tool_timing *t, json_t *object);

/* ---- bench_published.c */

/* The cases of published tables, beside their figures: on the CPU and, where there is one, on the
 * GPU. */
int tool_bench_published(tool_bench *b);

#endif
