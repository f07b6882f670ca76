/* The standalone classic Bloom filter. Parameters: bits, probes. */
#include "standalone/kind/kind.h"

#include <math.h>

#include "base/buf.h"
#include "base/status.h"
#include "bloomblock/bloom/bloom.h"
#include "bloomblock/sizing/rate.h"

static enum bb_status choose(struct bb_envelope *envelope)
{
    envelope->parameters[1] = bb_rate_bloom_best_probes(envelope->key_count, envelope->target_rate,
                                                        &envelope->parameters[0]);
    return BB_OK;
}

static enum bb_status append(const struct bb_envelope *envelope, const uint64_t *hashes,
                             struct bb_buf *buf)
{
    uint64_t bits = envelope->parameters[0];
    uint8_t *payload = NULL;
    enum bb_status status = bb_buf_extend(buf, bb_bloom_size(bits), &payload);
    for (uint64_t i = 0; i < envelope->key_count && status == BB_OK; i++)
        bb_bloom_add(payload, bits, (uint32_t)envelope->parameters[1], hashes[i]);
    return status;
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

static const struct bb_kind_probe *probe(const struct bb_envelope *envelope,
                                         struct bb_filter_view *view)
{
    static const struct bb_kind_probe portable = {.may_contain = may_contain};
    (void)envelope;
    (void)view;
    return &portable;
}

static void describe(const struct bb_envelope *envelope, struct bb_filter_info *info)
{
    struct bb_bytes payload = envelope->payload;
    double set_bits = (double)bb_bloom_set_count(payload.data, payload.size);
    info->bits_per_probe = (uint32_t)envelope->parameters[1];
    info->fill = set_bits / (double)envelope->parameters[0];
    info->predicted_rate = pow(info->fill, info->bits_per_probe);
}

static void insert(const struct bb_filter_view *view, uint8_t *payload, uint64_t hash)
{
    bb_bloom_add(payload, view->parameters[BB_VIEW_SIZE],
                 (uint32_t)view->parameters[BB_VIEW_PROBES], bb_kind_view_domain_hash(view, hash));
}

const struct bb_kind_ops bb_kind_bloom = {
    .choose = choose,
    .append = append,
    .check = check,
    .probe = probe,
    .describe = describe,
    .insert = insert,
};
