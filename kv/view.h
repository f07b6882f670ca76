/* What a reader sees: the active memtable, the frozen ones, the levels. A value: made whole, never
 * changed.
 *
 * Threads: made and published under the store's mutex, destroyed without it; read by anybody who
 * has it pinned (kv/readers.h) or holds a reference.
 */
#ifndef BB_KV_VIEW_H
#define BB_KV_VIEW_H

#include <stdatomic.h>

#include "kv/write_buffer.h"

struct bb_levels;

/* More write buffers than this are not frozen at a time: writes wait for a flush. */
#define BB_FROZEN_MAX 2

struct bb_view {
    _Atomic uint32_t references; /* iterators' and, while it is current, the store's */
    struct bb_write_buffer *active;
    struct bb_write_buffer *frozen[BB_FROZEN_MAX]; /* newest first */
    size_t frozen_count;
    struct bb_levels *levels;
    struct bb_view *next_retired; /* the store's list of views that wait for their last reader */
};

/* Memory for a view, so that making one cannot fail at a moment when nothing may fail.
 * bb_view_destroy releases it too. */
BB_MUST_CHECK enum bb_status bb_view_create(struct bb_view **ret_blank);
/* Makes a blank view show this, with a reference of its own to everything. It then has one
 * reference. */
void bb_view_set(struct bb_view *blank, struct bb_write_buffer *active,
                 struct bb_write_buffer *const *frozen, size_t frozen_count,
                 struct bb_levels *levels);
/* REQUIRES: no references, no reader announces it. NULL is allowed. */
void bb_view_destroy(struct bb_view *view);

/* The oldest frozen buffer, or NULL. */
struct bb_write_buffer *bb_view_oldest_frozen(const struct bb_view *view);

/* A stream over everything the view shows, newest first among equal keys, without what range
 * tombstones hide from somebody who reads as of the sequence; or, of what meets a range, all that lies
 * in it and perhaps more: other tables and blocks are not read. Owned; the view and the range must
 * outlive it. range and stats may be NULL. */
BB_MUST_CHECK enum bb_status
bb_view_iter_create(struct bb_view *view, const struct bb_comparator *comparator, uint64_t sequence,
                    const struct bb_key_range *range, const struct bb_read_options *options,
                    struct bb_read_stats *stats, struct bb_iter **ret_iter);

#endif
