/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures in memory behind the functions of tamis/parts.h, which watch how they are called. */
#ifndef TEST_PARTS_H
#define TEST_PARTS_H

#include <stdatomic.h>

#include <tamis/tamis.h>

typedef struct test_store {
    tamis_ctx *ctx;
    const tamis_image *image;
    int32_t block_w, block_h; /* parts that are written consist of these */
    int fail_at;              /* the call, from 1 on, that fails with READ or WRITE */
    int calls;
    int64_t pixels;      /* so far */
    tamis_rect last;     /* the part before */
    const char *misused; /* how it was called wrong; NULL: it was not */
    atomic_int inside;   /* calls under way */
} test_store;

tamis_status test_store_read(void *store, tamis_rect part, const tamis_image *into);
tamis_status test_store_write(void *store, tamis_rect part, const tamis_image *from);

/* Runs a plan on images in memory through such functions, with blocks of these sizes. */
tamis_status test_parts_run(const tamis_plan *plan, test_store *src, test_store *guide,
                            test_store *dst, size_t max_bytes, const tamis_run_options *options);

#endif
