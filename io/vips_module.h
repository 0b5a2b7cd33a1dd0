/* SPDX-License-Identifier: Apache-2.0 */
/* Picture formats by libvips, which stands behind a module. */
#ifndef TAMIS_IO_VIPS_MODULE_H
#define TAMIS_IO_VIPS_MODULE_H

#include <tamis/io.h>

/* Changes whenever something here or in tamis/io.h does: a module of another version is not used.
 */
#define TAMIS_VIPS_ABI 1u

/* An open picture. */
typedef struct tamis_vips tamis_vips;

typedef struct tamis_vips_module {
    unsigned abi;
    /* Whether a file that begins with these bytes may be one that libvips knows. */
    int (*knows)(const void *head, size_t size);
    /* Opens a file by its path, or by its bytes, which stay the caller's until close(), and finds
     * out what it is; nothing is decoded. *foreign becomes 1 when it is no picture that libvips
     * knows; then nothing is said. name is for messages. */
    tamis_status (*open)(tamis_ctx *ctx, const char *name, const char *path, const void *bytes,
                         size_t size, tamis_vips **out, int *foreign);
    void (*info)(const tamis_vips *picture, tamis_file_info *out);
    /* The part rect of the stored picture; all of it where info() says blocks of 0 x 0. */
    tamis_status (*part)(tamis_vips *picture, tamis_rect rect, const tamis_image *into);
    tamis_status (*meta)(tamis_vips *picture, tamis_meta *meta);
    void (*close)(tamis_vips *picture);
    /* Encodes rows of packed samples that lie behind one another; format is one of the encoders' in
     * vips_write.c. *bytes is given back with release(). */
    tamis_status (*encode)(tamis_ctx *ctx, const char *name, const char *format,
                           const tamis_image *image, const tamis_meta *meta, int quality,
                           int lossless, void **bytes, size_t *size);
    void (*release)(void *bytes);
    const char *(*libraries)(char *buf, size_t size);
} tamis_vips_module;

/* The module's one entry. */
typedef const tamis_vips_module *(*tamis_vips_entry)(void);
#define TAMIS_VIPS_ENTRY "tamis_vips_module_entry"

/* The module, or NULL and why there is none. */
const tamis_vips_module *tamis_priv_vips_module(char *why, size_t size);

#endif
