/* What a manifest says once all of its edits are folded: identity, counters, live tables.
 *
 * The same fold checks an edit before it is written and after it is read, so that whatever was
 * written can be read.
 * Threads: one at a time.
 */
#ifndef BB_KV_MANIFEST_MANIFEST_STATE_H
#define BB_KV_MANIFEST_MANIFEST_STATE_H

#include "kv/manifest/edit.h"

/* A zeroed struct is a valid state of nothing. */
struct bb_manifest_state {
    bool has_identity;
    struct bb_store_identity identity;
    uint64_t next_file_number;
    uint64_t last_sequence;
    uint64_t log_number; /* logs with smaller numbers are obsolete; 0: the store was never opened
                            since its creation */
    bool log_is_absent;
    struct bb_buf catalog;       /* of attributes and indexes, empty when there are none; owned */
    bool is_closed;              /* the last edit was that of a close */
    struct bb_wal_end *log_ends; /* then: of the logs that there were, ascending by number; owned */
    size_t log_end_count;
    struct bb_edit_table **tables; /* live, ascending by number; owned, each of them too */
    size_t table_count;
    size_t table_capacity;
};

/* Leaves a valid state of nothing. */
void bb_manifest_state_deinit(struct bb_manifest_state *state);

/* The live table of that number, borrowed until the next change; NULL when there is none. */
const struct bb_edit_table *bb_manifest_state_find(const struct bb_manifest_state *state,
                                                   uint64_t number);

/* Does a live table have the index file of that number? Looks at every table. */
bool bb_manifest_state_has_index(const struct bb_manifest_state *state, uint64_t index_number);

/* All of the edit or nothing. BB_CORRUPT (at place, where the edit was read) when it contradicts
 * the state: identity twice or missing, numbers that shrink, a removed table that is not live, an
 * added one that is live already and not moved, a number not below next_file_number, sequences
 * above last_sequence, impossible counts or bounds. Overlap within a level is not checked: that is
 * for those who know the comparator. */
BB_MUST_CHECK enum bb_status bb_manifest_state_apply(struct bb_manifest_state *state,
                                                     const struct bb_edit *edit,
                                                     struct bb_place place);

/* The same in two steps, for a change that must not fail once it is durable. stage checks, and
 * allocates what commit needs; then exactly one of commit and drop is called, with no other change
 * between. */
struct bb_manifest_change {
    const struct bb_edit *edit;   /* borrowed until commit or drop */
    uint64_t *removed;            /* sorted; owned */
    struct bb_wal_end *log_ends;  /* a copy; owned */
    struct bb_edit_table **added; /* copies, sorted by number; owned, each of them too */
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
