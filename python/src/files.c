/* SPDX-License-Identifier: Apache-2.0 */
/* Picture files, by libtamis-io. Left out of builds without it. */
#include "core.h"

#include <string.h>
#include <tamis/io.h>

/* ---- reading */

typedef struct core_reader {
    PyObject_HEAD core_context *context;
    tamis_reader *reader;
    int busy; /* a thread is inside, without the interpreter's lock */
} core_reader;

/* Readers and writers are for one thread at a time. */
static int enter(int *busy, const void *open)
{
    if (*busy || !open) {
        PyErr_SetString(PyExc_ValueError,
                        *busy ? "the file is in use by another thread" : "the file is closed");
        return -1;
    }
    *busy = 1;
    core_begin();
    return 0;
}

static int leave(int *busy, core_context *context, tamis_status status)
{
    *busy = 0;
    return core_end(context->ctx, status);
}

static int reader_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"context", "path", "raw", "keep_orientation", "max_pixels", NULL};
    core_reader *r = (core_reader *)self;
    PyObject *context, *path;
    tamis_read_options options = {0};
    unsigned long long max_pixels = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O&|zpK", names, core_context_type, &context,
                                     PyUnicode_FSConverter, &path, &options.raw,
                                     &options.keep_orientation, &max_pixels))
        return -1;
    options.max_pixels = max_pixels;
    r->context = (core_context *)context;
    Py_INCREF(context);
    tamis_status status;
    core_begin();
    const char *name = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_reader_open(r->context->ctx, name, &options, &r->reader);
    Py_END_ALLOW_THREADS;
    Py_DECREF(path);
    return core_end(r->context->ctx, status);
}

static PyObject *reader_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    return core_new(type, args, kwargs, reader_init);
}

static void reader_dealloc(PyObject *self)
{
    core_reader *r = (core_reader *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (r->context && !r->context->abandoned)
        tamis_reader_close(&r->reader);
    Py_XDECREF((PyObject *)r->context);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *reader_close(PyObject *self, PyObject *unused)
{
    core_reader *r = (core_reader *)self;
    (void)unused;
    if (r->reader && enter(&r->busy, r->reader))
        return NULL;
    tamis_reader_close(&r->reader);
    r->busy = 0;
    Py_RETURN_NONE;
}

static PyObject *reader_info(PyObject *self, PyObject *args)
{
    core_reader *r = (core_reader *)self;
    int page = 0;
    tamis_file_info info;
    tamis_status status;
    if (!PyArg_ParseTuple(args, "|i", &page) || enter(&r->busy, r->reader))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_reader_info(r->reader, page, &info);
    Py_END_ALLOW_THREADS;
    if (leave(&r->busy, r->context, status))
        return NULL;
    return Py_BuildValue("{s:s,s:N,s:i,s:i,s:i,s:i,s:i,s:N,s:N,s:(ii),s:s}", "format", info.format,
                         "image", core_format_tuple(info.image), "w", (int)info.w, "h", (int)info.h,
                         "pages", info.pages, "bits", info.file_bits, "orientation",
                         info.orientation, "palette", PyBool_FromLong(info.palette), "reduced",
                         PyBool_FromLong(info.reduced), "block", (int)info.block_w,
                         (int)info.block_h, "detail", info.detail);
}

static PyObject *meta_dict(const tamis_meta *meta)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < meta->count; i++) {
        const tamis_meta_entry *e = &meta->entries[i];
        PyObject *o = Py_BuildValue("(sy#iK)", e->name, (const char *)e->data, (Py_ssize_t)e->size,
                                    e->tiff_type, (unsigned long long)e->tiff_count);
        if (!o || PyList_Append(list, o))
            Py_CLEAR(list);
        Py_XDECREF(o);
    }
    return list ? Py_BuildValue("(N(dd)i)", list, meta->dpi_x, meta->dpi_y, meta->orientation)
                : NULL;
}

static tamis_status read_whole(core_reader *r, int page, const tamis_image *into, tamis_meta *meta)
{
    tamis_image image;
    tamis_status status = tamis_reader_read(r->reader, page, &image, meta);
    if (status)
        return status;
    status = tamis_image_copy(r->context->ctx, &image, into);
    tamis_image_unref(&image);
    return status;
}

/* read(page, view, rect=None): the page, or a part of it, into the view's memory. Returns what
 * meta() does, or None for a part. */
static PyObject *reader_read(PyObject *self, PyObject *args)
{
    core_reader *r = (core_reader *)self;
    int page;
    PyObject *view_object, *rect_object = NULL, *result = NULL;
    tamis_rect rect;
    tamis_meta meta = {0};
    tamis_status status;
    if (!PyArg_ParseTuple(args, "iO!|O", &page, core_view_type, &view_object, &rect_object))
        return NULL;
    const core_view *v = (core_view *)view_object;
    int part = rect_object && rect_object != Py_None;
    if ((part && core_rect(rect_object, &rect)) || enter(&r->busy, r->reader))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    if (part)
        status = tamis_reader_read_part(r->reader, page, rect, &v->first);
    else
        status = read_whole(r, page, &v->first, &meta);
    Py_END_ALLOW_THREADS;
    if (!leave(&r->busy, r->context, status)) {
        if (part) {
            Py_INCREF(Py_None);
            result = Py_None;
        } else
            result = meta_dict(&meta);
    }
    tamis_meta_clear(&meta);
    return result;
}

static PyObject *reader_meta(PyObject *self, PyObject *args)
{
    core_reader *r = (core_reader *)self;
    int page = 0;
    tamis_meta meta = {0};
    tamis_status status;
    if (!PyArg_ParseTuple(args, "|i", &page) || enter(&r->busy, r->reader))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_reader_meta(r->reader, page, &meta);
    Py_END_ALLOW_THREADS;
    PyObject *result = leave(&r->busy, r->context, status) ? NULL : meta_dict(&meta);
    tamis_meta_clear(&meta);
    return result;
}

static PyMethodDef reader_methods[] = {
    {"close", reader_close, METH_NOARGS, "Closes the file."},
    {"info", reader_info, METH_VARARGS, "info(page=0): a dict."},
    {"read", reader_read, METH_VARARGS, "read(page, view, rect=None)"},
    {"meta", reader_meta, METH_VARARGS, "meta(page=0): (entries, (dpi_x, dpi_y), orientation)"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot reader_slots[] = {{Py_tp_new, reader_new},
                                     {Py_tp_dealloc, reader_dealloc},
                                     {Py_tp_methods, reader_methods},
                                     {Py_tp_doc, "Reader(context, path, ...): an open input"},
                                     {0, NULL}};

PyType_Spec core_reader_spec = {"tamis._core.Reader", sizeof(core_reader), 0, Py_TPFLAGS_DEFAULT,
                                reader_slots};

/* ---- writing */

typedef struct core_writer {
    PyObject_HEAD core_context *context;
    tamis_writer *writer;
    int busy;
} core_writer;

static int writer_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"context",     "path", "format",  "overwrite", "quality", "level",
                            "compression", "tile", "pyramid", "pages",     NULL};
    core_writer *w = (core_writer *)self;
    PyObject *context, *path;
    tamis_write_options o = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O&|zpiizipi", names, core_context_type,
                                     &context, PyUnicode_FSConverter, &path, &o.format,
                                     &o.overwrite, &o.quality, &o.level, &o.compression, &o.tile,
                                     &o.pyramid, &o.pages))
        return -1;
    w->context = (core_context *)context;
    Py_INCREF(context);
    core_begin();
    tamis_status status =
        tamis_writer_open(w->context->ctx, PyBytes_AsString(path), &o, &w->writer);
    Py_DECREF(path);
    return core_end(w->context->ctx, status);
}

static PyObject *writer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    return core_new(type, args, kwargs, writer_init);
}

static void writer_dealloc(PyObject *self)
{
    core_writer *w = (core_writer *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (w->context && !w->context->abandoned)
        tamis_writer_close(&w->writer);
    Py_XDECREF((PyObject *)w->context);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* Fills meta from what meta_dict() makes. Returns 0, or -1 with an exception set. */
static int meta_from(core_writer *w, PyObject *object, tamis_meta *meta)
{
    tamis_ctx *ctx = w->context->ctx;
    PyObject *entries;
    if (!object || object == Py_None)
        return 0;
    if (!PyArg_ParseTuple(object, "O!(dd)i", &PyList_Type, &entries, &meta->dpi_x, &meta->dpi_y,
                          &meta->orientation))
        return -1;
    for (Py_ssize_t i = 0; i < PyList_Size(entries); i++) {
        const char *name, *data;
        Py_ssize_t size;
        int type;
        unsigned long long count;
        if (!PyArg_ParseTuple(PyList_GetItem(entries, i), "sy#iK", &name, &data, &size, &type,
                              &count))
            return -1;
        core_begin();
        tamis_status status = tamis_meta_set(meta, name, data, (size_t)size);
        if (status)
            return core_end(ctx, tamis_ctx_fail(ctx, status, "metadata '%s' of %zd bytes: %s", name,
                                                size, tamis_status_name(status)));
        for (size_t k = 0; k < meta->count; k++)
            if (!strcmp(meta->entries[k].name, name)) {
                meta->entries[k].tiff_type = type;
                meta->entries[k].tiff_count = count;
            }
    }
    return 0;
}

/* write(view, meta=None): a page */
static PyObject *writer_write(PyObject *self, PyObject *args)
{
    core_writer *w = (core_writer *)self;
    PyObject *view_object, *meta_object = NULL;
    tamis_meta meta = {0};
    if (!PyArg_ParseTuple(args, "O!|O", core_view_type, &view_object, &meta_object))
        return NULL;
    const core_view *v = (core_view *)view_object;
    PyObject *result = NULL;
    if (!meta_from(w, meta_object, &meta) && !enter(&w->busy, w->writer)) {
        tamis_status status;
        Py_BEGIN_ALLOW_THREADS;
        status = tamis_writer_write(w->writer, &v->first, &meta);
        Py_END_ALLOW_THREADS;
        if (!leave(&w->busy, w->context, status))
            result = Py_BuildValue("");
    }
    tamis_meta_clear(&meta);
    return result;
}

/* begin(key, meta=None): a page that comes by parts */
static PyObject *writer_begin(PyObject *self, PyObject *args)
{
    core_writer *w = (core_writer *)self;
    PyObject *meta_object = NULL, *result = NULL;
    int type, layout, alpha, width, height;
    tamis_format f;
    tamis_meta meta = {0};
    if (!PyArg_ParseTuple(args, "(iiiiii)|O", &type, &f.channels, &layout, &alpha, &width, &height,
                          &meta_object))
        return NULL;
    f.type = (tamis_type)type;
    f.layout = (tamis_layout)layout;
    f.alpha = (tamis_alpha)alpha;
    if (!meta_from(w, meta_object, &meta) && !enter(&w->busy, w->writer) &&
        !leave(&w->busy, w->context, tamis_writer_begin(w->writer, f, width, height, &meta)))
        result = Py_BuildValue("");
    tamis_meta_clear(&meta);
    return result;
}

/* part(rect, view) */
static PyObject *writer_part(PyObject *self, PyObject *args)
{
    core_writer *w = (core_writer *)self;
    PyObject *view_object;
    tamis_rect rect;
    tamis_status status;
    if (!PyArg_ParseTuple(args, "(iiii)O!", &rect.x, &rect.y, &rect.w, &rect.h, core_view_type,
                          &view_object) ||
        enter(&w->busy, w->writer))
        return NULL;
    const core_view *v = (core_view *)view_object;
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_writer_part(w->writer, rect, &v->first);
    Py_END_ALLOW_THREADS;
    return leave(&w->busy, w->context, status) ? NULL : Py_BuildValue("");
}

/* block(key): (w, h) */
static PyObject *writer_block(PyObject *self, PyObject *args)
{
    core_writer *w = (core_writer *)self;
    int type, layout, alpha, width, height;
    int32_t block_w, block_h;
    tamis_format f;
    if (!PyArg_ParseTuple(args, "(iiiiii)", &type, &f.channels, &layout, &alpha, &width, &height) ||
        enter(&w->busy, w->writer))
        return NULL;
    f.type = (tamis_type)type;
    f.layout = (tamis_layout)layout;
    f.alpha = (tamis_alpha)alpha;
    tamis_status status = tamis_writer_block(w->writer, f, width, height, &block_w, &block_h);
    return leave(&w->busy, w->context, status) ? NULL
                                               : Py_BuildValue("(ii)", (int)block_w, (int)block_h);
}

static PyObject *writer_finish(PyObject *self, PyObject *unused)
{
    core_writer *w = (core_writer *)self;
    tamis_status status;
    (void)unused;
    if (enter(&w->busy, w->writer))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_writer_finish(w->writer);
    Py_END_ALLOW_THREADS;
    return leave(&w->busy, w->context, status) ? NULL : Py_BuildValue("");
}

static PyObject *writer_close(PyObject *self, PyObject *unused)
{
    core_writer *w = (core_writer *)self;
    (void)unused;
    if (w->writer && enter(&w->busy, w->writer))
        return NULL;
    tamis_writer_close(&w->writer);
    w->busy = 0;
    Py_RETURN_NONE;
}

static PyMethodDef writer_methods[] = {
    {"write", writer_write, METH_VARARGS, "write(view, meta=None): a page."},
    {"begin", writer_begin, METH_VARARGS, "begin(key, meta=None): a page by parts."},
    {"part", writer_part, METH_VARARGS, "part(rect, view)"},
    {"block", writer_block, METH_VARARGS, "block(key): of what parts consist."},
    {"finish", writer_finish, METH_NOARGS, "Gives the file its name."},
    {"close", writer_close, METH_NOARGS, "Closes; without finish() nothing is left."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot writer_slots[] = {{Py_tp_new, writer_new},
                                     {Py_tp_dealloc, writer_dealloc},
                                     {Py_tp_methods, writer_methods},
                                     {Py_tp_doc, "Writer(context, path, ...): an open output"},
                                     {0, NULL}};

PyType_Spec core_writer_spec = {"tamis._core.Writer", sizeof(core_writer), 0, Py_TPFLAGS_DEFAULT,
                                writer_slots};
