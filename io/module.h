/* SPDX-License-Identifier: Apache-2.0 */
/* Modules with libraries that need not be there, opened at run time. */
#ifndef TAMIS_IO_MODULE_H
#define TAMIS_IO_MODULE_H

#include <stddef.h>

/* Opens a module: the path in the environment variable, else the file beside this library, in its
 * folder tamis/, or where the system looks. Never closed, for such libraries keep threads and hooks
 * of their own; opened once more it costs little. NULL, with the reason in why, when it is not
 * there.
 */
void *tamis_priv_module_open(const char *file, const char *variable, char *why, size_t size);

#endif
