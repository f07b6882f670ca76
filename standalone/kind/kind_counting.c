/* The counting Bloom filter in an envelope. Parameters: counters, probes.
 *
 * The key count is the number of additions minus the number of removals; a key that is added twice
 * counts twice. A filter of no keys has a payload too: it can be loaded and changed further
 * (counting_filter.c). */
#include "standalone/kind/kind.h"

#include <math.h>

#include "base/buf.h"
#include "base/status.h"
#include "standalone/bloom/counting_bloom.h"

static enum bb_status append(const struct bb_envelope *envelope, const uint64_t *hashes,
                             struct bb_buf *buf)
{
    uint64_t counters = envelope->parameters[0];
    uint8_t *payload = NULL;
    enum bb_status status = bb_buf_extend(buf, bb_counting_bloom_size(counters), &payload);
    for (uint64_t i = 0; i < envelope->key_count && status == BB_OK; i++)
        bb_counting_bloom_add(payload, counters, (uint32_t)envelope->parameters[1], hashes[i]);
    return status;
}

/* As long as no counter is full they add up to the probes of all keys. */
static enum bb_status check_sums(const struct bb_envelope *envelope)
{
    struct bb_counting_bloom_sums sums =
        bb_counting_bloom_sums(envelope->payload.data, envelope->payload.size);
    uint64_t expected = envelope->key_count * envelope->parameters[1];
    if (sums.saturated == 0 && sums.total != expected)
        return bb_corrupt(bb_envelope_place, BB_ENVELOPE_HEADER_SIZE,
                          "the counters add up to %llu, %llu keys of %llu probes to %llu",
                          (unsigned long long)sums.total, (unsigned long long)envelope->key_count,
                          (unsigned long long)envelope->parameters[1],
                          (unsigned long long)expected);
    return BB_OK;
}

static enum bb_status check(const struct bb_envelope *envelope)
{
    uint64_t counters = envelope->parameters[0];
    if (counters < 1 || bb_counting_bloom_size(counters) != envelope->payload.size)
        return bb_envelope_bad_parameter(envelope, 0, "number of counters");
    enum bb_status status = bb_envelope_check_probes(envelope);
    if (status == BB_OK)
        status = bb_envelope_check_bits(envelope, 0, counters * 4, envelope->key_count);
    return status == BB_OK ? check_sums(envelope) : status;
}

static bool may_contain(const struct bb_filter_view *view, uint64_t hash)
{
    return bb_counting_bloom_may_contain(view->payload.data, view->parameters[BB_VIEW_SIZE],
                                         (uint32_t)view->parameters[BB_VIEW_PROBES],
                                         bb_kind_view_domain_hash(view, hash));
}

static void describe(const struct bb_envelope *envelope, struct bb_filter_info *info)
{
    struct bb_counting_bloom_sums sums =
        bb_counting_bloom_sums(envelope->payload.data, envelope->payload.size);
    bb_kind_describe_bits(envelope, info);
    info->predicted_rate = pow(info->fill, info->bits_per_probe);
    info->saturated_count = sums.saturated;
}

const struct bb_kind_ops bb_kind_counting = {
    .answers_without_keys = true,
    .choose = bb_kind_choose_bloom,
    .append = append,
    .check = check,
    .probe = {.may_contain = may_contain},
    .describe = describe,
};
