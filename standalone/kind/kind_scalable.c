/* A scalable filter in an envelope: Bloom filters in stages. Parameters: keys of the first stage,
 * growth (always 2). scalable_bloom.h has a picture of the payload. A filter without keys has a
 * payload too, so that it can be loaded and grow (scalable_filter.c). */
#include "standalone/kind/kind.h"

#include <math.h>

#include "base/coding.h"
#include "base/status.h"
#include "bloomblock/bloom/bloom.h"
#include "standalone/bloom/scalable_bloom.h"

static enum bb_status choose(struct bb_envelope *envelope)
{
    bool few = envelope->key_count < BB_SCALABLE_FIRST_KEYS_MIN;
    envelope->parameters[0] = few ? BB_SCALABLE_FIRST_KEYS_MIN : envelope->key_count;
    envelope->parameters[1] = BB_SCALABLE_GROWTH;
    return BB_OK;
}

static enum bb_status append(const struct bb_envelope *envelope, const uint64_t *hashes,
                             struct bb_buf *buf)
{
    struct bb_scalable_bloom bloom;
    enum bb_status status = bb_scalable_bloom_init(
        &bloom, envelope->target_rate, BB_SCALABLE_RATIO_DEFAULT, envelope->parameters[0]);
    if (status != BB_OK)
        return status;
    for (uint64_t i = 0; i < envelope->key_count && status == BB_OK; i++)
        status = bb_scalable_bloom_add(&bloom, hashes[i]);
    if (status == BB_OK)
        status = bb_scalable_bloom_encode(&bloom, buf);
    bb_scalable_bloom_deinit(&bloom);
    return status;
}

/* --- Checks --- */

static enum bb_status check_head(const struct bb_envelope *envelope)
{
    struct bb_bytes payload = envelope->payload;
    if (envelope->parameters[0] < BB_SCALABLE_FIRST_KEYS_MIN ||
        envelope->parameters[0] > BB_FILTER_KEY_COUNT_MAX)
        return bb_envelope_bad_parameter(envelope, 0, "number of keys of the first stage");
    if (envelope->parameters[1] != BB_SCALABLE_GROWTH)
        return bb_envelope_bad_parameter(envelope, 1, "growth factor");
    if (payload.size < BB_SCALABLE_HEADER_SIZE)
        return bb_corrupt(bb_envelope_place, BB_ENVELOPE_HEADER_SIZE,
                          "a scalable filter of %zu bytes", payload.size);
    uint64_t stages = bb_load64(payload.data);
    if (stages < 1 || stages > BB_SCALABLE_STAGES_MAX ||
        payload.size < BB_SCALABLE_HEADER_SIZE + stages * BB_SCALABLE_STAGE_ENTRY_SIZE)
        return bb_corrupt(bb_envelope_place, BB_ENVELOPE_HEADER_SIZE,
                          "%llu stages in %zu bytes; 1 to %d are allowed",
                          (unsigned long long)stages, payload.size, BB_SCALABLE_STAGES_MAX);
    double ratio = bb_scalable_bloom_ratio(payload);
    if (!(ratio >= BB_SCALABLE_RATIO_MIN && ratio <= BB_SCALABLE_RATIO_MAX))
        return bb_corrupt(bb_envelope_place, BB_ENVELOPE_HEADER_SIZE + 8,
                          "tightening ratio is %g, allowed are %g to %g", ratio,
                          BB_SCALABLE_RATIO_MIN, BB_SCALABLE_RATIO_MAX);
    return BB_OK;
}

/* Checks that a stage is inside the payload, that it has keys unless it is the first, and that it
 * has at least one bit for each key that it is sized for. WHY the last: a later insertion allocates
 * a stage for twice as many keys, and its size must be in proportion to the file. */
static enum bb_status check_stage(const struct bb_envelope *envelope, uint32_t number,
                                  const struct bb_scalable_entry *entry)
{
    uint64_t at = BB_ENVELOPE_HEADER_SIZE + BB_SCALABLE_HEADER_SIZE +
                  (uint64_t)number * BB_SCALABLE_STAGE_ENTRY_SIZE;
    size_t left = envelope->payload.size - entry->offset;
    if (entry->key_count > envelope->key_count || (number > 0 && entry->key_count == 0))
        return bb_corrupt(bb_envelope_place, at, "stage %u has %llu of %llu keys", number,
                          (unsigned long long)entry->key_count,
                          (unsigned long long)envelope->key_count);
    uint64_t planned = bb_scalable_bloom_stage_keys(envelope->parameters[0], number);
    if (entry->bits < planned || bb_bloom_size(entry->bits) > left)
        return bb_corrupt(bb_envelope_place, at + 8,
                          "stage %u has %llu bits for %llu keys, in %zu bytes", number,
                          (unsigned long long)entry->bits, (unsigned long long)planned, left);
    if (entry->probes < 1 || entry->probes > BB_BLOOM_PROBES_MAX)
        return bb_corrupt(bb_envelope_place, at + 16, "stage %u has %llu probes", number,
                          (unsigned long long)entry->probes);
    return bb_envelope_check_bits(envelope, entry->offset, entry->bits, entry->key_count);
}

static enum bb_status check(const struct bb_envelope *envelope)
{
    struct bb_scalable_entry entry;
    uint64_t key_count = 0;
    enum bb_status status = check_head(envelope);
    if (status != BB_OK)
        return status;
    struct bb_scalable_bloom_walk walk = bb_scalable_bloom_walk(envelope->payload);
    while (bb_scalable_bloom_walk_next(&walk, envelope->payload, &entry)) {
        status = check_stage(envelope, walk.next - 1, &entry);
        if (status != BB_OK)
            return status;
        key_count += entry.key_count;
    }
    if (key_count != envelope->key_count)
        return bb_corrupt(bb_envelope_place, BB_ENVELOPE_AT_KEY_COUNT,
                          "%llu keys, the stages have %llu",
                          (unsigned long long)envelope->key_count, (unsigned long long)key_count);
    if (walk.offset != envelope->payload.size)
        return bb_corrupt(bb_envelope_place, BB_ENVELOPE_HEADER_SIZE + walk.offset,
                          "%zu bytes after the last stage", envelope->payload.size - walk.offset);
    return BB_OK;
}

/* --- Probing and description --- */

static bool may_contain(const struct bb_filter_view *view, uint64_t key_hash)
{
    struct bb_scalable_bloom_walk walk = bb_scalable_bloom_walk(view->payload);
    struct bb_scalable_entry entry;
    uint64_t hash = bb_kind_view_domain_hash(view, key_hash);
    while (bb_scalable_bloom_walk_next(&walk, view->payload, &entry))
        if (bb_bloom_may_contain(view->payload.data + entry.offset, entry.bits,
                                 (uint32_t)entry.probes,
                                 bb_scalable_bloom_hash(hash, walk.next - 1)))
            return true;
    return false;
}

static void describe(const struct bb_envelope *envelope, struct bb_filter_info *info)
{
    struct bb_scalable_bloom_walk walk = bb_scalable_bloom_walk(envelope->payload);
    struct bb_scalable_entry entry;
    double log_denied = 0, bits = 0, set_bits = 0;
    info->stage_count = walk.stage_count;
    while (bb_scalable_bloom_walk_next(&walk, envelope->payload, &entry)) {
        double set = (double)bb_bloom_set_count(envelope->payload.data + entry.offset,
                                                bb_bloom_size(entry.bits));
        log_denied += log1p(-pow(set / (double)entry.bits, (double)entry.probes));
        bits += (double)entry.bits;
        set_bits += set;
        info->bits_per_probe = (uint32_t)entry.probes; /* finally that of the last stage */
    }
    info->fill = set_bits / bits;
    info->predicted_rate = fabs(expm1(log_denied)); /* log_denied is at most 0 */
}

const struct bb_kind_ops bb_kind_scalable = {
    .answers_without_keys = true,
    .choose = choose,
    .append = append,
    .check = check,
    .probe = {.may_contain = may_contain},
    .describe = describe,
};
