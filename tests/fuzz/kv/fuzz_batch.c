/* A payload of a log record, decoded as in recovery.
 *
 *     input      first byte: bit 0 sets the count to the present operations; then the payload
 *     oracle     an accepted payload, encoded again from its operations, gives the same bytes
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "kv/batch.h"
#include "tests/support/must_alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t count_operations(struct bb_bytes payload)
{
    struct bb_batch_cursor cursor;
    struct bb_entry entry;
    uint32_t count = 0;
    if (bb_batch_cursor_init(&cursor, payload, (struct bb_place){0}) != BB_OK)
        return 0;
    while (bb_cursor_left(&cursor.bytes) > 0 && bb_batch_cursor_next(&cursor, &entry) == BB_OK)
        count++;
    return count;
}

/* With the largest count that its size allows, then with the true one. */
static void repair_count(uint8_t *payload, size_t size)
{
    if (size < BB_BATCH_HEADER_SIZE)
        return;
    bb_store32(payload + 8, (uint32_t)((size - BB_BATCH_HEADER_SIZE) / 2));
    bb_store32(payload + 8, count_operations(bb_bytes_of(payload, size)));
}

static enum bb_status decode(struct bb_bytes payload, struct bb_batch *copy, uint64_t *ret_sequence)
{
    struct bb_batch_cursor cursor;
    struct bb_entry entry;
    enum bb_status status =
        bb_batch_cursor_init(&cursor, payload, (struct bb_place){.file = "fuzz"});
    if (status != BB_OK)
        return status;
    *ret_sequence = cursor.sequence;
    while ((status = bb_batch_cursor_next(&cursor, &entry)) == BB_OK) {
        if (entry.kind == BB_ENTRY_PUT)
            BB_ASSERT(bb_batch_put(copy, entry.key, entry.value) == BB_OK);
        else if (entry.kind == BB_ENTRY_DELETE_RANGE)
            BB_ASSERT(bb_batch_delete_range(copy, entry.key, entry.value) == BB_OK);
        else
            BB_ASSERT(bb_batch_delete(copy, entry.key) == BB_OK);
        BB_ASSERT(entry.sequence == *ret_sequence + bb_batch_count(copy) - 1);
    }
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct bb_bytes payload = bb_bytes_of(bb_must_alloc_zeroed(size - 1), size - 1);
    uint8_t *bytes = (uint8_t *)(uintptr_t)payload.data;
    memcpy(bytes, data + 1, size - 1);
    if (data[0] & 1)
        repair_count(bytes, size - 1);

    struct bb_batch copy = {0};
    uint64_t sequence = 0;
    enum bb_status status = decode(payload, &copy, &sequence);
    BB_ASSERT(status == BB_NOT_FOUND || status == BB_CORRUPT);
    if (status == BB_NOT_FOUND && bb_batch_count(&copy) > 0)
        BB_ASSERT(bb_bytes_equal(bb_batch_stamp(&copy, sequence), payload));
    bb_batch_deinit(&copy);
    free(bytes);
    return 0;
}
