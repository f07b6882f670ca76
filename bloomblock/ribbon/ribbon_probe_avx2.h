/* Probing ribbons with vectors of 32 bytes: AVX2. The results equal the portable probes';
 * filter_probe.h specifies the arguments and the bytes read. Compiled for x86 only.
 *
 * Pure functions; any thread. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_PROBE_AVX2_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_PROBE_AVX2_H

#include "bloomblock/filter_probe.h"

/* Byte-grouped ribbons. The suffix is the largest number of fingerprint bits of the longer step;
 * 16: both steps have at least 8. */
bb_filter_probe bb_ribbon_probe_avx2_4;
bb_filter_probe bb_ribbon_probe_avx2_8;
bb_filter_probe bb_ribbon_probe_avx2_16;
bb_filter_probe bb_ribbon_probe_avx2_32;
/* Bit-exact ribbons: with 6 or 7 fingerprint bits, and with any number. */
bb_filter_probe bb_ribbon_probe_avx2_bits_7;
bb_filter_probe bb_ribbon_probe_avx2_bits;
/* Shards that all have windows, with 4 to 8 fingerprint bits. */
bb_filter_probe_shards bb_ribbon_probe_avx2_shards;
/* The same with 8 to 16. */
bb_filter_probe_shards bb_ribbon_probe_avx2_wide_shards;
/* Batches. */
bb_filter_probe_batch bb_ribbon_probe_avx2_batch;

#endif
