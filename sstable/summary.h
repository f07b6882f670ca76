/* The summary: one filter over all keys of a table, asked before anything is searched.
 *
 * A ribbon cut into shards by the hash (bloomblock/sharded_ribbon.h), in a hash domain of its own.
 * Consecutive shards stand together in chunks of about 64 KiB, each with a checksum:
 *
 *     section  := chunk* | list | u32 size of the list | u64 checksum of list and size
 *     chunk    := sharded ribbon of 2^shift shards, the last of a part fewer | u64 checksum
 *     list     := varint shift | varint parts | (varint keys | varint shards) per part
 *                 | varint stored size of each chunk | fence list of parts 1 ...
 *
 * A table whose hashes would take too much memory to be sorted at once has several parts, each for
 * a range of keys; the fence in front of a part never separates versions of one key.
 *
 * Nothing depends on it: what is damaged says "may contain", and is counted.
 *
 * In memory the list is always there once it was asked for. Pinned, all chunks are too, in one
 * piece as they are stored, and beside them eight bytes per shard that say where it is: one look
 * there and one load of eight groups of rows answer a question.
 *
 * Threads: constant after load, but for the backoffs, which are atomic.
 */
#ifndef BB_SSTABLE_SUMMARY_H
#define BB_SSTABLE_SUMMARY_H

#include "base/large_pages.h"
#include "base/status.h"
#include "bloomblock/descriptor.h"
#include "bloomblock/ribbon/ribbon_shards.h"
#include "bloomblock/sharded_ribbon.h"
#include "sstable/backoff.h"
#include "sstable/block/block_cache.h"
#include "sstable/checksum.h"
#include "sstable/index/fence_index.h"

struct bb_summary_part {
    uint64_t key_count;
    uint64_t first_shard; /* of all parts' */
    uint32_t shard_count;
    uint32_t first_chunk;
};

struct bb_summary {
    /* Of a single part: all that bb_summary_denies looks at but places and chunks themselves, in one
     * cache line. Set by bb_summary_make_ready. */
    _Alignas(64) struct bb_ribbon_shards shards;

    /* Pinned: offset in chunks << 16 | descriptor, of each shard. NULL: chunks are in the cache. */
    uint64_t *places;
    uint8_t *chunks;
    uint32_t part_count; /* 0: the list is damaged, there is nothing to be asked */
    const struct bb_summary_part *parts;
    uint32_t chunk_shift;
    uint32_t chunk_count;
    uint64_t shard_count;
    const uint64_t *chunk_ends;        /* of each chunk, in the section */
    struct bb_fence_index fences;      /* of parts 1 ... */
    struct bb_backoff *chunk_backoffs; /* of reading each chunk into the cache */
    struct bb_large_pages *pages;      /* borrowed: where places and chunks are; NULL: nowhere */
    size_t pinned_size;                /* of places and chunks */
    uint64_t memory_size;              /* of everything */
};

/* The place of a shard in a damaged chunk: descriptor 0, which says "may contain". */
#define BB_SUMMARY_DAMAGED (UINT64_MAX << 16)

/* How the summary's filters are read, and built: rank and rate are its own. False, or BB_INVALID,
 * when they are out of range. */
BB_MUST_CHECK bool bb_summary_format_restore(struct bb_block_filter_format *format, double rate,
                                             uint64_t salt, uint64_t rank);
BB_MUST_CHECK enum bb_status bb_summary_format_init(struct bb_block_filter_format *format,
                                                    double rate, uint64_t salt);

/* What a list is read with. */
struct bb_summary_reading {
    const struct bb_comparator *comparator;
    struct bb_table_id table;
    struct bb_place place; /* of the section */
    uint64_t size;         /* of the section */
};

/* How many bytes at the end of the section the list and all behind it take, from the section's last
 * BB_SUMMARY_TAIL_SIZE bytes. BB_CORRUPT. */
BB_MUST_CHECK enum bb_status bb_summary_list_size(const struct bb_summary_reading *reading,
                                                  const uint8_t tail[BB_SUMMARY_TAIL_SIZE],
                                                  uint64_t *ret_size);
/* Reads so many last bytes of the section: parts and chunks, without their contents. Owned:
 * bb_summary_destroy. BB_CORRUPT. */
BB_MUST_CHECK enum bb_status bb_summary_create(const struct bb_summary_reading *reading,
                                               struct bb_bytes list,
                                               struct bb_summary **ret_summary);
/* One that says "may contain" to everything. */
BB_MUST_CHECK enum bb_status bb_summary_create_unusable(struct bb_summary **ret_summary);
/* NULL is allowed. */
void bb_summary_destroy(struct bb_summary *summary);

static inline uint64_t bb_summary_chunk_offset(const struct bb_summary *summary, uint32_t chunk)
{
    return chunk == 0 ? 0 : summary->chunk_ends[chunk - 1];
}

/* As stored, with its checksum. */
static inline uint32_t bb_summary_chunk_size(const struct bb_summary *summary, uint32_t chunk)
{
    return (uint32_t)(summary->chunk_ends[chunk] - bb_summary_chunk_offset(summary, chunk));
}

/* Shards of a chunk, and the first one's number among all parts'. */
uint32_t bb_summary_chunk_shards(const struct bb_summary *summary, uint32_t chunk,
                                 uint64_t *ret_first_shard);

/* Is it the chunk that should be there? stored has the size of the list. BB_CORRUPT. */
BB_MUST_CHECK enum bb_status bb_summary_chunk_check(const struct bb_summary *summary,
                                                    const struct bb_summary_reading *reading,
                                                    const struct bb_block_filter_format *format,
                                                    uint32_t chunk, const uint8_t *stored);

/* Memory for places and chunks, all of which count as damaged until they are set; of these pages,
 * which must live longer, or the allocator's when they are NULL. */
BB_MUST_CHECK enum bb_status bb_summary_pin(struct bb_summary *summary,
                                            struct bb_large_pages *pages);
/* The chunk stands in summary->chunks, and is good. */
void bb_summary_pin_chunk(struct bb_summary *summary, uint32_t chunk);

/* The part that a key belongs to. */
static inline uint32_t bb_summary_part(const struct bb_summary *summary,
                                       const struct bb_comparator *comparator, struct bb_bytes key)
{
    if (summary->part_count == 1)
        return 0;
    return bb_fence_index_find(&summary->fences, comparator, key, BB_SEQUENCE_MAX);
}

static inline uint32_t bb_summary_shard(const struct bb_summary_part *part,
                                        struct bb_block_filter_key key)
{
    return bb_shard_of(key.hash, part->shard_count);
}

/* REQUIRES: places. */
static inline uint64_t bb_summary_place(const struct bb_summary *summary,
                                        const struct bb_summary_part *part,
                                        struct bb_block_filter_key key)
{
    return summary->places[part->first_shard + bb_summary_shard(part, key)];
}

/* So that bb_summary_denies may be asked. REQUIRES: places, one part; the format lives as long. */
void bb_summary_make_ready(struct bb_summary *summary, const struct bb_block_filter_format *format);

static inline bool bb_summary_may_contain(const struct bb_summary *summary,
                                          const struct bb_block_filter_format *format,
                                          uint64_t place, struct bb_block_filter_key key)
{
    if ((uint16_t)place == BB_DESCRIPTOR_NONE) /* or a damaged one: then there is no payload */
        return true;
    return bb_block_filter_may_contain(format, (uint16_t)place, summary->chunks + (place >> 16),
                                       key);
}

/* The same at once, of a summary that was made ready: does it certainly not contain the key, given
 * by its hash? False too where the shard is damaged, which is to be counted: *ret_is_let_through
 * tells that it is not that, but that the summary says "may contain". True leaves that as it is. */
static inline bool bb_summary_denies(const struct bb_summary *summary, uint64_t key_hash,
                                     bool *ret_is_let_through)
{
    const struct bb_ribbon_shards *shards = &summary->shards;
    if (!shards->probe(shards, key_hash))
        return true;
    *ret_is_let_through =
        bb_ribbon_shards_place(shards, key_hash ^ shards->domain) != BB_SUMMARY_DAMAGED;
    return false;
}

/* The same question in steps, for many keys at once, as question i of a batch: first where the shard's
 * place is, which begins to be fetched; */
static inline const uint64_t *bb_summary_batch_begin(const struct bb_summary *summary,
                                                     uint64_t key_hash,
                                                     struct bb_ribbon_batch *batch, size_t i)
{
    const struct bb_ribbon_shards *shards = &summary->shards;
    uint64_t hash = key_hash ^ shards->domain;
    const uint64_t *place = &shards->places[bb_shard_of(hash, shards->count)];
    __builtin_prefetch(place);
    batch->hashes[i] = hash;
    batch->ranks[i] = shards->rank;
    return place;
}

/* then, with that place, the ribbon, which is to be asked by shards.probes->many. False: the shard is
 * damaged, and the answer will be "may contain". */
static inline bool bb_summary_batch_find(const struct bb_summary *summary, uint64_t place,
                                         struct bb_ribbon_batch *batch, size_t i)
{
    bool is_none = (uint16_t)place == BB_DESCRIPTOR_NONE;
    batch->payloads[i] = summary->shards.payloads + (is_none ? 0 : place >> 16);
    batch->descriptors[i] = (uint16_t)place;
    return place != BB_SUMMARY_DAMAGED;
}

#endif
