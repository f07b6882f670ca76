/* A data block in memory: the raw payload (drawn in block_builder.h) and its restarts, ready to be
 * searched.
 *
 * Loading a block decodes the restart offsets once. In the byte order it also keeps, for each
 * restart key, the eight bytes after the prefix that all restart keys share, as a native number. A
 * search touches these arrays and then a single interval.
 *
 * Loading checks the payload's tail, the order and bounds of the restart offsets, and every restart
 * entry. The other entries are checked when they are read.
 * Threads: constant after load.
 */
#ifndef BB_SSTABLE_BLOCK_BLOCK_H
#define BB_SSTABLE_BLOCK_BLOCK_H

#include "base/status.h"
#include "sstable/block/block_cache.h"
#include "sstable/block/block_spares.h"
#include "sstable/entry.h"
#include "sstable/format.h"
#include "sstable/prefix_search.h"

/* Memory layout: struct | inline space for restarts | payload. The parts that a search touches
 * first are adjacent. */
struct bb_block {
    struct bb_cache_item item; /* must be first */
    uint64_t *prefixes;        /* one per restart, set in the byte order; NULL before indexing */
    uint32_t *restarts;        /* offsets of the restart entries */
    uint8_t *payload;
    struct bb_prefix common; /* of the restart keys, in the byte order */
    uint32_t restart_count;
    uint32_t entries_size;
    uint32_t raw_size;
    uint32_t capacity;      /* of payload */
    uint32_t restart_space; /* bytes of inline space */
    uint32_t memory_size;
    /* The memory returns here. NULL: to the allocator. */
    struct bb_block_spares *spares;
    /* Owned; holds the restarts when the inline space is too small. */
    void *restart_overflow;
    uint64_t space[];
};

/* The struct, and the restarts of a block of 4 KiB with entries of 100 bytes. */
#define BB_BLOCK_PREFETCH_LINES 4
/* The entries between two restarts, if they have 100 bytes. */
#define BB_BLOCK_PREFETCH_BYTES 2048

/* Creates a block with space for capacity bytes of payload, which the caller fills. One reference.
 * Its memory is from spares, which must outlive the block. NULL: from the allocator. */
BB_MUST_CHECK enum bb_status bb_block_create(struct bb_block_spares *spares, uint32_t capacity,
                                             struct bb_block **ret_block);
/* Creates a block over a payload of size bytes that must outlive it, and is only read. One
 * reference. */
BB_MUST_CHECK enum bb_status bb_block_create_over(const uint8_t *payload, uint32_t size,
                                                  struct bb_block **ret_block);
/* Memory on the caller's stack for a block that is not kept. It needs no allocation and is already
 * in the processor's caches. */
#define BB_BLOCK_SCRATCH_SIZE 8192u
struct bb_block_scratch {
    _Alignas(64) uint8_t stored[BB_BLOCK_SCRATCH_SIZE]; /* for the bytes of the file */
    _Alignas(64) uint8_t block[BB_BLOCK_SCRATCH_SIZE];
};

/* A block in the scratch, with the given payload, which is only read; NULL: with the space after
 * the block. It is unreferenced as usual, before scratch and payload go out of scope. NULL when the
 * scratch is too small. */
struct bb_block *bb_block_in_scratch(struct bb_block_scratch *scratch, uint32_t capacity,
                                     const uint8_t *payload);

/* Parses the payload, which has raw_size bytes, and prepares it for searching. place is the block's
 * place in the file; offsets in messages are within the raw payload. comparator: of all later
 * searches; NULL is the byte order. Errors: BB_CORRUPT, BB_NO_MEMORY. */
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
        bb_block_cache_item_unref(&block->item);
}

/* Begins to load the struct and the restarts, which a search reads first. */
static inline void bb_block_prefetch(const struct bb_block *block)
{
    const char *line = (const char *)block;
    for (size_t i = 0; i < BB_BLOCK_PREFETCH_LINES; i++)
        __builtin_prefetch(line + i * 64);
}
/* Begins to load the entries from the offset `first` up to `end`, the next restart. */
static inline void bb_block_prefetch_interval(const struct bb_block *block, uint32_t first,
                                              uint32_t end)
{
    if (end - first > BB_BLOCK_PREFETCH_BYTES)
        end = first + BB_BLOCK_PREFETCH_BYTES;
    for (uint32_t offset = first; offset < end; offset += 64)
        __builtin_prefetch(block->payload + offset);
}
/* Begins to load the entries that a search for the position reads. The order must be bytewise. */
void bb_block_prefetch_entries(const struct bb_block *block, struct bb_bytes key,
                               uint64_t sequence);

/* The number of restart entries that sort before (key, sequence). */
uint32_t bb_block_find_restart(const struct bb_block *block, const struct bb_comparator *comparator,
                               struct bb_bytes key, uint64_t sequence);

/* The last restart at or before an offset in the entries. */
uint32_t bb_block_restart_of(const struct bb_block *block, uint32_t offset);

/* The result of a lookup. */
struct bb_block_match {
    bool is_found;  /* the fields below hold the newest version at or before the sequence */
    bool has_newer; /* the block has a version after the sequence */
    uint64_t sequence;
    enum bb_entry_kind kind;
    struct bb_bytes value; /* borrowed from the block */
};

/* Finds the newest version of key with a sequence of at most `sequence`. Allocates nothing, unless
 * the order is not bytewise and a key is longer than BB_BLOCK_ITER_KEY_SIZE. Errors: BB_CORRUPT
 * when an entry on the way cannot be read. */
BB_MUST_CHECK enum bb_status bb_block_find(const struct bb_block *block,
                                           const struct bb_comparator *comparator,
                                           struct bb_place place, struct bb_bytes key,
                                           uint64_t sequence, struct bb_block_match *ret_match);

#endif
