/* Goal: every block is found by its number and by its keys, with any read-ahead; observers get the
 * same block number as readers; damage is reported and costs only its block. Method: tables of
 * random entries compared with the numbers that an observer received. */
#include "sstable/table/table_blocks.h"

#include "sstable/block/block_iter.h"
#include "sstable/build/table_builder.h"
#include "tests/unit/sstable/table_fixture.h"

struct world {
    struct bb_file_memory *memory;
    struct bb_table_options options;
    struct entry_list list;
    uint64_t *numbers; /* of the block that each entry of the list is in */
    size_t number_count;
    struct bb_table *table;
    struct bb_table_blocks blocks;
};

static enum bb_status note_number(void *context, const struct bb_entry *entry,
                                  uint64_t block_number)
{
    struct world *world = context;
    const struct bb_entry *expected = &world->list.entries[world->number_count];
    assert_int_equal(bb_bytes_compare(entry->key, expected->key), 0);
    assert_int_equal(entry->sequence, expected->sequence);
    world->numbers[world->number_count++] = block_number;
    return BB_OK;
}

static void write_table(struct world *world)
{
    struct bb_table_builder *builder = NULL;
    struct bb_table_observer observer = {.add = note_number, .context = world};
    assert_ok(bb_table_builder_create(FIXTURE_PATH, &world->options, &builder));
    bb_table_builder_observe(builder, &observer);
    assert_int_equal(bb_table_builder_id(builder).size, 16);
    for (size_t i = 0; i < world->list.count; i++)
        assert_ok(bb_table_builder_add(builder, &world->list.entries[i]));
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
    assert_int_equal(world->number_count, world->list.count);
}

static void world_init(struct world *world, uint64_t seed, uint32_t block_size,
                       size_t value_size_max)
{
    struct bb_rng rng;
    *world = (struct world){0};
    bb_rng_init(&rng, seed);
    world->memory = bb_file_memory_create(seed);
    world->options = (struct bb_table_options){
        .file_system = bb_file_memory_system(world->memory),
        .block_size_bytes = block_size,
        .index_page_size_bytes = 1024,
    };
    entry_list_add_random(&world->list, &rng, 600, value_size_max);
    entry_list_sort(&world->list, NULL);
    world->numbers = bb_must_realloc(NULL, world->list.count * sizeof(*world->numbers));
    write_table(world);
    assert_ok(bb_table_open(FIXTURE_PATH, &world->options, &world->table));
    assert_ok(bb_table_blocks_init(&world->blocks, world->table));
}

static void world_deinit(struct world *world)
{
    bb_table_blocks_deinit(&world->blocks);
    bb_table_close(world->table);
    entry_list_deinit(&world->list);
    free(world->numbers);
    bb_file_memory_destroy(world->memory);
}

/* The block's entries are the next ones of the list with this block number. */
static void check_block(struct world *world, uint64_t number, uint64_t end, size_t *next)
{
    const struct bb_block *block = NULL;
    struct bb_place place = {0};
    struct bb_block_iter iter;
    assert_ok(bb_table_blocks_load(&world->blocks, number, end, &block, &place));
    bb_block_iter_init(&iter, NULL);
    bb_block_iter_reset(&iter, block, place);
    for (bb_block_iter_seek_first(&iter); iter.is_valid; bb_block_iter_next(&iter)) {
        assert_true(*next < world->list.count);
        const struct bb_entry *expected = &world->list.entries[*next];
        assert_int_equal(world->numbers[*next], number);
        assert_int_equal(bb_bytes_compare(iter.entry.key, expected->key), 0);
        assert_int_equal(bb_bytes_compare(iter.entry.value, expected->value), 0);
        (*next)++;
    }
    assert_ok(iter.status);
    bb_block_iter_deinit(&iter);
}

static void check_all(struct world *world, uint64_t ahead)
{
    uint64_t count = bb_table_blocks_count(&world->blocks);
    size_t next = 0;
    for (uint64_t number = 0; number < count; number++) {
        uint64_t end = number + ahead < count ? number + ahead : count;
        check_block(world, number, end, &next);
    }
    assert_int_equal(next, world->list.count);
}

static void table_blocks__have_the_entries_that_observers_saw(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {64, 700, 4096};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct world world;
        world_init(&world, 500 + i, sizes[i], i == 2 ? 9000 : 300);
        check_all(&world, 1);
        check_all(&world, 16);
        check_all(&world, UINT32_MAX);
        world_deinit(&world);
    }
}

static void table_blocks__are_read_in_large_pieces(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, 510, 700, 300);
    check_all(&world, UINT32_MAX);
    assert_int_equal(world.blocks.read_count, world.table->root.page_count);
    uint64_t reads = world.blocks.read_count;
    check_all(&world, 1);
    assert_int_equal(world.blocks.read_count - reads, bb_table_blocks_count(&world.blocks));
    world_deinit(&world);
}

/* Pages of large blocks: one read has BB_TABLE_BLOCKS_READ_MAX bytes at most, in both
 * directions. */
static void table_blocks__pieces_are_not_larger_than_the_limit(void **state)
{
    (void)state;
    for (int is_backward = 0; is_backward < 2; is_backward++) {
        struct world world;
        world_init(&world, 511, 60000, 9000);
        uint64_t count = bb_table_blocks_count(&world.blocks);
        assert_true(count > 20);
        for (uint64_t i = 0; i < count; i++) {
            const struct bb_block *block = NULL;
            struct bb_place place = {0};
            assert_ok(is_backward ? bb_table_blocks_load_backward(&world.blocks, count - 1 - i, 0,
                                                                  &block, &place)
                                  : bb_table_blocks_load(&world.blocks, i, count, &block, &place));
            assert_true(world.blocks.stored.size <= BB_TABLE_BLOCKS_READ_MAX);
        }
        assert_true(world.blocks.read_count < count / 2);
        assert_true(world.blocks.read_count > world.table->root.page_count);
        world_deinit(&world);
    }
}

static void table_blocks__backward_they_are_the_same_and_as_few_reads(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, 515, 700, 300);
    uint64_t count = bb_table_blocks_count(&world.blocks);
    const struct bb_block *block = NULL;
    struct bb_place place = {0};
    for (uint64_t number = count; number > 0; number--) {
        struct bb_place forward = {0};
        struct bb_table_blocks other;
        assert_ok(bb_table_blocks_load_backward(&world.blocks, number - 1, 0, &block, &place));
        assert_ok(bb_table_blocks_init(&other, world.table));
        const struct bb_block *same = NULL;
        assert_ok(bb_table_blocks_load(&other, number - 1, number, &same, &forward));
        assert_int_equal(place.offset, forward.offset);
        assert_int_equal(block->raw_size, same->raw_size);
        assert_memory_equal(block->payload, same->payload, same->raw_size);
        bb_table_blocks_deinit(&other);
    }
    assert_int_equal(world.blocks.read_count, world.table->root.page_count);
    world_deinit(&world);
}

static void table_blocks__find_the_block_of_a_key(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, 520, 200, 100);
    for (size_t i = 0; i < world.list.count; i++) {
        uint64_t number = UINT64_MAX;
        bool is_newest = i == 0 || bb_bytes_compare(world.list.entries[i - 1].key,
                                                    world.list.entries[i].key) != 0;
        if (!is_newest)
            continue;
        assert_ok(bb_table_blocks_find(&world.blocks, world.list.entries[i].key, &number));
        assert_true(number <= world.numbers[i] && world.numbers[i] <= number + 1);
    }
    world_deinit(&world);
}

static void table_blocks__damage_costs_its_block_alone(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, 530, 700, 300);
    uint64_t count = bb_table_blocks_count(&world.blocks);
    const struct bb_block *block = NULL;
    struct bb_place place = {0};
    assert_true(count > 8);
    assert_ok(bb_table_blocks_load(&world.blocks, 5, 6, &block, &place));
    size_t size = 0;
    bb_file_memory_bytes(world.memory, FIXTURE_PATH, &size)[place.offset] ^= 1;
    assert_ok(bb_table_blocks_load(&world.blocks, 0, 1, &block, &place));
    for (uint64_t number = 0; number < count; number++) {
        enum bb_status status = bb_table_blocks_load(&world.blocks, number, count, &block, &place);
        assert_int_equal(status, number == 5 ? BB_CORRUPT : BB_OK);
    }
    world_deinit(&world);
}

/* Opens the table again, mapped. */
static void map_table(struct world *world)
{
    bb_table_blocks_deinit(&world->blocks);
    bb_table_close(world->table);
    world->options.read_mode = BB_READ_MAPPED;
    assert_ok(bb_table_open(FIXTURE_PATH, &world->options, &world->table));
    assert_ok(bb_table_blocks_init(&world->blocks, world->table));
}

static void table_blocks__of_a_map_need_no_call(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, 540, 700, 300);
    map_table(&world);
    uint64_t count = bb_table_blocks_count(&world.blocks);
    world.blocks.uses_map = true;
    check_all(&world, 16);
    assert_int_equal(world.blocks.read_count, count);
    assert_int_equal(world.blocks.stored.size, 0);
    world.blocks.uses_map = false;
    check_all(&world, 16);
    assert_true(world.blocks.stored.size > 0);
    world_deinit(&world);
}

/* The map loses its bytes at each of its checks. */
static void table_blocks__are_right_after_a_lost_map(void **state)
{
    (void)state;
    for (uint64_t nth = 1; nth < 40; nth++) {
        struct world world;
        world_init(&world, 550, 700, 300);
        map_table(&world);
        world.blocks.uses_map = true;
        bb_file_memory_lose_map(world.memory, nth);
        check_all(&world, 16);
        assert_true(world.blocks.stored.size > 0);
        bb_file_memory_lose_map(world.memory, 0);
        world_deinit(&world);
    }
}

static void table_blocks__damage_in_a_map_costs_its_block_alone(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, 560, 700, 300);
    const struct bb_block *block = NULL;
    struct bb_place place = {0};
    size_t size = 0;
    assert_ok(bb_table_blocks_load(&world.blocks, 5, 6, &block, &place));
    bb_file_memory_bytes(world.memory, FIXTURE_PATH, &size)[place.offset] ^= 1;
    map_table(&world);
    world.blocks.uses_map = true;
    uint64_t count = bb_table_blocks_count(&world.blocks);
    for (uint64_t number = 0; number < count; number++) {
        enum bb_status status = bb_table_blocks_load(&world.blocks, number, count, &block, &place);
        assert_int_equal(status, number == 5 ? BB_CORRUPT : BB_OK);
    }
    world_deinit(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_blocks__have_the_entries_that_observers_saw),
        cmocka_unit_test(table_blocks__are_read_in_large_pieces),
        cmocka_unit_test(table_blocks__pieces_are_not_larger_than_the_limit),
        cmocka_unit_test(table_blocks__backward_they_are_the_same_and_as_few_reads),
        cmocka_unit_test(table_blocks__find_the_block_of_a_key),
        cmocka_unit_test(table_blocks__damage_costs_its_block_alone),
        cmocka_unit_test(table_blocks__of_a_map_need_no_call),
        cmocka_unit_test(table_blocks__are_right_after_a_lost_map),
        cmocka_unit_test(table_blocks__damage_in_a_map_costs_its_block_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
