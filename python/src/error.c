/* SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

#include <stdio.h>
#include <string.h>

/* Several threads may use one context, whose last message is that of any of them; the library logs
 * on the thread that failed. */
enum { TEXT_SIZE = 1024 };
static _Thread_local char error_text[TEXT_SIZE], warning_text[TEXT_SIZE];

void core_log(void *user, tamis_log_level level, const char *text)
{
    (void)user;
    if (level == TAMIS_LOG_ERROR)
        snprintf(error_text, TEXT_SIZE, "%s", text);
    else if (level == TAMIS_LOG_WARNING)
        snprintf(warning_text, TEXT_SIZE, "%s", text);
}

void core_begin(void)
{
    error_text[0] = warning_text[0] = 0;
}

static PyObject *exception_for(tamis_status status)
{
    switch (status) {
    case TAMIS_ERR_MEMORY:
    case TAMIS_ERR_LIMIT:
        return PyExc_MemoryError;
    case TAMIS_ERR_READ:
    case TAMIS_ERR_WRITE:
        return PyExc_OSError;
    case TAMIS_ERR_DEVICE:
    case TAMIS_ERR_CANCELED:
        return PyExc_RuntimeError;
    default:
        return PyExc_ValueError;
    }
}

/* The library's words, whose file names may be any bytes. */
static PyObject *words(const char *text)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "backslashreplace");
}

static int warn(const char *text)
{
    PyObject *said = words(text);
    int bad = !said || PyErr_WarnFormat(PyExc_UserWarning, 1, "%U", said) < 0;
    Py_XDECREF(said);
    return bad ? -1 : 0;
}

int core_end(tamis_ctx *ctx, tamis_status status)
{
    if (PyErr_Occurred())
        return -1;
    if (warning_text[0] && warn(warning_text))
        return -1;
    if (status == TAMIS_OK)
        return 0;
    char text[TEXT_SIZE];
    if (error_text[0])
        snprintf(text, TEXT_SIZE, "%s", error_text);
    else
        tamis_ctx_last_message(ctx, text, TEXT_SIZE);
    PyObject *said = words(text[0] ? text : tamis_status_name(status));
    if (said)
        PyErr_SetObject(exception_for(status), said);
    Py_XDECREF(said);
    return -1;
}
