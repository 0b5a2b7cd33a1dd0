/* SPDX-License-Identifier: Apache-2.0 */
#include "core/preset.h"

#include <limits.h>
#include <string.h>

#include "core/ctx.h"
#include "core/mem.h"

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

int tamis_preset_is_name(const char *text)
{
    static const char rest[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    if (!text || !is_letter(*text))
        return 0;
    size_t n = strspn(text, rest);
    return text[n] == '\0' && n <= TAMIS_PRESET_MAX_NAME;
}

int tamis_preset_same_name(const char *a, const char *b)
{
    if (!a || !b)
        return 0;
    for (; *a || *b; a++, b++)
        if ((*a == '-' ? '_' : *a) != (*b == '-' ? '_' : *b))
            return 0;
    return 1;
}

static tamis_status check(tamis_ctx *ctx, const tamis_preset *presets, size_t count)
{
    if (!presets || count >= INT_MAX / 2)
        return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT, "presets: there are none, or too many");
    for (size_t i = 0; i < count; i++) {
        const tamis_preset *p = &presets[i];
        if (!tamis_preset_is_name(p->name))
            return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT,
                                   "presets: \"%.80s\" is no name; allowed: a letter, then up to "
                                   "%d letters, digits, _ and -",
                                   p->name ? p->name : "", TAMIS_PRESET_MAX_NAME - 1);
        if (!p->chain || p->chain[strspn(p->chain, " \t\r\n")] == '\0')
            return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT, "presets: %s has no chain", p->name);
        for (size_t k = 0; k < i; k++)
            if (tamis_preset_same_name(p->name, presets[k].name))
                return tamis_priv_fail(ctx, TAMIS_ERR_ARGUMENT, "presets: there are two %s",
                                       p->name);
    }
    return TAMIS_OK;
}

static size_t text_size(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

/* Copies a text to *to, which moves on behind it. */
static const char *put(char **to, const char *text)
{
    size_t size = text_size(text);
    if (!text)
        return NULL;
    const char *copy = memcpy(*to, text, size);
    *to += size;
    return copy;
}

tamis_status tamis_priv_presets_copy(tamis_ctx *ctx, const tamis_preset *presets, size_t count)
{
    if (count == 0)
        return TAMIS_OK;
    TAMIS_TRY(check(ctx, presets, count));
    size_t size = count * sizeof *presets;
    for (size_t i = 0; i < count; i++) {
        const tamis_preset *p = &presets[i];
        size +=
            text_size(p->name) + text_size(p->chain) + text_size(p->about) + text_size(p->group);
    }
    ctx->presets = ctx->allocator.alloc(ctx->allocator.user, size);
    if (!ctx->presets)
        return tamis_priv_fail(ctx, TAMIS_ERR_MEMORY, "presets: no memory");
    char *to = (char *)(ctx->presets + count);
    for (size_t i = 0; i < count; i++) {
        const tamis_preset *p = &presets[i];
        ctx->presets[i] = (tamis_preset){.name = put(&to, p->name),
                                         .chain = put(&to, p->chain),
                                         .about = put(&to, p->about),
                                         .group = put(&to, p->group)};
    }
    ctx->preset_count = (int)count;
    return TAMIS_OK;
}

void tamis_priv_presets_free(tamis_ctx *ctx)
{
    if (ctx->presets)
        ctx->allocator.free(ctx->allocator.user, ctx->presets);
    ctx->presets = NULL;
    ctx->preset_count = 0;
}
