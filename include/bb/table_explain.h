/* What one look-up in a table asked, and what it was told: for finding out why a get reads.
 *
 * The look-up is a whole one: it reads, fills caches and is counted as bb_table_get is. It is made
 * from the same parts, on a path of its own, so that the ordinary one pays nothing for it.
 */
#ifndef BB_PUBLIC_TABLE_EXPLAIN_H
#define BB_PUBLIC_TABLE_EXPLAIN_H

#include "bb/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a filter or summary said. */
enum bb_verdict {
    BB_VERDICT_NOT_ASKED, /* the look-up ended before, or it was told not to ask */
    BB_VERDICT_NONE,      /* there is none: the look-up goes on */
    BB_VERDICT_NEGATIVE,  /* the key is certainly not there: the look-up ends */
    BB_VERDICT_MAYBE,
    BB_VERDICT_DAMAGED, /* it, or the part that was needed, cannot be used: as "maybe" */
};
/* "not asked", "none", "negative", "maybe", "damaged". Never NULL. */
BB_API const char *bb_verdict_name(enum bb_verdict verdict);

/* Where something came from. */
enum bb_source {
    BB_SOURCE_NOT_ASKED,
    BB_SOURCE_MEMORY, /* pinned, or in the block cache */
    BB_SOURCE_FILE,   /* read, and verified */
};
/* "not asked", "memory", "file". Never NULL. */
BB_API const char *bb_source_name(enum bb_source source);

struct bb_filter_explain {
    enum bb_verdict verdict;
    enum bb_source source;    /* a block's filter comes with its index page */
    enum bb_filter_kind kind; /* of what follows; BB_FILTER_DEFAULT: it was not looked at, or its
                                 page has left a small cache meanwhile */
    uint64_t size_bytes;
    double rate; /* share of absent keys that it lets pass: of a summary as planned, which a small
                    one is better than; of a block's filter as its bits predict */
    uint64_t reserved[2];
};

struct bb_table_explain {
    enum bb_visit visit; /* how it ended */
    uint64_t
        sequence; /* of the version found, for BB_VISIT_PRESENT and BB_VISIT_TOMBSTONE, there also
                            that of a range tombstone */
    uint64_t range_sequence; /* of the newest range tombstone over the key, asked first; 0: none */
    struct bb_filter_explain summary;
    enum bb_source page; /* index page; what follows is known if it was asked */
    uint32_t page_number;
    uint64_t page_offset;
    uint32_t page_size_bytes;
    struct bb_filter_explain filter; /* of the block */
    enum bb_source block;            /* what follows is known if the index page was asked */
    uint64_t block_offset;
    uint32_t block_size_bytes;  /* as stored */
    struct bb_read_stats stats; /* what this visit added to the statistics */
    uint64_t reserved[4];
};

/* bb_table_get with a report; parameters and results are the same, but that *stats (may be NULL) is
 * replaced by what this visit counted, on failure too. */
BB_API BB_MUST_CHECK enum bb_status
bb_table_explain(struct bb_table *table, const struct bb_read_options *options, struct bb_bytes key,
                 uint64_t key_hash, uint64_t sequence, struct bb_read_stats *stats,
                 struct bb_buf *value, struct bb_table_explain *ret_explain);

#ifdef __cplusplus
}
#endif
#endif
