/* SPDX-License-Identifier: Apache-2.0 */
/* tamis info: what files say about themselves. */
#include <stdio.h>

#include "json.h"
#include "video.h"

static void print_text(const char *name, int page, const tamis_file_info *info)
{
    char format[64];
    printf("%s", name);
    if (page > 0)
        printf(" page %d", page);
    printf(": %s %dx%d %s, %d bit%s", info->format, info->w, info->h,
           tamis_format_print(info->image, format, sizeof(format)), info->file_bits,
           info->palette ? " palette" : "");
    if (info->orientation > 1)
        printf(", orientation %d", info->orientation);
    if (page == 0 && info->pages > 1)
        printf(", %d pages", info->pages);
    if (info->reduced)
        printf(", smaller copy");
    if (info->detail[0])
        printf(", %s", info->detail);
    printf("\n");
}

static json_t *json_page(const tamis_file_info *info)
{
    json_t *o = tool_json_format(info->image);
    json_object_set_new(o, "width", json_integer(info->w));
    json_object_set_new(o, "height", json_integer(info->h));
    json_object_set_new(o, "file_bits", json_integer(info->file_bits));
    json_object_set_new(o, "orientation", json_integer(info->orientation));
    json_object_set_new(o, "palette", json_boolean(info->palette));
    json_object_set_new(o, "reduced", json_boolean(info->reduced));
    json_object_set_new(o, "block_width", json_integer(info->block_w));
    json_object_set_new(o, "block_height", json_integer(info->block_h));
    json_object_set_new(o, "detail", tool_json_text(info->detail));
    return o;
}

/* Some formats have metadata behind the pixels, so only -v asks for it. */
static tamis_status read_meta(tamis_reader *reader, const char *name, json_t *file)
{
    tamis_meta meta = {0};
    tamis_status status = tamis_reader_meta(reader, 0, &meta);
    json_t *list = json_array();
    for (size_t i = 0; i < meta.count; i++) {
        const tamis_meta_entry *entry = &meta.entries[i];
        if (!file)
            printf("%s: %s, %zu bytes\n", name, entry->name, entry->size);
        json_t *o = json_object();
        json_object_set_new(o, "name", tool_json_text(entry->name));
        json_object_set_new(o, "size", json_integer((json_int_t)entry->size));
        json_array_append_new(list, o);
    }
    if (file && !status) {
        json_object_set(file, "metadata", list);
        json_object_set_new(file, "dpi_x", json_real(meta.dpi_x));
        json_object_set_new(file, "dpi_y", json_real(meta.dpi_y));
    } else if (meta.dpi_x > 0 && !status) {
        printf("%s: %.6g x %.6g dpi\n", name, meta.dpi_x, meta.dpi_y);
    }
    json_decref(list);
    tamis_meta_clear(&meta);
    return status;
}

static tamis_status do_file(tool *t, const char *name, json_t *file)
{
    if (t->options.raw ? tamis_video_raw_is(t->options.raw) : tamis_video_probe(t->ctx, name))
        return tool_video_info(t, name, file);
    tamis_read_options options = tool_read_options(t);
    tamis_reader *reader = NULL;
    tamis_file_info info = {.pages = 1};
    json_t *pages = json_array();
    tamis_status status = tamis_reader_open(t->ctx, name, &options, &reader);
    for (int page = 0; !status && page < info.pages; page++) {
        status = tamis_reader_info(reader, page, &info);
        if (!status && file)
            json_array_append_new(pages, json_page(&info));
        else if (!status)
            print_text(name, page, &info);
    }
    if (!status && file) {
        json_object_set_new(file, "format", json_string(info.format));
        json_object_set(file, "pages", pages);
    }
    if (!status && t->options.verbose)
        status = read_meta(reader, name, file);
    json_decref(pages);
    tamis_reader_close(&reader);
    return status;
}

int cmd_info(tool *t)
{
    tool_end_at_once(1);
    return tool_for_files(t, do_file);
}
