/* A workload of attributes, indexes and selections that continues after any failure.
 *
 * Every way to write an index file is in it: flush, compaction, recovery, ingest, materializing;
 * and selections with and without indexes, which must agree whenever both succeed. The store works
 * on the caller's thread: the n-th call is the same in every run, up to the first failing one.
 */
#ifndef BB_TESTS_FAULT_INDEX_SCRIPT_H
#define BB_TESTS_FAULT_INDEX_SCRIPT_H

#include "bb/db_files.h"
#include "bb/select.h"

#define INDEX_SCRIPT_PATH       "/data/store"
#define INDEX_SCRIPT_COPY_PATH  "/data/copy"
#define INDEX_SCRIPT_TABLE_PATH "/data/table"

struct index_script {
    struct bb_file_system *system; /* borrowed */
    struct bb_db *db;              /* NULL while it is closed, or could not be opened */
    uint64_t failures[16];         /* calls of the store that failed, by status */
    uint64_t failure_count;
    uint64_t errors_told;     /* to the listener */
    uint64_t damaged_indexes; /* counted by selections */
    uint64_t damaged_filters; /* counted in the statistics */
    uint64_t selections;      /* that succeeded with indexes and without */
    char wrong[256];          /* an impossible result; empty: none found */
};

struct bb_db_options index_script_options(struct bb_file_system *system);

/* The whole workload; the store may be open or closed at its end. */
void index_script_run(struct index_script *script);

/* Single steps, for after the workload. */
void index_script_open(struct index_script *script);
void index_script_close(struct index_script *script);
/* Some rows, synced, in a table; then all tables have all indexes that there are. */
void index_script_go_on(struct index_script *script);
/* Each condition with and without indexes. */
void index_script_select(struct index_script *script);

#endif
