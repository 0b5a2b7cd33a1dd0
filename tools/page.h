/* SPDX-License-Identifier: Apache-2.0 */
/* Pages for browsers: the files of tools/page/ put together, with data inside.
 *
 * A page is one file and asks the network for nothing. Of its template, @@NAME@@ becomes the file
 * NAME, @@title@@ the title, and @@data@@ the JSON that scripts read. */
#ifndef TOOL_PAGE_H
#define TOOL_PAGE_H

#include "json.h"
#include "tool.h"

/* Whether a page can be written there; refuses to replace a file without --overwrite. Returns an
 * exit code, having said what is wrong. */
int tool_page_check(tool *t, const char *path);

/* Writes a page, into a file whole or not at all. Returns an exit code, having said what is
 * wrong. */
int tool_page_write(tool *t, const char *path, const char *name, const char *title,
                    const json_t *data);

/* The same as text, to be freed. */
char *tool_page_text(const char *name, const char *title, const json_t *data, size_t *size);

/* Bytes as a data: URL, such as "data:image/png;base64,iVBO...". */
json_t *tool_json_url(const char *mime, const void *data, size_t size);

#endif
