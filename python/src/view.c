/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays as pictures, without copying: which axes are which, and whether strides fit. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

/* Values of View's argument channel_axis beside numbers of axes. */
enum { AXIS_AUTO = -1000, AXIS_NONE = -1001 };

PyTypeObject *core_view_type;

/* ---- sample types */

static const char *advice(char code)
{
    if (strchr("?", code))
        return "bool: use a.astype(numpy.uint8) * 255";
    if (strchr("dg", code))
        return "float64 or wider: use a.astype(numpy.float32)";
    if (strchr("bilqnILQN", code))
        return "integers of another size: use a.astype(numpy.uint8), numpy.uint16, numpy.int16 or, "
               "for numbers beyond these, numpy.float32";
    if (strchr("FDGZ", code))
        return "complex: filter a.real and a.imag, or numpy.abs(a), as numpy.float32";
    return "not numbers";
}

/* By the buffer protocol's format; *swapped says that bytes are in the other order. Returns -1 with
 * an exception set. */
static int type_by_format(const char *format, int *swapped)
{
    static const char codes[] = "BHhef"; /* in the order of tamis_type */
    const char *code = format ? format : "B";
    *swapped = 0;
    if (*code && strchr("@=<>!|", *code)) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        *swapped = *code == '<';
#else
        *swapped = *code == '>' || *code == '!';
#endif
        code++;
    }
    const char *found = *code && !code[1] ? strchr(codes, *code) : NULL;
    if (found)
        return (int)(found - codes);
    PyErr_Format(PyExc_TypeError,
                 "samples are uint8, uint16, int16, float16 or float32; these are %s",
                 *code && !code[1] ? advice(*code)
                 : code[0] == 'Z'  ? advice('Z')
                                   : "not numbers");
    return -1;
}

int core_type_by_name(const char *name)
{
    for (int i = 0; i < TAMIS_TYPE_COUNT; i++)
        if (!strcmp(name, tamis_type_name((tamis_type)i)))
            return i;
    PyErr_Format(PyExc_ValueError, "there is no sample type '%s'", name);
    return -1;
}

PyObject *core_format_tuple(tamis_format format)
{
    return Py_BuildValue("(iiii)", (int)format.type, format.channels, (int)format.layout,
                         (int)format.alpha);
}

int core_rect(PyObject *tuple, tamis_rect *out)
{
    return PyArg_ParseTuple(tuple, "iiii", &out->x, &out->y, &out->w, &out->h) ? 0 : -1;
}

/* ---- axes */

static int choose_channel_axis(core_view *v, int axis)
{
    int last = v->dims - 1;
    if (axis == AXIS_NONE || (axis == AXIS_AUTO && v->dims < 3)) {
        v->channel_axis = -1;
        return 0;
    }
    if (axis == AXIS_AUTO) {
        if (v->shape[last] > TAMIS_MAX_CHANNELS) {
            PyErr_Format(
                PyExc_ValueError,
                "an array of %d axes whose last has %zd entries, where at most %d channels "
                "can be: name the axis of the channels (channel_axis=0), or give "
                "channel_axis=None for pictures without",
                v->dims, v->shape[last], TAMIS_MAX_CHANNELS);
            return -1;
        }
        axis = last;
    }
    v->channel_axis = axis < 0 ? axis + v->dims : axis;
    if (v->channel_axis < 0 || v->channel_axis >= v->dims || v->dims < 2) {
        PyErr_Format(PyExc_ValueError, "channel_axis=%d: the array has %d axes", axis, v->dims);
        return -1;
    }
    if (v->shape[v->channel_axis] > TAMIS_MAX_CHANNELS) {
        PyErr_Format(PyExc_ValueError, "channel_axis=%d has %zd channels, the most are %d", axis,
                     v->shape[v->channel_axis], TAMIS_MAX_CHANNELS);
        return -1;
    }
    return 0;
}

static int divide_axes(core_view *v, int axis)
{
    if (v->dims < 1) {
        PyErr_SetString(PyExc_ValueError, "an array without axes is no picture");
        return -1;
    }
    for (int i = 0; i < v->dims; i++)
        if (v->shape[i] < 1) {
            PyErr_SetString(PyExc_ValueError, "an empty array is no picture");
            return -1;
        }
    if (choose_channel_axis(v, axis))
        return -1;
    v->axis_x = v->axis_y = -1;
    for (int i = v->dims - 1; i >= 0; i--) {
        if (i == v->channel_axis)
            continue;
        if (v->axis_x < 0)
            v->axis_x = i;
        else if (v->axis_y < 0)
            v->axis_y = i;
        else
            v->batch_axis[v->batch_dims++] = i; /* last first */
    }
    v->count = 1;
    for (int i = 0; i < v->batch_dims; i++) {
        Py_ssize_t n = v->shape[v->batch_axis[i]];
        if (v->count > PY_SSIZE_T_MAX / n) {
            PyErr_SetString(PyExc_ValueError, "an array of more pictures than can be counted");
            return -1;
        }
        v->count *= n;
    }
    return 0;
}

/* ---- as tamis_image */

static int describe(core_view *v, tamis_type type, int alpha, int layout)
{
    tamis_image *image = &v->first;
    Py_ssize_t size = (Py_ssize_t)tamis_type_size(type), w = v->shape[v->axis_x];
    Py_ssize_t h = v->axis_y < 0 ? 1 : v->shape[v->axis_y];
    int channels = v->channel_axis < 0 ? 1 : (int)v->shape[v->channel_axis];
    if (w > INT32_MAX || h > INT32_MAX) {
        PyErr_Format(PyExc_ValueError, "a picture of %zdx%zd is too large", w, h);
        return -1;
    }
    Py_ssize_t across = v->stride[v->axis_x];
    Py_ssize_t beside = v->channel_axis < 0 ? size : v->stride[v->channel_axis];
    int packed = (channels == 1 || beside == size) && (w == 1 || across == channels * size);
    int planar = w == 1 || across == size;
    if (layout < 0)
        layout = packed || (channels == 1) || !planar ? TAMIS_PACKED : TAMIS_PLANAR;
    v->plain = v->plain && (layout == TAMIS_PACKED ? packed : planar);
    image->format = (tamis_format){type, channels, (tamis_layout)layout, (tamis_alpha)alpha};
    image->w = (int32_t)w;
    image->h = (int32_t)h;
    image->device = v->device;
    for (int c = 0; c < (layout == TAMIS_PLANAR ? channels : 1); c++) {
        image->data[c] = v->data + c * beside;
        image->stride[c] = v->axis_y < 0 ? w * channels * size : v->stride[v->axis_y];
    }
    return 0;
}

tamis_image *core_view_images(const core_view *v)
{
    /* Arrays that repeat their samples have any number of pictures. */
    tamis_image *images = NULL;
    if ((size_t)v->count <= SIZE_MAX / sizeof *images)
        images = malloc((size_t)v->count * sizeof *images);
    if (!images) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < v->count; i++) {
        Py_ssize_t rest = i, offset = 0;
        for (int k = 0; k < v->batch_dims; k++) {
            int axis = v->batch_axis[k];
            offset += rest % v->shape[axis] * v->stride[axis];
            rest /= v->shape[axis];
        }
        images[i] = v->first;
        for (int c = 0; c < tamis_image_planes(&v->first); c++)
            images[i].data[c] = (char *)v->first.data[c] + offset;
    }
    return images;
}

int core_view_guide(PyObject *object, const tamis_image **image)
{
    if (!object || object == Py_None)
        return 0;
    if (!PyObject_TypeCheck(object, core_view_type)) {
        PyErr_SetString(PyExc_TypeError, "a guide is a View");
        return -1;
    }
    const core_view *guide = (core_view *)object;
    if (!guide->plain || guide->count != 1) {
        PyErr_SetString(PyExc_ValueError, "a guide is a view of one picture, without a copy");
        return -1;
    }
    *image = &guide->first;
    return 0;
}

/* ---- the type */

static int read_buffer(core_view *v, PyObject *array, int writable, tamis_type *type)
{
    int swapped;
    if (PyObject_GetBuffer(array, &v->buffer, writable ? PyBUF_FULL : PyBUF_FULL_RO))
        return -1;
    int found = type_by_format(v->buffer.format, &swapped);
    if (found < 0)
        return -1;
    if (v->buffer.ndim > CORE_MAX_DIMS || v->buffer.suboffsets) {
        PyErr_SetString(PyExc_ValueError, "an array with too many axes, or of pointers");
        return -1;
    }
    *type = (tamis_type)found;
    v->data = v->buffer.buf;
    v->dims = v->buffer.ndim;
    v->plain = !swapped;
    for (int i = 0; i < v->dims; i++) {
        v->shape[i] = v->buffer.shape[i];
        v->stride[i] = v->buffer.strides[i];
    }
    return 0;
}

static int view_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"array", "axis", "alpha", "layout", "writable", "device", NULL};
    core_view *v = (core_view *)self;
    PyObject *array;
    int axis = AXIS_AUTO, alpha = 0, layout = -1, writable = 0, device = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|iiiii", names, &array, &axis, &alpha, &layout,
                                     &writable, &device))
        return -1;
    tamis_type type;
    if (device ? core_device_array(v, array, device, writable, &type)
               : read_buffer(v, array, writable, &type))
        return -1;
    if (divide_axes(v, axis))
        return -1;
    return describe(v, type, alpha, layout);
}

static PyObject *view_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    return core_new(type, args, kwargs, view_init);
}

static void view_dealloc(PyObject *self)
{
    core_view *v = (core_view *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (v->buffer.obj)
        PyBuffer_Release(&v->buffer);
    Py_XDECREF(v->owner);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *view_key(PyObject *self, void *unused)
{
    const tamis_image *i = &((core_view *)self)->first;
    (void)unused;
    return Py_BuildValue("(iiiiii)", (int)i->format.type, i->format.channels, (int)i->format.layout,
                         (int)i->format.alpha, (int)i->w, (int)i->h);
}

static PyObject *view_shape(PyObject *self, void *unused)
{
    const core_view *v = (core_view *)self;
    (void)unused;
    PyObject *tuple = PyTuple_New(v->dims);
    for (int i = 0; tuple && i < v->dims; i++) {
        PyObject *n = PyLong_FromSsize_t(v->shape[i]);
        if (!n || PyTuple_SetItem(tuple, i, n))
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *axis_number(int axis)
{
    if (axis < 0)
        Py_RETURN_NONE;
    return PyLong_FromLong(axis);
}

static PyObject *view_channel_axis(PyObject *self, void *unused)
{
    (void)unused;
    return axis_number(((core_view *)self)->channel_axis);
}

static PyObject *view_axes(PyObject *self, void *unused)
{
    const core_view *v = (core_view *)self;
    (void)unused;
    return Py_BuildValue("(NN)", axis_number(v->axis_y), axis_number(v->axis_x));
}

static PyObject *view_count(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSsize_t(((core_view *)self)->count);
}

static PyObject *view_plain(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((core_view *)self)->plain);
}

static PyObject *view_device(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(((core_view *)self)->device);
}

static PyGetSetDef getters[] = {
    {"key", view_key, NULL, "(type, channels, layout, alpha, w, h) of a picture.", NULL},
    {"shape", view_shape, NULL, "The array's shape.", NULL},
    {"channel_axis", view_channel_axis, NULL, "Axis of the channels, or None.", NULL},
    {"axes", view_axes, NULL, "Axes of rows (None: there is one) and columns.", NULL},
    {"count", view_count, NULL, "Pictures.", NULL},
    {"plain", view_plain, NULL, "Whether the library can use the memory as it is.", NULL},
    {"device", view_device, NULL, "0: host memory; 1 + i: device i.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_new, view_new},
    {Py_tp_dealloc, view_dealloc},
    {Py_tp_getset, getters},
    {Py_tp_doc, "View(array, axis, alpha, layout, writable, device): an array as pictures"},
    {0, NULL}};

PyType_Spec core_view_spec = {"tamis._core.View", sizeof(core_view), 0, Py_TPFLAGS_DEFAULT, slots};
