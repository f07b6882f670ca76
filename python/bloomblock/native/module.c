/* The module: its types and functions. */
#include "module.h"
#include "store_methods.h"

static const struct {
    PyTypeObject **type;
    PyType_Spec *spec;
    const char *name;
} types[] = {
    {&store_type, &store_spec, "Store"},
    {&batch_type, &batch_spec, "Batch"},
    {&snapshot_type, &snapshot_spec, "Snapshot"},
    {&cursor_type, &cursor_spec, "Cursor"},
    {&scan_type, &scan_spec, "Scan"},
    {&selection_type, &selection_spec, "Selection"},
    {&filter_type, &filter_spec, "Filter"},
    {&filter_builder_type, &filter_builder_spec, "FilterBuilder"},
};

void object_free(void *object)
{
    PyTypeObject *type = Py_TYPE(object);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF((PyObject *)type);
}

PyObject *object_enter(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    Py_INCREF(self);
    return self;
}

PyObject *object_exit(PyObject *self, PyObject *raised)
{
    (void)raised;
    PyObject *name = PyUnicode_FromString("close");
    PyObject *done = name != NULL ? PyObject_CallMethodObjArgs(self, name, NULL) : NULL;
    Py_XDECREF(name);
    return done;
}

static PyMethodDef functions[] = {
    {"verify", METHOD(files_verify), FAST,
     "verify($module, path, *, comparator=None)\n--\n\nReads a whole store and counts its parts."},
    {"repair", METHOD(files_repair), FAST,
     "repair($module, path, *, dry_run=False, take_unnamed_tables=False, comparator=None)\n--\n\n"
     "Makes a damaged store usable from its readable parts. dry_run: only the report."},
    {"destroy", METHOD(files_destroy), FAST,
     "destroy($module, path)\n--\n\nRemoves the files of a store."},
    {"plan", METHOD(filter_plan), FAST,
     "plan($module, *, kind='ribbon', keys=0, rate=0.0, size_bytes=0)\n--\n\nThe third of keys, "
     "rate and size from the other two."},
    {"random_secret", filter_random_secret, METH_NOARGS,
     "random_secret($module)\n--\n\nA secret for the hashes of filters."},
    {NULL, NULL, 0, NULL},
};

/* If the package is imported again, the types are there: objects of the first import are in use. */
static bool add_types(PyObject *module)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (*types[i].type == NULL)
            *types[i].type = (PyTypeObject *)PyType_FromSpec(types[i].spec);
        PyObject *type = (PyObject *)*types[i].type;
        if (type == NULL)
            return false;
        Py_INCREF(type);
        if (PyModule_AddObject(module, types[i].name, type) != 0) {
            Py_DECREF(type);
            return false;
        }
    }
    return true;
}

/* The state is in static variables, so it belongs to one interpreter of the process. */
static bool check_interpreter(void)
{
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0)
        return true;
    PyErr_SetString(PyExc_ImportError,
                    "bloomblock works only in the main interpreter of a process");
    return false;
}

static int execute(PyObject *module)
{
    bool is_done = check_interpreter() && errors_init() && add_types(module) &&
                   PyModule_AddStringConstant(module, "__version__", bb_version()) == 0;
    return is_done ? 0 : -1;
}

/* Only with slots a second interpreter executes the module, instead of copying its dictionary. */
static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native", NULL, 0, functions, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__native(void);

PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&definition);
}
