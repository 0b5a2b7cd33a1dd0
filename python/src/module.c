/* SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

#include <string.h>

PyObject *core_new(PyTypeObject *type, PyObject *args, PyObject *kwargs, initproc init)
{
    PyObject *self = PyType_GenericAlloc(type, 0);
    if (self && init(self, args, kwargs))
        Py_CLEAR(self);
    return self;
}

const char *core_text(PyObject *text)
{
    Py_ssize_t size;
    const char *bytes = PyUnicode_AsUTF8AndSize(text, &size);
    if (!bytes || strlen(bytes) == (size_t)size)
        return bytes;
    PyErr_SetString(PyExc_ValueError, "embedded null character");
    return NULL;
}

static PyMethodDef functions[] = {
    {"filters", core_filters, METH_NOARGS, "The filters' tables."},
    {"metrics", core_metrics, METH_VARARGS, "metrics(context, a, b, peak, ssim)"},
    {"noise", core_noise, METH_VARARGS, "noise(context, view)"},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "tamis._core",
                                        "The library's objects; see the package tamis.",
                                        -1,
                                        functions,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL};

/* Adds a type under the last part of its name. Returns it, borrowed from the module, or NULL. */
static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromSpec(spec);
    if (!type)
        return NULL;
    int bad = PyModule_AddType(module, (PyTypeObject *)type);
    Py_DECREF(type); /* the module has it */
    return bad ? NULL : (PyTypeObject *)type;
}

static int fill(PyObject *module)
{
    core_view_type = add_type(module, &core_view_spec);
    core_chain_type = core_view_type ? add_type(module, &core_chain_spec) : NULL;
    core_context_type = core_chain_type ? add_type(module, &core_context_spec) : NULL;
    if (!core_context_type || !add_type(module, &core_plan_spec))
        return -1;
#ifdef TAMIS_PYTHON_IO
    if (!add_type(module, &core_reader_spec) || !add_type(module, &core_writer_spec))
        return -1;
#endif
    return PyModule_AddStringConstant(module, "version", tamis_version()) ||
           PyModule_AddIntConstant(module, "MAX_CHANNELS", TAMIS_MAX_CHANNELS);
}

PyMODINIT_FUNC PyInit__core(void); /* the interpreter looks for it by name */

PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module && fill(module))
        Py_CLEAR(module);
    return module;
}
