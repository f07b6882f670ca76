/* See intervals.h. */
#include "skip/condition/intervals.h"

#include <math.h>
#include <stdlib.h>

#include "base/assert.h"
#include "skip/record/attribute.h"

static const struct bb_bound OPEN = {.is_open = true};

static struct bb_bound bound_at(const struct bb_attribute *value, bool is_exclusive)
{
    return (struct bb_bound){.is_exclusive = is_exclusive, .value = *value};
}

/* Gives an exclusive bound of integers its inclusive form. False when no value remains. */
static bool step_inside(struct bb_bound *bound, int64_t step)
{
    if (bound->is_open || !bound->is_exclusive)
        return true;
    bound->is_exclusive = false;
    if (bound->value.type == BB_ATTRIBUTE_U64)
        return !__builtin_add_overflow(bound->value.as.u64, step, &bound->value.as.u64);
    return !__builtin_add_overflow(bound->value.as.i64, step, &bound->value.as.i64);
}

static bool is_integer(enum bb_attribute_type type)
{
    return type == BB_ATTRIBUTE_I64 || type == BB_ATTRIBUTE_U64 || type == BB_ATTRIBUTE_TIME;
}

/* No value is smaller. */
static bool is_lowest(const struct bb_attribute *value)
{
    switch (value->type) {
    case BB_ATTRIBUTE_BYTES:
        return value->as.bytes.size == 0;
    case BB_ATTRIBUTE_U64:
        return value->as.u64 == 0;
    case BB_ATTRIBUTE_F64:
        return value->as.f64 == -INFINITY;
    case BB_ATTRIBUTE_I64:
    case BB_ATTRIBUTE_TIME:
        break;
    }
    return value->as.i64 == INT64_MIN;
}

static bool is_highest(const struct bb_attribute *value)
{
    switch (value->type) {
    case BB_ATTRIBUTE_BYTES:
        return false;
    case BB_ATTRIBUTE_U64:
        return value->as.u64 == UINT64_MAX;
    case BB_ATTRIBUTE_F64:
        return value->as.f64 == INFINITY;
    case BB_ATTRIBUTE_I64:
    case BB_ATTRIBUTE_TIME:
        break;
    }
    return value->as.i64 == INT64_MAX;
}

static bool is_crossed(const struct bb_interval *interval)
{
    if (interval->low.is_open || interval->high.is_open)
        return false;
    int order = bb_attribute_compare(&interval->low.value, &interval->high.value);
    return order > 0 || (order == 0 && (interval->low.is_exclusive || interval->high.is_exclusive));
}

/* A single value stays one, also at the end of the type. */
static void open_needless(struct bb_interval *interval)
{
    if (bb_intervals_is_point(interval))
        return;
    if (!interval->low.is_open && !interval->low.is_exclusive && is_lowest(&interval->low.value))
        interval->low = OPEN;
    if (!interval->high.is_open && !interval->high.is_exclusive &&
        is_highest(&interval->high.value))
        interval->high = OPEN;
}

/* Brings the interval into its form. False when no value is in it. */
static bool settle(struct bb_interval *interval, enum bb_attribute_type type)
{
    if (is_integer(type) && (!step_inside(&interval->low, 1) || !step_inside(&interval->high, -1)))
        return false;
    if (interval->low.is_exclusive && is_highest(&interval->low.value))
        return false;
    if (interval->high.is_exclusive && is_lowest(&interval->high.value))
        return false;
    if (is_crossed(interval))
        return false;
    open_needless(interval);
    return true;
}

/* The lower bound of the values at or above the literal. False when there are no such values. */
static bool low_at(const struct bb_fit *fit, struct bb_bound *ret_low)
{
    *ret_low = OPEN;
    if (!fit->has_floor)
        return true;
    *ret_low = bound_at(&fit->floor, !fit->is_exact);
    if (fit->is_exact || fit->floor.type != BB_ATTRIBUTE_F64)
        return true;
    /* Between two doubles: inclusive at the upper one, which BETWEEN can express. */
    *ret_low = bound_at(&fit->floor, false);
    ret_low->value.as.f64 = nextafter(fit->floor.as.f64, INFINITY) + 0.0;
    return true;
}

/* False when no value satisfies the comparison. */
static bool compare_fit(enum bb_comparison comparison, const struct bb_fit *fit,
                        struct bb_interval *interval)
{
    *interval = (struct bb_interval){.low = OPEN, .high = OPEN};
    switch (comparison) {
    case BB_COMPARISON_EQUAL:
        interval->low = interval->high = bound_at(&fit->floor, false);
        return fit->has_floor && fit->is_exact;
    case BB_COMPARISON_LESS:
        interval->high = bound_at(&fit->floor, fit->is_exact);
        return fit->has_floor;
    case BB_COMPARISON_LESS_OR_EQUAL:
        interval->high = bound_at(&fit->floor, false);
        return fit->has_floor;
    case BB_COMPARISON_GREATER:
        if (fit->has_floor)
            interval->low = bound_at(&fit->floor, true);
        return true;
    case BB_COMPARISON_GREATER_OR_EQUAL:
        return low_at(fit, &interval->low);
    case BB_COMPARISON_NOT_EQUAL:
        break;
    }
    BB_ASSERT(comparison != BB_COMPARISON_NOT_EQUAL); /* it has no one interval */
    return false;
}

enum bb_status bb_intervals_compare(enum bb_attribute_type type, enum bb_comparison comparison,
                                    const struct bb_literal *literal,
                                    struct bb_interval *ret_interval, size_t *ret_count)
{
    struct bb_fit fit;
    struct bb_interval interval;
    enum bb_status status = bb_literal_fit(literal, type, &fit);
    if (status != BB_OK)
        return status;
    bool has_values = compare_fit(comparison, &fit, &interval) && settle(&interval, type);
    *ret_interval = interval;
    *ret_count = has_values ? 1 : 0;
    return BB_OK;
}

enum bb_status bb_intervals_between(enum bb_attribute_type type, const struct bb_literal *low,
                                    const struct bb_literal *high, struct bb_interval *ret_interval,
                                    size_t *ret_count)
{
    struct bb_fit low_fit;
    struct bb_fit high_fit;
    enum bb_status status = bb_literal_fit(low, type, &low_fit);
    if (status == BB_OK)
        status = bb_literal_fit(high, type, &high_fit);
    if (status != BB_OK)
        return status;
    struct bb_interval interval = {.high = bound_at(&high_fit.floor, false)};
    bool has_values =
        high_fit.has_floor && low_at(&low_fit, &interval.low) && settle(&interval, type);
    *ret_interval = interval;
    *ret_count = has_values ? 1 : 0;
    return BB_OK;
}

static int compare_points(const void *a, const void *b)
{
    const struct bb_interval *left = a;
    const struct bb_interval *right = b;
    return bb_attribute_compare(&left->low.value, &right->low.value);
}

size_t bb_intervals_sort_points(struct bb_interval *points, size_t count)
{
    if (count == 0)
        return 0;
    qsort(points, count, sizeof(*points), compare_points);
    size_t kept = 1;
    for (size_t i = 1; i < count; i++)
        if (compare_points(&points[kept - 1], &points[i]) != 0)
            points[kept++] = points[i];
    return kept;
}

bool bb_intervals_is_point(const struct bb_interval *interval)
{
    return !interval->low.is_open && !interval->high.is_open &&
           bb_attribute_compare(&interval->low.value, &interval->high.value) == 0;
}

/* < 0: the value is below the interval; > 0: above it. */
static int place(const struct bb_interval *interval, const struct bb_attribute *value)
{
    if (!interval->low.is_open) {
        int order = bb_attribute_compare(value, &interval->low.value);
        if (order < 0 || (order == 0 && interval->low.is_exclusive))
            return -1;
    }
    if (interval->high.is_open)
        return 0;
    int order = bb_attribute_compare(value, &interval->high.value);
    return order > 0 || (order == 0 && interval->high.is_exclusive) ? 1 : 0;
}

bool bb_intervals_contain(const struct bb_interval *intervals, size_t count,
                          const struct bb_attribute *value)
{
    if (bb_attribute_is_nan(value))
        return false;
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int side = place(&intervals[middle], value);
        if (side == 0)
            return true;
        if (side < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}
