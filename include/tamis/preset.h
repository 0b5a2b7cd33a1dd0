/* SPDX-License-Identifier: Apache-2.0 */
/* Presets: chains with a name.
 *
 * Wherever a chain is read, "@photo" stands for the chain of the preset of that name, alone or
 * among filters: "@denoise25,unsharp". A preset takes no parameters. The library has some of its
 * own, by scene, by the level of noise and for video (doc/presets.md says why they are what they
 * are); a context may be given more. Their strengths are per cent of the range or left to the
 * picture, so that one preset serves every sample type. */
#ifndef TAMIS_PRESET_H
#define TAMIS_PRESET_H

#include <tamis/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Longest name. */
#define TAMIS_PRESET_MAX_NAME 63

/* Zero-initialize what is filled in by hand. */
typedef struct tamis_preset {
    const char *name;  /* letters, digits, '_' and '-', a letter first; '-' and '_' are the same */
    const char *chain; /* what it stands for; it may hold other presets, but not itself */
    const char *about; /* one line that says what it is for; may be NULL */
    const char *group; /* "scene", "noise" or "video" for the library's own; free; may be NULL */
} tamis_preset;

/* The presets that chains of a context may name, by index 0 .. tamis_preset_count() - 1: those it
 * was given (tamis_ctx_options.presets), then the library's own without those whose name was given
 * anew. ctx may be NULL: the library's own. They live as long as the context, or for ever. NULL
 * beyond the last. Thread-safety: any number of threads. */
TAMIS_API int tamis_preset_count(const tamis_ctx *ctx);
TAMIS_API const tamis_preset *tamis_preset_at(const tamis_ctx *ctx, int index);

/* The preset of that name (without '@'); NULL when there is none. */
TAMIS_API const tamis_preset *tamis_preset_find(const tamis_ctx *ctx, const char *name);

/* 1 when two names are of the same preset: '-' and '_' are the same. NULL is no name. */
TAMIS_API int tamis_preset_same_name(const char *a, const char *b);

/* 1 when the text may name a preset. */
TAMIS_API int tamis_preset_is_name(const char *text);

#ifdef __cplusplus
}
#endif

#endif
