/* Probing ribbons with vectors of 64 bytes: AVX-512 with VBMI, VPOPCNTDQ and BITALG. The results
 * equal the portable probes'; filter_probe.h specifies the arguments and the bytes read. Compiled
 * for x86 only.
 *
 * Pure functions; any thread. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_PROBE_AVX512_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_PROBE_AVX512_H

#include "bloomblock/filter_probe.h"

/* Byte-grouped, by the fingerprint bits of the longer step: up to 8, 16, any. */
bb_filter_probe bb_ribbon_probe_avx512_8;
bb_filter_probe bb_ribbon_probe_avx512_16;
bb_filter_probe bb_ribbon_probe_avx512_32;
/* Bit-exact: up to 8, any. */
bb_filter_probe bb_ribbon_probe_avx512_bits_8;
bb_filter_probe bb_ribbon_probe_avx512_bits;
/* Of shards that all have windows, with up to 8 fingerprint bits. */
bb_filter_probe_shards bb_ribbon_probe_avx512_shards;
/* Batches of filters that mostly have up to 8 fingerprint bits, and of others. */
bb_filter_probe_batch bb_ribbon_probe_avx512_batch;
bb_filter_probe_batch bb_ribbon_probe_avx512_batch_wide;

#endif
