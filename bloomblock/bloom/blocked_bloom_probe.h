/* Functions that probe a line: one for each instruction set.
 *
 * Pure functions; any thread. */
#ifndef BB_BLOOMBLOCK_BLOOM_BLOCKED_BLOOM_PROBE_H
#define BB_BLOOMBLOCK_BLOOM_BLOCKED_BLOOM_PROBE_H

#include "base/prefetch.h"
#include "bloomblock/bloom/blocked_bloom.h"
#include "bloomblock/cpu.h"

struct bb_blocked_bloom_probe {
    bool (*may_contain)(const uint8_t *payload, uint32_t line_count, uint32_t probes,
                        uint64_t hash);
};

/* The function for an instruction set that the processor has. The result is constant. */
const struct bb_blocked_bloom_probe *bb_blocked_bloom_probe_of(enum bb_cpu cpu);

/* Prefetches the line that a probe of this hash will read. */
static inline void bb_blocked_bloom_probe_prefetch(const uint8_t *payload, uint32_t line_count,
                                                   uint64_t hash)
{
    const uint8_t *line = payload + (size_t)bb_blocked_bloom_line(hash, line_count) * BB_LINE_SIZE;
    __builtin_prefetch(line);
    __builtin_prefetch(line + BB_LINE_SIZE - 1);
    bb_prefetch_done(line);
}

#endif
