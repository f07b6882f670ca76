/* Goal: a walk visits every block and entry once, reports the place of each, and continues after
 * damage. Method: a table compared with its list; pages and blocks damaged in between. */
#include "tests/unit/sstable/table_fixture.h"

#include "sstable/table/table_walk.h"

struct world {
    struct bb_file_memory *memory;
    struct bb_table_options options;
    struct entry_list list;
    struct bb_table *table;
    struct bb_table_walk walk;
};

static void world_init(struct world *world, uint32_t granularity)
{
    *world = (struct world){0};
    world->memory = bb_file_memory_create(71);
    world->options = (struct bb_table_options){
        .file_system = bb_file_memory_system(world->memory),
        .block_size_bytes = 200,
        .index_page_size_bytes = 1024,
        .filter_granularity = granularity,
        .table_filter_bits = BB_TABLE_FILTER_NONE,
    };
    for (int i = 0; i < 5000; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%06d", i);
        entry_list_add_text(&world->list, key, 7, "a value");
    }
    build_table(FIXTURE_PATH, &world->options, &world->list, NULL);
    assert_ok(bb_table_open(FIXTURE_PATH, &world->options, &world->table));
    bb_table_walk_init(&world->walk, world->table);
}

static void world_deinit(struct world *world)
{
    bb_table_walk_deinit(&world->walk);
    bb_table_close(world->table);
    entry_list_deinit(&world->list);
    bb_file_memory_destroy(world->memory);
}

static void check_fence(const struct world *world, size_t first)
{
    const struct bb_table_walk *walk = &world->walk;
    assert_int_equal(walk->has_fence, first > 0);
    if (first == 0)
        return;
    struct bb_bytes fence = bb_buf_bytes(&walk->fence_key);
    assert_true(bb_bytes_compare(world->list.entries[first - 1].key, fence) < 0);
    assert_true(bb_bytes_compare(fence, world->list.entries[first].key) <= 0);
}

static void check_filters(const struct world *world)
{
    const struct bb_table_walk *walk = &world->walk;
    assert_true(walk->shard_count == 1);
    for (uint32_t i = 0; i < walk->shard_count; i++) {
        struct bb_walk_filter filter;
        assert_true(bb_table_walk_filter(walk, i, &filter));
        assert_int_equal(filter.info.size_bytes, filter.payload.size);
        assert_true(filter.info.predicted_rate > 0 && filter.info.predicted_rate < 0.05);
    }
}

static void check_walk(uint32_t granularity)
{
    struct world world;
    bool has_block = false;
    size_t at = 0;
    uint64_t number = 0;
    uint64_t end = 0;
    world_init(&world, granularity);
    struct bb_table_walk *walk = &world.walk;
    for (assert_ok(bb_table_walk_next(walk, &has_block)); has_block;
         assert_ok(bb_table_walk_next(walk, &has_block)), number++) {
        assert_true(walk->block_number == number);
        if (walk->ordinal == 0)
            end = world.table->root.pages[walk->page_index].data_offset;
        assert_true(walk->offset == end);
        end += walk->stored_size;
        assert_true(walk->group_blocks >= 1 && walk->group_blocks <= granularity);
        check_fence(&world, at);
        check_filters(&world);
        assert_ok(bb_table_walk_load(walk));
        for (; walk->entries.is_valid; bb_block_iter_next(&walk->entries)) {
            assert_true(bb_table_walk_may_contain(walk, walk->entries.entry.key));
            assert_same_entry(&walk->entries.entry, &world.list.entries[at++]);
        }
        assert_ok(walk->entries.status);
    }
    assert_int_equal(at, world.list.count);
    assert_true(number == bb_table_meta(world.table)->block_count);
    assert_ok(bb_table_walk_next(walk, &has_block)); /* stays at the end */
    assert_false(has_block);
    world_deinit(&world);
}

static void table_walk__everything_once(void **state)
{
    (void)state;
    check_walk(1);
    check_walk(3);
    check_walk(BB_GRANULARITY_PAGE);
}

static void table_walk__goes_on_after_damage(void **state)
{
    (void)state;
    struct world world;
    size_t size = 0;
    world_init(&world, 1);
    uint8_t *bytes = bb_file_memory_bytes(world.memory, FIXTURE_PATH, &size);
    const struct bb_root_page *pages = world.table->root.pages;
    assert_true(world.table->root.page_count > 3);
    bytes[pages[1].page_offset + 20] ^= 1; /* the second page */
    bytes[pages[2].data_offset + 5] ^= 1;  /* the first block of the third */
    struct bb_table_walk *walk = &world.walk;
    uint64_t met = 0;
    uint64_t lost_pages = 0;
    uint64_t lost_blocks = 0;
    for (bool has_block = true; has_block;) {
        enum bb_status status = bb_table_walk_next(walk, &has_block);
        if (status != BB_OK) {
            assert_int_equal(status, BB_CORRUPT);
            assert_int_equal(walk->page_index, 1);
            lost_pages++;
            continue;
        }
        if (!has_block)
            break;
        met++;
        if (bb_table_walk_load(walk) != BB_OK) {
            assert_true(walk->page_index == 2 && walk->ordinal == 0);
            assert_true(walk->block_number == pages[0].block_count + pages[1].block_count);
            lost_blocks++;
        }
    }
    assert_true(lost_pages == 1 && lost_blocks == 1);
    assert_true(met == bb_table_meta(world.table)->block_count - pages[1].block_count);
    world_deinit(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_walk__everything_once),
        cmocka_unit_test(table_walk__goes_on_after_damage),
    };
    return cmocka_run_group_tests_name("table_walk", tests, NULL, NULL);
}
