/* Why a get reads from disk: all steps of a lookup in order, each with its result.
 *
 *     struct bb_explain explain;
 *     if (bb_db_explain(db, NULL, key, NULL, &explain) == BB_OK)
 *         for (size_t i = 0; i < explain.step_count; i++)
 *             ... explain.steps[i] ...
 *     bb_explain_deinit(&explain);
 *
 * NULL is allowed for options, for the value, and for bb_explain_deinit. */
#ifndef BB_PUBLIC_DB_EXPLAIN_H
#define BB_PUBLIC_DB_EXPLAIN_H

#include "bb/db.h"
#include "bb/table_explain.h"

#ifdef __cplusplus
extern "C" {
#endif

enum bb_explain_kind {
    BB_EXPLAIN_MEMTABLE, /* a memtable was searched */
    BB_EXPLAIN_TABLE,    /* a table was searched, or excluded by its bounds */
    /* The level has tables, but no table's bounds include the key. */
    BB_EXPLAIN_NO_TABLE,
};

/* The result of a step. A value or a tombstone ends the lookup. */
enum bb_explain_found {
    BB_EXPLAIN_NOTHING,
    BB_EXPLAIN_VALUE,
    BB_EXPLAIN_TOMBSTONE,
};

struct bb_explain_step {
    enum bb_explain_kind kind;
    enum bb_explain_found found;
    uint64_t sequence; /* of the version found */
    int level;         /* -1: memtable */
    size_t memtable;   /* 0: the active one, then the frozen ones, newest first */
    /* For BB_EXPLAIN_TABLE only. */
    char *path;
    bool was_opened; /* by this lookup: its footer, root and properties were read */
    /* Visit BB_VISIT_OUT_OF_BOUNDS with all stats 0: the bounds in the manifest excluded the table,
     * so it was not opened. */
    struct bb_table_explain table;
};

/* Owned: bb_explain_deinit. */
struct bb_explain {
    bool is_found;     /* whether the key exists: bb_db_get returns BB_OK, not BB_NOT_FOUND */
    uint64_t sequence; /* sequence at which the store was read */
    struct bb_explain_step *steps;
    size_t step_count;
    /* Sums over the steps. */
    uint64_t memtable_visits;
    uint64_t tables_opened;
    /* block_reads less blocks_mapped, page_reads and table_filter_reads count the preads of the
     * lookup. avoided_requests counts the block requests that filters avoided. With
     * account_avoided, avoided_reads counts how many of these blocks were not in the cache. */
    struct bb_read_stats reads;
};

/* A get with a report. Looks up the key like bb_db_get, with the same result and reads, and counts
 * as a get in the statistics. BB_OK whether the key exists or not. If it exists, its value is
 * copied to *value (replaced; may be NULL). This call makes a few more allocations than bb_db_get.
 * Threads: any. */
BB_API BB_MUST_CHECK enum bb_status bb_db_explain(struct bb_db *db,
                                                  const struct bb_get_options *options,
                                                  struct bb_bytes key, struct bb_buf *value,
                                                  struct bb_explain *ret_explain);
BB_API void bb_explain_deinit(struct bb_explain *explain);

#ifdef __cplusplus
}
#endif
#endif
