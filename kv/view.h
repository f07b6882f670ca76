/* What a reader sees: the active memtable, the frozen ones, the levels. A value: made whole, never
 * changed.
 *
 * Threads: made and published under the store's mutex, destroyed without it; read by anybody who
 * has it pinned (kv/readers.h) or holds a reference.
 */
#ifndef BB_KV_VIEW_H
#define BB_KV_VIEW_H

#include <stdatomic.h>

#include "kv/write/write_buffer.h"

struct bb_levels;

/* More write buffers than this are not frozen at a time: writes wait for a flush. */
#define BB_FROZEN_MAX 2

struct bb_view {
    _Atomic uint32_t references; /* iterators' and, while it is current, the store's */
    struct bb_write_buffer *active;
    struct bb_write_buffer *frozen[BB_FROZEN_MAX]; /* newest first */
    size_t frozen_count;
    struct bb_levels *levels;
    /* Nothing behind it is shown, although it may come to stand in the active memtable: an ingest
     * that came before it stands only in a later view. UINT64_MAX: there was none. */
    _Atomic uint64_t sequence_end;
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

/* As of which sequence somebody reads who has the view and no snapshot: the last one, unless the
 * view ended before. To be called when the view is pinned: a sequence that was loaded earlier may
 * name versions that are merged away in it. Whoever sees a last sequence behind the view's end sees
 * that end too. */
static inline uint64_t bb_view_sequence(const struct bb_view *view,
                                        const _Atomic uint64_t *last_sequence)
{
    uint64_t last = atomic_load_explicit(last_sequence, memory_order_acquire);
    uint64_t end = atomic_load_explicit(&view->sequence_end, memory_order_relaxed);
    return last < end ? last : end;
}

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
