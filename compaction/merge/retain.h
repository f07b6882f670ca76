/* Decides which versions of a key survive a merge.
 *
 * Of the versions within one interval between snapshots, only the newest is visible
 * (compaction/levels/snapshot_interval.h). A tombstone without an effect is dropped too: it is in
 * the oldest interval, and no older run may have the key.
 *
 *     sequences    9   7 | 6   3 | 2   1        snapshots 6 and 2
 *     of one key   P   P | D   P | P   P        kept: 9, 6 and 2; 6 is a tombstone, but not
 *                                                   in the oldest interval
 *
 * Data that a range tombstone covers counts as older versions of the same key: it is hidden if the
 * tombstone is in the same interval and newer. Of the tombstones of a fragment, only the newest of
 * each interval is kept; in the oldest interval none is kept when no older run has data there.
 *
 * Entries are passed in order. Threads: one.
 */
#ifndef BB_COMPACTION_MERGE_RETAIN_H
#define BB_COMPACTION_MERGE_RETAIN_H

#include "bb/table.h"
#include "sstable/ranges/range_tombstones.h"

struct bb_retain {
    const uint64_t *snapshots; /* ascending; borrowed */
    size_t snapshot_count;
    const struct bb_comparator *comparator;
    struct bb_buf key; /* of the entries being judged */
    bool has_key;
    size_t interval; /* of the last judged version of the key */
    /* The range tombstones that may cover entries; borrowed; NULL if none. */
    const struct bb_range_tombstones *ranges;
    size_t fragment; /* first fragment that ends after the last judged entry */
};

void bb_retain_init(struct bb_retain *retain, const uint64_t *snapshots, size_t snapshot_count,
                    const struct bb_comparator *comparator);
/* Sets the range tombstones that may cover entries, borrowed. NULL: none. Call before the first
 * entry. */
void bb_retain_set_ranges(struct bb_retain *retain, const struct bb_range_tombstones *ranges);
void bb_retain_deinit(struct bb_retain *retain);

/* True when the key is not the key of the latest judged entry. */
bool bb_retain_is_new_key(const struct bb_retain *retain, struct bb_bytes key);
/* Judges the next entry. is_bottom: no run older than the output may have the key (used for
 * tombstones only). Errors: BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_retain_judge(struct bb_retain *retain, const struct bb_entry *entry,
                                             bool is_bottom, bool *ret_keep);

/* True when the fragment's tombstone with sequences[index] must be kept. is_bottom: no run older
 * than the output may have keys of the fragment. */
bool bb_retain_keeps_range(const struct bb_retain *retain,
                           const struct bb_range_tombstone_fragment *fragment, size_t index,
                           bool is_bottom);

#endif
