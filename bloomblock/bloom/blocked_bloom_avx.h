/* Probing lines of blocked Bloom filters with vectors: all probes of one product together. Takes
 * the arguments of bb_blocked_bloom_may_contain and returns the same results; reads only the line.
 * Compiled for x86 only.
 *
 * Pure functions; any thread. */
#ifndef BB_BLOOMBLOCK_BLOOM_BLOCKED_BLOOM_AVX_H
#define BB_BLOOMBLOCK_BLOOM_BLOCKED_BLOOM_AVX_H

#include <stdbool.h>
#include <stdint.h>

bool bb_blocked_bloom_avx2(const uint8_t *payload, uint32_t line_count, uint32_t probes,
                           uint64_t hash);
bool bb_blocked_bloom_avx512(const uint8_t *payload, uint32_t line_count, uint32_t probes,
                             uint64_t hash);

#endif
