/* The filters of a table, group after group: hashes are collected, sorted, cut into shards,
 * encoded. */
#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include "base/coding.h"
#include "base/status.h"
#include "bloomblock/hash_sort.h"
#include "bloomblock/table/shard.h"

struct bb_block_filter_builder {
    struct bb_shard_builder shards;
    uint64_t *hashes; /* owned; domain hashes of the group */
    size_t count;
    size_t capacity;
    enum bb_status status; /* the first failure */
};

enum bb_status bb_block_filter_builder_create(const struct bb_block_filter_format *format,
                                              struct bb_block_filter_builder **ret_builder)
{
    struct bb_block_filter_builder *builder = bb_alloc_zeroed(1, sizeof(*builder));
    if (builder == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a filter builder (%zu bytes)",
                       sizeof(*builder));
    bb_shard_builder_init(&builder->shards, format);
    *ret_builder = builder;
    return BB_OK;
}

void bb_block_filter_builder_destroy(struct bb_block_filter_builder *builder)
{
    if (builder == NULL)
        return;
    bb_free(builder->hashes);
    bb_free(builder);
}

#define GROUP_KEYS_MAX ((size_t)BB_FILTER_GROUP_SHARDS_MAX * BB_SHARD_KEYS)

static enum bb_status grow(struct bb_block_filter_builder *builder)
{
    if (builder->count >= GROUP_KEYS_MAX)
        return bb_fail(BB_TOO_LARGE, "a filter group has more than %zu keys", GROUP_KEYS_MAX);
    return bb_array_reserve(&builder->hashes, builder->count, &builder->capacity,
                            sizeof(builder->hashes[0]), "hashes of a filter group");
}

enum bb_status bb_block_filter_builder_add(struct bb_block_filter_builder *builder, uint64_t hash)
{
    BB_DEBUG_ASSERT(builder->count <= builder->capacity);
    if (builder->status != BB_OK)
        return builder->status;
    if (builder->shards.format.kind == BB_FILTER_NONE)
        return BB_OK;
    uint64_t domain_hash = bb_block_filter_key(&builder->shards.format, hash).hash;
    /* Versions of one key come one after the other. */
    if (builder->count > 0 && builder->hashes[builder->count - 1] == domain_hash)
        return BB_OK;
    if (builder->count == builder->capacity)
        builder->status = grow(builder);
    if (builder->status != BB_OK)
        return builder->status;
    builder->hashes[builder->count++] = domain_hash;
    return BB_OK;
}

size_t bb_block_filter_builder_key_count(const struct bb_block_filter_builder *builder)
{
    BB_DEBUG_ASSERT(builder->count <= builder->capacity);
    return builder->count;
}

double bb_block_filter_builder_rate(const struct bb_block_filter_builder *builder)
{
    return bb_rate_mean(&builder->shards.mean);
}

double bb_block_filter_builder_excess(const struct bb_block_filter_builder *builder)
{
    return builder->shards.excess;
}

void bb_block_filter_builder_set_excess(struct bb_block_filter_builder *builder, double excess)
{
    builder->shards.excess = excess;
}

size_t bb_block_filter_builder_size_estimate(const struct bb_block_filter_builder *builder)
{
    return bb_shard_size_limit(&builder->shards, builder->count);
}

static enum bb_status append_shards(struct bb_block_filter_builder *builder, uint32_t shard_count,
                                    struct bb_buf *descriptors, struct bb_buf *payload)
{
    enum bb_status status = BB_OK;
    double weight = (double)builder->count / shard_count;
    size_t start = 0;
    for (uint32_t shard = 0; shard < shard_count && status == BB_OK; shard++) {
        uint16_t descriptor = 0;
        size_t end = bb_shard_end(builder->hashes, builder->count, start, shard, shard_count);
        const uint64_t *hashes = end == start ? NULL : builder->hashes + start;
        status =
            bb_shard_encode(&builder->shards, hashes, end - start, weight, payload, &descriptor);
        if (status == BB_OK)
            status = bb_append_u16(descriptors, descriptor);
        start = end;
    }
    return status;
}

enum bb_status bb_block_filter_builder_finish(struct bb_block_filter_builder *builder,
                                              struct bb_buf *descriptors, struct bb_buf *payload,
                                              uint32_t *ret_shard_count)
{
    if (builder->status != BB_OK)
        return builder->status;
    size_t descriptors_size = descriptors->size;
    size_t payload_size = payload->size;
    builder->count = bb_hash_sort(builder->hashes, builder->count);
    uint32_t shard_count = (uint32_t)bb_shard_count(builder->count);
    builder->status = append_shards(builder, shard_count, descriptors, payload);
    if (builder->status != BB_OK) {
        descriptors->size = descriptors_size;
        payload->size = payload_size;
        return builder->status;
    }
    builder->count = 0;
    *ret_shard_count = shard_count;
    return BB_OK;
}
