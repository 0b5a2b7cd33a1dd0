/* SPDX-License-Identifier: Apache-2.0 */
/* What libtamis-io sees of this module. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "bridge.h"

tamis_status tamis_priv_vips_fail(tamis_ctx *ctx, const char *name, tamis_status status,
                                  const char *what)
{
    char *text = vips_error_buffer_copy(); /* and clears it */
    size_t length = strlen(text);
    while (length > 0 && g_ascii_isspace(text[length - 1]))
        text[--length] = '\0';
    for (char *c = text; *c; c++)
        *c = *c == '\n' ? ';' : *c;
    status = tamis_ctx_fail(ctx, status, "%s: %s%s%.300s", name, what, length ? ": " : "", text);
    g_free(text);
    return status;
}

static const char *libraries(char *buf, size_t size)
{
    snprintf(buf, size, "libvips %d.%d.%d", vips_version(0), vips_version(1), vips_version(2));
    return buf;
}

static void release(void *bytes)
{
    g_free(bytes);
}

static const tamis_vips_module module = {.abi = TAMIS_VIPS_ABI,
                                         .knows = tamis_priv_vips_knows,
                                         .open = tamis_priv_vips_open,
                                         .info = tamis_priv_vips_info,
                                         .part = tamis_priv_vips_part,
                                         .meta = tamis_priv_vips_meta,
                                         .close = tamis_priv_vips_close,
                                         .encode = tamis_priv_vips_encode,
                                         .release = release,
                                         .libraries = libraries};

static int started;

/* Warnings go nowhere: what matters comes as an error. */
static void be_silent(const gchar *domain, GLogLevelFlags level, const gchar *text, gpointer user)
{
    (void)domain;
    (void)level;
    (void)text;
    (void)user;
}

/* Nothing is kept: a file may have changed when it is opened again. */
static void start(void)
{
    started = VIPS_INIT("tamis") == 0;
    if (!started)
        return;
    vips_cache_set_max(0);
    g_log_set_handler("VIPS", G_LOG_LEVEL_WARNING | G_LOG_LEVEL_INFO | G_LOG_LEVEL_MESSAGE,
                      be_silent, NULL);
}

TAMIS_API const tamis_vips_module *tamis_vips_module_entry(void);

const tamis_vips_module *tamis_vips_module_entry(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
    return started ? &module : NULL;
}
