/* The head of a block: key, sequence, kind and size of the value of its only entry, in its index
 * page. Reads that need only keys use it instead of the block.
 *
 *     head := varint key size | key | varint (sequence << 1 | kind) | varint value size
 *
 * Only blocks of one entry with a large value have one, because it is a second copy of the key.
 */
#ifndef BB_SSTABLE_INDEX_BLOCK_HEAD_H
#define BB_SSTABLE_INDEX_BLOCK_HEAD_H

#include "base/status.h"
#include "sstable/block/block.h"

struct bb_block_head {
    struct bb_bytes key; /* borrowed */
    uint64_t sequence;
    enum bb_entry_kind kind;
    uint32_t value_size;
};

/* Whether a writer gives a head to a block with this entry alone. */
static inline bool bb_block_head_is_useful(const struct bb_block_head *head)
{
    return head->value_size >= BB_HEAD_VALUE_SIZE_MIN && head->key.size <= BB_HEAD_KEY_SIZE_MAX;
}

/* Appends the head. */
BB_MUST_CHECK enum bb_status bb_block_head_encode(const struct bb_block_head *head,
                                                  struct bb_buf *buf);
/* Reads one head; the key is borrowed. False when the bytes are not a head. */
BB_MUST_CHECK bool bb_block_head_decode(struct bb_cursor *cursor, struct bb_block_head *ret_head);

/* Compares the head with its block. place: of the block. Errors: BB_CORRUPT when the block does not
 * have this entry, or has another one too. */
BB_MUST_CHECK enum bb_status bb_block_head_check(const struct bb_block_head *head,
                                                 const struct bb_block *block,
                                                 struct bb_place place);

#endif
