/* Arbitrary table filters. A byte selects how the section is read (fingerprint bits, order), the
 * rest is the section, whose checksums are repaired.
 *
 * A section that loads is pinned, and keys are probed in every part: each has a shard, each shard a
 * place in its chunk or none. A chunk that passes its check has the same results from its directory
 * and from its places. The section bounds the memory that a list claims.
 */
#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "tests/unit/sstable/table_filter_repair.h"
#include "tests/support/must_alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define OFFSET    UINT64_C(1000000)
#define QUESTIONS 200

static const struct bb_table_id table = {.low = 1, .high = 2};

static int compare_backwards(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    return bb_bytes_compare(b, a);
}
static const struct bb_comparator backwards = {.name = "backwards", .compare = compare_backwards};

struct world {
    struct bb_table_filter_reading reading;
    struct bb_block_filter_format format;
    struct bb_table_filter *table_filter;
    const uint8_t *section;
};

/* For an intact chunk, the result of its directory. */
static bool ask_directory(const struct world *world, uint32_t part, struct bb_block_filter_key key)
{
    const struct bb_table_filter *table_filter = world->table_filter;
    const struct bb_table_filter_part *p = &table_filter->parts[part];
    uint32_t shard = bb_block_filter_shard(key, p->shard_count);
    uint32_t chunk = p->first_chunk + (shard >> table_filter->chunk_shift);
    uint64_t first = 0;
    uint32_t count = bb_table_filter_chunk_shards(table_filter, chunk, &first);
    const uint8_t *stored =
        table_filter->chunks + bb_table_filter_chunk_offset(table_filter, chunk);
    if (bb_table_filter_chunk_check(table_filter, &world->reading, &world->format, chunk, stored) !=
        BB_OK)
        return true;
    struct bb_shard_entry entry =
        bb_sharded_filter_find(stored, count, (uint32_t)(p->first_shard + shard - first));
    return bb_block_filter_may_contain(&world->format, entry.descriptor, stored + entry.offset,
                                       key);
}

/* In one call, and as a question of a batch. */
static void ask_ready(const struct world *world, uint64_t key_hash, uint64_t place, bool expected)
{
    static struct bb_filter_batch batch;
    const struct bb_table_filter *table_filter = world->table_filter;
    bool is_damaged = place == BB_TABLE_FILTER_DAMAGED;
    bool is_let_through = false;
    BB_ASSERT(bb_table_filter_denies(table_filter, key_hash, &is_let_through) == !expected);
    BB_ASSERT(is_let_through == (expected && !is_damaged));
    BB_ASSERT(*bb_table_filter_batch_begin(table_filter, key_hash, &batch, 0) == place);
    BB_ASSERT(bb_table_filter_batch_find(place, &batch, 0) == !is_damaged);
    BB_ASSERT(bb_table_filter_batch_probe(table_filter, &batch, 1) == (uint64_t)expected);
}

static void ask(const struct world *world, struct bb_bytes text)
{
    for (uint64_t i = 0; i < QUESTIONS; i++) {
        struct bb_bytes key = {.data = text.data, .size = text.size == 0 ? 0 : i % text.size};
        uint32_t part = bb_table_filter_part(world->table_filter, world->reading.comparator, key);
        BB_ASSERT(part < world->table_filter->part_count);
        struct bb_block_filter_key hash = bb_block_filter_key(&world->format, bb_hash_mix(i));
        uint64_t place =
            bb_table_filter_place(world->table_filter, &world->table_filter->parts[part], hash);
        bool answer = bb_table_filter_may_contain(world->table_filter, &world->format, place, hash);
        BB_ASSERT(answer == ask_directory(world, part, hash));
        if (world->table_filter->part_count == 1)
            ask_ready(world, bb_hash_mix(i), place, answer);
    }
}

static void pin(const struct world *world)
{
    struct bb_table_filter *table_filter = world->table_filter;
    if (bb_table_filter_pin(table_filter, NULL) != BB_OK)
        return;
    BB_ASSERT(table_filter->memory_size < 40 * world->reading.size + 1000);
    memcpy(table_filter->chunks, world->section,
           (size_t)table_filter->chunk_ends[table_filter->chunk_count - 1]);
    for (uint32_t i = 0; i < table_filter->chunk_count; i++)
        if (bb_table_filter_chunk_check(table_filter, &world->reading, &world->format, i,
                                        table_filter->chunks +
                                            bb_table_filter_chunk_offset(table_filter, i)) == BB_OK)
            bb_table_filter_pin_chunk(table_filter, i);
    if (table_filter->part_count == 1)
        bb_table_filter_make_ready(table_filter, &world->format);
}

static void use(uint8_t how, const uint8_t *section, size_t size)
{
    struct world world = {
        .reading = {.comparator = how & 1 ? &backwards : NULL,
                    .table = table,
                    .place = {.offset = OFFSET},
                    .size = size},
        .section = section,
    };
    uint64_t list_size = 0;
    if (!bb_sharded_filter_format_restore(&world.format, 0.01, 5, 1 + (how >> 1) % 24) ||
        bb_table_filter_list_size(&world.reading, section + size - BB_TABLE_FILTER_TAIL_SIZE,
                                  &list_size) != BB_OK)
        return;
    struct bb_bytes list = {.data = section + (size - list_size), .size = (size_t)list_size};
    if (bb_table_filter_create(&world.reading, list, &world.table_filter) != BB_OK)
        return;
    pin(&world);
    if (world.table_filter->places != NULL)
        ask(&world, list);
    bb_table_filter_destroy(world.table_filter);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 + BB_TABLE_FILTER_TAIL_SIZE)
        return 0;
    uint8_t *section = bb_must_realloc(NULL, size - 1);
    memcpy(section, data + 1, size - 1);
    table_filter_repair(section, size - 1, table, OFFSET);
    use(data[0], section, size - 1);
    free(section);
    return 0;
}
