/* SPDX-License-Identifier: Apache-2.0 */
/* Maps of coordinates for planes that have fewer samples than the picture. */
#ifndef TOOL_VIDEO_MAP_H
#define TOOL_VIDEO_MAP_H

#include <tamis/graph.h>

/* The map that does to the plane's samples what map, of F32 or F16 columns and rows, does to the
 * picture: its values at the places of the result's samples, between pixels linear, in samples. The
 * caller owns *out. Errors: ARGUMENT, MEMORY. */
tamis_status tool_video_map(tamis_ctx *ctx, const tamis_image *map, const tamis_plane *plane,
                            tamis_image *out);

#endif
