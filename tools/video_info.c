/* SPDX-License-Identifier: Apache-2.0 */
/* What a video says about itself. */
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "video.h"

static void print_count(int count, const char *what)
{
    if (count > 0)
        printf(", %d %s%s", count, what, count == 1 ? "" : "s");
}

static void print_text(const char *name, const tamis_video_info *v)
{
    char text[96];
    printf("%s: %s, %s %s, %s", name, v->container, v->codec, v->pixels,
           tamis_video_format_print(&v->format, text, sizeof(text)));
    if (v->frames > 0)
        printf(", %lld frames", (long long)v->frames);
    if (v->duration > 0)
        printf(", %.3f s", v->duration);
    if (v->rate > 0)
        printf(", %.6g frames/s%s", v->rate, v->variable_rate ? " (variable)" : "");
    if (v->aspect_num != v->aspect_den)
        printf(", samples %d:%d", v->aspect_num, v->aspect_den);
    if (v->interlaced)
        printf(", interlaced%s", v->interlaced == 2 ? " (lower field first)" : "");
    if (v->turned)
        printf(", turned by %d", v->turned);
    if (v->color[0])
        printf(", %s", v->color);
    print_count(v->audio, "audio track");
    print_count(v->subtitles, "subtitle track");
    print_count(v->attachments, "attachment");
    print_count(v->chapters, "chapter");
    print_count(v->other, "other track");
    if (v->detail[0])
        printf(", %s", v->detail);
    printf("\n");
}

static void set_counts(const tamis_video_info *v, json_t *o)
{
    json_object_set_new(o, "audio", json_integer(v->audio));
    json_object_set_new(o, "subtitles", json_integer(v->subtitles));
    json_object_set_new(o, "attachments", json_integer(v->attachments));
    json_object_set_new(o, "chapters", json_integer(v->chapters));
    json_object_set_new(o, "other", json_integer(v->other));
}

static json_t *json_video(const tamis_video_info *v)
{
    char text[96];
    json_t *o = json_object();
    json_object_set_new(o, "codec", json_string(v->codec));
    json_object_set_new(o, "pixels", json_string(v->pixels));
    json_object_set_new(o, "kind",
                        json_string(tamis_video_format_print(&v->format, text, sizeof(text))));
    json_object_set_new(o, "width", json_integer(v->format.w));
    json_object_set_new(o, "height", json_integer(v->format.h));
    json_object_set_new(o, "bits", json_integer(v->format.bits));
    json_object_set_new(o, "full_range", json_boolean(v->format.full_range));
    json_object_set_new(o, "frames",
                        v->frames > 0 ? json_integer((json_int_t)v->frames) : json_null());
    json_object_set_new(o, "seconds", v->duration > 0 ? json_real(v->duration) : json_null());
    json_object_set_new(o, "rate", v->rate > 0 ? json_real(v->rate) : json_null());
    json_object_set_new(o, "rate_num", json_integer(v->rate_num));
    json_object_set_new(o, "rate_den", json_integer(v->rate_den));
    json_object_set_new(o, "variable_rate", json_boolean(v->variable_rate));
    json_object_set_new(o, "aspect_num", json_integer(v->aspect_num));
    json_object_set_new(o, "aspect_den", json_integer(v->aspect_den));
    json_object_set_new(o, "interlaced", json_boolean(v->interlaced));
    json_object_set_new(o, "turned", json_integer(v->turned));
    json_object_set_new(o, "color", json_string(v->color));
    set_counts(v, o);
    json_object_set_new(o, "detail", tool_json_text(v->detail));
    return o;
}

tamis_status tool_video_info(tool *t, const char *name, json_t *file)
{
    tamis_video_read_options options = {.raw = t->options.raw};
    tamis_video_reader *reader = NULL;
    tamis_status status = tamis_video_reader_open(t->ctx, name, &options, &reader);
    if (!status && file) {
        const tamis_video_info *info = tamis_video_reader_info(reader);
        json_object_set_new(file, "format", json_string(info->container));
        json_object_set_new(file, "video", json_video(info));
    } else if (!status) {
        print_text(name, tamis_video_reader_info(reader));
    }
    tamis_video_reader_close(&reader);
    return status;
}
