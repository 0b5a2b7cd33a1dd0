/* SPDX-License-Identifier: Apache-2.0 */
/* The filters' tables as Python objects, with the fields of `tamis list --json`. */
#include "core.h"

#include <math.h>

/* Puts value, a new reference, into the dict. Returns 0, or -1 with an exception set. */
static int put(PyObject *dict, const char *key, PyObject *value)
{
    int bad = !value || PyDict_SetItemString(dict, key, value);
    Py_XDECREF(value);
    return bad ? -1 : 0;
}

static PyObject *names(const char *const *words)
{
    PyObject *list = PyList_New(0);
    for (; list && words && *words; words++) {
        PyObject *word = PyUnicode_FromString(*words);
        if (!word || PyList_Append(list, word))
            Py_CLEAR(list);
        Py_XDECREF(word);
    }
    return list;
}

/* As people write it for choices and "auto", else a number. */
static PyObject *param_default(const tamis_param *p)
{
    if (p->type == TAMIS_PARAM_CHOICE)
        return PyUnicode_FromString(p->choices[(int)p->def]);
    if (p->type == TAMIS_PARAM_NUMBERS)
        return PyUnicode_FromString("auto");
    if (p->type == TAMIS_PARAM_MATRIX)
        return PyUnicode_FromString(p->words[(int)p->def]);
    if (p->words && p->def < 0)
        return PyUnicode_FromString(p->words[-1 - (int)p->def]);
    if (p->def < p->min || p->def > p->max)
        return PyUnicode_FromString("auto");
    return PyFloat_FromDouble(p->def);
}

static PyObject *param_dict(const tamis_param *p)
{
    static const char *const types[] = {"int",   "float",   "choice", "size",
                                        "value", "numbers", "matrix"};
    PyObject *o = PyDict_New();
    if (!o)
        return NULL;
    int bad = put(o, "name", PyUnicode_FromString(p->name)) ||
              put(o, "type", PyUnicode_FromString(types[p->type])) ||
              put(o, "default", param_default(p)) || put(o, "min", PyFloat_FromDouble(p->min)) ||
              put(o, "max", PyFloat_FromDouble(p->max)) || put(o, "odd", PyBool_FromLong(p->odd)) ||
              put(o, "automatic", PyBool_FromLong(p->automatic)) ||
              put(o, "unit", PyUnicode_FromString(p->unit ? p->unit : "")) ||
              put(o, "doc", PyUnicode_FromString(p->doc));
    if (!bad && p->type == TAMIS_PARAM_VALUE)
        bad = put(o, "default_percent", PyBool_FromLong(p->percent));
    if (!bad && p->choices)
        bad = put(o, "choices", names(p->choices));
    if (!bad && p->words)
        bad = put(o, "words", names(p->words));
    if (!bad && p->type == TAMIS_PARAM_NUMBERS)
        bad =
            put(o, "least", PyLong_FromLong(p->least)) || put(o, "most", PyLong_FromLong(p->most));
    if (bad)
        Py_CLEAR(o);
    return o;
}

static PyObject *filter_dict(const tamis_filter *filter)
{
    int count;
    const tamis_param *params = tamis_filter_params(filter, &count);
    PyObject *o = PyDict_New(), *list = PyList_New(0);
    for (int i = 0; list && i < count; i++) {
        PyObject *param = param_dict(&params[i]);
        if (!param || PyList_Append(list, param))
            Py_CLEAR(list);
        Py_XDECREF(param);
    }
    if (!o || !list || put(o, "name", PyUnicode_FromString(tamis_filter_name(filter))) ||
        put(o, "brief", PyUnicode_FromString(tamis_filter_brief(filter))) ||
        put(o, "min_inputs", PyLong_FromLong(tamis_filter_min_inputs(filter))) ||
        put(o, "max_inputs", PyLong_FromLong(tamis_filter_max_inputs(filter)))) {
        Py_XDECREF(o);
        Py_XDECREF(list);
        return NULL;
    }
    if (put(o, "params", list))
        Py_CLEAR(o);
    return o;
}

PyObject *core_filters(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < tamis_filter_count(); i++) {
        PyObject *filter = filter_dict(tamis_filter_at(i));
        if (!filter || PyList_Append(list, filter))
            Py_CLEAR(list);
        Py_XDECREF(filter);
    }
    return list;
}
