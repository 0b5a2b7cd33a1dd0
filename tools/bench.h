/* SPDX-License-Identifier: Apache-2.0 */
/* Timing chains: what tamis bench and its tables share. */
#ifndef TOOL_BENCH_H
#define TOOL_BENCH_H

#include "json.h"
#include "tool.h"

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
    tamis_ctx *ctx[2]; /* one thread, all threads; a GPU has pictures in ordinary memory with the
                          first, in pinned memory with the second */
    json_t *results;   /* for --json and --report */
} tool_bench;

/* Times a chain with one thread and with all. Returns an exit code, having said what is wrong. */
int tool_bench_measure(tool_bench *b, const char *chain, tool_timing t[2]);

/* Adds both timings to an object, and where they were taken. */
void tool_bench_json(const tool_bench *b, const tool_timing t[2], json_t *object);

/* "  on cuda:0, ordinary and pinned memory" after a row that ran there, else empty. */
const char *tool_bench_place(const tool_timing *t, char *buf, size_t size);

/* bench_published.c: the cases of published tables, beside their figures. */
int tool_bench_published(tool_bench *b);

#endif
