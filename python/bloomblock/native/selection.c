/* The type Selection: the records that satisfy a condition (bb/select.h), as a Python iterator of
 * keys and values. */
#include "store_methods.h"

PyTypeObject *selection_type;

struct selection {
    struct child child;
    struct bb_select *handle;
    struct bb_schema *schema;
    bool has_record;
};

static void release(struct child *child)
{
    struct selection *selection = (struct selection *)child;
    bb_select_destroy(selection->handle);
    bb_schema_destroy(selection->schema);
    selection->handle = NULL;
    selection->schema = NULL;
    selection->has_record = false;
}

/* ---- the arguments of select() and count() ---- */

struct request {
    struct held low;
    struct held high;
    PyObject *where; /* UTF-8; NULL: every record */
    struct snapshot *snapshot;
    uint64_t limit;
    int is_backward;
};

static void request_drop(struct request *request)
{
    held_drop(&request->low);
    held_drop(&request->high);
    Py_CLEAR(request->where);
}

static bool take_condition(struct request *request, PyObject *where)
{
    if (where == NULL || where == Py_None)
        return true;
    if (!PyUnicode_Check(where)) {
        PyErr_Format(PyExc_TypeError, "a condition is a text, not %R", where);
        return false;
    }
    request->where = terminated_text(where);
    return request->where != NULL;
}

static bool request_take(struct request *request, const struct store *store, const char *function,
                         PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    const struct signature signature = {
        function, 0, 1, {"where", "low", "high", "snapshot", "limit", "reverse"}};
    PyObject *values[6];
    *request = (struct request){0};
    if (!arguments_read(&signature, arguments, count, names, values) ||
        !take_condition(request, values[0]) ||
        !held_take_optional(&request->low, values[1], "key") ||
        !held_take_optional(&request->high, values[2], "key") ||
        (values[4] != NULL && values[4] != Py_None &&
         !number_of(values[4], "limit", UINT64_MAX, &request->limit)))
        return false;
    request->is_backward = truth_of(values[5]);
    /* Last, because numbers and truth values may run code that closes the snapshot. */
    return request->is_backward >= 0 && snapshot_of(values[3], store, &request->snapshot);
}

struct prepared {
    struct bb_key_range range;
    struct bb_select_options options;
};

static void prepare(const struct request *request, struct prepared *ret)
{
    ret->range = (struct bb_key_range){
        .low = request->low.owner != NULL ? &request->low.bytes : NULL,
        .high = request->high.owner != NULL ? &request->high.bytes : NULL,
    };
    ret->options = (struct bb_select_options){
        .where = request->where != NULL ? PyBytes_AsString(request->where) : NULL,
        .range = &ret->range,
        .snapshot = request->snapshot != NULL ? request->snapshot->handle : NULL,
        .backward = request->is_backward > 0,
        .limit = request->limit,
    };
}

/* Opens a copy of the store's schema, and the selection, which the schema must outlive. */
static enum bb_status open_handles(struct bb_db *db, struct bb_select_options *options,
                                   struct bb_schema **ret_schema, struct bb_select **ret_select)
{
    struct bb_schema *schema = NULL;
    enum bb_status status = bb_db_schema(db, &schema);
    options->schema = schema;
    if (status == BB_OK)
        status = bb_db_select(db, options, ret_select);
    if (status != BB_OK)
        bb_schema_destroy(schema);
    else
        *ret_schema = schema;
    return status;
}

static PyObject *open_selection(struct store *store, struct request *request)
{
    struct prepared prepared;
    struct bb_schema *schema = NULL;
    struct bb_select *handle = NULL;
    enum bb_status status = BB_OK;
    if (!store_check(store))
        return NULL;
    prepare(request, &prepared);
    STORE_CALL(store, status = open_handles(store->db, &prepared.options, &schema, &handle));
    if (status != BB_OK)
        return fail(status);
    struct selection *selection = (struct selection *)PyType_GenericNew(selection_type, NULL, NULL);
    if (selection == NULL) {
        bb_select_destroy(handle);
        bb_schema_destroy(schema);
        return NULL;
    }
    selection->handle = handle;
    selection->schema = schema;
    child_attach(&selection->child, store, release);
    return (PyObject *)selection;
}

/* Keeps other threads from releasing the snapshot: by 1 before the call, by -1 after it. */
static void use_snapshot(struct request *request, int by)
{
    if (request->snapshot != NULL)
        request->snapshot->child.users += by;
}

PyObject *store_select(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                       PyObject *names)
{
    struct store *store = (struct store *)self;
    struct request request;
    PyObject *selection = NULL;
    if (request_take(&request, store, "select", arguments, count, names)) {
        use_snapshot(&request, 1);
        selection = open_selection(store, &request);
        use_snapshot(&request, -1);
    }
    request_drop(&request);
    return selection;
}

static PyObject *count_records(struct store *store, struct request *request)
{
    struct prepared prepared;
    uint64_t records = 0;
    enum bb_status status = BB_OK;
    if (!store_check(store))
        return NULL;
    prepare(request, &prepared);
    STORE_CALL(store, status = bb_db_select_count(store->db, &prepared.options, &records, NULL));
    return status == BB_OK ? PyLong_FromUnsignedLongLong(records) : fail(status);
}

PyObject *store_count(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    struct store *store = (struct store *)self;
    struct request request;
    PyObject *result = NULL;
    if (request_take(&request, store, "count", arguments, count, names)) {
        use_snapshot(&request, 1);
        result = count_records(store, &request);
        use_snapshot(&request, -1);
    }
    request_drop(&request);
    return result;
}

/* ---- the iterator ---- */

static void selection_dealloc(PyObject *self)
{
    child_dealloc((struct child *)self);
}

static PyObject *record_of(const struct selection *selection)
{
    PyObject *key = bytes_from(bb_select_key(selection->handle));
    PyObject *value = bytes_from(bb_select_value(selection->handle));
    PyObject *pair = key != NULL && value != NULL ? PyTuple_Pack(2, key, value) : NULL;
    Py_XDECREF(key);
    Py_XDECREF(value);
    return pair;
}

static PyObject *selection_next(PyObject *self)
{
    struct selection *selection = (struct selection *)self;
    struct child *child = &selection->child;
    enum bb_status status = BB_OK;
    if (!child_begin(child, "selection"))
        return NULL;
    child->users++;
    STORE_CALL(child->store, status = bb_select_next(selection->handle, &selection->has_record));
    child->users--;
    if (status != BB_OK)
        return fail(status);
    return selection->has_record ? record_of(selection) : NULL;
}

static bool check_record(struct selection *selection)
{
    if (!child_begin(&selection->child, "selection"))
        return false;
    if (selection->has_record)
        return true;
    fail_with(BB_INVALID, "the selection is at no record");
    return false;
}

/* None for an attribute that the record does not have. */
static PyObject *attribute_of(const struct bb_attribute *attribute)
{
    if (attribute->state != BB_ATTRIBUTE_PRESENT) {
        Py_INCREF(Py_None);
        return Py_None;
    }
    switch (attribute->type) {
    case BB_ATTRIBUTE_BYTES:
        return bytes_from(attribute->as.bytes);
    case BB_ATTRIBUTE_I64:
    case BB_ATTRIBUTE_TIME:
        return PyLong_FromLongLong(attribute->as.i64);
    case BB_ATTRIBUTE_U64:
        return PyLong_FromUnsignedLongLong(attribute->as.u64);
    case BB_ATTRIBUTE_F64:
        return PyFloat_FromDouble(attribute->as.f64);
    }
    return fail_with(BB_UNSUPPORTED, "an attribute has a type that this module does not know");
}

static PyObject *attributes_of(const struct bb_schema *schema,
                               const struct bb_attribute *attributes)
{
    PyObject *dictionary = PyDict_New();
    size_t count = bb_schema_count(schema);
    for (size_t i = 0; dictionary != NULL && i < count; i++) {
        PyObject *value = attribute_of(&attributes[i]);
        if (value == NULL ||
            PyDict_SetItemString(dictionary, bb_schema_name(schema, i), value) != 0)
            Py_CLEAR(dictionary);
        Py_XDECREF(value);
    }
    return dictionary;
}

static PyObject *selection_attributes(PyObject *self, void *nothing)
{
    struct selection *selection = (struct selection *)self;
    const struct bb_attribute *attributes = NULL;
    (void)nothing;
    if (!check_record(selection))
        return NULL;
    enum bb_status status = bb_select_attributes(selection->handle, &attributes);
    return status == BB_OK ? attributes_of(selection->schema, attributes) : fail(status);
}

#define ACCOUNT(name) FIELD(bb_select_account, U64, name)
static const struct field account_fields[] = {
    ACCOUNT(tables),           ACCOUNT(tables_indexed),   ACCOUNT(tables_excluded),
    ACCOUNT(granules),         ACCOUNT(granules_read),    ACCOUNT(granules_excluded),
    ACCOUNT(blocks_read),      ACCOUNT(data_reads),       ACCOUNT(data_read_bytes),
    ACCOUNT(index_reads),      ACCOUNT(index_read_bytes), ACCOUNT(damaged_indexes),
    ACCOUNT(records_examined), ACCOUNT(records_matching), ACCOUNT(records_returned),
    ACCOUNT(nanoseconds),
};

static PyObject *selection_account(PyObject *self, void *nothing)
{
    struct selection *selection = (struct selection *)self;
    struct bb_select_account account;
    (void)nothing;
    if (!child_begin(&selection->child, "selection"))
        return NULL;
    bb_select_account(selection->handle, &account);
    return fields_get(account_fields, sizeof(account_fields) / sizeof(account_fields[0]), &account);
}

static PyObject *selection_close(PyObject *self, PyObject *nothing)
{
    struct child *child = (struct child *)self;
    (void)nothing;
    if (child->users > 0)
        return fail_with(BB_BUSY, "another thread uses the selection");
    child_release(child);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"close", selection_close, METH_NOARGS, "close($self)\n--\n\nEnds the selection. Idempotent."},
    WITH_METHODS,
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"attributes", selection_attributes, NULL, NULL, NULL},
    {"account", selection_account, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, selection_dealloc},
    {Py_tp_traverse, child_traverse},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, selection_next},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

PyType_Spec selection_spec = {
    "bloomblock._native.Selection", sizeof(struct selection), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
