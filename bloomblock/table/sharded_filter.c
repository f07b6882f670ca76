/* See sharded_filter.h. */
#include "bloomblock/table/sharded_filter.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "bloomblock/ribbon/ribbon_probe.h"
#include "bloomblock/table/shard.h"

/* --- Formats --- */

bool bb_sharded_filter_format_restore(struct bb_block_filter_format *format, double rate,
                                      uint64_t salt, uint64_t fingerprint_bits)
{
    if (fingerprint_bits > UINT32_MAX ||
        !bb_block_filter_format_restore(format, BB_FILTER_RIBBON, rate, salt,
                                        (uint32_t)fingerprint_bits))
        return false;
    format->domain = bb_domain(BB_DOMAIN_TABLE, salt);
    return true;
}

enum bb_status bb_sharded_filter_format_init(struct bb_block_filter_format *format, double rate,
                                             uint64_t salt)
{
    enum bb_status status = bb_block_filter_format_init(format, BB_FILTER_RIBBON, rate, salt);
    if (status == BB_OK)
        format->domain = bb_domain(BB_DOMAIN_TABLE, salt);
    return status;
}

/* --- Building --- */

enum bb_status bb_sharded_filter_builder_create(const struct bb_block_filter_format *format,
                                                struct bb_shard_builder **ret_builder)
{
    struct bb_shard_builder *builder = bb_alloc_zeroed(1, sizeof(*builder));
    if (builder == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a filter's solver (%zu bytes)",
                       sizeof(*builder));
    bb_shard_builder_init(builder, format);
    *ret_builder = builder;
    return BB_OK;
}

void bb_sharded_filter_builder_destroy(struct bb_shard_builder *builder)
{
    bb_free(builder);
}

double bb_sharded_filter_builder_rate(const struct bb_shard_builder *builder)
{
    return bb_rate_mean(&builder->mean);
}

double bb_sharded_filter_builder_excess(const struct bb_shard_builder *builder)
{
    return builder->excess;
}

void bb_sharded_filter_builder_set_excess(struct bb_shard_builder *builder, double excess)
{
    builder->excess = excess;
}

struct bb_shard_set bb_sharded_filter_set(const uint64_t *hashes, size_t count)
{
    return (struct bb_shard_set){
        .hashes = hashes, .count = count, .shard_count = (uint32_t)bb_shard_count(count)};
}

/* Appends the next shard of the set, and stores its entry in the directory. directory, payloads:
 * the offsets in the buffer of the directory and of the first payload. */
static enum bb_status append_shard(struct bb_shard_builder *builder, struct bb_shard_set *set,
                                   size_t directory, size_t payloads, uint32_t shard,
                                   struct bb_buf *buf)
{
    struct bb_shard_entry entry = {.offset = buf->size - payloads};
    size_t end =
        bb_shard_end(set->hashes, set->count, set->next_hash, set->next_shard, set->shard_count);
    const uint64_t *hashes = end == set->next_hash ? NULL : set->hashes + set->next_hash;
    double weight = (double)set->count / set->shard_count;
    enum bb_status status =
        bb_shard_encode(builder, hashes, end - set->next_hash, weight, buf, &entry.descriptor);
    if (status != BB_OK)
        return status;
    bb_shard_directory_store(buf->data + directory, shard, entry);
    set->next_hash = end;
    set->next_shard++;
    return BB_OK;
}

enum bb_status bb_sharded_filter_encode(struct bb_shard_builder *builder, struct bb_shard_set *set,
                                        uint32_t shard_count, struct bb_buf *buf)
{
    BB_DEBUG_ASSERT(shard_count <= set->shard_count - set->next_shard);
    size_t directory = buf->size;
    uint8_t *space = NULL;
    enum bb_status status =
        bb_buf_extend(buf, (size_t)bb_shard_directory_size(shard_count), &space);
    size_t payloads = buf->size;
    for (uint32_t i = 0; i < shard_count && status == BB_OK; i++)
        status = append_shard(builder, set, directory, payloads, i, buf);
    if (status != BB_OK)
        buf->size = directory;
    return status;
}

/* --- Reading --- */

/* Checks that each shard begins where the sizes of the earlier shards end, and that the payload has
 * no other bytes. */
static bool check_places(const struct bb_block_filter_format *format, struct bb_bytes payload,
                         uint32_t shard_count, struct bb_shard_defect *ret_defect)
{
    uint64_t directory_size = bb_shard_directory_size(shard_count);
    struct bb_shard_defect defect = {0};
    *ret_defect = (struct bb_shard_defect){.shard = shard_count};
    if (directory_size > payload.size)
        return false;
    for (; defect.shard < shard_count; defect.shard++) {
        struct bb_shard_entry entry = bb_shard_directory_entry(payload.data, defect.shard);
        size_t size = 0;
        *ret_defect = defect;
        if (entry.offset != defect.offset || !bb_block_filter_size(format, entry.descriptor, &size))
            return false;
        defect.offset += size;
    }
    *ret_defect = defect;
    return defect.offset == payload.size - directory_size;
}

bool bb_sharded_filter_check(const struct bb_block_filter_format *format, struct bb_bytes payload,
                             uint32_t shard_count, struct bb_shard_defect *ret_defect)
{
    if (!check_places(format, payload, shard_count, ret_defect))
        return false;
    for (uint32_t i = 0; i < shard_count; i++) {
        struct bb_shard_entry entry = bb_sharded_filter_find(payload.data, shard_count, i);
        if (!bb_block_filter_rest_is_zero(format, entry.descriptor, payload.data + entry.offset)) {
            entry = bb_shard_directory_entry(payload.data, i);
            *ret_defect = (struct bb_shard_defect){i, entry.offset, true};
            return false;
        }
    }
    return true;
}

struct bb_filter_shards bb_sharded_filter_ready(const struct bb_block_filter_format *format,
                                                const bb_filter_place *places,
                                                const uint8_t *payloads, uint64_t count)
{
    struct bb_filter_shards shards = {.places = places,
                                      .payloads = payloads,
                                      .domain = format->domain,
                                      .count = count,
                                      .fingerprint_bits = format->bits_per_probe};
    bb_ribbon_probe_shards(&shards, &format->probes);
    return shards;
}
