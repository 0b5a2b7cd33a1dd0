/* SPDX-License-Identifier: Apache-2.0 */
/* JSON on standard output: one object a run, with a schema_version. */
#ifndef TOOL_JSON_H
#define TOOL_JSON_H

#include <jansson.h>
#include <tamis/graph.h>

struct tool;

/* Raised whenever a key changes its meaning or goes. */
#define TOOL_SCHEMA_VERSION 1

/* A new object with schema_version, command and version. */
json_t *tool_json_new(struct tool *t);

/* Prints the object on standard output and frees it. Returns an exit code. */
int tool_json_print(struct tool *t, json_t *object);

/* Text; bytes that are not UTF-8 (file names may hold any) become '?'. NULL gives null. */
json_t *tool_json_text(const char *text);

/* A number, or null when it is not finite: JSON has no such numbers. */
json_t *tool_json_number(double value);

/* {"type": "u8", "channels": 3, "alpha": "none"}. */
json_t *tool_json_format(tamis_format format);

/* A format with width and height. */
json_t *tool_json_shape(int32_t w, int32_t h, tamis_format format);

/* The filters of a chain, each with all its parameters as they are set. */
json_t *tool_json_steps(const tamis_graph *graph);

/* A filter with its parameters and kernels. */
json_t *tool_json_filter(const tamis_filter *filter);
/* A parameter row as an object. */
json_t *tool_json_param(const tamis_param *param);

#endif
