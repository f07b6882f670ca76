/* The cost of filters: bytes on disk and in memory for a number of keys and a rate, calibrated on
 * the store's tables.
 *
 * A filter takes  slope * bits + overhead  per key; the bits follow from the rate and the kind
 * (bloomblock/table_kind.h; docs/filters.md, "Rates between powers of two"). The overhead
 * (descriptors, rounding, spare slots) depends on how many keys share a filter. It is measured on
 * the existing tables, separately for tables that split their bits between a table filter and block
 * filters, and estimated before any table has filters.
 *
 * Pure functions.
 */
#ifndef BB_COMPACTION_RATES_FILTER_COST_H
#define BB_COMPACTION_RATES_FILTER_COST_H

#include "compaction/levels/levels.h"

/* The tables whose filters are planned. */
struct bb_filter_cost_tables {
    enum bb_filter_kind kind;
    double table_filter_bits;   /* as in struct bb_table_options, for the largest run */
    uint32_t blocks_per_filter; /* filter_granularity */
    double keys_per_block;      /* used if the levels have no tables; 0: unknown */
    double uncounted_bytes;     /* the result of bb_filter_budget_uncounted_bytes */
    double budget_bits;         /* per key; 0: unknown */
};

struct bb_filter_cost {
    enum bb_filter_kind kind;
    double table_filter_bits;
    double keys_per_filter; /* of block filters */
    double slope;           /* of block filters; table filters are ribbons */
    /* The overhead per key of a table with only a table filter, or only block filters. */
    double overhead_bits;
    /* The overhead per key of a table with both. */
    double split_overhead_bits;
    /* The part of either overhead for the bytes that each table filter has once. */
    double fixed_bits;
    double uncounted_bytes; /* these bytes, or 0, in tables of very few keys */
    /* Block filters are worth their cost, and the budget is enough for both. */
    bool may_split;
};

/* The bytes of a table filter that do not depend on the number of keys: the list of its parts and
 * chunks (sstable/filter/table_filter.h), the list's checksum, the checksum of a chunk, and the
 * head of a filter with one shard. */
#define BB_FILTER_COST_TABLE_BYTES 40

/* Calibrates on the tables with filters in these levels; without any, estimates from the keys of a
 * block. Tables of very few keys are ignored, unless all bytes count and most tables are like that:
 * the fixed cost of their filters would be taken for a cost of each key. */
struct bb_filter_cost bb_filter_cost_calibrate(const struct bb_levels *levels,
                                               const struct bb_filter_cost_tables *tables);
/* The bytes of a table's filters. In a table of very few keys, the uncounted bytes of its table
 * filter are subtracted. */
double bb_filter_cost_bytes(const struct bb_table_meta *meta, double uncounted_bytes);

/* The same cost for tables of this many keys, instead of the tables of the calibration. */
struct bb_filter_cost bb_filter_cost_in_tables(const struct bb_filter_cost *cost,
                                               double table_keys);

/* True when a table with this rate should have block filters in addition to its table filter. Block
 * filters of very few keys would take more bits than the rate needs. */
bool bb_filter_cost_splits(const struct bb_filter_cost *cost, double rate);

/* Bits per key; 0 for rate 1. A lower rate never costs less. */
double bb_filter_cost_bits(const struct bb_filter_cost *cost, double rate);
/* The lowest rate with at most this many bits per key: BB_FILTER_RATE_MIN ... BB_FILTER_RATE_MAX,
 * or 1. */
double bb_filter_cost_rate(const struct bb_filter_cost *cost, double bits);

#endif
