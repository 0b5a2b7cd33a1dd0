/* SPDX-License-Identifier: Apache-2.0 */
/* Two picture files side by side: all their pages measured, their differences written. */
#ifndef TOOL_COMPARE_H
#define TOOL_COMPARE_H

#include <tamis/metrics.h>

#include "tool.h"

typedef struct tool_comparison {
    double peak; /* data range: --peak, else that of a's sample type */
    tamis_metrics metrics;
} tool_comparison;

/* Compares a with b; writes the differences to diff unless it is NULL. Returns an exit code, having
 * said what is wrong; pictures that differ are nothing wrong. */
int tool_compare(tool *t, const char *a, const char *b, const char *diff, tool_comparison *out);

#endif
