/* The state that all parts of a selection share: the condition, the reader, the account.
 *
 * Threads: one.
 */
#ifndef BB_KV_SELECT_CANDIDATE_SOURCE_H
#define BB_KV_SELECT_CANDIDATE_SOURCE_H

#include "bb/select.h"
#include "kv/indexes/catalog.h"
#include "kv/select/announced_spans.h"
#include "skip/condition/matcher.h"

struct bb_newest;

struct bb_candidate_source {
    struct bb_matcher matcher;
    /* Evaluates the condition on indexes; owned. NULL: indexes are not used. */
    struct bb_skip_evaluator *evaluator;
    /* Of the indexes of the current file; owned. */
    struct bb_skip_account *file_accounts;
    size_t file_account_capacity;
    const struct bb_comparator *comparator; /* borrowed */
    const struct bb_key_range *range;       /* borrowed; never NULL */
    uint64_t sequence;                      /* newer entries are ignored */
    /* Matches that indexes know may be counted instead of returned. */
    bool counts_unread;
    uint64_t counted_records; /* number of records counted this way */
    struct bb_select_account account;
    const struct bb_catalog *catalog; /* borrowed */
    /* One for each index of the catalog; owned. */
    struct bb_select_index_account *index_accounts;
    struct bb_file_system *system; /* for the clock */
    bool is_read_only;             /* of the store: its writer may remove index files */
    struct bb_newest *newest;      /* borrowed */
    struct bb_announcing announcing;
    struct bb_buf newer; /* owned: newer tables over the current one (table_counting.h) */
    bool (*progress)(void *context, const struct bb_select_account *account);
    void *progress_context;
};

/* Reports progress at every 256th block. Call before each block is read. Errors: BB_BUSY when the
 * caller cancels the selection. */
BB_MUST_CHECK enum bb_status bb_candidate_source_report(struct bb_candidate_source *source);

#endif
