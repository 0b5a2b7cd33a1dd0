/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of filters: a text, or filters and parameters one by one. */
#include "core.h"

#include <stdlib.h>

PyTypeObject *core_chain_type;

/* One filter: its name and a dict of texts. */
static tamis_status append(core_chain *c, const char *name, PyObject *params)
{
    tamis_ctx *ctx = c->context->ctx;
    const tamis_filter *filter = tamis_filter_find(name);
    if (!filter)
        return tamis_ctx_fail(ctx, TAMIS_ERR_ARGUMENT, "there is no filter '%s'", name);
    void *values = malloc(tamis_filter_params_size(filter));
    if (!values)
        return tamis_ctx_fail(ctx, TAMIS_ERR_MEMORY, "%s: no memory", name);
    tamis_filter_defaults(filter, values);
    tamis_status status = TAMIS_OK;
    Py_ssize_t at = 0;
    PyObject *key, *value;
    while (!status && PyDict_Next(params, &at, &key, &value)) {
        const char *k = core_text(key);
        const char *v = k ? core_text(value) : NULL;
        status = v ? tamis_filter_set(ctx, filter, values, k, v) : TAMIS_ERR_ARGUMENT;
    }
    if (!status)
        status = tamis_graph_add(c->graph, filter, values);
    free(values);
    return status;
}

static int chain_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"context", "text", "params", NULL};
    core_chain *c = (core_chain *)self;
    PyObject *context, *params = NULL;
    const char *text;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!s|O!", names, core_context_type, &context,
                                     &text, &PyDict_Type, &params))
        return -1;
    Py_INCREF(context);
    c->context = (core_context *)context;
    tamis_ctx *ctx = c->context->ctx;
    core_begin();
    tamis_status status =
        params ? tamis_graph_create(ctx, &c->graph) : tamis_graph_parse(ctx, text, &c->graph);
    if (!status && params)
        status = append(c, text, params);
    return core_end(ctx, status);
}

static PyObject *chain_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    return core_new(type, args, kwargs, chain_init);
}

static void chain_dealloc(PyObject *self)
{
    core_chain *c = (core_chain *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (c->context && !c->context->abandoned)
        tamis_graph_free(&c->graph);
    Py_XDECREF((PyObject *)c->context);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *chain_text(PyObject *self, void *unused)
{
    const core_chain *c = (core_chain *)self;
    (void)unused;
    size_t size = tamis_graph_print(c->graph, NULL, 0) + 1;
    char *text = malloc(size);
    if (!text)
        return PyErr_NoMemory();
    tamis_graph_print(c->graph, text, size);
    PyObject *o = PyUnicode_FromString(text);
    free(text);
    return o;
}

/* Each filter as a chain of one, in text. */
static PyObject *chain_steps(PyObject *self, PyObject *unused)
{
    const core_chain *c = (core_chain *)self;
    tamis_ctx *ctx = c->context->ctx;
    (void)unused;
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < tamis_graph_size(c->graph); i++) {
        core_chain one = {.context = c->context};
        core_begin();
        tamis_status status = tamis_graph_create(ctx, &one.graph);
        if (!status)
            status = tamis_graph_add(one.graph, tamis_graph_filter(c->graph, i),
                                     tamis_graph_params(c->graph, i));
        PyObject *text = core_end(ctx, status) ? NULL : chain_text((PyObject *)&one, NULL);
        tamis_graph_free(&one.graph);
        if (!text || PyList_Append(list, text))
            Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

/* resolve(view, guide=None): the chain's text with all chosen that is open, from the view's first
 * picture. */
static PyObject *chain_resolve(PyObject *self, PyObject *args)
{
    const core_chain *c = (core_chain *)self;
    tamis_ctx *ctx = c->context->ctx;
    PyObject *view, *guide = NULL;
    if (!PyArg_ParseTuple(args, "O!|O", core_view_type, &view, &guide))
        return NULL;
    const core_view *picture = (core_view *)view;
    if (!picture->plain) {
        PyErr_SetString(PyExc_ValueError, "Chain.resolve: a view that needs a copy");
        return NULL;
    }
    core_watch watch;
    tamis_run_options options = {0};
    if (core_view_guide(guide, &options.guide))
        return NULL;
    core_chain chosen = {.context = c->context};
    core_begin();
    if (core_watch_begin(&watch, &options, NULL))
        return NULL;
    tamis_status status =
        tamis_graph_resolve(ctx, c->graph, &picture->first, &options, &chosen.graph);
    int interrupted = core_watch_end(&watch);
    PyObject *text =
        interrupted || core_end(ctx, status) ? NULL : chain_text((PyObject *)&chosen, NULL);
    tamis_graph_free(&chosen.graph);
    return text;
}

static PyObject *chain_open(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(tamis_graph_is_open(((core_chain *)self)->graph));
}

static PyMethodDef methods[] = {
    {"resolve", chain_resolve, METH_VARARGS, "resolve(view, guide=None): all chosen, as text."},
    {"steps", chain_steps, METH_NOARGS, "The filters, each as a chain's text."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef getters[] = {
    {"open", chain_open, NULL, "Whether something has to be chosen from a picture.", NULL},
    {"text", chain_text, NULL, "The chain as text, without what has its default.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {{Py_tp_new, chain_new},
                              {Py_tp_dealloc, chain_dealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, getters},
                              {Py_tp_doc, "Chain(context, text, params=None): text is a chain, or "
                                          "with a dict of texts one filter's name"},
                              {0, NULL}};

PyType_Spec core_chain_spec = {"tamis._core.Chain", sizeof(core_chain), 0, Py_TPFLAGS_DEFAULT,
                               slots};
