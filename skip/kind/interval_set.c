/* See interval_set.h. Pure functions; any thread. */
#include "skip/kind/interval_set.h"

#include "skip/record/attribute.h"

/* Is the value above everything that the bound allows, as the high end of an interval? */
static bool is_above(const struct bb_attribute *value, const struct bb_bound *high)
{
    if (high->is_open)
        return false;
    int order = bb_attribute_compare(value, &high->value);
    return order > 0 || (order == 0 && high->is_exclusive);
}

static bool is_below(const struct bb_attribute *value, const struct bb_bound *low)
{
    if (low->is_open)
        return false;
    int order = bb_attribute_compare(value, &low->value);
    return order < 0 || (order == 0 && low->is_exclusive);
}

/* The first interval that the value is not above; NULL: it is above all. */
static const struct bb_interval *first_from(const struct bb_leaf *leaf,
                                            const struct bb_attribute *value)
{
    size_t begin = 0;
    size_t end = leaf->interval_count;
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (is_above(value, &leaf->intervals[middle].high))
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < leaf->interval_count ? &leaf->intervals[begin] : NULL;
}

bool bb_interval_set_has(const struct bb_leaf *leaf, const struct bb_attribute *value)
{
    if (bb_attribute_is_nan(value))
        return false;
    const struct bb_interval *interval = first_from(leaf, value);
    return interval != NULL && !is_below(value, &interval->low);
}

bool bb_interval_set_meets(const struct bb_leaf *leaf, const struct bb_value_bounds *bounds)
{
    const struct bb_interval *interval = first_from(leaf, &bounds->low);
    return interval != NULL && (bounds->high_is_open || !is_below(&bounds->high, &interval->low));
}

bool bb_interval_set_covers(const struct bb_leaf *leaf, const struct bb_value_bounds *bounds)
{
    const struct bb_interval *interval = first_from(leaf, &bounds->low);
    if (interval == NULL || is_below(&bounds->low, &interval->low))
        return false;
    return bounds->high_is_open ? interval->high.is_open
                                : !is_above(&bounds->high, &interval->high);
}
