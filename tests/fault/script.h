/* A workload that continues after any failure, and keeps a diary (tests/fault/diary.h) of the
 * results.
 *
 * It creates a store, writes, reads, flushes, compacts, closes, reopens, so that every kind of call
 * of a store is in it. The store works on the caller's thread: the n-th call is the same in every
 * run, up to the first failing one.
 */
#ifndef BB_TESTS_FAULT_SCRIPT_H
#define BB_TESTS_FAULT_SCRIPT_H

#include "tests/fault/diary.h"

#define SCRIPT_PATH      "/data/store"
#define SCRIPT_COPY_PATH "/data/copy"
/* Of a table; it goes again, unless its removal fails. */
#define SCRIPT_TABLE_PATH "/data/table"
#define SCRIPT_STATUSES   16

struct script {
    struct bb_file_system *system; /* borrowed */
    struct bb_db *db;              /* NULL while it is closed, or could not be opened */
    struct diary diary;
    uint64_t failures[SCRIPT_STATUSES]; /* calls of the store that failed, by status */
    uint64_t openings;                  /* each with another compaction style */
    uint64_t failure_count;
    uint64_t errors_told;     /* to the listener */
    uint64_t damaged_filters; /* counted in the statistics, where these are reported */
    char wrong[512];          /* an impossible result; empty: none found */
    bool is_short;            /* for sweeps over very many points: fewer writes of each sort */
};

/* Later scripts use options drawn from this number: blocks, caches, filters, compression,
 * levels. 0: the options that they begin with. */
void script_choose_variant(uint64_t number);
/* The options of its stores, on any file system. */
struct bb_db_options script_options(struct bb_file_system *system);

void script_init(struct script *script, struct bb_file_system *system);
void script_deinit(struct script *script);

/* The whole workload; the store may be open or closed at its end. */
void script_run(struct script *script);

/* Single steps, for after the workload. */
void script_open(struct script *script);
void script_close(struct script *script);
void script_put(struct script *script, uint32_t key, uint32_t value_size, bool sync);

#endif
