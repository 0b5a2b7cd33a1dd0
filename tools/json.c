/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tool.h"

#define JSON_FLAGS (JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(12))

json_t *tool_json_new(tool *t)
{
    json_t *o = json_object();
    json_object_set_new(o, "schema_version", json_integer(TOOL_SCHEMA_VERSION));
    json_object_set_new(o, "command", json_string(t->name));
    json_object_set_new(o, "version", json_string(tamis_version()));
    return o;
}

int tool_json_print(tool *t, json_t *object)
{
    int bad = json_dumpf(object, stdout, JSON_FLAGS);
    json_decref(object);
    if (!bad && putchar('\n') != EOF)
        return TOOL_OK;
    return tool_output_failed(t, "cannot write JSON to standard output");
}

json_t *tool_json_text(const char *text)
{
    if (!text)
        return json_null();
    json_t *json = json_string(text);
    if (json)
        return json;
    char *copy = tool_copy_text(text);
    for (char *c = copy; *c; c++) {
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    }
    json = json_string(copy);
    free(copy);
    return json;
}

json_t *tool_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *tool_json_format(tamis_format format)
{
    static const char *const alpha[] = {"none", "straight", "premultiplied"};
    json_t *o = json_object();
    json_object_set_new(o, "type", json_string(tamis_type_name(format.type)));
    json_object_set_new(o, "channels", json_integer(format.channels));
    json_object_set_new(o, "alpha", json_string(alpha[format.alpha]));
    return o;
}

json_t *tool_json_shape(int32_t w, int32_t h, tamis_format format)
{
    json_t *o = tool_json_format(format);
    json_object_set_new(o, "width", json_integer(w));
    json_object_set_new(o, "height", json_integer(h));
    return o;
}

/* The default as people write it for choices and "auto", else as a number. */
static json_t *param_default(const tamis_param *p)
{
    if (p->type == TAMIS_PARAM_CHOICE)
        return json_string(p->choices[(int)p->def]);
    if (p->type == TAMIS_PARAM_NUMBERS)
        return json_string("auto");
    if (p->type == TAMIS_PARAM_MATRIX)
        return json_string(p->words[(int)p->def]);
    if (p->words && p->def < 0)
        return json_string(p->words[-1 - (int)p->def]);
    return p->def < p->min || p->def > p->max ? json_string("auto") : tool_json_number(p->def);
}

json_t *tool_json_param(const tamis_param *p)
{
    static const char *const types[] = {"int",   "float",   "choice", "size",
                                        "value", "numbers", "matrix"};
    json_t *o = json_object();
    json_object_set_new(o, "name", json_string(p->name));
    json_object_set_new(o, "type", json_string(types[p->type]));
    json_object_set_new(o, "default", param_default(p));
    if (p->type == TAMIS_PARAM_CHOICE) {
        json_t *list = json_array();
        for (int i = 0; p->choices[i]; i++)
            json_array_append_new(list, json_string(p->choices[i]));
        json_object_set_new(o, "choices", list);
    } else {
        json_object_set_new(o, "min", tool_json_number(p->min));
        json_object_set_new(o, "max", tool_json_number(p->max));
        json_object_set_new(o, "odd", json_boolean(p->odd));
    }
    if (p->type == TAMIS_PARAM_NUMBERS) {
        json_object_set_new(o, "least", json_integer(p->least));
        json_object_set_new(o, "most", json_integer(p->most));
    }
    if (p->words) {
        json_t *list = json_array();
        for (int i = 0; p->words[i]; i++)
            json_array_append_new(list, json_string(p->words[i]));
        json_object_set_new(o, "words", list);
    }
    json_object_set_new(o, "automatic", json_boolean(p->automatic));
    if (p->type == TAMIS_PARAM_VALUE)
        json_object_set_new(o, "default_percent", json_boolean(p->percent));
    json_object_set_new(o, "unit", json_string(p->unit ? p->unit : ""));
    json_object_set_new(o, "doc", json_string(p->doc));
    return o;
}
