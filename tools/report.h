/* SPDX-License-Identifier: Apache-2.0 */
/* What a page about two pictures says: their measures, maps of where they differ, how one was made
 * of the other. */
#ifndef TOOL_REPORT_H
#define TOOL_REPORT_H

#include "compare.h"
#include "job.h"
#include "picture.h"

/* What a report is about. */
typedef struct tool_story {
    const char *before, *after, *original; /* files; original may be NULL */
    const tamis_graph *graph;              /* NULL = not known */
    const tool_report *run;                /* how it went; NULL = not known */
} tool_story;

/* Makes the page's data. Returns an exit code, having said what is wrong; then *out is NULL. */
int tool_report_data(tool *t, const tool_story *story, json_t **out);

/* Makes the page and writes it. *data becomes what it says, without pictures, unless data is NULL.
 * Returns an exit code, having said what is wrong. */
int tool_report_write(tool *t, const char *path, const tool_story *story, json_t **data);

/* ---- report_maps.c: differences as pictures */

enum { TOOL_SIDES = 3 }; /* before, after, original */

/* A map to be shown beside the pictures. */
typedef struct tool_map {
    const char *key, *title;
    int a, b;          /* of which sides */
    int is_ssim;       /* else of absolute differences */
    tamis_image image; /* one channel of f32, of the size of the pictures in memory */
    double high;       /* of differences: what is shown as the brightest */
} tool_map;

/* Fills in the map's image. */
tamis_status tool_map_make(tool *t, const tamis_image *a, const tamis_image *b, double peak,
                           tool_map *map);
/* Differences of a map that are as bright as can be: all but one in a thousand are below. */
double tool_map_high(const tamis_image *image);
/* The map as a gray picture of u8; brighter is more different. */
tamis_status tool_map_shown(tool *t, const tool_map *map, const tamis_image *part,
                            tamis_image *out);
/* Where a part of w x h has the largest sum. */
void tool_map_peak(const tamis_image *image, int32_t w, int32_t h, int32_t *x, int32_t *y);

#endif
