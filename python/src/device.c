/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays in a device's memory, as two protocols describe them: DLPack (dmlc.github.io/dlpack) and
 * __cuda_array_interface__ (numba.readthedocs.io). Neither needs CUDA here. */
#include "core.h"

#include <string.h>

/* A stride: what overflows belongs to an array that is too large for a picture. */
static Py_ssize_t times(Py_ssize_t a, Py_ssize_t b)
{
    return (Py_ssize_t)((size_t)a * (size_t)b);
}

/* ---- DLPack: the structs of its ABI, which is why their members are what they are */

typedef struct dl_tensor {
    void *data;
    struct {
        int32_t type, index;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides; /* strides count samples; NULL: contiguous */
    uint64_t byte_offset;
} dl_tensor;

typedef struct dl_versioned {
    uint32_t major, minor;
    void *manager;
    void (*deleter)(struct dl_versioned *);
    uint64_t flags;
    dl_tensor tensor;
} dl_versioned;

enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2 };
enum { DL_READ_ONLY = 1 }; /* of flags */

static int read_only(void)
{
    PyErr_SetString(PyExc_ValueError, "out is read-only");
    return -1;
}

static int wrong_type(void)
{
    PyErr_SetString(
        PyExc_TypeError,
        "samples are uint8, uint16, int16, float16 or float32; convert the array first");
    return -1;
}

static int type_of(const dl_tensor *t)
{
    int code = t->dtype.code, bits = t->dtype.bits;
    if (t->dtype.lanes != 1)
        return wrong_type();
    if (code == DL_UINT && (bits == 8 || bits == 16))
        return bits == 8 ? TAMIS_U8 : TAMIS_U16;
    if (code == DL_INT && bits == 16)
        return TAMIS_S16;
    if (code == DL_FLOAT && (bits == 16 || bits == 32))
        return bits == 16 ? TAMIS_F16 : TAMIS_F32;
    return wrong_type();
}

static int check_dims(int dims)
{
    if (dims <= CORE_MAX_DIMS)
        return 0;
    PyErr_Format(PyExc_ValueError, "an array of %d axes", dims);
    return -1;
}

/* The capsule stays unconsumed: its own destructor gives the tensor back. */
static int by_dlpack(core_view *v, PyObject *capsule, int writable, tamis_type *type)
{
    const char *name = PyCapsule_GetName(capsule);
    const dl_tensor *t = NULL;
    void *pointer = name ? PyCapsule_GetPointer(capsule, name) : NULL;
    if (pointer && !strcmp(name, "dltensor"))
        t = pointer;
    else if (pointer && !strcmp(name, "dltensor_versioned")) {
        const dl_versioned *whole = pointer;
        t = whole->major == 1 ? &whole->tensor : NULL;
        if (t && writable && whole->flags & DL_READ_ONLY)
            return read_only();
    }
    if (!t) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_BufferError, "a DLPack capsule of another version");
        return -1;
    }
    int found = type_of(t);
    if (found < 0 || check_dims(t->ndim))
        return -1;
    *type = (tamis_type)found;
    Py_ssize_t size = (Py_ssize_t)tamis_type_size(*type), tight = size;
    v->data = (char *)t->data + t->byte_offset;
    v->dims = t->ndim;
    for (int i = v->dims - 1; i >= 0; i--) {
        v->shape[i] = (Py_ssize_t)t->shape[i];
        v->stride[i] = t->strides ? (Py_ssize_t)t->strides[i] * size : tight;
        tight = times(tight, v->shape[i]);
    }
    v->device = t->device.type == 2 ? 1 + t->device.index : 0; /* 2: CUDA; 1: the host */
    if (t->device.type == 1 || t->device.type == 2)
        return 0;
    PyErr_Format(PyExc_ValueError, "DLPack device type %d is neither the host nor CUDA",
                 (int)t->device.type);
    return -1;
}

/* ---- __cuda_array_interface__ */

static int type_by_typestr(const char *text)
{
    static const char *const names[] = {"u1", "u2", "i2", "f2", "f4"};
    for (int i = 0; i < TAMIS_TYPE_COUNT; i++)
        if ((text[0] == '<' || text[0] == '|' || text[0] == '=') && !strcmp(text + 1, names[i]))
            return i;
    return wrong_type();
}

/* A tuple of sizes. Returns their number, or -1 with an exception set. */
static int sizes(PyObject *tuple, Py_ssize_t *out)
{
    Py_ssize_t n = PyTuple_Size(tuple);
    if (n < 0 || check_dims((int)n))
        return -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        out[i] = PyLong_AsSsize_t(PyTuple_GetItem(tuple, i));
        if (out[i] == -1 && PyErr_Occurred())
            return -1;
    }
    return (int)n;
}

static int by_interface(core_view *v, PyObject *dict, int writable, tamis_type *type)
{
    PyObject *shape = PyDict_GetItemString(dict, "shape");
    PyObject *strides = PyDict_GetItemString(dict, "strides");
    PyObject *typestr = PyDict_GetItemString(dict, "typestr");
    PyObject *data = PyDict_GetItemString(dict, "data");
    if (!shape || !typestr || !data || !PyTuple_Check(data) || PyTuple_Size(data) < 1) {
        PyErr_SetString(PyExc_ValueError, "__cuda_array_interface__ lacks an entry");
        return -1;
    }
    const char *text = core_text(typestr);
    int found = text ? type_by_typestr(text) : -1;
    if (found < 0)
        return -1;
    *type = (tamis_type)found;
    v->data = PyLong_AsVoidPtr(PyTuple_GetItem(data, 0));
    if (PyErr_Occurred())
        return -1;
    int fixed = PyTuple_Size(data) > 1 ? PyObject_IsTrue(PyTuple_GetItem(data, 1)) : 0;
    if (fixed < 0 || (fixed && writable))
        return fixed < 0 ? -1 : read_only();
    v->dims = sizes(shape, v->shape);
    if (v->dims < 0)
        return -1;
    Py_ssize_t tight = (Py_ssize_t)tamis_type_size(*type);
    for (int i = v->dims - 1; i >= 0; i--) {
        v->stride[i] = tight;
        tight = times(tight, v->shape[i]);
    }
    if (strides && strides != Py_None && sizes(strides, v->stride) != v->dims) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "__cuda_array_interface__: strides do not fit shape");
        return -1;
    }
    return 0;
}

int core_device_array(core_view *v, PyObject *array, int device, int writable, tamis_type *type)
{
    v->plain = 1;
    v->device = device;
    int bad = PyDict_Check(array) ? by_interface(v, array, writable, type)
                                  : by_dlpack(v, array, writable, type);
    if (bad)
        return -1;
    v->owner = array;
    Py_INCREF(array);
    return 0;
}
