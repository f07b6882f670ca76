/* The stored form of a data block: perhaps compressed, with its trailer.
 *
 *     payload as stored | u8 compression | u32 raw size | u64 checksum
 *
 * The checksum covers everything before it. In an uncompressed block the stored payload is the raw
 * payload, and raw size is its size.
 */
#ifndef BB_SSTABLE_BLOCK_STORED_BLOCK_H
#define BB_SSTABLE_BLOCK_STORED_BLOCK_H

#include "sstable/block/block.h"
#include "sstable/checksum.h"

/* Makes the stored form for the given place. If LZ4 saves at least an eighth, the form is in
 * *packed (replaced). Otherwise the trailer is appended to the payload itself, which avoids a copy.
 * *ret_stored is borrowed from one of them. REQUIRES: payload->size <= BB_BLOCK_RAW_SIZE_MAX. */
BB_MUST_CHECK enum bb_status bb_stored_block_encode(struct bb_buf *payload,
                                                    enum bb_compression compression,
                                                    struct bb_table_id table, uint64_t offset,
                                                    struct bb_buf *packed,
                                                    struct bb_bytes *ret_stored);

/* Whether the checksum of stored bytes is right for this offset. REQUIRES: size >=
 * BB_BLOCK_TRAILER_SIZE. */
bool bb_stored_block_is_whole(const uint8_t *stored, size_t size, struct bb_table_id table,
                              uint64_t offset);
/* The same with a message. Errors: BB_CORRUPT. REQUIRES: size >=
 * BB_BLOCK_TRAILER_SIZE. */
BB_MUST_CHECK enum bb_status bb_stored_block_check(const uint8_t *stored, size_t size,
                                                   struct bb_table_id table, struct bb_place place);

/* Makes a verified stored block searchable. *block holds `size` stored bytes as its payload. If
 * they are compressed, another block with memory from the same spares replaces it. On failure the
 * block is released and *block is NULL. */
BB_MUST_CHECK enum bb_status bb_stored_block_decode(struct bb_block **block, uint32_t size,
                                                    const struct bb_comparator *comparator,
                                                    struct bb_place place);

/* The same for any verified stored bytes. With is_kept the result is a separate block, and scratch
 * may be NULL. Otherwise the result is in the scratch if it fits, and its payload is `stored`
 * itself if that is uncompressed. spares as for bb_block_create.
 *
 * REQUIRES: size >= BB_BLOCK_TRAILER_SIZE.
 */
BB_MUST_CHECK enum bb_status
bb_stored_block_decode_scratch(struct bb_block_scratch *scratch, const uint8_t *stored,
                               uint32_t size, bool is_kept, struct bb_block_spares *spares,
                               const struct bb_comparator *comparator, struct bb_place place,
                               struct bb_block **ret_block);

/* bb_stored_block_decode_scratch with is_kept. */
BB_MUST_CHECK enum bb_status bb_stored_block_copy(const uint8_t *stored, uint32_t size,
                                                  struct bb_block_spares *spares,
                                                  const struct bb_comparator *comparator,
                                                  struct bb_place place,
                                                  struct bb_block **ret_block);

/* The same without a copy: the stored bytes are the payload, and must outlive the block. *ret_block
 * is NULL if they are compressed, or have more than one restart.
 *
 * REQUIRES: size >= BB_BLOCK_TRAILER_SIZE.
 */
BB_MUST_CHECK enum bb_status bb_stored_block_show(const uint8_t *stored, uint32_t size,
                                                  const struct bb_comparator *comparator,
                                                  struct bb_place place,
                                                  struct bb_block **ret_block);

/* The trailer's fields, for tools. */
struct bb_stored_block_info {
    enum bb_compression compression;
    uint32_t raw_size;
};
BB_MUST_CHECK enum bb_status bb_stored_block_info(const uint8_t *stored, size_t size,
                                                  struct bb_place place,
                                                  struct bb_stored_block_info *ret_info);

#endif
