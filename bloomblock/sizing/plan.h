/* Sizing: what planning has to know of each kind, and nothing else does.
 *
 * The parameters of a plan are those that the builder would choose, by the same function
 * (bb_kind_ops), so that a plan is what is then built. A kind adds one function here, which says
 * what its parameters mean: size, rate and cost. The other questions are answered by searching for
 * the rate or the number of keys whose size fits: sizes are monotone.
 *
 * Pure functions; any thread.
 */
#ifndef BB_BLOOMBLOCK_SIZING_PLAN_H
#define BB_BLOOMBLOCK_SIZING_PLAN_H

#include "base/status.h"
#include "bb/filter.h"

/* Completes a plan whose kind, key_count (not 0), target_rate and parameters are set: predicted
 * rate, probes, cache lines, and as size_bytes the payload. BB_INVALID when there is no such
 * filter.
 *
 * The payload's size must be monotone: it never shrinks when the parameters were chosen for more
 * keys or for a lower rate. */
typedef enum bb_status (*bb_plan_complete)(struct bb_filter_plan *plan);

enum bb_status bb_plan_none(struct bb_filter_plan *plan);
enum bb_status bb_plan_ribbon(struct bb_filter_plan *plan);
enum bb_status bb_plan_blocked_bloom(struct bb_filter_plan *plan);
enum bb_status bb_plan_bloom(struct bb_filter_plan *plan);
enum bb_status bb_plan_split_block(struct bb_filter_plan *plan);
enum bb_status bb_plan_counting(struct bb_filter_plan *plan);
enum bb_status bb_plan_scalable(struct bb_filter_plan *plan);
enum bb_status bb_plan_partitioned(struct bb_filter_plan *plan);

/* Fails with BB_INVALID: parameter number, which is called name, is not one of a filter of this
 * kind, for which it is least to most. */
enum bb_status bb_plan_bad_parameter(const struct bb_filter_plan *plan, unsigned number,
                                     const char *name, uint64_t least, uint64_t most)
    __attribute__((cold));

/* The number of different lines that hold so many bytes or bits drawn at random, in the mean. */
double bb_plan_distinct(double draws, double lines);
/* Lines of 64 bytes that a run of so many bytes touches, wherever it begins. */
double bb_plan_lines_of_run(double bytes);

#endif
