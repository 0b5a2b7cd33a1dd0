/* SPDX-License-Identifier: Apache-2.0 */
#include "gate.h"

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

/* What this process may use: the machine's memory, or less in a container. */
static size_t memory_of_machine(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    size_t bytes = pages > 0 && size > 0 ? (size_t)pages * (size_t)size : SIZE_MAX;
    FILE *file = fopen("/sys/fs/cgroup/memory.max", "r");
    unsigned long long most;
    if (file && fscanf(file, "%llu", &most) == 1 && most < bytes)
        bytes = (size_t)most;
    if (file)
        fclose(file);
    return bytes;
}

void tool_gate_open(tool_gate *gate, size_t limit)
{
    *gate = (tool_gate){.used = 0};
    pthread_mutex_init(&gate->mutex, NULL);
    pthread_cond_init(&gate->changed, NULL);
    limit = limit ? limit : memory_of_machine() / 2;
    gate->budget = limit - limit / 8; /* the rest is for decoders and encoders */
}

void tool_gate_close(tool_gate *gate)
{
    pthread_cond_destroy(&gate->changed);
    pthread_mutex_destroy(&gate->mutex);
}

static int has_room(const tool_gate *gate, size_t bytes)
{
    return gate->inside == 0 || (bytes <= gate->budget && gate->used <= gate->budget - bytes);
}

/* Waits for its turn and its room. Called with the mutex held. */
static void go_in(tool_gate *gate, size_t bytes)
{
    unsigned long ticket = gate->next++;
    while (gate->serving != ticket || !has_room(gate, bytes))
        pthread_cond_wait(&gate->changed, &gate->mutex);
    gate->inside++;
    gate->used += bytes;
    gate->serving++;
    pthread_cond_broadcast(&gate->changed);
}

static void go_out(tool_gate *gate, size_t bytes)
{
    gate->inside--;
    gate->used -= bytes;
    pthread_cond_broadcast(&gate->changed);
}

int tool_gate_try(tool_gate *gate, size_t bytes)
{
    pthread_mutex_lock(&gate->mutex);
    int ok = gate->serving == gate->next && has_room(gate, bytes);
    if (ok)
        go_in(gate, bytes);
    pthread_mutex_unlock(&gate->mutex);
    return ok;
}

void tool_gate_enter(tool_gate *gate, size_t bytes)
{
    pthread_mutex_lock(&gate->mutex);
    go_in(gate, bytes);
    pthread_mutex_unlock(&gate->mutex);
}

void tool_gate_leave(tool_gate *gate, size_t bytes)
{
    pthread_mutex_lock(&gate->mutex);
    go_out(gate, bytes);
    pthread_mutex_unlock(&gate->mutex);
}

size_t tool_gate_alone(tool_gate *gate)
{
    size_t bytes = gate->budget + 1; /* there is room beside nobody, and for nobody beside it */
    tool_gate_enter(gate, bytes);
    return bytes;
}

void tool_gate_hold(tool_gate *gate, size_t bytes)
{
    pthread_mutex_lock(&gate->mutex);
    gate->used += bytes;
    pthread_mutex_unlock(&gate->mutex);
}

void tool_gate_drop(tool_gate *gate, size_t bytes)
{
    pthread_mutex_lock(&gate->mutex);
    gate->used -= bytes;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->mutex);
}

int tool_gate_waits(tool_gate *gate)
{
    pthread_mutex_lock(&gate->mutex);
    int waits = gate->serving != gate->next;
    pthread_mutex_unlock(&gate->mutex);
    return waits;
}
