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
} tamis_text_input;

void tamis_priv_text_open(tamis_text_input *in, tamis_source *source, uint64_t offset);
/* The next byte, or EOF (-1). */
int tamis_priv_text_next(tamis_text_input *in);
/* Offset of the next byte. */
uint64_t tamis_priv_text_position(const tamis_text_input *in);

/* Each skips white space and comments, and returns 0 when there is no such thing. */
int tamis_priv_text_word(tamis_text_input *in, char *word, size_t size);
/* Decimal digits, at most 2147483647; the byte after them is left. */
int tamis_priv_text_number(tamis_text_input *in, uint32_t *out);
/* One digit, 0 or 1. */
int tamis_priv_text_bit(tamis_text_input *in, uint32_t *out);
/* Goes behind the next newline. */
int tamis_priv_text_skip_line(tamis_text_input *in);

#endif
