/* Collects entries into the raw payload of a data block. See the header. One thread. */
#include "sstable/block/block_builder.h"

#include "base/assert.h"

/* Reserved space, so that the end of a block fits after a large value without moving it: a restart,
 * the tail, the trailer. */
#define END_SPACE (4 + BB_BLOCK_TAIL_SIZE + BB_BLOCK_TRAILER_SIZE)

void bb_block_builder_init(struct bb_block_builder *builder, uint32_t restart_interval)
{
    BB_DEBUG_ASSERT(restart_interval > 0);
    *builder = (struct bb_block_builder){.restart_interval = restart_interval};
}

void bb_block_builder_deinit(struct bb_block_builder *builder)
{
    bb_buf_deinit(&builder->payload);
    bb_buf_deinit(&builder->restarts);
    bb_buf_deinit(&builder->last_key);
}

void bb_block_builder_reset(struct bb_block_builder *builder)
{
    if (builder->payload.capacity > BB_BLOCK_BUFFER_KEPT_MAX)
        bb_buf_deinit(&builder->payload);
    bb_buf_reset(&builder->payload);
    bb_buf_reset(&builder->restarts);
    builder->entry_count = 0;
}

static enum bb_status append_entry(struct bb_buf *payload, const struct bb_entry *entry,
                                   size_t shared)
{
    BB_DEBUG_ASSERT(shared <= entry->key.size);
    size_t unshared = entry->key.size - shared;
    enum bb_status status = bb_buf_reserve(payload, BB_ENTRY_HEADER_SIZE_MAX + unshared +
                                                        entry->value.size + END_SPACE);
    if (status != BB_OK)
        return status;
    uint8_t *p = payload->data + payload->size;
    p = bb_store_varint(p, shared);
    p = bb_store_varint(p, unshared);
    p = bb_store_varint(p, entry->value.size);
    p = bb_store_varint(p, entry->sequence << 1 | (uint64_t)entry->kind);
    if (unshared > 0)
        memcpy(p, entry->key.data + shared, unshared);
    p += unshared;
    if (entry->value.size > 0)
        memcpy(p, entry->value.data, entry->value.size);
    p += entry->value.size;
    payload->size = (size_t)(p - payload->data);
    return BB_OK;
}

/* Makes this the last key. Its first `shared` bytes are in place. */
static enum bb_status keep_key(struct bb_buf *last_key, struct bb_bytes key, size_t shared)
{
    BB_DEBUG_ASSERT(shared <= last_key->size && shared <= key.size);
    last_key->size = shared;
    if (key.size == shared)
        return BB_OK;
    return bb_buf_append(last_key, key.data + shared, key.size - shared);
}

enum bb_status bb_block_builder_add(struct bb_block_builder *builder, const struct bb_entry *entry)
{
    BB_DEBUG_ASSERT(entry->key.size <= BB_KEY_SIZE_MAX && entry->sequence <= BB_SEQUENCE_MAX);
    bool is_restart = builder->entry_count % builder->restart_interval == 0;
    size_t common = bb_bytes_shared_prefix(bb_buf_bytes(&builder->last_key), entry->key);
    enum bb_status status = BB_OK;
    if (is_restart)
        status = bb_append_u32(&builder->restarts, (uint32_t)builder->payload.size);
    if (status == BB_OK)
        status = append_entry(&builder->payload, entry, is_restart ? 0 : common);
    if (status == BB_OK)
        status = keep_key(&builder->last_key, entry->key, common);
    if (status == BB_OK)
        builder->entry_count++;
    return status;
}

enum bb_status bb_block_builder_skip(struct bb_block_builder *builder, struct bb_bytes key)
{
    BB_ASSERT(builder->entry_count == 0);
    return bb_buf_assign(&builder->last_key, key);
}

size_t bb_block_builder_size(const struct bb_block_builder *builder)
{
    size_t entries = builder->payload.size;
    size_t restarts = builder->restarts.size;
    if (entries <= BB_NARROW_OFFSETS_MAX)
        restarts /= 2;
    return entries + restarts + BB_BLOCK_TAIL_SIZE;
}

enum bb_status bb_block_builder_finish(struct bb_block_builder *builder,
                                       struct bb_bytes *ret_payload)
{
    BB_ASSERT(builder->entry_count > 0);
    bool is_wide = builder->payload.size > BB_NARROW_OFFSETS_MAX;
    uint32_t count = (uint32_t)(builder->restarts.size / 4);
    enum bb_status status = bb_buf_reserve(
        &builder->payload, builder->restarts.size + BB_BLOCK_TAIL_SIZE + BB_BLOCK_TRAILER_SIZE);
    for (uint32_t i = 0; i < count && status == BB_OK; i++) {
        uint32_t offset = bb_load32(builder->restarts.data + 4 * (size_t)i);
        status = is_wide ? bb_append_u32(&builder->payload, offset)
                         : bb_append_u16(&builder->payload, (uint16_t)offset);
    }
    if (status == BB_OK)
        status = bb_append_u32(&builder->payload, count | (is_wide ? BB_RESTARTS_WIDE : 0));
    if (status == BB_OK)
        *ret_payload = bb_buf_bytes(&builder->payload);
    return status;
}
