/* How a change becomes visible: views are replaced, old ones released when their last reader has
 * left, files removed when nothing refers to them. */
#ifndef BB_KV_INSTALL_H
#define BB_KV_INSTALL_H

#include "kv/edit.h"
#include "kv/store.h"

/* Makes `blank` (from bb_view_create) the current view and lets it show this. The mutex is held.
 * Takes the blank. Call bb_store_reclaim when the mutex is free again. */
void bb_store_publish(struct bb_db *db, struct bb_view *blank, struct bb_write_buffer *active,
                      struct bb_write_buffer *const *frozen, size_t frozen_count,
                      struct bb_levels *levels);

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

/* A reference to the current view, for longer than a look-up: iterators, statistics. The mutex is
 * not held. */
struct bb_view *bb_store_pin_view(struct bb_db *db);
/* Gives such a reference back. The mutex is not held. */
void bb_store_release_view(struct bb_db *db, struct bb_view *view);

/* Background work has failed, with the calling thread's latest failure, which waiting calls are
 * told until a later piece of work succeeds; when it was a flush, writes too. The mutex is not
 * held. */
void bb_store_fail(struct bb_db *db, bool is_flush);
/* Background work has succeeded. */
void bb_store_recovered(struct bb_db *db);

/* Tells the listener. The mutex is not held. */
void bb_store_event(struct bb_db *db, const struct bb_event *event);

#endif
