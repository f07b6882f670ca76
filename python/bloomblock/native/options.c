/* Keyword arguments as struct bb_db_options: their names are the fields' names. */
#include "module.h"

static const char *const compressions[] = {"", "none", "lz4", NULL};
static const char *const residencies[] = {"pinned", "cached", NULL};
static const char *const read_modes[] = {"copies", "mapped", "calls", NULL};
static const char *const recoveries[] = {"synced", "strict", "point-in-time", "salvage", NULL};
static const char *const styles[] = {"", "leveled", "tiered", "lazy-leveling", NULL};

#define OPTION(kind, name)     FIELD(bb_db_options, kind, name)
#define CHOICE(name, of_words) FIELD_IN(bb_db_options, name, of_words)

static const struct field fields[] = {
    OPTION(COMPARATOR, comparator),
    OPTION(BOOL, create_if_missing),
    OPTION(BOOL, error_if_exists),
    OPTION(BOOL, read_only),
    OPTION(U64, write_buffer_bytes),
    OPTION(U64, cache_bytes),
    OPTION(BOOL, cache_off),
    CHOICE(index_residency, residencies),
    CHOICE(read_mode, read_modes),
    OPTION(U32, open_tables_max),
    OPTION(FILTER_AMOUNT, filter_amount),
    OPTION(TABLE_FILTER_KIND, filter_kind),
    OPTION(U32, filter_granularity),
    OPTION(REAL, absent_share),
    OPTION(REAL, table_filter_bits),
    OPTION(BOOL, table_filter_off),
    OPTION(U32, block_size_bytes),
    OPTION(U32, restart_interval),
    CHOICE(compression, compressions),
    OPTION(U64, table_size_bytes),
    OPTION(U32, level0_run_count_compact),
    OPTION(U32, level0_run_count_busy),
    OPTION(U32, level0_run_count_stop),
    OPTION(U64, level1_size_bytes),
    OPTION(U32, level_size_ratio),
    CHOICE(compaction_style, styles),
    OPTION(U64, background_bytes_per_second),
    OPTION(U64, tombstone_age_max),
    OPTION(BOOL, defer_index_files),
    OPTION(BOOL, wal_off),
    OPTION(U32, wal_buffer_bytes),
    CHOICE(recovery, recoveries),
    OPTION(BOOL, deterministic),
    OPTION(U32, shadow_verify_one_in),
    OPTION(U64, scrub_interval_seconds),
};

bool comparator_of(PyObject *object, const struct bb_comparator **ret_comparator)
{
    *ret_comparator = NULL;
    if (object == NULL || object == Py_None)
        return true;
    if (!PyCapsule_IsValid(object, "bb_comparator")) {
        PyErr_Format(PyExc_TypeError, "a comparator is a capsule \"bb_comparator\", not %R",
                     object);
        return false;
    }
    *ret_comparator = PyCapsule_GetPointer(object, "bb_comparator");
    return true;
}

bool options_read(PyObject *keywords, const char *function, struct bb_db_options *ret_options)
{
    *ret_options = (struct bb_db_options){0};
    return fields_set(fields, sizeof(fields) / sizeof(fields[0]), ret_options, keywords, function);
}
