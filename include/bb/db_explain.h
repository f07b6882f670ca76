/* Why a get reads what it reads: everything that it asked, in order, and what it was told.
 *
 *     struct bb_explain explain;
 *     if (bb_db_explain(db, NULL, key, NULL, &explain) == BB_OK)
 *         for (size_t i = 0; i < explain.step_count; i++)
 *             ... explain.steps[i] ...
 *     bb_explain_deinit(&explain);
 *
 * NULL is for options, for a value that nobody wants, and for bb_explain_deinit.
 */
#ifndef BB_PUBLIC_DB_EXPLAIN_H
#define BB_PUBLIC_DB_EXPLAIN_H

#include "bb/db.h"
#include "bb/table_explain.h"

#ifdef __cplusplus
extern "C" {
#endif

enum bb_explain_kind {
    BB_EXPLAIN_MEMTABLE, /* a memtable was asked */
    BB_EXPLAIN_TABLE,    /* a table was asked, or left out by its bounds */
    BB_EXPLAIN_NO_TABLE, /* the level has tables, none of which has bounds that hold the key */
};

/* What a step found. A value or a tombstone ends the look-up. */
enum bb_explain_found {
    BB_EXPLAIN_NOTHING,
    BB_EXPLAIN_VALUE,
    BB_EXPLAIN_TOMBSTONE,
};

struct bb_explain_step {
    enum bb_explain_kind kind;
    enum bb_explain_found found;
    uint64_t sequence; /* of what was found */
    int level;         /* -1: memtable */
    size_t memtable;   /* 0: the active one, then the frozen ones, newest first */
    /* Of BB_EXPLAIN_TABLE. */
    char *path;
    bool was_opened; /* by this look-up: its footer, root and properties were read */
    struct bb_table_explain
        table; /* visit BB_VISIT_OUT_OF_BOUNDS with stats all 0: not even opened,
                                      the manifest's bounds leave it out */
    uint64_t reserved[2];
};

/* Owned: bb_explain_deinit. */
struct bb_explain {
    bool is_found;     /* what bb_db_get says by BB_OK and BB_NOT_FOUND */
    uint64_t sequence; /* as of which was asked */
    struct bb_explain_step *steps;
    size_t step_count;
    /* Sums over the steps. */
    uint64_t memtable_visits;
    uint64_t tables_opened;
    struct bb_read_stats
        reads; /* the preads are block_reads, page_reads and summary_reads; what was
                                   avoided, avoided_requests and, with account_avoided,
                                   avoided_reads */
    uint64_t reserved[4];
};

/* A get with a report: looks the key up as bb_db_get does, with its answer, its reads and its counts
 * in the statistics, where it is one more get. BB_OK whether the key is there or not; a copy of its
 * value goes to *value (replaced; may be NULL). Costs some allocations more than a get, which itself
 * pays nothing for this call. Threads: any. */
BB_API BB_MUST_CHECK enum bb_status bb_db_explain(struct bb_db *db,
                                                  const struct bb_get_options *options,
                                                  struct bb_bytes key, struct bb_buf *value,
                                                  struct bb_explain *ret_explain);
BB_API void bb_explain_deinit(struct bb_explain *explain);

#ifdef __cplusplus
}
#endif
#endif
