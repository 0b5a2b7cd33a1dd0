/* SPDX-License-Identifier: Apache-2.0 */
/* Presets by index and by name. */
#include "graph/preset.h"

#include <stddef.h>

#include "core/ctx.h"

static const tamis_preset *find_given(const tamis_ctx *ctx, const char *name)
{
    for (int i = 0; ctx && i < ctx->preset_count; i++)
        if (tamis_preset_same_name(ctx->presets[i].name, name))
            return &ctx->presets[i];
    return NULL;
}

int tamis_preset_count(const tamis_ctx *ctx)
{
    int count = ctx ? ctx->preset_count : 0;
    for (const tamis_preset *p = tamis_priv_presets; p->name; p++)
        count += !find_given(ctx, p->name);
    return count;
}

const tamis_preset *tamis_preset_at(const tamis_ctx *ctx, int index)
{
    int given = ctx ? ctx->preset_count : 0;
    if (index < 0)
        return NULL;
    if (index < given)
        return &ctx->presets[index];
    index -= given;
    for (const tamis_preset *p = tamis_priv_presets; p->name; p++)
        if (!find_given(ctx, p->name) && index-- == 0)
            return p;
    return NULL;
}

const tamis_preset *tamis_preset_find(const tamis_ctx *ctx, const char *name)
{
    const tamis_preset *given = find_given(ctx, name);
    if (given)
        return given;
    for (const tamis_preset *p = tamis_priv_presets; p->name; p++)
        if (tamis_preset_same_name(p->name, name))
            return p;
    return NULL;
}
