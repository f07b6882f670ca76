/* Methods of a store for its attributes and its skip indexes (bb/select.h). */
#include "store_methods.h"

static PyObject *result_of(enum bb_status status)
{
    if (status != BB_OK)
        return fail(status);
    Py_RETURN_NONE;
}

/* A text as a terminated string in a bytes object. */
static PyObject *text_of(PyObject *object, const char *what)
{
    if (!PyUnicode_Check(object))
        return PyErr_Format(PyExc_TypeError, "%s is a text, not %R", what, object);
    return terminated_text(object);
}

static PyObject *with_text(PyObject *self, PyObject *object, const char *what,
                           enum bb_status (*function)(struct bb_db *db, const char *text))
{
    struct store *store = (struct store *)self;
    enum bb_status status = BB_OK;
    PyObject *result = NULL;
    PyObject *text = text_of(object, what);
    if (text != NULL && store_check(store)) {
        const char *string = PyBytes_AsString(text);
        STORE_CALL(store, status = function(store->db, string));
        result = result_of(status);
    }
    Py_XDECREF(text);
    return result;
}

PyObject *store_create_attribute(PyObject *self, PyObject *definition)
{
    return with_text(self, definition, "a definition", bb_db_attribute_create);
}

PyObject *store_drop_attribute(PyObject *self, PyObject *name)
{
    return with_text(self, name, "a name", bb_db_attribute_drop);
}

PyObject *store_drop_index(PyObject *self, PyObject *name)
{
    return with_text(self, name, "a name", bb_db_index_drop);
}

PyObject *store_create_index(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                             PyObject *names)
{
    static const struct signature signature = {"create_index", 2, 2, {"name", "spec"}};
    struct store *store = (struct store *)self;
    PyObject *values[2];
    enum bb_status status = BB_OK;
    PyObject *result = NULL;
    if (!arguments_read(&signature, arguments, count, names, values))
        return NULL;
    PyObject *name = text_of(values[0], "a name");
    PyObject *spec = name != NULL ? text_of(values[1], "a specification") : NULL;
    if (spec != NULL && store_check(store)) {
        const char *of_name = PyBytes_AsString(name);
        const char *of_spec = PyBytes_AsString(spec);
        STORE_CALL(store, status = bb_db_index_create(store->db, of_name, of_spec));
        result = result_of(status);
    }
    Py_XDECREF(name);
    Py_XDECREF(spec);
    return result;
}

PyObject *store_materialize_indexes(PyObject *self, PyObject *nothing)
{
    struct store *store = (struct store *)self;
    enum bb_status status = BB_OK;
    (void)nothing;
    if (!store_check(store))
        return NULL;
    STORE_CALL(store, status = bb_db_index_materialize(store->db, NULL));
    return result_of(status);
}

PyObject *store_attributes(PyObject *self, PyObject *nothing)
{
    struct store *store = (struct store *)self;
    struct bb_schema *schema = NULL;
    enum bb_status status = BB_OK;
    (void)nothing;
    if (!store_check(store))
        return NULL;
    STORE_CALL(store, status = bb_db_schema(store->db, &schema));
    if (status != BB_OK)
        return fail(status);
    size_t count = bb_schema_count(schema);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *text = PyUnicode_FromString(bb_schema_definition(schema, i));
        if (text == NULL || PyList_SetItem(list, (Py_ssize_t)i, text) != 0)
            Py_CLEAR(list);
    }
    bb_schema_destroy(schema);
    return list;
}

static const struct field index_fields[] = {
    FIELD(bb_db_index, U64, tables),         FIELD(bb_db_index, U64, tables_built),
    FIELD(bb_db_index, U64, tables_pending), FIELD(bb_db_index, U64, size_bytes),
    FIELD(bb_db_index, U64, granules),
};

static bool add_text(PyObject *dictionary, const char *name, const char *text)
{
    PyObject *value = PyUnicode_FromString(text);
    bool is_added = value != NULL && PyDict_SetItemString(dictionary, name, value) == 0;
    Py_XDECREF(value);
    return is_added;
}

static PyObject *index_of(const struct bb_db_index *index)
{
    PyObject *entry =
        fields_get(index_fields, sizeof(index_fields) / sizeof(index_fields[0]), index);
    if (entry != NULL &&
        (!add_text(entry, "name", index->name) || !add_text(entry, "spec", index->spec)))
        Py_CLEAR(entry);
    return entry;
}

PyObject *store_indexes(PyObject *self, PyObject *nothing)
{
    struct store *store = (struct store *)self;
    struct bb_db_index_list indexes = {0};
    enum bb_status status = BB_OK;
    (void)nothing;
    if (!store_check(store))
        return NULL;
    STORE_CALL(store, status = bb_db_index_list(store->db, &indexes));
    if (status != BB_OK)
        return fail(status);
    PyObject *list = PyList_New((Py_ssize_t)indexes.count);
    for (size_t i = 0; list != NULL && i < indexes.count; i++) {
        PyObject *index = index_of(&indexes.indexes[i]);
        if (index == NULL || PyList_SetItem(list, (Py_ssize_t)i, index) != 0)
            Py_CLEAR(list);
    }
    bb_db_index_list_deinit(&indexes);
    return list;
}
