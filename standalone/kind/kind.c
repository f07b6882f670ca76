/* The kinds by number, and the kind "none", which is no filter. */
#include "standalone/kind/kind.h"

#include "base/assert.h"
#include "base/buf.h"
#include "bloomblock/bloom/bloom.h"
#include "bloomblock/sizing/rate.h"
#include "standalone/bloom/cells.h"
#include "standalone/sizing/rate_deviation.h"

static const struct bb_kind_ops *const kinds[] = {
    [BB_FILTER_NONE] = &bb_kind_none,
    [BB_FILTER_RIBBON] = &bb_kind_ribbon,
    [BB_FILTER_BLOCKED_BLOOM] = &bb_kind_blocked_bloom,
    [BB_FILTER_BLOOM] = &bb_kind_bloom,
    [BB_FILTER_SPLIT_BLOCK] = &bb_kind_split_block,
    [BB_FILTER_COUNTING] = &bb_kind_counting,
    [BB_FILTER_SCALABLE] = &bb_kind_scalable,
    [BB_FILTER_PARTITIONED] = &bb_kind_partitioned,
    [BB_FILTER_COUNT_MIN] = &bb_kind_count_min,
};

const struct bb_kind_ops *bb_kind_ops(enum bb_filter_kind kind)
{
    size_t index = (size_t)kind;
    return index < BB_ARRAY_LENGTH(kinds) ? kinds[index] : NULL;
}

enum bb_status bb_kind_choose_bloom(struct bb_envelope *envelope)
{
    envelope->parameters[1] = bb_rate_bloom_best_probes(envelope->key_count, envelope->target_rate,
                                                        &envelope->parameters[0]);
    return BB_OK;
}

enum bb_status bb_kind_append(const struct bb_envelope *envelope, const uint64_t *hashes,
                              struct bb_buf *buf)
{
    const struct bb_kind_ops *ops = bb_kind_ops(envelope->kind);
    struct bb_cells cells;
    uint8_t *payload = NULL;
    if (ops->append != NULL)
        return ops->append(envelope, hashes, buf);
    enum bb_status status = bb_cells_of(envelope, &cells);
    if (status == BB_OK)
        status = bb_buf_extend(buf, bb_bloom_size(bb_cells_count(&cells)), &payload);
    for (uint64_t i = 0; i < envelope->key_count && status == BB_OK; i++)
        ops->add(envelope->parameters, payload, hashes[i]);
    return status;
}

void bb_kind_describe_bits(const struct bb_envelope *envelope, struct bb_filter_info *info)
{
    struct bb_cells cells;
    enum bb_status status = bb_cells_of(envelope, &cells);
    BB_ASSERT(status == BB_OK);
    info->bits_per_probe = cells.probes;
    info->fill = (double)bb_cells_set_count(envelope) / (double)bb_cells_count(&cells);
    info->rate_deviation = bb_rate_deviation(&cells, envelope->key_count);
}

struct bb_filter_info bb_kind_describe(const struct bb_envelope *envelope)
{
    const struct bb_kind_ops *ops = bb_kind_ops(envelope->kind);
    struct bb_filter_info info = {.kind = envelope->kind,
                                  .version = envelope->version,
                                  .key_count = envelope->key_count,
                                  .size_bytes = envelope->payload.size + BB_ENVELOPE_SIZE_MIN,
                                  .target_rate = envelope->target_rate,
                                  .salt = envelope->salt};
    if (info.key_count > 0)
        info.bits_per_key = (double)info.size_bytes * 8 / (double)info.key_count;
    if (bb_kind_is_empty(ops, envelope))
        return info;
    ops->describe(envelope, &info);
    return info;
}

/* --- None --- */

static bool everything_may_be_there(const struct bb_filter_view *view, uint64_t hash)
{
    (void)view;
    (void)hash;
    return true;
}

static enum bb_status none_choose(struct bb_envelope *envelope)
{
    (void)envelope;
    return BB_OK;
}

static enum bb_status none_append(const struct bb_envelope *envelope, const uint64_t *hashes,
                                  struct bb_buf *buf)
{
    (void)envelope;
    (void)hashes;
    (void)buf;
    return BB_OK;
}

static void none_describe(const struct bb_envelope *envelope, struct bb_filter_info *info)
{
    (void)envelope;
    info->predicted_rate = 1;
}

const struct bb_kind_ops bb_kind_none = {
    .answers_without_keys = true,
    .may_have_no_target = true,
    .choose = none_choose,
    .append = none_append,
    .check = bb_envelope_check_without_payload,
    .probe = {.may_contain = everything_may_be_there},
    .describe = none_describe,
};
