/* SPDX-License-Identifier: Apache-2.0 */
#include "y4m_header.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct sampling_name {
    const char *text;
    int sub_x, sub_y;
    tamis_video_siting siting;
} sampling_name;

/* A file that does not say has 420jpeg. */
static const sampling_name samplings[] = {
    {"420jpeg", 1, 1, TAMIS_VIDEO_SITING_CENTER},   {"420mpeg2", 1, 1, TAMIS_VIDEO_SITING_LEFT},
    {"420paldv", 1, 1, TAMIS_VIDEO_SITING_TOPLEFT}, {"420", 1, 1, TAMIS_VIDEO_SITING_CENTER},
    {"411", 2, 0, TAMIS_VIDEO_SITING_UNKNOWN},      {"410", 2, 2, TAMIS_VIDEO_SITING_UNKNOWN},
    {"422", 1, 0, TAMIS_VIDEO_SITING_UNKNOWN},      {"440", 0, 1, TAMIS_VIDEO_SITING_UNKNOWN},
    {"444", 0, 0, TAMIS_VIDEO_SITING_UNKNOWN},
};
#define SAMPLING_COUNT (sizeof samplings / sizeof *samplings)

/* 9 .. 16 behind "p" or "mono"; 0 for anything else. */
static int parse_bits(const char *text)
{
    char *end;
    if (*text < '1' || *text > '9')
        return 0;
    long bits = strtol(text, &end, 10);
    return !*end && bits >= 9 && bits <= 16 ? (int)bits : 0;
}

static int set_depth(tamis_video_format *f, int bits)
{
    f->bits = bits;
    f->type = bits > 8 ? TAMIS_U16 : TAMIS_U8;
    return bits != 0;
}

static int parse_sampling(const char *text, tamis_video_format *f)
{
    f->sub_x = f->sub_y = f->alpha = 0;
    f->siting = TAMIS_VIDEO_SITING_UNKNOWN;
    if (strncmp(text, "mono", 4) == 0) {
        f->model = TAMIS_VIDEO_GRAY;
        return set_depth(f, text[4] ? parse_bits(text + 4) : 8);
    }
    f->model = TAMIS_VIDEO_YUV;
    for (size_t i = 0; i < SAMPLING_COUNT; i++) {
        const sampling_name *s = &samplings[i];
        size_t n = strlen(s->text);
        if (strncmp(text, s->text, n) != 0)
            continue;
        const char *rest = text + n;
        int deep = *rest == 'p' && parse_bits(rest + 1);
        if (*rest && !deep && strcmp(rest, "alpha") != 0)
            continue;
        f->sub_x = s->sub_x;
        f->sub_y = s->sub_y;
        /* Deep video is written by programs of today, whose chroma lies as in MPEG-2. */
        f->siting = deep ? TAMIS_VIDEO_SITING_UNKNOWN : s->siting;
        f->alpha = strcmp(rest, "alpha") == 0;
        return set_depth(f, deep ? parse_bits(rest + 1) : 8);
    }
    return 0;
}

/* "A:B", both 0 .. INT_MAX. Where one is 0 both become so: not known. */
static int parse_ratio(const char *text, int *num, int *den)
{
    char *end;
    if (*text < '0' || *text > '9')
        return 0;
    unsigned long long a = strtoull(text, &end, 10);
    if (*end != ':' || end[1] < '0' || end[1] > '9')
        return 0;
    unsigned long long b = strtoull(end + 1, &end, 10);
    if (*end || a > INT_MAX || b > INT_MAX)
        return 0;
    *num = a && b ? (int)a : 0;
    *den = a && b ? (int)b : 0;
    return 1;
}

static int parse_side(const char *text, int32_t *out)
{
    char *end;
    if (*text < '1' || *text > '9')
        return 0;
    unsigned long long v = strtoull(text, &end, 10);
    *out = v <= INT32_MAX ? (int32_t)v : 0;
    return !*end && *out > 0;
}

static int parse_extra(const char *text, tamis_video_format *f)
{
    if (strcmp(text, "COLORRANGE=FULL") == 0)
        f->full_range = 1;
    if (strcmp(text, "COLORRANGE=LIMITED") == 0)
        f->full_range = 0;
    return 1;
}

static int parse_interlace(const char *text, char *out)
{
    *out = *text;
    return *text && strchr("ptbm?", *text) && !text[1];
}

static int parse_tag(const char *tag, tamis_y4m_header *out)
{
    const char *value = tag + 1;
    switch (*tag) {
    case 'W':
        return parse_side(value, &out->format.w);
    case 'H':
        return parse_side(value, &out->format.h);
    case 'F':
        return parse_ratio(value, &out->rate_num, &out->rate_den);
    case 'A':
        return parse_ratio(value, &out->aspect_num, &out->aspect_den);
    case 'I':
        return parse_interlace(value, &out->interlace);
    case 'C':
        snprintf(out->sampling, sizeof out->sampling, "%.31s", value);
        return parse_sampling(value, &out->format);
    case 'X':
        return parse_extra(value, &out->format);
    default:
        return 1; /* tags of other programs */
    }
}

/* The next word of a line, cut to the buffer; NULL at its end. */
static const char *next_word(const char *line, char *word, size_t size)
{
    line += strspn(line, " ");
    size_t n = strcspn(line, " ");
    snprintf(word, size, "%.*s", (int)(n < size ? n : size - 1), line);
    return n ? line + n : NULL;
}

int tamis_priv_y4m_parse(const char *line, tamis_y4m_header *out, char *problem, size_t size)
{
    char word[64];
    *out = (tamis_y4m_header){.interlace = '?'};
    parse_sampling("420jpeg", &out->format);
    const char *p = line + strlen(TAMIS_Y4M_MAGIC);
    /* Gray is full range but where the file says otherwise, which stands behind C or before. */
    int range = strstr(line, " XCOLORRANGE=LIMITED") != NULL;
    while ((p = next_word(p, word, sizeof word)) != NULL) {
        if (!parse_tag(word, out)) {
            snprintf(problem, size, "its header has the tag '%s', which is not one of YUV4MPEG2",
                     word);
            return 0;
        }
    }
    if (out->format.model == TAMIS_VIDEO_GRAY && !range)
        out->format.full_range = 1;
    if (out->format.w > 0 && out->format.h > 0)
        return 1;
    snprintf(problem, size, "its header has no %s", out->format.w > 0 ? "height" : "width");
    return 0;
}

static int choose_sampling(const tamis_video_format *f, char *buf, size_t size)
{
    char depth[16] = "";
    if (f->model == TAMIS_VIDEO_RGB || f->bits < 8 || f->bits > 16)
        return 0;
    if (f->bits > 8)
        snprintf(depth, sizeof depth, "%s%d", f->model == TAMIS_VIDEO_YUV ? "p" : "", f->bits);
    if (f->model == TAMIS_VIDEO_GRAY) {
        snprintf(buf, size, "mono%s", depth);
        return !f->alpha;
    }
    if (f->alpha && (f->sub_x || f->sub_y || f->bits > 8))
        return 0;
    for (size_t i = 0; i < SAMPLING_COUNT; i++) {
        const sampling_name *s = &samplings[i];
        /* 8 bits of unknown siting are those of MPEG-2; deep ones have no name for theirs. */
        tamis_video_siting wanted = f->siting ? f->siting : TAMIS_VIDEO_SITING_LEFT;
        int is_420 = s->sub_x == 1 && s->sub_y == 1;
        if (s->sub_x != f->sub_x || s->sub_y != f->sub_y ||
            (is_420 && f->bits == 8 && s->siting != wanted))
            continue;
        snprintf(buf, size, "%s%s%s", is_420 && f->bits > 8 ? "420" : s->text, depth,
                 f->alpha ? "alpha" : "");
        return 1;
    }
    return 0;
}

int tamis_priv_y4m_print(const tamis_y4m_header *header, const char *extra, char *buf, size_t size)
{
    const tamis_video_format *f = &header->format;
    char sampling[40];
    snprintf(sampling, sizeof sampling, "%s", header->sampling);
    if (!*sampling && !choose_sampling(f, sampling, sizeof sampling))
        return 0;
    int n = snprintf(buf, size, TAMIS_Y4M_MAGIC " W%d H%d F%d:%d I%c A%d:%d C%s%s%s%s\n", f->w,
                     f->h, header->rate_num, header->rate_den, header->interlace,
                     header->aspect_num, header->aspect_den, sampling,
                     f->full_range == (f->model == TAMIS_VIDEO_GRAY) ? ""
                     : f->full_range                                 ? " XCOLORRANGE=FULL"
                                                                     : " XCOLORRANGE=LIMITED",
                     extra && *extra ? " " : "", extra ? extra : "");
    return n > 0 && (size_t)n < size;
}

void tamis_priv_y4m_extra(const char *line, char *buf, size_t size)
{
    char word[256];
    size_t used = 0;
    const char *p = line + strlen(TAMIS_Y4M_MAGIC);
    *buf = '\0';
    while ((p = next_word(p, word, sizeof word)) != NULL) {
        if (*word != 'X' || strncmp(word, "XCOLORRANGE=", 12) == 0 ||
            strncmp(word, "XYSCSS=", 7) == 0)
            continue;
        int n = snprintf(buf + used, size - used, "%s%s", used ? " " : "", word);
        if (n < 0 || (size_t)n >= size - used) {
            buf[used] = '\0';
            return;
        }
        used += (size_t)n;
    }
}
