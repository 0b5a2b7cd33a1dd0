/* SPDX-License-Identifier: Apache-2.0 */
#include "choose.h"

/* Pages of more bytes are not read whole only to be looked at. */
#define WHOLE_BYTES ((uint64_t)48 << 20)

static tamis_status read_part(void *user, tamis_rect part, const tamis_image *into)
{
    const tool_page_source *s = user;
    if (tool_canceled())
        return TAMIS_ERR_CANCELED;
    return tamis_reader_read_part(s->reader, s->page, part, into);
}

tamis_part_source tool_page_parts(tool_page_source *source, const tamis_file_info *info)
{
    return (tamis_part_source){read_part, source, info->block_w < info->w ? info->block_w : 0,
                               info->block_h};
}

int tool_choose_by_parts(const tool *t, const tamis_file_info *info)
{
    size_t limit = t->options.max_memory;
    uint64_t bytes = (uint64_t)info->w * (uint64_t)info->h * (uint64_t)info->image.channels *
                     tamis_type_size(info->image.type);
    return info->block_w > 0 && (bytes > WHOLE_BYTES || (limit && bytes > limit / 4));
}

tamis_status tool_choose(tool *t, const tamis_graph *graph, tamis_reader *reader, int page,
                         const tamis_file_info *info, const tamis_image *guide, tamis_graph **out)
{
    tamis_run_options options = {.guide = guide, .cancel = tool_cancel_flag()};
    *out = NULL;
    if (tool_choose_by_parts(t, info)) {
        tool_page_source from = {reader, page};
        tamis_part_source source = tool_page_parts(&from, info);
        return tamis_graph_resolve_parts(t->ctx, graph, info->image, info->w, info->h, &source,
                                         t->options.max_memory / 4, &options, out);
    }
    tamis_image image = {0};
    tamis_status status = tamis_reader_read(reader, page, &image, NULL);
    if (!status)
        status = tamis_graph_resolve(t->ctx, graph, &image, &options, out);
    tamis_image_unref(&image);
    return status;
}
