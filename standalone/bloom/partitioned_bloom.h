/* The partitioned Bloom filter (Mullin, "A second look at Bloom filters", 1983; Almeida, Baquero,
 * Preguica, Hutchison, "Scalable Bloom filters", 2007): one slice of bits per probe, so that the
 * probes of a key never coincide and every key sets exactly k bits.
 *
 *     payload    | slice 0 | slice 1 | ... | slice k - 1 |      w bits each, k * w in all
 *                bit b is bit b mod 8 of byte b / 8; bits after the last slice are zero
 *     probe i    bit i * w + floor(h * C^(i+1) / 2^64 * w), as a probe of bloom.h among w bits
 *
 * Threads: one thread may add; the rest are pure. */
#ifndef BB_STANDALONE_BLOOM_PARTITIONED_BLOOM_H
#define BB_STANDALONE_BLOOM_PARTITIONED_BLOOM_H

#include <stdbool.h>
#include <stdint.h>

/* width: of a slice; not 0. */
void bb_partitioned_bloom_add(uint8_t *payload, uint64_t width, uint32_t probes, uint64_t hash);
bool bb_partitioned_bloom_may_contain(const uint8_t *payload, uint64_t width, uint32_t probes,
                                      uint64_t hash);

/* The rate for non-member keys, computed from the set bits: the product of the fills of all
 * slices. */
double bb_partitioned_bloom_rate(const uint8_t *payload, uint64_t width, uint32_t probes);

#endif
