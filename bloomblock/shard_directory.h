/* The directory of a stand-alone ribbon: where each shard's payload is, in one look.
 *
 *     per 8 shards    | base, 64 bits | shard 0 | shard 1 | ... | shard 7 |        40 bytes
 *     shard           | descriptor, 16 bits | offset from base, 16 bits |
 *
 * The last eight may be fewer; then their entries end the directory. Payloads follow it in the
 * order of the shards without gaps; base counts from the first of them. 5 bytes per shard of about
 * 1,000 keys: a look costs one cache line, and the sums are not worked out by the reader.
 */
#ifndef BB_BLOOMBLOCK_SHARD_DIRECTORY_H
#define BB_BLOOMBLOCK_SHARD_DIRECTORY_H

#include "base/coding.h"

#define BB_SHARD_RUN_COUNT     8
#define BB_SHARD_RUN_BASE_SIZE 8
#define BB_SHARD_ENTRY_SIZE    4
#define BB_SHARD_RUN_SIZE      (BB_SHARD_RUN_BASE_SIZE + BB_SHARD_RUN_COUNT * BB_SHARD_ENTRY_SIZE)

struct bb_shard_entry {
    uint16_t descriptor;
    uint64_t offset; /* from the first payload */
};

static inline uint64_t bb_shard_directory_size(uint32_t shard_count)
{
    uint64_t runs = ((uint64_t)shard_count + BB_SHARD_RUN_COUNT - 1) / BB_SHARD_RUN_COUNT;
    return runs * BB_SHARD_RUN_BASE_SIZE + (uint64_t)shard_count * BB_SHARD_ENTRY_SIZE;
}

static inline struct bb_shard_entry bb_shard_directory_entry(const uint8_t *directory,
                                                             uint32_t shard)
{
    const uint8_t *run = directory + (size_t)(shard / BB_SHARD_RUN_COUNT) * BB_SHARD_RUN_SIZE;
    const uint8_t *entry =
        run + BB_SHARD_RUN_BASE_SIZE + (size_t)(shard % BB_SHARD_RUN_COUNT) * BB_SHARD_ENTRY_SIZE;
    uint32_t stored = bb_load32(entry);
    return (struct bb_shard_entry){.descriptor = (uint16_t)stored,
                                   .offset = bb_load64(run) + (stored >> 16)};
}

/* Entries are stored in the order of the shards. */
static inline void bb_shard_directory_store(uint8_t *directory, uint32_t shard,
                                            struct bb_shard_entry stored)
{
    uint8_t *run = directory + (size_t)(shard / BB_SHARD_RUN_COUNT) * BB_SHARD_RUN_SIZE;
    uint8_t *entry =
        run + BB_SHARD_RUN_BASE_SIZE + (size_t)(shard % BB_SHARD_RUN_COUNT) * BB_SHARD_ENTRY_SIZE;
    if (shard % BB_SHARD_RUN_COUNT == 0)
        bb_store64(run, stored.offset);
    bb_store16(entry, stored.descriptor);
    bb_store16(entry + 2, (uint16_t)(stored.offset - bb_load64(run)));
}

#endif
