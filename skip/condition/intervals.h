/* The intervals in which an attribute satisfies a comparison with constants.
 *
 * Intervals have one form for one meaning: of integers and times every bound is inclusive, a bound
 * that every value satisfies is open, and -0 is +0.
 */
#ifndef BB_SKIP_CONDITION_INTERVALS_H
#define BB_SKIP_CONDITION_INTERVALS_H

#include "bb/condition.h"
#include "skip/condition/leaf.h"
#include "skip/condition/literal.h"

/* comparison is not NOT_EQUAL. ret_count is 0 or 1: no interval where no value satisfies it. The
 * interval borrows the literal's bytes. BB_INVALID as bb_literal_fit. */
BB_MUST_CHECK enum bb_status bb_intervals_compare(enum bb_attribute_type type,
                                                  enum bb_comparison comparison,
                                                  const struct bb_literal *literal,
                                                  struct bb_interval *ret_interval,
                                                  size_t *ret_count);

/* Both ends included; ret_count as above. */
BB_MUST_CHECK enum bb_status bb_intervals_between(enum bb_attribute_type type,
                                                  const struct bb_literal *low,
                                                  const struct bb_literal *high,
                                                  struct bb_interval *ret_interval,
                                                  size_t *ret_count);

/* Brings single values into ascending order and drops repeated ones; the new count. */
size_t bb_intervals_sort_points(struct bb_interval *points, size_t count);

/* A single value. */
bool bb_intervals_is_point(const struct bb_interval *interval);

/* Whether a value is in one of ascending, disjoint intervals. REQUIRES: PRESENT, of the intervals'
 * type. NaN is in no interval. */
bool bb_intervals_contain(const struct bb_interval *intervals, size_t count,
                          const struct bb_attribute *value);

#endif
