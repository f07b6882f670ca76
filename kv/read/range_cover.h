/* Which range tombstones of a view cover a key, for a stream over one of its runs: memtables, then the
 * runs of the levels, newest first.
 *
 * What a newer run's tombstone covers is hidden in the run altogether: whatever is there of the key
 * is older. What only the run's own covers is hidden if it is older than the tombstone. The answer
 * is kept with the region around the key for which it is the same, so that it is worked out once for
 * each region and not for each entry.
 *
 * Tables without range tombstones are not opened for it. Threads: one; any number for one view.
 */
#ifndef BB_KV_READ_RANGE_COVER_H
#define BB_KV_READ_RANGE_COVER_H

#include "kv/view.h"
#include "sstable/ranges/range_region.h"

struct bb_range_cover {
    const struct bb_view *view; /* borrowed */
    const struct bb_comparator *comparator;
    uint64_t sequence; /* tombstones after it do not count */
    size_t run;        /* number of the stream's run in the view, the active memtable being 0 */
    bool has_region;
    struct bb_range_region region; /* covering: by newer runs */
    uint64_t own;                  /* by the run itself, in the same region */
};

void bb_range_cover_init(struct bb_range_cover *cover, const struct bb_view *view,
                         const struct bb_comparator *comparator, uint64_t sequence, size_t run);
/* Is there any range tombstone in the run, or a newer one? Of the active memtable: by now, which is
 * enough for what was committed before. */
bool bb_range_cover_is_needed(const struct bb_range_cover *cover);
/* Has the region hold the key. Fails as opening a table does. */
BB_MUST_CHECK enum bb_status bb_range_cover_find(struct bb_range_cover *cover, struct bb_bytes key);

#endif
