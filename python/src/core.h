/* SPDX-License-Identifier: Apache-2.0 */
/* tamis._core: the library's objects for Python, in the limited API. It knows no filter by name:
 * filters and parameters come from include/tamis/filter.h at run time. What people call is written
 * in Python on top of it (python/tamis). */
#ifndef PY_CORE_H
#define PY_CORE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include <tamis/tamis.h>

/* ---- error.c */

/* The log function of contexts: keeps what the calling thread's last call said. */
void core_log(void *user, tamis_log_level level, const char *text);
/* Forgets it; before calls whose failure is to be told. */
void core_begin(void);
/* Raises the exception of a status with the library's words, and warnings as warnings. Returns 0,
 * or -1 with an exception set. A KeyboardInterrupt that is already set stays. */
int core_end(tamis_ctx *ctx, tamis_status status);

/* ---- module.c */

/* Makes an object at once: there is none that init has not filled, nor one that it fills twice.
 * For Py_tp_new; NULL with an exception set. */
PyObject *core_new(PyTypeObject *type, PyObject *args, PyObject *kwargs, initproc init);
/* A str as C has texts, which lives as long as the object; NULL with an exception set, as for one
 * with a zero inside, where C's would end. */
const char *core_text(PyObject *text);

/* ---- context.c */

typedef struct core_context {
    PyObject_HEAD tamis_ctx *ctx;
    int abandoned; /* by a child of fork(): nothing of it is used or freed any more */
} core_context;
extern PyType_Spec core_context_spec;
extern PyTypeObject *core_context_type;

/* ---- view.c */

enum { CORE_MAX_DIMS = 32 };

/* An array as pictures: one, or a batch along its leading axes. */
typedef struct core_view {
    PyObject_HEAD Py_buffer buffer; /* host memory; buffer.obj is NULL otherwise */
    PyObject *owner;                /* device memory: who keeps it */
    char *data;                     /* of the first sample */
    int device;                     /* as in tamis_image */
    int dims;
    Py_ssize_t shape[CORE_MAX_DIMS], stride[CORE_MAX_DIMS];
    int channel_axis;   /* -1: none */
    int axis_x, axis_y; /* -1: no such axis */
    int batch_dims;     /* axes before, without the channels' */
    int batch_axis[CORE_MAX_DIMS];
    Py_ssize_t count;  /* pictures */
    int plain;         /* tamis_image can describe it */
    tamis_image first; /* where it can */
} core_view;
extern PyType_Spec core_view_spec;
extern PyTypeObject *core_view_type;

/* The pictures of a batch: memory for the caller to free with free(), or NULL with an
 * exception set. */
tamis_image *core_view_images(const core_view *view);
/* The guide of a call: a View of one picture, or None or NULL, which leave *image as it is. Returns
 * 0, or -1 with an exception set. */
int core_view_guide(PyObject *object, const tamis_image **image);

/* ---- device.c */

/* Describes an array by what it says of itself: a DLPack capsule, or the dict of
 * __cuda_array_interface__, which is in the memory of device (1 + its number). Returns 0, or -1
 * with an exception set, as for one that is to be writable and says that it is not. */
int core_device_array(core_view *view, PyObject *array, int device, int writable, tamis_type *type);

/* ---- chain.c */

typedef struct core_chain {
    PyObject_HEAD core_context *context;
    tamis_graph *graph;
} core_chain;
extern PyType_Spec core_chain_spec;
extern PyTypeObject *core_chain_type;

/* ---- filters.c */

/* tamis._core.filters(): the tables, as `tamis list --json` prints them. */
PyObject *core_filters(PyObject *module, PyObject *unused);

/* ---- plan.c */

extern PyType_Spec core_plan_spec;

/* A run that Ctrl-C may stop: progress and cancel of run options. Made while the interpreter's lock
 * is held; between core_watch_begin() and core_watch_end() it is not. */
typedef struct core_watch {
    int cancel;
    int64_t next; /* when to look again, in nanoseconds */
    int *running;
    PyThreadState *state;
} core_watch;
/* Counts the run in *running until its end, unless that is NULL. Returns -1 with an exception set
 * in a signal's handler that runs inside of another run, which holds what this one would wait for.
 */
int core_watch_begin(core_watch *watch, tamis_run_options *options, int *running);
/* Returns -1 when an exception was raised meanwhile. */
int core_watch_end(core_watch *watch);

/* ---- measure.c, files.c */

PyObject *core_metrics(PyObject *module, PyObject *args);
PyObject *core_noise(PyObject *module, PyObject *args);
extern PyType_Spec core_reader_spec, core_writer_spec;

/* Parses (x, y, w, h). Returns 0, or -1 with an exception set. */
int core_rect(PyObject *tuple, tamis_rect *out);
/* The names of sample types, and back: -1 with an exception set where there is none. */
int core_type_by_name(const char *name);
PyObject *core_format_tuple(tamis_format format);

#endif
