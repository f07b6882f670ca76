/* Arguments of methods: parameters by name and place, bytes, paths, numbers. */
#include "module.h"

static Py_ssize_t parameter_of(const struct signature *signature, PyObject *name)
{
    for (Py_ssize_t i = 0; signature->names[i] != NULL; i++)
        if (PyUnicode_CompareWithASCIIString(name, signature->names[i]) == 0)
            return i;
    PyErr_Format(PyExc_TypeError, "%s() has no parameter %R", signature->function, name);
    return -1;
}

static bool accept_named(const struct signature *signature, PyObject *name, PyObject *value,
                         PyObject **values)
{
    Py_ssize_t parameter = parameter_of(signature, name);
    if (parameter < 0)
        return false;
    if (values[parameter] != NULL) {
        PyErr_Format(PyExc_TypeError, "%s() got two values for %s", signature->function,
                     signature->names[parameter]);
        return false;
    }
    values[parameter] = value;
    return true;
}

static bool begin(const struct signature *signature, Py_ssize_t positional, PyObject **values)
{
    for (size_t i = 0; signature->names[i] != NULL; i++)
        values[i] = NULL;
    if ((size_t)positional <= signature->positional)
        return true;
    PyErr_Format(PyExc_TypeError, "%s() takes %zu positional arguments, not %zd",
                 signature->function, signature->positional, positional);
    return false;
}

static bool check_required(const struct signature *signature, PyObject *const *values)
{
    for (size_t i = 0; i < signature->required; i++) {
        if (values[i] != NULL)
            continue;
        PyErr_Format(PyExc_TypeError, "%s() needs the argument %s", signature->function,
                     signature->names[i]);
        return false;
    }
    return true;
}

bool arguments_read(const struct signature *signature, PyObject *const *arguments, Py_ssize_t count,
                    PyObject *names, PyObject **values)
{
    if (!begin(signature, count, values))
        return false;
    for (Py_ssize_t i = 0; i < count; i++)
        values[i] = arguments[i];
    Py_ssize_t named = names != NULL ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; i < named; i++)
        if (!accept_named(signature, PyTuple_GetItem(names, i), arguments[count + i], values))
            return false;
    return check_required(signature, values);
}

bool arguments_read_tuple(const struct signature *signature, PyObject *tuple, PyObject *dictionary,
                          PyObject **values)
{
    Py_ssize_t count = PyTuple_Size(tuple);
    if (!begin(signature, count, values))
        return false;
    for (Py_ssize_t i = 0; i < count; i++)
        values[i] = PyTuple_GetItem(tuple, i);
    PyObject *name = NULL;
    PyObject *value = NULL;
    Py_ssize_t place = 0;
    while (dictionary != NULL && PyDict_Next(dictionary, &place, &name, &value))
        if (!accept_named(signature, name, value, values))
            return false;
    return check_required(signature, values);
}

static PyObject *bytes_owner(PyObject *object, const char *name)
{
    if (PyBytes_Check(object)) {
        Py_INCREF(object);
        return object;
    }
    if (PyObject_CheckBuffer(object))
        return PyBytes_FromObject(object);
    PyErr_Format(PyExc_TypeError, "a %s is bytes or another buffer%s, not %R", name,
                 PyUnicode_Check(object) ? " (encode the text)" : "", (PyObject *)Py_TYPE(object));
    return NULL;
}

bool held_take(struct held *held, PyObject *object, const char *name)
{
    char *data = NULL;
    Py_ssize_t size = 0;
    *held = (struct held){.owner = bytes_owner(object, name)};
    if (held->owner == NULL)
        return false;
    PyBytes_AsStringAndSize(held->owner, &data, &size);
    held->bytes = (struct bb_bytes){(const uint8_t *)data, (size_t)size};
    return true;
}

bool held_take_optional(struct held *held, PyObject *object, const char *name)
{
    *held = (struct held){0};
    return object == NULL || object == Py_None || held_take(held, object, name);
}

void held_drop(struct held *held)
{
    Py_XDECREF(held->owner);
    held->owner = NULL;
}

PyObject *bytes_from(struct bb_bytes bytes)
{
    return PyBytes_FromStringAndSize((const char *)bytes.data, (Py_ssize_t)bytes.size);
}

PyObject *bytes_from_buf(struct bb_buf *buf)
{
    PyObject *bytes = bytes_from((struct bb_bytes){buf->data, buf->size});
    bb_buf_deinit(buf);
    return bytes;
}

PyObject *path_from(PyObject *object)
{
    PyObject *path = NULL;
    return PyUnicode_FSConverter(object, &path) ? path : NULL;
}

const char *path_text(PyObject *path)
{
    return PyBytes_AsString(path);
}

int truth_of(PyObject *object)
{
    return object == NULL ? 0 : PyObject_IsTrue(object);
}

bool number_of(PyObject *object, const char *name, uint64_t max, uint64_t *ret_number)
{
    if (!PyLong_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s is an integer, not %R", name,
                     (PyObject *)Py_TYPE(object));
        return false;
    }
    unsigned long long number = PyLong_AsUnsignedLongLong(object);
    bool is_within = PyErr_Occurred() == NULL && number <= max;
    PyErr_Clear();
    if (!is_within)
        return fail_invalid("%s: %R is not between 0 and %llu", name, object,
                            (unsigned long long)max) != NULL;
    *ret_number = number;
    return true;
}

bool real_of(PyObject *object, const char *name, double *ret_number)
{
    double number = PyFloat_AsDouble(object);
    if (number != -1.0 || PyErr_Occurred() == NULL) {
        *ret_number = number;
        return true;
    }
    if (PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Format(PyExc_TypeError, "%s is a number, not %R", name, (PyObject *)Py_TYPE(object));
    } else if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
        PyErr_Clear();
        fail_invalid("%s: %R is too large", name, object);
    }
    return false;
}

PyObject *terminated_text(PyObject *text)
{
    char *string = NULL;
    PyObject *bytes = PyUnicode_AsUTF8String(text);
    /* Without a place for the size it refuses a NUL within the text: ValueError. */
    if (bytes == NULL || PyBytes_AsStringAndSize(bytes, &string, NULL) == 0)
        return bytes;
    Py_DECREF(bytes);
    return NULL;
}
