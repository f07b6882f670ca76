/* Keeps the questions for members that were made from the leaves of a condition. The files of one
 * store share a secret, so one question serves all of them.
 *
 * Threads: one.
 */
#ifndef BB_SKIP_QUERY_QUERY_CACHE_H
#define BB_SKIP_QUERY_QUERY_CACHE_H

#include "skip/query/member_query.h"

struct bb_kept_query;

/* Valid when zeroed. Owned: bb_query_cache_deinit. */
struct bb_query_cache {
    struct bb_kept_query *queries; /* owned */
    size_t count;
};

/* The question of the leaf for an index with this spec, in a file with this secret. Borrowed until
 * the next call. The leaf must outlive the cache. BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_query_cache_get(struct bb_query_cache *cache,
                                                const struct bb_skip_spec *spec,
                                                const struct bb_hash_secret *secret,
                                                const struct bb_leaf *leaf,
                                                const struct bb_member_query **ret_query);
void bb_query_cache_deinit(struct bb_query_cache *cache);

#endif
