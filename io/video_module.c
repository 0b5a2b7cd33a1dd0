/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and opens the module with FFmpeg's libraries. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "video_ops.h"

#define MODULE "tamis_video.so"

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

static void *open_module(void)
{
    char folder[3072], path[3200];
    const char *named = getenv("TAMIS_VIDEO_MODULE");
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

const tamis_video_module *tamis_priv_video_module(char *why, size_t size)
{
    /* Opened once more each time, which costs little, and never closed: its libraries keep threads
     * and hooks of their own. */
    void *handle = open_module();
    if (!handle) {
        const char *error = dlerror();
        snprintf(why, size, "the module " MODULE " cannot be opened: %.180s",
                 error ? error : "unknown error");
        return NULL;
    }
    tamis_video_entry entry = NULL;
    void *symbol = dlsym(handle, TAMIS_VIDEO_ENTRY);
    memcpy(&entry, &symbol, sizeof entry); /* POSIX: the two have one representation */
    const tamis_video_module *module = entry ? entry() : NULL;
    if (module && module->abi == TAMIS_VIDEO_ABI)
        return module;
    snprintf(why, size, "the module " MODULE " belongs to another version of tamis");
    return NULL;
}

const char *tamis_video_libraries(char *buf, size_t size)
{
    if (!buf || size == 0)
        return "";
    char why[256];
    const tamis_video_module *module = tamis_priv_video_module(why, sizeof why);
    if (module)
        return module->libraries(buf, size);
    snprintf(buf, size, "%s", why);
    return buf;
}
