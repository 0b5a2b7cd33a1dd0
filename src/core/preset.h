/* SPDX-License-Identifier: Apache-2.0 */
/* The presets that a context was given. */
#ifndef TAMIS_CORE_PRESET_H
#define TAMIS_CORE_PRESET_H

#include <tamis/preset.h>

/* Copies the presets, with their texts, into one block of the context's allocator, which
 * tamis_priv_presets_free() gives back. Errors: ARGUMENT, MEMORY; logged. */
tamis_status tamis_priv_presets_copy(tamis_ctx *ctx, const tamis_preset *presets, size_t count);
void tamis_priv_presets_free(tamis_ctx *ctx);

#endif
