/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that lies in a file, for what is too large for memory proper. */
#ifndef TAMIS_CORE_SPILL_H
#define TAMIS_CORE_SPILL_H

#include <stddef.h>
#include <tamis/core.h>

/* Maps size zeroed bytes of a temporary file into memory. The file has its room on the disk and no
 * name: it goes with the mapping. what names the caller in messages. Errors: WRITE (no room, no
 * place to write), MEMORY. */
tamis_status tamis_priv_spill_map(tamis_ctx *ctx, const char *what, size_t size, void **out);
/* NULL is fine. */
void tamis_priv_spill_unmap(void *data, size_t size);

#endif
