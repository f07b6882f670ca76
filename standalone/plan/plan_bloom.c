/* Sizing of the Bloom kinds. */
#include "standalone/plan/plan.h"

#include <math.h>

#include "bloomblock/bloom/blocked_bloom.h"
#include "bloomblock/bloom/bloom.h"
#include "standalone/bloom/counting_bloom.h"
#include "bloomblock/sizing/rate.h"
#include "standalone/sizing/rate_partitioned.h"
#include "standalone/sizing/rate_split_block.h"
#include "standalone/bloom/scalable_bloom.h"
#include "standalone/bloom/split_block.h"

/* More than any rate takes. */
#define BITS_MAX (BB_FILTER_KEY_COUNT_MAX * 64)

static bool probes_are_possible(const struct bb_filter_plan *plan)
{
    return plan->parameters[1] >= 1 && plan->parameters[1] <= BB_BLOOM_PROBES_MAX;
}

static enum bb_status bad_probes(const struct bb_filter_plan *plan)
{
    return bb_plan_bad_parameter(plan, 1, "number of probes", 1, BB_BLOOM_PROBES_MAX);
}

/* The probes of a non-member key stop at the first bit that is not set. */
static void add_cost(struct bb_filter_plan *plan, double bits)
{
    double probes = plan->bits_per_probe;
    double lines = ceil((double)plan->size_bytes / BB_LINE_SIZE);
    double fill = -expm1((double)plan->key_count * probes * log1p(-1 / bits));
    double looked_at = fill < 1 ? (1 - pow(fill, probes)) / (1 - fill) : probes;
    plan->member_cache_lines = bb_plan_distinct(probes, lines);
    plan->absent_cache_lines = bb_plan_distinct(looked_at, lines);
}

/* For bits, or for counters instead. */
static enum bb_status plan_classic(struct bb_filter_plan *plan, const char *name)
{
    uint64_t bits = plan->parameters[0];
    if (bits < 1 || bits > BITS_MAX)
        return bb_plan_bad_parameter(plan, 0, name, 1, BITS_MAX);
    if (!probes_are_possible(plan))
        return bad_probes(plan);
    plan->bits_per_probe = (uint32_t)plan->parameters[1];
    plan->predicted_rate = bb_rate_bloom(plan->key_count, bits, plan->bits_per_probe);
    plan->size_bytes =
        plan->kind == BB_FILTER_COUNTING ? bb_counting_bloom_size(bits) : bb_bloom_size(bits);
    add_cost(plan, (double)bits);
    return BB_OK;
}

enum bb_status bb_plan_bloom(struct bb_filter_plan *plan)
{
    return plan_classic(plan, "number of bits");
}

enum bb_status bb_plan_bloom_counting(struct bb_filter_plan *plan)
{
    return plan_classic(plan, "number of counters");
}

enum bb_status bb_plan_bloom_blocked(struct bb_filter_plan *plan)
{
    struct bb_rate_line line;
    uint64_t lines = plan->parameters[0];
    if (lines < 1 || lines > UINT32_MAX)
        return bb_plan_bad_parameter(plan, 0, "number of lines", 1, UINT32_MAX);
    if (!probes_are_possible(plan))
        return bad_probes(plan);
    plan->bits_per_probe = (uint32_t)plan->parameters[1];
    plan->size_bytes = lines * BB_LINE_SIZE;
    uint64_t line_keys = bb_rate_line_keys((double)plan->key_count / (double)lines);
    bb_rate_line_init(&line, plan->bits_per_probe,
                      plan->key_count < line_keys ? plan->key_count : line_keys);
    plan->predicted_rate = bb_rate_blocked_bloom(&line, plan->key_count, lines);
    plan->member_cache_lines = 1;
    plan->absent_cache_lines = 1;
    return BB_OK;
}

enum bb_status bb_plan_bloom_partitioned(struct bb_filter_plan *plan)
{
    uint64_t bits = plan->parameters[0];
    if (!probes_are_possible(plan))
        return bad_probes(plan);
    if (bits < 1 || bits > BITS_MAX)
        return bb_plan_bad_parameter(plan, 0, "number of bits", 1, BITS_MAX);
    if (bits % plan->parameters[1] != 0)
        return bb_fail(BB_INVALID, "%llu bits of a partitioned filter are not %llu equal slices",
                       (unsigned long long)bits, (unsigned long long)plan->parameters[1]);
    plan->bits_per_probe = (uint32_t)plan->parameters[1];
    plan->size_bytes = bb_bloom_size(bits);
    plan->predicted_rate =
        bb_rate_partitioned(plan->key_count, bits / plan->bits_per_probe, plan->bits_per_probe);
    add_cost(plan, (double)bits);
    return BB_OK;
}

enum bb_status bb_plan_bloom_split_block(struct bb_filter_plan *plan)
{
    uint64_t blocks = plan->parameters[0];
    if (blocks < 1 || blocks > BB_SPLIT_BLOCK_COUNT_MAX)
        return bb_plan_bad_parameter(plan, 0, "number of blocks", 1, BB_SPLIT_BLOCK_COUNT_MAX);
    if (plan->parameters[1] != BB_SPLIT_BLOCK_WORDS)
        return bb_plan_bad_parameter(plan, 1, "number of probes", BB_SPLIT_BLOCK_WORDS,
                                     BB_SPLIT_BLOCK_WORDS);
    plan->bits_per_probe = BB_SPLIT_BLOCK_WORDS;
    plan->size_bytes = blocks * BB_SPLIT_BLOCK_SIZE;
    plan->predicted_rate = bb_rate_split_block(plan->key_count, blocks);
    plan->member_cache_lines = 1;
    plan->absent_cache_lines = 1;
    return BB_OK;
}

/* --- Scalable: one stage, made for the keys --- */

/* The lowest rate from which a stage has more than this many spare keys. */
static double rate_of_more_spare_keys(uint64_t keys, uint64_t spare, double rate)
{
    double none = rate, more = 1;
    while (more - none > rate * 1e-15) {
        double middle = none + (more - none) / 2;
        if (middle == none || middle == more)
            break;
        *(bb_scalable_bloom_spare_keys(keys, middle) > spare ? &more : &none) = middle;
    }
    return more;
}

/* At a lower rate fewer spare keys are needed, so that the size goes down where it should go up:
 * by a key. There the plan stays at the size that the rate before takes. */
static uint64_t monotone_bits(uint64_t keys, double rate, double greatest_rate)
{
    uint32_t probes = 0;
    uint64_t spare = bb_scalable_bloom_spare_keys(keys, rate);
    uint64_t bits = bb_scalable_bloom_stage_bits(keys + spare, rate, &probes);
    double before = rate_of_more_spare_keys(keys, spare, rate);
    if (before > greatest_rate)
        return bits;
    spare = bb_scalable_bloom_spare_keys(keys, before);
    uint64_t bits_before = bb_scalable_bloom_stage_bits(keys + spare, before, &probes);
    return bits > bits_before ? bits : bits_before;
}

enum bb_status bb_plan_bloom_scalable(struct bb_filter_plan *plan)
{
    const double share = 1 - BB_SCALABLE_RATIO_DEFAULT; /* of the first stage in the rate */
    double rate = plan->target_rate * share;
    uint64_t keys = plan->parameters[0];
    if (plan->target_rate == 0)
        return bb_fail(BB_UNSUPPORTED,
                       "the stages of a scalable filter follow from its target rate");
    uint64_t capacity = keys + bb_scalable_bloom_spare_keys(keys, rate);
    uint64_t bits = bb_scalable_bloom_stage_bits(capacity, rate, &plan->bits_per_probe);
    plan->predicted_rate = bb_rate_bloom(plan->key_count, bits, plan->bits_per_probe);
    plan->size_bytes = BB_SCALABLE_HEADER_SIZE + BB_SCALABLE_STAGE_ENTRY_SIZE +
                       bb_bloom_size(monotone_bits(keys, rate, BB_FILTER_RATE_MAX * share));
    add_cost(plan, (double)bits);
    return BB_OK;
}
