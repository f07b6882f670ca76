/* The data that a reader sees: the active memtable, the frozen ones, the levels. A view is
 * immutable.
 *
 * Threads: made and published under the store's mutex, destroyed without it; any thread may read it
 * that has pinned it (kv/view/readers.h) or has a reference.
 */
#ifndef BB_KV_VIEW_VIEW_H
#define BB_KV_VIEW_VIEW_H

#include <stdatomic.h>

#include "base/assert.h"
#include "compaction/levels/levels.h"
#include "kv/view/write_buffer.h"

/* The maximum number of frozen write buffers. Writes wait for a flush when it is reached. */
#define BB_FROZEN_MAX 2

struct bb_view {
    /* Of iterators and, while it is current, of the store. */
    _Atomic uint32_t references;
    /* Newest first: the active one, then the frozen ones. */
    struct bb_write_buffer *buffers[1 + BB_FROZEN_MAX];
    size_t buffer_count;
    struct bb_levels *levels;
    /* Readers of this view ignore later sequence numbers. The active memtable may get such entries,
     * but an ingest before them is visible only in a later view. UINT64_MAX: there was no
     * ingest. */
    _Atomic uint64_t sequence_end;
    struct bb_view *next_retired; /* the store's list of views that wait for their last reader */
};

/* Allocates a view, so that making one later cannot fail. bb_view_destroy releases it. */
BB_MUST_CHECK enum bb_status bb_view_create(struct bb_view **ret_blank);
/* Fills a blank view and takes a reference to each part. The view then has one reference. */
void bb_view_set(struct bb_view *blank, struct bb_write_buffer *const *buffers, size_t buffer_count,
                 struct bb_levels *levels);
/* REQUIRES: there are no references, and no reader announces it. NULL is allowed. */
void bb_view_destroy(struct bb_view *view);

/* The sequence for readers that have the view and no snapshot: the last one, unless the view ends
 * earlier. Call it after the view is pinned: an earlier sequence may name versions that were merged
 * away in it. A thread that sees a last sequence beyond the view's end sees that end too. */
static inline uint64_t bb_view_sequence(const struct bb_view *view,
                                        const _Atomic uint64_t *last_sequence)
{
    uint64_t last = atomic_load_explicit(last_sequence, memory_order_acquire);
    uint64_t end = atomic_load_explicit(&view->sequence_end, memory_order_relaxed);
    return last < end ? last : end;
}

static inline size_t bb_view_frozen_count(const struct bb_view *view)
{
    return view->buffer_count - 1;
}

/* All places of data, newest first, are numbered runs: 0 is the active memtable, then the frozen
 * memtables, then the runs of tables. */
static inline size_t bb_view_run_count(const struct bb_view *view)
{
    return view->buffer_count + bb_levels_run_count(view->levels);
}

/* The memtable of a run, or NULL for a run of tables. */
static inline const struct bb_memtable *bb_view_memtable(const struct bb_view *view, size_t run)
{
    return run < view->buffer_count ? view->buffers[run]->memtable : NULL;
}

/* The run of tables. REQUIRES: it is not a memtable. */
static inline const struct bb_run_turn *bb_view_turn(const struct bb_view *view, size_t run)
{
    BB_DEBUG_ASSERT(run >= view->buffer_count && run < bb_view_run_count(view));
    return &view->levels->turns[run - view->buffer_count];
}

/* BB_IO: the value, which a stream over the view shows, is in the map of a table and was lost.
 * BB_OK: its bytes that were read are right. */
BB_MUST_CHECK enum bb_status bb_view_check_shown(const struct bb_view *view, struct bb_bytes value);

/* A stream over everything in the view, newest first among equal keys, without entries that range
 * tombstones hide from a reader at `sequence`, which was published before the call. With a range,
 * the stream has all entries in it and perhaps more; other tables and blocks are not read.
 * skips_values: see bb_run_iter_skip_values. Owned; the view and the range must outlive it. range
 * and stats may be NULL. */
BB_MUST_CHECK enum bb_status
bb_view_iter_create(struct bb_view *view, const struct bb_comparator *comparator, uint64_t sequence,
                    const struct bb_key_range *range, const struct bb_read_options *options,
                    bool skips_values, struct bb_read_stats *stats, struct bb_iter **ret_iter);

#endif
