/* Goal: a failing read or allocation while the blocks of a table are loaded is reported, leaks
 * nothing and does not stick; an observer's failure ends the walk. Method: a table with several
 * index pages that are not kept in memory; each call and each allocation fails. */
#include "sstable/table/table_blocks.h"

#include "base/status.h"
#include "sstable/build/table_builder.h"
#include "tests/support/alloc/alloc_fault.h"
#include "tests/support/file_fault.h"
#include "tests/unit/sstable/table_fixture.h"

struct world {
    struct bb_file_memory *memory;
    struct bb_file_fault *fault;
    struct bb_block_cache *cache;
    struct bb_table *table;
    uint64_t entry_count;
    uint64_t shown;
    uint64_t shown_max; /* the observer fails after this many */
};

static void world_init(struct world *world)
{
    struct bb_rng rng;
    struct entry_list list = {0};
    struct bb_table_builder *builder = NULL;
    *world = (struct world){.memory = bb_file_memory_create(1), .shown_max = UINT64_MAX};
    world->fault = bb_file_fault_create(bb_file_memory_system(world->memory));
    assert_ok(bb_block_cache_create(1 << 20, &world->cache));
    struct bb_table_options options = {.file_system = bb_file_fault_system(world->fault),
                                       .block_size_bytes = 300,
                                       .index_page_size_bytes = 512,
                                       .index_residency = BB_INDEX_CACHED,
                                       .cache = world->cache};
    bb_rng_init(&rng, bb_rng_seed("table_blocks_alloc_test", 3));
    entry_list_add_random(&list, &rng, 200, 30);
    entry_list_sort(&list, NULL);
    assert_ok(bb_table_builder_create(FIXTURE_PATH, &options, &builder));
    for (size_t i = 0; i < list.count; i++)
        assert_ok(bb_table_builder_add(builder, &list.entries[i]));
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
    assert_ok(bb_table_open(FIXTURE_PATH, &options, &world->table));
    world->entry_count = list.count;
    entry_list_deinit(&list);
}

static void world_deinit(struct world *world)
{
    bb_table_close(world->table);
    bb_block_cache_destroy(world->cache);
    bb_file_fault_destroy(world->fault);
    bb_file_memory_destroy(world->memory);
}

static enum bb_status count_entry(void *context, const struct bb_entry *entry, uint64_t number)
{
    struct world *world = context;
    (void)entry, (void)number;
    return ++world->shown > world->shown_max ? bb_fail(BB_NO_SPACE, "enough") : BB_OK;
}

/* All blocks forward, then some backward and by key. Each step reads its pages from the file,
 * except the page where the previous step ends. */
static enum bb_status walk(void *context)
{
    struct world *world = context;
    struct bb_table_observer observer = {.add = count_entry, .context = world};
    struct bb_table_blocks blocks;
    const struct bb_block *block = NULL;
    struct bb_place place = {0};
    uint64_t number = 0;
    world->shown = 0;
    enum bb_status status = bb_table_blocks_init(&blocks, world->table);
    if (status != BB_OK)
        return status;
    status = bb_table_blocks_show(&blocks, &observer);
    bb_block_cache_clear(world->cache);
    for (uint64_t at = bb_table_blocks_count(&blocks); at > 0 && status == BB_OK;
         at -= at > 3 ? 3 : at)
        status =
            bb_table_blocks_load_backward(&blocks, at - 1, at > 4 ? at - 4 : 0, &block, &place);
    bb_block_cache_clear(world->cache);
    if (status == BB_OK)
        status =
            bb_table_blocks_find(&blocks, bb_buf_bytes(&world->table->properties.largest), &number);
    assert_true(status != BB_OK || blocks.page_index > 0);
    bb_table_blocks_deinit(&blocks);
    bb_block_cache_clear(world->cache);
    return status;
}

static void table_blocks__each_call_fails(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    for (uint64_t nth = 1;; nth++) {
        struct bb_file_fault_plan plan = {.call = BB_FILE_CALL_READ_AT, .nth = nth};
        bb_file_fault_arm(world.fault, &plan);
        enum bb_status status = walk(&world);
        uint64_t hits = bb_file_fault_hits(world.fault);
        bb_file_fault_disarm(world.fault);
        assert_status(status, hits == 0 ? BB_OK : BB_IO);
        assert_ok(walk(&world));
        assert_int_equal(world.shown, world.entry_count);
        if (hits == 0) {
            assert_true(nth > 10);
            break;
        }
    }
    world_deinit(&world);
}

/* A block with a wrong checksum is read again; the failure of that read is not damage. */
static void table_blocks__the_second_read_of_a_damaged_block_fails(void **state)
{
    (void)state;
    struct world world;
    struct bb_table_blocks blocks;
    const struct bb_block *block = NULL;
    struct bb_place place = {0};
    size_t size = 0;
    world_init(&world);
    assert_ok(bb_table_blocks_init(&blocks, world.table));
    assert_ok(bb_table_blocks_load(&blocks, 0, 1, &block, &place)); /* with its page */
    bb_file_memory_bytes(world.memory, FIXTURE_PATH, &size)[blocks.page->block_ends[0]] ^= 1;
    for (uint64_t nth = 1; nth <= 3; nth++) {
        struct bb_file_fault_plan plan = {.call = BB_FILE_CALL_READ_AT, .nth = nth};
        bb_file_fault_arm(world.fault, &plan);
        enum bb_status status = bb_table_blocks_load(&blocks, 1, 2, &block, &place);
        assert_int_equal(bb_file_fault_hits(world.fault), nth < 3);
        bb_file_fault_disarm(world.fault);
        assert_status(status, nth < 3 ? BB_IO : BB_CORRUPT);
        assert_ok(bb_table_blocks_load(&blocks, 0, 1, &block, &place));
    }
    bb_table_blocks_deinit(&blocks);
    world_deinit(&world);
}

static void table_blocks__each_allocation_fails(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    assert_true(bb_alloc_fault_sweep(walk, &world, false) > 10);
    world_deinit(&world);
}

static void table_blocks__observer_fails(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    for (world.shown_max = 0; world.shown_max < world.entry_count; world.shown_max += 13) {
        assert_status(walk(&world), BB_NO_SPACE);
        assert_int_equal(world.shown, world.shown_max + 1);
    }
    world_deinit(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_blocks__each_call_fails),
        cmocka_unit_test(table_blocks__the_second_read_of_a_damaged_block_fails),
        cmocka_unit_test(table_blocks__each_allocation_fails),
        cmocka_unit_test(table_blocks__observer_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
