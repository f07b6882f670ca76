/* Spreads a target of wasted reads over the runs of a store: bb_filter_allocate of bb/filter.h.
 *
 * Memory is the sum of keys * log2(1 / rate), the target bounds the sum of weight * rate, where the
 * weight of a run is visit_share * read_cost. Lagrange: rate = c * keys / weight, with one c for
 * all runs that are not at a bound. Runs are fixed at a bound one after the other, the one furthest
 * outside first, and what is left is spread over the rest.
 *
 * Between 1/2 and 1 there is no filter. A run whose share falls there takes 1/2, which costs a bit
 * per key and leaves the others more, or goes without, whichever needs less memory in all.
 */
#include <math.h>

#include "base/status.h"
#include "bb/filter.h"

/* What is not fixed yet. */
struct remainder {
    double keys;
    double weight;
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
        if (runs[i].ret_rate == OPEN) {
            rest.keys += (double)runs[i].key_count;
            rest.weight += weight;
        } else {
            rest.target -= weight * runs[i].ret_rate;
        }
    }
    return rest;
}

/* The ideal rate of a run: its share of what is left, by keys. */
static double share_of(const struct bb_filter_run *run, const struct remainder *rest)
{
    if (run->key_count == 0 || rest->target <= 0)
        return 0;
    return rest->target * (double)run->key_count / (rest->keys * weight_of(run));
}

/* The rate of a run whose ideal is above the greatest a filter can have. */
static double capped_rate(const struct bb_filter_run *run, const struct remainder *rest,
                          double share)
{
    double weight = weight_of(run);
    double keys = (double)run->key_count;
    double others = rest->keys - keys;
    double left_without = rest->target - weight;
    double left_with = rest->target - weight * BB_FILTER_RATE_MAX;
    if (share >= 1)
        return 1;
    if (left_without <= 0)
        return BB_FILTER_RATE_MAX;
    double bits_of_filter = keys * -log2(BB_FILTER_RATE_MAX);
    return others * log2(left_with / left_without) < bits_of_filter ? 1 : BB_FILTER_RATE_MAX;
}

/* The open run with the greatest or least share, NULL when none is open. */
static struct bb_filter_run *extreme_run(struct bb_filter_run *runs, size_t run_count,
                                         const struct remainder *rest, bool greatest)
{
    struct bb_filter_run *found = NULL;
    for (size_t i = 0; i < run_count; i++) {
        if (runs[i].ret_rate != OPEN)
            continue;
        double share = share_of(&runs[i], rest);
        if (found == NULL ||
            (greatest ? share > share_of(found, rest) : share < share_of(found, rest)))
            found = &runs[i];
    }
    return found;
}

/* Fixes one run that is at a bound; false when there is none. */
static bool fix_one(struct bb_filter_run *runs, size_t run_count, double target)
{
    struct remainder rest = remainder_of(runs, run_count, target);
    struct bb_filter_run *run = extreme_run(runs, run_count, &rest, true);
    if (run == NULL)
        return false;
    double share = share_of(run, &rest);
    if (share > BB_FILTER_RATE_MAX) {
        run->ret_rate = capped_rate(run, &rest, share);
        return true;
    }
    run = extreme_run(runs, run_count, &rest, false);
    if (share_of(run, &rest) > BB_FILTER_RATE_MIN)
        return false;
    run->ret_rate = BB_FILTER_RATE_MIN;
    return true;
}

enum bb_status bb_filter_allocate(struct bb_filter_run *runs, size_t run_count,
                                  double target_wasted_reads, double *ret_achieved)
{
    enum bb_status status = check(runs, run_count, target_wasted_reads);
    if (status != BB_OK)
        return status;
    for (size_t i = 0; i < run_count; i++)
        runs[i].ret_rate = OPEN;
    while (fix_one(runs, run_count, target_wasted_reads))
        continue;
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
