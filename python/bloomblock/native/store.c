/* The type Store: opening, closing, reading and writing.
 *
 * Closing. bb_db_close demands that no other call runs, so close() waits for the calls of other
 * threads, and releases all cursors, snapshots and selections first. In a child made by fork the
 * threads of these calls do not exist: it waits for none, and leaves the objects that they used. */
#include "module.h"
#include "store_methods.h"

#include <time.h>
#include <unistd.h>

PyTypeObject *store_type;

long process_number(void)
{
    return (long)getpid();
}

bool wait_briefly(void)
{
    struct timespec millisecond = {.tv_nsec = 1000000};
    Py_BEGIN_ALLOW_THREADS;
    nanosleep(&millisecond, NULL);
    Py_END_ALLOW_THREADS;
    return PyErr_CheckSignals() == 0;
}

bool store_check(struct store *store)
{
    if (store->db != NULL && !store->is_closing)
        return true;
    fail_with(BB_INVALID, "the store is closed");
    return false;
}

bool store_check_process(struct store *store)
{
    if (!store_check(store))
        return false;
    if (store->process == process_number())
        return true;
    fail_with(BB_INVALID, "the store was opened by the parent process");
    return false;
}

/* ---- children ---- */

void child_attach(struct child *child, struct store *store, void (*release)(struct child *))
{
    child->release = release;
    child->store = store;
    Py_INCREF((PyObject *)store);
    child->next = store->children;
    child->link = &store->children;
    if (child->next != NULL)
        child->next->link = &child->next;
    store->children = child;
}

static void child_detach(struct child *child)
{
    if (child->link == NULL)
        return;
    *child->link = child->next;
    if (child->next != NULL)
        child->next->link = child->link;
    child->link = NULL;
}

void child_release(struct child *child)
{
    void (*release)(struct child *) = child->release;
    if (release == NULL || child->users > 0)
        return;
    child_detach(child);
    child->release = NULL;
    release(child);
}

void child_dealloc(struct child *child)
{
    PyObject_GC_UnTrack(child);
    child_release(child);
    child_detach(child);
    Py_XDECREF((PyObject *)child->store);
    object_free(child);
}

int child_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT((PyObject *)((struct child *)self)->store);
    return 0;
}

bool child_check(struct child *child, const char *name)
{
    char message[80];
    if (child->release == NULL) {
        PyOS_snprintf(message, sizeof(message), "the %s is closed", name);
        fail_with(BB_INVALID, message);
        return false;
    }
    return store_check(child->store);
}

bool child_begin(struct child *child, const char *name)
{
    char message[80];
    if (child->users > 0) {
        PyOS_snprintf(message, sizeof(message), "another thread uses the %s", name);
        fail_with(BB_BUSY, message);
        return false;
    }
    return child_check(child, name);
}

/* ---- opening and closing ---- */

/* The order has to exist until the store is closed. */
static void keep_comparator(struct store *store, PyObject *keywords)
{
    PyObject *former = store->comparator;
    store->comparator = keywords != NULL ? PyDict_GetItemString(keywords, "comparator") : NULL;
    Py_XINCREF(store->comparator);
    Py_XDECREF(former);
}

static int store_init(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    struct store *store = (struct store *)self;
    struct bb_db_options options;
    enum bb_status status = BB_OK;
    if (PyTuple_Size(arguments) != 1 || store->db != NULL) {
        PyErr_SetString(PyExc_TypeError,
                        "Store() takes one path, once, and options by their names");
        return -1;
    }
    PyObject *path = path_from(PyTuple_GetItem(arguments, 0));
    if (path == NULL)
        return -1;
    if (!options_read(keywords, "Store", &options)) {
        Py_DECREF(path);
        return -1;
    }
    struct bb_db *db = NULL;
    const char *text = path_text(path);
    if (store->events == NULL)
        store->events = events_create();
    keep_comparator(store, keywords);
    options.on_event = store->events != NULL ? events_note : NULL;
    options.event_context = store->events;
    STORE_CALL(store, status = bb_db_open(text, &options, &db));
    store->process = process_number();
    store->db = db;
    if (status != BB_OK)
        fail(status);
    Py_DECREF(path);
    return status == BB_OK ? 0 : -1;
}

/* False with an exception from a signal's handler. */
static bool wait_for_calls(struct store *store)
{
    while (store->calls > 0 && store->process == process_number())
        if (!wait_briefly())
            return false;
    return true;
}

static enum bb_status close_handle(struct store *store)
{
    enum bb_status status = BB_OK;
    struct bb_db *db = store->db;
    while (store->children != NULL) {
        struct child *child = store->children;
        child_release(child);
        child_detach(child);
    }
    Py_BEGIN_ALLOW_THREADS;
    status = bb_db_close(db);
    Py_END_ALLOW_THREADS;
    if (status != BB_BUSY)
        store->db = NULL;
    return status;
}

static PyObject *store_close(PyObject *self, PyObject *nothing)
{
    struct store *store = (struct store *)self;
    enum bb_status status = BB_OK;
    (void)nothing;
    if (store->db == NULL || store->is_closing)
        Py_RETURN_NONE;
    store->is_closing = true;
    bool waited = wait_for_calls(store);
    if (waited)
        status = close_handle(store);
    store->is_closing = false;
    if (!waited)
        return NULL;
    if (status != BB_OK)
        return fail(status);
    Py_RETURN_NONE;
}

static int store_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((struct store *)self)->comparator);
    return 0;
}

static void store_dealloc(PyObject *self)
{
    PyObject *type = NULL;
    PyObject *value = NULL;
    PyObject *trace = NULL;
    PyObject_GC_UnTrack(self); /* closing lets other threads run, and so the collector */
    PyErr_Fetch(&type, &value, &trace);
    PyObject *done = store_close(self, NULL);
    if (done == NULL)
        PyErr_WriteUnraisable(NULL);
    Py_XDECREF(done);
    PyErr_Restore(type, value, trace);
    /* A store that could not be closed may still use them. */
    if (((struct store *)self)->db == NULL) {
        events_destroy(((struct store *)self)->events);
        Py_XDECREF(((struct store *)self)->comparator);
    }
    object_free(self);
}

static PyObject *store_is_closed(PyObject *self, void *nothing)
{
    (void)nothing;
    return PyBool_FromLong(((struct store *)self)->db == NULL);
}

/* ---- reading ---- */

static PyObject *store_get(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                           PyObject *names)
{
    return read_get((struct store *)self, NULL, arguments, count, names);
}

static PyObject *store_item(PyObject *self, PyObject *key)
{
    return read_item((struct store *)self, NULL, key);
}

static int store_contains(PyObject *self, PyObject *key)
{
    return read_contains((struct store *)self, NULL, key);
}

static PyObject *store_get_many(PyObject *self, PyObject *keys)
{
    return read_many((struct store *)self, NULL, keys);
}

static PyObject *store_keys(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                            PyObject *names)
{
    return scan_of((struct store *)self, NULL, SCAN_KEYS, arguments, count, names);
}

static PyObject *store_values(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                              PyObject *names)
{
    return scan_of((struct store *)self, NULL, SCAN_VALUES, arguments, count, names);
}

static PyObject *store_items(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                             PyObject *names)
{
    return scan_of((struct store *)self, NULL, SCAN_ITEMS, arguments, count, names);
}

static PyObject *store_iter(PyObject *self)
{
    return store_keys(self, NULL, 0, NULL);
}

static PyObject *store_cursor(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                              PyObject *names)
{
    return cursor_of((struct store *)self, NULL, arguments, count, names);
}

static PyObject *store_snapshot(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return PyObject_CallFunctionObjArgs((PyObject *)snapshot_type, self, NULL);
}

/* ---- writing ---- */

/* None, or NULL with the exception. sync: the argument, or NULL. */
static PyObject *written(enum bb_status status)
{
    if (status != BB_OK)
        return fail(status);
    Py_RETURN_NONE;
}

static bool write_options_read(PyObject *sync, struct bb_write_options *ret_options)
{
    int truth = truth_of(sync);
    *ret_options = (struct bb_write_options){.sync = truth > 0};
    return truth >= 0;
}

static PyObject *put(struct store *store, PyObject *key, PyObject *value,
                     const struct bb_write_options *options)
{
    struct held held[2] = {0};
    enum bb_status status = BB_OK;
    PyObject *result = NULL;
    if (held_take(&held[0], key, "key") && held_take(&held[1], value, "value") &&
        store_check(store)) {
        STORE_CALL(store, status = bb_db_put(store->db, options, held[0].bytes, held[1].bytes));
        result = written(status);
    }
    held_drop(&held[0]);
    held_drop(&held[1]);
    return result;
}

static PyObject *store_put(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                           PyObject *names)
{
    static const struct signature signature = {"put", 2, 2, {"key", "value", "sync"}};
    PyObject *values[3];
    struct bb_write_options options;
    if (!arguments_read(&signature, arguments, count, names, values) ||
        !write_options_read(values[2], &options))
        return NULL;
    return put((struct store *)self, values[0], values[1], &options);
}

static PyObject *delete (struct store *store, PyObject *key, const struct bb_write_options *options)
{
    struct held held;
    enum bb_status status = BB_OK;
    PyObject *result = NULL;
    if (!held_take(&held, key, "key"))
        return NULL;
    if (store_check(store)) {
        STORE_CALL(store, status = bb_db_delete(store->db, options, held.bytes));
        result = written(status);
    }
    held_drop(&held);
    return result;
}

static PyObject *store_delete(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                              PyObject *names)
{
    static const struct signature signature = {"delete", 1, 1, {"key", "sync"}};
    PyObject *values[2];
    struct bb_write_options options;
    if (!arguments_read(&signature, arguments, count, names, values) ||
        !write_options_read(values[1], &options))
        return NULL;
    return delete ((struct store *)self, values[0], &options);
}

/* store[key] = value and del store[key] */
static int store_assign(PyObject *self, PyObject *key, PyObject *value)
{
    struct store *store = (struct store *)self;
    PyObject *done = value != NULL ? put(store, key, value, NULL) : delete (store, key, NULL);
    Py_XDECREF(done);
    return done != NULL ? 0 : -1;
}

static PyObject *store_delete_range(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                                    PyObject *names)
{
    static const struct signature signature = {"delete_range", 2, 2, {"low", "high", "sync"}};
    struct store *store = (struct store *)self;
    PyObject *values[3];
    struct bb_write_options options;
    struct held low = {0};
    struct held high = {0};
    enum bb_status status = BB_OK;
    PyObject *result = NULL;
    if (arguments_read(&signature, arguments, count, names, values) &&
        write_options_read(values[2], &options) && held_take(&low, values[0], "key") &&
        held_take(&high, values[1], "key") && store_check(store)) {
        STORE_CALL(store, status = bb_db_delete_range(store->db, &options, low.bytes, high.bytes));
        result = written(status);
    }
    held_drop(&low);
    held_drop(&high);
    return result;
}

static PyObject *store_write(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                             PyObject *names)
{
    static const struct signature signature = {"write", 1, 1, {"batch", "sync"}};
    struct store *store = (struct store *)self;
    PyObject *values[2];
    struct bb_write_options options;
    enum bb_status status = BB_OK;
    if (!arguments_read(&signature, arguments, count, names, values) ||
        !write_options_read(values[1], &options) || !store_check(store))
        return NULL;
    if (!PyObject_TypeCheck(values[0], batch_type))
        return PyErr_Format(PyExc_TypeError, "write() takes a batch, not %R", values[0]);
    struct batch *batch = (struct batch *)values[0];
    if (batch->is_used)
        return fail_with(BB_BUSY, "another thread uses the batch");
    batch->is_used = true;
    STORE_CALL(store, status = bb_db_write(store->db, &options, batch->handle));
    batch->is_used = false;
    return written(status);
}

ONE_PARAMETER(store_get_many, "get_many", "keys")
ONE_PARAMETER(store_checkpoint, "checkpoint", "path")
ONE_PARAMETER(store_create_attribute, "create_attribute", "definition")
ONE_PARAMETER(store_drop_attribute, "drop_attribute", "name")
ONE_PARAMETER(store_drop_index, "drop_index", "name")

static PyMethodDef methods[] = {
    {"get", METHOD(store_get), FAST,
     "get($self, key, default=None)\n--\n\nThe value of a key, or default."},
    {"get_many", METHOD(store_get_many_named), FAST,
     "get_many($self, keys)\n--\n\nThe values of many keys, None for an absent one, all from one "
     "state of the store."},
    {"keys", METHOD(store_keys), FAST,
     "keys($self, *, low=None, high=None, prefix=None, reverse=False)\n--\n\nThe keys of a range, "
     "in order."},
    {"values", METHOD(store_values), FAST,
     "values($self, *, low=None, high=None, prefix=None, reverse=False)\n--\n\nThe values of a "
     "range, in the order of their keys."},
    {"items", METHOD(store_items), FAST,
     "items($self, *, low=None, high=None, prefix=None, reverse=False)\n--\n\nKeys and values of a "
     "range, in order: from low, inclusive, to high, exclusive."},
    {"cursor", METHOD(store_cursor), FAST,
     "cursor($self, *, low=None, high=None, prefix=None)\n--\n\nA cursor over a range, at no key "
     "yet."},
    {"snapshot", store_snapshot, METH_NOARGS,
     "snapshot($self)\n--\n\nThe current state, readable until it is closed."},
    {"put", METHOD(store_put), FAST,
     "put($self, key, value, *, sync=False)\n--\n\nStores a value. sync: durable against a power "
     "failure when the call returns."},
    {"delete", METHOD(store_delete), FAST,
     "delete($self, key, *, sync=False)\n--\n\nDeletes a key; an absent one is no error."},
    {"delete_range", METHOD(store_delete_range), FAST,
     "delete_range($self, low, high, *, sync=False)\n--\n\nDeletes all keys from low, inclusive, "
     "to high, exclusive, by one operation."},
    {"write", METHOD(store_write), FAST,
     "write($self, batch, *, sync=False)\n--\n\nApplies the operations of a batch atomically."},
    {"close", store_close, METH_NOARGS,
     "close($self)\n--\n\nCloses the store, after the calls of other threads. Idempotent."},
    {"flush", store_flush, METH_NOARGS,
     "flush($self)\n--\n\nWrites all data in memory to tables, durably."},
    {"compact", METHOD(store_compact), FAST,
     "compact($self, low=None, high=None)\n--\n\nMerges the tables of a range, or of the whole "
     "store."},
    {"wait_idle", store_wait_idle, METH_NOARGS,
     "wait_idle($self)\n--\n\nWaits until no flush and no compaction is due."},
    {"refresh", store_refresh, METH_NOARGS,
     "refresh($self)\n--\n\nMoves a read-only store to the newest state."},
    {"clear_cache", store_clear_cache, METH_NOARGS,
     "clear_cache($self)\n--\n\nEmpties the block cache, for measurements."},
    {"approximate_size", METHOD(store_approximate_size), FAST,
     "approximate_size($self, low=None, high=None)\n--\n\nBytes of a range: file_bytes, raw_bytes, "
     "memtable_bytes."},
    {"checkpoint", METHOD(store_checkpoint_named), FAST,
     "checkpoint($self, path)\n--\n\nMakes an independent copy of the store in a new directory."},
    {"ingest", METHOD(store_ingest), FAST,
     "ingest($self, paths, *, verify=False)\n--\n\nAdds tables that were built elsewhere, "
     "atomically."},
    {"events", store_events, METH_NOARGS,
     "events($self)\n--\n\nThe events since the previous call, of the latest 256."},
    {"stats", store_stats, METH_NOARGS,
     "stats($self)\n--\n\nStatistics since the store was opened."},
    {"tables", store_tables, METH_NOARGS,
     "tables($self)\n--\n\nThe live tables, newest first within a level."},
    {"create_attribute", METHOD(store_create_attribute_named), FAST,
     "create_attribute($self, definition)\n--\n\nAdds an attribute of records, such as \"status "
     "u64 = clf(status)\"."},
    {"drop_attribute", METHOD(store_drop_attribute_named), FAST,
     "drop_attribute($self, name)\n--\n\nRemoves an attribute."},
    {"attributes", store_attributes, METH_NOARGS,
     "attributes($self)\n--\n\nThe definitions of all attributes."},
    {"create_index", METHOD(store_create_index), FAST,
     "create_index($self, name, spec)\n--\n\nAdds a skip index, such as \"tokens(agent)\"."},
    {"drop_index", METHOD(store_drop_index_named), FAST,
     "drop_index($self, name)\n--\n\nRemoves an index."},
    {"indexes", store_indexes, METH_NOARGS,
     "indexes($self)\n--\n\nThe indexes and name they take."},
    {"materialize_indexes", store_materialize_indexes, METH_NOARGS,
     "materialize_indexes($self)\n--\n\nBuilds all indexes for the tables that lack one."},
    {"select", METHOD(store_select), FAST,
     "select($self, where=None, *, low=None, high=None, snapshot=None, limit=None, "
     "reverse=False)\n--\n\nThe records for which a condition is true."},
    {"count", METHOD(store_count), FAST,
     "count($self, where=None, *, low=None, high=None, snapshot=None, limit=None, "
     "reverse=False)\n--\n\nThe number of records for which a condition is true."},
    WITH_METHODS,
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"closed", store_is_closed, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_init, store_init},         {Py_tp_dealloc, store_dealloc},
    {Py_tp_traverse, store_traverse}, {Py_tp_iter, store_iter},
    {Py_tp_methods, methods},         {Py_tp_getset, properties},
    {Py_mp_subscript, store_item},    {Py_mp_ass_subscript, store_assign},
    {Py_sq_contains, store_contains}, {0, NULL},
};

PyType_Spec store_spec = {"bloomblock._native.Store", sizeof(struct store), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
