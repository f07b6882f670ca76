/* Functions on stores that are not open: verify, repair, destroy (bb/db_files.h). */
#include "store_methods.h"

#define COUNT(type, name) FIELD(type, U64, name)
#define LENGTH(fields)    (sizeof(fields) / sizeof((fields)[0]))

static const struct field verify_fields[] = {
    COUNT(bb_db_verify_report, tables),      COUNT(bb_db_verify_report, entries),
    COUNT(bb_db_verify_report, bytes),       COUNT(bb_db_verify_report, logs),
    COUNT(bb_db_verify_report, log_records), COUNT(bb_db_verify_report, log_bytes_dropped),
    COUNT(bb_db_verify_report, orphans),     COUNT(bb_db_verify_report, foreign),
    COUNT(bb_db_verify_report, indexes),
};

static const struct field repair_fields[] = {
    FIELD(bb_db_repair_report, BOOL, is_whole),
    FIELD(bb_db_repair_report, BOOL, deletions_may_return),
    COUNT(bb_db_repair_report, tables_kept),
    COUNT(bb_db_repair_report, tables_salvaged),
    COUNT(bb_db_repair_report, tables_lost),
    COUNT(bb_db_repair_report, entries_kept),
    COUNT(bb_db_repair_report, entries_salvaged),
    COUNT(bb_db_repair_report, entries_lost),
    COUNT(bb_db_repair_report, bytes_lost),
    COUNT(bb_db_repair_report, log_records),
    COUNT(bb_db_repair_report, log_bytes_lost),
    COUNT(bb_db_repair_report, files_set_aside),
};

static const struct field destroy_fields[] = {
    COUNT(bb_db_destroy_report, removed),
    COUNT(bb_db_destroy_report, removed_bytes),
    COUNT(bb_db_destroy_report, foreign),
    FIELD(bb_db_destroy_report, BOOL, directory_removed),
};

PyObject *files_verify(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                       PyObject *names)
{
    static const struct signature signature = {"verify", 1, 1, {"path", "comparator"}};
    PyObject *values[2];
    struct bb_db_verify_report report;
    struct bb_db_options options = {0};
    enum bb_status status = BB_OK;
    (void)module;
    if (!arguments_read(&signature, arguments, count, names, values) ||
        !comparator_of(values[1], &options.comparator))
        return NULL;
    PyObject *path = path_from(values[0]);
    if (path == NULL)
        return NULL;
    const char *text = path_text(path);
    Py_BEGIN_ALLOW_THREADS;
    status = bb_db_verify(text, &options, &report);
    Py_END_ALLOW_THREADS;
    if (status != BB_OK)
        fail(status);
    Py_DECREF(path);
    return status == BB_OK ? fields_get(verify_fields, LENGTH(verify_fields), &report) : NULL;
}

PyObject *files_repair(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                       PyObject *names)
{
    static const struct signature signature = {
        "repair", 1, 1, {"path", "dry_run", "take_unnamed_tables", "comparator"}};
    PyObject *values[4];
    struct bb_db_repair_report report;
    struct bb_db_options options = {0};
    enum bb_status status = BB_OK;
    (void)module;
    if (!arguments_read(&signature, arguments, count, names, values) ||
        !comparator_of(values[3], &options.comparator))
        return NULL;
    int is_dry = truth_of(values[1]);
    int takes_unnamed = truth_of(values[2]);
    PyObject *path = is_dry >= 0 && takes_unnamed >= 0 ? path_from(values[0]) : NULL;
    if (path == NULL)
        return NULL;
    const struct bb_db_repair_options how = {.dry_run = is_dry > 0,
                                             .take_unnamed_tables = takes_unnamed > 0};
    const char *text = path_text(path);
    Py_BEGIN_ALLOW_THREADS;
    status = bb_db_repair(text, &options, &how, &report);
    Py_END_ALLOW_THREADS;
    if (status != BB_OK)
        fail(status);
    Py_DECREF(path);
    return status == BB_OK ? fields_get(repair_fields, LENGTH(repair_fields), &report) : NULL;
}

PyObject *files_destroy(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                        PyObject *names)
{
    static const struct signature signature = {"destroy", 1, 1, {"path"}};
    struct bb_db_destroy_report report;
    PyObject *path = NULL;
    enum bb_status status = BB_OK;
    (void)module;
    if (!arguments_read(&signature, arguments, count, names, &path))
        return NULL;
    path = path_from(path);
    if (path == NULL)
        return NULL;
    const char *text = path_text(path);
    Py_BEGIN_ALLOW_THREADS;
    status = bb_db_destroy(text, NULL, &report);
    Py_END_ALLOW_THREADS;
    if (status != BB_OK)
        fail(status);
    Py_DECREF(path);
    return status == BB_OK ? fields_get(destroy_fields, LENGTH(destroy_fields), &report) : NULL;
}
