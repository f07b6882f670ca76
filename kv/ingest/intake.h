/* Rewrites tables that were built elsewhere as tables of this store: under its secret, with filters
 * of the rate that the target permits, and with one version of each key. All versions and range
 * tombstones have the same sequence. The range tombstones hide older data, and therefore nothing in
 * the same intake. The new tables are not referenced yet.
 * Threads: one at a time per intake. */
#ifndef BB_KV_INGEST_INTAKE_H
#define BB_KV_INGEST_INTAKE_H

#include "kv/indexes/index_build.h"
#include "kv/store/store.h"
#include "sstable/ranges/range_tombstones.h"

struct bb_intake_table {
    uint64_t number;
    bool is_renamed;           /* kv/store/new_table.h */
    struct bb_table_meta meta; /* owned */
};

/* A zeroed struct with the first field set is a valid, empty intake. */
struct bb_intake {
    struct bb_db *db;
    uint64_t sequence;
    /* Level 0 only, where a new run adds just its own rate to the waste. */
    bool is_level0_only;
    /* Waste that the tables will add, from the time when they are written. */
    struct bb_waste_share share;
    struct bb_table **inputs; /* in the caller's order: later ones win; owned */
    size_t input_count;
    /* Of all inputs, with the numbers of their inputs as sequences; owned; NULL if none. */
    struct bb_range_tombstones *by_input;
    /* Ascending by key, without common keys; owned. */
    struct bb_intake_table *tables;
    size_t table_count;
    size_t table_capacity;
    struct bb_index_build indexes; /* indexes of the tables */
};

/* Opens the inputs and checks that they are tables of this version and order. Other checks happen
 * during reading. */
BB_MUST_CHECK enum bb_status bb_intake_open(struct bb_intake *intake, const char *const *paths,
                                            size_t count);
/* The number of an input, from 1 on. Later inputs have higher numbers. */
static inline uint64_t bb_intake_number(size_t input)
{
    return input + 1;
}

/* The range tombstones of all inputs, all with that sequence; 0: with the numbers of their inputs
 * as sequences. The caller owns *ret_list, which stays unchanged if none exist. */
BB_MUST_CHECK enum bb_status bb_intake_list_ranges(const struct bb_intake *intake,
                                                   uint64_t sequence,
                                                   struct bb_range_tombstones **ret_list);
/* The number of entries in all inputs. */
uint64_t bb_intake_entry_count(const struct bb_intake *intake);
/* Writes the tables. The files are synced, but not their directory entries. Removes tables of an
 * earlier call. Errors: BB_BUSY when the store is being closed. (kv/ingest/intake_write.c) */
BB_MUST_CHECK enum bb_status bb_intake_write(struct bb_intake *intake);
/* Ends the share of waste: the tables are installed, or will never be. */
void bb_intake_end_share(struct bb_intake *intake);
/* The level for a table in these levels: the deepest level that keeps it above all older versions
 * of its keys, has enough space, and is not in use by a running compaction (pending_levels). Level
 * 0 is always possible for a table with a number above all others. REQUIRES: installing is held. */
int bb_intake_level(const struct bb_intake *intake, const struct bb_levels *levels,
                    const struct bb_table_meta *meta);
/* The run of that level for the table: the newest, since no table in the level overlaps it. */
uint64_t bb_intake_run(const struct bb_levels *levels, int level);
/* Removes the tables' files. */
void bb_intake_remove(struct bb_intake *intake);
/* Keeps the files. */
void bb_intake_deinit(struct bb_intake *intake);

#endif
