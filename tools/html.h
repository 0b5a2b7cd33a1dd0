/* SPDX-License-Identifier: Apache-2.0 */
/* A page of HTML in one file, pictures included, written whole or not at all. */
#ifndef TOOL_HTML_H
#define TOOL_HTML_H

#include <stdio.h>

#include "tool.h"

typedef struct tool_html {
    tool *tool;
    const char *path;
    char *temporary; /* beside path, until the page is whole */
    FILE *file;
} tool_html;

/* Opens a page; refuses to replace a file without --overwrite. Returns an exit code, having said
 * what is wrong. */
int tool_html_open(tool_html *html, tool *t, const char *path);

/* Text with the characters that mean something in HTML escaped. */
void tool_html_text(tool_html *html, const char *text);

/* A picture file as a data: URL that browsers can show: PNG and JPEG as they are, anything else
 * converted to 8 or 16 bit PNG, floats with 0 .. 1 as black to white. */
int tool_html_picture(tool_html *html, const char *path);

/* Gives the page its name. With code != TOOL_OK removes it instead. Returns an exit code. */
int tool_html_close(tool_html *html, int code);

#endif
