/* A growing batch already has the form of its log payload, so that a commit copies nothing:
 *
 *     +--------------+-----------+-------------------------------------------------------------+
 *     | sequence u64 | count u32 | count times:                                                |
 *     |              |           |   kind u8, key size varint, key                             |
 *     |              |           |   only for a put: value size varint, value                  |
 *     |              |           |   only for a range: size varint of its high key, that key   |
 *     +--------------+-----------+-------------------------------------------------------------+
 *
 * Numbers are little-endian, varints canonical. kind is enum bb_entry_kind; the key of a range is
 * its low one. The i-th operation has sequence `sequence` + i, so later operations on the same key
 * win.
 *
 * Threads: see batch.h.
 */
#include "kv/batch.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "sstable/entry.h"

/* The kind and the size of an empty key. */
#define OPERATION_SIZE_MIN 2

void bb_batch_deinit(struct bb_batch *batch)
{
    bb_buf_deinit(&batch->payload);
}

enum bb_status bb_batch_create(struct bb_batch **ret_batch)
{
    struct bb_batch *batch = bb_alloc_zeroed(1, sizeof(*batch));
    if (batch == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a batch");
    *ret_batch = batch;
    return BB_OK;
}

void bb_batch_destroy(struct bb_batch *batch)
{
    if (batch == NULL)
        return;
    bb_batch_deinit(batch);
    bb_free(batch);
}

void bb_batch_reset(struct bb_batch *batch)
{
    bb_buf_reset(&batch->payload);
    batch->count = 0;
    batch->raw_bytes = 0;
    batch->tail = (struct bb_bytes){0};
}

/* Reserves space for one more operation, and for the header if it is missing. */
static enum bb_status make_space(struct bb_batch *batch, const struct bb_entry *entry)
{
    size_t size = bb_batch_size_of_one(entry->key.size, entry->value.size);
    if (size > BB_BATCH_SIZE_MAX - batch->payload.size)
        return bb_fail(BB_TOO_LARGE, "a batch of more than %u bytes", BB_BATCH_SIZE_MAX);
    return bb_buf_reserve(&batch->payload, size);
}

static uint8_t *store_bytes(uint8_t *p, struct bb_bytes bytes)
{
    p = bb_store_varint(p, bytes.size);
    if (bytes.size > 0)
        memcpy(p, bytes.data, bytes.size);
    return p + bytes.size;
}

/* For a range, low is the key and high is the value. */
static enum bb_status check(const struct bb_entry *entry)
{
    return entry->kind == BB_ENTRY_DELETE_RANGE
               ? bb_entry_check_range(entry->key, entry->value, entry->sequence)
               : bb_entry_check(entry);
}

/* The last `size` bytes before end. */
static struct bb_batch_place place_before(const struct bb_batch *batch, const uint8_t *end,
                                          size_t size)
{
    return (struct bb_batch_place){.offset = (size_t)(end - batch->payload.data) - size,
                                   .size = size};
}

/* Stores the operation up to its value. REQUIRES: the space is reserved. */
static uint8_t *store_operation(struct bb_batch *batch, const struct bb_entry *entry)
{
    BB_DEBUG_ASSERT(batch->payload.size < batch->payload.capacity);
    if (batch->payload.size == 0)
        batch->payload.size = BB_BATCH_HEADER_SIZE; /* filled in by bb_batch_stamp */
    uint8_t *p = batch->payload.data + batch->payload.size;
    *p++ = (uint8_t)entry->kind;
    p = store_bytes(p, entry->key);
    batch->last_kind = entry->kind;
    batch->last_key = place_before(batch, p, entry->key.size);
    return p;
}

static void count_operation(struct bb_batch *batch, const struct bb_entry *entry,
                            const uint8_t *end)
{
    batch->payload.size = (size_t)(end - batch->payload.data);
    batch->count++;
    batch->raw_bytes += entry->key.size + entry->value.size;
}

static enum bb_status add(struct bb_batch *batch, const struct bb_entry *entry)
{
    enum bb_status status = check(entry);
    if (status == BB_OK)
        status = make_space(batch, entry);
    if (status != BB_OK)
        return status;
    uint8_t *p = store_operation(batch, entry);
    if (entry->kind != BB_ENTRY_DELETE)
        p = store_bytes(p, entry->value);
    batch->last_value = place_before(batch, p, entry->value.size);
    count_operation(batch, entry, p);
    return BB_OK;
}

enum bb_status bb_batch_put_borrowed(struct bb_batch *batch, struct bb_bytes key,
                                     struct bb_bytes value)
{
    struct bb_entry entry = {.key = key, .kind = BB_ENTRY_PUT, .value = value};
    BB_ASSERT(batch->count == 0 && value.size > 0);
    enum bb_status status = check(&entry);
    if (status == BB_OK)
        status = make_space(batch, &(struct bb_entry){.key = key, .kind = BB_ENTRY_PUT});
    if (status != BB_OK)
        return status;
    uint8_t *p = bb_store_varint(store_operation(batch, &entry), value.size);
    count_operation(batch, &entry, p);
    batch->last_value = (struct bb_batch_place){0};
    batch->tail = value;
    return BB_OK;
}

enum bb_status bb_batch_put(struct bb_batch *batch, struct bb_bytes key, struct bb_bytes value)
{
    return add(batch, &(struct bb_entry){.key = key, .kind = BB_ENTRY_PUT, .value = value});
}

enum bb_status bb_batch_delete(struct bb_batch *batch, struct bb_bytes key)
{
    return add(batch, &(struct bb_entry){.key = key, .kind = BB_ENTRY_DELETE});
}

enum bb_status bb_batch_delete_range(struct bb_batch *batch, struct bb_bytes low,
                                     struct bb_bytes high)
{
    return add(batch, &(struct bb_entry){.key = low, .kind = BB_ENTRY_DELETE_RANGE, .value = high});
}

size_t bb_batch_count(const struct bb_batch *batch)
{
    return batch->count;
}

size_t bb_batch_size_bytes(const struct bb_batch *batch)
{
    return batch->payload.size + batch->tail.size;
}

struct bb_bytes bb_batch_stamp(const struct bb_batch *batch, uint64_t sequence)
{
    BB_ASSERT(batch->count > 0 && sequence + batch->count - 1 <= BB_SEQUENCE_MAX);
    bb_store64(batch->payload.data, sequence);
    bb_store32(batch->payload.data + 8, batch->count);
    return bb_buf_bytes(&batch->payload);
}

static struct bb_bytes bytes_at(const struct bb_batch *batch, struct bb_batch_place place)
{
    return bb_bytes_of(batch->payload.data + place.offset, place.size);
}

struct bb_entry bb_batch_last(const struct bb_batch *batch, uint64_t sequence)
{
    BB_DEBUG_ASSERT(batch->count > 0);
    return (struct bb_entry){
        .sequence = sequence,
        .kind = batch->last_kind,
        .key = bytes_at(batch, batch->last_key),
        .value = batch->tail.size > 0 ? batch->tail : bytes_at(batch, batch->last_value),
    };
}

enum bb_status bb_batch_iterate(const struct bb_batch *batch,
                                enum bb_status (*visit)(void *context, enum bb_entry_kind kind,
                                                        struct bb_bytes key, struct bb_bytes value),
                                void *context)
{
    if (batch->count == 0)
        return BB_OK;
    struct bb_batch_cursor cursor;
    enum bb_status status =
        bb_batch_cursor_init(&cursor, bb_batch_stamp(batch, 0), (struct bb_place){0});
    for (uint32_t i = 0; i < batch->count && status == BB_OK; i++) {
        struct bb_entry entry = {0};
        status = bb_batch_cursor_next(&cursor, &entry);
        if (status == BB_OK)
            status = visit(context, entry.kind, entry.key, entry.value);
    }
    return status;
}

enum bb_status bb_batch_cursor_init(struct bb_batch_cursor *cursor, struct bb_bytes payload,
                                    struct bb_place place)
{
    struct bb_cursor bytes = bb_cursor_of(payload);
    uint64_t sequence = 0;
    uint32_t count = 0;
    if (!bb_decode_u64(&bytes, &sequence) || !bb_decode_u32(&bytes, &count))
        return bb_corrupt(place, 0, "a batch of %zu bytes, expected at least %d", payload.size,
                          BB_BATCH_HEADER_SIZE);
    if (sequence > BB_SEQUENCE_MAX || count > BB_SEQUENCE_MAX - sequence + 1)
        return bb_corrupt(place, 0,
                          "a batch of %" PRIu32 " operations from sequence %" PRIu64
                          ", the highest is %" PRIu64,
                          count, sequence, BB_SEQUENCE_MAX);
    if (count > bb_cursor_left(&bytes) / OPERATION_SIZE_MIN)
        return bb_corrupt(place, 8, "a batch of %" PRIu32 " operations in %zu bytes", count,
                          payload.size);
    *cursor = (struct bb_batch_cursor){
        .bytes = bytes,
        .place = place,
        .start = payload.data,
        .sequence = sequence,
        .count = count,
    };
    return BB_OK;
}

static enum bb_status corrupt(const struct bb_batch_cursor *cursor, const char *what)
{
    uint64_t offset = (uint64_t)(cursor->bytes.position - cursor->start);
    return bb_corrupt(cursor->place, offset, "operation %" PRIu32 " of %" PRIu32 " of a batch: %s",
                      cursor->position, cursor->count, what);
}

static bool decode_value(struct bb_batch_cursor *cursor, struct bb_entry *entry)
{
    size_t size_max =
        entry->kind == BB_ENTRY_DELETE_RANGE ? (size_t)BB_KEY_SIZE_MAX : (size_t)BB_VALUE_SIZE_MAX;
    return entry->kind == BB_ENTRY_DELETE ||
           (bb_decode_bytes(&cursor->bytes, &entry->value) && entry->value.size <= size_max);
}

enum bb_status bb_batch_cursor_next(struct bb_batch_cursor *cursor, struct bb_entry *ret_entry)
{
    if (cursor->position == cursor->count) {
        if (bb_cursor_left(&cursor->bytes) > 0)
            return corrupt(cursor, "bytes after the last one");
        return BB_NOT_FOUND;
    }

    struct bb_entry entry = {.sequence = cursor->sequence + cursor->position};
    uint8_t kind = 0;
    if (!bb_decode_u8(&cursor->bytes, &kind))
        return corrupt(cursor, "missing");
    if (kind > BB_ENTRY_DELETE_RANGE)
        return corrupt(cursor, "unknown kind");
    entry.kind = (enum bb_entry_kind)kind;
    if (!bb_decode_bytes(&cursor->bytes, &entry.key) || entry.key.size > BB_KEY_SIZE_MAX)
        return corrupt(cursor, "its key does not fit");
    if (!decode_value(cursor, &entry))
        return corrupt(cursor, entry.kind == BB_ENTRY_PUT ? "its value does not fit"
                                                          : "its high key does not fit");
    cursor->position++;
    *ret_entry = entry;
    return BB_OK;
}
