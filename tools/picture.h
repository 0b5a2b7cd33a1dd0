/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures for pages: read whole or scaled, with levels to show them by, as PNG inside a URL. */
#ifndef TOOL_PICTURE_H
#define TOOL_PICTURE_H

#include "json.h"
#include "tool.h"

/* Numbers from low to high are shown as black to white. */
typedef struct tool_window {
    double low, high;
    const char *how; /* why these, in words */
} tool_window;

/* The first page of a file. */
typedef struct tool_picture {
    const char *name;
    tamis_reader *reader;
    tamis_file_info info;
    tamis_image image;  /* all of it, or its scaled copy; never F16 */
    int whole;          /* 1: image is all of it */
    tamis_meta profile; /* how its colors are meant; nothing else of what the file carries */
    tool_window window;
} tool_picture;

/* Opens the file. Close it in any case. */
tamis_status tool_picture_open(tool *t, const char *name, tool_picture *out);
void tool_picture_close(tool_picture *picture);

/* Bytes of the picture in memory. */
size_t tool_picture_bytes(const tool_picture *picture);

/* Reads it: all of it, or, where the file can be read by parts and whole is 0, only its copy of
 * w x h. Errors: as tamis_reader_read(). */
tamis_status tool_picture_load(tool *t, tool_picture *picture, int whole, int32_t w, int32_t h);

/* The part rect, as it is. Owned by the caller. */
tamis_status tool_picture_part(tool *t, const tool_picture *picture, tamis_rect rect,
                               tamis_image *out);

/* The picture in another size, each pixel the mean of what it covers; the same size gives another
 * reference. Owned by the caller. */
tamis_status tool_scaled(tool *t, const tamis_image *image, int32_t w, int32_t h, tamis_image *out);

/* The size that a picture of w x h has when its longer side is most at most. */
void tool_fit(int32_t w, int32_t h, int32_t most, int32_t *out_w, int32_t *out_h);

/* Color channels that are shown, 1 or 3, and whether alpha is. */
int tool_shown_colors(tamis_format format);

/* Chooses the levels to show the picture by: all of u8, 0 to 1 of floats that keep to it, all of
 * u16 where they are used, else those between which all but two in a thousand of its samples lie.
 * given is --levels or NULL. Returns an exit code, having said what is wrong. */
int tool_window_choose(tool *t, const char *given, const tamis_image *image, tool_window *out);

/* Whether --levels, or NULL, can be understood; to be asked before any work. Returns an exit code,
 * having said what is wrong. */
int tool_window_check(tool *t, const char *given);

/* What browsers show: u8, of 1 to 4 channels. Owned by the caller. */
tamis_status tool_shown(tool *t, const tamis_image *image, const tool_window *window,
                        tamis_image *out);

/* A u8 picture as a data: URL of a format, "png" or "jpeg"; profile may be NULL. */
tamis_status tool_picture_url(tool *t, const tamis_image *shown, const char *format,
                              const tamis_meta *profile, json_t **out);

/* Counts of the samples of each color channel in 256 equal steps from low to high; those outside
 * count for the first and last: [[...], ...]. */
json_t *tool_histogram(const tamis_image *image, const tool_window *window);

#endif
