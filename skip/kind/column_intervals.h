/* Decodes the numbers of a column's granule and tests each against the intervals of a leaf, in one
 * loop.
 *
 *     of the leaf     of words, which have the order of the numbers
 *     i64 1 to 5      8000000000000001 to 8000000000000005    the sign is inverted
 *     f64 below -2    000fffffffffffff to 3ffffffffffffffe    of negative numbers all bits
 *
 * An interval of words includes both ends: for an excluded end it has the next number. Infinity is
 * the last f64, so NaN is in no interval.
 *
 * bb_column_granule_decode with bb_interval_set_has gives the same truths. WHY two forms: the other
 * builds an attribute for each value and compares it by its type. This was a third of the time of
 * a count by a column.
 *
 * Threads: any number may test with the same intervals.
 */
#ifndef BB_SKIP_KIND_COLUMN_INTERVALS_H
#define BB_SKIP_KIND_COLUMN_INTERVALS_H

#include "skip/condition/leaf.h"
#include "skip/kind/column.h"

struct bb_column_interval {
    uint64_t low;
    uint64_t high; /* included */
};

struct bb_column_intervals {
    enum bb_attribute_type type;
    struct bb_column_interval *intervals; /* owned; ascending */
    size_t count;
};

/* leaf: INTERVALS of numbers. Errors: BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_column_intervals_init(struct bb_column_intervals *intervals,
                                                      const struct bb_leaf *leaf);
void bb_column_intervals_deinit(struct bb_column_intervals *intervals);

/* Sets truths[i] to the enum bb_truth of value i of an open granule. False: the values are
 * malformed, and some truths are set. */
BB_MUST_CHECK bool bb_column_intervals_test(const struct bb_column_intervals *intervals,
                                            const struct bb_column_granule *granule,
                                            uint8_t *truths);

#endif
