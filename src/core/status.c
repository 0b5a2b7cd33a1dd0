/* SPDX-License-Identifier: Apache-2.0 */
#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/ctx.h"
#include "core/number.h"

const char *tamis_status_name(tamis_status status)
{
    switch (status) {
    case TAMIS_OK:
        return "ok";
    case TAMIS_ERR_ARGUMENT:
        return "argument";
    case TAMIS_ERR_UNSUPPORTED:
        return "unsupported";
    case TAMIS_ERR_MEMORY:
        return "memory";
    case TAMIS_ERR_LIMIT:
        return "limit";
    case TAMIS_ERR_READ:
        return "read";
    case TAMIS_ERR_WRITE:
        return "write";
    case TAMIS_ERR_DEVICE:
        return "device";
    case TAMIS_ERR_CANCELED:
        return "canceled";
    case TAMIS_ERR_AGAIN:
        return "again";
    }
    return "unknown";
}

static void emit(tamis_ctx *ctx, tamis_log_level level, const char *text, int is_error)
{
    pthread_mutex_lock(&ctx->log_mutex);
    if (is_error)
        snprintf(ctx->message, sizeof ctx->message, "%s", text);
    if (ctx->log)
        ctx->log(ctx->log_user, level, text);
    pthread_mutex_unlock(&ctx->log_mutex);
}

static tamis_status fail(tamis_ctx *ctx, tamis_status status, const char *format, va_list args)
{
    char text[sizeof ctx->message];
    tamis_priv_number_vprint(text, sizeof text, format, args);
    emit(ctx, TAMIS_LOG_ERROR, text, 1);
    return status;
}

tamis_status tamis_priv_fail(tamis_ctx *ctx, tamis_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail(ctx, status, format, args);
    va_end(args);
    return status;
}

tamis_status tamis_priv_fail_null(tamis_ctx *ctx, const char *function, const char *argument)
{
    return tamis_ctx_fail(ctx, TAMIS_ERR_ARGUMENT, "%s: %s is NULL", function, argument);
}

tamis_status tamis_ctx_fail(tamis_ctx *ctx, tamis_status status, const char *format, ...)
{
    if (ctx) {
        va_list args;
        va_start(args, format);
        fail(ctx, status, format, args);
        va_end(args);
    }
    return status;
}

static void log_text(tamis_ctx *ctx, tamis_log_level level, const char *format, va_list args)
{
    char text[sizeof ctx->message];
    tamis_priv_number_vprint(text, sizeof text, format, args);
    emit(ctx, level, text, 0);
}

void tamis_priv_log(tamis_ctx *ctx, tamis_log_level level, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    log_text(ctx, level, format, args);
    va_end(args);
}

void tamis_ctx_log(tamis_ctx *ctx, tamis_log_level level, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (ctx)
        log_text(ctx, level, format, args);
    va_end(args);
}

const char *tamis_ctx_last_message(const tamis_ctx *ctx, char *buf, size_t size)
{
    if (size == 0 || !buf)
        return buf;
    *buf = '\0';
    if (!ctx)
        return buf;
    /* The lock is the only part that changes: reading a message leaves the context as it was. */
    pthread_mutex_t *mutex = (pthread_mutex_t *)&ctx->log_mutex;
    pthread_mutex_lock(mutex);
    snprintf(buf, size, "%s", ctx->message);
    pthread_mutex_unlock(mutex);
    return buf;
}
