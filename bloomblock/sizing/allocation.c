/* Distributes a target of wasted reads over the runs of a store: bb_filter_allocate of bb/filter.h.
 *
 * Memory is the sum of keys * log2(1 / rate), the target bounds the sum of weight * rate, where the
 * weight of a run is visit_share * read_cost. Lagrange: rate = c * keys / weight, with one c for
 * all runs that are not at a bound. Runs are fixed at a bound one after another, the run furthest
 * outside first, and the rest of the target is distributed over the other runs.
 *
 * The shares of the rest are ordered by keys / weight, which fixing does not change. So runs are
 * sorted by it once, and fixed from both ends: first runs above the largest rate, then runs below
 * the smallest. Raising a run to the smallest rate leaves less than their shares to the others, so
 * that none of them exceeds the largest rate again.
 *
 * Between 1/2 and 1 there is no filter. A run whose share is in this range takes 1/2, which costs a
 * bit per key and leaves more to the others, or gets no filter, whichever needs less memory in
 * total. */
#include <math.h>
#include <stdlib.h>

#include "base/status.h"
#include "bb/filter.h"

/* The part that is not fixed yet. */
struct remainder {
    double keys;
    double target;
};

/* A rate that is not fixed is 0 during the work: no final one is. */
#define OPEN 0.0

static double weight_of(const struct bb_filter_run *run)
{
    double visit_share = run->visit_share == 0 ? 1 : run->visit_share;
    double read_cost = run->read_cost == 0 ? 1 : run->read_cost;
    return visit_share * read_cost;
}

static enum bb_status check(const struct bb_filter_run *runs, size_t run_count, double target)
{
    if (!(target > 0 && target <= (double)run_count))
        return bb_fail(BB_INVALID, "target of wasted reads is %g, with %zu runs it is in (0, %zu]",
                       target, run_count, run_count);
    for (size_t i = 0; i < run_count; i++) {
        const struct bb_filter_run *run = &runs[i];
        if (!(run->visit_share >= 0 && run->visit_share <= 1))
            return bb_fail(BB_INVALID, "visit share of run %zu is %g, it is in [0, 1]", i,
                           run->visit_share);
        if (!(run->read_cost >= 0 && isfinite(run->read_cost)))
            return bb_fail(BB_INVALID, "read cost of run %zu is %g, it is finite and not negative",
                           i, run->read_cost);
    }
    return BB_OK;
}

static struct remainder remainder_of(const struct bb_filter_run *runs, size_t run_count,
                                     double target)
{
    struct remainder rest = {.target = target};
    for (size_t i = 0; i < run_count; i++) {
        double weight = weight_of(&runs[i]);
        if (runs[i].ret_rate == OPEN)
            rest.keys += (double)runs[i].key_count;
        else
            rest.target -= weight * runs[i].ret_rate;
    }
    return rest;
}

/* The ideal rate of a run: its share of the rest, by keys. */
static double share_of(const struct bb_filter_run *run, const struct remainder *rest)
{
    if (run->key_count == 0 || rest->target <= 0)
        return 0;
    return rest->target * (double)run->key_count / (rest->keys * weight_of(run));
}

/* ---- fixing ---- */

/* The decision for a run. */
enum fate {
    SHARED,
    WITHOUT,
    HALF,
    LEAST,
    FATE_COUNT,
};

static const double fixed_rates[] = {
    [SHARED] = OPEN, [WITHOUT] = 1, [HALF] = BB_FILTER_RATE_MAX, [LEAST] = BB_FILTER_RATE_MIN};

/* While runs are being sorted, ret_rate stores their index and the decision: so the call needs no
 * memory and cannot fail midway. */
static void note(struct bb_filter_run *run, size_t index, enum fate fate)
{
    run->ret_rate = (double)(index * FATE_COUNT + fate);
}

static size_t index_of(const struct bb_filter_run *run)
{
    return (size_t)run->ret_rate / FATE_COUNT;
}

static enum fate fate_of(const struct bb_filter_run *run)
{
    return (enum fate)((size_t)run->ret_rate % FATE_COUNT);
}

static double order_of(const struct bb_filter_run *run)
{
    return run->key_count == 0 ? 0 : (double)run->key_count / weight_of(run);
}

/* The largest share first; for equal shares, in the original order. */
static int compare_shares(const void *a, const void *b)
{
    double first = order_of(a), second = order_of(b);
    if (first != second)
        return first > second ? -1 : 1;
    return (index_of(a) > index_of(b)) - (index_of(a) < index_of(b));
}

static void sort(struct bb_filter_run *runs, size_t run_count)
{
    for (size_t i = 0; i < run_count; i++)
        note(&runs[i], i, SHARED);
    qsort(runs, run_count, sizeof(*runs), compare_shares);
}

/* Every swap takes one run to its place. */
static void restore_order(struct bb_filter_run *runs, size_t run_count)
{
    for (size_t i = 0; i < run_count; i++)
        while (index_of(&runs[i]) != i) {
            struct bb_filter_run *place = &runs[index_of(&runs[i])], moved = *place;
            *place = runs[i];
            runs[i] = moved;
        }
}

/* Integers: no precision is lost when a large run is subtracted. */
__extension__ typedef unsigned __int128 key_sum;

static void fix(struct bb_filter_run *run, enum fate fate, key_sum *keys, struct remainder *rest)
{
    note(run, index_of(run), fate);
    *keys -= run->key_count;
    rest->keys = (double)*keys;
    rest->target -= weight_of(run) * fixed_rates[fate];
}

/* For a run whose ideal rate is above the largest rate of a filter. */
static enum fate capped_fate(const struct bb_filter_run *run, const struct remainder *rest)
{
    double weight = weight_of(run);
    double keys = (double)run->key_count;
    double others = rest->keys - keys;
    double left_without = rest->target - weight;
    double left_with = rest->target - weight * BB_FILTER_RATE_MAX;
    if (share_of(run, rest) >= 1)
        return WITHOUT;
    if (left_without <= 0)
        return HALF;
    double bits_of_filter = keys * -log2(BB_FILTER_RATE_MAX);
    return others * log2(left_with / left_without) < bits_of_filter ? WITHOUT : HALF;
}

/* Of sorted runs. */
static void fix_ends(struct bb_filter_run *runs, size_t run_count, double target)
{
    size_t begin = 0, end = run_count;
    key_sum keys = 0;
    for (size_t i = 0; i < run_count; i++)
        keys += runs[i].key_count;
    struct remainder rest = {.keys = (double)keys, .target = target};
    for (; begin < end && share_of(&runs[begin], &rest) > BB_FILTER_RATE_MAX; begin++)
        fix(&runs[begin], capped_fate(&runs[begin], &rest), &keys, &rest);
    for (; begin < end && share_of(&runs[end - 1], &rest) <= BB_FILTER_RATE_MIN; end--)
        fix(&runs[end - 1], LEAST, &keys, &rest);
}

enum bb_status bb_filter_allocate(struct bb_filter_run *runs, size_t run_count,
                                  double target_wasted_reads, double *ret_achieved)
{
    enum bb_status status = check(runs, run_count, target_wasted_reads);
    if (status != BB_OK)
        return status;
    sort(runs, run_count);
    fix_ends(runs, run_count, target_wasted_reads);
    restore_order(runs, run_count);
    for (size_t i = 0; i < run_count; i++)
        runs[i].ret_rate = fixed_rates[fate_of(&runs[i])];
    struct remainder rest = remainder_of(runs, run_count, target_wasted_reads);
    double achieved = 0;
    for (size_t i = 0; i < run_count; i++) {
        if (runs[i].ret_rate == OPEN)
            runs[i].ret_rate = share_of(&runs[i], &rest);
        achieved += weight_of(&runs[i]) * runs[i].ret_rate;
    }
    *ret_achieved = achieved;
    return BB_OK;
}
