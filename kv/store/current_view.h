/* The view that new readers get, and the retired ones that earlier readers still use. */
#ifndef BB_KV_STORE_CURRENT_VIEW_H
#define BB_KV_STORE_CURRENT_VIEW_H

#include "kv/store/store.h"

/* Makes `blank` (from bb_view_create) the current view, with these contents. Takes the blank. Call
 * bb_current_view_reclaim after the mutex is released. The mutex is held. */
void bb_current_view_publish(struct bb_db *db, struct bb_view *blank,
                             struct bb_write_buffer *const *buffers, size_t buffer_count,
                             struct bb_levels *levels);

/* Prepares a view whose tables have entries before the next entries of the active memtable: readers
 * of older views do not see later entries. Only the caller raises last_sequence, and does it
 * afterwards. The mutex is held. */
void bb_current_view_end(struct bb_db *db);

/* Releases retired views without readers, with their logs and tables, whose files may be closed and
 * removed here. The mutex is not held. */
void bb_current_view_reclaim(struct bb_db *db);

/* A reference to the current view for longer than a lookup: iterators, statistics. It does not
 * prevent closing: a listener may hold one, and closing waits for it. The mutex is not held. */
struct bb_view *bb_current_view_pin(struct bb_db *db);
/* Drops such a reference. The mutex is not held. */
void bb_current_view_unpin(struct bb_db *db, struct bb_view *view);

/* The levels of the current view, with a reference, for planning. A flush may be installed during a
 * compaction of these levels, and vice versa: an edit names tables by number, a flush adds above
 * all others, and only a compaction removes any. The mutex is not held. */
struct bb_levels *bb_current_view_ref_levels(struct bb_db *db);

#endif
