/* SPDX-License-Identifier: Apache-2.0 */
/* All heap memory of the library comes from here: counted, aligned, limited. */
#ifndef TAMIS_CORE_MEM_H
#define TAMIS_CORE_MEM_H

#include <stddef.h>
#include <tamis/core.h>

/* malloc() and free(). */
extern const tamis_allocator tamis_priv_default_allocator;

/* Memory aligned to 64 bytes; NULL when the allocator has none. Contents are undefined. */
void *tamis_priv_mem_alloc(tamis_ctx *ctx, size_t size);
/* The same, zeroed. */
void *tamis_priv_mem_zalloc(tamis_ctx *ctx, size_t size);
/* NULL is fine. */
void tamis_priv_mem_free(tamis_ctx *ctx, void *ptr);
/* Whether size more bytes may be taken under the context's limit. Errors: LIMIT, with the sizes. */
tamis_status tamis_priv_mem_check(tamis_ctx *ctx, size_t size, const char *what);

/* a * b and a + b, or SIZE_MAX when that overflows, so that the allocation fails. */
size_t tamis_priv_size_mul(size_t a, size_t b);
size_t tamis_priv_size_add(size_t a, size_t b);

#endif
