/* Probing ribbons with vectors of 32 bytes: AVX2. The results equal the portable probes';
 * filter_probe.h specifies the arguments and the bytes read. Compiled for x86 only.
 *
 * Pure functions; any thread. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_PROBE_AVX2_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_PROBE_AVX2_H

#include "bloomblock/filter_probe.h"

/* Byte-grouped, by the rank of the longer step: up to 4, 8, 16, any. */
bool bb_ribbon_probe_avx2_4(const uint8_t *payload, uint64_t descriptor, uint64_t rank,
                            uint64_t hash);
bool bb_ribbon_probe_avx2_8(const uint8_t *payload, uint64_t descriptor, uint64_t rank,
                            uint64_t hash);
bool bb_ribbon_probe_avx2_16(const uint8_t *payload, uint64_t descriptor, uint64_t rank,
                             uint64_t hash);
bool bb_ribbon_probe_avx2_32(const uint8_t *payload, uint64_t descriptor, uint64_t rank,
                             uint64_t hash);
/* Bit-exact: rank 6 or 7, any. */
bool bb_ribbon_probe_avx2_bits_7(const uint8_t *payload, uint64_t descriptor, uint64_t rank,
                                 uint64_t hash);
bool bb_ribbon_probe_avx2_bits(const uint8_t *payload, uint64_t descriptor, uint64_t rank,
                               uint64_t hash);
/* Of shards that all have windows, of ranks 4 to 8. */
bool bb_ribbon_probe_avx2_shards(const struct bb_filter_shards *shards, uint64_t key_hash);
/* Batches. */
uint64_t bb_ribbon_probe_avx2_batch(const struct bb_filter_batch *batch, size_t count);

#endif
