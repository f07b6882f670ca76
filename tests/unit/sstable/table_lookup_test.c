/* Goal: a lookup in steps gives the result of bb_table_get, whether its block is available
 * immediately or after a wait; data read immediately is used only after its checksum was verified;
 * the read-ahead of a large block is bounded. Method: a table of small blocks and one large value,
 * whose immediate reads are refused or return a wrong bit. */
#include "sstable/table/table_lookup.h"
#include "tests/unit/sstable/table_fixture.h"

#include "base/hash.h"
#include "sstable/table/table.h"

#define KEYS       500
#define LARGE_SIZE (300 * 1024)

/* The results of immediate reads, and the announced reads. */
static struct {
    const struct bb_file_ops *sound;
    struct bb_file_ops ops;
    bool flips_a_bit;
    uint64_t tries;
    uint64_t needed_size;
} watched;

static bool read_now(struct bb_file *file, uint64_t offset, void *buffer, size_t size)
{
    bool is_read = watched.sound->read_now(file, offset, buffer, size);
    watched.tries++;
    if (is_read && watched.flips_a_bit)
        ((uint8_t *)buffer)[size / 3] ^= 0x04;
    return is_read;
}

static void will_need(struct bb_file *file, uint64_t offset, uint64_t size)
{
    watched.needed_size = size;
    watched.sound->will_need(file, offset, size);
}

struct world {
    struct bb_file_memory *memory;
    struct bb_table_options options;
    struct bb_hash_secret secret;
    struct bb_table *table;
    struct bb_read_stats stats;
    struct bb_buf value;
};

static void key_of(int i, char key[16])
{
    snprintf(key, 16, "%06d", i);
}

/* Key 2 i has value 2 i; 2 KEYS has a large one. */
static void build(struct world *world)
{
    struct entry_list list = {0};
    uint8_t *large = bb_must_realloc(NULL, LARGE_SIZE);
    char key[16];
    for (int i = 0; i < KEYS; i++) {
        key_of(2 * i, key);
        entry_list_add_text(&list, key, 7, key);
    }
    for (size_t i = 0; i < LARGE_SIZE; i++)
        large[i] = (uint8_t)(i * i >> 7);
    key_of(2 * KEYS, key);
    entry_list_add(&list, bb_bytes_of_text(key), 7, BB_ENTRY_PUT, bb_bytes_of(large, LARGE_SIZE));
    build_table(FIXTURE_PATH, &world->options, &list, NULL);
    entry_list_deinit(&list);
    free(large);
}

static void world_init(struct world *world, uint64_t cache_size)
{
    *world = (struct world){.memory = bb_file_memory_create(9)};
    bb_hash_secret_from_seed(9, &world->secret);
    world->options = (struct bb_table_options){
        .file_system = bb_file_memory_system(world->memory),
        .secret = &world->secret,
        .block_size_bytes = 256,
        .compression = BB_COMPRESSION_NONE,
        .filter_kind = BB_FILTER_NONE,
        .read_mode = BB_READ_CALLS, /* the tests watch calls */
    };
    if (cache_size > 0)
        assert_ok(bb_block_cache_create(cache_size, &world->options.cache));
    build(world);
    assert_ok(bb_table_open(FIXTURE_PATH, &world->options, &world->table));
    watched.sound = world->table->file->ops;
    watched.ops = *watched.sound;
    watched.ops.read_now = read_now;
    watched.ops.will_need = will_need;
    watched.flips_a_bit = false;
    watched.tries = 0;
    world->table->file->ops = &watched.ops;
}

static void world_deinit(struct world *world)
{
    world->table->file->ops = watched.sound;
    bb_table_close(world->table);
    if (world->options.cache != NULL)
        bb_block_cache_destroy(world->options.cache);
    bb_buf_deinit(&world->value);
    bb_file_memory_destroy(world->memory);
}

/* Tries, and ends where that did not. Returns whether it had to wait. */
static bool look_up(struct world *world, int number, enum bb_visit *ret_visit)
{
    char key[16];
    key_of(number, key);
    struct bb_bytes bytes = bb_bytes_of_text(key);
    struct bb_table_question question = {.key = bytes,
                                         .key_hash = bb_hash_key(&world->secret, bytes),
                                         .sequence = BB_SEQUENCE_MAX,
                                         .value = &world->value};
    struct bb_table_lookup lookup = {
        .table = world->table, .question = &question, .stats = &world->stats};
    assert_ok(bb_table_lookup_begin(&lookup));
    assert_int_equal(lookup.state, BB_LOOKUP_BLOCK);
    assert_ok(bb_table_lookup_try(&lookup));
    bool has_waited = lookup.state == BB_LOOKUP_AWAITED;
    if (has_waited)
        assert_ok(bb_table_lookup_end(&lookup));
    assert_int_equal(lookup.state, BB_LOOKUP_ENDED);
    *ret_visit = lookup.visit;
    return has_waited;
}

/* All small keys and those between; returns how many had to wait. */
static int look_up_all(struct world *world)
{
    int waits = 0;
    for (int i = 0; i < 2 * KEYS; i++) {
        enum bb_visit found = BB_VISIT_COUNT;
        char expected[16];
        waits += look_up(world, i, &found);
        assert_int_equal(found, i % 2 == 0 ? BB_VISIT_PRESENT : BB_VISIT_FALSE_POSITIVE);
        key_of(i, expected);
        if (i % 2 == 0)
            assert_true(bb_bytes_equal(bb_buf_bytes(&world->value), bb_bytes_of_text(expected)));
    }
    assert_int_equal(world->stats.visits[BB_VISIT_PRESENT], KEYS);
    assert_int_equal(world->stats.block_requests, 2 * KEYS);
    return waits;
}

static void table_lookup__has_no_wait_for_what_is_there(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, 0);
    assert_int_equal(look_up_all(&world), 0);
    assert_int_equal(world.stats.block_reads, 2 * KEYS);
    world_deinit(&world);
}

static void table_lookup__waits_for_the_rest(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, 0);
    bb_file_memory_set_cold(world.memory, 3);
    assert_int_equal(look_up_all(&world), 2 * KEYS / 3);
    assert_int_equal(world.stats.block_reads, 2 * KEYS);
    world_deinit(&world);
}

/* The cache gets the block in either way, and then no read happens. */
static void table_lookup__fills_the_cache(void **state)
{
    (void)state;
    for (uint32_t one_in = 0; one_in <= 2; one_in++) {
        struct world world;
        world_init(&world, 1 << 20);
        bb_file_memory_set_cold(world.memory, one_in);
        (void)look_up_all(&world);
        assert_int_equal(world.stats.block_reads, watched.tries);
        assert_true(world.stats.block_reads == world.table->meta.block_count - 1);
        world_deinit(&world);
    }
}

static void table_lookup__a_wrong_bit_read_at_once_is_read_again(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, 1 << 20);
    watched.flips_a_bit = true;
    (void)look_up_all(&world);
    assert_int_equal(world.stats.block_reads, 2 * watched.tries);
    world_deinit(&world);
}

static void table_lookup__a_large_block_is_announced_in_part(void **state)
{
    (void)state;
    struct world world;
    enum bb_visit found = BB_VISIT_COUNT;
    world_init(&world, 0);
    assert_true(look_up(&world, 2 * KEYS, &found));
    assert_int_equal(found, BB_VISIT_PRESENT);
    assert_int_equal(world.value.size, LARGE_SIZE);
    assert_int_equal(watched.tries, 0);
    assert_in_range(watched.needed_size, 4096, LARGE_SIZE / 2);
    world_deinit(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_lookup__has_no_wait_for_what_is_there),
        cmocka_unit_test(table_lookup__waits_for_the_rest),
        cmocka_unit_test(table_lookup__fills_the_cache),
        cmocka_unit_test(table_lookup__a_wrong_bit_read_at_once_is_read_again),
        cmocka_unit_test(table_lookup__a_large_block_is_announced_in_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
