/* Candidates of a selection: the entries of one run whose records match the condition, in both
 * directions. newest.h checks whether a newer version hides one.
 *
 * Threads: one. The shared struct bb_candidate_source must outlive them.
 */
#ifndef BB_KV_SELECT_CANDIDATES_H
#define BB_KV_SELECT_CANDIDATES_H

#include "kv/select/candidate_source.h"
#include "kv/select/table_counting.h"

/* The candidates of a stream, for memtables. Takes the stream in any case. */
BB_MUST_CHECK enum bb_status bb_filtered_candidates_create(struct bb_candidate_source *source,
                                                           struct bb_iter *stream,
                                                           struct bb_iter **ret_iter);

/* The candidates of one table. Reads only granules that its indexes do not rule out. The caller
 * keeps its reference to the file. */
BB_MUST_CHECK enum bb_status bb_table_candidates_create(struct bb_candidate_source *source,
                                                        const struct bb_table_reading *reading,
                                                        struct bb_iter **ret_iter);

#endif
