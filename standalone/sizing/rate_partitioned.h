/* Rates and sizes of partitioned Bloom filters: each probe has a slice of bits, and all slices have
 * the same width. The rules of bloomblock/sizing/rate.h apply.
 *
 * Pure functions; any thread. */
#ifndef BB_STANDALONE_SIZING_RATE_PARTITIONED_H
#define BB_STANDALONE_SIZING_RATE_PARTITIONED_H

#include <stdint.h>

/* The rate. It is exact, because slices fill independently of each other. width is not 0. */
double bb_rate_partitioned(uint64_t key_count, uint64_t width, uint32_t probes);
/* The number of probes that needs the fewest bits: probes * *ret_width. */
uint32_t bb_rate_partitioned_best_probes(uint64_t key_count, double target_rate,
                                         uint64_t *ret_width);

#endif
