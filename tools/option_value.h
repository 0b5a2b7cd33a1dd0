/* SPDX-License-Identifier: Apache-2.0 */
/* Values of options: from text into their fields. */
#ifndef TOOL_OPTION_VALUE_H
#define TOOL_OPTION_VALUE_H

#include "tool.h"

/* Fills options with the table's defaults. */
void tool_options_reset(tool_options *options);

/* Stores text in the option's field; 0 when it is not acceptable. */
int tool_option_store(const tool_option *option, tool_options *options, const char *text);

/* Says what the option takes instead of text. Returns TOOL_USAGE. */
int tool_option_refuse(tool *t, const tool_option *option, const char *text);

/* The value of a flag, a whole number or a text as text; NULL when it is not set. Owned. */
char *tool_option_text(const tool_option *option, const tool_options *options);

#endif
