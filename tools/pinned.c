/* SPDX-License-Identifier: Apache-2.0 */
#include "pinned.h"

#include "job.h"

void tool_pinned_drop(tool_worker *worker, tool_pinned *pinned)
{
    tamis_image_unref(&pinned->image);
    if (pinned->held)
        tool_gate_drop(&worker->job->gate, pinned->held);
    pinned->held = 0;
}

static size_t bytes_of(const tool_pinned *pinned)
{
    return (size_t)pinned->w * (size_t)pinned->h * (size_t)pinned->format.channels *
           tamis_type_size(pinned->format.type);
}

/* Where memory is bounded none is kept: a file may need all of it. */
static int make(tool_worker *worker, tool_pinned *pinned)
{
    tool *t = &worker->tool;
    if (t->options.max_memory)
        return 0;
    if (tamis_image_create_pinned(t->ctx, pinned->format, pinned->w, pinned->h, &pinned->image)) {
        t->error[0] = '\0';
        return 0;
    }
    return 1;
}

int tool_pinned_take(tool_worker *worker, tool_pinned *pinned, tamis_format format, int32_t w,
                     int32_t h, tamis_image *out)
{
    int again = tamis_format_equal(pinned->format, format) && pinned->w == w && pinned->h == h;
    pinned->format = format;
    pinned->w = w;
    pinned->h = h;
    if (!again)
        tool_pinned_drop(worker, pinned);
    if (!again || (!pinned->image.data[0] && !make(worker, pinned)))
        return 0;
    if (pinned->held) /* the file counts it now */
        tool_gate_drop(&worker->job->gate, pinned->held);
    pinned->held = 0;
    *out = pinned->image;
    tamis_image_ref(out);
    return 1;
}

void tool_pinned_rest(tool_worker *worker, tool_pinned *pinned)
{
    if (!pinned->image.data[0] || pinned->held)
        return;
    if (tool_gate_waits(&worker->job->gate)) {
        tool_pinned_drop(worker, pinned);
        return;
    }
    pinned->held = bytes_of(pinned);
    tool_gate_hold(&worker->job->gate, pinned->held);
}
