/* The checksum of stored bytes. See the header for its construction. Any thread. */
#include "sstable/checksum.h"

#include <inttypes.h>

#include "base/hash.h"
#include "base/status.h"

struct bb_table_id bb_checksum_decode_table_id(const uint8_t bytes[BB_TABLE_ID_SIZE])
{
    return (struct bb_table_id){.low = bb_load64(bytes), .high = bb_load64(bytes + 8)};
}

uint64_t bb_checksum(struct bb_table_id table, enum bb_stored_type type, uint64_t offset,
                     const void *data, size_t size)
{
    uint64_t place = bb_hash_mix((uint64_t)type << 56 | offset);
    place = bb_hash_mix(table.high ^ place);
    place = bb_hash_mix(table.low ^ place);
    return bb_hash_mix(place ^ bb_hash_bytes(data, size));
}

bool bb_checksum_matches(struct bb_table_id table, enum bb_stored_type type, uint64_t offset,
                         const uint8_t *data, size_t size)
{
    return bb_load64(data + size) == bb_checksum(table, type, offset, data, size);
}

enum bb_status bb_checksum_check(struct bb_table_id table, enum bb_stored_type type,
                                 const char *file, uint64_t offset, const uint8_t *data,
                                 size_t size, const char *what)
{
    uint64_t stored = bb_load64(data + size);
    uint64_t computed = bb_checksum(table, type, offset, data, size);
    if (stored == computed)
        return BB_OK;
    struct bb_place place = {.file = file, .offset = offset};
    return bb_corrupt(place, 0, "%s of %zu bytes has checksum %016" PRIx64 ", expected %016" PRIx64,
                      what, size + BB_CHECKSUM_SIZE, stored, computed);
}
