/* The checksum of stored bytes, bound to the place where they are stored.
 *
 *     place    = mix(id low ^ mix(id high ^ mix(type << 56 | offset)))
 *     checksum = mix(place ^ XXH3-64(bytes))
 *
 * mix (base/hash.h) is a bijection, so for fixed bytes a change of only the table, offset or type
 * always changes the checksum. An intact block in the wrong place or file is therefore detected. A
 * reader that knows the place can recover the XXH3 hash from the checksum, so a verified block can
 * be moved without hashing it again.
 */
#ifndef BB_SSTABLE_CHECKSUM_H
#define BB_SSTABLE_CHECKSUM_H

#include "sstable/format.h"

/* The table's id as two little-endian numbers. */
struct bb_table_id {
    uint64_t low;
    uint64_t high;
};

struct bb_table_id bb_checksum_decode_table_id(const uint8_t bytes[BB_TABLE_ID_SIZE]);

/* offset: of the first byte in the file, below 2^56. */
uint64_t bb_checksum(struct bb_table_id table, enum bb_stored_type type, uint64_t offset,
                     const void *data, size_t size);

/* True when the checksum stored after the data matches it. */
bool bb_checksum_matches(struct bb_table_id table, enum bb_stored_type type, uint64_t offset,
                         const uint8_t *data, size_t size);
/* Compares with the checksum stored after the data. Errors: BB_CORRUPT, with both values; `what`
 * names the data. */
BB_MUST_CHECK enum bb_status bb_checksum_check(struct bb_table_id table, enum bb_stored_type type,
                                               const char *file, uint64_t offset,
                                               const uint8_t *data, size_t size, const char *what);

#endif
