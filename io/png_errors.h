/* SPDX-License-Identifier: Apache-2.0 */
/* Errors and warnings of libpng, which come to us instead of standard error. */
#ifndef TAMIS_IO_PNG_ERRORS_H
#define TAMIS_IO_PNG_ERRORS_H

#include <png.h>
#include <setjmp.h>

#include <tamis/core.h>

/* libpng's error pointer. */
typedef struct tamis_png_errors {
    tamis_ctx *ctx;
    const char *name;  /* of the file */
    char message[160]; /* of the error */
    jmp_buf jump;      /* where libpng goes from an error */
} tamis_png_errors;

void tamis_priv_png_on_error(png_structp png, png_const_charp text);
void tamis_priv_png_on_warning(png_structp png, png_const_charp text);

#endif
