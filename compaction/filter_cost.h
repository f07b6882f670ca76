/* What filters cost: bytes on disk and in memory for keys and a rate, as this store's tables have
 * turned out so far.
 *
 * A ribbon takes per key  SLOPE * (r + f) + overhead  bits for a rate between 2^-r and 2^-(r + 1),
 * where f is the part of the filters that have the longer fingerprint (docs/filters.md, "Rates
 * between powers of two"). The overhead (descriptors, rounding to whole groups, spare slots)
 * depends on how many keys share a filter, and is taken from the tables that are there; it is
 * another one for tables whose bits are split between a summary and filters of blocks. Bloom
 * filters take a multiple of the information, which is taken from the tables too.
 *
 * Pure functions.
 */
#ifndef BB_COMPACTION_FILTER_COST_H
#define BB_COMPACTION_FILTER_COST_H

#include "compaction/levels.h"

struct bb_filter_cost {
    enum bb_filter_kind kind;
    double summary_bits; /* as in struct bb_table_options, for the largest run */
    double slope;
    double overhead_bits; /* per key: summary alone, or filters of blocks alone */
    double split_bits;    /* per key: summary and filters of blocks */
};

/* From all tables with filters of these levels; without any, from what is usual. */
struct bb_filter_cost bb_filter_cost_calibrate(const struct bb_levels *levels,
                                               enum bb_filter_kind kind, double summary_bits);

/* Bits per key; 0 for rate 1. Never less for a lower rate. */
double bb_filter_cost_bits(const struct bb_filter_cost *cost, double rate);
/* The least rate that has at most so many bits per key: BB_FILTER_RATE_MIN ... BB_FILTER_RATE_MAX,
 * or 1. */
double bb_filter_cost_rate(const struct bb_filter_cost *cost, double bits);

#endif
