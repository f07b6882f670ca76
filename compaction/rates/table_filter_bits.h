/* Computes how many of a run's filter bits go to the table filters of its tables.
 *
 * The table filter is probed before the index. If it returns maybe for a key, the lookup searches
 * the index, even if a block filter then rules out the key. A small run gets many bits per key from
 * the target (its rate is proportional to its keys) and has few keys: its table filters take little
 * memory, and most lookups of absent keys end there. A bit of memory avoids the same number of
 * false positives in each run if
 *
 *     table filter bits of a run = bits of the largest run + log2(keys of the largest / its keys),
 *
 * limited to the bits that the run has. This is Monkey's rule applied to the table filters' part of
 * the target.
 *
 * Pure functions.
 */
#ifndef BB_COMPACTION_RATES_TABLE_FILTER_BITS_H
#define BB_COMPACTION_RATES_TABLE_FILTER_BITS_H

#include "compaction/rates/rate_request.h"

/* Bits per key for the table filters of a run of run_keys keys. Its table filters and block filters
 * together have that rate. The largest run of the store has largest_keys keys (if less, run_keys)
 * and largest_bits in its table filters. 0 for rate 1, at most log2(1 / rate). */
double bb_table_filter_bits(double largest_bits, double largest_keys, double run_keys, double rate);

/* The same for the new tables of a request, which get that rate. The largest run is the run of the
 * predicted store (forecast.h). */
double bb_table_filter_bits_for_run(const struct bb_rate_request *request, double rate,
                                    double largest_bits);

/* Sets the options of these tables: filter_rate to that rate, and table_filter_bits, which has the
 * store's value, to the result for these tables. BB_TABLE_FILTER_NONE and BB_TABLE_FILTER_ALL stay
 * unchanged. */
void bb_table_filter_bits_set(const struct bb_rate_request *request, double rate,
                              struct bb_table_options *table);

#endif
