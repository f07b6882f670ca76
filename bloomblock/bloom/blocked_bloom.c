/* Bloom filters in lines of 64 bytes. */
#include "bloomblock/bloom/blocked_bloom.h"

#include <math.h>

#include "bloomblock/bloom/bloom.h"

void bb_blocked_bloom_add(uint8_t *payload, uint32_t line_count, uint32_t probes, uint64_t hash)
{
    uint8_t *line = payload + (size_t)bb_blocked_bloom_line(hash, line_count) * BB_LINE_SIZE;
    struct bb_blocked_bloom_line_probes sequence = bb_blocked_bloom_line_probes(hash);
    for (uint32_t i = 0; i < probes; i++) {
        uint32_t position = bb_blocked_bloom_line_probes_next(&sequence);
        line[position / 8] |= (uint8_t)(1 << (position % 8));
    }
}

/* All probes are made, without a branch on the outcome: the line is cached after the first probe,
 * and a mispredicted exit costs more than the other probes. */
bool bb_blocked_bloom_may_contain(const uint8_t *payload, uint32_t line_count, uint32_t probes,
                                  uint64_t hash)
{
    const uint8_t *line = payload + (size_t)bb_blocked_bloom_line(hash, line_count) * BB_LINE_SIZE;
    struct bb_blocked_bloom_line_probes sequence = bb_blocked_bloom_line_probes(hash);
    uint32_t all = 1;
    for (uint32_t i = 0; i < probes; i++) {
        uint32_t position = bb_blocked_bloom_line_probes_next(&sequence);
        all &= (uint32_t)line[position / 8] >> (position % 8);
    }
    return (all & 1) != 0;
}

double bb_blocked_bloom_rate(const uint8_t *payload, uint32_t line_count, uint32_t probes)
{
    double sum = 0;
    for (uint32_t i = 0; i < line_count; i++) {
        uint64_t set = bb_bloom_set_count(payload + (size_t)i * BB_LINE_SIZE, BB_LINE_SIZE);
        sum += pow((double)set / BB_LINE_BITS, probes);
    }
    return sum / line_count;
}
