/* Many sorted streams as one: what a compaction writes down, and a scan does not.
 *
 * A tournament of losers (Knuth, TAOCP vol. 3, 5.4.1): each inner node keeps who lost there, so that
 * after a move the winner's path alone is played again, log2(k) comparisons. Comparisons are of
 * eight-byte key prefixes; only ties look at whole keys.
 *
 * Equal keys order by sequence, newest first; no two streams hold the same (key, sequence).
 * Threads: one.
 */
#ifndef BB_COMPACTION_MERGE_H
#define BB_COMPACTION_MERGE_H

#include "bb/table.h"

/* Owns the streams from here on, also when it fails. A stream that fails ends the merge with its
 * status. count 0 gives an empty stream. */
BB_MUST_CHECK enum bb_status bb_merge_create(struct bb_iter **streams, size_t count,
                                             const struct bb_comparator *comparator,
                                             struct bb_iter **ret_merge);

#endif
