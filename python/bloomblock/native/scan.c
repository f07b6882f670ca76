/* The type Scan: a Python iterator over a range of keys, in one direction. It releases its cursor
 * at the end. */
#include "module.h"

PyTypeObject *scan_type;

struct scan {
    PyObject_HEAD struct cursor *cursor; /* NULL: at the end */
    enum scan_shape shape;
    bool is_backward;
    bool has_begun;
};

PyObject *scan_create(struct store *store, const struct cursor_request *request,
                      enum scan_shape shape, bool is_backward)
{
    struct cursor *cursor = cursor_create(store, request);
    if (cursor == NULL)
        return NULL;
    struct scan *scan = (struct scan *)PyType_GenericNew(scan_type, NULL, NULL);
    if (scan == NULL) {
        Py_DECREF((PyObject *)cursor);
        return NULL;
    }
    scan->cursor = cursor;
    scan->shape = shape;
    scan->is_backward = is_backward;
    return (PyObject *)scan;
}

PyObject *scan_of(struct store *store, struct snapshot *snapshot, enum scan_shape shape,
                  PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    static const struct signature signatures[] = {
        [SCAN_KEYS] = {"keys", 0, 0, {"low", "high", "prefix", "reverse"}},
        [SCAN_VALUES] = {"values", 0, 0, {"low", "high", "prefix", "reverse"}},
        [SCAN_ITEMS] = {"items", 0, 0, {"low", "high", "prefix", "reverse"}},
    };
    PyObject *values[4];
    if (!arguments_read(&signatures[shape], arguments, count, names, values))
        return NULL;
    int is_backward = truth_of(values[3]);
    if (is_backward < 0)
        return NULL;
    const struct cursor_request request = {values[0], values[1], values[2], snapshot,
                                           shape == SCAN_KEYS};
    return scan_create(store, &request, shape, is_backward);
}

static void scan_close_cursor(struct scan *scan)
{
    if (scan->cursor != NULL)
        child_release(&scan->cursor->child);
    Py_CLEAR(scan->cursor);
}

static int scan_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT((PyObject *)((struct scan *)self)->cursor);
    return 0;
}

static void scan_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    scan_close_cursor((struct scan *)self);
    object_free(self);
}

static enum cursor_move step_of(const struct scan *scan)
{
    if (!scan->has_begun)
        return scan->is_backward ? CURSOR_LAST : CURSOR_FIRST;
    return scan->is_backward ? CURSOR_PREV : CURSOR_NEXT;
}

static PyObject *pair_of(PyObject *key, PyObject *value)
{
    PyObject *pair = key != NULL && value != NULL ? PyTuple_New(2) : NULL;
    if (pair == NULL) {
        Py_XDECREF(key);
        Py_XDECREF(value);
        return NULL;
    }
    PyTuple_SetItem(pair, 0, key);
    PyTuple_SetItem(pair, 1, value);
    return pair;
}

static PyObject *current(const struct scan *scan)
{
    const struct bb_db_iter *iter = scan->cursor->handle;
    switch (scan->shape) {
    case SCAN_KEYS:
        return bytes_from(bb_db_iter_key(iter));
    case SCAN_VALUES:
        return bytes_from(bb_db_iter_value(iter));
    case SCAN_ITEMS:
        return pair_of(bytes_from(bb_db_iter_key(iter)), bytes_from(bb_db_iter_value(iter)));
    }
    return NULL;
}

static PyObject *scan_next(PyObject *self)
{
    struct scan *scan = (struct scan *)self;
    struct cursor *cursor = scan->cursor;
    if (cursor == NULL)
        return NULL;
    Py_INCREF((PyObject *)cursor); /* another thread may close the scan */
    int there = cursor_step(cursor, step_of(scan), (struct bb_bytes){0});
    scan->has_begun = true;
    PyObject *result = there > 0 && scan->cursor != NULL ? current(scan) : NULL;
    if (there == 0)
        scan_close_cursor(scan);
    Py_DECREF((PyObject *)cursor);
    return result;
}

static PyObject *scan_close(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    scan_close_cursor((struct scan *)self);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"close", scan_close, METH_NOARGS, "close($self)\n--\n\nEnds the iteration. Idempotent."},
    WITH_METHODS,
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, scan_dealloc}, {Py_tp_traverse, scan_traverse}, {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, scan_next},   {Py_tp_methods, methods},        {0, NULL},
};

PyType_Spec scan_spec = {
    "bloomblock._native.Scan", sizeof(struct scan), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
