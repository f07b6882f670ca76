/* A data block in memory: the raw payload (drawn in block_builder.h) and its restarts, ready to be
 * searched.
 *
 * Restart offsets are decoded once, when the block is loaded, and with them the eight bytes of each
 * restart key behind the prefix that all restart keys share, as native numbers; a search touches
 * these and then a single interval.
 *
 * What load checks: the payload's tail, the order and bounds of the restart offsets, and every
 * restart entry. Entries in between are checked when they are read.
 * Threads: constant after load.
 */
#ifndef BB_SSTABLE_BLOCK_BLOCK_H
#define BB_SSTABLE_BLOCK_BLOCK_H

#include "base/status.h"
#include "sstable/block/block_cache.h"
#include "sstable/block/block_spares.h"
#include "sstable/entry.h"
#include "sstable/format.h"

/* In memory: struct | room for restarts | payload. What a search touches first lies side by side.
 */
struct bb_block {
    struct bb_cache_item item; /* first */
    uint64_t *prefixes;        /* one per restart; NULL before the block is indexed */
    uint32_t *restarts;        /* offsets of the restart entries */
    uint8_t *payload;
    uint64_t common_number; /* first eight bytes of the prefix of all restart keys */
    uint32_t common_size;   /* of that prefix; 0 when not bytewise */
    uint32_t restart_count;
    uint32_t entries_size;
    uint32_t raw_size;
    uint32_t capacity;     /* of payload */
    uint32_t restart_room; /* bytes */
    uint32_t memory_size;
    struct bb_block_spares *spares; /* that the memory goes back to; NULL: to the allocator */
    void *restart_overflow;         /* owned; instead of the room where that is too small */
    uint64_t room[];
};

/* A block with room for capacity bytes of payload, which the caller fills; one reference. */
BB_MUST_CHECK enum bb_status bb_block_create(uint32_t capacity, struct bb_block **ret_block);
/* The same from spares, which must outlive it. NULL: from the allocator. */
BB_MUST_CHECK enum bb_status bb_block_create_from(struct bb_block_spares *spares, uint32_t capacity,
                                                  struct bb_block **ret_block);
/* Memory of a caller, on its stack, for a block that nobody keeps: nothing is allocated for it, and
 * it is in the processor's caches already. */
#define BB_BLOCK_SCRATCH_SIZE 8192u
struct bb_block_scratch {
    _Alignas(64) uint8_t stored[BB_BLOCK_SCRATCH_SIZE]; /* for the bytes of the file */
    _Alignas(64) uint8_t block[BB_BLOCK_SCRATCH_SIZE];
};

/* A block in the scratch; of its payload, which stands in `stored` or behind the block. The
 * reference is given back as ever, before the scratch goes. NULL when it has no room. */
struct bb_block *bb_block_in_scratch(struct bb_block_scratch *scratch, uint32_t capacity,
                                     bool is_stored);

/* Reads the structure of the payload, which has raw_size bytes, and readies it for searching. place
 * is that of the block in the file; offsets in messages are inside the raw payload. BB_CORRUPT,
 * BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_block_index(struct bb_block *block, uint32_t raw_size,
                                            const struct bb_comparator *comparator,
                                            struct bb_place place);
static inline struct bb_block *bb_block_ref(struct bb_block *block)
{
    atomic_fetch_add_explicit(&block->item.references, 1, memory_order_relaxed);
    return block;
}
static inline void bb_block_unref(struct bb_block *block)
{
    if (block != NULL)
        bb_cache_item_unref(&block->item);
}

/* How many restart entries are before (key, sequence). */
uint32_t bb_block_find_restart(const struct bb_block *block, const struct bb_comparator *comparator,
                               struct bb_bytes key, uint64_t sequence);

/* The last restart at or before an offset in the entries. */
uint32_t bb_block_restart_of(const struct bb_block *block, uint32_t offset);

/* What a look-up found. */
struct bb_block_match {
    bool is_found;  /* the newest version at or before the sequence: below */
    bool has_newer; /* the block holds a version after the sequence */
    uint64_t sequence;
    enum bb_entry_kind kind;
    struct bb_bytes value; /* borrowed from the block */
};

/* Looks for the newest version of key with a sequence of at most `sequence`. Allocates nothing,
 * unless the order is not bytewise and a key is longer than BB_BLOCK_ITER_KEY_SIZE. BB_CORRUPT when
 * an entry on the way cannot be read. */
BB_MUST_CHECK enum bb_status bb_block_find(const struct bb_block *block,
                                           const struct bb_comparator *comparator,
                                           struct bb_place place, struct bb_bytes key,
                                           uint64_t sequence, struct bb_block_match *ret_match);

#endif
