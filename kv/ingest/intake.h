/* Tables that were built elsewhere, written anew as tables of this store: under its secret, with
 * filters of the rate that the promise allows, one version of each key, all of one sequence, range
 * tombstones too: those hide what is older, and so nothing that comes in with them. Nothing refers
 * to the tables yet. Threads: one at a time for one intake. */
#ifndef BB_KV_INGEST_INTAKE_H
#define BB_KV_INGEST_INTAKE_H

#include "kv/indexes/index_build.h"
#include "kv/store.h"
#include "sstable/ranges/range_tombstones.h"

struct bb_intake_table {
    uint64_t number;
    struct bb_table_meta meta; /* owned */
};

/* A zeroed struct with the first field set is a valid empty intake. */
struct bb_intake {
    struct bb_db *db;
    uint64_t sequence;
    bool is_level0_only;         /* where a new run adds its own rate, and nothing else */
    struct bb_waste_share share; /* what the tables will add, from writing them on */
    struct bb_table **inputs;    /* as given: the later one wins; owned */
    size_t input_count;
    struct bb_range_tombstones *ranked; /* of all inputs, by rank; owned; NULL: none */
    struct bb_intake_table *tables;     /* ascending by key; they share none; owned */
    size_t table_count;
    size_t table_capacity;
    struct bb_index_build indexes; /* of the tables */
};

/* Opens the inputs, and checks what can be checked at once: that they are tables, of this version
 * and order. The rest is checked as it is read. */
BB_MUST_CHECK enum bb_status bb_intake_open(struct bb_intake *intake, const char *const *paths,
                                            size_t count);
/* Of the range tombstones of an input among those of others. */
static inline uint64_t bb_intake_rank(size_t input)
{
    return input + 1;
}

/* The range tombstones of all inputs, all with that sequence; 0: with the ranks of their inputs.
 * *ret_list is owned by the caller, and stays as it is when there are none. */
BB_MUST_CHECK enum bb_status bb_intake_list_ranges(const struct bb_intake *intake,
                                                   uint64_t sequence,
                                                   struct bb_range_tombstones **ret_list);
/* Entries of all inputs. */
uint64_t bb_intake_entry_count(const struct bb_intake *intake);
/* Writes the tables, synced, their names not; what had been written before is removed. BB_BUSY: the
 * store is being closed. (kv/ingest/intake_write.c) */
BB_MUST_CHECK enum bb_status bb_intake_write(struct bb_intake *intake);
/* The tables are in the levels, or will not be: they are planned for no longer. */
void bb_intake_end_share(struct bb_intake *intake);
/* The level for a table, beside what stands in these levels: the deepest one that keeps it above
 * all older versions of its keys, has room for it, and that a compaction under way leaves alone
 * (pending_levels). 0 fits always, for a table with a number above all others. Installing is held. */
int bb_intake_level(const struct bb_intake *intake, const struct bb_levels *levels,
                    const struct bb_table_meta *meta);
/* The run of that level that takes the table: the newest, since nothing in the level overlaps it. */
uint64_t bb_intake_run(const struct bb_levels *levels, int level);
/* Removes the tables' files. */
void bb_intake_remove(struct bb_intake *intake);
/* The files stay. */
void bb_intake_deinit(struct bb_intake *intake);

#endif
