/* Header and checks of a log. See wal_format.h for the bytes. Any thread. */
#include "kv/wal/wal_format.h"

uint64_t bb_wal_format_seed(const struct bb_wal_identity *identity)
{
    uint64_t seed = bb_hash_mix(identity->log_number);
    seed = bb_hash_mix(seed ^ bb_load64(identity->store_id));
    return bb_hash_mix(seed ^ bb_load64(identity->store_id + 8));
}

/* Every step is a bijection of its input, so a change of only the identity, offset, type or length
 * always changes the check. */
uint64_t bb_wal_format_check(uint64_t seed, uint64_t offset, enum bb_wal_fragment_type type,
                             struct bb_bytes body)
{
    uint64_t place = bb_hash_mix(seed ^ offset);
    place = bb_hash_mix(place ^ ((uint64_t)type << 16 | body.size));
    return bb_hash_mix(place ^ bb_hash_bytes(body.data, body.size));
}

uint64_t bb_wal_format_place(uint64_t seed, uint64_t check, enum bb_wal_fragment_type type,
                             struct bb_bytes body)
{
    uint64_t place = bb_hash_unmix(check) ^ bb_hash_bytes(body.data, body.size);
    place = bb_hash_unmix(place) ^ ((uint64_t)type << 16 | body.size);
    return bb_hash_unmix(place) ^ seed;
}

void bb_wal_format_encode_header(const struct bb_wal_identity *identity,
                                 uint8_t ret_header[BB_WAL_HEADER_SIZE])
{
    memcpy(ret_header, BB_WAL_MAGIC, BB_WAL_MAGIC_SIZE);
    bb_store32(ret_header + 8, BB_WAL_VERSION);
    bb_store32(ret_header + 12, 0);
    bb_store64(ret_header + 16, identity->log_number);
    memcpy(ret_header + 24, identity->store_id, BB_WAL_STORE_ID_SIZE);
    bb_store64(ret_header + 40, bb_wal_format_check_header(ret_header));
}

uint64_t bb_wal_format_check_header(const uint8_t header[BB_WAL_HEADER_SIZE])
{
    return bb_hash_bytes(header, BB_WAL_HEADER_SIZE - 8);
}
