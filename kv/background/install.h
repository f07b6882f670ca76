/* Makes changes visible: replaces views, releases old ones after their last reader, and removes
 * unreferenced files. */
#ifndef BB_KV_BACKGROUND_INSTALL_H
#define BB_KV_BACKGROUND_INSTALL_H

#include "kv/manifest/edit.h"
#include "kv/store/store.h"

/* Makes `blank` (from bb_view_create) the current view, with these contents. Takes the blank. Call
 * bb_store_reclaim after the mutex is released. The mutex is held. */
void bb_store_publish(struct bb_db *db, struct bb_view *blank, struct bb_write_buffer *active,
                      struct bb_write_buffer *const *frozen, size_t frozen_count,
                      struct bb_levels *levels);

/* Prepares a view whose tables have entries before the next entries of the active memtable: readers
 * of older views do not see later entries. Only the caller raises last_sequence, and does it
 * afterwards. The mutex is held. */
void bb_store_end_views(struct bb_db *db);

/* The levels after an edit. Added tables get a struct bb_table_file, moved tables keep theirs.
 * *ret_levels has one reference, for the caller. */
BB_MUST_CHECK enum bb_status bb_store_apply_edit(struct bb_db *db, struct bb_levels *levels,
                                                 const struct bb_edit *edit,
                                                 struct bb_levels **ret_levels);
/* Marks the tables that an edit removes for good: their files are removed with their last
 * reference. REQUIRES: the edit is durable. */
void bb_store_mark_removed(struct bb_levels *levels, const struct bb_edit *edit);

/* Releases retired views without readers, with their logs and tables, whose files may be closed and
 * removed here. The mutex is not held. */
void bb_store_reclaim(struct bb_db *db);

/* A reference to the current view for longer than a lookup: iterators, statistics. It does not
 * prevent closing: a listener may hold one, and closing waits for it. The mutex is not held. */
struct bb_view *bb_store_pin_view(struct bb_db *db);
/* Drops such a reference. The mutex is not held. */
void bb_store_release_view(struct bb_db *db, struct bb_view *view);

/* The levels of the current view, with a reference, for planning. A flush may be installed during a
 * compaction of these levels, and vice versa: an edit names tables by number, a flush adds above
 * all others, and only a compaction removes any. The mutex is not held. */
struct bb_levels *bb_store_ref_levels(struct bb_db *db);

/* The file system for a worker's new tables: the store's, under the limit on writing. */
struct bb_file_system *bb_store_files_of(struct bb_db *db, enum bb_work work);

/* Notes that this work may have become due. The mutex is held. */
void bb_store_signal_work(struct bb_db *db, enum bb_work work);

/* Records that background work has failed, with the calling thread's latest failure. Waiting calls
 * get that failure until later work of this kind succeeds. If a flush failed, writes get it too,
 * because memory would fill up. The mutex is not held. */
void bb_store_fail(struct bb_db *db, enum bb_work work);
/* Records that such work has succeeded. The mutex is not held. */
void bb_store_recovered(struct bb_db *db, enum bb_work work);

/* Enclose a call that may wait for workers, so that closing waits for it. Errors: BB_BUSY when the
 * store is being closed. The mutex is not held. */
BB_MUST_CHECK enum bb_status bb_store_begin_call(struct bb_db *db);
void bb_store_end_call(struct bb_db *db);
/* Checked by such a call from time to time. Errors: BB_BUSY when it must return. The mutex is not
 * held. */
BB_MUST_CHECK enum bb_status bb_store_check_open(struct bb_db *db);
/* The same for long steps of the compacting worker, which also end when a flush or a write needs
 * the space. */
BB_MUST_CHECK enum bb_status bb_store_check_merging(struct bb_db *db);
/* The error of a call that waited in vain: the failure, or that the store is being closed. The
 * mutex is held; use bb_error_restore after it is released. */
struct bb_error bb_store_why_not(const struct bb_db *db, const struct bb_error *failure);

/* The failure of either kind of work; its status is BB_OK without a failure. The mutex is held. */
const struct bb_error *bb_store_failure(const struct bb_db *db);
static inline bool bb_store_is_failing(const struct bb_db *db, enum bb_work work)
{
    return db->workers[work].failure.status != BB_OK;
}

/* Shows the manifest to scrubs, after each change of it. Installing is held, or the store is being
 * opened; the mutex is not held. */
void bb_store_note_manifest(struct bb_db *db);

/* Informs the listener. The mutex is not held. */
void bb_store_event(struct bb_db *db, const struct bb_event *event);

#endif
