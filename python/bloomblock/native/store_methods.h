/* The methods of a store that are not in store.c, for its table of methods. */
#ifndef BB_PYTHON_BLOOMBLOCK_NATIVE_STORE_METHODS_H
#define BB_PYTHON_BLOOMBLOCK_NATIVE_STORE_METHODS_H

#include "module.h"

/* store_work.c */
PyObject *store_flush(PyObject *self, PyObject *nothing);
PyObject *store_wait_idle(PyObject *self, PyObject *nothing);
PyObject *store_refresh(PyObject *self, PyObject *nothing);
PyObject *store_clear_cache(PyObject *self, PyObject *nothing);
PyObject *store_compact(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                        PyObject *names);
PyObject *store_approximate_size(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                                 PyObject *names);
PyObject *store_checkpoint(PyObject *self, PyObject *path);
PyObject *store_ingest(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                       PyObject *names);
PyObject *store_stats(PyObject *self, PyObject *nothing);
PyObject *store_tables(PyObject *self, PyObject *nothing);

/* events.c */
PyObject *store_events(PyObject *self, PyObject *nothing);

/* store_index.c */
PyObject *store_create_attribute(PyObject *self, PyObject *definition);
PyObject *store_drop_attribute(PyObject *self, PyObject *name);
PyObject *store_attributes(PyObject *self, PyObject *nothing);
PyObject *store_create_index(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                             PyObject *names);
PyObject *store_drop_index(PyObject *self, PyObject *name);
PyObject *store_indexes(PyObject *self, PyObject *nothing);
PyObject *store_materialize_indexes(PyObject *self, PyObject *nothing);

/* selection.c */
PyObject *store_select(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                       PyObject *names);
PyObject *store_count(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                      PyObject *names);

/* store_files.c: functions of the module */
PyObject *files_verify(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                       PyObject *names);
PyObject *files_repair(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                       PyObject *names);
PyObject *files_destroy(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                        PyObject *names);

/* filter.c: functions of the module */
PyObject *filter_plan(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                      PyObject *names);
PyObject *filter_random_secret(PyObject *module, PyObject *nothing);

#endif
