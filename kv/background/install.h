/* How a change becomes visible: views are replaced, old ones released when their last reader has
 * left, files removed when nothing refers to them. */
#ifndef BB_KV_BACKGROUND_INSTALL_H
#define BB_KV_BACKGROUND_INSTALL_H

#include "kv/manifest/edit.h"
#include "kv/store.h"

/* Makes `blank` (from bb_view_create) the current view and lets it show this. The mutex is held.
 * Takes the blank. Call bb_store_reclaim when the mutex is free again. */
void bb_store_publish(struct bb_db *db, struct bb_view *blank, struct bb_write_buffer *active,
                      struct bb_write_buffer *const *frozen, size_t frozen_count,
                      struct bb_levels *levels);

/* What is published next has entries in its tables that come before those which the active memtable
 * takes from now on: who still has a view of before is shown nothing newer. The caller alone raises
 * last_sequence, and does it afterwards. The mutex is held. */
void bb_store_end_views(struct bb_db *db);

/* The levels after an edit; tables that it adds get a struct bb_table_file, tables that it moves
 * keep theirs. *ret_levels has one reference, the caller's. */
BB_MUST_CHECK enum bb_status bb_store_apply_edit(struct bb_db *db, struct bb_levels *levels,
                                                 const struct bb_edit *edit,
                                                 struct bb_levels **ret_levels);
/* The tables that an edit removes for good: their files go with their last reference. The edit is
 * durable. */
void bb_store_mark_removed(struct bb_levels *levels, const struct bb_edit *edit);

/* Releases retired views that nobody reads any more, with their logs and tables, whose files may be
 * closed and removed here. The mutex is not held. */
void bb_store_reclaim(struct bb_db *db);

/* A reference to the current view, for longer than a look-up: iterators, statistics. It does not
 * keep the store from being closed: a listener may hold one, which closing waits for. The mutex is
 * not held. */
struct bb_view *bb_store_pin_view(struct bb_db *db);
/* Gives such a reference back. The mutex is not held. */
void bb_store_release_view(struct bb_db *db, struct bb_view *view);

/* The levels of the current view, with a reference, for planning. A flush may be installed while a
 * compaction of them is under way, and the other way round: an edit names tables by number, a flush
 * adds above all others, and only a compaction removes any. The mutex is not held. */
struct bb_levels *bb_store_ref_levels(struct bb_db *db);

/* Where a worker creates its tables: the store's file system, under the limit on writing. */
struct bb_file_system *bb_store_files_of(struct bb_db *db, enum bb_work work);

/* Such work may have become due. The mutex is held. */
void bb_store_signal_work(struct bb_db *db, enum bb_work work);

/* Background work has failed, with the calling thread's latest failure, which waiting calls are
 * told until a later piece of such work succeeds; when it was a flush, writes too, for memory would
 * fill up. The mutex is not held. */
void bb_store_fail(struct bb_db *db, enum bb_work work);
/* Such work has succeeded. The mutex is not held. */
void bb_store_recovered(struct bb_db *db, enum bb_work work);

/* Around a call that may wait for workers, so that closing waits for it. BB_BUSY: the store is being
 * closed. The mutex is not held. */
BB_MUST_CHECK enum bb_status bb_store_begin_call(struct bb_db *db);
void bb_store_end_call(struct bb_db *db);
/* For such a call, now and then: BB_BUSY when it is to leave. The mutex is not held. */
BB_MUST_CHECK enum bb_status bb_store_check_open(struct bb_db *db);
/* What a call is told that waited in vain: the failure, or that the store is being closed. The mutex
 * is held; bb_error_restore it when it is not. */
struct bb_error bb_store_why_not(const struct bb_db *db, const struct bb_error *failure);

/* The failure of either kind of work, or one whose status is BB_OK. The mutex is held. */
const struct bb_error *bb_store_failure(const struct bb_db *db);
static inline bool bb_store_is_failing(const struct bb_db *db, enum bb_work work)
{
    return db->workers[work].failure.status != BB_OK;
}

/* Tells the listener. The mutex is not held. */
void bb_store_event(struct bb_db *db, const struct bb_event *event);

#endif
