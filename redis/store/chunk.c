/* See chunk.h. */
#include "redis/store/chunk.h"

#include <stdio.h>
#include <string.h>

#define HASH_SIZE   8
#define HEAD_SIZE   8 /* of an entry */
#define CHUNK_BYTES ((size_t)256 * 1024)

static void put_number(uint8_t *to, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get_number(const uint8_t *from, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)from[i] << (8 * i);
    return value;
}

/* ---- writing ---- */

static enum bb_status begin(struct bb_buf *chunk)
{
    static const uint8_t space[HASH_SIZE];
    return bb_buf_assign(chunk, (struct bb_bytes){space, sizeof(space)});
}

static void send(const struct bb_redis_chunk_sink *sink, struct bb_buf *chunk)
{
    const struct bb_bytes rest = {chunk->data + HASH_SIZE, chunk->size - HASH_SIZE};
    if (rest.size == 0)
        return;
    put_number(chunk->data, bb_hash_xxh64(rest), HASH_SIZE);
    sink->take(sink->context, (struct bb_bytes){chunk->data, chunk->size});
}

static enum bb_status add(struct bb_buf *chunk, struct bb_bytes field, struct bb_bytes value)
{
    uint8_t head[HEAD_SIZE];
    put_number(head, field.size, 4);
    put_number(head + 4, value.size, 4);
    enum bb_status status = bb_buf_append(chunk, head, sizeof(head));
    if (status == BB_OK)
        status = bb_buf_append(chunk, field.data, field.size);
    if (status == BB_OK)
        status = bb_buf_append(chunk, value.data, value.size);
    return status;
}

static enum bb_status write_entries(struct bb_db_iter *iter, const struct bb_redis_chunk_sink *sink,
                                    struct bb_buf *chunk, uint64_t *ret_count)
{
    enum bb_status status = begin(chunk);
    uint64_t count = 0;
    for (bb_db_iter_seek_first(iter); status == BB_OK && bb_db_iter_valid(iter);
         bb_db_iter_next(iter)) {
        status = add(chunk, bb_db_iter_key(iter), bb_db_iter_value(iter));
        count++;
        if (status == BB_OK && chunk->size >= CHUNK_BYTES) {
            send(sink, chunk);
            status = begin(chunk);
        }
    }
    if (status == BB_OK)
        status = bb_db_iter_status(iter);
    if (status != BB_OK)
        return status;
    send(sink, chunk);
    *ret_count = count;
    return BB_OK;
}

enum bb_status bb_redis_chunks_write(struct bb_db *db, const struct bb_redis_chunk_sink *sink,
                                     uint64_t *ret_count)
{
    const struct bb_get_options options = {.bypass_fill = true};
    struct bb_db_iter *iter = NULL;
    struct bb_buf chunk = {0};
    enum bb_status status = bb_db_iter_create(db, &options, &iter);
    if (status == BB_OK)
        status = write_entries(iter, sink, &chunk, ret_count);
    bb_db_iter_destroy(iter);
    bb_buf_deinit(&chunk);
    return status;
}

/* ---- reading ---- */

void bb_redis_chunk_order_deinit(struct bb_redis_chunk_order *order)
{
    bb_buf_deinit(&order->last);
}

static enum bb_status damaged(size_t offset, const char *reason)
{
    char message[128];
    snprintf(message, sizeof(message), "a chunk of a store is damaged at offset %zu: %s", offset,
             reason);
    return bb_error_set(BB_CORRUPT, message);
}

static int compare(struct bb_bytes a, struct bb_bytes b)
{
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common == 0 ? 0 : memcmp(a.data, b.data, common);
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

struct entry {
    struct bb_bytes field;
    struct bb_bytes value;
};

/* Reads the entry at *offset, and moves the offset to the next one. */
static enum bb_status read_entry(struct bb_bytes chunk, size_t *offset, struct entry *ret_entry)
{
    size_t at = *offset;
    size_t left = chunk.size - at;
    if (left < HEAD_SIZE)
        return damaged(at, "it ends within an entry");
    uint64_t field_size = get_number(chunk.data + at, 4);
    uint64_t value_size = get_number(chunk.data + at + 4, 4);
    if (field_size + value_size > left - HEAD_SIZE)
        return damaged(at, "the sizes of an entry exceed it");
    const uint8_t *bytes = chunk.data + at + HEAD_SIZE;
    ret_entry->field = (struct bb_bytes){bytes, (size_t)field_size};
    ret_entry->value = (struct bb_bytes){bytes + field_size, (size_t)value_size};
    *offset = at + HEAD_SIZE + (size_t)(field_size + value_size);
    return BB_OK;
}

static enum bb_status read_entries(struct bb_bytes chunk, bool has_previous,
                                   struct bb_bytes previous, struct bb_batch *batch,
                                   struct entry *ret_last, uint64_t *ret_count)
{
    struct entry entry = {.field = previous};
    size_t offset = HASH_SIZE;
    uint64_t count = 0;
    enum bb_status status = BB_OK;
    while (offset < chunk.size && status == BB_OK) {
        size_t at = offset;
        struct bb_bytes before = entry.field;
        status = read_entry(chunk, &offset, &entry);
        if (status == BB_OK && has_previous && compare(before, entry.field) >= 0)
            status = damaged(at, "its fields do not ascend");
        has_previous = true;
        if (status == BB_OK && batch != NULL)
            status = bb_batch_put(batch, entry.field, entry.value);
        count++;
    }
    *ret_last = entry;
    *ret_count = count;
    return status;
}

enum bb_status bb_redis_chunk_read(struct bb_bytes chunk, struct bb_redis_chunk_order *order,
                                   struct bb_batch *batch)
{
    struct entry last;
    uint64_t count = 0;
    struct bb_bytes previous = {0};
    if (chunk.size <= HASH_SIZE)
        return damaged(0, "it has no entries");
    const struct bb_bytes rest = {chunk.data + HASH_SIZE, chunk.size - HASH_SIZE};
    if (get_number(chunk.data, HASH_SIZE) != bb_hash_xxh64(rest))
        return damaged(0, "its checksum differs");
    if (order != NULL)
        previous = (struct bb_bytes){order->last.data, order->last.size};
    enum bb_status status =
        read_entries(chunk, order != NULL && order->count > 0, previous, batch, &last, &count);
    if (status == BB_OK && order != NULL) {
        status = bb_buf_assign(&order->last, last.field);
        order->count += count;
    }
    return status;
}
