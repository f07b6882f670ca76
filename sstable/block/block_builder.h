/* Collects entries into the raw payload of a data block.
 *
 *     payload := entry* | restart offset* | u32 (restart count | BB_RESTARTS_WIDE)
 *     entry   := varint shared | varint unshared | varint value size
 *                | varint (sequence << 1 | kind) | suffix | value
 *
 * Every restart_interval-th entry is a restart: its key stands whole (shared is 0). In all others,
 * shared is the length of the longest common prefix with the key before; readers rely on "longest".
 * Restart offsets have two bytes while the entries take at most BB_NARROW_OFFSETS_MAX bytes, else
 * four and the flag BB_RESTARTS_WIDE.
 *
 * Call order: init (add+ finish reset)* deinit. One thread.
 */
#ifndef BB_SSTABLE_BLOCK_BLOCK_BUILDER_H
#define BB_SSTABLE_BLOCK_BLOCK_BUILDER_H

#include "sstable/entry.h"
#include "sstable/format.h"

/* A value of a gigabyte passes through once in a while; a buffer larger than this does not stay. */
#define BB_BLOCK_BUFFER_KEPT_MAX (4u * 1024 * 1024)

struct bb_block_builder {
    struct bb_buf payload;
    struct bb_buf restarts; /* offsets, u32 as stored */
    struct bb_buf last_key; /* of the last entry, also after a reset */
    uint32_t restart_interval;
    uint32_t entry_count;
};

void bb_block_builder_init(struct bb_block_builder *builder, uint32_t restart_interval);
void bb_block_builder_deinit(struct bb_block_builder *builder);
/* Empties it; memory beyond an ordinary block is given back. */
void bb_block_builder_reset(struct bb_block_builder *builder);

/* REQUIRES: the entry is allowed (bb_entry_check) and after the last one. */
BB_MUST_CHECK enum bb_status bb_block_builder_add(struct bb_block_builder *builder,
                                                  const struct bb_entry *entry);
/* The next entry's block comes from elsewhere: only its key is noted as the last one. REQUIRES: the
 * builder is empty. */
BB_MUST_CHECK enum bb_status bb_block_builder_skip(struct bb_block_builder *builder,
                                                   struct bb_bytes key);
/* The size of the payload if it were finished now. */
size_t bb_block_builder_size(const struct bb_block_builder *builder);
/* *ret_payload is borrowed until reset. */
BB_MUST_CHECK enum bb_status bb_block_builder_finish(struct bb_block_builder *builder,
                                                     struct bb_bytes *ret_payload);

#endif
