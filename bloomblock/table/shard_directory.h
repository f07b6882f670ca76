/* The directory of a standalone ribbon: where each shard's payload is, in one access.
 *
 *     shard      63                        16 15          0
 *              | offset                      | descriptor  |        8 bytes
 *
 * Payloads follow it in the order of the shards without gaps; offsets count from the first of them.
 * 8 bytes per shard of about 1,000 keys: a look is one load, and the sums are not worked out by the
 * reader. (Offsets of 16 bits from a base per eight shards are 5 bytes per shard, and ten
 * instructions instead of four, an eighth of a probe.)
 */
#ifndef BB_BLOOMBLOCK_TABLE_SHARD_DIRECTORY_H
#define BB_BLOOMBLOCK_TABLE_SHARD_DIRECTORY_H

#include "base/coding.h"

#define BB_SHARD_ENTRY_SIZE 8

struct bb_shard_entry {
    uint16_t descriptor;
    uint64_t offset; /* from the first payload */
};

static inline uint64_t bb_shard_directory_size(uint32_t shard_count)
{
    return (uint64_t)shard_count * BB_SHARD_ENTRY_SIZE;
}

/* The place of a shard, as filter_probe.h has it. */
static inline uint64_t bb_shard_directory_place(const uint8_t *directory, uint64_t shard)
{
    return bb_load64(directory + shard * BB_SHARD_ENTRY_SIZE);
}

static inline struct bb_shard_entry bb_shard_directory_entry(const uint8_t *directory,
                                                             uint32_t shard)
{
    uint64_t stored = bb_shard_directory_place(directory, shard);
    return (struct bb_shard_entry){.descriptor = (uint16_t)stored, .offset = stored >> 16};
}

static inline void bb_shard_directory_store(uint8_t *directory, uint32_t shard,
                                            struct bb_shard_entry entry)
{
    bb_store64(directory + (size_t)shard * BB_SHARD_ENTRY_SIZE,
               entry.offset << 16 | entry.descriptor);
}

#endif
