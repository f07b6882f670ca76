/* Which versions of a key survive a merge.
 *
 * Snapshots cut the sequences into intervals: (.., s1] (s1, s2] ... (sn, now]. Whoever reads, reads
 * as of the end of an interval, so of the versions within one interval only the newest can ever be
 * seen. A tombstone need not be written either when it hides nothing: in the oldest interval, when
 * no deeper level may hold the key.
 *
 *     sequences    9   7 | 6   3 | 2   1        snapshots 6 and 2
 *     of one key   P   P | D   P | P   P        kept: 9, 6 (a tombstone above the oldest interval),
 * 2
 *
 * What a range tombstone covers counts as older versions of the same key: hidden if the tombstone is
 * in the same interval, and newer. Of the tombstones of a fragment the newest of each interval is
 * needed, and not even that in the oldest one where nothing is below.
 *
 * Entries are handed over in order. Threads: one.
 */
#ifndef BB_COMPACTION_RETAIN_H
#define BB_COMPACTION_RETAIN_H

#include "bb/table.h"
#include "sstable/ranges/range_tombstones.h"

struct bb_retain {
    const uint64_t *snapshots; /* ascending; borrowed */
    size_t snapshot_count;
    const struct bb_comparator *comparator;
    struct bb_buf key; /* of the entries being judged */
    bool has_key;
    size_t interval; /* of the newest version of the key that was judged last */
    const struct bb_range_tombstones *ranges; /* over the entries; borrowed; NULL: none */
    size_t fragment; /* the first that ends behind the entry that was judged last */
};

void bb_retain_init(struct bb_retain *retain, const uint64_t *snapshots, size_t snapshot_count,
                    const struct bb_comparator *comparator);
/* Before the first entry: the range tombstones over them, borrowed. NULL: none. */
void bb_retain_set_ranges(struct bb_retain *retain, const struct bb_range_tombstones *ranges);
void bb_retain_deinit(struct bb_retain *retain);

/* How many snapshots are older than the version: 0 is the oldest interval. */
size_t bb_retain_interval(const struct bb_retain *retain, uint64_t sequence);

/* Is this the first version of another key than the last one? */
bool bb_retain_is_new_key(const struct bb_retain *retain, struct bb_bytes key);
/* Judges the next entry. is_bottom: no level below the output's may hold the key (looked at for
 * tombstones alone). BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_retain_judge(struct bb_retain *retain, const struct bb_entry *entry,
                                             bool is_bottom, bool *ret_keep);

/* Is the index-th sequence of a fragment to be kept? is_bottom: no level below the output's may hold
 * keys of it. */
bool bb_retain_keeps_range(const struct bb_retain *retain, const struct bb_range_fragment *fragment,
                           size_t index, bool is_bottom);

#endif
