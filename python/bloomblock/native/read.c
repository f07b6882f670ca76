/* Reads of a store or of a snapshot: one value, many values, presence. */
#include "module.h"

/* Begins a read: InvalidError if the store or the snapshot is closed. Until read_end neither is
 * released. */
static bool read_begin(struct store *store, struct snapshot *snapshot,
                       struct bb_get_options *ret_options)
{
    *ret_options = (struct bb_get_options){0};
    if (!store_check(store) || (snapshot != NULL && !child_check(&snapshot->child, "snapshot")))
        return false;
    store->calls++;
    if (snapshot != NULL) {
        ret_options->snapshot = snapshot->handle;
        snapshot->child.users++;
    }
    return true;
}

static void read_end(struct store *store, struct snapshot *snapshot)
{
    store->calls--;
    if (snapshot != NULL)
        snapshot->child.users--;
}

/* False with an exception. *ret_value: NULL if the key is absent. */
static bool find(struct store *store, struct snapshot *snapshot, PyObject *key,
                 PyObject **ret_value)
{
    struct bb_get_options options;
    struct bb_pinned pinned = {0};
    struct held held = {0};
    enum bb_status status = BB_OK;
    *ret_value = NULL;
    if (!held_take(&held, key, "key") || !read_begin(store, snapshot, &options)) {
        held_drop(&held);
        return false;
    }
    Py_BEGIN_ALLOW_THREADS;
    status = bb_db_get_pinned(store->db, &options, held.bytes, &pinned);
    Py_END_ALLOW_THREADS;
    if (status == BB_OK)
        *ret_value = bytes_from(pinned.bytes);
    else if (status != BB_NOT_FOUND)
        fail(status);
    bb_pinned_release(&pinned);
    read_end(store, snapshot);
    held_drop(&held);
    return status == BB_NOT_FOUND || *ret_value != NULL;
}

PyObject *read_get(struct store *store, struct snapshot *snapshot, PyObject *const *arguments,
                   Py_ssize_t count, PyObject *names)
{
    static const struct signature signature = {"get", 1, 2, {"key", "default"}};
    PyObject *values[2];
    PyObject *value = NULL;
    if (!arguments_read(&signature, arguments, count, names, values) ||
        !find(store, snapshot, values[0], &value))
        return NULL;
    if (value == NULL) {
        value = values[1] != NULL ? values[1] : Py_None;
        Py_INCREF(value);
    }
    return value;
}

PyObject *read_item(struct store *store, struct snapshot *snapshot, PyObject *key)
{
    PyObject *value = NULL;
    if (find(store, snapshot, key, &value) && value == NULL)
        PyErr_SetObject(PyExc_KeyError, key);
    return value;
}

int read_contains(struct store *store, struct snapshot *snapshot, PyObject *key)
{
    struct bb_get_options options;
    struct held held = {0};
    enum bb_status status = BB_OK;
    if (!held_take(&held, key, "key") || !read_begin(store, snapshot, &options)) {
        held_drop(&held);
        return -1;
    }
    Py_BEGIN_ALLOW_THREADS;
    status = bb_db_get(store->db, &options, held.bytes, NULL);
    Py_END_ALLOW_THREADS;
    read_end(store, snapshot);
    if (status != BB_OK && status != BB_NOT_FOUND)
        fail(status);
    held_drop(&held);
    return status == BB_OK ? 1 : status == BB_NOT_FOUND ? 0 : -1;
}

/* ---- many keys ---- */

struct many {
    Py_ssize_t count;
    PyObject *owners; /* a list of bytes: the keys */
    struct bb_bytes *keys;
    struct bb_buf *values;
    enum bb_status *statuses;
};

static void many_deinit(struct many *many)
{
    for (Py_ssize_t i = 0; many->values != NULL && i < many->count; i++)
        bb_buf_deinit(&many->values[i]);
    PyMem_Free(many->keys);
    PyMem_Free(many->values);
    PyMem_Free(many->statuses);
    Py_XDECREF(many->owners);
}

static bool many_allocate(struct many *many)
{
    size_t count = (size_t)many->count;
    many->keys = PyMem_Calloc(count, sizeof(*many->keys));
    many->values = PyMem_Calloc(count, sizeof(*many->values));
    many->statuses = PyMem_Calloc(count, sizeof(*many->statuses));
    if (many->keys != NULL && many->values != NULL && many->statuses != NULL)
        return true;
    PyErr_NoMemory();
    return false;
}

static bool many_init(struct many *many, PyObject *keys)
{
    *many = (struct many){.owners = PySequence_List(keys)};
    if (many->owners == NULL)
        return false;
    many->count = PyList_Size(many->owners);
    if (!many_allocate(many))
        return false;
    for (Py_ssize_t i = 0; i < many->count; i++) {
        struct held held;
        if (!held_take(&held, PyList_GetItem(many->owners, i), "key"))
            return false;
        many->keys[i] = held.bytes;
        PyList_SetItem(many->owners, i, held.owner);
    }
    return true;
}

static PyObject *many_value(struct many *many, Py_ssize_t i)
{
    if (many->statuses[i] == BB_OK)
        return bytes_from_buf(&many->values[i]);
    Py_INCREF(Py_None);
    return Py_None;
}

static PyObject *many_list(struct many *many)
{
    PyObject *list = PyList_New(many->count);
    for (Py_ssize_t i = 0; list != NULL && i < many->count; i++) {
        PyObject *value = many_value(many, i);
        if (value == NULL || PyList_SetItem(list, i, value) != 0)
            Py_CLEAR(list);
    }
    return list;
}

PyObject *read_many(struct store *store, struct snapshot *snapshot, PyObject *keys)
{
    struct bb_get_options options;
    struct many many;
    enum bb_status status = BB_OK;
    PyObject *list = NULL;
    if (many_init(&many, keys) && read_begin(store, snapshot, &options)) {
        Py_BEGIN_ALLOW_THREADS;
        status = bb_db_get_many(store->db, &options, many.keys, (size_t)many.count, many.values,
                                many.statuses);
        Py_END_ALLOW_THREADS;
        read_end(store, snapshot);
        list = status == BB_OK ? many_list(&many) : fail(status);
    }
    many_deinit(&many);
    return list;
}
