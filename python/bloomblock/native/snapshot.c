/* The type Snapshot: the state of a store at one moment. */
#include "module.h"

PyTypeObject *snapshot_type;

static void release(struct child *child)
{
    struct snapshot *snapshot = (struct snapshot *)child;
    bb_snapshot_release(child->store->db, snapshot->handle);
    snapshot->handle = NULL;
}

static PyObject *snapshot_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static const struct signature signature = {"Snapshot", 1, 1, {"store"}};
    PyObject *store = NULL;
    enum bb_status status = BB_OK;
    if (!arguments_read_tuple(&signature, arguments, keywords, &store))
        return NULL;
    if (!PyObject_TypeCheck(store, store_type))
        return PyErr_Format(PyExc_TypeError, "a store is expected, not %R", store);
    if (!store_check((struct store *)store))
        return NULL;
    struct snapshot *snapshot = (struct snapshot *)PyType_GenericNew(type, NULL, NULL);
    if (snapshot == NULL)
        return NULL;
    struct bb_snapshot *handle = NULL;
    struct store *of = (struct store *)store;
    STORE_CALL(of, status = bb_snapshot_create(of->db, &handle));
    if (status == BB_OK) {
        snapshot->handle = handle;
        child_attach(&snapshot->child, of, release);
    } else {
        fail(status);
        Py_CLEAR(snapshot);
    }
    return (PyObject *)snapshot;
}

static void snapshot_dealloc(PyObject *self)
{
    child_dealloc((struct child *)self);
}

bool snapshot_of(PyObject *object, const struct store *store, struct snapshot **ret_snapshot)
{
    *ret_snapshot = NULL;
    if (object == NULL || object == Py_None)
        return true;
    if (!PyObject_TypeCheck(object, snapshot_type)) {
        PyErr_Format(PyExc_TypeError, "a snapshot is expected, not %R", object);
        return false;
    }
    struct snapshot *snapshot = (struct snapshot *)object;
    if (!child_check(&snapshot->child, "snapshot"))
        return false;
    if (snapshot->child.store != store) {
        fail_with(BB_INVALID, "the snapshot is another store's");
        return false;
    }
    *ret_snapshot = snapshot;
    return true;
}

static struct store *store_of(PyObject *self)
{
    return ((struct child *)self)->store;
}

static PyObject *snapshot_get(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                              PyObject *names)
{
    return read_get(store_of(self), (struct snapshot *)self, arguments, count, names);
}

static PyObject *snapshot_item(PyObject *self, PyObject *key)
{
    return read_item(store_of(self), (struct snapshot *)self, key);
}

static int snapshot_contains(PyObject *self, PyObject *key)
{
    return read_contains(store_of(self), (struct snapshot *)self, key);
}

static PyObject *snapshot_get_many(PyObject *self, PyObject *keys)
{
    return read_many(store_of(self), (struct snapshot *)self, keys);
}

static PyObject *snapshot_keys(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                               PyObject *names)
{
    return scan_of(store_of(self), (struct snapshot *)self, SCAN_KEYS, arguments, count, names);
}

static PyObject *snapshot_values(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                                 PyObject *names)
{
    return scan_of(store_of(self), (struct snapshot *)self, SCAN_VALUES, arguments, count, names);
}

static PyObject *snapshot_items(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                                PyObject *names)
{
    return scan_of(store_of(self), (struct snapshot *)self, SCAN_ITEMS, arguments, count, names);
}

static PyObject *snapshot_iter(PyObject *self)
{
    return snapshot_keys(self, NULL, 0, NULL);
}

static PyObject *snapshot_cursor(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                                 PyObject *names)
{
    return cursor_of(store_of(self), (struct snapshot *)self, arguments, count, names);
}

/* Waits for the reads of other threads. */
static PyObject *snapshot_close(PyObject *self, PyObject *nothing)
{
    struct child *child = (struct child *)self;
    (void)nothing;
    while (child->users > 0 && child->store->process == process_number())
        if (!wait_briefly())
            return NULL;
    child_release(child);
    Py_RETURN_NONE;
}

ONE_PARAMETER(snapshot_get_many, "get_many", "keys")

static PyMethodDef methods[] = {
    {"get", METHOD(snapshot_get), FAST,
     "get($self, key, default=None)\n--\n\nThe value of a key, or default."},
    {"get_many", METHOD(snapshot_get_many_named), FAST,
     "get_many($self, keys)\n--\n\nThe values of many keys, None for an absent one, all from one "
     "state of the store."},
    {"keys", METHOD(snapshot_keys), FAST,
     "keys($self, *, low=None, high=None, prefix=None, reverse=False)\n--\n\nThe keys of a range, "
     "in order."},
    {"values", METHOD(snapshot_values), FAST,
     "values($self, *, low=None, high=None, prefix=None, reverse=False)\n--\n\nThe values of a "
     "range, in the order of their keys."},
    {"items", METHOD(snapshot_items), FAST,
     "items($self, *, low=None, high=None, prefix=None, reverse=False)\n--\n\nKeys and values of a "
     "range, in order: from low, inclusive, to high, exclusive."},
    {"cursor", METHOD(snapshot_cursor), FAST,
     "cursor($self, *, low=None, high=None, prefix=None)\n--\n\nA cursor over a range, at no key "
     "yet."},
    {"close", snapshot_close, METH_NOARGS,
     "close($self)\n--\n\nReleases the snapshot. Idempotent."},
    WITH_METHODS,
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, snapshot_new},
    {Py_tp_dealloc, snapshot_dealloc},
    {Py_tp_traverse, child_traverse},
    {Py_tp_iter, snapshot_iter},
    {Py_tp_methods, methods},
    {Py_mp_subscript, snapshot_item},
    {Py_sq_contains, snapshot_contains},
    {0, NULL},
};

PyType_Spec snapshot_spec = {"bloomblock._native.Snapshot", sizeof(struct snapshot), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, slots};
