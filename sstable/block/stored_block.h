/* A data block as it stands in the file: perhaps compressed, with its trailer.
 *
 *     payload as stored | u8 compression | u32 raw size | u64 checksum
 *
 * The checksum is over everything before it. Stored raw, payload and raw payload are the same and
 * raw size says so.
 */
#ifndef BB_SSTABLE_BLOCK_STORED_BLOCK_H
#define BB_SSTABLE_BLOCK_STORED_BLOCK_H

#include "sstable/block/block.h"
#include "sstable/checksum.h"

/* Makes the stored form, for the given place. With LZ4 it stands in *packed (replaced), unless that
 * saves no eighth: then, and without compression, the payload itself becomes it, with the trailer
 * behind it, so that nothing is copied. *ret_stored is borrowed from either. REQUIRES: payload->size
 * <= BB_BLOCK_RAW_SIZE_MAX. */
BB_MUST_CHECK enum bb_status bb_stored_block_encode(struct bb_buf *payload,
                                                    enum bb_compression compression,
                                                    struct bb_table_id table, uint64_t offset,
                                                    struct bb_buf *packed,
                                                    struct bb_bytes *ret_stored);

/* Checks the checksum of stored bytes: BB_CORRUPT. REQUIRES: size >= BB_BLOCK_TRAILER_SIZE. */
BB_MUST_CHECK enum bb_status bb_stored_block_check(const uint8_t *stored, size_t size,
                                                   struct bb_table_id table, struct bb_place place);

/* Makes a checked stored block searchable. *block holds the stored bytes in its payload, size of
 * them, and is exchanged for another when they are compressed; on failure it is released and NULL.
 */
BB_MUST_CHECK enum bb_status bb_stored_block_decode(struct bb_block **block, uint32_t size,
                                                    const struct bb_comparator *comparator,
                                                    struct bb_place place);

/* The same from the bytes that stand in scratch->stored: into a block of its own that is_kept, else
 * into the scratch where it has room; spares as for bb_block_create_from.
 * REQUIRES: BB_BLOCK_TRAILER_SIZE <= size <= its size. */
BB_MUST_CHECK enum bb_status bb_stored_block_decode_scratch(
    struct bb_block_scratch *scratch, uint32_t size, bool is_kept, struct bb_block_spares *spares,
    const struct bb_comparator *comparator, struct bb_place place, struct bb_block **ret_block);

/* The same from any checked stored bytes, into a block of its own; spares as above.
 * REQUIRES: size >= BB_BLOCK_TRAILER_SIZE. */
BB_MUST_CHECK enum bb_status bb_stored_block_copy(const uint8_t *stored, uint32_t size,
                                                  struct bb_block_spares *spares,
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
