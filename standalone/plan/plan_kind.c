/* Helpers of the functions of the kinds, and the one for the kind without a filter. See plan.h. */
#include <math.h>

#include "base/status.h"
#include "standalone/plan/plan.h"

#define CACHE_LINE_BYTES 64

enum bb_status bb_plan_bad_parameter(const struct bb_filter_plan *plan, unsigned number,
                                     const char *name, uint64_t least, uint64_t most)
{
    return bb_fail(BB_INVALID,
                   "%s of a %s filter of %llu keys can not be %llu, allowed are %llu to %llu", name,
                   bb_filter_kind_name(plan->kind), (unsigned long long)plan->key_count,
                   (unsigned long long)plan->parameters[number], (unsigned long long)least,
                   (unsigned long long)most);
}

double bb_plan_distinct(double draws, double lines)
{
    return lines <= 1 ? 1 : -lines * expm1(draws * log1p(-1 / lines));
}

double bb_plan_lines_of_run(double bytes)
{
    return 1 + (bytes - 1) / CACHE_LINE_BYTES;
}

enum bb_status bb_plan_none(struct bb_filter_plan *plan)
{
    for (unsigned i = 0; i < 2; i++)
        if (plan->parameters[i] != 0)
            return bb_plan_bad_parameter(plan, i, "parameter", 0, 0);
    plan->target_rate = 1;
    plan->predicted_rate = 1;
    return BB_OK;
}
