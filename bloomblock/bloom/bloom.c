/* The classic Bloom filter. */
#include "bloomblock/bloom/bloom.h"

#include "base/coding.h"

void bb_bloom_add(uint8_t *payload, uint64_t bit_count, uint32_t probes, uint64_t hash)
{
    for (uint32_t i = 0; i < probes; i++) {
        uint64_t bit = bb_bloom_next(&hash, bit_count);
        payload[bit / 8] |= (uint8_t)(1 << (bit % 8));
    }
}

bool bb_bloom_may_contain(const uint8_t *payload, uint64_t bit_count, uint32_t probes,
                          uint64_t hash)
{
    for (uint32_t i = 0; i < probes; i++) {
        uint64_t bit = bb_bloom_next(&hash, bit_count);
        if ((payload[bit / 8] >> (bit % 8) & 1) == 0)
            return false;
    }
    return true;
}

uint64_t bb_bloom_set_count(const uint8_t *payload, size_t size)
{
    uint64_t count = 0;
    size_t i = 0;
    for (; size - i >= 8; i += 8)
        count += (uint64_t)__builtin_popcountll(bb_load64(payload + i));
    for (; i < size; i++)
        count += (uint64_t)__builtin_popcount(payload[i]);
    return count;
}
