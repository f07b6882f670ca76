/* A report on one lookup in a table, with each step and its result. It shows why a get reads from
 * disk.
 *
 * The lookup is a normal one: it reads, fills caches and is counted like bb_table_get. It has a
 * separate code path, so that bb_table_get does not pay for the report. */
#ifndef BB_PUBLIC_TABLE_EXPLAIN_H
#define BB_PUBLIC_TABLE_EXPLAIN_H

#include "bb/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Result of probing a table filter or block filter. */
enum bb_verdict {
    /* Not probed: the lookup ended earlier, or the options disabled it. */
    BB_VERDICT_NOT_PROBED,
    /* There is no filter. The lookup continues. */
    BB_VERDICT_NONE,
    /* The key is certainly absent. The lookup ends. */
    BB_VERDICT_NEGATIVE,
    BB_VERDICT_MAYBE,
    /* The filter, or the part needed, is unusable. Treated as "maybe". */
    BB_VERDICT_DAMAGED,
};
/* "not probed", "none", "negative", "maybe", "damaged". Never NULL. */
BB_API const char *bb_verdict_name(enum bb_verdict verdict);

/* Where a page or a block was found. */
enum bb_source {
    BB_SOURCE_NOT_READ,
    /* Pinned, or in the block cache. */
    BB_SOURCE_MEMORY,
    /* Read from the file and verified. */
    BB_SOURCE_FILE,
};
/* "not read", "memory", "file". Never NULL. */
BB_API const char *bb_source_name(enum bb_source source);

struct bb_filter_explain {
    enum bb_verdict verdict;
    /* A block filter is read with its index page. */
    enum bb_source source;
    /* Kind of the filter. BB_FILTER_DEFAULT: it was not examined, or its page was evicted from a
     * small cache during the lookup. */
    enum bb_filter_kind kind;
    uint64_t size_bytes;
    /* Share of non-member keys for which it returns maybe. For a table filter: the planned rate; a
     * small filter's real rate is lower. For a block filter: predicted from its bits. */
    double rate;
};

struct bb_table_explain {
    /* The outcome. */
    enum bb_visit visit;
    /* Sequence of the version found, for BB_VISIT_PRESENT and BB_VISIT_TOMBSTONE. For
     * BB_VISIT_TOMBSTONE it may be the sequence of a range tombstone. */
    uint64_t sequence;
    /* Sequence of the newest range tombstone over the key, which is checked first; 0: none. */
    uint64_t range_sequence;
    struct bb_filter_explain table_filter;
    /* The index page. The block filter is known if this is not BB_SOURCE_NOT_READ. */
    enum bb_source page;
    uint32_t page_number;
    uint64_t page_offset;
    uint32_t page_size_bytes;
    /* The block filter. */
    struct bb_filter_explain filter;
    /* The block. Its size is known if the index page was read. */
    enum bb_source block;
    uint64_t block_offset;
    /* Stored size. */
    uint32_t block_size_bytes;
    /* Statistics of this visit. */
    struct bb_read_stats stats;
};

/* bb_table_get with a report. Parameters and results are the same, except that *stats (may be NULL)
 * is set to the counts of this visit, even on failure. */
BB_API BB_MUST_CHECK enum bb_status
bb_table_explain(struct bb_table *table, const struct bb_read_options *options, struct bb_bytes key,
                 uint64_t key_hash, uint64_t sequence, struct bb_read_stats *stats,
                 struct bb_buf *value, struct bb_table_explain *ret_explain);

#ifdef __cplusplus
}
#endif
#endif
