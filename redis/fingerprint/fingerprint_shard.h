/* Up to a few thousand fingerprints: a multiset of pairs of a bucket and a remainder.
 *
 *     upper    for each bucket, as many ones as it has fingerprints, and then a zero
 *     lower    the remainders, remainder_bits each, ordered by bucket and value
 *
 * So a fingerprint takes its remainder and one bit, and a bucket one bit. At 0.5 to 1 fingerprints
 * per bucket, this is within 2 bits of log2(1 / rate), the minimum for any filter. The contents
 * determine the order, and so the bytes.
 *
 * A shard is one allocation, which grows to the allocator's next size. A shard without fingerprints
 * is NULL. */
#ifndef BB_REDIS_FINGERPRINT_FINGERPRINT_SHARD_H
#define BB_REDIS_FINGERPRINT_FINGERPRINT_SHARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A shard holds at most this many, so that an attacker who chooses the members cannot make it
 * slow. */
#define BB_FINGERPRINT_SHARD_COUNT_MAX 8192

/* The same for all shards of a table. */
struct bb_fingerprint_shape {
    uint32_t bucket_count;
    /* 1 ... BB_BIT_STRING_FIELD_MAX. */
    uint32_t remainder_bits;
};

struct bb_fingerprint {
    uint64_t remainder;
    uint32_t bucket;
};

struct bb_fingerprint_shard {
    uint32_t count;
    /* Fingerprints for which there is memory. */
    uint32_t capacity;
    uint64_t words[];
};

void bb_fingerprint_shard_destroy(struct bb_fingerprint_shard *shard);

static inline uint32_t bb_fingerprint_shard_size(const struct bb_fingerprint_shard *shard)
{
    return shard == NULL ? 0 : shard->count;
}

/* Of its allocation. */
size_t bb_fingerprint_shard_memory(const struct bb_fingerprint_shard *shard);

/* The number of times that it contains the fingerprint. */
uint32_t bb_fingerprint_shard_find(const struct bb_fingerprint_shard *shard,
                                   const struct bb_fingerprint_shape *shape,
                                   struct bb_fingerprint fingerprint);

/* Adds the fingerprint; may move the shard. False: there is no memory, or the shard has
 * BB_FINGERPRINT_SHARD_COUNT_MAX; it is then unchanged. */
bool bb_fingerprint_shard_add(struct bb_fingerprint_shard **shard,
                              const struct bb_fingerprint_shape *shape,
                              struct bb_fingerprint fingerprint);

/* Removes the fingerprint once. False: it is not there. The last one releases the shard. */
bool bb_fingerprint_shard_remove(struct bb_fingerprint_shard **shard,
                                 const struct bb_fingerprint_shape *shape,
                                 struct bb_fingerprint fingerprint);

/* A copy of a shard with fingerprints. NULL: there is no memory. */
struct bb_fingerprint_shard *bb_fingerprint_shard_copy(const struct bb_fingerprint_shard *shard,
                                                       const struct bb_fingerprint_shape *shape);

/* Makes a shard from the bits of its upper part and of its lower part, each in whole bytes. NULL:
 * the bytes are not valid (unused bits are set, the order is wrong, or a set has equal pairs), or
 * there is no memory. */
struct bb_fingerprint_shard *bb_fingerprint_shard_decode(const struct bb_fingerprint_shape *shape,
                                                         uint32_t count, const uint8_t *bytes,
                                                         bool is_set);

/* The size of these bytes, and the function that writes them. */
size_t bb_fingerprint_shard_encoded_size(const struct bb_fingerprint_shape *shape, uint32_t count);
void bb_fingerprint_shard_encode(const struct bb_fingerprint_shard *shard,
                                 const struct bb_fingerprint_shape *shape, uint8_t *bytes);

/* Visits all fingerprints in order. The cursor begins zeroed. False at the end. */
struct bb_fingerprint_cursor {
    uint64_t upper_at;
    uint32_t index;
    struct bb_fingerprint fingerprint;
};
bool bb_fingerprint_shard_next(const struct bb_fingerprint_shard *shard,
                               const struct bb_fingerprint_shape *shape,
                               struct bb_fingerprint_cursor *cursor);

#endif
