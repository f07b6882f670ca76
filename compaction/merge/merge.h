/* Merges sorted streams into one, for compactions and scans.
 *
 * It is a tournament tree of losers (Knuth, TAOCP vol. 3, 5.4.1): each inner node keeps the loser
 * of its match. After a move only the winner's path is replayed, in log2(k) comparisons.
 * Comparisons use eight-byte key prefixes, taken after the prefix that the current keys of all
 * streams share. Only ties compare whole keys.
 *
 * Equal keys sort by sequence, newest first. No store has two entries with the same key and
 * sequence. If streams have two such entries, the entry of the earlier stream sorts first, in both
 * directions. Threads: one.
 */
#ifndef BB_COMPACTION_MERGE_MERGE_H
#define BB_COMPACTION_MERGE_MERGE_H

#include "sstable/approach.h"

/* A sorted stream, and its steps before a seek; NULL: no steps. */
struct bb_merge_stream {
    struct bb_iter *iter;
    bb_approach *approach;
};

/* Takes ownership of the streams, even on failure. Pass newer runs first. A stream that fails ends
 * the merge with its status, until the next seek. count 0 gives an empty stream. The merge has no
 * position before the first seek. */
BB_MUST_CHECK enum bb_status bb_merge_create(struct bb_iter **streams, size_t count,
                                             const struct bb_comparator *comparator,
                                             struct bb_iter **ret_merge);
/* The same for streams with steps: a seek of the merge takes them for all streams together. */
BB_MUST_CHECK enum bb_status bb_merge_create_approached(const struct bb_merge_stream *streams,
                                                        size_t count,
                                                        const struct bb_comparator *comparator,
                                                        struct bb_iter **ret_merge);

#endif
