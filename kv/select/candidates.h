/* Candidates of a selection: the entries of one run whose records match the condition, in both
 * directions. newest.h checks whether a newer version hides one.
 *
 * Threads: one. The shared struct bb_candidate_source must outlive them.
 */
#ifndef BB_KV_SELECT_CANDIDATES_H
#define BB_KV_SELECT_CANDIDATES_H

#include "bb/select.h"
#include "compaction/levels/table_file.h"
#include "kv/indexes/catalog.h"
#include "skip/condition/matcher.h"

struct bb_candidate_source {
    struct bb_matcher matcher;
    /* For the condition; NULL: indexes are not used; owned. */
    struct bb_skip_evaluator *evaluator;
    /* Of the indexes of the current file; owned. */
    struct bb_skip_account *file_accounts;
    size_t file_account_capacity;
    const struct bb_comparator *comparator; /* borrowed */
    const struct bb_key_range *range;       /* borrowed; never NULL */
    uint64_t sequence;                      /* newer entries are ignored */
    /* Granules with only matches may be counted instead of returned. */
    bool counts_unread;
    uint64_t counted_records; /* number of records counted that way */
    struct bb_select_account account;
    const struct bb_catalog *catalog; /* borrowed */
    /* One for each of its indexes; owned. */
    struct bb_select_index_account *index_accounts;
    struct bb_file_system *system; /* for the clock */
    bool (*progress)(void *context, const struct bb_select_account *account);
    void *progress_context;
};

/* The candidates of a stream, for memtables. Takes the stream in any case. */
BB_MUST_CHECK enum bb_status bb_filtered_candidates_create(struct bb_candidate_source *source,
                                                           struct bb_iter *stream,
                                                           struct bb_iter **ret_iter);

/* The candidates of one table. Reads only granules that its indexes do not rule out. is_countable:
 * each of its puts is visible to the reader and inside the range. The caller keeps its reference to
 * the file. */
BB_MUST_CHECK enum bb_status bb_table_candidates_create(struct bb_candidate_source *source,
                                                        struct bb_table_file *file,
                                                        bool is_countable,
                                                        struct bb_iter **ret_iter);

#endif
