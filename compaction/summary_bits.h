/* How many of a run's filter bits stand in the summaries of its tables.
 *
 * A summary is asked before anything is searched; what passes it costs a search, whatever the
 * filters of blocks say then. A run that is small gets many bits per key from the promise (its rate
 * is in proportion to its keys), and few keys to spend them on: put into its summaries they take
 * nothing worth naming, and most look-ups of absent keys end there. So that all runs together let
 * through as many as the largest alone, per bit,
 *
 *     summary bits of a run = those of the largest run + log2(keys of the largest / its keys),
 *
 * within the bits that the run has: Monkey's rule with the summaries' part of the promise.
 *
 * Pure functions.
 */
#ifndef BB_COMPACTION_SUMMARY_BITS_H
#define BB_COMPACTION_SUMMARY_BITS_H

#include "compaction/rate_request.h"

/* Bits per key for the summaries of a run of run_keys keys whose filters in all have that rate,
 * when the largest run of the store has largest_keys (less than run_keys counts as run_keys) and
 * largest_bits in its summaries. 0 for rate 1, at most log2(1 / rate). */
double bb_summary_bits(double largest_bits, double largest_keys, double run_keys, double rate);

/* The same for the new tables of a request, which get that rate, in the store as it will be during
 * their life. */
double bb_summary_bits_for_run(const struct bb_rate_request *request, double rate,
                               double largest_bits);

/* The same as options of these tables: filter_rate, and of summary_bits, the store's, what falls to
 * them. BB_SUMMARY_NONE and BB_SUMMARY_ALL stay as they are. */
void bb_summary_bits_set(const struct bb_rate_request *request, double rate,
                         struct bb_table_options *table);

#endif
