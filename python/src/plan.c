/* SPDX-License-Identifier: Apache-2.0 */
/* Plans: chains for one format and size, and their runs. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

typedef struct core_plan {
    PyObject_HEAD core_context *context;
    tamis_plan *plan;
    int running; /* runs, counted while the interpreter's lock is held */
} core_plan;

static int plan_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"chain", "key", "guide", "whole_bytes", NULL};
    core_plan *p = (core_plan *)self;
    PyObject *chain_object, *key, *guide_key = NULL;
    int type, layout, alpha, w, h, guide_type, guide_layout, guide_alpha;
    Py_ssize_t whole_bytes = 0;
    tamis_format format, guide;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O!|On", names, core_chain_type, &chain_object,
                                     &PyTuple_Type, &key, &guide_key, &whole_bytes))
        return -1;
    if (!PyArg_ParseTuple(key, "iiiiii", &type, &format.channels, &layout, &alpha, &w, &h))
        return -1;
    format.type = (tamis_type)type;
    format.layout = (tamis_layout)layout;
    format.alpha = (tamis_alpha)alpha;
    tamis_plan_options options = {.whole_bytes = (size_t)whole_bytes};
    if (guide_key && guide_key != Py_None) {
        if (!PyArg_ParseTuple(guide_key, "iiiiii", &guide_type, &guide.channels, &guide_layout,
                              &guide_alpha, &options.guide_w, &options.guide_h))
            return -1;
        guide.type = (tamis_type)guide_type;
        guide.layout = (tamis_layout)guide_layout;
        guide.alpha = (tamis_alpha)guide_alpha;
        options.guide = &guide;
    }
    core_chain *chain = (core_chain *)chain_object;
    tamis_ctx *ctx = chain->context->ctx;
    p->context = chain->context;
    Py_INCREF((PyObject *)p->context);
    core_begin();
    return core_end(ctx, tamis_plan_create(ctx, chain->graph, format, w, h, &options, &p->plan));
}

static PyObject *plan_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    return core_new(type, args, kwargs, plan_init);
}

static void plan_dealloc(PyObject *self)
{
    core_plan *p = (core_plan *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (p->context && !p->context->abandoned)
        tamis_plan_free(&p->plan);
    Py_XDECREF((PyObject *)p->context);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* ---- facts */

static PyObject *plan_key(PyObject *self, void *unused)
{
    const tamis_plan *plan = ((core_plan *)self)->plan;
    (void)unused;
    int32_t w = 0, h = 0;
    tamis_plan_size(plan, &w, &h);
    tamis_format f = tamis_plan_format(plan);
    return Py_BuildValue("(iiiiii)", (int)f.type, f.channels, (int)f.layout, (int)f.alpha, (int)w,
                         (int)h);
}

static PyObject *plan_halo(PyObject *self, void *unused)
{
    tamis_halo h = tamis_plan_halo(((core_plan *)self)->plan);
    (void)unused;
    if (h.left == TAMIS_HALO_ALL)
        Py_RETURN_NONE;
    return Py_BuildValue("(iiii)", h.left, h.right, h.top, h.bottom);
}

static PyObject *plan_frames(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(tamis_plan_frames(((core_plan *)self)->plan));
}

static PyObject *plan_device(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(tamis_plan_device(((core_plan *)self)->plan));
}

static PyObject *plan_bytes(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(tamis_plan_bytes(((core_plan *)self)->plan));
}

static PyObject *plan_running(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(((core_plan *)self)->running);
}

/* On the CPU a plan has memory for as many runs as its context has threads. */
static PyObject *plan_is_full(PyObject *self, void *unused)
{
    const core_plan *p = (core_plan *)self;
    (void)unused;
    return PyBool_FromLong(p->running >= tamis_ctx_threads(p->context->ctx) &&
                           !strcmp(tamis_plan_device(p->plan), "cpu"));
}

static PyObject *plan_explain(PyObject *self, PyObject *unused)
{
    const tamis_plan *plan = ((core_plan *)self)->plan;
    (void)unused;
    size_t size = tamis_plan_explain(plan, NULL, 0) + 1;
    char *text = malloc(size);
    if (!text)
        return PyErr_NoMemory();
    tamis_plan_explain(plan, text, size);
    PyObject *o = PyUnicode_FromString(text);
    free(text);
    return o;
}

/* need(rect, guide=False) */
static PyObject *plan_need(PyObject *self, PyObject *args)
{
    core_plan *p = (core_plan *)self;
    tamis_rect rect, out;
    int guide = 0;
    if (!PyArg_ParseTuple(args, "(iiii)|p", &rect.x, &rect.y, &rect.w, &rect.h, &guide))
        return NULL;
    core_begin();
    tamis_status status =
        guide ? tamis_plan_need_guide(p->plan, rect, &out) : tamis_plan_need(p->plan, rect, &out);
    if (core_end(p->context->ctx, status))
        return NULL;
    return Py_BuildValue("(iiii)", (int)out.x, (int)out.y, (int)out.w, (int)out.h);
}

/* ---- runs */

/* What a run is given besides pictures. */
typedef struct run {
    const tamis_plan *plan;
    tamis_run_options options;
    tamis_image *srcs, *dsts;
    size_t count;
    tamis_rect rect, window, guide_window;
    int part; /* only rect of the result */
} run;

/* A chain with temporal filters: the batch is a sequence of frames. */
static tamis_status run_sequence(run *r, int around)
{
    enum { MOST = 2 * 4096 + 1 };
    const tamis_image *frames[MOST];
    if (2 * around + 1 > MOST)
        return TAMIS_ERR_UNSUPPORTED;
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; !status && i < r->count; i++) {
        for (int k = -around; k <= around; k++) {
            int64_t at = (int64_t)i + k;
            frames[k + around] = at < 0 || at >= (int64_t)r->count ? NULL : &r->srcs[at];
        }
        r->options.frames = frames;
        status = tamis_plan_run(r->plan, &r->srcs[i], &r->dsts[i], &r->options);
    }
    return status;
}

static tamis_status run_all(run *r)
{
    int around = tamis_plan_frames(r->plan);
    if (r->part)
        return tamis_plan_run_region(r->plan, r->srcs, r->rect, r->dsts, &r->options);
    if (r->count == 1)
        return tamis_plan_run(r->plan, r->srcs, r->dsts, &r->options);
    if (around)
        return run_sequence(r, around);
    return tamis_plan_run_many(r->plan, r->srcs, r->dsts, r->count, &r->options);
}

static PyObject *run_watched(core_plan *p, run *r)
{
    core_watch watch;
    core_begin();
    if (core_watch_begin(&watch, &r->options, &p->running))
        return NULL;
    tamis_status status = run_all(r);
    if (core_watch_end(&watch) || core_end(p->context->ctx, status))
        return NULL;
    Py_RETURN_NONE;
}

static int read_rect(PyObject *tuple, tamis_rect *rect, const tamis_rect **pointer)
{
    if (!tuple || tuple == Py_None)
        return 0;
    if (core_rect(tuple, rect))
        return -1;
    *pointer = rect;
    return 0;
}

/* run(src, dst, guide=None, rect=None, window=None, guide_window=None, stream=0): Views */
static PyObject *plan_run(PyObject *self, PyObject *args)
{
    core_plan *p = (core_plan *)self;
    run r = {.plan = p->plan};
    PyObject *src_object, *dst_object, *guide = NULL, *rect = NULL, *window = NULL;
    PyObject *guide_window = NULL;
    Py_ssize_t stream = 0;
    if (!PyArg_ParseTuple(args, "O!O!|OOOOn", core_view_type, &src_object, core_view_type,
                          &dst_object, &guide, &rect, &window, &guide_window, &stream))
        return NULL;
    core_view *src = (core_view *)src_object, *dst = (core_view *)dst_object;
    const tamis_rect *part = NULL;
    if (read_rect(rect, &r.rect, &part) || read_rect(window, &r.window, &r.options.window) ||
        read_rect(guide_window, &r.guide_window, &r.options.guide_window))
        return NULL;
    if (core_view_guide(guide, &r.options.guide))
        return NULL;
    if (!src->plain || !dst->plain || src->count != dst->count || (part && src->count != 1)) {
        PyErr_SetString(PyExc_ValueError, "Plan.run: views that do not fit");
        return NULL;
    }
    r.part = part != NULL;
    r.options.stream = (void *)stream; /* NOLINT: a handle, as an integer */
    r.count = (size_t)src->count;
    if (r.count == 1) {
        r.srcs = &src->first;
        r.dsts = &dst->first;
        return run_watched(p, &r);
    }
    PyObject *result = NULL;
    r.srcs = core_view_images(src);
    r.dsts = r.srcs ? core_view_images(dst) : NULL;
    if (r.dsts)
        result = run_watched(p, &r);
    free(r.srcs);
    free(r.dsts);
    return result;
}

static PyMethodDef methods[] = {
    {"explain", plan_explain, METH_NOARGS, "The plan for people."},
    {"need", plan_need, METH_VARARGS, "need(rect, guide=False): what part of the input it takes."},
    {"run", plan_run, METH_VARARGS,
     "run(src, dst, guide=None, rect=None, window=None, guide_window=None, stream=0)"},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef getters[] = {
    {"key", plan_key, NULL, "(type, channels, layout, alpha, w, h) of the result.", NULL},
    {"halo", plan_halo, NULL, "(left, right, top, bottom), or None: everything.", NULL},
    {"frames", plan_frames, NULL, "Frames before and after that may be read.", NULL},
    {"device", plan_device, NULL, "Where it runs.", NULL},
    {"running", plan_running, NULL, "Runs at this moment.", NULL},
    {"full", plan_is_full, NULL, "Whether another run would wait for one of these.", NULL},
    {"bytes", plan_bytes, NULL, "Memory it holds.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {{Py_tp_new, plan_new},
                              {Py_tp_dealloc, plan_dealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, getters},
                              {Py_tp_doc, "Plan(chain, key, guide=None, whole_bytes=0)"},
                              {0, NULL}};

PyType_Spec core_plan_spec = {"tamis._core.Plan", sizeof(core_plan), 0, Py_TPFLAGS_DEFAULT, slots};
