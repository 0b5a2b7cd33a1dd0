/* SPDX-License-Identifier: Apache-2.0 */
/* Work of other libraries, such as libtamis-io, on the threads of a context. */
#ifndef TAMIS_THREADS_H
#define TAMIS_THREADS_H

#include <tamis/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls item(user, 0) .. item(user, count - 1) on the caller's thread and those of the context that
 * are idle, in any order and at the same time, and returns when all are done. Any number of threads
 * may be in here at once, but none from inside an item. Without a context nothing is called. */
TAMIS_API void tamis_ctx_each(tamis_ctx *ctx, int64_t count,
                              void (*item)(void *user, int64_t index), void *user);

#ifdef __cplusplus
}
#endif

#endif
