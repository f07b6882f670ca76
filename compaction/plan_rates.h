/* What a plan does to the promise on wasted reads, or to the budget in its place.
 *
 * For the functions that pick. Pure functions.
 */
#ifndef BB_COMPACTION_PLAN_RATES_H
#define BB_COMPACTION_PLAN_RATES_H

#include "compaction/pick_options.h"
#include "compaction/plan.h"

/* The budget of the options, or NULL. */
const struct bb_filter_budget *bb_plan_rates_budget(const struct bb_pick_options *options);

/* The store's last level once something was written to that one. */
int bb_plan_rates_last_level(const struct bb_levels *levels, const struct bb_pick_options *options,
                             int output_level);

/* bb_pick_rate, bb_pick_filters. */
double bb_plan_rates_for(const struct bb_levels *levels, const struct bb_pick_options *options,
                         const struct bb_plan *plan);
void bb_plan_rates_set(const struct bb_levels *levels, const struct bb_pick_options *options,
                       const struct bb_plan *plan, struct bb_table_options *table);

/* The expected waste once a plan was carried out; of a move with its filters as they are. */
double bb_plan_rates_waste(const struct bb_levels *levels, const struct bb_pick_options *options,
                           const struct bb_plan *plan);
/* bb_pick_waste_added. */
double bb_plan_rates_waste_added(const struct bb_levels *levels,
                                 const struct bb_pick_options *options, const struct bb_plan *plan,
                                 double rate);
/* What a plan makes of level 0 when its tables get that rate. */
struct bb_rate_merge bb_plan_rates_merge(const struct bb_pick_options *options,
                                         const struct bb_plan *plan, double rate);
/* May a plan for that level be carried out, as far as the promise is concerned? What breaks it
 * already may go on, if it does not break it more. */
bool bb_plan_rates_keep_promise(const struct bb_levels *levels,
                                const struct bb_pick_options *options, int output_level,
                                double waste);

/* The filters have more bytes than so many times the budget. */
bool bb_plan_rates_exceed_budget(const struct bb_levels *levels,
                                 const struct bb_pick_options *options, double factor);
/* Bits that a table's filters lose at that rate; 0 when it is not worth the work. */
double bb_plan_rates_saving(const struct bb_pick_options *options, const struct bb_table_file *file,
                            double rate);
/* Is it better to rewrite the input of a move, which keeps its filters? */
bool bb_plan_rates_save_by_rewriting(const struct bb_levels *levels,
                                     const struct bb_pick_options *options,
                                     const struct bb_plan *plan);

#endif
