/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of a context. */
#ifndef TAMIS_CORE_CTX_H
#define TAMIS_CORE_CTX_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/pool.h"
#include "core/status.h"

struct tamis_ctx {
    tamis_allocator allocator;
    atomic_size_t bytes, peak_bytes;
    size_t max_bytes;
    const volatile int *cancel;
    unsigned cpu; /* TAMIS_CPU_* flags in use */
    const char *cpu_name;
    tamis_pool *pool;
    struct tamis_devices *devices; /* what core/devices.h says of them */
    struct tamis_preset *presets;  /* from core/preset.h; one block with their texts */
    int preset_count;

    pthread_mutex_t log_mutex; /* guards what follows */
    tamis_log_fn log;
    void *log_user;
    char message[512];
};

#endif
