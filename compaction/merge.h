/* Many sorted streams as one: what a compaction writes down, and a scan is a merge that is never
 * written down.
 *
 * A tournament of losers (Knuth, TAOCP vol. 3, 5.4.1): each inner node keeps who lost there, so
 * that after a move only the winner's path is played again, log2(k) comparisons. Comparisons are of
 * eight-byte key prefixes, taken behind what the streams' keys have in common at the time; only
 * ties look at whole keys.
 *
 * Equal keys order by sequence, newest first. No store has two entries of the same key and
 * sequence; if it happens, the stream that was named first comes first, in both directions.
 * Threads: one.
 */
#ifndef BB_COMPACTION_MERGE_H
#define BB_COMPACTION_MERGE_H

#include "bb/table.h"

/* Owns the streams from here on, also when it fails: name newer runs first. A stream that fails
 * ends the merge with its status, until the next seek. count 0 gives an empty stream. Standing
 * anywhere only after a seek. */
BB_MUST_CHECK enum bb_status bb_merge_create(struct bb_iter **streams, size_t count,
                                             const struct bb_comparator *comparator,
                                             struct bb_iter **ret_merge);

#endif
