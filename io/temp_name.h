/* SPDX-License-Identifier: Apache-2.0 */
/* Names of temporary files: whose they are can be told by them. */
#ifndef TAMIS_IO_TEMP_NAME_H
#define TAMIS_IO_TEMP_NAME_H

#include <stddef.h>

/* Room that a name takes besides the folder's. */
#define TAMIS_TEMP_NAME_BYTES 80

/* Writes a name in the folder, which ends with a slash; another for another stamp. */
void tamis_priv_temp_name(char *buf, size_t size, const char *folder, unsigned long stamp);

#endif
