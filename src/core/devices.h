/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of a context: the module is looked for when one is first asked for, and a device is
 * opened when a plan or an image first needs it. */
#ifndef TAMIS_CORE_DEVICES_H
#define TAMIS_CORE_DEVICES_H

#include <tamis/core.h>

struct tamis_backend;
struct tamis_gpu;
struct tamis_device_info;

/* Sets ctx->devices from the user's wish: "cpu", "auto", "cuda", "cuda:i", "cuda:i,j", "cuda:all",
 * or NULL for what the environment variable TAMIS_DEVICE says. from names it in messages. Errors:
 * ARGUMENT, DEVICE, MEMORY, UNSUPPORTED (devices that are not alike). */
tamis_status tamis_priv_devices_create(tamis_ctx *ctx, const char *wish, const char *from);
void tamis_priv_devices_free(tamis_ctx *ctx);

/* The devices that the context plans for, i = 0, 1 ...; -1: no more, and plans are for the CPU
 * where there is none at 0. */
int tamis_priv_devices_wanted(const tamis_ctx *ctx, int i);
/* Whether plans that the device cannot run go to the CPU. */
int tamis_priv_devices_optional(const tamis_ctx *ctx);

/* The module. NULL when there is none or no device; the reason is then the newest message. */
const struct tamis_backend *tamis_priv_devices_backend(tamis_ctx *ctx);

/* Device number index, opened. Errors: ARGUMENT, DEVICE. */
tamis_status tamis_priv_devices_open(tamis_ctx *ctx, int index, struct tamis_gpu **out);
/* What it is, when it has been opened. */
const struct tamis_device_info *tamis_priv_devices_info(const tamis_ctx *ctx, int index);

#endif
