/* Failures of the library as exceptions: one class for each status, from bloomblock.errors. */
#include "module.h"

#include <stdarg.h>
#include <string.h>

static PyObject *classes; /* bloomblock.errors.BY_STATUS: a class for each status, or None */

/* A second import of the package has classes of its own; open stores keep the first ones. */
bool errors_init(void)
{
    if (classes != NULL)
        return true;
    PyObject *module = PyImport_ImportModule("bloomblock.errors");
    if (module == NULL)
        return false;
    classes = PyObject_GetAttrString(module, "BY_STATUS");
    Py_DECREF(module);
    return classes != NULL;
}

/* A path in a message may be no UTF-8. */
static PyObject *message_text(const char *message)
{
    return PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "backslashreplace");
}

PyObject *fail_with(enum bb_status status, const char *message)
{
    PyObject *text = message_text(message);
    PyObject *class = PySequence_GetItem(classes, (Py_ssize_t)status);
    if (text != NULL && class != NULL)
        PyErr_SetObject(class, text);
    Py_XDECREF(class);
    Py_XDECREF(text);
    return NULL;
}

PyObject *fail_invalid(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    PyObject *text = PyUnicode_FromFormatV(format, values);
    va_end(values);
    PyObject *class = text != NULL ? PySequence_GetItem(classes, BB_INVALID) : NULL;
    if (class != NULL)
        PyErr_SetObject(class, text);
    Py_XDECREF(class);
    Py_XDECREF(text);
    return NULL;
}

PyObject *fail(enum bb_status status)
{
    return fail_with(status, bb_error_last()->message);
}
