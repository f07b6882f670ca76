/* How the bits of a table's filters are split between its summary and the filters of its blocks.
 *
 * The rates of the two multiply. Filters of blocks get a whole number of bits, so that they need no
 * mixture of two ranks and lose nothing to it; the summary, of which there is one, gets the rest.
 * Pure functions; any thread.
 */
#ifndef BB_SSTABLE_FILTER_SPLIT_H
#define BB_SSTABLE_FILTER_SPLIT_H

#include "bb/table.h"

/* Bits of the summary when the caller does not say (docs/decisions/0006-summary-split.md). */
#define BB_SUMMARY_BITS_DEFAULT 5.0
#define BB_SUMMARY_BITS_MIN     1.0
#define BB_SUMMARY_BITS_MAX     24.0
/* A block's filter of less is not worth its descriptor of 16 bits: the summary gets them too. */
#define BB_BLOCK_FILTER_BITS_MIN 2

struct bb_filter_split {
    double summary_rate; /* 1: no summary */
    double block_rate;   /* 1: no filters of blocks */
};

/* summary_rate * block_rate is filter_rate, exactly. summary_bits: in the range above, or
 * BB_SUMMARY_NONE or BB_SUMMARY_ALL. */
struct bb_filter_split bb_filter_split(double filter_rate, double summary_bits);

#endif
