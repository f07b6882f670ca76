/* How the keys of one filter become its payload, and which of two sizes it takes. */
#include "bloomblock/table/shard.h"

#include "base/assert.h"
#include "base/buf.h"
#include "bloomblock/bloom/blocked_bloom.h"
#include "bloomblock/bloom/bloom.h"
#include "bloomblock/descriptor.h"
#include "bloomblock/ribbon/ribbon.h"
#include "bloomblock/ribbon/ribbon_payload.h"
#include "bloomblock/ribbon/ribbon_shape.h"
#include "bloomblock/shard_hash.h"

/* Bytes per key of a set so large that roundings do not show. */
#define LARGE_SET (UINT64_C(1) << 24)

static double large_set_bytes(struct bb_shard_builder *builder)
{
    const struct bb_block_filter_format *format = &builder->format;
    if (format->kind == BB_FILTER_BLOOM)
        return (double)bb_rate_bloom_bits(LARGE_SET, format->bits_per_probe, format->target_rate) /
               8;
    bb_rate_line_init(&builder->line, format->bits_per_probe, LARGE_SET);
    return (double)BB_LINE_SIZE *
           (double)bb_rate_blocked_bloom_lines(&builder->line, LARGE_SET, format->target_rate);
}

void bb_shard_builder_init(struct bb_shard_builder *builder,
                           const struct bb_block_filter_format *format)
{
    builder->format = *format;
    builder->excess = 0;
    builder->mean = (struct bb_rate_mean){0};
    builder->bytes_per_key = 0;
    bb_ribbon_solver_use(&builder->solver, bb_cpu_best());
    if (format->kind == BB_FILTER_BLOOM || format->kind == BB_FILTER_BLOCKED_BLOOM)
        builder->bytes_per_key = large_set_bytes(builder) / (double)LARGE_SET;
}

uint64_t bb_shard_count(uint64_t key_count)
{
    if (key_count <= BB_FILTER_GROUP_KEYS_MAX)
        return 1;
    return (key_count + BB_SHARD_KEYS / 2) / BB_SHARD_KEYS;
}

size_t bb_shard_end(const uint64_t *hashes, size_t count, size_t start, uint32_t shard,
                    uint32_t shard_count)
{
    size_t end = start;
    while (end < count && bb_shard_hash_shard(hashes[end], shard_count) == shard)
        end++;
    return end;
}

/* Sum over filters of weight * (rate - target), were this filter added. */
static double excess_with(const struct bb_shard_builder *builder, double weight, double rate)
{
    return builder->excess + weight * (rate - builder->format.target_rate);
}

/* --- Ribbon --- */

static enum bb_status encode_ribbon(struct bb_shard_builder *builder, const uint64_t *hashes,
                                    size_t count, double weight, struct bb_buf *payload,
                                    uint16_t *ret_descriptor)
{
    const struct bb_block_filter_format *format = &builder->format;
    struct bb_ribbon_keys keys = {.hashes = hashes, .count = count};
    bool step = excess_with(builder, weight, bb_rate_ribbon(format->bits_per_probe)) > 0;
    enum bb_status status =
        bb_ribbon_payload_append(&builder->solver, &keys, format->slack, format->bits_per_probe,
                                 step, payload, ret_descriptor);
    if (status == BB_OK && *ret_descriptor != BB_DESCRIPTOR_NONE)
        builder->excess =
            excess_with(builder, weight, bb_rate_ribbon(format->bits_per_probe + step));
    return status;
}

/* --- Bloom kinds: one unit (line, byte) less than meets the target, where the mean allows it ---
 */

static enum bb_status encode_lines(struct bb_shard_builder *builder, const uint64_t *hashes,
                                   size_t count, double weight, struct bb_buf *payload,
                                   uint16_t *ret_descriptor)
{
    const struct bb_rate_line *line = &builder->line;
    uint64_t lines = bb_rate_blocked_bloom_lines(line, count, builder->format.target_rate);
    if (lines > 1 &&
        excess_with(builder, weight, bb_rate_blocked_bloom(line, count, lines - 1)) <= 0)
        lines--;
    BB_ASSERT(lines <= UINT16_MAX);
    uint8_t *bytes = NULL;
    enum bb_status status = bb_buf_extend(payload, (size_t)lines * BB_LINE_SIZE, &bytes);
    if (status != BB_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        bb_blocked_bloom_add(bytes, (uint32_t)lines, builder->format.bits_per_probe,
                             bb_shard_hash_line(hashes[i]));
    builder->excess = excess_with(builder, weight, bb_rate_blocked_bloom(line, count, lines));
    *ret_descriptor = (uint16_t)lines;
    return BB_OK;
}

static enum bb_status encode_bits(struct bb_shard_builder *builder, const uint64_t *hashes,
                                  size_t count, double weight, struct bb_buf *payload,
                                  uint16_t *ret_descriptor)
{
    uint32_t probes = builder->format.bits_per_probe;
    uint64_t bits = bb_rate_bloom_bits(count, probes, builder->format.target_rate);
    size_t size = bb_bloom_size(bits);
    if (size > 1 && excess_with(builder, weight, bb_rate_bloom(count, (size - 1) * 8, probes)) <= 0)
        size--;
    BB_ASSERT(size <= UINT16_MAX);
    uint8_t *bytes = NULL;
    enum bb_status status = bb_buf_extend(payload, size, &bytes);
    if (status != BB_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        bb_bloom_add(bytes, size * 8, probes, hashes[i]);
    builder->excess = excess_with(builder, weight, bb_rate_bloom(count, size * 8, probes));
    *ret_descriptor = (uint16_t)size;
    return BB_OK;
}

static enum bb_status encode_kind(struct bb_shard_builder *builder, const uint64_t *hashes,
                                  size_t count, double weight, struct bb_buf *payload,
                                  uint16_t *ret_descriptor)
{
    if (count == 0 || count > BB_FILTER_GROUP_KEYS_MAX)
        return BB_OK;
    switch (builder->format.kind) {
    case BB_FILTER_RIBBON:
        return encode_ribbon(builder, hashes, count, weight, payload, ret_descriptor);
    case BB_FILTER_BLOCKED_BLOOM:
        return encode_lines(builder, hashes, count, weight, payload, ret_descriptor);
    case BB_FILTER_BLOOM:
        return encode_bits(builder, hashes, count, weight, payload, ret_descriptor);
    default:
        return BB_OK;
    }
}

enum bb_status bb_shard_encode(struct bb_shard_builder *builder, const uint64_t *hashes,
                               size_t count, double weight, struct bb_buf *payload,
                               uint16_t *ret_descriptor)
{
    size_t start = payload->size;
    *ret_descriptor = BB_DESCRIPTOR_NONE;
    enum bb_status status = encode_kind(builder, hashes, count, weight, payload, ret_descriptor);
    if (status != BB_OK)
        return status;
    const uint8_t *built = *ret_descriptor == BB_DESCRIPTOR_NONE ? NULL : payload->data + start;
    bb_rate_mean_add(&builder->mean, weight,
                     bb_block_filter_rate(&builder->format, *ret_descriptor, built));
    return BB_OK;
}

/* Adds a group per shard for rounding, one for the second attempt, and the minimum number of
 * groups. */
static size_t ribbon_size_limit(uint32_t fingerprint_bits, size_t count, double slack)
{
    size_t shards = bb_shard_count(count);
    if (shards == 1)
        return bb_ribbon_shape_size(bb_ribbon_shape_for((uint32_t)count, fingerprint_bits, slack),
                                    fingerprint_bits) +
               fingerprint_bits;
    size_t groups_per_shard = BB_RIBBON_GROUPS_MIN + 5;
    size_t groups = (size_t)((double)count * (1 + slack)) / BB_RIBBON_GROUP_ROWS;
    return (groups + shards * groups_per_shard) * fingerprint_bits;
}

size_t bb_shard_size_limit(const struct bb_shard_builder *builder, size_t count)
{
    if (count == 0 || builder->format.kind == BB_FILTER_NONE)
        return 0;
    if (builder->format.kind == BB_FILTER_RIBBON)
        return ribbon_size_limit(builder->format.bits_per_probe + 1, count, builder->format.slack);
    /* Small sets need a little more per key than large ones; a line covers it, and rounding. */
    size_t large = (size_t)((double)count * builder->bytes_per_key);
    return large + (size_t)bb_shard_count(count) * 2 * BB_LINE_SIZE;
}
