/* The kinds of filters that tables can hold: facts for the layers above, so that
 * only bloomblock knows how they are made. Constants; any thread. */
#ifndef BB_BLOOMBLOCK_TABLE_KIND_H
#define BB_BLOOMBLOCK_TABLE_KIND_H

#include "bb/filter.h"

#define BB_TABLE_KIND_DEFAULT BB_FILTER_RIBBON
#define BB_TABLE_KIND_MAX     BB_FILTER_BLOOM
/* The kind of all table filters, also next to block filters of another kind. */
#define BB_TABLE_KIND_OF_TABLE_FILTERS BB_FILTER_RIBBON

/* The bits of a filter per key are  slope * bb_table_kind_bits() + overhead.  The overhead of a
 * filter of n keys is about  filter_bits / n.  The numbers here hold until there are tables to
 * measure. */
struct bb_table_kind {
    /* Whole bits per key: a rate between two powers of two is mixed from filters of two sizes, and
     * bits divide between a table filter and block filters without loss. */
    bool has_whole_bits;
    double slope;
    double filter_bits;                /* of each filter, with any number of keys */
    double line_bits;                  /* 0, or a filter has whole lines of this many bits */
    double table_filter_overhead_bits; /* of table filters of some thousand keys */
};

/* NULL: tables cannot hold filters of this kind. */
const struct bb_table_kind *bb_table_kind_find(enum bb_filter_kind kind);

/* The lowest number of bits per key for a rate below 1 with filters of
 * this kind. REQUIRES: tables can hold it. */
double bb_table_kind_bits(enum bb_filter_kind kind, double rate);

#endif
