/* Sizing: the properties of each kind that only planning needs.
 *
 * The parameters of a plan are chosen by the same function as the builder's (bb_kind_ops), so that
 * a plan describes the filter that is then built. A kind adds one function here that computes size,
 * rate and cost from its parameters. Other questions are answered by searching for the rate or the
 * number of keys whose size fits: sizes are monotonic.
 *
 * Pure functions; any thread. */
#ifndef BB_STANDALONE_PLAN_PLAN_H
#define BB_STANDALONE_PLAN_PLAN_H

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
enum bb_status bb_plan_bloom_blocked(struct bb_filter_plan *plan);
enum bb_status bb_plan_bloom(struct bb_filter_plan *plan);
enum bb_status bb_plan_bloom_split_block(struct bb_filter_plan *plan);
enum bb_status bb_plan_bloom_counting(struct bb_filter_plan *plan);
enum bb_status bb_plan_bloom_scalable(struct bb_filter_plan *plan);
enum bb_status bb_plan_bloom_partitioned(struct bb_filter_plan *plan);

/* Fails with BB_INVALID: parameter number, which is called name, is not one of a filter of this
 * kind, for which it is least to most. */
enum bb_status bb_plan_bad_parameter(const struct bb_filter_plan *plan, unsigned number,
                                     const char *name, uint64_t least, uint64_t most)
    __attribute__((cold));

/* The mean number of different lines that contain this many bytes or bits drawn at random. */
double bb_plan_distinct(double draws, double lines);
/* The mean number of 64-byte lines that a run of this many bytes touches, for any start. */
double bb_plan_lines_of_run(double bytes);

#endif
