/* See fingerprint_shard.h. */
#include "redis/fingerprint/fingerprint_shard.h"

#include <string.h>

#include "redis/fingerprint/bit_string.h"
#include "redis/server/redis_module.h"

#define GROWTH_MIN 4

static size_t upper_words(const struct bb_fingerprint_shape *shape, uint32_t capacity)
{
    return bb_bit_string_words((uint64_t)shape->bucket_count + capacity);
}

static size_t lower_words(const struct bb_fingerprint_shape *shape, uint32_t capacity)
{
    return bb_bit_string_words((uint64_t)shape->remainder_bits * capacity);
}

static size_t size_for(const struct bb_fingerprint_shape *shape, uint32_t capacity)
{
    return sizeof(struct bb_fingerprint_shard) +
           (upper_words(shape, capacity) + lower_words(shape, capacity)) * sizeof(uint64_t);
}

static uint64_t *lower_of(struct bb_fingerprint_shard *shard,
                          const struct bb_fingerprint_shape *shape)
{
    return shard->words + upper_words(shape, shard->capacity);
}

static uint64_t remainder_at(const struct bb_fingerprint_shard *shard,
                             const struct bb_fingerprint_shape *shape, uint32_t index)
{
    return bb_bit_string_get(shard->words + upper_words(shape, shard->capacity),
                             (uint64_t)index * shape->remainder_bits, shape->remainder_bits);
}

void bb_fingerprint_shard_destroy(struct bb_fingerprint_shard *shard)
{
    RedisModule_Free(shard);
}

size_t bb_fingerprint_shard_memory(const struct bb_fingerprint_shard *shard)
{
    return shard == NULL ? 0 : RedisModule_MallocSize((void *)(uintptr_t)shard);
}

/* The fingerprints of one bucket. */
struct bucket {
    uint64_t upper_at; /* of its first one, or of its zero */
    uint32_t first;
    uint32_t end;
};

static struct bucket bucket_of(const struct bb_fingerprint_shard *shard, uint32_t bucket)
{
    struct bucket found;
    found.upper_at = bb_bit_string_after_zeros(shard->words, bucket);
    found.first = (uint32_t)(found.upper_at - bucket);
    found.end = found.first + (uint32_t)bb_bit_string_ones(shard->words, found.upper_at);
    return found;
}

uint32_t bb_fingerprint_shard_find(const struct bb_fingerprint_shard *shard,
                                   const struct bb_fingerprint_shape *shape,
                                   struct bb_fingerprint fingerprint)
{
    if (shard == NULL)
        return 0;
    uint32_t count = 0;
    struct bucket bucket = bucket_of(shard, fingerprint.bucket);
    for (uint32_t i = bucket.first; i < bucket.end; i++)
        count += remainder_at(shard, shape, i) == fingerprint.remainder;
    return count;
}

/* The largest capacity that the allocation has. */
static uint32_t capacity_in(const struct bb_fingerprint_shard *shard,
                            const struct bb_fingerprint_shape *shape, uint32_t capacity)
{
    size_t size = RedisModule_MallocSize((void *)(uintptr_t)shard);
    uint64_t spare_bits = (size - size_for(shape, capacity)) * 8;
    capacity += (uint32_t)(spare_bits / (shape->remainder_bits + 1));
    while (size_for(shape, capacity) > size)
        capacity--;
    return capacity;
}

/* An empty shard for at least this many. */
static struct bb_fingerprint_shard *create(const struct bb_fingerprint_shape *shape,
                                           uint32_t capacity)
{
    struct bb_fingerprint_shard *shard = RedisModule_TryAlloc(size_for(shape, capacity));
    if (shard == NULL)
        return NULL;
    shard->count = 0;
    shard->capacity = capacity_in(shard, shape, capacity);
    memset(shard->words, 0, size_for(shape, shard->capacity) - sizeof(*shard));
    return shard;
}

/* Copies the fingerprints into an empty shard with space for them. */
static void fill(struct bb_fingerprint_shard *shard, const struct bb_fingerprint_shard *from,
                 const struct bb_fingerprint_shape *shape)
{
    memcpy(shard->words, from->words, upper_words(shape, from->count) * sizeof(uint64_t));
    memcpy(lower_of(shard, shape), from->words + upper_words(shape, from->capacity),
           lower_words(shape, from->count) * sizeof(uint64_t));
    shard->count = from->count;
}

struct bb_fingerprint_shard *bb_fingerprint_shard_copy(const struct bb_fingerprint_shard *shard,
                                                       const struct bb_fingerprint_shape *shape)
{
    struct bb_fingerprint_shard *copy = create(shape, shard->count);
    if (copy != NULL)
        fill(copy, shard, shape);
    return copy;
}

static bool grow(struct bb_fingerprint_shard **shard, const struct bb_fingerprint_shape *shape)
{
    struct bb_fingerprint_shard *old = *shard;
    uint32_t count = bb_fingerprint_shard_size(old);
    uint32_t more = count / 32 > GROWTH_MIN ? count / 32 : GROWTH_MIN;
    struct bb_fingerprint_shard *grown = create(shape, count + more);
    if (grown == NULL)
        return false;
    if (old != NULL) {
        fill(grown, old, shape);
        RedisModule_Free(old);
    }
    *shard = grown;
    return true;
}

bool bb_fingerprint_shard_add(struct bb_fingerprint_shard **shard,
                              const struct bb_fingerprint_shape *shape,
                              struct bb_fingerprint fingerprint)
{
    uint32_t count = bb_fingerprint_shard_size(*shard);
    if (count == BB_FINGERPRINT_SHARD_COUNT_MAX)
        return false;
    if ((*shard == NULL || count == (*shard)->capacity) && !grow(shard, shape))
        return false;
    struct bucket bucket = bucket_of(*shard, fingerprint.bucket);
    uint32_t index = bucket.first;
    while (index < bucket.end && remainder_at(*shard, shape, index) < fingerprint.remainder)
        index++;
    bb_bit_string_insert((*shard)->words, (uint64_t)shape->bucket_count + count, bucket.upper_at, 1,
                         1);
    bb_bit_string_insert(lower_of(*shard, shape), (uint64_t)shape->remainder_bits * count,
                         (uint64_t)index * shape->remainder_bits, shape->remainder_bits,
                         fingerprint.remainder);
    (*shard)->count++;
    return true;
}

bool bb_fingerprint_shard_remove(struct bb_fingerprint_shard **shard,
                                 const struct bb_fingerprint_shape *shape,
                                 struct bb_fingerprint fingerprint)
{
    if (*shard == NULL)
        return false;
    uint32_t count = (*shard)->count;
    struct bucket bucket = bucket_of(*shard, fingerprint.bucket);
    uint32_t index = bucket.first;
    while (index < bucket.end && remainder_at(*shard, shape, index) != fingerprint.remainder)
        index++;
    if (index == bucket.end)
        return false;
    bb_bit_string_remove((*shard)->words, (uint64_t)shape->bucket_count + count, bucket.upper_at,
                         1);
    bb_bit_string_remove(lower_of(*shard, shape), (uint64_t)shape->remainder_bits * count,
                         (uint64_t)index * shape->remainder_bits, shape->remainder_bits);
    (*shard)->count--;
    if (count == 1) {
        RedisModule_Free(*shard);
        *shard = NULL;
    }
    return true;
}

bool bb_fingerprint_shard_next(const struct bb_fingerprint_shard *shard,
                               const struct bb_fingerprint_shape *shape,
                               struct bb_fingerprint_cursor *cursor)
{
    if (cursor->index == bb_fingerprint_shard_size(shard))
        return false;
    while ((shard->words[cursor->upper_at / 64] >> (cursor->upper_at % 64) & 1) == 0)
        cursor->upper_at++;
    cursor->fingerprint.bucket = (uint32_t)(cursor->upper_at - cursor->index);
    cursor->fingerprint.remainder = remainder_at(shard, shape, cursor->index);
    cursor->upper_at++;
    cursor->index++;
    return true;
}

/* --- Bytes --- */

static size_t upper_bytes(const struct bb_fingerprint_shape *shape, uint32_t count)
{
    return ((size_t)shape->bucket_count + count + 7) / 8;
}

static size_t lower_bytes(const struct bb_fingerprint_shape *shape, uint32_t count)
{
    return ((size_t)shape->remainder_bits * count + 7) / 8;
}

size_t bb_fingerprint_shard_encoded_size(const struct bb_fingerprint_shape *shape, uint32_t count)
{
    return upper_bytes(shape, count) + lower_bytes(shape, count);
}

static void store_bytes(const uint64_t *words, uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(words[i / 8] >> (i % 8 * 8));
}

static void load_bytes(uint64_t *words, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        words[i / 8] |= (uint64_t)bytes[i] << (i % 8 * 8);
}

void bb_fingerprint_shard_encode(const struct bb_fingerprint_shard *shard,
                                 const struct bb_fingerprint_shape *shape, uint8_t *bytes)
{
    size_t upper = upper_bytes(shape, shard->count);
    store_bytes(shard->words, bytes, upper);
    store_bytes(shard->words + upper_words(shape, shard->capacity), bytes + upper,
                lower_bytes(shape, shard->count));
}

static bool has_unused_bits(const uint8_t *bytes, uint64_t size_bits)
{
    return size_bits % 8 != 0 && bytes[size_bits / 8] >> (size_bits % 8) != 0;
}

/* The upper part: count ones, and a zero at the end of the last bucket. */
static bool is_upper_sound(const struct bb_fingerprint_shape *shape, uint32_t count,
                           const uint8_t *bytes)
{
    uint64_t size_bits = (uint64_t)shape->bucket_count + count;
    uint64_t ones = 0;
    for (size_t i = 0; i < upper_bytes(shape, count); i++)
        ones += (uint64_t)__builtin_popcount(bytes[i]);
    uint64_t last = size_bits - 1;
    return ones == count && !has_unused_bits(bytes, size_bits) &&
           (bytes[last / 8] >> (last % 8) & 1) == 0;
}

/* Within a bucket, remainders are in order. */
static bool is_in_order(const struct bb_fingerprint_shard *shard,
                        const struct bb_fingerprint_shape *shape, bool is_set)
{
    struct bb_fingerprint_cursor cursor = {.index = 0};
    struct bb_fingerprint before = {.bucket = UINT32_MAX};
    while (bb_fingerprint_shard_next(shard, shape, &cursor)) {
        if (cursor.fingerprint.bucket == before.bucket &&
            (cursor.fingerprint.remainder < before.remainder ||
             (is_set && cursor.fingerprint.remainder == before.remainder)))
            return false;
        before = cursor.fingerprint;
    }
    return true;
}

struct bb_fingerprint_shard *bb_fingerprint_shard_decode(const struct bb_fingerprint_shape *shape,
                                                         uint32_t count, const uint8_t *bytes,
                                                         bool is_set)
{
    size_t upper = upper_bytes(shape, count);
    if (!is_upper_sound(shape, count, bytes) ||
        has_unused_bits(bytes + upper, (uint64_t)shape->remainder_bits * count))
        return NULL;
    struct bb_fingerprint_shard *shard = create(shape, count);
    if (shard == NULL)
        return NULL;
    shard->count = count;
    load_bytes(shard->words, bytes, upper);
    load_bytes(lower_of(shard, shape), bytes + upper, lower_bytes(shape, count));
    if (is_in_order(shard, shape, is_set))
        return shard;
    RedisModule_Free(shard);
    return NULL;
}
