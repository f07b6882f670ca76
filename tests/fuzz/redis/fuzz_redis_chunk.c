/* Chunks of stores, as BB.LOADCHUNK and RDB files give them to the module.
 *
 *     | size : 2, chunk without its checksum | ...
 *
 * The checksum is repaired. Every chunk is read twice: as the first, without a batch, and in the
 * order of all. An accepted chunk adds its entries to the batch, with ascending fields. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/store/chunk.h"

#define HASH_SIZE 8

static void require(bool is_true, const char *what)
{
    if (is_true)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static int compare(struct bb_bytes a, struct bb_bytes b)
{
    int order = memcmp(a.data, b.data, a.size < b.size ? a.size : b.size);
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

struct last_field {
    struct bb_bytes bytes;
    bool is_there;
};

static enum bb_status check_order(void *context, enum bb_entry_kind kind, struct bb_bytes key,
                                  struct bb_bytes value)
{
    struct last_field *last = context;
    (void)value;
    require(kind == BB_ENTRY_PUT, "an operation that is no put");
    require(!last->is_there || compare(last->bytes, key) < 0, "fields do not ascend");
    *last = (struct last_field){key, true};
    return BB_OK;
}

static void read_chunk(struct bb_bytes chunk, struct bb_redis_chunk_order *order,
                       struct bb_batch *batch)
{
    struct bb_redis_chunk_order alone = {.count = 0};
    struct last_field last = {.is_there = false};
    uint64_t count = order->count;
    enum bb_status checked = bb_redis_chunk_read(chunk, &alone, NULL);
    bb_batch_reset(batch);
    enum bb_status added = bb_redis_chunk_read(chunk, order, batch);
    require(added != BB_OK || checked == BB_OK,
            "a chunk is accepted after others, and refused as the first");
    if (added == BB_OK) {
        require(bb_batch_count(batch) == order->count - count &&
                    alone.count == order->count - count,
                "the counts differ");
        require(bb_batch_iterate(batch, check_order, &last) == BB_OK, "the batch is damaged");
    }
    bb_redis_chunk_order_deinit(&alone);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bb_redis_chunk_order order = {.count = 0};
    struct bb_batch *batch = NULL;
    require(bb_batch_create(&batch) == BB_OK, "no memory");
    while (size >= 2) {
        size_t part = (size_t)data[0] | (size_t)data[1] << 8;
        part = part < size - 2 ? part : size - 2;
        uint8_t *chunk = malloc(HASH_SIZE + part);
        require(chunk != NULL, "no memory");
        memcpy(chunk + HASH_SIZE, data + 2, part);
        uint64_t hash = bb_hash_xxh64((struct bb_bytes){chunk + HASH_SIZE, part});
        for (size_t i = 0; i < HASH_SIZE; i++)
            chunk[i] = (uint8_t)(hash >> (8 * i));
        read_chunk((struct bb_bytes){chunk, HASH_SIZE + part}, &order, batch);
        free(chunk);
        data += 2 + part;
        size -= 2 + part;
    }
    bb_batch_destroy(batch);
    bb_redis_chunk_order_deinit(&order);
    return 0;
}
