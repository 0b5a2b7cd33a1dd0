/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, texts and the clock. */
#include <errno.h>
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

enum { MOST_BYTES = 1 << 22 };

char *tool_text_read(tool *t, const char *path, const char *what)
{
    FILE *f = fopen(path, "rb");
    char *text = tool_alloc(MOST_BYTES + 1);
    size_t size = f ? fread(text, 1, MOST_BYTES + 1, f) : 0;
    int error = !f || ferror(f) ? errno : 0;
    if (f)
        fclose(f);
    if (!error && size <= MOST_BYTES && !memchr(text, '\0', size)) {
        text[size] = '\0';
        return text;
    }
    tool_error(t, "%s: cannot read %s: %s", path, what,
               error               ? strerror(error)
               : size > MOST_BYTES ? "the file is too large"
                                   : "it is no text");
    free(text);
    return NULL;
}
