/* SPDX-License-Identifier: Apache-2.0 */
/* The user's own presets, from a file of lines "name = chain  # what it is for". */
#ifndef TOOL_PRESETS_H
#define TOOL_PRESETS_H

#include "json.h"
#include "tool.h"

typedef struct tool_presets {
    char *path; /* NULL: there is no file */
    char *text; /* of the file, which the items point into */
    tamis_preset *items;
    int *lines; /* where each item stands */
    size_t count;
} tool_presets;

/* Whether the chain names a preset, so that the user's are needed. */
int tool_presets_named(const char *chain);

/* The user's presets: from --presets, else TAMIS_PRESETS, else the user's configuration, where
 * there may be none; read on the first call. Returns an exit code, having said what is wrong. */
int tool_presets_read(tool *t, const tool_presets **out);
void tool_presets_free(tool *t);

/* Reads the chains of the user's presets with a context that knows them. */
int tool_presets_check(tool *t, tamis_ctx *ctx);

/* The preset of that name, with or without '@', as a chain of the command would find it; else NULL,
 * having said that there is none and what is near. Needs a context. */
const tamis_preset *tool_preset_find(tool *t, const char *name);

/* The filters that a preset stands for, as a graph. */
int tool_preset_graph(tool *t, const tamis_preset *preset, tamis_graph **out);

/* Prints the presets of a context (NULL: tamis's own), a line each, with their chains in another.
 */
void tool_presets_print(const tamis_ctx *ctx, const char *indent, int chains);

/* All presets, or the one that is not NULL: name, about, group, source, the chain as it is written
 * and with all presets expanded, and its filters with the values that are not their defaults. */
json_t *tool_json_presets(tool *t, const tamis_preset *only);

#endif
