/* Builds the table filter. See the header. One thread. */
#include "sstable/filter/table_filter_builder.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/status.h"
#include "bloomblock/hash_sort.h"
#include "bloomblock/table/sharded_filter.h"

struct bb_table_filter_builder {
    struct bb_block_filter_format format;
    struct bb_shard_builder *shards; /* owned */
    uint64_t *hashes;                /* owned; domain hashes of the current part */
    size_t count;
    size_t capacity;

    uint32_t chunk_shift;
    uint32_t part_count; /* finished parts */
    uint32_t chunk_count;
    /* Chunks, with space for their checksums; finally also the list. */
    struct bb_buf section;
    struct bb_buf parts;       /* varint keys, varint shards of each */
    struct bb_buf chunk_sizes; /* one varint per chunk */
    struct bb_fence_builder fences;
};

/* The number of shards that make about BB_TABLE_FILTER_CHUNK_SIZE. */
static uint32_t choose_shift(uint32_t fingerprint_bits)
{
    uint32_t shift = 0;
    size_t shard_size = (size_t)BB_SHARD_KEYS * (fingerprint_bits + 1) / 8;
    while (shift < BB_TABLE_FILTER_CHUNK_SHIFT_MAX &&
           shard_size << (shift + 1) <= BB_TABLE_FILTER_CHUNK_SIZE)
        shift++;
    return shift;
}

enum bb_status bb_table_filter_builder_create(const struct bb_block_filter_format *format,
                                              const struct bb_comparator *comparator,
                                              struct bb_table_filter_builder **ret_builder)
{
    struct bb_table_filter_builder *builder = bb_alloc_zeroed(1, sizeof(*builder));
    if (builder == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the builder of a table filter");
    enum bb_status status = bb_sharded_filter_builder_create(format, &builder->shards);
    if (status != BB_OK) {
        bb_free(builder);
        return status;
    }
    builder->format = *format;
    builder->chunk_shift = choose_shift(format->bits_per_probe);
    bb_fence_builder_init(&builder->fences, comparator);
    *ret_builder = builder;
    return BB_OK;
}

void bb_table_filter_builder_destroy(struct bb_table_filter_builder *builder)
{
    if (builder == NULL)
        return;
    bb_sharded_filter_builder_destroy(builder->shards);
    bb_free(builder->hashes);
    bb_buf_deinit(&builder->section);
    bb_buf_deinit(&builder->parts);
    bb_buf_deinit(&builder->chunk_sizes);
    bb_fence_builder_deinit(&builder->fences);
    bb_free(builder);
}

enum bb_status bb_table_filter_builder_add(struct bb_table_filter_builder *builder,
                                           uint64_t key_hash)
{
    BB_DEBUG_ASSERT(builder->count <= builder->capacity);
    enum bb_status status =
        bb_array_reserve(&builder->hashes, builder->count, &builder->capacity,
                         sizeof(builder->hashes[0]), "hashes of a table filter");
    if (status == BB_OK)
        builder->hashes[builder->count++] = bb_block_filter_key(&builder->format, key_hash).hash;
    return status;
}

size_t bb_table_filter_builder_key_count(const struct bb_table_filter_builder *builder)
{
    return builder->count;
}

double bb_table_filter_builder_rate(const struct bb_table_filter_builder *builder)
{
    return bb_sharded_filter_builder_rate(builder->shards);
}

double bb_table_filter_builder_excess(const struct bb_table_filter_builder *builder)
{
    return bb_sharded_filter_builder_excess(builder->shards);
}

void bb_table_filter_builder_set_excess(struct bb_table_filter_builder *builder, double excess)
{
    bb_sharded_filter_builder_set_excess(builder->shards, excess);
}

/* ---- parts ---- */

static enum bb_status append_chunk(struct bb_table_filter_builder *builder,
                                   struct bb_shard_set *set)
{
    BB_DEBUG_ASSERT(set->next_shard < set->shard_count);
    size_t start = builder->section.size;
    uint32_t left = set->shard_count - set->next_shard;
    uint32_t full = UINT32_C(1) << builder->chunk_shift;
    uint8_t *checksum = NULL;
    enum bb_status status = bb_sharded_filter_encode(builder->shards, set,
                                                     left < full ? left : full, &builder->section);
    if (status == BB_OK)
        status = bb_buf_extend(&builder->section, BB_CHECKSUM_SIZE, &checksum);
    if (status == BB_OK)
        status = bb_append_varint(&builder->chunk_sizes, builder->section.size - start);
    builder->chunk_count += status == BB_OK;
    return status;
}

static enum bb_status finish_part(struct bb_table_filter_builder *builder)
{
    size_t key_count = builder->count;
    size_t hash_count = bb_hash_sort(builder->hashes, builder->count);
    struct bb_shard_set set = bb_sharded_filter_set(builder->hashes, hash_count);
    enum bb_status status = bb_append_varint(&builder->parts, key_count);
    if (status == BB_OK)
        status = bb_append_varint(&builder->parts, set.shard_count);
    while (status == BB_OK && set.next_shard < set.shard_count)
        status = append_chunk(builder, &set);
    builder->count = 0;
    builder->part_count++;
    return status;
}

enum bb_status bb_table_filter_builder_cut(struct bb_table_filter_builder *builder,
                                           const struct bb_fence *fence)
{
    BB_DEBUG_ASSERT(builder->count > 0);
    enum bb_status status = finish_part(builder);
    return status == BB_OK ? bb_fence_builder_add(&builder->fences, fence) : status;
}

/* ---- the section ---- */

/* Sets the checksums. They include the place of the section, which is known only now. */
static void seal_chunks(struct bb_table_filter_builder *builder, struct bb_table_id table,
                        uint64_t offset)
{
    struct bb_cursor sizes = bb_cursor_of(bb_buf_bytes(&builder->chunk_sizes));
    uint8_t *chunk = builder->section.data;
    for (uint32_t i = 0; i < builder->chunk_count; i++) {
        uint32_t size = 0;
        bool is_size = bb_decode_varint32(&sizes, &size);
        BB_ASSERT(is_size);
        size_t checked = size - BB_CHECKSUM_SIZE;
        bb_store64(chunk + checked,
                   bb_checksum(table, BB_STORED_TABLE_FILTER, offset, chunk, checked));
        chunk += size;
        offset += size;
    }
}

static enum bb_status append_list(struct bb_table_filter_builder *builder)
{
    struct bb_buf *section = &builder->section;
    size_t start = section->size;
    enum bb_status status = bb_append_varint(section, builder->chunk_shift);
    if (status == BB_OK)
        status = bb_append_varint(section, builder->part_count);
    if (status == BB_OK)
        status = bb_buf_append(section, builder->parts.data, builder->parts.size);
    if (status == BB_OK)
        status = bb_buf_append(section, builder->chunk_sizes.data, builder->chunk_sizes.size);
    if (status == BB_OK)
        status = bb_fence_builder_encode(&builder->fences, section);
    if (status == BB_OK && section->size - start > UINT32_MAX)
        status = bb_fail(BB_TOO_LARGE, "the list of a table filter has %zu bytes, the limit is %u",
                         section->size - start, UINT32_MAX);
    if (status == BB_OK)
        status = bb_append_u32(section, (uint32_t)(section->size - start));
    return status;
}

enum bb_status bb_table_filter_builder_finish(struct bb_table_filter_builder *builder,
                                              struct bb_table_id table, uint64_t offset,
                                              struct bb_bytes *ret_section)
{
    struct bb_buf *section = &builder->section;
    enum bb_status status = finish_part(builder);
    if (status != BB_OK)
        return status;
    seal_chunks(builder, table, offset);
    size_t start = section->size;
    status = append_list(builder);
    if (status == BB_OK)
        status = bb_append_u64(section, bb_checksum(table, BB_STORED_CHUNKS, offset + start,
                                                    section->data + start, section->size - start));
    if (status == BB_OK)
        *ret_section = bb_buf_bytes(section);
    return status;
}
