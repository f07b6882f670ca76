/* The stream over one run of a view, without entries hidden by range tombstones of the run or of
 * newer ones. Where a newer run's tombstone covers many entries, the stream skips them in one step.
 *
 * Threads: one.
 */
#ifndef BB_KV_VIEW_UNCOVERED_ITER_H
#define BB_KV_VIEW_UNCOVERED_ITER_H

#include "kv/view/range_tombstone_cover.h"
#include "sstable/approach.h"

/* Takes the stream in any case. approach: of the stream; NULL: it has no steps. The view must
 * outlive it. */
BB_MUST_CHECK enum bb_status bb_uncovered_iter_create(struct bb_iter *stream, bb_approach *approach,
                                                      const struct bb_range_tombstone_cover *cover,
                                                      struct bb_iter **ret_iter);
/* sstable/approach.h. REQUIRES: the iterator is one of bb_uncovered_iter_create. */
bool bb_uncovered_iter_approach(struct bb_iter *iter, struct bb_bytes key, uint64_t sequence,
                                unsigned step);

#endif
