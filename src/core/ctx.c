/* SPDX-License-Identifier: Apache-2.0 */
#include "core/ctx.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tamis/threads.h>
#include <tamis/version.h>

#include "core/cpu.h"
#include "core/devices.h"
#include "core/mem.h"
#include "core/preset.h"

#define MAX_THREADS 1024

const char *tamis_version(void)
{
    return TAMIS_VERSION_STRING;
}

/* There is no context yet to carry the text. */
static tamis_status refuse(const tamis_ctx_options *options, tamis_status status, const char *text)
{
    if (options->log)
        options->log(options->log_user, TAMIS_LOG_ERROR, text);
    return status;
}

static tamis_status choose_threads(const tamis_ctx_options *options, int *out)
{
    char text[128];
    if (options->threads < 0 || options->threads > MAX_THREADS) {
        snprintf(text, sizeof text, "threads = %d is outside 0 .. %d", options->threads,
                 MAX_THREADS);
        return refuse(options, TAMIS_ERR_ARGUMENT, text);
    }
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    int all = cpus < 1 ? 1 : cpus > MAX_THREADS ? MAX_THREADS : (int)cpus;
    *out = options->threads ? options->threads : all;
    return TAMIS_OK;
}

static tamis_status choose_cpu(const tamis_ctx_options *options, unsigned *out)
{
    char text[192];
    unsigned have = tamis_priv_cpu_detect(), want = have;
    const char *from = options->cpu ? "cpu" : "TAMIS_CPU";
    const char *name = options->cpu ? options->cpu : getenv("TAMIS_CPU");
    if (name && *name && !tamis_priv_cpu_parse(name, &want)) {
        snprintf(text, sizeof text, "%s = \"%.64s\" is none of c, base, avx2, avx512", from, name);
        return refuse(options, TAMIS_ERR_ARGUMENT, text);
    }
    if (want & ~have) {
        snprintf(text, sizeof text, "%s = \"%s\": this machine has only %s", from, name,
                 tamis_priv_cpu_name(have));
        return refuse(options, TAMIS_ERR_ARGUMENT, text);
    }
    *out = want;
    return TAMIS_OK;
}

tamis_status tamis_ctx_create(const tamis_ctx_options *options, tamis_ctx **out)
{
    static const tamis_ctx_options defaults = {0};
    int threads = 0;
    unsigned cpu = 0;
    if (!options)
        options = &defaults;
    if (!out)
        return refuse(options, TAMIS_ERR_ARGUMENT, "tamis_ctx_create: out is NULL");
    *out = NULL;
    TAMIS_TRY(choose_threads(options, &threads));
    TAMIS_TRY(choose_cpu(options, &cpu));

    const tamis_allocator *a =
        options->allocator ? options->allocator : &tamis_priv_default_allocator;
    tamis_ctx *ctx = a->alloc(a->user, sizeof *ctx);
    if (!ctx)
        return refuse(options, TAMIS_ERR_MEMORY, "no memory for a context");
    *ctx = (tamis_ctx){.allocator = *a,
                       .max_bytes = options->max_bytes,
                       .cancel = options->cancel,
                       .cpu = cpu,
                       .cpu_name = tamis_priv_cpu_name(cpu),
                       .log = options->log,
                       .log_user = options->log_user};
    pthread_mutex_init(&ctx->log_mutex, NULL);
    ctx->pool = tamis_priv_pool_create(ctx, threads);
    if (!ctx->pool) {
        tamis_ctx_free(&ctx);
        return refuse(options, TAMIS_ERR_MEMORY, "no memory for the threads of a context");
    }
    tamis_status status = tamis_priv_presets_copy(ctx, options->presets, options->preset_count);
    if (status == TAMIS_OK)
        status = tamis_priv_devices_create(ctx, options->device,
                                           options->device ? "device" : "TAMIS_DEVICE");
    if (status != TAMIS_OK) {
        tamis_ctx_free(&ctx);
        return status; /* the text has been logged */
    }
    *out = ctx;
    return TAMIS_OK;
}

void tamis_ctx_free(tamis_ctx **ctx)
{
    if (!ctx || !*ctx)
        return;
    tamis_priv_devices_free(*ctx);
    tamis_priv_pool_free((*ctx)->pool);
    tamis_priv_presets_free(*ctx);
    pthread_mutex_destroy(&(*ctx)->log_mutex);
    tamis_allocator a = (*ctx)->allocator;
    a.free(a.user, *ctx);
    *ctx = NULL;
}

int tamis_ctx_threads(const tamis_ctx *ctx)
{
    return ctx ? tamis_priv_pool_threads(ctx->pool) : 0;
}

void tamis_ctx_occupy(tamis_ctx *ctx, int count)
{
    if (ctx)
        tamis_priv_pool_occupy(ctx->pool, count);
}

int tamis_ctx_canceled(const tamis_ctx *ctx)
{
    return ctx && ctx->cancel && __atomic_load_n(ctx->cancel, __ATOMIC_RELAXED);
}

const char *tamis_ctx_cpu(const tamis_ctx *ctx)
{
    return ctx ? ctx->cpu_name : "";
}

void tamis_ctx_each(tamis_ctx *ctx, int64_t count, void (*item)(void *user, int64_t index),
                    void *user)
{
    if (ctx && item && count > 0)
        tamis_priv_pool_each(ctx->pool, count, item, user);
}

size_t tamis_ctx_bytes(const tamis_ctx *ctx)
{
    return ctx ? atomic_load(&ctx->bytes) : 0;
}

size_t tamis_ctx_peak_bytes(const tamis_ctx *ctx)
{
    return ctx ? atomic_load(&ctx->peak_bytes) : 0;
}
