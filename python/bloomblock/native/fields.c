/* Structs of the library as dictionaries, and keywords as structs of options. */
#include "module.h"

#include <string.h>

/* The words of a field, with commas. */
static PyObject *words_text(const struct field *field)
{
    PyObject *text = PyUnicode_FromString("");
    for (int i = 0; text != NULL && field->words[i] != NULL; i++) {
        if (field->words[i][0] == '\0')
            continue;
        PyObject *longer = PyUnicode_FromFormat(
            "%U%s%s", text, PyUnicode_GetLength(text) > 0 ? ", " : "", field->words[i]);
        Py_DECREF(text);
        text = longer;
    }
    return text;
}

static bool fail_word(const struct field *field, PyObject *value)
{
    PyObject *words = words_text(field);
    if (words != NULL && PyUnicode_Check(value))
        fail_invalid("%s: %R is not one of the words %U", field->name, value, words);
    else if (words != NULL)
        PyErr_Format(PyExc_TypeError, "%s is one of the words %U, not %R", field->name, words,
                     (PyObject *)Py_TYPE(value));
    Py_XDECREF(words);
    return false;
}

static bool set_word(const struct field *field, void *place, PyObject *value)
{
    if (PyUnicode_Check(value)) {
        for (int i = 0; field->words[i] != NULL; i++)
            if (field->words[i][0] != '\0' &&
                PyUnicode_CompareWithASCIIString(value, field->words[i]) == 0) {
                memcpy(place, &(unsigned){(unsigned)i}, sizeof(unsigned));
                return true;
            }
    }
    return fail_word(field, value);
}

static bool set_filter_kind(const struct field *field, void *place, PyObject *value, uint32_t kinds)
{
    enum bb_filter_kind kind = BB_FILTER_DEFAULT;
    PyObject *text = PyUnicode_Check(value) ? terminated_text(value) : NULL;
    if (text == NULL && PyErr_Occurred() == NULL)
        PyErr_Format(PyExc_TypeError, "%s is a text, not %R", field->name,
                     (PyObject *)Py_TYPE(value));
    else if (text == NULL && PyErr_ExceptionMatches(PyExc_ValueError)) {
        PyErr_Clear();
        fail_invalid("%s: a text with a NUL", field->name);
    }
    if (text == NULL)
        return false;
    enum bb_status status = bb_filter_kind_find(PyBytes_AsString(text), kinds, &kind);
    Py_DECREF(text);
    memcpy(place, &kind, sizeof(kind));
    if (status != BB_OK)
        fail_invalid("%s: %s", field->name, bb_error_last()->message);
    return status == BB_OK;
}

/* ("bits-per-key", 10) */
static bool set_filter_amount(void *place, PyObject *value)
{
    static const char *const units[] = {"wasted-reads", "bytes", "bits-per-key", NULL};
    const struct field unit = {"filter_amount", 0, FIELD_WORD, units};
    struct bb_filter_amount amount = {BB_FILTER_WASTED_READS, 0};
    if (!PyTuple_Check(value) || PyTuple_Size(value) != 2) {
        PyErr_Format(PyExc_TypeError, "filter_amount is a pair of a unit and a number, not %R",
                     value);
        return false;
    }
    if (!set_word(&unit, &amount.unit, PyTuple_GetItem(value, 0)) ||
        !real_of(PyTuple_GetItem(value, 1), "the number of filter_amount", &amount.value))
        return false;
    memcpy(place, &amount, sizeof(amount));
    return true;
}

static bool set_number(const struct field *field, void *place, PyObject *value)
{
    uint64_t number = 0;
    bool is_small = field->kind == FIELD_U32;
    if (!number_of(value, field->name, is_small ? UINT32_MAX : UINT64_MAX, &number))
        return false;
    if (is_small)
        memcpy(place, &(uint32_t){(uint32_t)number}, sizeof(uint32_t));
    else
        memcpy(place, &number, sizeof(number));
    return true;
}

static bool set_bool(void *place, PyObject *value)
{
    int truth = PyObject_IsTrue(value);
    if (truth < 0)
        return false;
    memcpy(place, &(bool){truth != 0}, sizeof(bool));
    return true;
}

static bool set_comparator(void *place, PyObject *value)
{
    const struct bb_comparator *comparator = NULL;
    if (!comparator_of(value, &comparator))
        return false;
    memcpy(place, &comparator, sizeof(comparator));
    return true;
}

static bool set_real(const struct field *field, void *place, PyObject *value)
{
    double number = 0;
    if (!real_of(value, field->name, &number))
        return false;
    memcpy(place, &number, sizeof(number));
    return true;
}

bool field_set(const struct field *field, void *object, PyObject *value)
{
    char *place = (char *)object + field->offset;
    switch (field->kind) {
    case FIELD_U64:
    case FIELD_U32:
        return set_number(field, place, value);
    case FIELD_BOOL:
        return set_bool(place, value);
    case FIELD_REAL:
        return set_real(field, place, value);
    case FIELD_WORD:
        return set_word(field, place, value);
    case FIELD_FILTER_KIND:
        return set_filter_kind(field, place, value, BB_FILTER_KINDS_OF_SETS);
    case FIELD_TABLE_FILTER_KIND:
        return set_filter_kind(field, place, value, BB_FILTER_KINDS_OF_TABLES);
    case FIELD_FILTER_AMOUNT:
        return set_filter_amount(place, value);
    case FIELD_COMPARATOR:
        return set_comparator(place, value);
    }
    return false;
}

static const struct field *find(const struct field *fields, size_t count, PyObject *name)
{
    for (size_t i = 0; i < count; i++)
        if (PyUnicode_CompareWithASCIIString(name, fields[i].name) == 0)
            return &fields[i];
    return NULL;
}

bool fields_set(const struct field *fields, size_t count, void *object, PyObject *values,
                const char *function)
{
    PyObject *name = NULL;
    PyObject *value = NULL;
    Py_ssize_t place = 0;
    while (values != NULL && PyDict_Next(values, &place, &name, &value)) {
        const struct field *field = find(fields, count, name);
        if (field == NULL) {
            PyErr_Format(PyExc_TypeError, "%s() has no parameter %R", function, name);
            return false;
        }
        if (value != Py_None && !field_set(field, object, value))
            return false;
    }
    return true;
}

static PyObject *get_number(const struct field *field, const void *place)
{
    uint64_t number = 0;
    uint32_t small = 0;
    if (field->kind == FIELD_U64)
        memcpy(&number, place, sizeof(number));
    else
        memcpy(&small, place, sizeof(small));
    return PyLong_FromUnsignedLongLong(number + small);
}

static PyObject *get_word(const struct field *field, const void *place)
{
    unsigned value = 0;
    memcpy(&value, place, sizeof(value));
    if (field->kind == FIELD_WORD)
        return PyUnicode_FromString(field->words[value]);
    const char *name = bb_filter_kind_name((enum bb_filter_kind)value);
    return PyUnicode_FromString(name != NULL ? name : "unknown");
}

static PyObject *field_get(const struct field *field, const void *object)
{
    const char *place = (const char *)object + field->offset;
    double real = 0;
    bool truth = false;
    switch (field->kind) {
    case FIELD_U64:
    case FIELD_U32:
        return get_number(field, place);
    case FIELD_BOOL:
        memcpy(&truth, place, sizeof(truth));
        return PyBool_FromLong(truth);
    case FIELD_REAL:
        memcpy(&real, place, sizeof(real));
        return PyFloat_FromDouble(real);
    case FIELD_WORD:
    case FIELD_FILTER_KIND:
    case FIELD_TABLE_FILTER_KIND:
        return get_word(field, place);
    case FIELD_FILTER_AMOUNT:
    case FIELD_COMPARATOR:
        break;
    }
    return NULL;
}

PyObject *fields_get(const struct field *fields, size_t count, const void *object)
{
    PyObject *dictionary = PyDict_New();
    for (size_t i = 0; dictionary != NULL && i < count; i++) {
        PyObject *value = field_get(&fields[i], object);
        if (value == NULL || PyDict_SetItemString(dictionary, fields[i].name, value) != 0)
            Py_CLEAR(dictionary);
        Py_XDECREF(value);
    }
    return dictionary;
}
