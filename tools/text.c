/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, texts and the clock. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tool.h"

double tool_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void *tool_grow(void *ptr, size_t size)
{
    void *grown = realloc(ptr, size);
    if (!grown) {
        fprintf(stderr, "tamis: error: out of memory\n");
        exit(TOOL_MEMORY);
    }
    return grown;
}

void *tool_alloc(size_t size)
{
    return memset(tool_grow(NULL, size ? size : 1), 0, size);
}

char *tool_copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(tool_grow(NULL, size), text, size);
}

char *tool_print_text(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    char *text = tool_alloc((size_t)length + 1);
    va_start(list, format);
    vsnprintf(text, (size_t)length + 1, format, list);
    va_end(list);
    return text;
}
