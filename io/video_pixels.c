/* SPDX-License-Identifier: Apache-2.0 */
#include "video_pixels.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FRAME_BYTES ((uint64_t)1 << 36)

/* What stands before the depth of a name. */
typedef struct stem {
    const char *text;
    tamis_video_model model;
    int sub_x, sub_y, alpha, packed;
    int full;   /* of the range */
    int depths; /* 1: a depth may follow; 0: it is 8 bits */
} stem;

static const stem stems[] = {
    {"yuv420p", TAMIS_VIDEO_YUV, 1, 1, 0, 0, 0, 1},
    {"yuv422p", TAMIS_VIDEO_YUV, 1, 0, 0, 0, 0, 1},
    {"yuv444p", TAMIS_VIDEO_YUV, 0, 0, 0, 0, 0, 1},
    {"yuv440p", TAMIS_VIDEO_YUV, 0, 1, 0, 0, 0, 1},
    {"yuv411p", TAMIS_VIDEO_YUV, 2, 0, 0, 0, 0, 0},
    {"yuv410p", TAMIS_VIDEO_YUV, 2, 2, 0, 0, 0, 0},
    {"yuva420p", TAMIS_VIDEO_YUV, 1, 1, 1, 0, 0, 1},
    {"yuva422p", TAMIS_VIDEO_YUV, 1, 0, 1, 0, 0, 1},
    {"yuva444p", TAMIS_VIDEO_YUV, 0, 0, 1, 0, 0, 1},
    {"yuvj420p", TAMIS_VIDEO_YUV, 1, 1, 0, 0, 1, 0},
    {"yuvj422p", TAMIS_VIDEO_YUV, 1, 0, 0, 0, 1, 0},
    {"yuvj444p", TAMIS_VIDEO_YUV, 0, 0, 0, 0, 1, 0},
    {"nv12", TAMIS_VIDEO_YUV, 1, 1, 0, 2, 0, 0},
    {"nv16", TAMIS_VIDEO_YUV, 1, 0, 0, 2, 0, 0},
    {"gray", TAMIS_VIDEO_GRAY, 0, 0, 0, 0, 1, 1},
    {"gbrp", TAMIS_VIDEO_RGB, 0, 0, 0, -1, 1, 1},
    {"gbrap", TAMIS_VIDEO_RGB, 0, 0, 1, -1, 1, 1},
    {"rgb24", TAMIS_VIDEO_RGB, 0, 0, 0, 1, 1, 0},
    {"rgb48", TAMIS_VIDEO_RGB, 0, 0, 0, 1, 1, 0},
};
#define STEM_COUNT (sizeof stems / sizeof *stems)

/* The depth that ends a name, "" for 8 bits, "10" or "10le"; 0 when it is none. */
static int parse_depth(const char *text)
{
    char *end;
    if (!*text)
        return 8;
    if (*text < '1' || *text > '9')
        return 0;
    long bits = strtol(text, &end, 10);
    if (*end && strcmp(end, "le") != 0)
        return 0;
    return bits >= 9 && bits <= 16 ? (int)bits : 0;
}

static int apply_stem(const stem *s, const char *rest, tamis_video_layout *out)
{
    tamis_video_format *f = &out->format;
    int bits = strcmp(s->text, "rgb48") == 0 ? 16 : 8;
    int floats = s->depths && (strcmp(rest, "f32") == 0 || strcmp(rest, "f32le") == 0);
    if (s->depths && !floats)
        bits = parse_depth(rest);
    else if (!floats && *rest && strcmp(rest, "le") != 0)
        return 0;
    if (bits == 0 || (floats && s->model == TAMIS_VIDEO_YUV))
        return 0;
    f->model = s->model;
    f->type = floats ? TAMIS_F32 : bits > 8 ? TAMIS_U16 : TAMIS_U8;
    f->bits = floats ? 32 : bits;
    f->sub_x = s->sub_x;
    f->sub_y = s->sub_y;
    f->alpha = s->alpha;
    f->full_range = s->full;
    f->siting = TAMIS_VIDEO_SITING_UNKNOWN;
    out->packed = s->packed;
    return 1;
}

int tamis_priv_video_pixels_parse(const char *name, tamis_video_layout *out)
{
    for (size_t i = 0; i < STEM_COUNT; i++) {
        size_t n = strlen(stems[i].text);
        if (strncmp(name, stems[i].text, n) == 0 && apply_stem(&stems[i], name + n, out))
            return 1;
    }
    return 0;
}

const char *tamis_priv_video_pixels_print(const tamis_video_format *f, char *buf, size_t size)
{
    const char *text = "?";
    for (size_t i = 0; i < STEM_COUNT; i++) {
        const stem *s = &stems[i];
        if (s->model == f->model && s->alpha == !!f->alpha && s->packed <= 0 &&
            (f->model != TAMIS_VIDEO_YUV ||
             (s->sub_x == f->sub_x && s->sub_y == f->sub_y && !s->full))) {
            text = s->text;
            break;
        }
    }
    if (f->type == TAMIS_F32)
        snprintf(buf, size, "%sf32le", text);
    else if (f->bits == 8)
        snprintf(buf, size, "%s", text);
    else
        snprintf(buf, size, "%s%dle", text, f->bits);
    return buf;
}

/* A number 1 .. INT_MAX; NULL when there is none. */
static const char *parse_count(const char *text, int *out)
{
    char *end;
    if (*text < '0' || *text > '9')
        return NULL;
    unsigned long long v = strtoull(text, &end, 10);
    if (v < 1 || v > INT_MAX)
        return NULL;
    *out = (int)v;
    return end;
}

/* "25", "30000/1001", "29.97" or "30000:1001". */
static int parse_rate(const char *text, int *num, int *den)
{
    const char *end = parse_count(text, num);
    *den = 1;
    if (!end)
        return 0;
    if (*end == '/' || *end == ':') {
        end = parse_count(end + 1, den);
        return end && !*end;
    }
    if (*end == '.') {
        int64_t n = *num, d = 1;
        for (end++; *end >= '0' && *end <= '9' && d < 1000; end++, d *= 10)
            n = 10 * n + (*end - '0');
        if (n > INT_MAX)
            return 0;
        *num = (int)n;
        *den = (int)d;
    }
    return !*end;
}

int tamis_priv_video_raw_parse(const char *text, tamis_video_layout *out, int *num, int *den)
{
    char name[32];
    int w, h;
    *num = *den = 0;
    const char *p = parse_count(text, &w);
    p = p && *p == 'x' ? parse_count(p + 1, &h) : NULL;
    if (!p || *p != ':')
        return 0;
    size_t n = strcspn(++p, ":");
    if (n == 0 || n >= sizeof name)
        return 0;
    memcpy(name, p, n);
    name[n] = '\0';
    if (!tamis_priv_video_pixels_parse(name, out))
        return 0;
    out->format.w = w;
    out->format.h = h;
    return !p[n] || parse_rate(p + n + 1, num, den);
}

int tamis_video_raw_is(const char *raw)
{
    tamis_video_layout layout;
    int num, den;
    return raw && tamis_priv_video_raw_parse(raw, &layout, &num, &den);
}

static uint64_t part_bytes(const tamis_video_format *format, int part)
{
    int32_t w, h;
    tamis_format f = tamis_video_part_format(format, part, &w, &h);
    return (uint64_t)w * (uint64_t)h * (uint64_t)f.channels * tamis_type_size(f.type);
}

uint64_t tamis_priv_video_frame_bytes(const tamis_video_layout *layout)
{
    const tamis_video_format *f = &layout->format;
    if ((uint64_t)f->w * (uint64_t)f->h > MAX_FRAME_BYTES / 16)
        return 0;
    uint64_t sum = 0;
    for (int i = 0; i < TAMIS_VIDEO_PARTS; i++)
        sum += part_bytes(f, i);
    return sum;
}

/* A part of planes, one behind the other; order[c] is the place of channel c. */
static void map_planes(tamis_image *image, uint8_t *data, int reorder)
{
    static const int gbr[3] = {2, 0, 1};
    size_t row = (size_t)image->w * tamis_type_size(image->format.type);
    for (int c = 0; c < image->format.channels; c++) {
        int place = reorder ? gbr[c] : c;
        image->data[c] = data + (size_t)place * row * (size_t)image->h;
        image->stride[c] = (ptrdiff_t)row;
    }
}

void tamis_priv_video_frame_map(const tamis_video_layout *layout, void *data,
                                tamis_video_frame *frame)
{
    uint8_t *p = data;
    for (int i = 0; i < TAMIS_VIDEO_PARTS; i++) {
        tamis_image *image = &frame->part[i];
        *image = (tamis_image){0};
        image->format = tamis_video_part_format(&layout->format, i, &image->w, &image->h);
        int channels = image->format.channels;
        if (channels == 0)
            continue;
        int interleaved = (layout->packed == 1 && i == TAMIS_VIDEO_MAIN) ||
                          (layout->packed == 2 && i == TAMIS_VIDEO_CHROMA);
        if (interleaved) {
            image->format.layout = TAMIS_PACKED;
            image->data[0] = p;
            image->stride[0] = (ptrdiff_t)((size_t)image->w * (size_t)channels *
                                           tamis_type_size(image->format.type));
        } else {
            map_planes(image, p, layout->packed == -1 && i == TAMIS_VIDEO_MAIN);
        }
        p += part_bytes(&layout->format, i);
    }
}
