/* Methods of a store for work on all its data, and its statistics. */
#include "store_methods.h"

static PyObject *result_of(enum bb_status status)
{
    if (status != BB_OK)
        return fail(status);
    Py_RETURN_NONE;
}

static PyObject *work(PyObject *self, enum bb_status (*function)(struct bb_db *db))
{
    struct store *store = (struct store *)self;
    enum bb_status status = BB_OK;
    if (!store_check(store))
        return NULL;
    STORE_CALL(store, status = function(store->db));
    return result_of(status);
}

PyObject *store_flush(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return work(self, bb_db_flush);
}

PyObject *store_wait_idle(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return work(self, bb_db_wait_idle);
}

PyObject *store_refresh(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return work(self, bb_db_refresh);
}

PyObject *store_clear_cache(PyObject *self, PyObject *nothing)
{
    struct store *store = (struct store *)self;
    (void)nothing;
    if (!store_check_process(store))
        return NULL;
    STORE_CALL(store, bb_db_clear_cache(store->db));
    Py_RETURN_NONE;
}

/* ---- ranges ---- */

struct range {
    struct held low;
    struct held high;
};

static bool range_take(struct range *range, const char *function, PyObject *const *arguments,
                       Py_ssize_t count, PyObject *names)
{
    const struct signature signature = {function, 0, 2, {"low", "high"}};
    PyObject *values[2];
    *range = (struct range){0};
    return arguments_read(&signature, arguments, count, names, values) &&
           held_take_optional(&range->low, values[0], "key") &&
           held_take_optional(&range->high, values[1], "key");
}

static void range_drop(struct range *range)
{
    held_drop(&range->low);
    held_drop(&range->high);
}

static const struct bb_bytes *bound_of(const struct held *held)
{
    return held->owner != NULL ? &held->bytes : NULL;
}

static enum bb_status compact(struct bb_db *db, const struct range *range)
{
    if (range->low.owner == NULL && range->high.owner == NULL)
        return bb_db_compact(db);
    return bb_db_compact_range(db, bound_of(&range->low), bound_of(&range->high));
}

PyObject *store_compact(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                        PyObject *names)
{
    struct store *store = (struct store *)self;
    struct range range;
    enum bb_status status = BB_OK;
    PyObject *result = NULL;
    if (range_take(&range, "compact", arguments, count, names) && store_check(store)) {
        STORE_CALL(store, status = compact(store->db, &range));
        result = result_of(status);
    }
    range_drop(&range);
    return result;
}

static const struct field size_fields[] = {
    FIELD(bb_range_size, U64, file_bytes),
    FIELD(bb_range_size, U64, raw_bytes),
    FIELD(bb_range_size, U64, memtable_bytes),
};

PyObject *store_approximate_size(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                                 PyObject *names)
{
    struct store *store = (struct store *)self;
    struct range range;
    struct bb_range_size size;
    enum bb_status status = BB_OK;
    PyObject *result = NULL;
    if (range_take(&range, "approximate_size", arguments, count, names) && store_check(store)) {
        const struct bb_key_range keys = {bound_of(&range.low), bound_of(&range.high)};
        STORE_CALL(store, status = bb_db_approximate_sizes(store->db, &keys, 1, &size));
        result = status == BB_OK ? fields_get(size_fields, 3, &size) : fail(status);
    }
    range_drop(&range);
    return result;
}

PyObject *store_checkpoint(PyObject *self, PyObject *directory)
{
    struct store *store = (struct store *)self;
    enum bb_status status = BB_OK;
    PyObject *result = NULL;
    PyObject *path = path_from(directory);
    if (path != NULL && store_check(store)) {
        const char *text = path_text(path);
        STORE_CALL(store, status = bb_db_checkpoint(store->db, text));
        result = result_of(status);
    }
    Py_XDECREF(path);
    return result;
}

/* ---- tables from elsewhere ---- */

struct paths {
    PyObject *owners; /* a list of bytes */
    const char **texts;
    size_t count;
};

static void paths_drop(struct paths *paths)
{
    Py_XDECREF(paths->owners);
    PyMem_Free(paths->texts);
}

/* iterable: of paths. False with an exception; paths_drop in both cases. */
static bool paths_take(struct paths *paths, PyObject *iterable)
{
    *paths = (struct paths){.owners = PySequence_List(iterable)};
    Py_ssize_t count = paths->owners != NULL ? PyList_Size(paths->owners) : -1;
    if (count >= 0)
        paths->texts = PyMem_Calloc((size_t)count + 1, sizeof(*paths->texts));
    if (count >= 0 && paths->texts == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; paths->texts != NULL && i < count; i++) {
        PyObject *path = path_from(PyList_GetItem(paths->owners, i));
        if (path == NULL || PyList_SetItem(paths->owners, i, path) != 0)
            return false;
        paths->texts[paths->count++] = path_text(path);
    }
    return paths->texts != NULL;
}

PyObject *store_ingest(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                       PyObject *names)
{
    static const struct signature signature = {"ingest", 1, 1, {"paths", "verify"}};
    struct store *store = (struct store *)self;
    PyObject *values[2];
    struct paths paths;
    enum bb_status status = BB_OK;
    PyObject *result = NULL;
    if (!arguments_read(&signature, arguments, count, names, values))
        return NULL;
    int verifies = truth_of(values[1]);
    const struct bb_ingest_options how = {.verify = verifies > 0};
    if (verifies >= 0 && paths_take(&paths, values[0]) && store_check(store)) {
        STORE_CALL(store, status = bb_db_ingest(store->db, paths.texts, paths.count, &how));
        result = result_of(status);
    }
    if (verifies >= 0)
        paths_drop(&paths);
    return result;
}

/* ---- statistics ---- */

#define COUNT(name) FIELD(bb_db_stats, U64, name)
#define REAL(name)  FIELD(bb_db_stats, REAL, name)

static const struct field stats_fields[] = {
    COUNT(gets),
    COUNT(gets_found),
    COUNT(memtable_visits),
    COUNT(memtable_hits),
    COUNT(writes),
    COUNT(write_bytes),
    COUNT(commits),
    COUNT(wal_bytes),
    COUNT(flushes),
    COUNT(flush_bytes_written),
    COUNT(compactions),
    COUNT(compaction_bytes_read),
    COUNT(compaction_bytes_written),
    COUNT(memtable_bytes),
    COUNT(memtable_held_bytes),
    COUNT(table_memory_bytes),
    COUNT(filter_bytes),
    COUNT(filter_budget_bytes),
    COUNT(system_reads),
    COUNT(system_read_bytes),
    COUNT(last_sequence),
    COUNT(tombstone_count),
    COUNT(oldest_tombstone_age),
    COUNT(run_count),
    COUNT(scrubs),
    COUNT(scrub_bytes),
    COUNT(damaged_files),
    REAL(target_wasted_reads),
    REAL(expected_wasted_reads),
    REAL(filter_bits_per_key),
    REAL(write_amplification),
    REAL(read_amplification),
    REAL(space_amplification),
    FIELD_AS(bb_db_stats, U64, "cache_used_bytes", cache.used_bytes),
    FIELD_AS(bb_db_stats, U64, "cache_hits", cache.hits),
    FIELD_AS(bb_db_stats, U64, "cache_misses", cache.misses),
};

/* Sums over the levels of lookups, as the library counts them level by level. */
static const struct field read_fields[] = {
    FIELD(bb_read_stats, U64, block_requests),
    FIELD(bb_read_stats, U64, block_reads),
    FIELD(bb_read_stats, U64, blocks_mapped),
    FIELD(bb_read_stats, U64, block_read_bytes),
    FIELD(bb_read_stats, U64, page_requests),
    FIELD(bb_read_stats, U64, page_reads),
    FIELD(bb_read_stats, U64, avoided_requests),
    FIELD(bb_read_stats, U64, damaged_filters),
    FIELD(bb_read_stats, U64, table_filter_reads),
    FIELD_AS(bb_read_stats, U64, "wasted_requests", visits[BB_VISIT_FALSE_POSITIVE]),
};
#define READ_FIELDS (sizeof(read_fields) / sizeof(read_fields[0]))

static void sum_reads(const struct bb_db_stats *stats, struct bb_read_stats *ret_sum)
{
    *ret_sum = (struct bb_read_stats){0};
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        for (size_t i = 0; i < READ_FIELDS; i++) {
            const char *from = (const char *)&stats->level_reads[level] + read_fields[i].offset;
            char *to = (char *)ret_sum + read_fields[i].offset;
            *(uint64_t *)to += *(const uint64_t *)from;
        }
}

PyObject *store_stats(PyObject *self, PyObject *nothing)
{
    struct store *store = (struct store *)self;
    struct bb_db_stats stats;
    struct bb_read_stats reads;
    (void)nothing;
    if (!store_check_process(store))
        return NULL;
    STORE_CALL(store, bb_db_stats(store->db, &stats));
    sum_reads(&stats, &reads);
    PyObject *all =
        fields_get(stats_fields, sizeof(stats_fields) / sizeof(stats_fields[0]), &stats);
    PyObject *of_reads = fields_get(read_fields, READ_FIELDS, &reads);
    if (all == NULL || of_reads == NULL || PyDict_Update(all, of_reads) != 0)
        Py_CLEAR(all);
    Py_XDECREF(of_reads);
    return all;
}

/* ---- tables ---- */

static const struct field table_fields[] = {
    FIELD(bb_db_table, U64, file_size),    FIELD(bb_db_table, U64, entry_count),
    FIELD(bb_db_table, REAL, filter_rate), FIELD(bb_db_table, REAL, predicted_rate),
    FIELD(bb_db_table, BOOL, is_damaged),  FIELD(bb_db_table, U32, level),
};

static PyObject *table_of(const struct bb_db_table *table)
{
    PyObject *entry =
        fields_get(table_fields, sizeof(table_fields) / sizeof(table_fields[0]), table);
    PyObject *path = PyUnicode_DecodeFSDefault(table->path);
    if (entry == NULL || path == NULL || PyDict_SetItemString(entry, "path", path) != 0)
        Py_CLEAR(entry);
    Py_XDECREF(path);
    return entry;
}

PyObject *store_tables(PyObject *self, PyObject *nothing)
{
    struct store *store = (struct store *)self;
    struct bb_db_table_list tables = {0};
    enum bb_status status = BB_OK;
    (void)nothing;
    if (!store_check(store))
        return NULL;
    STORE_CALL(store, status = bb_db_tables(store->db, &tables));
    if (status != BB_OK)
        return fail(status);
    PyObject *list = PyList_New((Py_ssize_t)tables.count);
    for (size_t i = 0; list != NULL && i < tables.count; i++) {
        PyObject *table = table_of(&tables.tables[i]);
        if (table == NULL || PyList_SetItem(list, (Py_ssize_t)i, table) != 0)
            Py_CLEAR(list);
    }
    bb_db_table_list_deinit(&tables);
    return list;
}
