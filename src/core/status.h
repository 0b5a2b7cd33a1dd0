/* SPDX-License-Identifier: Apache-2.0 */
/* Reporting errors and log lines through a context. */
#ifndef TAMIS_CORE_STATUS_H
#define TAMIS_CORE_STATUS_H

#include <tamis/core.h>

/* Records the formatted text as the context's newest error, logs it, and returns status. */
tamis_status tamis_priv_fail(tamis_ctx *ctx, tamis_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Fails with ARGUMENT since the argument of that name is NULL. ctx may be NULL as well. */
tamis_status tamis_priv_fail_null(tamis_ctx *ctx, const char *function, const char *argument);

/* Logs without recording an error. */
void tamis_priv_log(tamis_ctx *ctx, tamis_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns from the calling function when the call failed. */
#define TAMIS_TRY(call)                                                                            \
    do {                                                                                           \
        tamis_status tamis_try_ = (call);                                                          \
        if (tamis_try_ != TAMIS_OK)                                                                \
            return tamis_try_;                                                                     \
    } while (0)

/* At the public border: returns ARGUMENT when the pointer is NULL. */
#define TAMIS_REQUIRE(ctx, pointer)                                                                \
    do {                                                                                           \
        if (!(pointer))                                                                            \
            return tamis_priv_fail_null(ctx, __func__, #pointer);                                  \
    } while (0)

#endif
