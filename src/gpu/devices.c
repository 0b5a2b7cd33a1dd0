/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* dladdr */
#include "core/devices.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tamis/device.h>

#include "core/ctx.h"
#include "core/mem.h"
#include "gpu/backend.h"
#include "image/image.h"

#define MODULE      "tamis_cuda.so"
#define MAX_DEVICES 64

struct tamis_devices {
    int wanted[MAX_DEVICES], wanted_count; /* none: the CPU */
    int all, optional;
    pthread_mutex_t mutex; /* guards what follows */
    int looked;
    void *module;
    const tamis_backend *backend; /* NULL: none, and why says why */
    int count;
    tamis_gpu *gpu[MAX_DEVICES];
    tamis_device_info info[MAX_DEVICES]; /* of those that are open */
    tamis_gpu_fault why;
};

/* ---- the module */

/* The folder of the library or program that holds this function, with its slash. */
static void own_folder(char *out, size_t size)
{
    Dl_info info;
    *out = '\0';
    if (!dladdr((void *)(uintptr_t)own_folder, &info) || !info.dli_fname)
        return;
    const char *slash = strrchr(info.dli_fname, '/');
    if (slash && (size_t)(slash + 2 - info.dli_fname) < size)
        snprintf(out, size, "%.*s", (int)(slash + 1 - info.dli_fname), info.dli_fname);
}

/* TAMIS_CUDA_MODULE names it; else it lies beside this library, in its folder tamis, or where the
 * system looks. */
static void *open_module(void)
{
    char folder[3072], path[3200];
    const char *named = getenv("TAMIS_CUDA_MODULE");
    if (named && *named)
        return dlopen(named, RTLD_NOW | RTLD_LOCAL);
    own_folder(folder, sizeof folder);
    static const char *const places[] = {"", "tamis/"};
    for (int i = 0; *folder && i < 2; i++) {
        snprintf(path, sizeof path, "%s%s" MODULE, folder, places[i]);
        FILE *file = fopen(path, "rb"); /* an error from a module that is there must be told */
        if (file) {
            fclose(file);
            return dlopen(path, RTLD_NOW | RTLD_LOCAL);
        }
    }
    return dlopen(MODULE, RTLD_NOW | RTLD_LOCAL);
}

static void look(struct tamis_devices *d)
{
    d->module = open_module();
    if (!d->module) {
        const char *error = dlerror();
        snprintf(d->why.text, sizeof d->why.text, "the module " MODULE " cannot be opened: %.180s",
                 error ? error : "unknown error");
        return;
    }
    tamis_backend_entry entry = NULL;
    void *symbol = dlsym(d->module, TAMIS_BACKEND_ENTRY);
    memcpy(&entry, &symbol, sizeof entry); /* POSIX: the two have one representation */
    const tamis_backend *backend = entry ? entry() : NULL;
    if (!backend || backend->abi != TAMIS_GPU_ABI) {
        snprintf(d->why.text, sizeof d->why.text,
                 "the module " MODULE " belongs to another version of tamis");
        return;
    }
    d->count = backend->count(&d->why);
    if (d->count > MAX_DEVICES)
        d->count = MAX_DEVICES;
    if (d->count > 0)
        d->backend = backend;
}

const tamis_backend *tamis_priv_devices_backend(tamis_ctx *ctx)
{
    struct tamis_devices *d = ctx->devices;
    pthread_mutex_lock(&d->mutex);
    if (!d->looked)
        look(d);
    d->looked = 1;
    pthread_mutex_unlock(&d->mutex);
    if (!d->backend)
        tamis_priv_fail(ctx, TAMIS_ERR_DEVICE, "cuda: %s", d->why.text);
    return d->backend;
}

tamis_status tamis_priv_devices_open(tamis_ctx *ctx, int index, tamis_gpu **out)
{
    struct tamis_devices *d = ctx->devices;
    const tamis_backend *backend = tamis_priv_devices_backend(ctx);
    tamis_gpu_fault fault = {""};
    if (!backend)
        return TAMIS_ERR_DEVICE;
    if (index < 0 || index >= d->count)
        return tamis_priv_fail(ctx, TAMIS_ERR_DEVICE,
                               "cuda: there is no device %d; this machine has %d, counted from 0",
                               index, d->count);
    tamis_status status = TAMIS_OK;
    pthread_mutex_lock(&d->mutex);
    if (!d->gpu[index])
        status = backend->describe(index, &d->info[index], &fault);
    if (!d->gpu[index] && status == TAMIS_OK)
        status = backend->open(index, &d->gpu[index], &fault);
    *out = d->gpu[index];
    pthread_mutex_unlock(&d->mutex);
    if (status != TAMIS_OK)
        return tamis_priv_fail(ctx, status, "cuda:%d: %s", index, fault.text);
    return TAMIS_OK;
}

const tamis_device_info *tamis_priv_devices_info(const tamis_ctx *ctx, int index)
{
    return &ctx->devices->info[index];
}

/* ---- what the user wants */

static int add_wanted(struct tamis_devices *d, long index)
{
    for (int i = 0; i < d->wanted_count; i++)
        if (d->wanted[i] == index)
            return 0;
    if (index < 0 || index >= MAX_DEVICES)
        return 0;
    d->wanted[d->wanted_count++] = (int)index;
    return 1;
}

/* Numbers with commas between them; 0 when the text is anything else or names one twice. */
static int parse_list(const char *text, struct tamis_devices *d)
{
    for (;; text++) {
        char *end = NULL;
        if (*text < '0' || *text > '9' || !add_wanted(d, strtol(text, &end, 10)))
            return 0;
        text = end;
        if (!*text)
            return 1;
        if (*text != ',')
            return 0;
    }
}

static tamis_status parse(tamis_ctx *ctx, const char *wish, const char *from,
                          struct tamis_devices *d)
{
    if (!wish || !*wish || strcmp(wish, "cpu") == 0)
        return TAMIS_OK;
    d->optional = strcmp(wish, "auto") == 0;
    d->all = strcmp(wish, "cuda:all") == 0;
    if (d->all)
        return TAMIS_OK;
    if (d->optional || strcmp(wish, "cuda") == 0) {
        add_wanted(d, 0);
        return TAMIS_OK;
    }
    if (strncmp(wish, "cuda:", 5) == 0 && parse_list(wish + 5, d))
        return TAMIS_OK;
    return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT,
                           "%s = \"%.64s\" is none of cpu, auto, cuda, cuda:0 .. cuda:%d, several "
                           "different ones as cuda:0,1, cuda:all",
                           from, wish, MAX_DEVICES - 1);
}

/* Devices of one compute capability run the same code and round alike. */
static int is_like(const tamis_device_info *a, const tamis_device_info *b)
{
    return a->major == b->major && a->minor == b->minor;
}

/* Results must not depend on which of the devices a part is for: of "all" those unlike the first
 * are left out, in a list they are refused. */
static tamis_status check_alike(tamis_ctx *ctx, struct tamis_devices *d)
{
    int kept = 0;
    const tamis_device_info *first = &d->info[d->wanted[0]];
    for (int i = 0; i < d->wanted_count; i++) {
        int index = d->wanted[i];
        const tamis_device_info *info = &d->info[index];
        if (is_like(first, info)) {
            d->wanted[kept++] = index;
            continue;
        }
        if (!d->all)
            return tamis_priv_fail(
                ctx, TAMIS_ERR_UNSUPPORTED,
                "cuda:%d,%d: %.60s (compute capability %d.%d) and %.60s (%d.%d) are not alike, and "
                "results could depend on which of them a part is for",
                d->wanted[0], index, first->name, first->major, first->minor, info->name,
                info->major, info->minor);
        tamis_priv_log(ctx, TAMIS_LOG_INFO,
                       "device cuda:all: without cuda:%d, %s (compute capability %d.%d), which is "
                       "not like cuda:%d, %s (%d.%d)",
                       index, info->name, info->major, info->minor, d->wanted[0], first->name,
                       first->major, first->minor);
    }
    d->wanted_count = kept;
    return TAMIS_OK;
}

static tamis_status open_wanted(tamis_ctx *ctx, struct tamis_devices *d)
{
    tamis_gpu *gpu = NULL;
    if (d->all && !tamis_priv_devices_backend(ctx))
        return TAMIS_ERR_DEVICE;
    for (int i = 0; d->all && i < d->count; i++)
        add_wanted(d, i);
    for (int i = 0; i < d->wanted_count; i++)
        TAMIS_TRY(tamis_priv_devices_open(ctx, d->wanted[i], &gpu));
    return d->wanted_count > 1 ? check_alike(ctx, d) : TAMIS_OK;
}

/* With "auto" nothing is said of a missing device but in the log. */
static tamis_status find_wanted(tamis_ctx *ctx, struct tamis_devices *d)
{
    if (!d->optional)
        return open_wanted(ctx, d);
    tamis_log_fn log = ctx->log;
    ctx->log = NULL; /* no other thread has this context yet */
    if (open_wanted(ctx, d) != TAMIS_OK)
        d->wanted_count = 0;
    ctx->log = log;
    if (d->wanted_count == 0)
        tamis_priv_log(ctx, TAMIS_LOG_INFO, "device auto: the CPU, for %s", ctx->message);
    ctx->message[0] = '\0';
    return TAMIS_OK;
}

tamis_status tamis_priv_devices_create(tamis_ctx *ctx, const char *wish, const char *from)
{
    struct tamis_devices *d = tamis_priv_mem_zalloc(ctx, sizeof *d);
    if (!d)
        return tamis_priv_fail(ctx, TAMIS_ERR_MEMORY, "no memory for a context");
    pthread_mutex_init(&d->mutex, NULL);
    ctx->devices = d;
    TAMIS_TRY(parse(ctx, wish ? wish : getenv("TAMIS_DEVICE"), from, d));
    return find_wanted(ctx, d);
}

void tamis_priv_devices_free(tamis_ctx *ctx)
{
    struct tamis_devices *d = ctx->devices;
    if (!d)
        return;
    for (int i = 0; i < d->count; i++)
        if (d->gpu[i])
            d->backend->close(d->gpu[i]);
    /* The module stays: a CUDA runtime that is unloaded takes others in the process with it. */
    pthread_mutex_destroy(&d->mutex);
    tamis_priv_mem_free(ctx, d);
    ctx->devices = NULL;
}

int tamis_priv_devices_wanted(const tamis_ctx *ctx, int i)
{
    return i < ctx->devices->wanted_count ? ctx->devices->wanted[i] : -1;
}

int tamis_priv_devices_optional(const tamis_ctx *ctx)
{
    return ctx->devices->optional;
}

/* ---- public */

int tamis_device_count(tamis_ctx *ctx)
{
    return ctx && tamis_priv_devices_backend(ctx) ? ctx->devices->count : 0;
}

tamis_status tamis_device_describe(tamis_ctx *ctx, int index, tamis_device_info *out)
{
    tamis_gpu_fault fault = {""};
    TAMIS_REQUIRE(ctx, ctx);
    TAMIS_REQUIRE(ctx, out);
    *out = (tamis_device_info){0};
    int count = tamis_device_count(ctx);
    if (count == 0)
        return TAMIS_ERR_DEVICE;
    if (index < 0 || index >= count)
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT, "device %d is outside 0 .. %d", index,
                               count - 1);
    tamis_status status = ctx->devices->backend->describe(index, out, &fault);
    if (status != TAMIS_OK)
        return tamis_priv_fail(ctx, status, "cuda:%d: %s", index, fault.text);
    return TAMIS_OK;
}

int tamis_device_kernel(tamis_ctx *ctx, const tamis_filter *filter, int index,
                        tamis_kernel_info *out)
{
    if (!filter || !out || index < 0 || tamis_device_count(ctx) == 0)
        return 0;
    const tamis_backend *backend = ctx->devices->backend;
    for (const tamis_gpu_filter *f = backend->filters; f->name; f++) {
        if (strcmp(f->name, filter->name) != 0)
            continue;
        for (const tamis_gpu_kernel *k = f->kernels; k->stage; k++)
            if (index-- == 0) {
                *out = (tamis_kernel_info){k->stage, k->type, backend->name, k->tolerance};
                return 1;
            }
    }
    return 0;
}

/* ---- images */

static tamis_status fail_alloc(tamis_ctx *ctx, tamis_status status, const tamis_gpu_fault *fault)
{
    if (status == TAMIS_OK || status == TAMIS_ERR_MEMORY)
        return status;
    return tamis_priv_fail(ctx, status, "cuda: %s", fault->text);
}

static tamis_status device_alloc(tamis_ctx *ctx, void *user, size_t size, void **out)
{
    tamis_gpu_fault fault = {""};
    return fail_alloc(ctx, ctx->devices->backend->alloc(user, NULL, size, out, &fault), &fault);
}

static void device_free(tamis_ctx *ctx, void *user, void *data)
{
    ctx->devices->backend->free(user, NULL, data);
}

static tamis_status pinned_alloc(tamis_ctx *ctx, void *user, size_t size, void **out)
{
    tamis_gpu_fault fault = {""};
    return fail_alloc(ctx, ctx->devices->backend->host_alloc(user, size, out, &fault), &fault);
}

static void pinned_free(tamis_ctx *ctx, void *user, void *data)
{
    ctx->devices->backend->host_free(user, data);
}

tamis_status tamis_image_create_on_device(tamis_ctx *ctx, int index, tamis_format format, int32_t w,
                                          int32_t h, tamis_image *out)
{
    tamis_gpu *gpu = NULL;
    TAMIS_REQUIRE(ctx, out);
    *out = (tamis_image){0};
    TAMIS_REQUIRE(ctx, ctx);
    TAMIS_TRY(tamis_priv_devices_open(ctx, index, &gpu));
    tamis_image_memory memory = {device_alloc, device_free, gpu, 256, 16, "device "};
    TAMIS_TRY(tamis_priv_image_create(ctx, &memory, format, w, h, out));
    out->device = 1 + index;
    return TAMIS_OK;
}

tamis_status tamis_image_create_pinned(tamis_ctx *ctx, tamis_format format, int32_t w, int32_t h,
                                       tamis_image *out)
{
    tamis_gpu *gpu = NULL;
    TAMIS_REQUIRE(ctx, out);
    *out = (tamis_image){0};
    TAMIS_REQUIRE(ctx, ctx);
    int index = tamis_priv_devices_wanted(ctx, 0);
    TAMIS_TRY(tamis_priv_devices_open(ctx, index < 0 ? 0 : index, &gpu));
    tamis_image_memory memory = {pinned_alloc, pinned_free, gpu, 256, 16, "pinned "};
    return tamis_priv_image_create(ctx, &memory, format, w, h, out);
}
