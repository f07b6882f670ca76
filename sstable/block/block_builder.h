/* Collects entries into the raw payload of a data block.
 *
 *     payload := entry* | restart offset* | u32 (restart count | BB_RESTARTS_WIDE)
 *     entry   := varint shared | varint unshared | varint value size
 *                | varint (sequence << 1 | kind) | suffix | value
 *
 * Every restart_interval-th entry is a restart: it stores its whole key (shared is 0). In all
 * others, shared is the length of the longest common prefix with the key before; readers rely on
 * "longest". Restart offsets have two bytes while the entries take at most BB_NARROW_OFFSETS_MAX
 * bytes. After that they have four, and the flag BB_RESTARTS_WIDE is set.
 *
 * Call order: init (add+ finish reset)* deinit. One thread.
 */
#ifndef BB_SSTABLE_BLOCK_BLOCK_BUILDER_H
#define BB_SSTABLE_BLOCK_BLOCK_BUILDER_H

#include "sstable/entry.h"
#include "sstable/format.h"

/* A buffer that grew beyond this, for a very large value, is released instead of reused. */
#define BB_BLOCK_BUFFER_KEPT_MAX (4u * 1024 * 1024)

struct bb_block_builder {
    struct bb_buf payload;
    struct bb_buf restarts; /* offsets, u32 as stored */
    struct bb_buf last_key; /* of the last entry; kept across a reset */
    uint32_t restart_interval;
    uint32_t entry_count;
};

void bb_block_builder_init(struct bb_block_builder *builder, uint32_t restart_interval);
void bb_block_builder_deinit(struct bb_block_builder *builder);
/* Empties the builder. Releases memory that an ordinary block does not need. */
void bb_block_builder_reset(struct bb_block_builder *builder);

/* REQUIRES: bb_entry_check accepts the entry, and it sorts after the last one. */
BB_MUST_CHECK enum bb_status bb_block_builder_add(struct bb_block_builder *builder,
                                                  const struct bb_entry *entry);
/* Notes the key of an entry whose block comes from elsewhere, so that it becomes the last key.
 * REQUIRES: the builder is empty. */
BB_MUST_CHECK enum bb_status bb_block_builder_skip(struct bb_block_builder *builder,
                                                   struct bb_bytes key);
/* The size that the payload would have if it were finished now. */
size_t bb_block_builder_size(const struct bb_block_builder *builder);
/* *ret_payload is borrowed until reset. */
BB_MUST_CHECK enum bb_status bb_block_builder_finish(struct bb_block_builder *builder,
                                                     struct bb_bytes *ret_payload);

#endif
