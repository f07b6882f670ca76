/* A fence: a position in the order of entries that separates one block, page or table from the
 * previous one.
 *
 * INVARIANT: every entry before the fence sorts before (key, sequence), every entry after it sorts
 * at or after.
 *
 * Between two user keys, the key of the fence is the shortest byte string that separates them. Its
 * sequence is BB_SEQUENCE_MAX, so it sorts before every version of that key. Between two versions
 * of one key, the fence is that key with the sequence of the newer version minus 1. A lookup of
 * (key, sequence) therefore finds its whole answer on one side.
 *
 *     fence      := varint (suffix size << 1 | has sequence) | suffix | [varint sequence]
 *     fence list := varint common size | common prefix | fence*
 *
 * Without "has sequence" the sequence is BB_SEQUENCE_MAX. The key is the common prefix followed by
 * the suffix. Under a comparator that is not bytewise keys are stored whole: they are not
 * shortened, and the common prefix is empty.
 */
#ifndef BB_SSTABLE_INDEX_FENCE_H
#define BB_SSTABLE_INDEX_FENCE_H

#include "sstable/entry.h"
#include "sstable/format.h"

struct bb_fence {
    struct bb_bytes key;
    uint64_t sequence;
};

/* The fence between two neighbouring entries; the first sorts before the second. The fence's key
 * borrows from the second key. */
struct bb_fence bb_fence_between(const struct bb_comparator *comparator, struct bb_bytes last_key,
                                 uint64_t last_sequence, struct bb_bytes first_key);

/* Appends the fence without the first common_size bytes of its key. */
BB_MUST_CHECK enum bb_status bb_fence_encode(const struct bb_fence *fence, size_t common_size,
                                             struct bb_buf *buf);
/* Reads one fence. Its key is the suffix only, borrowed. False when the bytes are not a fence. */
BB_MUST_CHECK bool bb_fence_decode(struct bb_cursor *cursor, struct bb_fence *ret_fence);

#endif
