/* SPDX-License-Identifier: Apache-2.0 */
/* Tags of a TIFF directory that describe the picture rather than its storage. */
#ifndef TAMIS_IO_TIFF_META_H
#define TAMIS_IO_TIFF_META_H

#include "tiff_open.h"

/* Finds all directories of the main chain; *offsets is to be freed. Errors: READ, MEMORY. */
tamis_status tamis_priv_tiff_directories(tamis_reader *reader, uint64_t **offsets, int *count);

/* Whether a tag says what the main directory of an EXIF block says too: camera, author, ... */
int tamis_priv_tiff_is_descriptive(unsigned tag);

/* Collects the metadata of the directory at offset, which says the given orientation.
 * Errors: MEMORY. */
tamis_status tamis_priv_tiff_read_meta(tamis_reader *reader, uint64_t offset, int orientation,
                                       tamis_meta *meta);

/* Sets the tags of meta in the writer's current directory. Errors: MEMORY, WRITE. */
tamis_status tamis_priv_tiff_write_meta(tamis_writer *writer, tamis_tiff *t, int big,
                                        const tamis_meta *meta);

#endif
