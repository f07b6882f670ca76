/* Random deviation of a Bloom filter's rate, computed from its set bits, from the expectation. Pure
 * functions; any thread. */
#ifndef BB_STANDALONE_SIZING_RATE_DEVIATION_H
#define BB_STANDALONE_SIZING_RATE_DEVIATION_H

#include "standalone/bloom/cells.h"

/* The relative standard deviation of the rate that bb_filter_info predicts, over sets of this many
 * keys; 0 without keys. Accurate within some per cent for sets of a hundred keys and more, and
 * slightly too large for fewer. */
double bb_rate_deviation(const struct bb_cells *cells, uint64_t key_count);

#endif
