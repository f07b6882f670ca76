/* The type Cursor: a place among the keys of a store, moved in both directions. */
#include "module.h"

PyTypeObject *cursor_type;

static void release(struct child *child)
{
    struct cursor *cursor = (struct cursor *)child;
    bb_db_iter_destroy(cursor->handle);
    cursor->handle = NULL;
}

/* Bounds and prefix of a request, held for the call that makes an iterator. */
struct bounds {
    struct held low;
    struct held high;
    struct held prefix;
};

static void bounds_drop(struct bounds *bounds)
{
    held_drop(&bounds->low);
    held_drop(&bounds->high);
    held_drop(&bounds->prefix);
}

static bool bounds_take(struct bounds *bounds, const struct cursor_request *request)
{
    *bounds = (struct bounds){0};
    if (!held_take_optional(&bounds->low, request->low, "key") ||
        !held_take_optional(&bounds->high, request->high, "key") ||
        !held_take_optional(&bounds->prefix, request->prefix, "prefix"))
        return false;
    if (bounds->prefix.owner == NULL || (bounds->low.owner == NULL && bounds->high.owner == NULL))
        return true;
    fail_with(BB_INVALID, "a range has either a prefix or bounds, not both");
    return false;
}

static enum bb_status open_iterator(struct bb_db *db, const struct bb_get_options *options,
                                    const struct bounds *bounds, bool keys_only,
                                    struct bb_db_iter **ret_iter)
{
    const struct bb_key_range range = {
        .low = bounds->low.owner != NULL ? &bounds->low.bytes : NULL,
        .high = bounds->high.owner != NULL ? &bounds->high.bytes : NULL,
    };
    const struct bb_bytes prefix = bounds->prefix.bytes;
    if (bounds->prefix.owner != NULL)
        return keys_only ? bb_db_iter_create_prefix_keys(db, options, prefix, ret_iter)
                         : bb_db_iter_create_prefix(db, options, prefix, ret_iter);
    return keys_only ? bb_db_iter_create_keys(db, options, &range, ret_iter)
                     : bb_db_iter_create_range(db, options, &range, ret_iter);
}

static bool check(struct store *store, struct snapshot *snapshot)
{
    return store_check(store) && (snapshot == NULL || child_check(&snapshot->child, "snapshot"));
}

static bool open_handle(struct store *store, const struct cursor_request *request,
                        struct bb_db_iter **ret_iter)
{
    struct bounds bounds;
    struct bb_get_options options = {0};
    struct snapshot *snapshot = request->snapshot;
    enum bb_status status = BB_INVALID;
    if (!bounds_take(&bounds, request) || !check(store, snapshot)) {
        bounds_drop(&bounds);
        return false;
    }
    if (snapshot != NULL) {
        options.snapshot = snapshot->handle;
        snapshot->child.users++;
    }
    STORE_CALL(store,
               status = open_iterator(store->db, &options, &bounds, request->keys_only, ret_iter));
    if (snapshot != NULL)
        snapshot->child.users--;
    if (status != BB_OK)
        fail(status);
    bounds_drop(&bounds);
    return status == BB_OK;
}

struct cursor *cursor_create(struct store *store, const struct cursor_request *request)
{
    struct bb_db_iter *handle = NULL;
    if (!open_handle(store, request, &handle))
        return NULL;
    struct cursor *cursor = (struct cursor *)PyType_GenericNew(cursor_type, NULL, NULL);
    if (cursor == NULL) {
        bb_db_iter_destroy(handle);
        return NULL;
    }
    cursor->handle = handle;
    child_attach(&cursor->child, store, release);
    return cursor;
}

PyObject *cursor_of(struct store *store, struct snapshot *snapshot, PyObject *const *arguments,
                    Py_ssize_t count, PyObject *names)
{
    static const struct signature signature = {"cursor", 0, 0, {"low", "high", "prefix"}};
    PyObject *values[3];
    if (!arguments_read(&signature, arguments, count, names, values))
        return NULL;
    const struct cursor_request request = {values[0], values[1], values[2], snapshot, false};
    return (PyObject *)cursor_create(store, &request);
}

static void cursor_dealloc(PyObject *self)
{
    child_dealloc((struct child *)self);
}

static void move(struct bb_db_iter *iter, enum cursor_move move, struct bb_bytes key)
{
    switch (move) {
    case CURSOR_FIRST:
        bb_db_iter_seek_first(iter);
        return;
    case CURSOR_LAST:
        bb_db_iter_seek_last(iter);
        return;
    case CURSOR_NEXT:
        bb_db_iter_next(iter);
        return;
    case CURSOR_PREV:
        bb_db_iter_prev(iter);
        return;
    case CURSOR_SEEK:
        bb_db_iter_seek(iter, key);
        return;
    }
}

int cursor_step(struct cursor *cursor, enum cursor_move step, struct bb_bytes key)
{
    struct child *child = &cursor->child;
    if (!child_begin(child, "cursor"))
        return -1;
    if ((step == CURSOR_NEXT || step == CURSOR_PREV) && !bb_db_iter_valid(cursor->handle)) {
        fail_with(BB_INVALID, "the cursor is at no key");
        return -1;
    }
    child->users++;
    STORE_CALL(child->store, move(cursor->handle, step, key));
    child->users--;
    if (bb_db_iter_valid(cursor->handle))
        return 1;
    enum bb_status status = bb_db_iter_status(cursor->handle);
    if (status == BB_OK)
        return 0;
    fail(status);
    return -1;
}

static PyObject *moved(PyObject *self, enum cursor_move step)
{
    int there = cursor_step((struct cursor *)self, step, (struct bb_bytes){0});
    return there < 0 ? NULL : PyBool_FromLong(there);
}

static PyObject *cursor_first(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return moved(self, CURSOR_FIRST);
}

static PyObject *cursor_last(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return moved(self, CURSOR_LAST);
}

static PyObject *cursor_next(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return moved(self, CURSOR_NEXT);
}

static PyObject *cursor_prev(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return moved(self, CURSOR_PREV);
}

static PyObject *cursor_seek(PyObject *self, PyObject *key)
{
    struct held held;
    if (!held_take(&held, key, "key"))
        return NULL;
    int there = cursor_step((struct cursor *)self, CURSOR_SEEK, held.bytes);
    held_drop(&held);
    return there < 0 ? NULL : PyBool_FromLong(there);
}

static PyObject *cursor_close(PyObject *self, PyObject *nothing)
{
    struct child *child = (struct child *)self;
    (void)nothing;
    if (child->users > 0)
        return fail_with(BB_BUSY, "another thread uses the cursor");
    child_release(child);
    Py_RETURN_NONE;
}

static PyObject *cursor_is_valid(PyObject *self, void *nothing)
{
    struct cursor *cursor = (struct cursor *)self;
    (void)nothing;
    return PyBool_FromLong(cursor->child.users == 0 && cursor->handle != NULL &&
                           bb_db_iter_valid(cursor->handle));
}

static PyObject *cursor_is_closed(PyObject *self, void *nothing)
{
    (void)nothing;
    return PyBool_FromLong(((struct child *)self)->release == NULL);
}

static bool check_place(struct cursor *cursor)
{
    if (!child_begin(&cursor->child, "cursor"))
        return false;
    if (bb_db_iter_valid(cursor->handle))
        return true;
    fail_with(BB_INVALID, "the cursor is at no key");
    return false;
}

static PyObject *cursor_key(PyObject *self, void *nothing)
{
    struct cursor *cursor = (struct cursor *)self;
    (void)nothing;
    return check_place(cursor) ? bytes_from(bb_db_iter_key(cursor->handle)) : NULL;
}

static PyObject *cursor_value(PyObject *self, void *nothing)
{
    struct cursor *cursor = (struct cursor *)self;
    (void)nothing;
    return check_place(cursor) ? bytes_from(bb_db_iter_value(cursor->handle)) : NULL;
}

ONE_PARAMETER(cursor_seek, "seek", "key")

static PyMethodDef methods[] = {
    {"first", cursor_first, METH_NOARGS,
     "first($self)\n--\n\nMoves to the first key. False if there is no such key."},
    {"last", cursor_last, METH_NOARGS,
     "last($self)\n--\n\nMoves to the last key. False if there is no such key."},
    {"next", cursor_next, METH_NOARGS,
     "next($self)\n--\n\nMoves to the next key. False if there is no such key."},
    {"prev", cursor_prev, METH_NOARGS,
     "prev($self)\n--\n\nMoves to the previous key. False if there is no such key."},
    {"seek", METHOD(cursor_seek_named), FAST,
     "seek($self, key)\n--\n\nMoves to the first key at or after key. False if there is no such "
     "key."},
    {"close", cursor_close, METH_NOARGS, "close($self)\n--\n\nReleases the cursor. Idempotent."},
    WITH_METHODS,
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"valid", cursor_is_valid, NULL, NULL, NULL},
    {"closed", cursor_is_closed, NULL, NULL, NULL},
    {"key", cursor_key, NULL, NULL, NULL},
    {"value", cursor_value, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, cursor_dealloc},
    {Py_tp_traverse, child_traverse},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

PyType_Spec cursor_spec = {
    "bloomblock._native.Cursor", sizeof(struct cursor), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
