/* From two of keys, rate and memory to the third: bb_filter_plan and bb_filter_predict. */
#include "standalone/plan/plan.h"

#include <math.h>

#include "base/assert.h"
#include "base/coding.h"
#include "standalone/plan/clickhouse.h"
#include "standalone/kind/kind.h"

static const bb_plan_complete completes[] = {
    [BB_FILTER_NONE] = bb_plan_none,
    [BB_FILTER_RIBBON] = bb_plan_ribbon,
    [BB_FILTER_BLOCKED_BLOOM] = bb_plan_bloom_blocked,
    [BB_FILTER_BLOOM] = bb_plan_bloom,
    [BB_FILTER_SPLIT_BLOCK] = bb_plan_bloom_split_block,
    [BB_FILTER_COUNTING] = bb_plan_bloom_counting,
    [BB_FILTER_SCALABLE] = bb_plan_bloom_scalable,
    [BB_FILTER_PARTITIONED] = bb_plan_bloom_partitioned,
};

/* --- Keys and rate --- */

/* A filter of no keys has no payload and returns "absent" for every hash. */
static enum bb_status complete(struct bb_filter_plan *plan)
{
    bool empty = plan->key_count == 0 && !bb_kind_ops(plan->kind)->answers_without_keys;
    enum bb_status status = empty ? BB_OK : completes[plan->kind](plan);
    plan->size_bytes += BB_ENVELOPE_SIZE_MIN;
    if (plan->key_count > 0)
        plan->bits_per_key = (double)plan->size_bytes * 8 / (double)plan->key_count;
    return status;
}

/* The plan of the parameters that the builder chooses. */
static enum bb_status plan_size(const struct bb_filter_question *question, uint64_t key_count,
                                double target_rate, struct bb_filter_plan *plan)
{
    struct bb_envelope envelope = {.kind = question->kind,
                                   .key_count = key_count,
                                   .target_rate = target_rate,
                                   .slack = question->slack};
    enum bb_status status = bb_kind_ops(question->kind)->choose(&envelope);
    if (status != BB_OK)
        return status;
    *plan = (struct bb_filter_plan){.kind = question->kind,
                                    .key_count = key_count,
                                    .target_rate = target_rate,
                                    .slack = question->slack,
                                    .parameters = {envelope.parameters[0], envelope.parameters[1]}};
    return complete(plan);
}

/* --- Memory and one of the others --- */

/* The variable of a search; positive doubles have the same order as their bits. */
static enum bb_status plan_at(const struct bb_filter_question *question, uint64_t at,
                              struct bb_filter_plan *plan)
{
    if (question->key_count == 0)
        return plan_size(question, at, question->target_rate, plan);
    return plan_size(question, question->key_count, bb_double_of_bits(at), plan);
}

/* The last number from fits on, towards misfit, with which the plan fits; fits does. */
static enum bb_status search(const struct bb_filter_question *question, uint64_t fits,
                             uint64_t misfit, struct bb_filter_plan *plan)
{
    struct bb_filter_plan tried;
    enum bb_status status = plan_at(question, misfit, &tried);
    if (status == BB_OK && tried.size_bytes <= question->size_bytes)
        fits = misfit;
    while (status == BB_OK && fits != misfit && fits + 1 != misfit && misfit + 1 != fits) {
        uint64_t middle = fits < misfit ? fits + (misfit - fits) / 2 : misfit + (fits - misfit) / 2;
        status = plan_at(question, middle, &tried);
        if (tried.size_bytes <= question->size_bytes)
            fits = middle;
        else
            misfit = middle;
    }
    return status == BB_OK ? plan_at(question, fits, plan) : status;
}

static enum bb_status plan_rate(const struct bb_filter_question *question,
                                struct bb_filter_plan *plan)
{
    enum bb_status status = plan_at(question, bb_bits_of_double(BB_FILTER_RATE_MAX), plan);
    if (status == BB_OK && plan->size_bytes > question->size_bytes)
        return bb_fail(BB_INVALID,
                       "%llu keys in %llu bytes: a %s filter takes at least %llu, at a rate of %g",
                       (unsigned long long)question->key_count,
                       (unsigned long long)question->size_bytes, bb_filter_kind_name(plan->kind),
                       (unsigned long long)plan->size_bytes, BB_FILTER_RATE_MAX);
    if (status != BB_OK)
        return status;
    return search(question, bb_bits_of_double(BB_FILTER_RATE_MAX),
                  bb_bits_of_double(BB_FILTER_RATE_MIN), plan);
}

static enum bb_status plan_keys(const struct bb_filter_question *question,
                                struct bb_filter_plan *plan)
{
    enum bb_status status = plan_at(question, 1, plan);
    if (status == BB_OK && plan->size_bytes > question->size_bytes)
        return bb_fail(
            BB_INVALID, "a %s filter of one key at a rate of %g takes %llu bytes, not %llu",
            bb_filter_kind_name(plan->kind), question->target_rate,
            (unsigned long long)plan->size_bytes, (unsigned long long)question->size_bytes);
    return status == BB_OK ? search(question, 1, BB_FILTER_KEY_COUNT_MAX, plan) : status;
}

/* --- Questions --- */

static enum bb_status check_kind(enum bb_filter_kind *kind)
{
    if (*kind == BB_FILTER_DEFAULT)
        *kind = BB_FILTER_RIBBON;
    const char *name = bb_filter_kind_name(*kind);
    if (name == NULL)
        return bb_fail(BB_INVALID, "there are no filters of kind %d", (int)*kind);
    if (bb_kind_ops(*kind) == NULL || (size_t)*kind >= BB_ARRAY_LENGTH(completes) ||
        completes[*kind] == NULL)
        return bb_fail(BB_UNSUPPORTED, "%s filters have no size that follows from a rate", name);
    return BB_OK;
}

static enum bb_status check_question(struct bb_filter_question *question)
{
    double rate = question->target_rate;
    int given = (question->key_count != 0) + (rate != 0) + (question->size_bytes != 0);
    enum bb_status status = check_kind(&question->kind);
    if (status == BB_OK)
        status = bb_envelope_check_plan(question->key_count, rate == 0 ? BB_FILTER_RATE_MAX : rate);
    if (status != BB_OK)
        return status;
    if (given != 2)
        return bb_fail(BB_INVALID,
                       "%d of keys, rate and memory are given, 2 are needed (0 is not given)",
                       given);
    if (!(question->slack >= 0 && question->slack <= BB_FILTER_SLACK_MAX))
        return bb_fail(BB_INVALID, "the filter's slack is %g, allowed are 0 to %g", question->slack,
                       BB_FILTER_SLACK_MAX);
    return BB_OK;
}

static enum bb_status plan_exactly(const struct bb_filter_question *question,
                                   struct bb_filter_plan *plan)
{
    if (question->size_bytes == 0)
        return plan_size(question, question->key_count, question->target_rate, plan);
    return question->key_count == 0 ? plan_keys(question, plan) : plan_rate(question, plan);
}

static enum bb_status plan_as_clickhouse(const struct bb_filter_question *question,
                                         struct bb_filter_plan *plan)
{
    if (question->kind != BB_FILTER_BLOOM)
        return bb_fail(BB_UNSUPPORTED, "the ClickHouse policy is for kind bloom, not %s",
                       bb_filter_kind_name(question->kind));
    if (question->size_bytes != 0)
        return bb_fail(BB_UNSUPPORTED,
                       "the ClickHouse policy goes from keys and rate to memory only");
    struct bb_clickhouse_sizing sizing = bb_clickhouse_sizing(question->target_rate);
    uint64_t size = bb_clickhouse_size(sizing, question->key_count);
    *plan = (struct bb_filter_plan){.kind = question->kind,
                                    .key_count = question->key_count,
                                    .target_rate = question->target_rate,
                                    .parameters = {size * 8, sizing.probes}};
    return complete(plan);
}

enum bb_status bb_filter_plan(const struct bb_filter_question *question,
                              struct bb_filter_plan *ret_plan)
{
    struct bb_filter_question asked = *question;
    struct bb_filter_plan plan = {0};
    if (asked.policy == BB_FILTER_POLICY_CLICKHOUSE && asked.kind == BB_FILTER_DEFAULT)
        asked.kind = BB_FILTER_BLOOM;
    enum bb_status status = check_question(&asked);
    if (status != BB_OK)
        return status;
    if (asked.policy == BB_FILTER_POLICY_EXACT)
        status = plan_exactly(&asked, &plan);
    else if (asked.policy == BB_FILTER_POLICY_CLICKHOUSE)
        status = plan_as_clickhouse(&asked, &plan);
    else
        status = bb_fail(BB_INVALID, "there is no policy %d", (int)asked.policy);
    if (status == BB_OK)
        *ret_plan = plan;
    return status;
}

enum bb_status bb_filter_predict(enum bb_filter_kind kind, uint64_t key_count,
                                 const uint64_t parameters[2], struct bb_filter_plan *ret_plan)
{
    enum bb_status status = check_kind(&kind);
    if (status == BB_OK)
        status = bb_envelope_check_plan(key_count, BB_FILTER_RATE_MAX);
    struct bb_filter_plan plan = {
        .kind = kind, .key_count = key_count, .parameters = {parameters[0], parameters[1]}};
    if (status == BB_OK)
        status = complete(&plan);
    if (status != BB_OK)
        return status;
    plan.target_rate = plan.predicted_rate;
    *ret_plan = plan;
    return BB_OK;
}
