/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds the memory of the pictures in work and of the plans for them: a thread that is to read one
 * asks here first. */
#ifndef TOOL_GATE_H
#define TOOL_GATE_H

#include <pthread.h>
#include <stddef.h>

typedef struct tool_gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t budget; /* bytes for all */
    size_t used;   /* of those inside, and of plans */
    int inside;
    unsigned long next, serving; /* threads are let in in the order in which they came */
} tool_gate;

/* limit 0: what the machine has. */
void tool_gate_open(tool_gate *gate, size_t limit);
void tool_gate_close(tool_gate *gate);

/* Goes in when there is room for so many bytes, or nobody else inside, and nobody waits. */
int tool_gate_try(tool_gate *gate, size_t bytes);
/* Waits for that. */
void tool_gate_enter(tool_gate *gate, size_t bytes);
/* Goes in when nobody is inside, and lets nobody else in. Returns what to leave with. */
size_t tool_gate_alone(tool_gate *gate);
void tool_gate_leave(tool_gate *gate, size_t bytes);

/* Counts bytes in that are taken anyway, and out again. */
void tool_gate_hold(tool_gate *gate, size_t bytes);
void tool_gate_drop(tool_gate *gate, size_t bytes);

/* Whether somebody waits. */
int tool_gate_waits(tool_gate *gate);

#endif
