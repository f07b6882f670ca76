/* Finds the range tombstones of a view that cover a key, for a stream over one of its runs:
 * memtables first, then the runs of the levels, newest first.
 *
 * A tombstone of a newer run hides a covered key in this run completely: all versions here are
 * older. A tombstone of the run itself hides only older versions. The result is kept with the
 * region around the key in which it is valid, so that it is computed once per region instead of
 * once per entry.
 *
 * Tables without range tombstones are not opened.
 * Threads: one; a view may have any number.
 */
#ifndef BB_KV_VIEW_RANGE_TOMBSTONE_COVER_H
#define BB_KV_VIEW_RANGE_TOMBSTONE_COVER_H

#include "kv/view/view.h"
#include "sstable/ranges/range_tombstone_region.h"

/* The caller sets the fields view to run; the others begin as zero. */
struct bb_range_tombstone_cover {
    const struct bb_view *view; /* borrowed */
    const struct bb_comparator *comparator;
    uint64_t sequence; /* later tombstones are ignored */
    /* Number of the stream's run in the view; 0 is the active memtable. */
    size_t run;
    bool has_region;
    struct bb_range_tombstone_region region; /* covering: by newer runs */
    uint64_t own;                            /* by the run itself, in the same region */
};

/* True when the run or a newer one has a range tombstone. For the active memtable: as of now, which
 * is enough for everything committed earlier. */
bool bb_range_tombstone_cover_is_needed(const struct bb_range_tombstone_cover *cover);
/* Moves the region to the key. Fails when a table cannot be opened. */
BB_MUST_CHECK enum bb_status bb_range_tombstone_cover_find(struct bb_range_tombstone_cover *cover,
                                                           struct bb_bytes key);

#endif
