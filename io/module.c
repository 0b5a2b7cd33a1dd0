/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* dladdr */
#include "module.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void *open_first(const char *file, const char *variable)
{
    char folder[3072], path[3200];
    const char *named = getenv(variable);
    if (named && *named)
        return dlopen(named, RTLD_NOW | RTLD_LOCAL);
    own_folder(folder, sizeof folder);
    static const char *const places[] = {"", "tamis/"};
    for (int i = 0; *folder && i < 2; i++) {
        snprintf(path, sizeof path, "%s%s%.64s", folder, places[i], file);
        FILE *there = fopen(path, "rb"); /* an error from a module that is there must be told */
        if (there) {
            fclose(there);
            return dlopen(path, RTLD_NOW | RTLD_LOCAL);
        }
    }
    return dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

void *tamis_priv_module_open(const char *file, const char *variable, char *why, size_t size)
{
    void *handle = open_first(file, variable);
    if (!handle) {
        const char *error = dlerror();
        snprintf(why, size, "the module %s cannot be opened: %.180s", file,
                 error ? error : "unknown error");
    }
    return handle;
}
