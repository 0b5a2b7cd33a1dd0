/* SPDX-License-Identifier: Apache-2.0 */
/* The place an output goes to: a temporary file beside the final one, or a device or pipe. */
#ifndef TAMIS_IO_TARGET_H
#define TAMIS_IO_TARGET_H

#include "writer.h"

/* Checks the place and opens writer->sink on it. Errors: WRITE, MEMORY. */
tamis_status tamis_priv_target_open(tamis_writer *writer, const char *path);
/* A nameless file for samples that are needed later: beside the output, where there must be room
 * anyway, or in TMPDIR when that is a pipe. Returns its descriptor, or -1 with errno set. */
int tamis_priv_target_scratch(const tamis_writer *writer);
/* Closes the sink and puts the file into place. Errors: WRITE. */
tamis_status tamis_priv_target_commit(tamis_writer *writer);
/* Closes whatever is open and removes the temporary file. */
void tamis_priv_target_discard(tamis_writer *writer);

#endif
