/* Bloom filters with counters of 4 bits. */
#include "standalone/bloom/counting_bloom.h"

#include "bloomblock/bloom/bloom.h"

static inline uint32_t counter(const uint8_t *payload, uint64_t c)
{
    return payload[c / 2] >> (c % 2 * 4) & BB_COUNTER_MAX;
}

/* step: 1 or -1. The result must be in 0 ... BB_COUNTER_MAX, because two counters share a byte. */
static inline void change(uint8_t *payload, uint64_t c, int step)
{
    payload[c / 2] = (uint8_t)(payload[c / 2] + step * (1 << (c % 2 * 4)));
}

void bb_counting_bloom_add(uint8_t *payload, uint64_t counter_count, uint32_t probes, uint64_t hash)
{
    for (uint32_t i = 0; i < probes; i++) {
        uint64_t c = bb_bloom_next(&hash, counter_count);
        if (counter(payload, c) != BB_COUNTER_MAX)
            change(payload, c, 1);
    }
}

bool bb_counting_bloom_may_contain(const uint8_t *payload, uint64_t counter_count, uint32_t probes,
                                   uint64_t hash)
{
    for (uint32_t i = 0; i < probes; i++)
        if (counter(payload, bb_bloom_next(&hash, counter_count)) == 0)
            return false;
    return true;
}

/* Reverts the changes that a removal made for the first `probes` probes. A counter at the maximum
 * was at the maximum before the removal, and neither function changes it. */
static void undo(uint8_t *payload, uint64_t counter_count, uint32_t probes, uint64_t hash)
{
    bb_counting_bloom_add(payload, counter_count, probes, hash);
}

bool bb_counting_bloom_remove(uint8_t *payload, uint64_t counter_count, uint32_t probes,
                              uint64_t hash)
{
    uint64_t state = hash;
    for (uint32_t i = 0; i < probes; i++) {
        uint64_t c = bb_bloom_next(&state, counter_count);
        uint32_t value = counter(payload, c);
        if (value == 0) {
            undo(payload, counter_count, i, hash);
            return false;
        }
        if (value != BB_COUNTER_MAX)
            change(payload, c, -1);
    }
    return true;
}

struct bb_counting_bloom_sums bb_counting_bloom_sums(const uint8_t *payload, size_t size)
{
    struct bb_counting_bloom_sums sums = {0};
    for (uint64_t c = 0; c < (uint64_t)size * 2; c++) {
        uint32_t value = counter(payload, c);
        sums.used += value != 0;
        sums.saturated += value == BB_COUNTER_MAX;
        sums.total += value;
    }
    return sums;
}

void bb_counting_bloom_fold(const uint8_t *payload, size_t size, uint64_t factor, uint8_t *bits)
{
    for (uint64_t c = 0; c < (uint64_t)size * 2; c++)
        if (counter(payload, c) != 0)
            bits[c / factor / 8] |= (uint8_t)(1 << c / factor % 8);
}
