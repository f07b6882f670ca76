/* The effect of a plan on the waste and its target, or on the budget that replaces the target.
 * Pure functions.
 */
#ifndef BB_COMPACTION_PICK_PLAN_RATES_H
#define BB_COMPACTION_PICK_PLAN_RATES_H

#include "compaction/pick/pick_options.h"
#include "compaction/pick/plan.h"

/* A request for the rate of a table that will be in these levels, without the table. Borrows the
 * options. */
struct bb_rate_request bb_plan_rates_request(const struct bb_levels *levels,
                                             const struct bb_pick_options *options);

/* The store's last level after something was written to output_level. */
int bb_plan_rates_last_level(const struct bb_levels *levels, const struct bb_pick_options *options,
                             int output_level);

/* The filter rate for the output of a plan. */
double bb_plan_rates_for(const struct bb_levels *levels, const struct bb_pick_options *options,
                         const struct bb_plan *plan);
/* For a full plan with a budget: adjusts the budget's filter cost to tables of this size. The
 * plan's inputs, on which the cost was calibrated, are often smaller. */
void bb_plan_rates_expect_tables(const struct bb_plan *plan, uint64_t table_size_bytes,
                                 struct bb_pick_options *options);
/* Sets the options for the output of a plan: its filter rate, and the bits of its table filters. */
void bb_plan_rates_set(const struct bb_levels *levels, const struct bb_pick_options *options,
                       const struct bb_plan *plan, struct bb_table_options *table);

/* The planned waste after a plan. A move keeps its present filters. */
double bb_plan_rates_waste(const struct bb_levels *levels, const struct bb_pick_options *options,
                           const struct bb_plan *plan);
/* The most waste that a plan adds at any key within its output's hull when its output gets that
 * rate; 0 when it adds none. For a flush that is planned at the same time. */
double bb_plan_rates_waste_added(const struct bb_levels *levels,
                                 const struct bb_pick_options *options, const struct bb_plan *plan,
                                 double rate);
/* bb_rate_request_output_hull. The keys are borrowed from the inputs and the levels. */
struct bb_hull bb_plan_rates_output_hull(const struct bb_levels *levels,
                                         const struct bb_pick_options *options,
                                         const struct bb_plan *plan);
/* The effect on level 0 of a plan whose output gets that rate. */
struct bb_rate_merge bb_plan_rates_merge(const struct bb_pick_options *options,
                                         const struct bb_plan *plan, double rate);
/* True when the target permits a plan with this waste (bb_plan_rates_waste). Where the waste
 * exceeds the target already, a plan may keep it, but not increase it. True also without filters
 * and with a budget. */
bool bb_plan_rates_keep_target(const struct bb_levels *levels,
                               const struct bb_pick_options *options, const struct bb_plan *plan,
                               double waste);

/* True when the filters take more bytes than `factor` times the budget. */
bool bb_plan_rates_exceed_budget(const struct bb_levels *levels,
                                 const struct bb_pick_options *options, double factor);
/* Bits that a table's filters would lose at that rate; 0 when they are too few to be worth the
 * work. */
double bb_plan_rates_saving(const struct bb_pick_options *options, const struct bb_table_file *file,
                            double rate);
/* For a move, which keeps the filters of its inputs: true when the filters exceed the budget and a
 * rewrite of an input would save bits. */
bool bb_plan_rates_save_by_rewriting(const struct bb_levels *levels,
                                     const struct bb_pick_options *options,
                                     const struct bb_plan *plan);

#endif
