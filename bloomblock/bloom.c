/* The classic Bloom filter. */
#include "bloomblock/bloom.h"

#include "base/coding.h"

__extension__ typedef unsigned __int128 product;

/* ON DISK. Odd, without a pattern; one of the 64-bit multipliers of Steele and Vigna,
 * "Computationally easy, spectrally good multipliers", 2021. */
#define REMIX UINT64_C(0xd1342543de82ef95)

static inline uint64_t scale(uint64_t value, uint64_t count)
{
    return (uint64_t)(((product)value * count) >> 64);
}

void bb_bloom_add(uint8_t *payload, uint64_t bit_count, uint32_t probes, uint64_t hash)
{
    for (uint32_t i = 0; i < probes; i++) {
        hash *= REMIX;
        uint64_t bit = scale(hash, bit_count);
        payload[bit / 8] |= (uint8_t)(1 << (bit % 8));
    }
}

bool bb_bloom_may_contain(const uint8_t *payload, uint64_t bit_count, uint32_t probes,
                          uint64_t hash)
{
    for (uint32_t i = 0; i < probes; i++) {
        hash *= REMIX;
        uint64_t bit = scale(hash, bit_count);
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
