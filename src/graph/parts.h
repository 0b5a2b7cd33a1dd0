/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of a run part by part. */
#ifndef TAMIS_GRAPH_PARTS_H
#define TAMIS_GRAPH_PARTS_H

#include <tamis/parts.h>

#include "graph/run.h"

enum { TAMIS_PARTS_DEPTH = 2 }; /* parts in memory at once: one is filtered, one comes or goes */

/* A picture that parts are read from. */
typedef struct tamis_feed {
    const tamis_part_source *source; /* NULL: there is none */
    tamis_format format;
    int32_t w, h;
    tamis_image whole;   /* where it is there as a whole; else data[0] is NULL */
    size_t mapped;       /* bytes of the temporary file that whole lies in */
    size_t window_bytes; /* memory for one part, at most */
    void *memory[TAMIS_PARTS_DEPTH];
    tamis_image windows[TAMIS_PARTS_DEPTH]; /* what is there of parts i, i - 1 */
    tamis_rect held[TAMIS_PARTS_DEPTH];
} tamis_feed;

enum { TAMIS_FEED_SRC, TAMIS_FEED_GUIDE, TAMIS_FEED_COUNT };

typedef struct tamis_stage tamis_stage;

/* One walk through the parts of a result: of the plan's, or of its first segment's. */
struct tamis_stage {
    const tamis_plan *plan;
    const tamis_run_options *options;
    int is_first;      /* the result is the first segment's, to be held by the plan */
    tamis_rect result; /* what of it is made */
    tamis_format format;
    int32_t block_w, block_h; /* parts consist of these; 0: as wide as the result; any height */
    tamis_feed *feeds;        /* NULL: nothing is read */
    /* Makes a part, into dst where parts are written; src is what the feed has, options say of
     * which window. NULL: the result is there already, in ready. */
    tamis_status (*make)(const tamis_stage *stage, const tamis_image *src, tamis_rect part,
                         const tamis_image *dst, const tamis_run_options *options);
    const tamis_part_target *target; /* NULL: nothing is written */
    tamis_image ready;

    /* What parts_layout.c decides. */
    int32_t part_w, part_h;
    int64_t across, count;
    size_t part_bytes; /* memory for a part of the result, at most */

    int64_t *done, total; /* progress in pixels: before this stage, and of all */
};

/* What stands between small parts and a target of large blocks. */
typedef struct tamis_gather {
    tamis_part_target inside;       /* takes the parts */
    const tamis_part_target *whole; /* gets rows of whole blocks */
    tamis_image rows;               /* one row of blocks */
    tamis_ctx *ctx;
    int32_t result_h;
} tamis_gather;

/* parts_layout.c: chooses the size of parts so that they take at most so many bytes. 0 when not
 * even the smallest do; *least is what these take. */
int tamis_priv_parts_layout(tamis_stage *stage, size_t bound, size_t *least);
/* Likewise parts that lie inside rows of h pixels of the result, of any width and of a height that
 * goes into h without rest. 0 also when too much would be read more than once. */
int tamis_priv_parts_layout_within(tamis_stage *stage, int32_t h, size_t bound);
tamis_rect tamis_priv_parts_at(const tamis_stage *stage, int64_t index);
/* The part of a feed's picture to be there for a part of the result. */
tamis_rect tamis_priv_parts_window(const tamis_stage *stage, int feed, tamis_rect part);
/* What a window has in common with the one before, if that is as wide or as high as it; else
 * nothing of width 0. And the at most two parts of the window that are not in `kept`; returns how
 * many. */
tamis_rect tamis_priv_parts_kept(tamis_rect last, tamis_rect window);
int tamis_priv_parts_rest(tamis_rect window, tamis_rect kept, tamis_rect rest[2]);
/* Bytes of an image with rows as runs like them; that of a row into *stride. */
size_t tamis_priv_parts_bytes(tamis_format format, int32_t w, int32_t h, size_t *stride);

/* parts_gather.c: where the target's blocks are too large for the bound, sets stage->target to
 * g->inside, for parts inside of blocks, if these fit; else nothing is changed. g is all zero and
 * its rows are to be given back with tamis_image_unref() after the walk. Errors: MEMORY, LIMIT. */
tamis_status tamis_priv_parts_gather(tamis_stage *stage, size_t bound, tamis_gather *g);

/* parts_pipe.c: walks, the sizes being chosen. Errors: MEMORY, CANCELED, those of reading, making
 * and writing. */
tamis_status tamis_priv_parts_walk(tamis_stage *stage);

#endif
