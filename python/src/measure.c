/* SPDX-License-Identifier: Apache-2.0 */
/* Measures of one picture and of two. */
#include "core.h"

#include <stdlib.h>

static int plain_host(const core_view *v)
{
    if (v->plain && !v->device)
        return 1;
    PyErr_SetString(PyExc_ValueError, "views of host memory that need no copy");
    return 0;
}

static PyObject *metrics_dict(const tamis_metrics *m, double peak)
{
    return Py_BuildValue(
        "{s:K,s:K,s:K,s:d,s:(iiii),s:d,s:d,s:d,s:d}", "samples", (unsigned long long)m->samples,
        "different", (unsigned long long)m->different, "unordered",
        (unsigned long long)m->unordered, "max_abs", m->max_abs, "place", m->page, (int)m->y,
        (int)m->x, m->channel, "mae", tamis_metrics_mae(m), "mse", tamis_metrics_mse(m), "psnr",
        tamis_metrics_psnr(m, peak), "ssim", tamis_metrics_ssim(m));
}

/* metrics(context, a, b, peak, ssim): Views of as many pictures */
PyObject *core_metrics(PyObject *module, PyObject *args)
{
    PyObject *context, *a_object, *b_object, *result = NULL;
    double peak;
    int ssim;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!O!dp", core_context_type, &context, core_view_type, &a_object,
                          core_view_type, &b_object, &peak, &ssim))
        return NULL;
    core_view *a = (core_view *)a_object, *b = (core_view *)b_object;
    tamis_ctx *ctx = ((core_context *)context)->ctx;
    if (!plain_host(a) || !plain_host(b))
        return NULL;
    if (a->count != b->count) {
        PyErr_Format(PyExc_ValueError, "%zd pictures and %zd cannot be compared", a->count,
                     b->count);
        return NULL;
    }
    tamis_image *as = core_view_images(a), *bs = as ? core_view_images(b) : NULL;
    if (bs) {
        tamis_metrics m = {0};
        tamis_status status = TAMIS_OK;
        core_begin();
        Py_BEGIN_ALLOW_THREADS;
        for (Py_ssize_t i = 0; !status && i < a->count; i++)
            status = tamis_metrics_add(ctx, &as[i], &bs[i], (int)i, ssim ? peak : 0, &m);
        Py_END_ALLOW_THREADS;
        result = core_end(ctx, status) ? NULL : metrics_dict(&m, peak);
    }
    free(as);
    free(bs);
    return result;
}

/* The four numbers of each channel. */
static PyObject *noise_list(const tamis_noise *noise, int channels)
{
    PyObject *list = PyList_New(0);
    for (int c = 0; list && c < channels; c++) {
        PyObject *numbers = Py_BuildValue("(dddd)", noise[c].sigma, noise[c].slope, noise[c].offset,
                                          noise[c].impulses);
        if (!numbers || PyList_Append(list, numbers))
            Py_CLEAR(list);
        Py_XDECREF(numbers);
    }
    return list;
}

/* noise(context, view): for each picture a list of (sigma, slope, offset, impulses) */
PyObject *core_noise(PyObject *module, PyObject *args)
{
    PyObject *context, *view_object;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!", core_context_type, &context, core_view_type, &view_object))
        return NULL;
    core_view *v = (core_view *)view_object;
    tamis_ctx *ctx = ((core_context *)context)->ctx;
    tamis_image *images = plain_host(v) ? core_view_images(v) : NULL;
    PyObject *list = images ? PyList_New(0) : NULL;
    for (Py_ssize_t i = 0; list && i < v->count; i++) {
        tamis_noise noise[TAMIS_MAX_CHANNELS];
        tamis_status status;
        core_begin();
        Py_BEGIN_ALLOW_THREADS;
        status = tamis_noise_estimate(ctx, &images[i], noise);
        Py_END_ALLOW_THREADS;
        PyObject *one = core_end(ctx, status) ? NULL : noise_list(noise, v->first.format.channels);
        if (!one || PyList_Append(list, one))
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    free(images);
    return list;
}
