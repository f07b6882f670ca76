/* Bloom filters with a slice of bits for each probe. */
#include "standalone/bloom/partitioned_bloom.h"

#include <stddef.h>

#include "bloomblock/bloom/bloom.h"

void bb_partitioned_bloom_add(uint8_t *payload, uint64_t width, uint32_t probes, uint64_t hash)
{
    for (uint32_t i = 0; i < probes; i++) {
        uint64_t bit = i * width + bb_bloom_next(&hash, width);
        payload[bit / 8] |= (uint8_t)(1 << (bit % 8));
    }
}

bool bb_partitioned_bloom_may_contain(const uint8_t *payload, uint64_t width, uint32_t probes,
                                      uint64_t hash)
{
    for (uint32_t i = 0; i < probes; i++) {
        uint64_t bit = i * width + bb_bloom_next(&hash, width);
        if ((payload[bit / 8] >> (bit % 8) & 1) == 0)
            return false;
    }
    return true;
}

/* The number of set bits among start ... end - 1. */
static uint64_t set_count(const uint8_t *payload, uint64_t start, uint64_t end)
{
    uint64_t count = 0;
    for (; start < end && start % 8 != 0; start++)
        count += payload[start / 8] >> (start % 8) & 1;
    for (; start < end && end % 8 != 0; end--)
        count += payload[(end - 1) / 8] >> ((end - 1) % 8) & 1;
    return count + bb_bloom_set_count(payload + start / 8, (size_t)((end - start) / 8));
}

double bb_partitioned_bloom_rate(const uint8_t *payload, uint64_t width, uint32_t probes)
{
    double rate = 1;
    for (uint32_t i = 0; i < probes; i++)
        rate *= (double)set_count(payload, i * width, (i + 1) * width) / (double)width;
    return rate;
}
