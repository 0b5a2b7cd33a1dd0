/* SPDX-License-Identifier: Apache-2.0 */
#include "core/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/ctx.h"
#include "core/number.h"

#define ALIGNMENT 64

/* Stands just before each block, so that it can be given back and counted. */
struct header {
    void *base;
    size_t size;
};

static void count(tamis_ctx *ctx, size_t size)
{
    size_t now = atomic_fetch_add(&ctx->bytes, size) + size;
    size_t peak = atomic_load(&ctx->peak_bytes);
    while (now > peak && !atomic_compare_exchange_weak(&ctx->peak_bytes, &peak, now))
        ;
}

static void *default_alloc(void *user, size_t size)
{
    (void)user;
    return malloc(size);
}

static void default_free(void *user, void *ptr)
{
    (void)user;
    free(ptr);
}

const tamis_allocator tamis_priv_default_allocator = {default_alloc, default_free, NULL};

static size_t with_header(size_t size)
{
    return tamis_priv_size_add(size, ALIGNMENT + sizeof(struct header));
}

/* The block inside of so much memory; NULL where there is none. */
static void *make_block(tamis_ctx *ctx, char *base, size_t total)
{
    if (!base)
        return NULL;
    uintptr_t at = (uintptr_t)base + sizeof(struct header);
    char *block = base + sizeof(struct header) + (ALIGNMENT - at % ALIGNMENT) % ALIGNMENT;
    struct header h = {base, total};
    memcpy(block - sizeof h, &h, sizeof h);
    count(ctx, total);
    return block;
}

void *tamis_priv_mem_alloc(tamis_ctx *ctx, size_t size)
{
    size_t total = with_header(size);
    if (total == SIZE_MAX)
        return NULL;
    return make_block(ctx, ctx->allocator.alloc(ctx->allocator.user, total), total);
}

void *tamis_priv_mem_zalloc(tamis_ctx *ctx, size_t size)
{
    /* Large memory comes from the system as zeros, and only what is used later takes any. */
    if (ctx->allocator.alloc == default_alloc) {
        size_t total = with_header(size);
        return total == SIZE_MAX ? NULL : make_block(ctx, calloc(1, total), total);
    }
    void *p = tamis_priv_mem_alloc(ctx, size);
    if (p)
        memset(p, 0, size);
    return p;
}

void tamis_priv_mem_free(tamis_ctx *ctx, void *ptr)
{
    if (!ptr)
        return;
    struct header h;
    memcpy(&h, (char *)ptr - sizeof h, sizeof h);
    atomic_fetch_sub(&ctx->bytes, h.size);
    ctx->allocator.free(ctx->allocator.user, h.base);
}

tamis_status tamis_priv_mem_check(tamis_ctx *ctx, size_t size, const char *what)
{
    size_t held = atomic_load(&ctx->bytes);
    if (ctx->max_bytes == 0 || tamis_priv_size_add(held, size) <= ctx->max_bytes)
        return TAMIS_OK;
    char need[TAMIS_BYTES_TEXT], used[TAMIS_BYTES_TEXT], limit[TAMIS_BYTES_TEXT];
    return tamis_priv_fail(ctx, TAMIS_ERR_LIMIT,
                           "%s needs %s besides %s in use; the memory limit is %s", what,
                           tamis_priv_bytes_print(size, need), tamis_priv_bytes_print(held, used),
                           tamis_priv_bytes_print(ctx->max_bytes, limit));
}

size_t tamis_priv_size_mul(size_t a, size_t b)
{
    return b != 0 && a > SIZE_MAX / b ? SIZE_MAX : a * b;
}

size_t tamis_priv_size_add(size_t a, size_t b)
{
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}
