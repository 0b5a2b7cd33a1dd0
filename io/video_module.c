/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and opens the module with FFmpeg's libraries. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "module.h"
#include "video_ops.h"

#define MODULE "tamis_video.so"

const tamis_video_module *tamis_priv_video_module(char *why, size_t size)
{
    void *handle = tamis_priv_module_open(MODULE, "TAMIS_VIDEO_MODULE", why, size);
    if (!handle)
        return NULL;
    tamis_video_entry entry = NULL;
    void *symbol = dlsym(handle, TAMIS_VIDEO_ENTRY);
    memcpy(&entry, &symbol, sizeof entry); /* POSIX: the two have one representation */
    const tamis_video_module *module = entry ? entry() : NULL;
    if (module && module->abi == TAMIS_VIDEO_ABI)
        return module;
    snprintf(why, size, "the module " MODULE " belongs to another version of tamis");
    return NULL;
}

int tamis_video_device(int index, char *buf, size_t size)
{
    char why[256];
    if (!buf || size == 0)
        return 0;
    const tamis_video_module *module = tamis_priv_video_module(why, sizeof why);
    if (module)
        return module->device(index, buf, size);
    snprintf(buf, size, "%s", why);
    return 0;
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
