/* The standalone classic Bloom filter. Parameters: bits, probes. */
#include "standalone/kind/kind.h"

#include <math.h>

#include "bloomblock/bloom/bloom.h"

static void add(const uint64_t *parameters, uint8_t *payload, uint64_t hash)
{
    bb_bloom_add(payload, parameters[0], (uint32_t)parameters[1], hash);
}

static enum bb_status check(const struct bb_envelope *envelope)
{
    uint64_t bits = envelope->parameters[0];
    if (bits < 1 || bb_bloom_size(bits) != envelope->payload.size)
        return bb_envelope_bad_parameter(envelope, 0, "number of bits");
    enum bb_status status = bb_envelope_check_probes(envelope);
    if (status != BB_OK)
        return status;
    return bb_envelope_check_bits(envelope, 0, bits, envelope->key_count);
}

static bool may_contain(const struct bb_filter_view *view, uint64_t hash)
{
    return bb_bloom_may_contain(view->payload.data, view->parameters[BB_VIEW_SIZE],
                                (uint32_t)view->parameters[BB_VIEW_PROBES],
                                bb_kind_view_domain_hash(view, hash));
}

static void describe(const struct bb_envelope *envelope, struct bb_filter_info *info)
{
    bb_kind_describe_bits(envelope, info);
    info->predicted_rate = pow(info->fill, info->bits_per_probe);
}

const struct bb_kind_ops bb_kind_bloom = {
    .choose = bb_kind_choose_bloom,
    .add = add,
    .check = check,
    .probe = {.may_contain = may_contain},
    .describe = describe,
};
