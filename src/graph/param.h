/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of reading and printing parameters that have files of their own. */
#ifndef TAMIS_GRAPH_PARAM_H
#define TAMIS_GRAPH_PARAM_H

#include <stdint.h>

#include <tamis/filter.h>

/* Reads a decimal number and moves *text behind it; 0 when there is none. */
int tamis_priv_param_number(const char **text, double *out);
/* Prints the fewest digits that read back as the same number. */
void tamis_priv_param_digits(double v, char *buf, size_t size);

/* Whether the parameter waits to be chosen from a picture. */
int tamis_priv_param_unresolved(const tamis_param *p, const void *params);

/* MATRIX: from text, checked against the row, and to text; the length as snprintf() gives it. */
int tamis_priv_matrix_read(const tamis_param *p, const char *text, tamis_matrix *out);
int tamis_priv_matrix_ok(const tamis_param *p, const tamis_matrix *m);
size_t tamis_priv_matrix_print(const tamis_param *p, const tamis_matrix *m, char *buf, size_t size);

/* The matrix in a filter's parameters. */
static inline tamis_matrix *tamis_priv_matrix_at(const tamis_param *p, const void *params)
{
    return (tamis_matrix *)(void *)((char *)(uintptr_t)params + p->offset);
}

#endif
