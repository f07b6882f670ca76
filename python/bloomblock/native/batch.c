/* The type Batch: operations that a store applies atomically. */
#include "module.h"

PyTypeObject *batch_type;

static PyObject *batch_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)arguments;
    (void)keywords; /* for __init__ of the subclass */
    struct batch *batch = (struct batch *)PyType_GenericNew(type, NULL, NULL);
    if (batch == NULL)
        return NULL;
    enum bb_status status = bb_batch_create(&batch->handle);
    if (status != BB_OK) {
        fail(status);
        Py_CLEAR(batch);
    }
    return (PyObject *)batch;
}

static void batch_dealloc(PyObject *self)
{
    bb_batch_destroy(((struct batch *)self)->handle);
    object_free(self);
}

static bool check(struct batch *batch)
{
    if (!batch->is_used)
        return true;
    fail_with(BB_BUSY, "another thread uses the batch");
    return false;
}

static PyObject *result_of(enum bb_status status)
{
    if (status != BB_OK)
        return fail(status);
    Py_RETURN_NONE;
}

/* An operation of two arguments: put, or delete_range. */
static PyObject *add_pair(PyObject *self, const struct signature *signature,
                          PyObject *const *arguments, Py_ssize_t count, PyObject *names,
                          enum bb_status (*add)(struct bb_batch *, struct bb_bytes,
                                                struct bb_bytes))
{
    struct batch *batch = (struct batch *)self;
    PyObject *values[2];
    struct held first = {0};
    struct held second = {0};
    PyObject *result = NULL;
    /* The check is last, because taking bytes may run other threads. */
    if (arguments_read(signature, arguments, count, names, values) &&
        held_take(&first, values[0], "key") && held_take(&second, values[1], signature->names[1]) &&
        check(batch))
        result = result_of(add(batch->handle, first.bytes, second.bytes));
    held_drop(&first);
    held_drop(&second);
    return result;
}

static PyObject *batch_put(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                           PyObject *names)
{
    static const struct signature signature = {"put", 2, 2, {"key", "value"}};
    return add_pair(self, &signature, arguments, count, names, bb_batch_put);
}

static PyObject *batch_delete_range(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                                    PyObject *names)
{
    static const struct signature signature = {"delete_range", 2, 2, {"low", "high"}};
    return add_pair(self, &signature, arguments, count, names, bb_batch_delete_range);
}

static PyObject *batch_delete(PyObject *self, PyObject *key)
{
    struct batch *batch = (struct batch *)self;
    struct held held;
    PyObject *result = NULL;
    if (held_take(&held, key, "key") && check(batch))
        result = result_of(bb_batch_delete(batch->handle, held.bytes));
    held_drop(&held);
    return result;
}

static PyObject *batch_clear(PyObject *self, PyObject *nothing)
{
    struct batch *batch = (struct batch *)self;
    (void)nothing;
    if (!check(batch))
        return NULL;
    bb_batch_reset(batch->handle);
    Py_RETURN_NONE;
}

/* batch[key] = value and del batch[key] */
static int batch_assign(PyObject *self, PyObject *key, PyObject *value)
{
    PyObject *pair[2] = {key, value};
    PyObject *done = value != NULL ? batch_put(self, pair, 2, NULL) : batch_delete(self, key);
    Py_XDECREF(done);
    return done != NULL ? 0 : -1;
}

static Py_ssize_t batch_length(PyObject *self)
{
    return (Py_ssize_t)bb_batch_count(((struct batch *)self)->handle);
}

static PyObject *batch_size_bytes(PyObject *self, void *nothing)
{
    (void)nothing;
    return PyLong_FromSize_t(bb_batch_size_bytes(((struct batch *)self)->handle));
}

ONE_PARAMETER(batch_delete, "delete", "key")

static PyMethodDef methods[] = {
    {"put", METHOD(batch_put), FAST, "put($self, key, value)\n--\n\nAdds a value."},
    {"delete", METHOD(batch_delete_named), FAST,
     "delete($self, key)\n--\n\nAdds the deletion of a key."},
    {"delete_range", METHOD(batch_delete_range), FAST,
     "delete_range($self, low, high)\n--\n\nAdds the deletion of the keys from low, inclusive, to "
     "high, exclusive."},
    {"clear", batch_clear, METH_NOARGS, "clear($self)\n--\n\nRemoves all operations."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"size_bytes", batch_size_bytes, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, batch_new},
    {Py_tp_dealloc, batch_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_mp_length, batch_length},
    {Py_mp_ass_subscript, batch_assign},
    {0, NULL},
};

PyType_Spec batch_spec = {"bloomblock._native.Batch", sizeof(struct batch), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
