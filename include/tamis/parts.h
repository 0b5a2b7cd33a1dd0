/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures that do not fit into memory: a plan whose input comes part by part from a function of
 * the caller's, and whose result goes part by part to another. */
#ifndef TAMIS_PARTS_H
#define TAMIS_PARTS_H

#include <tamis/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fills `into`, which has the picture's format and the size of `part`, with that part of the
 * picture. Any part may be asked for, any number of times, though mostly from top to bottom and
 * each pixel once. A status other than OK ends the run, which returns it; the function should have
 * recorded a text with tamis_ctx_fail(). */
typedef tamis_status (*tamis_part_read_fn)(void *user, tamis_rect part, const tamis_image *into);

/* Takes a part of the result; `from` belongs to the run and lasts until the function returns. Every
 * pixel comes once, from top to bottom and, in a row of parts, from left to right. */
typedef tamis_status (*tamis_part_write_fn)(void *user, tamis_rect part, const tamis_image *from);

typedef struct tamis_part_source {
    tamis_part_read_fn read;
    void *user;
    int32_t block_w, block_h; /* how the picture is stored: tiles, or strips with block_w = 0 for
                                 whole rows; block_h = 0 means 1. A hint: what is read together */
} tamis_part_source;

typedef struct tamis_part_target {
    tamis_part_write_fn write;
    void *user;
    int32_t block_w, block_h; /* likewise. Parts consist of whole blocks (at the right and lower
                                 edge what is left of them): with block_w = 0 they are as wide as
                                 the picture */
} tamis_part_target;

/* Zero-initialize; fields that are zero mean their default. */
typedef struct tamis_parts {
    tamis_part_source src;
    tamis_part_source guide; /* for plans with a guide; read = NULL: it is in the run's options */
    tamis_part_target dst;
    size_t max_bytes; /* memory for parts that are read, filtered or to be written, besides what the
                         plan holds; 0 = some tens of megabytes, or what the smallest parts need */
} tamis_parts;

/* Runs a plan part by part; the result has the bits that tamis_plan_run() would give. The next part
 * is read and the last one written while one is filtered, each by a thread of its own: calls of
 * `read` follow one another, and so do calls of `write`, but the two run at the same time. A
 * context of one thread does all by turns. Neither may run the same plan.
 *
 * Parts are bands as wide as the picture, or blocks where that needs less of the input, and
 * overlap in what they read as far as the plan needs; what the part before has read is kept. Where
 * a picture becomes so much smaller that a block needs more of the input than max_bytes allow,
 * parts are pieces of blocks, which are gathered. Where even small parts depend on more of the
 * input than max_bytes allow (a picture turned by 90 degrees into strips, wrap at the edges,
 * remap), the input is first copied to a temporary file; filters that need their whole output
 * (Canny) have it in the plan: see tamis_plan_options.whole_bytes. On a device these copy the input
 * and the result. Such files have no name, lie in TMPDIR (else /var/tmp) and are gone when the run
 * ends, however it ends.
 *
 * Of options, window, guide_window, frames and stream must be NULL (frames before and after are
 * none), and guide as well where it is read. Progress counts all that has to be done. Runs of one
 * plan may go on at once, where they would with tamis_plan_run().
 * Errors: ARGUMENT, CANCELED, LIMIT (the text tells what the smallest parts need), MEMORY, WRITE
 * (no room for a temporary file), those of the functions, and for plans on a device DEVICE. After
 * an error parts may have been written. */
TAMIS_API tamis_status tamis_plan_run_parts(const tamis_plan *plan, const tamis_parts *parts,
                                            const tamis_run_options *options);

#ifdef __cplusplus
}
#endif

#endif
