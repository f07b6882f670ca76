/* Rates and sizes of partitioned Bloom filters: a slice of bits for every probe, all of one width.
 * The rules of bloomblock/sizing/rate.h apply.
 *
 * Pure functions; any thread. */
#ifndef BB_STANDALONE_SIZING_RATE_PARTITIONED_H
#define BB_STANDALONE_SIZING_RATE_PARTITIONED_H

#include <stdint.h>

/* Exact: slices fill independently of each other. width is not 0. */
double bb_rate_partitioned(uint64_t key_count, uint64_t width, uint32_t probes);
/* The number of probes that needs the fewest bits, which are probes * width. */
uint32_t bb_rate_partitioned_best_probes(uint64_t key_count, double target_rate,
                                         uint64_t *ret_width);

#endif
