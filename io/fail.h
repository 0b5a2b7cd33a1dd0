/* SPDX-License-Identifier: Apache-2.0 */
/* Errors about a file. */
#ifndef TAMIS_IO_FAIL_H
#define TAMIS_IO_FAIL_H

#include <stdarg.h>

#include <tamis/core.h>

/* Fails with "NAME: " and the text. */
tamis_status tamis_priv_file_fail(tamis_ctx *ctx, const char *name, tamis_status status,
                                  const char *format, va_list args)
    __attribute__((format(printf, 4, 0)));

#endif
