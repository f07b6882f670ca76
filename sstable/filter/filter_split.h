/* Splits the filter bits of a table between the table filter and the block filters.
 *
 * The false positive rates of the two multiply. Block filters get a whole number of bits, so that
 * they need no mixture of two widths and lose nothing to rounding. The table filter gets the rest;
 * there is only one. Pure functions; any thread.
 */
#ifndef BB_SSTABLE_FILTER_FILTER_SPLIT_H
#define BB_SSTABLE_FILTER_FILTER_SPLIT_H

#include "base/status.h"
#include "bb/table.h"
#include "bloomblock/table_kind.h"

/* Bits of the table filter by default (docs/decisions/0006-table-filter-split.md). */
#define BB_TABLE_FILTER_BITS_DEFAULT 5.0
#define BB_TABLE_FILTER_BITS_MIN     1.0
#define BB_TABLE_FILTER_BITS_MAX     24.0
/* A block filter with fewer bits is not worth its 16-bit descriptor. The table filter gets those
 * bits too. */
#define BB_BLOCK_FILTER_BITS_MIN 2

struct bb_filter_split {
    double table_filter_rate; /* 1: no table filter */
    double block_rate;        /* 1: no block filters */
};

/* table_filter_rate * block_rate equals filter_rate exactly. table_filter_bits is in the range
 * above, or BB_TABLE_FILTER_NONE or BB_TABLE_FILTER_ALL. */
struct bb_filter_split bb_filter_split(double filter_rate, double table_filter_bits);

/* Fills in the default of the options filter_kind and table_filter_bits, and checks them. Errors:
 * BB_INVALID. */
BB_MUST_CHECK enum bb_status bb_filter_split_resolve(enum bb_filter_kind *kind,
                                                     double *table_filter_bits);

#endif
