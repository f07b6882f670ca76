/* Candidates of a selection: the entries of one run whose records match the condition, in both
 * directions. Whether a newer version hides one is for others to ask (newest.h).
 *
 * Threads: one. What they share, struct bb_candidate_source, must outlive them.
 */
#ifndef BB_KV_SELECT_CANDIDATES_H
#define BB_KV_SELECT_CANDIDATES_H

#include "bb/select.h"
#include "compaction/table_file.h"
#include "kv/indexes/catalog.h"
#include "skip/condition/matcher.h"

struct bb_candidate_source {
    struct bb_matcher matcher;
    struct bb_skip_evaluator *evaluator; /* of the condition; NULL: indexes are not asked; owned */
    struct bb_skip_account *file_accounts; /* of the indexes of the file that is asked; owned */
    size_t file_account_capacity;
    const struct bb_comparator *comparator; /* borrowed */
    const struct bb_key_range *range;       /* borrowed; never NULL */
    uint64_t sequence;                      /* newer entries are no candidates */
    bool counts_unread;       /* granules of matches alone may be counted and not shown */
    uint64_t counted_records; /* of them */
    struct bb_select_account account;
    const struct bb_catalog *catalog;               /* borrowed */
    struct bb_select_index_account *index_accounts; /* one for each of its indexes; owned */
    struct bb_file_system *system;                  /* for the clock */
    bool (*progress)(void *context, const struct bb_select_account *account);
    void *progress_context;
};

/* BB_BUSY: the selection is cancelled. For streams, now and then. */
BB_MUST_CHECK enum bb_status bb_candidates_progress(struct bb_candidate_source *source);

/* Shows what of a stream is a candidate: of a memtable's. Takes the stream, in any case. */
BB_MUST_CHECK enum bb_status bb_filtered_candidates_create(struct bb_candidate_source *source,
                                                           struct bb_iter *stream,
                                                           struct bb_iter **ret_iter);

/* Those of one table, reading no more granules than its indexes leave. is_countable: each of its puts
 * is what the reader sees of its key, and inside the range. The reference to the file is the
 * caller's. */
BB_MUST_CHECK enum bb_status bb_table_candidates_create(struct bb_candidate_source *source,
                                                        struct bb_table_file *file,
                                                        bool is_countable,
                                                        struct bb_iter **ret_iter);

#endif
