/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of a file, kept while filters may look at them: temporal filters take the pages before
 * and after as frames. */
#ifndef TOOL_STACK_H
#define TOOL_STACK_H

#include "tool.h"

/* As many as a plan may read: TAMIS_MAX_FRAMES to each side, and the page itself. */
enum { TOOL_STACK_SLOTS = 33 };

typedef struct tool_page {
    int number; /* of the page; -1 when the slot is empty */
    tamis_image image;
    tamis_meta meta;
} tool_page;

typedef struct tool_stack {
    tamis_reader *reader;
    int pages;
    tool_page slots[TOOL_STACK_SLOTS]; /* page n is in slot n % TOOL_STACK_SLOTS */
} tool_stack;

void tool_stack_open(tool_stack *stack, tamis_reader *reader, int pages);
void tool_stack_close(tool_stack *stack);

/* The page, read unless it is still there. It stays until tool_stack_drop(). */
tamis_status tool_stack_get(tool_stack *stack, int number, tool_page **out);

/* Puts a page there that was read otherwise; the stack takes both. */
void tool_stack_put(tool_stack *stack, int number, const tamis_image *image, const tamis_meta *meta,
                    tool_page **out);

/* Forgets the pages before number. */
void tool_stack_drop(tool_stack *stack, int number);

/* Sets frames[0 .. 2 * around] to the images of the pages around the given one; NULL where the file
 * has none, or one of another format or size. */
tamis_status tool_stack_frames(tool_stack *stack, int number, int around,
                               const tamis_image **frames);

#endif
