/* See fingerprint_coding.h. */
#include "redis/fingerprint/fingerprint_coding.h"

#include <string.h>

#define VERSION    1
#define VARINT_MAX 10

static const char magic[4] = {'b', 'b', 'f', 'p'};

static void store_number(uint8_t *bytes, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t load_number(const uint8_t *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

void bb_fingerprint_coding_header(const struct bb_fingerprint_chain *chain,
                                  uint8_t header[BB_FINGERPRINT_HEADER_SIZE])
{
    uint64_t rate = 0;
    memcpy(&rate, &chain->options.rate, sizeof(rate));
    memcpy(header, magic, sizeof(magic));
    header[4] = VERSION;
    header[5] = chain->options.is_set ? 1 : 0;
    header[6] = (uint8_t)chain->options.table_limit;
    header[7] = (uint8_t)chain->table_count;
    store_number(header + 8, chain->options.capacity, 8);
    store_number(header + 16, rate, 8);
    store_number(header + 24, chain->options.expansion, 4);
}

struct bb_fingerprint_chain *bb_fingerprint_coding_decode_header(struct bb_bytes header)
{
    if (header.size != BB_FINGERPRINT_HEADER_SIZE ||
        memcmp(header.data, magic, sizeof(magic)) != 0 || header.data[4] != VERSION ||
        header.data[5] > 1)
        return NULL;
    struct bb_fingerprint_options options = {
        .is_set = header.data[5] == 1,
        .table_limit = header.data[6],
        .capacity = load_number(header.data + 8, 8),
        .expansion = (uint32_t)load_number(header.data + 24, 4),
    };
    uint64_t rate = load_number(header.data + 16, 8);
    memcpy(&options.rate, &rate, sizeof(rate));
    uint32_t table_count = header.data[7];
    if (table_count == 0 || table_count > options.table_limit ||
        !bb_fingerprint_options_are_possible(&options))
        return NULL;
    struct bb_fingerprint_chain *chain = bb_fingerprint_chain_create(&options);
    while (chain != NULL && chain->table_count < table_count) {
        if (bb_fingerprint_chain_grow(chain) == BB_FINGERPRINT_ADDED)
            continue;
        bb_fingerprint_chain_destroy(chain);
        chain = NULL;
    }
    return chain;
}

/* --- Chunks --- */

/* The position of a shard, whose number counts the shards of all tables. */
struct walk {
    struct bb_fingerprint_table *table;
    uint32_t table_at;
    uint32_t at;
};

static bool walk_to(const struct bb_fingerprint_chain *chain, uint64_t number, struct walk *walk)
{
    for (uint32_t i = 0; i < chain->table_count; i++) {
        if (number < chain->tables[i]->shard_count) {
            walk->table = chain->tables[i];
            walk->table_at = i;
            walk->at = (uint32_t)number;
            return true;
        }
        number -= chain->tables[i]->shard_count;
    }
    return false;
}

/* Advances by count shards, at most to the end of the table. False at the end of the filter. */
static bool walk_on(const struct bb_fingerprint_chain *chain, struct walk *walk, uint32_t count)
{
    walk->at += count;
    if (walk->at < walk->table->shard_count)
        return true;
    walk->at = 0;
    if (++walk->table_at == chain->table_count)
        return false;
    walk->table = chain->tables[walk->table_at];
    return true;
}

static size_t store_varint(uint8_t *bytes, uint64_t value)
{
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[size++] = (uint8_t)(value | 0x80);
    bytes[size++] = (uint8_t)value;
    return size;
}

static enum bb_status append_varint(struct bb_buf *buf, uint64_t value)
{
    uint8_t bytes[VARINT_MAX];
    return bb_buf_append(buf, bytes, store_varint(bytes, value));
}

/* Writes the entry of a run of empty shards, if there is one. */
static enum bb_status flush_empty(struct bb_buf *entries, uint64_t *run)
{
    enum bb_status status = BB_OK;
    if (*run > 0)
        status = append_varint(entries, 0);
    if (*run > 0 && status == BB_OK)
        status = append_varint(entries, *run - 1);
    *run = 0;
    return status;
}

static enum bb_status append_shard(struct bb_buf *entries, const struct walk *walk)
{
    const struct bb_fingerprint_shard *shard = bb_fingerprint_table_shard(walk->table, walk->at);
    uint8_t bytes[BB_FINGERPRINT_SHARD_COUNT_MAX * sizeof(uint64_t)];
    size_t size = bb_fingerprint_shard_encoded_size(&walk->table->shape, shard->count);
    enum bb_status status = append_varint(entries, shard->count);
    if (status != BB_OK)
        return status;
    bb_fingerprint_shard_encode(shard, &walk->table->shape, bytes);
    return bb_buf_append(entries, bytes, size);
}

static enum bb_status append_entries(const struct bb_fingerprint_chain *chain, uint64_t first,
                                     size_t size_max, struct bb_buf *entries, uint64_t *ret_end)
{
    struct walk walk;
    enum bb_status status = BB_OK;
    uint64_t run = 0;
    bool is_inside = walk_to(chain, first, &walk);
    while (is_inside && status == BB_OK && entries->size < size_max) {
        uint32_t empty = bb_fingerprint_table_empty_run(walk.table, walk.at);
        run += empty;
        if (empty == 0)
            status = flush_empty(entries, &run);
        if (empty == 0 && status == BB_OK)
            status = append_shard(entries, &walk);
        first += empty == 0 ? 1 : empty;
        is_inside = walk_on(chain, &walk, empty == 0 ? 1 : empty);
    }
    if (status == BB_OK)
        status = flush_empty(entries, &run);
    *ret_end = first;
    return status;
}

enum bb_status bb_fingerprint_coding_chunk(const struct bb_fingerprint_chain *chain, uint64_t first,
                                           size_t size_max, struct bb_buf *chunk, uint64_t *ret_end)
{
    struct bb_buf entries = {0};
    uint64_t end = first;
    chunk->size = 0;
    enum bb_status status = append_entries(chain, first, size_max, &entries, &end);
    if (status == BB_OK)
        status = append_varint(chunk, first);
    if (status == BB_OK)
        status = append_varint(chunk, end - first);
    if (status == BB_OK)
        status = bb_buf_append(chunk, entries.data, entries.size);
    bb_buf_deinit(&entries);
    if (status == BB_OK)
        *ret_end = end;
    return status;
}

static bool take_varint(struct bb_bytes *bytes, uint64_t *ret_value)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < 5 && i < bytes->size; i++) {
        uint8_t byte = bytes->data[i];
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            bytes->data += i + 1;
            bytes->size -= i + 1;
            *ret_value = value;
            return i == 0 || byte != 0; /* the shortest form only */
        }
    }
    return false;
}

/* Takes the rest of the entry of a run of empty shards. False: more than `left`, or damaged. */
static bool take_run(struct bb_fingerprint_chain *chain, struct walk walk, struct bb_bytes *bytes,
                     uint64_t left, uint64_t *ret_taken)
{
    uint64_t more = 0;
    if (!take_varint(bytes, &more) || more >= left)
        return false;
    *ret_taken = more + 1;
    for (uint64_t run = more + 1; run > 0;) {
        uint32_t in_table = walk.table->shard_count - walk.at;
        uint32_t count = run < in_table ? (uint32_t)run : in_table;
        bb_fingerprint_table_clear(walk.table, walk.at, count);
        run -= count;
        if (!walk_on(chain, &walk, count) && run > 0)
            return false;
    }
    return true;
}

static bool take_shard(const struct bb_fingerprint_chain *chain, const struct walk *walk,
                       struct bb_bytes *bytes, uint64_t count)
{
    const struct bb_fingerprint_shape *shape = &walk->table->shape;
    if (count > BB_FINGERPRINT_SHARD_COUNT_MAX)
        return false;
    size_t size = bb_fingerprint_shard_encoded_size(shape, (uint32_t)count);
    if (size > bytes->size)
        return false;
    struct bb_fingerprint_shard *shard =
        bb_fingerprint_shard_decode(shape, (uint32_t)count, bytes->data, chain->options.is_set);
    if (shard == NULL)
        return false;
    bytes->data += size;
    bytes->size -= size;
    if (bb_fingerprint_table_set_shard(walk->table, walk->at, shard))
        return true;
    bb_fingerprint_shard_destroy(shard);
    return false;
}

/* Takes one entry. False: it is not an entry, it is for more than `left` shards, or it is a run of
 * empty shards directly after another, which should be one run. */
static bool take_entry(struct bb_fingerprint_chain *chain, uint64_t number, struct bb_bytes *bytes,
                       uint64_t left, bool *was_run, uint64_t *ret_taken)
{
    uint64_t count = 0;
    struct walk walk;
    if (!walk_to(chain, number, &walk) || !take_varint(bytes, &count))
        return false;
    bool follows_run = *was_run;
    *was_run = count == 0;
    *ret_taken = 1;
    if (count == 0)
        return !follows_run && take_run(chain, walk, bytes, left, ret_taken);
    return take_shard(chain, &walk, bytes, count);
}

bool bb_fingerprint_coding_decode_chunk(struct bb_fingerprint_chain *chain, struct bb_bytes chunk,
                                        uint64_t *ret_first, uint64_t *ret_end)
{
    uint64_t number = 0;
    uint64_t left = 0;
    uint64_t taken = 0;
    bool was_run = false;
    if (!take_varint(&chunk, &number) || !take_varint(&chunk, &left) || left == 0)
        return false;
    *ret_first = number;
    for (; left > 0; left -= taken, number += taken) {
        if (!take_entry(chain, number, &chunk, left, &was_run, &taken))
            return false;
    }
    *ret_end = number;
    return chunk.size == 0;
}
