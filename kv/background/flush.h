/* Turns a frozen memtable into a table of level 0. */
#ifndef BB_KV_BACKGROUND_FLUSH_H
#define BB_KV_BACKGROUND_FLUSH_H

#include "kv/manifest/edit.h"
#include "kv/store/store.h"

/* Called by the flushing worker. Flushes the oldest frozen buffer, makes that durable and visible,
 * and removes its log. */
BB_MUST_CHECK enum bb_status bb_store_flush_oldest(struct bb_db *db);

/* Called by a worker. The sequences of the live snapshots, as from bb_snapshots_list. */
BB_MUST_CHECK enum bb_status bb_store_list_snapshots(struct bb_db *db, uint64_t **ret_snapshots,
                                                     size_t *ret_count);

/* Called by a worker. Makes an edit durable and its levels current, one edit at a time. `flushed`
 * (may be NULL) is the frozen buffer that it replaces. Sets the edit's counters. */
BB_MUST_CHECK enum bb_status bb_store_install(struct bb_db *db, struct bb_edit *edit,
                                              struct bb_write_buffer *flushed);

/* Called by a worker after the work whose filters were planned is installed, or cancelled. */
void bb_store_end_pending(struct bb_db *db, enum bb_work work);

/* Places the tables of an edit, and learns when they become visible. */
struct bb_placing {
    /* Adds the tables to the edit, for these levels. After a failure the caller still owns them. */
    enum bb_status (*place)(void *context, struct bb_levels *levels, struct bb_edit *edit);
    /* Called when the edit is durable and current, before any other edit. May be NULL. */
    void (*placed)(void *context);
    void *context;
    uint64_t sequence; /* of all their entries; later reads use at least this sequence */
};
/* Called by the leader when the memtables are empty: like bb_store_install. */
BB_MUST_CHECK enum bb_status bb_store_install_placed(struct bb_db *db, struct bb_edit *edit,
                                                     const struct bb_placing *placing);

/* Called by a worker before other work. Replaces a manifest whose last record is in doubt.
 * Otherwise the next result could not be named, and would remain as an orphan. */
BB_MUST_CHECK enum bb_status bb_store_mend_manifest(struct bb_db *db);

#endif
