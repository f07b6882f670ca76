/* The table filter: one filter over all keys of a table. It is probed before the index.
 *
 * It is a filter cut into shards by the hash (bloomblock/table/sharded_filter.h), with a separate
 * hash domain. Consecutive shards form chunks of about 64 KiB, each with a checksum:
 *
 *     section  := chunk* | list | u32 size of the list | u64 checksum of list and size
 *     chunk    := sharded filter of 2^shift shards, the last of a part fewer | u64 checksum
 *     list     := varint shift | varint parts | (varint keys | varint shards) per part
 *                 | varint stored size of each chunk | fence list of parts 1 ...
 *
 * Sorting all hashes of a large table together would take too much memory. Such a table has several
 * parts, each for a range of keys. The fence before a part never separates versions of one key.
 *
 * Lookups stay correct without it: a damaged chunk returns maybe, and the damage is counted.
 *
 * A table filter that is probed is pinned: in memory are its list, all chunks, contiguous and in
 * their stored form, and an array of eight bytes per shard that locates each shard. A probe takes
 * one load from that array and reads one range of bytes.
 *
 * Threads: constant after load.
 */
#ifndef BB_SSTABLE_FILTER_TABLE_FILTER_H
#define BB_SSTABLE_FILTER_TABLE_FILTER_H

#include "base/assert.h"
#include "base/large_pages.h"
#include "base/status.h"
#include "bloomblock/table/sharded_filter.h"
#include "sstable/checksum.h"
#include "sstable/index/fence_index.h"

struct bb_table_filter_part {
    uint64_t key_count;
    uint64_t first_shard; /* counted over all parts */
    uint32_t shard_count;
    uint32_t first_chunk;
};

struct bb_table_filter {
    /* With a single part: all that bb_table_filter_denies reads except places and chunks, in one
     * cache line. Set by bb_table_filter_make_ready. */
    _Alignas(64) struct bb_filter_shards shards;

    /* Offset in chunks << 16 | descriptor, for each shard. NULL until the chunks are pinned. */
    bb_filter_place *places;
    uint8_t *chunks;
    uint32_t part_count; /* 0: the list is damaged, and there is nothing to probe */
    struct bb_table_filter_part *parts;
    uint32_t chunk_shift;
    uint32_t chunk_count;
    uint64_t shard_count;
    uint64_t *chunk_ends;         /* end of each chunk, in the section */
    struct bb_fence_index fences; /* of parts 1 ... */
    struct bb_large_pages *pages; /* borrowed: memory of places and chunks; NULL: none */
    size_t pinned_size;           /* of places and chunks */
    uint64_t memory_size;         /* of everything */
};

/* The place of a shard in a damaged chunk: descriptor 0, which returns maybe. */
#define BB_TABLE_FILTER_DAMAGED (UINT64_MAX << 16)

/* The context for reading a list. */
struct bb_table_filter_reading {
    const struct bb_comparator *comparator;
    struct bb_table_id table;
    struct bb_place place; /* of the section */
    uint64_t size;         /* of the section */
};

/* Reads the last BB_TABLE_FILTER_TAIL_SIZE bytes of the section. *ret_size is the number of bytes
 * from the list to the end of the section. Errors: BB_CORRUPT. */
BB_MUST_CHECK enum bb_status
bb_table_filter_list_size(const struct bb_table_filter_reading *reading,
                          const uint8_t tail[BB_TABLE_FILTER_TAIL_SIZE], uint64_t *ret_size);
/* Reads these last bytes of the section: parts and chunks, without the chunks' contents. Owned:
 * bb_table_filter_destroy. Errors: BB_CORRUPT. */
BB_MUST_CHECK enum bb_status bb_table_filter_create(const struct bb_table_filter_reading *reading,
                                                    struct bb_bytes list,
                                                    struct bb_table_filter **ret_filter);
/* Creates a table filter that returns maybe for every key. */
BB_MUST_CHECK enum bb_status bb_table_filter_create_unusable(struct bb_table_filter **ret_filter);
/* NULL is allowed. */
void bb_table_filter_destroy(struct bb_table_filter *filter);

static inline uint64_t bb_table_filter_chunk_offset(const struct bb_table_filter *filter,
                                                    uint32_t chunk)
{
    return chunk == 0 ? 0 : filter->chunk_ends[chunk - 1];
}

/* The stored size, with the checksum. */
static inline uint32_t bb_table_filter_chunk_size(const struct bb_table_filter *filter,
                                                  uint32_t chunk)
{
    return (uint32_t)(filter->chunk_ends[chunk] - bb_table_filter_chunk_offset(filter, chunk));
}

/* The number of shards of a chunk. *ret_first_shard is the first one's number, counted over all
 * parts. */
uint32_t bb_table_filter_chunk_shards(const struct bb_table_filter *filter, uint32_t chunk,
                                      uint64_t *ret_first_shard);

/* Checks that the stored bytes are this chunk. stored has the size given in the list. Errors:
 * BB_CORRUPT. */
BB_MUST_CHECK enum bb_status bb_table_filter_chunk_check(
    const struct bb_table_filter *filter, const struct bb_table_filter_reading *reading,
    const struct bb_block_filter_format *format, uint32_t chunk, const uint8_t *stored);

/* Allocates places and chunks, from `pages` (which must outlive the table filter) or from the
 * allocator when it is NULL. Every shard counts as damaged until it is set. */
BB_MUST_CHECK enum bb_status bb_table_filter_pin(struct bb_table_filter *filter,
                                                 struct bb_large_pages *pages);
/* Marks a chunk as usable. REQUIRES: filter->chunks holds it, and it was checked. */
void bb_table_filter_pin_chunk(struct bb_table_filter *filter, uint32_t chunk);

/* The part that a key belongs to. */
static inline uint32_t bb_table_filter_part(const struct bb_table_filter *filter,
                                            const struct bb_comparator *comparator,
                                            struct bb_bytes key)
{
    if (filter->part_count == 1)
        return 0;
    return bb_fence_index_find(&filter->fences, comparator, key, BB_SEQUENCE_MAX);
}

/* REQUIRES: places are set. */
static inline uint64_t bb_table_filter_place(const struct bb_table_filter *filter,
                                             const struct bb_table_filter_part *part,
                                             struct bb_block_filter_key key)
{
    BB_DEBUG_ASSERT(filter->places != NULL);
    return filter->places[part->first_shard + bb_block_filter_shard(key, part->shard_count)];
}

/* Prepares for bb_table_filter_denies. REQUIRES: places are set, there is one part, and the format
 * outlives the table filter. */
void bb_table_filter_make_ready(struct bb_table_filter *filter,
                                const struct bb_block_filter_format *format);

static inline bool bb_table_filter_may_contain(const struct bb_table_filter *filter,
                                               const struct bb_block_filter_format *format,
                                               uint64_t place, struct bb_block_filter_key key)
{
    if ((uint16_t)place == BB_DESCRIPTOR_NONE) /* also for a damaged shard, which has no payload */
        return true;
    return bb_block_filter_may_contain(format, (uint16_t)place, filter->chunks + (place >> 16),
                                       key);
}

/* A fast probe of a table filter that was made ready. True when it rules out the key with this
 * hash. False when it returns maybe, or when the shard is damaged, which the caller counts:
 * *ret_is_let_through is true only in the former case. A result of true leaves *ret_is_let_through
 * unchanged. */
static inline bool bb_table_filter_denies(const struct bb_table_filter *filter, uint64_t key_hash,
                                          bool *ret_is_let_through)
{
    const struct bb_filter_shards *shards = &filter->shards;
    if (!shards->probe(shards, key_hash))
        return true;
    *ret_is_let_through = *bb_filter_probe_place(shards, key_hash) != BB_TABLE_FILTER_DAMAGED;
    return false;
}

/* Prefetches the memory that bb_table_filter_denies reads for this hash. */
static inline void bb_table_filter_prefetch(const struct bb_table_filter *filter, uint64_t key_hash)
{
    filter->shards.prefetch(&filter->shards, key_hash);
}

/* Probes of a batch of keys, in steps; i is the key's index in the batch. First step: returns the
 * address of the shard's place and prefetches it. */
static inline const bb_filter_place *
bb_table_filter_batch_begin(const struct bb_table_filter *filter, uint64_t key_hash,
                            struct bb_filter_batch *batch, size_t i)
{
    const struct bb_filter_shards *shards = &filter->shards;
    const bb_filter_place *place = bb_filter_probe_place(shards, key_hash);
    __builtin_prefetch(place);
    batch->hashes[i] = key_hash ^ shards->domain;
    batch->payloads[i] = shards->payloads;
    batch->fingerprint_bits[i] = shards->fingerprint_bits;
    return place;
}

/* Second step, with that place. False: the shard is damaged, and the result will be maybe. */
static inline bool bb_table_filter_batch_find(bb_filter_place place, struct bb_filter_batch *batch,
                                              size_t i)
{
    batch->places[i] = place;
    return place != BB_TABLE_FILTER_DAMAGED;
}

/* Third step: probes the first count table filters of the batch; bit i is the result of probe i.
 * filter: any of them. A processor has one function for batches, for all fingerprint sizes. */
static inline uint64_t bb_table_filter_batch_probe(const struct bb_table_filter *filter,
                                                   const struct bb_filter_batch *batch,
                                                   size_t count)
{
    return filter->shards.probes->batch(batch, count);
}

#endif
