/* How far the rate that the set bits of a Bloom filter give lies from the expectation by chance.
 * Pure functions; any thread.
 */
#ifndef BB_BLOOMBLOCK_SIZING_RATE_DEVIATION_H
#define BB_BLOOMBLOCK_SIZING_RATE_DEVIATION_H

#include "bloomblock/bloom/cells.h"

/* The relative standard deviation of the rate that bb_filter_info predicts, over sets of so many
 * keys; 0 for none. Within some per cent for sets of a hundred keys and more, and rather too large
 * for fewer. */
double bb_rate_deviation(const struct bb_cells *cells, uint64_t key_count);

#endif
