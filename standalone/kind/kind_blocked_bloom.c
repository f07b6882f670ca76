/* The standalone Bloom filter in lines of 64 bytes. Parameters: lines, probes. */
#include "standalone/kind/kind.h"

#include "bloomblock/bloom/blocked_bloom_probe.h"
#include "bloomblock/sizing/rate.h"

static enum bb_status choose(struct bb_envelope *envelope)
{
    envelope->parameters[1] = bb_rate_blocked_bloom_best_probes(
        envelope->key_count, envelope->target_rate, &envelope->parameters[0]);
    return BB_OK;
}

static void add(const uint64_t *parameters, uint8_t *payload, uint64_t hash)
{
    bb_blocked_bloom_add(payload, (uint32_t)parameters[0], (uint32_t)parameters[1], hash);
}

static enum bb_status check(const struct bb_envelope *envelope)
{
    uint64_t lines = envelope->parameters[0];
    if (lines < 1 || lines > UINT32_MAX || lines * BB_LINE_SIZE != envelope->payload.size)
        return bb_envelope_bad_parameter(envelope, 0, "number of lines");
    enum bb_status status = bb_envelope_check_probes(envelope);
    if (status != BB_OK)
        return status;
    return bb_envelope_check_bits(envelope, 0, lines * BB_LINE_BITS, envelope->key_count);
}

static bool may_contain(const struct bb_filter_view *view, uint64_t hash)
{
    const struct bb_blocked_bloom_probe *probe = view->probe;
    return probe->may_contain(view->payload.data, (uint32_t)view->parameters[BB_VIEW_SIZE],
                              (uint32_t)view->parameters[BB_VIEW_PROBES],
                              bb_kind_view_domain_hash(view, hash));
}

static void prefetch(const struct bb_filter_view *view, uint64_t hash)
{
    bb_blocked_bloom_probe_prefetch(view->payload.data, (uint32_t)view->parameters[BB_VIEW_SIZE],
                                    bb_kind_view_domain_hash(view, hash));
}

static uint64_t may_contain_many(const struct bb_filter_view *view, const uint64_t *hashes,
                                 size_t count)
{
    const struct bb_blocked_bloom_probe *probe = view->probe;
    const uint8_t *payload = view->payload.data;
    uint32_t lines = (uint32_t)view->parameters[BB_VIEW_SIZE];
    uint32_t probes = (uint32_t)view->parameters[BB_VIEW_PROBES];
    uint64_t domain_hashes[BB_KIND_BATCH];
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++) {
        domain_hashes[i] = bb_kind_view_domain_hash(view, hashes[i]);
        bb_blocked_bloom_probe_prefetch(payload, lines, domain_hashes[i]);
    }
    for (size_t i = 0; i < count; i++)
        bits |= (uint64_t)probe->may_contain(payload, lines, probes, domain_hashes[i]) << i;
    return bits;
}

static void use(struct bb_filter_view *view, enum bb_cpu cpu)
{
    view->probe = bb_blocked_bloom_probe_of(cpu);
}

static void describe(const struct bb_envelope *envelope, struct bb_filter_info *info)
{
    bb_kind_describe_bits(envelope, info);
    info->predicted_rate = bb_blocked_bloom_rate(
        envelope->payload.data, (uint32_t)envelope->parameters[0], info->bits_per_probe);
}

const struct bb_kind_ops bb_kind_blocked_bloom = {
    .choose = choose,
    .add = add,
    .check = check,
    .probe = {.may_contain = may_contain,
              .use = use,
              .prefetch = prefetch,
              .may_contain_many = may_contain_many},
    .describe = describe,
};
