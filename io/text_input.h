/* SPDX-License-Identifier: Apache-2.0 */
/* Words and numbers of text headers, with "#" comments. */
#ifndef TAMIS_IO_TEXT_INPUT_H
#define TAMIS_IO_TEXT_INPUT_H

#include "source.h"

typedef struct tamis_text_input {
    tamis_source *source;
    uint64_t next; /* offset of the byte after the buffer */
    size_t at, size;
    uint8_t buf[4096];
    char problem[96]; /* why reading failed, once it has */
} tamis_text_input;

void tamis_priv_text_open(tamis_text_input *in, tamis_source *source, uint64_t offset);
/* The next byte, or EOF (-1). */
int tamis_priv_text_next(tamis_text_input *in);
/* Offset of the next byte. */
uint64_t tamis_priv_text_position(const tamis_text_input *in);

/* Each skips white space and comments, and returns 0 when there is no such thing. */
int tamis_priv_text_word(tamis_text_input *in, char *word, size_t size);
/* A number 1 .. max that a header calls by that name. On failure the problem names it and says what
 * stands there instead. */
int tamis_priv_text_field(tamis_text_input *in, const char *name, uint32_t max, uint32_t *out);
/* Decimal digits, at most 2147483647; the byte after them is left. */
int tamis_priv_text_number(tamis_text_input *in, uint32_t *out);
/* One digit, 0 or 1. */
int tamis_priv_text_bit(tamis_text_input *in, uint32_t *out);
/* Goes behind the next newline. */
int tamis_priv_text_skip_line(tamis_text_input *in);
/* The one byte of white space that ends a header; else there is a problem. */
int tamis_priv_text_end(tamis_text_input *in);
/* Sets the problem "NAME is 'FOUND'", or that the file ends when found is empty. Returns 0. */
int tamis_priv_text_complain(tamis_text_input *in, const char *name, const char *found);

#endif
