/* The type FilterBuilder: collects keys and makes a filter of them. */
#include "filter.h"

PyTypeObject *filter_builder_type;

struct filter_builder {
    PyObject_HEAD struct bb_filter_builder *handle;
    struct bb_hash_secret secret;
    uint64_t planned_key_count; /* 0: for the keys that it gets */
    bool is_used;
};

static const struct field option_fields[] = {
    FIELD(bb_filter_options, FILTER_KIND, kind),
    FIELD_AS(bb_filter_options, REAL, "rate", target_rate),
    FIELD(bb_filter_options, REAL, slack),
    FIELD(bb_filter_options, U64, salt),
};

/* values: kind, rate, slack, salt. */
static bool read_options(PyObject *const *values, struct bb_filter_options *ret_options)
{
    *ret_options = (struct bb_filter_options){0};
    for (size_t i = 0; i < sizeof(option_fields) / sizeof(option_fields[0]); i++)
        if (values[i] != NULL && !field_set(&option_fields[i], ret_options, values[i]))
            return false;
    return true;
}

/* Sizes a filter of a Bloom kind for that number of keys, whichever number it gets. */
static enum bb_status plan(uint64_t key_count, struct bb_filter_options *options)
{
    struct bb_filter_question question = {
        .kind = options->kind, .key_count = key_count, .target_rate = options->target_rate};
    struct bb_filter_plan plan;
    if (!(question.target_rate > 0))
        question.target_rate = 0.01; /* the builder's default */
    enum bb_status status = bb_filter_plan(&question, &plan);
    if (status == BB_OK)
        memcpy(options->parameters, plan.parameters, sizeof(options->parameters));
    return status;
}

/* *ret_count: 0 if no number is given, or the kind has no size to be planned. */
static bool plan_keys(PyObject *keys, struct bb_filter_options *options, uint64_t *ret_count)
{
    uint64_t count = 0;
    *ret_count = 0;
    if (keys == NULL || keys == Py_None)
        return true;
    if (!number_of(keys, "planned_keys", UINT64_MAX, &count))
        return false;
    if (count == 0)
        return fail_invalid("planned_keys: 0 is no plan; without planned_keys a filter is sized "
                            "for the keys that it gets") != NULL;
    enum bb_status status = plan(count, options);
    if (status != BB_OK)
        return fail(status) != NULL;
    if (options->parameters[0] != 0)
        *ret_count = count;
    return true;
}

enum bb_status filter_begin_planned(const struct bb_filter_file *file, const uint64_t *hashes,
                                    size_t count, struct bb_buf *envelope, uint64_t *ret_inserted)
{
    struct bb_filter_info info;
    struct bb_filter_builder *builder = NULL;
    enum bb_status status = bb_filter_info(file->envelope, &info);
    if (status != BB_OK)
        return status;
    struct bb_filter_options options = {
        .kind = info.kind, .target_rate = info.target_rate, .salt = info.salt};
    status = plan(file->planned_key_count, &options);
    if (status == BB_OK)
        status = bb_filter_builder_create(&options, &builder);
    for (size_t i = 0; i < count && status == BB_OK; i++)
        status = bb_filter_builder_add(builder, hashes[i]);
    bb_buf_deinit(envelope);
    if (status == BB_OK)
        status = bb_filter_builder_finish(builder, envelope);
    if (status == BB_OK)
        status = bb_filter_info((struct bb_bytes){envelope->data, envelope->size}, &info);
    if (status == BB_OK)
        *ret_inserted = info.key_count;
    bb_filter_builder_destroy(builder);
    return status;
}

bool filter_secret_read(PyObject *object, struct bb_hash_secret *ret_secret)
{
    struct held held;
    if (!held_take_optional(&held, object, "secret"))
        return false;
    if (held.owner == NULL) {
        enum bb_status status = bb_hash_secret_random(ret_secret);
        if (status != BB_OK)
            fail(status);
        return status == BB_OK;
    }
    bool fits = held.bytes.size == sizeof(ret_secret->bytes);
    if (fits)
        memcpy(ret_secret->bytes, held.bytes.data, sizeof(ret_secret->bytes));
    else
        fail_with(BB_INVALID, "a secret has 192 bytes");
    held_drop(&held);
    return fits;
}

static bool begin(struct filter_builder *builder, PyObject *const *values)
{
    struct bb_filter_options options;
    if (!read_options(values, &options) || !filter_secret_read(values[4], &builder->secret) ||
        !plan_keys(values[5], &options, &builder->planned_key_count))
        return false;
    enum bb_status status = bb_filter_builder_create(&options, &builder->handle);
    return status == BB_OK || fail(status) != NULL;
}

static int builder_init(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static const struct signature signature = {
        "FilterBuilder", 0, 0, {"kind", "rate", "slack", "salt", "secret", "planned_keys"}};
    struct filter_builder *builder = (struct filter_builder *)self;
    PyObject *values[BUILDER_OPTIONS];
    if (builder->handle != NULL) {
        PyErr_SetString(PyExc_TypeError, "FilterBuilder: __init__ is called once");
        return -1;
    }
    bool is_done =
        arguments_read_tuple(&signature, arguments, keywords, values) && begin(builder, values);
    return is_done ? 0 : -1;
}

static void builder_dealloc(PyObject *self)
{
    bb_filter_builder_destroy(((struct filter_builder *)self)->handle);
    object_free(self);
}

static bool check(struct filter_builder *builder)
{
    if (!builder->is_used && builder->handle != NULL)
        return true;
    fail_with(BB_BUSY, "another thread finishes the builder");
    return false;
}

static bool add_key(struct filter_builder *builder, PyObject *key)
{
    struct held held;
    if (!held_take(&held, key, "key"))
        return false;
    uint64_t hash = bb_hash_key(&builder->secret, held.bytes);
    held_drop(&held);
    if (!check(builder)) /* after held_take, which may run other threads */
        return false;
    enum bb_status status = bb_filter_builder_add(builder->handle, hash);
    if (status != BB_OK)
        fail(status);
    return status == BB_OK;
}

static PyObject *builder_add(PyObject *self, PyObject *key)
{
    if (!add_key((struct filter_builder *)self, key))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *builder_update(PyObject *self, PyObject *keys)
{
    PyObject *iterator = PyObject_GetIter(keys);
    PyObject *key = NULL;
    bool is_added = true;
    if (iterator == NULL)
        return NULL;
    while (is_added && (key = PyIter_Next(iterator)) != NULL) {
        is_added = add_key((struct filter_builder *)self, key);
        Py_DECREF(key);
    }
    Py_DECREF(iterator);
    if (PyErr_Occurred() != NULL)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *builder_finish(PyObject *self, PyObject *nothing)
{
    struct filter_builder *builder = (struct filter_builder *)self;
    struct bb_buf envelope = {0};
    enum bb_status status = BB_OK;
    (void)nothing;
    if (!check(builder))
        return NULL;
    builder->is_used = true;
    Py_BEGIN_ALLOW_THREADS;
    status = bb_filter_builder_finish(builder->handle, &envelope);
    Py_END_ALLOW_THREADS;
    builder->is_used = false;
    PyObject *filter = status == BB_OK
                           ? filter_of(&builder->secret, builder->planned_key_count, &envelope)
                           : fail(status);
    bb_buf_deinit(&envelope);
    return filter;
}

PyObject *filter_builder_build(PyObject *const *options, PyObject *keys)
{
    PyObject *builder = PyType_GenericNew(filter_builder_type, NULL, NULL);
    PyObject *filter = NULL;
    if (builder != NULL && begin((struct filter_builder *)builder, options)) {
        PyObject *added = builder_update(builder, keys);
        filter = added != NULL ? builder_finish(builder, NULL) : NULL;
        Py_XDECREF(added);
    }
    Py_XDECREF(builder);
    return filter;
}

ONE_PARAMETER(builder_add, "add", "key")
ONE_PARAMETER(builder_update, "update", "keys")

static PyMethodDef methods[] = {
    {"add", METHOD(builder_add_named), FAST, "add($self, key)\n--\n\nAdds a key."},
    {"update", METHOD(builder_update_named), FAST, "update($self, keys)\n--\n\nAdds many keys."},
    {"finish", builder_finish, METH_NOARGS,
     "finish($self)\n--\n\nThe filter of the keys. The builder is then empty."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_init, builder_init},
    {Py_tp_dealloc, builder_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec filter_builder_spec = {"bloomblock._native.FilterBuilder",
                                   sizeof(struct filter_builder), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
