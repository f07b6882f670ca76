/* The standalone partitioned Bloom filter. Parameters: bits, in slices of one width; probes. */
#include "standalone/kind/kind.h"

#include "base/buf.h"
#include "base/status.h"
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

static enum bb_status append(const struct bb_envelope *envelope, const uint64_t *hashes,
                             struct bb_buf *buf)
{
    uint64_t bits = envelope->parameters[0];
    uint32_t probes = (uint32_t)envelope->parameters[1];
    uint8_t *payload = NULL;
    enum bb_status status = bb_buf_extend(buf, bb_bloom_size(bits), &payload);
    for (uint64_t i = 0; i < envelope->key_count && status == BB_OK; i++)
        bb_partitioned_bloom_add(payload, bits / probes, probes, hashes[i]);
    return status;
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

static const struct bb_kind_probe *probe(const struct bb_envelope *envelope,
                                         struct bb_filter_view *view)
{
    static const struct bb_kind_probe portable = {.may_contain = may_contain};
    view->parameters[BB_VIEW_OWN] = envelope->parameters[0] / envelope->parameters[1];
    return &portable;
}

static void describe(const struct bb_envelope *envelope, struct bb_filter_info *info)
{
    struct bb_bytes payload = envelope->payload;
    double set_bits = (double)bb_bloom_set_count(payload.data, payload.size);
    info->bits_per_probe = (uint32_t)envelope->parameters[1];
    info->fill = set_bits / (double)envelope->parameters[0];
    info->predicted_rate = bb_partitioned_bloom_rate(
        payload.data, envelope->parameters[0] / envelope->parameters[1], info->bits_per_probe);
}

static void insert(const struct bb_filter_view *view, uint8_t *payload, uint64_t hash)
{
    bb_partitioned_bloom_add(payload, view->parameters[BB_VIEW_OWN],
                             (uint32_t)view->parameters[BB_VIEW_PROBES],
                             bb_kind_view_domain_hash(view, hash));
}

const struct bb_kind_ops bb_kind_partitioned = {
    .choose = choose,
    .append = append,
    .check = check,
    .probe = probe,
    .describe = describe,
    .insert = insert,
};
