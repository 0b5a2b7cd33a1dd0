/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in text, always as C writes them: a program that chose a locale with decimal commas gives
 * and gets the same chains and messages as every other. */
#ifndef TAMIS_CORE_NUMBER_H
#define TAMIS_CORE_NUMBER_H

#include <stdarg.h>
#include <stddef.h>

/* strtod(), snprintf() and vsnprintf() in the "C" locale. The calling thread's own locale is back
 * when they return; other threads never see a change. */
double tamis_priv_number_read(const char *text, char **end);
int tamis_priv_number_print(char *buf, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int tamis_priv_number_vprint(char *buf, size_t size, const char *format, va_list args);

/* "512 bytes", "12.0 KiB", "3.4 MiB" or "1.5 GiB"; returns buf, which has room for the longest. */
enum { TAMIS_BYTES_TEXT = 40 };
const char *tamis_priv_bytes_print(size_t bytes, char buf[TAMIS_BYTES_TEXT]);

#endif
