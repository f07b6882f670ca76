/* The state of a manifest after all of its edits: identity, counters, live tables.
 *
 * The same code checks an edit before it is written and after it is read, so that every written
 * edit can be read.
 * Threads: one at a time.
 */
#ifndef BB_KV_MANIFEST_MANIFEST_STATE_H
#define BB_KV_MANIFEST_MANIFEST_STATE_H

#include "kv/manifest/edit.h"

/* A zeroed struct is a valid empty state. */
struct bb_manifest_state {
    bool has_identity;
    struct bb_store_identity identity;
    uint64_t next_file_number;
    uint64_t last_sequence;
    /* Logs with smaller numbers are obsolete. 0: the store was never opened after its creation. */
    uint64_t log_number;
    bool log_is_absent;
    /* Of attributes and indexes; empty if none exist; owned. */
    struct bb_buf catalog;
    struct bb_stored_options options;
    bool is_closed; /* the last edit was that of a close */
    /* If is_closed: the ends of the logs, ascending by number; owned. */
    struct bb_wal_end *log_ends;
    size_t log_end_count;
    /* live, ascending by number; the array and each table are owned */
    struct bb_edit_table **tables;
    size_t table_count;
    size_t table_capacity;
};

/* Leaves a valid empty state. */
void bb_manifest_state_deinit(struct bb_manifest_state *state);

/* The live table of that number, borrowed until the next change; NULL if none. */
const struct bb_edit_table *bb_manifest_state_find(const struct bb_manifest_state *state,
                                                   uint64_t number);

/* True when a live table has the index file of that number. Checks every table. */
bool bb_manifest_state_has_index(const struct bb_manifest_state *state, uint64_t index_number);

/* True when all keys of table a are before all keys of table b. comparator NULL: bytewise. */
bool bb_manifest_state_ends_before(const struct bb_comparator *comparator,
                                   const struct bb_table_meta *a, const struct bb_table_meta *b);
/* Finds two overlapping tables of one run, below level 0. False: not found. */
bool bb_manifest_state_find_overlap(const struct bb_manifest_state *state,
                                    const struct bb_comparator *comparator,
                                    const struct bb_edit_table **ret_a,
                                    const struct bb_edit_table **ret_b);

/* Applies all of the edit or nothing. Errors: BB_CORRUPT (at place, where the edit was read) when
 * it contradicts the state: a second or missing identity, numbers that decrease, a removed table
 * that is not live, an added table that is live and not moved, a number not below next_file_number,
 * sequences above last_sequence, impossible counts or bounds. Overlap within a level is not
 * checked, because that needs the comparator. */
BB_MUST_CHECK enum bb_status bb_manifest_state_apply(struct bb_manifest_state *state,
                                                     const struct bb_edit *edit,
                                                     struct bb_place place);

/* The same in two steps, for a change that must not fail once it is durable. stage checks the edit
 * and allocates memory for commit. Then exactly one of commit and drop is called, without another
 * change in between. */
struct bb_manifest_change {
    const struct bb_edit *edit;  /* borrowed until commit or drop */
    uint64_t *removed;           /* sorted; owned */
    struct bb_wal_end *log_ends; /* a copy; owned */
    /* Copies, sorted by number; the array and each table are owned. */
    struct bb_edit_table **added;
    size_t added_count;
    struct bb_buf catalog; /* owned */
};
BB_MUST_CHECK enum bb_status bb_manifest_state_stage(struct bb_manifest_state *state,
                                                     const struct bb_edit *edit,
                                                     struct bb_place place,
                                                     struct bb_manifest_change *ret_change);
void bb_manifest_state_commit(struct bb_manifest_state *state, struct bb_manifest_change *change);
void bb_manifest_state_drop(struct bb_manifest_change *change);

#endif
