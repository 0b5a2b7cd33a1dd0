/* SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

#include <stdlib.h>

PyTypeObject *core_context_type;

/* Pairs (name, chain) of texts as presets, whose texts live as long as the tuple. Returns how many,
 * in memory for the caller to free; -1 with an exception. */
static Py_ssize_t read_presets(PyObject *pairs, tamis_preset **out)
{
    Py_ssize_t count = PyTuple_Size(pairs);
    tamis_preset *presets = calloc(count > 0 ? (size_t)count : 1, sizeof *presets);
    *out = presets;
    if (count < 0 || !presets) {
        if (!PyErr_Occurred())
            PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *pair = PyTuple_GetItem(pairs, i), *name, *chain;
        if (!PyTuple_Check(pair) || !PyArg_ParseTuple(pair, "UU", &name, &chain)) {
            PyErr_SetString(PyExc_TypeError, "presets: a name and a chain each, as texts");
            return -1;
        }
        presets[i].name = core_text(name);
        presets[i].chain = core_text(chain);
        if (!presets[i].name || !presets[i].chain)
            return -1;
    }
    return count;
}

static int context_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"threads", "device", "cpu", "max_bytes", "presets", NULL};
    core_context *c = (core_context *)self;
    tamis_ctx_options options = {.log = core_log};
    Py_ssize_t max_bytes = 0, count = 0;
    PyObject *pairs = NULL;
    tamis_preset *presets = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|izznO!", names, &options.threads,
                                     &options.device, &options.cpu, &max_bytes, &PyTuple_Type,
                                     &pairs))
        return -1;
    if (max_bytes < 0) {
        PyErr_SetString(PyExc_ValueError, "Context: max_bytes is negative");
        return -1;
    }
    options.max_bytes = (size_t)max_bytes;
    if (pairs)
        count = read_presets(pairs, &presets);
    if (count < 0) {
        free(presets);
        return -1;
    }
    options.presets = presets;
    options.preset_count = (size_t)count;
    core_begin();
    tamis_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_ctx_create(&options, &c->ctx);
    Py_END_ALLOW_THREADS;
    free(presets);
    return core_end(c->ctx, status);
}

static PyObject *context_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    return core_new(type, args, kwargs, context_init);
}

static void context_dealloc(PyObject *self)
{
    core_context *c = (core_context *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (!c->abandoned)
        tamis_ctx_free(&c->ctx);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *context_abandon(PyObject *self, PyObject *unused)
{
    (void)unused;
    ((core_context *)self)->abandoned = 1;
    Py_RETURN_NONE;
}

static PyObject *context_devices(PyObject *self, PyObject *unused)
{
    tamis_ctx *ctx = ((core_context *)self)->ctx;
    (void)unused;
    int count;
    Py_BEGIN_ALLOW_THREADS; /* the first call opens a module */
    count = tamis_device_count(ctx);
    Py_END_ALLOW_THREADS;
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < count; i++) {
        tamis_device_info d;
        core_begin();
        if (core_end(ctx, tamis_device_describe(ctx, i, &d))) {
            Py_CLEAR(list);
            break;
        }
        PyObject *o = Py_BuildValue("{s:s,s:i,s:(ii),s:i,s:n,s:n,s:i,s:i}", "name", d.name, "index",
                                    i, "compute_capability", d.major, d.minor, "processors",
                                    d.processors, "memory", (Py_ssize_t)d.memory, "free",
                                    (Py_ssize_t)d.free, "driver", d.driver, "runtime", d.runtime);
        if (!o || PyList_Append(list, o))
            Py_CLEAR(list);
        Py_XDECREF(o);
    }
    return list;
}

static PyObject *context_presets(PyObject *self, PyObject *unused)
{
    const tamis_ctx *ctx = ((core_context *)self)->ctx;
    (void)unused;
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < tamis_preset_count(ctx); i++) {
        const tamis_preset *p = tamis_preset_at(ctx, i);
        PyObject *o = Py_BuildValue("(sszz)", p->name, p->chain, p->about, p->group);
        if (!o || PyList_Append(list, o))
            Py_CLEAR(list);
        Py_XDECREF(o);
    }
    return list;
}

static PyObject *context_last_message(PyObject *self, PyObject *unused)
{
    char text[1024];
    (void)unused;
    return PyUnicode_FromString(
        tamis_ctx_last_message(((core_context *)self)->ctx, text, sizeof text));
}

static PyObject *context_threads(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(tamis_ctx_threads(((core_context *)self)->ctx));
}

static PyObject *context_cpu(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(tamis_ctx_cpu(((core_context *)self)->ctx));
}

static PyObject *context_peak(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(tamis_ctx_peak_bytes(((core_context *)self)->ctx));
}

static PyMethodDef methods[] = {
    {"abandon", context_abandon, METH_NOARGS, "Never touch the library's context again."},
    {"devices", context_devices, METH_NOARGS, "A list of dicts, one for each GPU."},
    {"presets", context_presets, METH_NOARGS, "A list of (name, chain, about, group)."},
    {"last_message", context_last_message, METH_NOARGS, "The newest error's text."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef getters[] = {{"threads", context_threads, NULL, "Threads that filter.", NULL},
                                {"cpu", context_cpu, NULL, "Instruction set in use.", NULL},
                                {"peak_bytes", context_peak, NULL, "Most memory held.", NULL},
                                {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_new, context_new},
    {Py_tp_dealloc, context_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {Py_tp_doc, "Context(threads=0, device=None, cpu=None, max_bytes=0, presets=())"},
    {0, NULL}};

PyType_Spec core_context_spec = {"tamis._core.Context", sizeof(core_context), 0, Py_TPFLAGS_DEFAULT,
                                 slots};
