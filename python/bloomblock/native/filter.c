/* The type Filter: the contents of a filter file (docs/format-filter-file.md) in memory, and a view
 * that probes it. The contents are a bytes object, which never changes: insert() replaces it. */
#include "filter.h"
#include "store_methods.h"

PyTypeObject *filter_type;

struct filter {
    PyObject_HEAD PyObject *contents;
    struct bb_filter_file file; /* its envelope is in contents */
    struct bb_filter_view view;
};

static bool set_contents(struct filter *filter, PyObject *contents)
{
    struct held held;
    struct bb_filter_file file;
    struct bb_filter_view view;
    if (!held_take(&held, contents, "filter"))
        return false;
    enum bb_status status = bb_filter_file_decode(held.bytes, &file);
    if (status == BB_OK)
        status = bb_filter_view_init(&view, file.envelope);
    if (status != BB_OK) {
        fail(status);
        held_drop(&held);
        return false;
    }
    Py_XDECREF(filter->contents);
    filter->contents = held.owner;
    filter->file = file;
    filter->view = view;
    return true;
}

static PyObject *filter_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static const struct signature signature = {"Filter", 1, 1, {"contents"}};
    PyObject *contents = NULL;
    if (!arguments_read_tuple(&signature, arguments, keywords, &contents))
        return NULL;
    struct filter *filter = (struct filter *)PyType_GenericNew(type, NULL, NULL);
    if (filter != NULL && !set_contents(filter, contents))
        Py_CLEAR(filter);
    return (PyObject *)filter;
}

static void filter_dealloc(PyObject *self)
{
    Py_XDECREF(((struct filter *)self)->contents);
    object_free(self);
}

static PyObject *encoded(const struct bb_filter_file *file)
{
    struct bb_buf buf = {0};
    enum bb_status status = bb_filter_file_encode(file, &buf);
    if (status == BB_OK)
        return bytes_from_buf(&buf);
    fail(status);
    bb_buf_deinit(&buf);
    return NULL;
}

/* A new filter with the fields of a filter file and another envelope. */
static PyObject *with_envelope(const struct bb_filter_file *like, const struct bb_buf *envelope)
{
    struct bb_filter_file file = *like;
    file.envelope = (struct bb_bytes){envelope->data, envelope->size};
    PyObject *contents = encoded(&file);
    PyObject *filter = contents != NULL
                           ? PyObject_CallFunctionObjArgs((PyObject *)filter_type, contents, NULL)
                           : NULL;
    Py_XDECREF(contents);
    return filter;
}

PyObject *filter_of(const struct bb_hash_secret *secret, uint64_t planned_key_count,
                    const struct bb_buf *envelope)
{
    const struct bb_filter_file file = {
        .hash = BB_FILTER_HASH_KEYED, .secret = *secret, .planned_key_count = planned_key_count};
    return with_envelope(&file, envelope);
}

/* ---- probing ---- */

static int filter_contains(PyObject *self, PyObject *key)
{
    struct filter *filter = (struct filter *)self;
    struct held held;
    if (!held_take(&held, key, "key"))
        return -1;
    bool may_contain =
        bb_filter_may_contain(&filter->view, bb_filter_file_hash(&filter->file, held.bytes));
    held_drop(&held);
    return may_contain;
}

/* The hashes of keys, owned: PyMem_Free. NULL with an exception. */
static uint64_t *hash_keys(const struct filter *filter, PyObject *keys, Py_ssize_t *ret_count)
{
    PyObject *list = PySequence_List(keys);
    Py_ssize_t count = list != NULL ? PyList_Size(list) : 0;
    uint64_t *hashes = list != NULL ? PyMem_Calloc((size_t)count + 1, sizeof(*hashes)) : NULL;
    if (list != NULL && hashes == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; hashes != NULL && i < count; i++) {
        struct held held;
        if (!held_take(&held, PyList_GetItem(list, i), "key")) {
            PyMem_Free(hashes);
            hashes = NULL;
            break;
        }
        hashes[i] = bb_filter_file_hash(&filter->file, held.bytes);
        held_drop(&held);
    }
    Py_XDECREF(list);
    *ret_count = count;
    return hashes;
}

static PyObject *truths_of(const uint64_t *bits, Py_ssize_t count)
{
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; list != NULL && i < count; i++)
        PyList_SetItem(list, i, PyBool_FromLong((bits[i / 64] >> (i % 64)) & 1));
    return list;
}

static PyObject *filter_contains_many(PyObject *self, PyObject *keys)
{
    struct filter *filter = (struct filter *)self;
    Py_ssize_t count = 0;
    uint64_t *hashes = hash_keys(filter, keys, &count);
    if (hashes == NULL)
        return NULL;
    PyObject *list = NULL;
    uint64_t *bits = PyMem_Calloc((size_t)count / 64 + 1, sizeof(*bits));
    if (bits != NULL) {
        bb_filter_may_contain_many(&filter->view, hashes, (size_t)count, bits);
        list = truths_of(bits, count);
    } else {
        PyErr_NoMemory();
    }
    PyMem_Free(bits);
    PyMem_Free(hashes);
    return list;
}

/* ---- changing and combining ---- */

static enum bb_status insert(const struct filter *filter, const uint64_t *hashes, size_t count,
                             struct bb_buf *envelope, uint64_t *ret_inserted)
{
    enum bb_status status = bb_buf_assign(envelope, filter->file.envelope);
    if (status == BB_OK)
        status = bb_filter_insert(envelope, hashes, count, ret_inserted);
    /* A filter of no keys has no bits: the plan has their number. */
    if (status == BB_INVALID && filter->file.planned_key_count != 0)
        status = filter_begin_planned(&filter->file, hashes, count, envelope, ret_inserted);
    return status;
}

/* The library's message for a counting filter names functions that Python does not have. */
static void fail_insert(enum bb_status status)
{
    if (status == BB_UNSUPPORTED)
        fail_with(status,
                  "insert() takes filters of the kinds bloom, blocked-bloom, split-block and "
                  "partitioned; in Python others are built of their keys as a whole");
    else
        fail(status);
}

static PyObject *filter_insert(PyObject *self, PyObject *keys)
{
    struct filter *filter = (struct filter *)self;
    struct bb_buf envelope = {0};
    uint64_t inserted = 0;
    Py_ssize_t count = 0;
    PyObject *contents = NULL;
    uint64_t *hashes = hash_keys(filter, keys, &count);
    if (hashes == NULL)
        return NULL;
    enum bb_status status = insert(filter, hashes, (size_t)count, &envelope, &inserted);
    if (status == BB_OK) {
        struct bb_filter_file file = filter->file;
        file.envelope = (struct bb_bytes){envelope.data, envelope.size};
        contents = encoded(&file);
    } else {
        fail_insert(status);
    }
    bool is_done = contents != NULL && set_contents(filter, contents);
    Py_XDECREF(contents);
    bb_buf_deinit(&envelope);
    PyMem_Free(hashes);
    return is_done ? PyLong_FromUnsignedLongLong(inserted) : NULL;
}

/* Filters can be compared only if their keys have the same hashes. */
static struct filter *comparable(PyObject *self, PyObject *other)
{
    const struct filter *one = (const struct filter *)self;
    if (!PyObject_TypeCheck(other, filter_type)) {
        PyErr_Format(PyExc_TypeError, "a filter is expected, not %R", other);
        return NULL;
    }
    struct filter *two = (struct filter *)other;
    if (one->file.hash == two->file.hash &&
        memcmp(&one->file.secret, &two->file.secret, sizeof(one->file.secret)) == 0)
        return two;
    fail_with(BB_INVALID, "the filters have different secrets: build both with the same one "
                          "(secret=first.secret)");
    return NULL;
}

static PyObject *filter_union(PyObject *self, PyObject *object)
{
    const struct filter *filter = (const struct filter *)self;
    const struct filter *other = comparable(self, object);
    struct bb_buf envelope = {0};
    if (other == NULL)
        return NULL;
    enum bb_status status = bb_filter_union(filter->file.envelope, other->file.envelope, &envelope);
    /* The union has the size of one of them, and so its plan. */
    bool is_as_other = envelope.size != filter->file.envelope.size;
    const struct bb_filter_file *like = is_as_other ? &other->file : &filter->file;
    PyObject *result = status == BB_OK ? with_envelope(like, &envelope) : fail(status);
    bb_buf_deinit(&envelope);
    return result;
}

static PyObject *filter_or(PyObject *first, PyObject *second)
{
    if (PyObject_TypeCheck(first, filter_type) && PyObject_TypeCheck(second, filter_type))
        return filter_union(first, second);
    Py_INCREF(Py_NotImplemented);
    return Py_NotImplemented;
}

static PyObject *estimate_of(const struct bb_filter_estimate *estimate)
{
    return Py_BuildValue("(dd)", estimate->value, estimate->standard_error);
}

static PyObject *filter_estimate_keys(PyObject *self, PyObject *nothing)
{
    struct bb_filter_estimate estimate;
    (void)nothing;
    enum bb_status status =
        bb_filter_estimate_keys(((struct filter *)self)->file.envelope, &estimate);
    return status == BB_OK ? estimate_of(&estimate) : fail(status);
}

static PyObject *filter_compare(PyObject *self, PyObject *object)
{
    const struct filter *other = comparable(self, object);
    struct bb_filter_comparison by;
    if (other == NULL)
        return NULL;
    enum bb_status status =
        bb_filter_compare(((struct filter *)self)->file.envelope, other->file.envelope, &by);
    if (status != BB_OK)
        return fail(status);
    return Py_BuildValue("{sNsNsNsNsNsNsN}", "first", estimate_of(&by.first), "second",
                         estimate_of(&by.second), "either", estimate_of(&by.either), "both",
                         estimate_of(&by.both), "first_only", estimate_of(&by.first_only),
                         "second_only", estimate_of(&by.second_only), "jaccard",
                         estimate_of(&by.jaccard));
}

/* ---- files ---- */

static PyObject *filter_save(PyObject *self, PyObject *object)
{
    struct filter *filter = (struct filter *)self;
    PyObject *path = path_from(object);
    if (path == NULL)
        return NULL;
    const struct bb_filter_file file = filter->file;
    PyObject *contents = filter->contents; /* insert() in another thread replaces them */
    const char *text = path_text(path);
    enum bb_status status = BB_OK;
    Py_INCREF(contents);
    Py_BEGIN_ALLOW_THREADS;
    status = bb_filter_file_save(NULL, text, &file);
    Py_END_ALLOW_THREADS;
    if (status != BB_OK)
        fail(status);
    Py_DECREF(contents);
    Py_DECREF(path);
    if (status != BB_OK)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *filter_load(PyObject *nothing, PyObject *object)
{
    struct bb_buf buf = {0};
    struct bb_filter_file file;
    enum bb_status status = BB_OK;
    (void)nothing;
    PyObject *path = path_from(object);
    if (path == NULL)
        return NULL;
    const char *text = path_text(path);
    Py_BEGIN_ALLOW_THREADS;
    status = bb_filter_file_load(NULL, text, &buf, &file);
    Py_END_ALLOW_THREADS;
    if (status != BB_OK)
        fail(status);
    Py_DECREF(path);
    if (status != BB_OK)
        return NULL;
    PyObject *contents = bytes_from_buf(&buf);
    PyObject *filter = contents != NULL
                           ? PyObject_CallFunctionObjArgs((PyObject *)filter_type, contents, NULL)
                           : NULL;
    Py_XDECREF(contents);
    return filter;
}

/* Filter.build(keys, **options of FilterBuilder) */
static PyObject *filter_build(PyObject *nothing, PyObject *const *arguments, Py_ssize_t count,
                              PyObject *names)
{
    static const struct signature signature = {
        "build", 1, 1, {"keys", "kind", "rate", "slack", "salt", "secret", "planned_keys"}};
    PyObject *values[1 + BUILDER_OPTIONS];
    (void)nothing;
    if (!arguments_read(&signature, arguments, count, names, values))
        return NULL;
    return filter_builder_build(values + 1, values[0]);
}

/* ---- descriptions ---- */

static const struct field info_fields[] = {
    FIELD(bb_filter_info, FILTER_KIND, kind),
    FIELD(bb_filter_info, U64, key_count),
    FIELD(bb_filter_info, U64, size_bytes),
    FIELD(bb_filter_info, REAL, bits_per_key),
    FIELD(bb_filter_info, REAL, target_rate),
    FIELD(bb_filter_info, REAL, predicted_rate),
    FIELD(bb_filter_info, REAL, fill),
    FIELD(bb_filter_info, U32, bits_per_probe),
    FIELD(bb_filter_info, U64, saturated_count),
    FIELD(bb_filter_info, U32, stage_count),
    FIELD(bb_filter_info, U64, salt),
};

static PyObject *filter_info(PyObject *self, PyObject *nothing)
{
    struct bb_filter_info info;
    (void)nothing;
    enum bb_status status = bb_filter_info(((struct filter *)self)->file.envelope, &info);
    if (status != BB_OK)
        return fail(status);
    return fields_get(info_fields, sizeof(info_fields) / sizeof(info_fields[0]), &info);
}

static PyObject *filter_contents(PyObject *self, PyObject *nothing)
{
    PyObject *contents = ((struct filter *)self)->contents;
    (void)nothing;
    Py_INCREF(contents);
    return contents;
}

static PyObject *filter_secret(PyObject *self, void *nothing)
{
    const struct bb_hash_secret *secret = &((struct filter *)self)->file.secret;
    (void)nothing;
    return bytes_from((struct bb_bytes){secret->bytes, sizeof(secret->bytes)});
}

PyObject *filter_random_secret(PyObject *module, PyObject *nothing)
{
    struct bb_hash_secret secret;
    (void)module;
    (void)nothing;
    if (!filter_secret_read(NULL, &secret))
        return NULL;
    return bytes_from((struct bb_bytes){secret.bytes, sizeof(secret.bytes)});
}

static const struct field question_fields[] = {
    FIELD(bb_filter_question, FILTER_KIND, kind),
    FIELD_AS(bb_filter_question, U64, "keys", key_count),
    FIELD_AS(bb_filter_question, REAL, "rate", target_rate),
    FIELD_AS(bb_filter_question, U64, "size_bytes", size_bytes),
};

static const struct field plan_fields[] = {
    FIELD(bb_filter_plan, FILTER_KIND, kind),   FIELD(bb_filter_plan, U64, key_count),
    FIELD(bb_filter_plan, REAL, target_rate),   FIELD(bb_filter_plan, U64, size_bytes),
    FIELD(bb_filter_plan, REAL, bits_per_key),  FIELD(bb_filter_plan, REAL, predicted_rate),
    FIELD(bb_filter_plan, U32, bits_per_probe),
};

PyObject *filter_plan(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                      PyObject *names)
{
    static const struct signature signature = {
        "plan", 0, 0, {"kind", "keys", "rate", "size_bytes"}};
    struct bb_filter_question question = {0};
    struct bb_filter_plan plan;
    PyObject *values[4];
    (void)module;
    if (!arguments_read(&signature, arguments, count, names, values))
        return NULL;
    for (size_t i = 0; i < 4; i++)
        if (values[i] != NULL && !field_set(&question_fields[i], &question, values[i]))
            return NULL;
    enum bb_status status = bb_filter_plan(&question, &plan);
    if (status != BB_OK)
        return fail(status);
    return fields_get(plan_fields, sizeof(plan_fields) / sizeof(plan_fields[0]), &plan);
}

ONE_PARAMETER(filter_contains_many, "contains_many", "keys")
ONE_PARAMETER(filter_insert, "insert", "keys")
ONE_PARAMETER(filter_union, "union", "other")
ONE_PARAMETER(filter_compare, "compare", "other")
ONE_PARAMETER(filter_save, "save", "path")
ONE_PARAMETER(filter_load, "load", "path")

static PyMethodDef methods[] = {
    {"contains_many", METHOD(filter_contains_many_named), FAST,
     "contains_many($self, keys)\n--\n\nWhether the filter may contain each key."},
    {"insert", METHOD(filter_insert_named), FAST,
     "insert($self, keys)\n--\n\nAdds keys to a filter of the kinds bloom, blocked-bloom, "
     "split-block and partitioned. The number of keys that were new."},
    {"union", METHOD(filter_union_named), FAST,
     "union($self, other)\n--\n\nA filter of the keys of both."},
    {"estimate_keys", filter_estimate_keys, METH_NOARGS,
     "estimate_keys($self)\n--\n\nAn estimate of the number of keys and its standard error."},
    {"compare", METHOD(filter_compare_named), FAST,
     "compare($self, other)\n--\n\nEstimates of the union, the intersection and the differences of "
     "two sets."},
    {"info", filter_info, METH_NOARGS, "info($self)\n--\n\nA description of the filter."},
    {"save", METHOD(filter_save_named), FAST,
     "save($self, path)\n--\n\nWrites a filter file: mode 0600, synced, and renamed over an older "
     "one."},
    {"load", METHOD(filter_load_named), FAST | METH_STATIC,
     "load(path)\n--\n\nThe filter of a file."},
    {"build", METHOD(filter_build), FAST | METH_STATIC,
     "build(keys, *, kind='ribbon', rate=0.01, slack=0.0, salt=0, secret=None, "
     "planned_keys=None)\n--\n\n"
     "A filter of the keys."},
    {"to_bytes", filter_contents, METH_NOARGS,
     "to_bytes($self)\n--\n\nThe contents of a filter file, which include the secret."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"secret", filter_secret, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, filter_new},
    {Py_tp_dealloc, filter_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_sq_contains, filter_contains},
    {Py_nb_or, filter_or},
    {0, NULL},
};

PyType_Spec filter_spec = {"bloomblock._native.Filter", sizeof(struct filter), 0,
                           Py_TPFLAGS_DEFAULT, slots};
