/* A frozen memtable becomes a table of level 0. */
#ifndef BB_KV_BACKGROUND_FLUSH_H
#define BB_KV_BACKGROUND_FLUSH_H

#include "kv/manifest/edit.h"
#include "kv/store.h"

/* The flushing worker's. Flushes the oldest frozen buffer, makes that durable and visible, and
 * removes its log. */
BB_MUST_CHECK enum bb_status bb_store_flush_oldest(struct bb_db *db);

/* A worker's. The sequences of the snapshots that are alive, as bb_snapshots_list. */
BB_MUST_CHECK enum bb_status bb_store_list_snapshots(struct bb_db *db, uint64_t **ret_snapshots,
                                                     size_t *ret_count);

/* A worker's. Makes an edit durable and its levels current, one edit at a time; `flushed` (may be
 * NULL) is the frozen buffer that it replaces. Sets the edit's counters. */
BB_MUST_CHECK enum bb_status bb_store_install(struct bb_db *db, struct bb_edit *edit,
                                              struct bb_write_buffer *flushed);

/* A worker's: the work whose filters were planned is installed, or given up. */
void bb_store_end_pending(struct bb_db *db, enum bb_work work);

/* Where the tables of an edit belong, and when they become visible. */
struct bb_placing {
    /* Adds them to the edit, for these levels. A failure leaves them the caller's. */
    enum bb_status (*place)(void *context, struct bb_levels *levels, struct bb_edit *edit);
    /* The edit is durable and in force, nothing else was installed meanwhile. NULL: nothing to do. */
    void (*placed)(void *context);
    void *context;
    uint64_t sequence; /* of all their entries: what is read from here on is as of this one */
};
/* The leader's, when nothing is in memory: as bb_store_install. */
BB_MUST_CHECK enum bb_status bb_store_install_placed(struct bb_db *db, struct bb_edit *edit,
                                                     const struct bb_placing *placing);

/* A worker's, before other work. A manifest whose last record is in doubt is followed by a new
 * one: else whatever is made next could not be named, and would stay behind as an orphan. */
BB_MUST_CHECK enum bb_status bb_store_mend_manifest(struct bb_db *db);

#endif
