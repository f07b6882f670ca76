/* Shared by the tests of table filters: a table of numbered keys in a file system in memory, built
 * with parts of any size. Key number i is present if i is even, absent if it is odd. */
#ifndef BB_TESTS_UNIT_SSTABLE_TABLE_FILTER_FIXTURE_H
#define BB_TESTS_UNIT_SSTABLE_TABLE_FILTER_FIXTURE_H

#include "tests/unit/sstable/table_fixture.h"

#include <math.h>

#include "base/hash.h"
#include "sstable/build/table_builder.h"
#include "sstable/table/table.h"

struct table_filter_world {
    struct bb_file_memory *memory;
    struct bb_hash_secret secret;
    struct bb_table_options options;
    size_t part_keys; /* 0: as many as there are */
    size_t key_count;
    struct bb_table *table;
    struct bb_read_stats stats;
    struct bb_buf value;
};

/* Ascending. Without a shared prefix, and with eight distinguishing bytes, as required for the fast
 * path of a lookup. */
static inline struct bb_bytes numbered_key(size_t i, char text[24])
{
    snprintf(text, 24, "%c%07zx key", i < 3 ? 'a' : 'b', i);
    return bb_bytes_of_text(text);
}

static inline void world_init(struct table_filter_world *world, uint64_t seed,
                              double table_filter_bits)
{
    *world = (struct table_filter_world){.memory = bb_file_memory_create(seed)};
    bb_hash_secret_from_seed(seed, &world->secret);
    world->options.file_system = bb_file_memory_system(world->memory);
    world->options.secret = &world->secret;
    world->options.table_filter_bits = table_filter_bits;
}

static inline void world_close(struct table_filter_world *world)
{
    bb_table_close(world->table);
    world->table = NULL;
}

static inline void world_deinit(struct table_filter_world *world)
{
    world_close(world);
    bb_buf_deinit(&world->value);
    if (world->options.cache != NULL)
        bb_block_cache_destroy(world->options.cache);
    bb_file_memory_destroy(world->memory);
}

/* Writes the present keys below 2 * key_count, in the comparator's order. */
static inline void world_build(struct table_filter_world *world, size_t key_count)
{
    struct bb_table_builder *builder = NULL;
    bool is_backwards = world->options.comparator != NULL;
    struct bb_file_system *fs = world->options.file_system;
    enum bb_status removed = fs->ops->remove(fs, FIXTURE_PATH);
    assert_true(removed == BB_OK || removed == BB_NOT_FOUND);
    assert_ok(bb_table_builder_create(FIXTURE_PATH, &world->options, &builder));
    if (world->part_keys > 0)
        bb_table_builder_set_filter_part(builder, world->part_keys);
    for (size_t i = 0; i < key_count; i++) {
        char text[24];
        struct bb_entry entry = {.sequence = 1, .kind = BB_ENTRY_PUT};
        entry.key = numbered_key(2 * (is_backwards ? key_count - 1 - i : i), text);
        entry.value = bb_bytes_of_text("value");
        assert_ok(bb_table_builder_add(builder, &entry));
    }
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
    world->key_count = key_count;
}

static inline void world_open(struct table_filter_world *world)
{
    assert_ok(bb_table_open(FIXTURE_PATH, &world->options, &world->table));
}

static inline enum bb_visit world_get(struct table_filter_world *world,
                                      const struct bb_read_options *options, size_t i)
{
    char text[24];
    uint64_t sequence = 0;
    enum bb_visit visit = BB_VISIT_COUNT;
    struct bb_bytes key = numbered_key(i, text);
    assert_ok(bb_table_get(world->table, options, key, bb_hash_key(&world->secret, key),
                           BB_SEQUENCE_MAX, &world->stats, &world->value, &sequence, &visit));
    return visit;
}

static inline void assert_members(struct table_filter_world *world)
{
    for (size_t i = 0; i < world->key_count; i++)
        assert_int_equal(world_get(world, NULL, 2 * i), BB_VISIT_PRESENT);
}

/* Number of absent keys inside the bounds. */
static inline size_t ask_absent(struct table_filter_world *world,
                                const struct bb_read_options *options)
{
    for (size_t i = 0; i + 1 < world->key_count; i++)
        (void)world_get(world, options, 2 * i + 1);
    return world->key_count - 1;
}

static inline uint64_t visits(const struct table_filter_world *world, enum bb_visit visit)
{
    return world->stats.visits[visit];
}

/* count of asked happen with a probability, up to six deviations. */
static inline void assert_share(uint64_t count, uint64_t asked, double rate, const char *what)
{
    double expected = (double)asked * rate;
    double band = 6 * sqrt(expected) + 6;
    print_message("%-28s %8llu of %llu, expected %.0f\n", what, (unsigned long long)count,
                  (unsigned long long)asked, expected);
    assert_true(fabs((double)count - expected) <= band);
}

#endif
