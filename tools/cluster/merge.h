/* The entries of a collection in order: scans of all partitions, merged.
 *
 *     partition 0   page  -> next page        each page is a BB.SCAN with LIMIT
 *     partition 1   page  -> next page   >    heap  ->  entries in order
 *     ...
 *
 * Fields are spread evenly, so the pages of all partitions end at about the same time: whenever one
 * needs its next page, all that have little left fetch theirs in the same round. It is not a
 * snapshot: an entry that is written during the scan may be missing or present. Threads: one. */
#ifndef BB_TOOLS_CLUSTER_MERGE_H
#define BB_TOOLS_CLUSTER_MERGE_H

#include "tools/cluster/collection.h"
#include "tools/keys/key_range.h"

#define MERGE_PAGE_ENTRIES_MAX 256

/* The scan of a partition. */
struct merge_stream {
    struct redisReply *page;  /* owned; NULL: at the end */
    size_t index;             /* of the current field in the page's entries */
    struct redisReply *ahead; /* owned; the page after it, or NULL */
    bool has_more;            /* the partition may have entries after these pages */
};

/* A zeroed struct is valid, for merge_deinit. */
struct merge {
    struct collection *collection; /* borrowed */
    const struct key_range *range; /* borrowed, decoded */
    bool is_reverse;
    uint32_t page_entries;
    struct merge_stream *streams; /* of the partitions */
    uint32_t *heap;               /* partitions with a current entry; the next entry's is first */
    uint32_t heap_count;
};

/* Fetches the first pages. limit: entries that the caller wants at most; 0: all. */
BB_MUST_CHECK enum bb_status merge_init(struct merge *merge, struct collection *collection,
                                        const struct key_range *range, bool is_reverse,
                                        uint64_t limit);
void merge_deinit(struct merge *merge);

static inline bool merge_valid(const struct merge *merge)
{
    return merge->heap_count > 0;
}

/* REQUIRES: merge_valid. Borrowed until the next call. */
struct bb_bytes merge_key(const struct merge *merge);
struct bb_bytes merge_value(const struct merge *merge);
/* BB_IO: a partition's reply is not its entries in order. */
BB_MUST_CHECK enum bb_status merge_next(struct merge *merge);

#endif
