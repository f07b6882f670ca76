/* The standalone ribbon: a directory (shard_directory.h), then the shards. Parameters: shards,
 * fingerprint bits. */
#include "standalone/kind/kind_ribbon_probe.h"

#include "base/assert.h"
#include "base/buf.h"
#include "base/status.h"
#include "bloomblock/ribbon/ribbon_equation.h"
#include "bloomblock/table/shard.h"
#include "bloomblock/table/sharded_filter.h"
#include "bloomblock/sizing/rate.h"

/* --- Writing --- */

static enum bb_status choose(struct bb_envelope *envelope)
{
    envelope->parameters[0] = bb_shard_count(envelope->key_count);
    envelope->parameters[1] = bb_rate_ribbon_fingerprint_bits(envelope->target_rate);
    return BB_OK;
}

static enum bb_status append(const struct bb_envelope *envelope, const uint64_t *hashes,
                             struct bb_buf *buf)
{
    struct bb_block_filter_format format;
    struct bb_shard_set set = bb_sharded_filter_set(hashes, (size_t)envelope->key_count);
    struct bb_shard_builder *shards = NULL;
    enum bb_status status =
        bb_block_filter_format_init(&format, BB_FILTER_RIBBON, envelope->target_rate, 0);
    if (status != BB_OK)
        return status;
    format.slack = envelope->slack;
    status = bb_sharded_filter_builder_create(&format, &shards);
    if (status == BB_OK)
        status = bb_sharded_filter_encode(shards, &set, set.shard_count, buf);
    bb_sharded_filter_builder_destroy(shards);
    return status;
}

/* --- Reading --- */

static enum bb_status check_shards(const struct bb_envelope *envelope, uint32_t shard_count)
{
    struct bb_bytes payload = envelope->payload;
    struct bb_block_filter_format format = {.kind = BB_FILTER_RIBBON,
                                            .bits_per_probe = (uint32_t)envelope->parameters[1]};
    struct bb_shard_defect defect = {0};
    if (bb_sharded_filter_check(&format, payload, shard_count, &defect))
        return BB_OK;
    if (defect.shard == shard_count) {
        uint64_t directory_size = bb_shard_directory_size(shard_count);
        return bb_corrupt(bb_envelope_place, BB_ENVELOPE_HEADER_SIZE + directory_size,
                          "%llu bytes of shards, the directory has %llu",
                          (unsigned long long)(payload.size - directory_size),
                          (unsigned long long)defect.offset);
    }
    struct bb_shard_entry entry = bb_shard_directory_entry(payload.data, defect.shard);
    if (defect.has_rest)
        return bb_corrupt(bb_envelope_place,
                          BB_ENVELOPE_HEADER_SIZE + bb_shard_directory_size(shard_count) +
                              entry.offset,
                          "shard %u of %u has bits after its last slot", defect.shard, shard_count);
    if (entry.offset != defect.offset)
        return bb_corrupt(bb_envelope_place, BB_ENVELOPE_HEADER_SIZE,
                          "shard %u of %u is at %llu of the payloads, expected %llu", defect.shard,
                          shard_count, (unsigned long long)entry.offset,
                          (unsigned long long)defect.offset);
    return bb_corrupt(bb_envelope_place, BB_ENVELOPE_HEADER_SIZE,
                      "shard %u of %u has the descriptor %04x, which does not exist", defect.shard,
                      shard_count, entry.descriptor);
}

static enum bb_status check(const struct bb_envelope *envelope)
{
    uint64_t shard_count = envelope->parameters[0];
    uint64_t fingerprint_bits = envelope->parameters[1];
    if (shard_count != bb_shard_count(envelope->key_count) ||
        bb_shard_directory_size((uint32_t)shard_count) > envelope->payload.size)
        return bb_envelope_bad_parameter(envelope, 0, "number of shards");
    if (fingerprint_bits < 1 || fingerprint_bits >= BB_RIBBON_FINGERPRINT_BITS_MAX)
        return bb_envelope_bad_parameter(envelope, 1, "number of fingerprint bits");
    return check_shards(envelope, (uint32_t)shard_count);
}

static void prepare(const struct bb_envelope *envelope, struct bb_filter_view *view)
{
    uint64_t directory_size = bb_shard_directory_size((uint32_t)envelope->parameters[0]);
    view->parameters[BB_VIEW_OWN] = (uintptr_t)(view->payload.data + directory_size);
}

/* --- Description --- */

static struct bb_block_filter_info shard_info(const struct bb_envelope *envelope,
                                              const struct bb_block_filter_format *format,
                                              const uint8_t *shards, uint32_t shard)
{
    struct bb_block_filter_info info = {0};
    struct bb_shard_entry entry = bb_shard_directory_entry(envelope->payload.data, shard);
    size_t size = 0;
    bool possible = bb_block_filter_size(format, entry.descriptor, &size) &&
                    bb_block_filter_info(format, entry.descriptor,
                                         (struct bb_bytes){shards + entry.offset, size}, &info);
    BB_ASSERT(possible); /* the envelope was checked */
    return info;
}

/* Non-member keys are spread evenly over the shards, independent of the keys in each. */
static void describe(const struct bb_envelope *envelope, struct bb_filter_info *info)
{
    struct bb_block_filter_format format = {.kind = BB_FILTER_RIBBON,
                                            .bits_per_probe = (uint32_t)envelope->parameters[1]};
    uint32_t shard_count = (uint32_t)envelope->parameters[0];
    const uint8_t *shards = envelope->payload.data + bb_shard_directory_size(shard_count);
    double rates = 0, bits = 0, set_bits = 0;
    info->bits_per_probe = format.bits_per_probe;
    for (uint32_t i = 0; i < shard_count; i++) {
        struct bb_block_filter_info shard = shard_info(envelope, &format, shards, i);
        rates += shard.predicted_rate;
        bits += (double)shard.slots * shard.bits_per_probe;
        set_bits += (double)shard.slots * shard.bits_per_probe * shard.fill;
        if (shard.bits_per_probe > info->bits_per_probe)
            info->bits_per_probe = shard.bits_per_probe;
    }
    info->predicted_rate = rates / shard_count;
    info->fill = bits > 0 ? set_bits / bits : 0;
}

const struct bb_kind_ops bb_kind_ribbon = {
    .takes_ribbon_hashes = true,
    .choose = choose,
    .append = append,
    .check = check,
    .prepare = prepare,
    .probe = {.use = bb_kind_ribbon_probe_use},
    .describe = describe,
};
