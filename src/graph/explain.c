/* SPDX-License-Identifier: Apache-2.0 */
/* A plan in plain text. */
#include <stdarg.h>

#include "core/ctx.h"
#include "core/number.h"
#include "graph/device.h"

struct text {
    char *buf;
    size_t size, length;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t room = t->length < t->size ? t->size - t->length : 0;
    int n = tamis_priv_number_vprint(room ? t->buf + t->length : NULL, room, format, args);
    va_end(args);
    t->length += n > 0 ? (size_t)n : 0;
}

static void add_step(struct text *t, const tamis_plan *plan, int k)
{
    const tamis_step *s = &plan->steps[k];
    const tamis_node *n = &s->node;
    char format[64];
    add(t, "%d %s: kernel %s/%s %s", k + 1, s->filter->name, n->stage, tamis_type_name(n->work),
        plan->device ? plan->device->backend->name : tamis_priv_cpu_name(s->kernel->cpu));
    if (n->gather)
        add(t, ", reads its input anywhere");
    else if (n->need)
        add(t, ", reads other places of its input");
    else
        add(t, ", halo %d %d %d %d (left right top bottom)", n->halo.left, n->halo.right,
            n->halo.top, n->halo.bottom);
    add(t, ", border %s", tamis_priv_border_names[n->border]);
    if (n->frames)
        add(t, ", %d frames before and after", n->frames);
    if (s->convert_in || s->convert_out)
        add(t, ", rows converted%s", s->fetch.premultiply ? " and multiplied by alpha" : "");
    if (n->has_guide)
        add(t, ", with a guide");
    add(t, ", writes %s %dx%d", tamis_format_print(n->out, format, sizeof format), s->out_w,
        s->out_h);
    if (!plan->device)
        add(t, " in parts of up to %dx%d", s->max_w, s->max_h);
    add(t, "%s\n", n->finish ? ", then finishes the whole" : "");
}

size_t tamis_plan_bytes(const tamis_plan *plan)
{
    if (!plan || plan->device)
        return 0;
    return plan->slot_bytes * (size_t)plan->slot_count + plan->hold_bytes - plan->file_bytes;
}

size_t tamis_plan_explain(const tamis_plan *plan, char *buf, size_t size)
{
    struct text t = {buf, buf ? size : 0, 0};
    char format[64], bytes[TAMIS_BYTES_TEXT];
    int32_t w, h;
    if (t.size)
        *buf = '\0';
    if (!plan)
        return 0;
    add(&t, "0 read %s %dx%d\n", tamis_format_print(plan->in, format, sizeof format), plan->w,
        plan->h);
    for (int k = 0; k < plan->count; k++)
        add_step(&t, plan, k);
    tamis_plan_size(plan, &w, &h);
    add(&t, "%d write %s %dx%d\n", plan->count + 1,
        tamis_format_print(tamis_plan_format(plan), format, sizeof format), w, h);
    if (plan->device) {
        add(&t,
            plan->device->next ? "large pictures in bands on %s, others on one of them\n"
                               : "whole pictures on %s\n",
            plan->device_names);
        return t.length;
    }
    const tamis_segment *last = &plan->segments[plan->segment_count - 1];
    add(&t, "tiles of %dx%d, %d thread%s on %s, %s of buffers\n", last->tile_w, last->tile_h,
        tamis_ctx_threads(plan->ctx), tamis_ctx_threads(plan->ctx) == 1 ? "" : "s",
        plan->ctx->cpu_name, tamis_priv_bytes_print(tamis_plan_bytes(plan), bytes));
    if (plan->file_bytes)
        add(&t, "%s in temporary files\n", tamis_priv_bytes_print(plan->file_bytes, bytes));
    return t.length;
}
