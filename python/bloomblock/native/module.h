/* The extension module bloomblock._native: the types of <bb/...> as types of Python.
 *
 * It uses Python's stable ABI, so that one build serves every version from 3.11 on. The package's
 * other modules add the parts that need no speed.
 *
 * Threads. Code runs with the interpreter's lock, except in the calls that may block, around which
 * it is released (STORE_CALL). The lock guards all fields below; a flag is_used keeps an object
 * out of two such calls at a time.
 *
 * A function returns a new reference, or NULL (a flag: false) with an exception set. */
#ifndef BB_PYTHON_BLOOMBLOCK_NATIVE_MODULE_H
#define BB_PYTHON_BLOOMBLOCK_NATIVE_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stddef.h>

#include <bb/db.h>
#include <bb/db_files.h>
#include <bb/filter.h>
#include <bb/select.h>

/* Python's tables hold functions as void *, which ISO C does not know. */
#pragma GCC diagnostic ignored "-Wpedantic"

#define METHOD(function) ((PyCFunction)(void (*)(void))(function))
#define FAST             (METH_FASTCALL | METH_KEYWORDS)

/* ---- errors (error.c) ---- */

/* Reads the exceptions of the module bloomblock.errors. */
bool errors_init(void);
/* Raises the exception of the status with the library's message. Returns NULL. To be called before
 * any other call of the thread into the library. */
PyObject *fail(enum bb_status status);
/* Raises the exception of the status with this message. */
PyObject *fail_with(enum bb_status status, const char *message);
/* Raises InvalidError with a message of PyUnicode_FromFormat. */
PyObject *fail_invalid(const char *format, ...);

/* ---- arguments (arguments.c) ---- */

/* The parameters of a method: names in order, NULL at the end. The first `positional` may be given
 * without a name, the first `required` must be given. */
struct signature {
    const char *function;
    size_t required;
    size_t positional;
    const char *names[9];
};
/* The arguments of a FAST method, borrowed, by parameter; NULL if it was not given. */
bool arguments_read(const struct signature *signature, PyObject *const *arguments, Py_ssize_t count,
                    PyObject *names, PyObject **values);
/* The same of a tuple and a dictionary (NULL: none), as constructors have them. */
bool arguments_read_tuple(const struct signature *signature, PyObject *tuple, PyObject *dictionary,
                          PyObject **values);

/* Defines <method>_named: a FAST method of one parameter, over a function of self and its value. */
#define ONE_PARAMETER(method, function, parameter)                                                 \
    static PyObject *method##_named(PyObject *self, PyObject *const *arguments, Py_ssize_t count,  \
                                    PyObject *names)                                               \
    {                                                                                              \
        static const struct signature signature = {function, 1, 1, {parameter}};                   \
        PyObject *value = NULL;                                                                    \
        return arguments_read(&signature, arguments, count, names, &value) ? method(self, value)   \
                                                                           : NULL;                 \
    }

/* Bytes of an argument and the object that keeps them. */
struct held {
    struct bb_bytes bytes;
    PyObject *owner;
};
/* bytes are borrowed; other objects with the buffer protocol are copied, because another thread
 * could change them during the call. The name, such as "key", is for
 * the message of a TypeError. */
bool held_take(struct held *held, PyObject *object, const char *name);
void held_drop(struct held *held);
/* NULL and None: held->owner is NULL. */
bool held_take_optional(struct held *held, PyObject *object, const char *name);

/* A text in UTF-8 as a terminated string in a bytes object; a new reference. ValueError if it
 * contains a NUL. */
PyObject *terminated_text(PyObject *text);

PyObject *bytes_from(struct bb_bytes bytes);
PyObject *bytes_from_buf(struct bb_buf *buf);
/* A path as bytes in the file system's encoding. */
PyObject *path_from(PyObject *object);
const char *path_text(PyObject *path);
/* -1 with an exception, 0 or 1. NULL is 0. */
int truth_of(PyObject *object);
/* Another type is a TypeError, a number above max or below 0 an InvalidError. The name of the
 * argument is for the message. */
bool number_of(PyObject *object, const char *name, uint64_t max, uint64_t *ret_number);
bool real_of(PyObject *object, const char *name, double *ret_number);

/* ---- fields of structs (fields.c) ---- */

enum field_kind {
    FIELD_U64,
    FIELD_U32,
    FIELD_BOOL,
    FIELD_REAL,
    FIELD_WORD, /* an enum, by its names */
    FIELD_FILTER_KIND,
    FIELD_TABLE_FILTER_KIND, /* the same, of the kinds of tables */
    FIELD_FILTER_AMOUNT,     /* to be set: a pair of a unit and a number */
    FIELD_COMPARATOR, /* to be set: a capsule, which has to live as long as the order is used */
};
struct field {
    const char *name;
    size_t offset;
    enum field_kind kind;
    const char *const *words; /* FIELD_WORD: by value, NULL at the end; "" has no name */
};
#define FIELD(type, kind, name)                                                                    \
    {                                                                                              \
#name, offsetof(struct type, name), FIELD_##kind, NULL                                     \
    }
#define FIELD_IN(type, name, words)                                                                \
    {                                                                                              \
#name, offsetof(struct type, name), FIELD_WORD, words                                      \
    }
#define FIELD_AS(type, kind, as, path)                                                             \
    {                                                                                              \
        as, offsetof(struct type, path), FIELD_##kind, NULL                                        \
    }

/* Sets fields by their names. An unknown name is a TypeError, as for a call with keywords. */
bool fields_set(const struct field *fields, size_t count, void *object, PyObject *values,
                const char *function);
/* A dictionary of all fields. */
PyObject *fields_get(const struct field *fields, size_t count, const void *object);
/* Sets one field. */
bool field_set(const struct field *field, void *object, PyObject *value);

/* ---- stores ---- */

struct child;

struct store {
    PyObject_HEAD struct bb_db *db; /* NULL: not open */
    Py_ssize_t calls;               /* that run without the interpreter's lock */
    struct child *children;         /* cursors, snapshots and selections */
    struct events *events;          /* of the library's threads */
    PyObject *comparator;           /* the capsule of the order, or NULL */
    long process;                   /* that opened it */
    bool is_closing;
};

/* ---- events (events.c) ---- */

/* NULL: no memory. Destroyed after the store is closed. */
struct events *events_create(void);
void events_destroy(struct events *events);
/* For bb_db_options.on_event; any thread, without the interpreter's lock. context: the events. */
void events_note(void *context, const struct bb_event *event);

/* Runs a call of the library without the interpreter's lock. */
#define STORE_CALL(store, call)                                                                    \
    do {                                                                                           \
        (store)->calls++;                                                                          \
        Py_BEGIN_ALLOW_THREADS;                                                                    \
        call;                                                                                      \
        Py_END_ALLOW_THREADS;                                                                      \
        (store)->calls--;                                                                          \
    } while (0)

/* An object that has to be released before the store is closed. It holds a reference to its store,
 * which the collector of cycles sees.
 *
 * No type of this module has tp_clear. References of its objects lead only to a store, and a cycle
 * goes on from there through the dictionary or a slot of a subclass, which Python clears. So an
 * object has its store as long as it exists, and releases its handle before the store is closed. */
struct child {
    PyObject_HEAD struct store *store;
    struct child *next;
    struct child **link;             /* the pointer to this one; NULL: not in the list */
    void (*release)(struct child *); /* frees the handle; NULL: it is released */
    Py_ssize_t users;                /* calls without the interpreter's lock that use it */
};
void child_attach(struct child *child, struct store *store, void (*release)(struct child *));
/* Releases the handle, unless a thread uses it. Idempotent. */
void child_release(struct child *child);
/* The rest of a destructor. */
void child_dealloc(struct child *child);
/* Py_tp_traverse of a child. */
int child_traverse(PyObject *self, visitproc visit, void *arg);
/* InvalidError if the object or its store is closed. name: "cursor". */
bool child_check(struct child *child, const char *name);
/* The same, and BusyError if a thread uses the object. */
bool child_begin(struct child *child, const char *name);
/* InvalidError if the store is closed. */
bool store_check(struct store *store);
/* The same in a child made by fork, for calls that the library does not refuse there. */
bool store_check_process(struct store *store);

struct snapshot;

/* Reads of a store, or of one of its snapshots (NULL: none). */
PyObject *read_get(struct store *store, struct snapshot *snapshot, PyObject *const *arguments,
                   Py_ssize_t count, PyObject *names);
/* KeyError if absent. */
PyObject *read_item(struct store *store, struct snapshot *snapshot, PyObject *key);
int read_contains(struct store *store, struct snapshot *snapshot, PyObject *key);
PyObject *read_many(struct store *store, struct snapshot *snapshot, PyObject *keys);

/* The number of the process. */
long process_number(void);
/* Waits a millisecond without the interpreter's lock. False: a signal's handler raised. */
bool wait_briefly(void);

/* ---- the other types ---- */

struct snapshot {
    struct child child;
    struct bb_snapshot *handle;
};
/* NULL and None: *ret_snapshot is NULL. Another store's or a closed snapshot is an InvalidError.
 * Borrowed. */
bool snapshot_of(PyObject *object, const struct store *store, struct snapshot **ret_snapshot);

struct batch {
    PyObject_HEAD struct bb_batch *handle;
    bool is_used;
};

/* low, high, prefix: NULL or None if absent. snapshot: NULL: the newest state. keys_only: the
 * cursor has no values. */
struct cursor_request {
    PyObject *low;
    PyObject *high;
    PyObject *prefix;
    struct snapshot *snapshot;
    bool keys_only;
};
struct cursor {
    struct child child;
    struct bb_db_iter *handle;
};
struct cursor *cursor_create(struct store *store, const struct cursor_request *request);
enum cursor_move {
    CURSOR_FIRST,
    CURSOR_LAST,
    CURSOR_NEXT,
    CURSOR_PREV,
    CURSOR_SEEK,
};
/* Moves; key: for CURSOR_SEEK. -1 with an exception, 0: there is no such key, 1. */
int cursor_step(struct cursor *cursor, enum cursor_move move, struct bb_bytes key);

enum scan_shape {
    SCAN_KEYS,
    SCAN_VALUES,
    SCAN_ITEMS,
};
PyObject *scan_create(struct store *store, const struct cursor_request *request,
                      enum scan_shape shape, bool is_backward);
/* keys(), values() and items() of a store or of one of its snapshots (NULL: none). */
PyObject *scan_of(struct store *store, struct snapshot *snapshot, enum scan_shape shape,
                  PyObject *const *arguments, Py_ssize_t count, PyObject *names);
PyObject *cursor_of(struct store *store, struct snapshot *snapshot, PyObject *const *arguments,
                    Py_ssize_t count, PyObject *names);

/* The order in a capsule. NULL and None: *ret_comparator is NULL. Borrowed. */
bool comparator_of(PyObject *object, const struct bb_comparator **ret_comparator);
/* struct bb_db_options from keywords. */
bool options_read(PyObject *keywords, const char *function, struct bb_db_options *ret_options);

/* Frees an object and its reference to its type. */
void object_free(void *object);
/* Methods of objects for `with`, which ends in close(). */
PyObject *object_enter(PyObject *self, PyObject *nothing);
PyObject *object_exit(PyObject *self, PyObject *raised);
#define WITH_METHODS                                                                               \
    {"__enter__", object_enter, METH_NOARGS, NULL},                                                \
    {                                                                                              \
        "__exit__", object_exit, METH_VARARGS, NULL                                                \
    }

extern PyTypeObject *store_type;
extern PyTypeObject *batch_type;
extern PyTypeObject *snapshot_type;
extern PyTypeObject *cursor_type;
extern PyTypeObject *scan_type;
extern PyTypeObject *selection_type;
extern PyTypeObject *filter_type;
extern PyTypeObject *filter_builder_type;
extern PyType_Spec store_spec;
extern PyType_Spec batch_spec;
extern PyType_Spec snapshot_spec;
extern PyType_Spec cursor_spec;
extern PyType_Spec scan_spec;
extern PyType_Spec selection_spec;
extern PyType_Spec filter_spec;
extern PyType_Spec filter_builder_spec;

#endif
