/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of libtamis-io share: a scratch folder, files as bytes, pictures to write. */
#ifndef TAMIS_TESTS_IO_SUPPORT_H
#define TAMIS_TESTS_IO_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <tamis/io.h>

/* cmocka group fixtures: a context, and a folder of its own that is removed at the end. */
int io_setup(void **state);
int io_teardown(void **state);

extern tamis_ctx *io_ctx;
/* Bytes of images that are still held through the context. */
size_t io_bytes_held(void);

/* A path in the scratch folder; valid until the eighth call after this one. */
const char *io_path(const char *name);
/* Number of files in the scratch folder. */
int io_file_count(void);
void io_remove_all(void);

typedef struct io_bytes {
    uint8_t *data;
    size_t size;
} io_bytes;

io_bytes io_load(const char *path);
void io_store(const char *path, const void *data, size_t size);

/* The context's newest message. */
const char *io_message(void);
#define assert_message_has(text) assert_non_null(strstr(io_message(), text))
#define assert_ok(call)                                                                            \
    do {                                                                                           \
        if ((call) != TAMIS_OK)                                                                    \
            fail_msg("%s: %s", #call, io_message());                                               \
    } while (0)

/* A picture with reproducible samples over the whole range of its type; finite in floats. */
tamis_image io_picture(tamis_format format, int32_t w, int32_t h, uint32_t seed);
/* Fails unless both have the same size, type, channels and samples (layouts may differ). */
void io_assert_same(const tamis_image *a, const tamis_image *b);

uint32_t io_random(uint32_t *state);

/* One row of the list of formats that can be written. */
typedef struct io_format {
    const char *name;      /* of the format */
    const char *extension; /* with its dot */
    unsigned types;        /* bit per tamis_type */
    unsigned channels;     /* bit per number of channels */
    int alpha;             /* keeps the meaning of an alpha channel */
    int lossy;             /* samples come back nearly the same */
} io_format;
extern const io_format io_formats[];
extern const int io_format_count;

/* Writes with given options and reads back. */
tamis_status io_write(const char *path, const tamis_write_options *options,
                      const tamis_image *image, const tamis_meta *meta);

#endif
