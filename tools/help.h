/* SPDX-License-Identifier: Apache-2.0 */
/* Texts made from the tables: what help, the man page and the pages of filters share. */
#ifndef TOOL_HELP_H
#define TOOL_HELP_H

#include "tool.h"

/* The prose of a filter: the head comment of its header without comment marks, one string the
 * caller owns; NULL when there is none. */
char *tool_filter_prose(const tamis_filter *filter);

/* Type, default and range of a parameter as people read them, the range with the unit (which may be
 * NULL or ""); each returns buf. */
const char *tool_param_type(const tamis_param *param, char *buf, size_t size);
const char *tool_param_default(const tamis_filter *filter, const tamis_param *param, char *buf,
                               size_t size);
const char *tool_param_range(const tamis_param *param, const char *unit, char *buf, size_t size);

/* How an option's value is written, such as "N" or "auto|bar"; "" for flags. Returns buf. */
const char *tool_option_value(const tool_option *option, char *buf, size_t size);

/* The picture of a border by its name, such as "dcb|abcd|cba"; NULL for other words. */
const char *tool_border_picture(const char *name);

/* Meaning of the exit codes, for the man page and help; ended by a NULL text. */
typedef struct tool_exit_text {
    int code;
    const char *text;
} tool_exit_text;
extern const tool_exit_text tool_exit_texts[];

#endif
