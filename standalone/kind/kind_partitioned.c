/* The standalone partitioned Bloom filter. Parameters: bits, in slices of one width; probes. */
#include "standalone/kind/kind.h"

#include "bloomblock/bloom/bloom.h"
#include "standalone/bloom/partitioned_bloom.h"
#include "standalone/sizing/rate_partitioned.h"

static enum bb_status choose(struct bb_envelope *envelope)
{
    uint64_t width = 0;
    uint32_t probes =
        bb_rate_partitioned_best_probes(envelope->key_count, envelope->target_rate, &width);
    envelope->parameters[0] = width * probes;
    envelope->parameters[1] = probes;
    return BB_OK;
}

static void add(const uint64_t *parameters, uint8_t *payload, uint64_t hash)
{
    uint32_t probes = (uint32_t)parameters[1];
    bb_partitioned_bloom_add(payload, parameters[0] / probes, probes, hash);
}

static enum bb_status check(const struct bb_envelope *envelope)
{
    uint64_t bits = envelope->parameters[0];
    enum bb_status status = bb_envelope_check_probes(envelope);
    if (status != BB_OK)
        return status;
    if (bits == 0 || bits % envelope->parameters[1] != 0 ||
        bb_bloom_size(bits) != envelope->payload.size)
        return bb_envelope_bad_parameter(envelope, 0, "number of bits");
    return bb_envelope_check_bits(envelope, 0, bits, envelope->key_count);
}

/* BB_VIEW_OWN: width of a slice. */
static bool may_contain(const struct bb_filter_view *view, uint64_t hash)
{
    return bb_partitioned_bloom_may_contain(view->payload.data, view->parameters[BB_VIEW_OWN],
                                            (uint32_t)view->parameters[BB_VIEW_PROBES],
                                            bb_kind_view_domain_hash(view, hash));
}

static void prepare(const struct bb_envelope *envelope, struct bb_filter_view *view)
{
    view->parameters[BB_VIEW_OWN] = envelope->parameters[0] / envelope->parameters[1];
}

static void describe(const struct bb_envelope *envelope, struct bb_filter_info *info)
{
    struct bb_bytes payload = envelope->payload;
    bb_kind_describe_bits(envelope, info);
    info->predicted_rate = bb_partitioned_bloom_rate(
        payload.data, envelope->parameters[0] / envelope->parameters[1], info->bits_per_probe);
}

const struct bb_kind_ops bb_kind_partitioned = {
    .choose = choose,
    .add = add,
    .check = check,
    .prepare = prepare,
    .probe = {.may_contain = may_contain},
    .describe = describe,
};
