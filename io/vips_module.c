/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and opens the module with libvips. */
#include "vips_module.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "module.h"

#define MODULE "tamis_vips.so"

const tamis_vips_module *tamis_priv_vips_module(char *why, size_t size)
{
    void *handle = tamis_priv_module_open(MODULE, "TAMIS_VIPS_MODULE", why, size);
    if (!handle)
        return NULL;
    tamis_vips_entry entry = NULL;
    void *symbol = dlsym(handle, TAMIS_VIPS_ENTRY);
    memcpy(&entry, &symbol, sizeof entry); /* POSIX: the two have one representation */
    const tamis_vips_module *module = entry ? entry() : NULL;
    if (module && module->abi == TAMIS_VIPS_ABI)
        return module;
    snprintf(why, size, "the module " MODULE " %s",
             module || !entry ? "belongs to another version of tamis" : "cannot start libvips");
    return NULL;
}

const char *tamis_vips_libraries(char *buf, size_t size)
{
    if (!buf || size == 0)
        return "";
    char why[256];
    const tamis_vips_module *module = tamis_priv_vips_module(why, sizeof why);
    if (module)
        return module->libraries(buf, size);
    snprintf(buf, size, "%s", why);
    return buf;
}
