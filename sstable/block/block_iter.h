/* An iterator over the entries of one block, in both directions.
 *
 * Call order: init (reset | seek_first | seek_last | seek | next | prev | skip_to)* deinit. The
 * block is borrowed from reset on. Every entry read is checked: its bounds, its shared prefix, and
 * its order. A move in either direction compares the new entry with the previous one. A seek checks
 * against the order that the search over the restarts relied on. One thread.
 */
#ifndef BB_SSTABLE_BLOCK_BLOCK_ITER_H
#define BB_SSTABLE_BLOCK_BLOCK_ITER_H

#include "sstable/block/block.h"

/* Keys up to this size are kept in the iterator itself, longer ones on the heap. */
#define BB_BLOCK_ITER_KEY_SIZE 256

struct bb_block_iter {
    bool is_valid;
    enum bb_status status; /* when not valid: BB_OK at either end, else the error */
    /* When valid, and at the end the last one; borrowed from iterator and block until the iterator
     * moves. */
    struct bb_entry entry;
    const struct bb_block *block;
    const struct bb_comparator *comparator;
    struct bb_place place;
    bool trusts_order;    /* skips the check that entries ascend; false after init */
    uint32_t offset;      /* of the current entry */
    uint32_t next_offset; /* of the end of the current entry */
    uint32_t restart;     /* the restart whose interval holds it */
    uint8_t *key;
    size_t key_size;
    size_t key_capacity;
    /* The next key, assembled for a comparison that is not bytewise. */
    struct bb_buf candidate;
    uint8_t key_inside[BB_BLOCK_ITER_KEY_SIZE];
};

/* The iterator must not be copied or moved after init. */
void bb_block_iter_init(struct bb_block_iter *iter, const struct bb_comparator *comparator);
void bb_block_iter_deinit(struct bb_block_iter *iter);
/* Attaches the iterator to a block (NULL: none), before its first entry. It is not valid until a
 * seek. */
void bb_block_iter_reset(struct bb_block_iter *iter, const struct bb_block *block,
                         struct bb_place place);

void bb_block_iter_seek_first(struct bb_block_iter *iter);
void bb_block_iter_seek_last(struct bb_block_iter *iter);
/* Moves to the first entry at or after (key, sequence). */
void bb_block_iter_seek(struct bb_block_iter *iter, struct bb_bytes key, uint64_t sequence);
/* Moves to the restart entry `restart`. REQUIRES: it exists. */
void bb_block_iter_seek_restart(struct bb_block_iter *iter, uint32_t restart);
/* REQUIRES for the rest: is_valid. */
void bb_block_iter_next(struct bb_block_iter *iter);
void bb_block_iter_prev(struct bb_block_iter *iter);
/* Moves forward to the entry that has the byte at this offset, which may be the current one.
 * REQUIRES: the offset is in the entries, and not before the current entry. */
void bb_block_iter_skip_to(struct bb_block_iter *iter, uint32_t at);

#endif
