/* Tests values and bounds against the intervals of a leaf, which ascend (skip/condition/leaf.h). */
#ifndef BB_SKIP_KIND_INTERVAL_SET_H
#define BB_SKIP_KIND_INTERVAL_SET_H

#include "skip/condition/leaf.h"

/* Bounds of some values. All values are between the bounds, or equal to one. */
struct bb_value_bounds {
    struct bb_attribute low;
    struct bb_attribute high; /* not set where high_is_open */
    bool high_is_open;        /* the largest value is unknown */
};

/* True if an interval has the value. value: present, of the leaf's type. */
bool bb_interval_set_has(const struct bb_leaf *leaf, const struct bb_attribute *value);
/* True if any value between the bounds is in an interval. */
bool bb_interval_set_meets(const struct bb_leaf *leaf, const struct bb_value_bounds *bounds);
/* True if every value between the bounds is in the same interval. */
bool bb_interval_set_covers(const struct bb_leaf *leaf, const struct bb_value_bounds *bounds);

#endif
