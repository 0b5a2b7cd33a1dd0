/* SPDX-License-Identifier: Apache-2.0 */
/* The library's own presets. */
#ifndef TAMIS_GRAPH_PRESET_H
#define TAMIS_GRAPH_PRESET_H

#include <tamis/preset.h>

/* Ended by a NULL name. */
extern const tamis_preset tamis_priv_presets[];

#endif
