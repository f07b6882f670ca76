/* Goal: a cold table does not wait for each of its index pages, and a table with few lookups reads
 * no others. Method: the announcements of a table whose pages are loaded one by one. */
#include "tests/unit/sstable/table_fixture.h"

#include "base/hash.h"
#include "sstable/build/table_builder.h"
#include "sstable/table/table.h"

static struct {
    const struct bb_file_ops *sound;
    struct bb_file_ops ops;
    uint32_t count;
    uint64_t offset; /* of the last */
    uint64_t size;
} announced;

static void will_need(struct bb_file *file, uint64_t offset, uint64_t size)
{
    (void)file;
    announced.count++;
    announced.offset = offset;
    announced.size += size;
}

struct world {
    struct bb_file_memory *memory;
    struct bb_hash_secret secret;
    struct bb_table *table;
    uint32_t page_count;
};

/* A table with several groups of pages. */
static void build_groups(const struct bb_table_options *options, const struct entry_list *list)
{
    struct bb_table_builder *builder = NULL;
    assert_ok(bb_table_builder_create(FIXTURE_PATH, options, &builder));
    bb_table_builder_set_page_group(builder, 8192);
    for (size_t i = 0; i < list->count; i++)
        assert_ok(bb_table_builder_add(builder, &list->entries[i]));
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
}

static void world_init(struct world *world)
{
    struct entry_list list = {0};
    *world = (struct world){.memory = bb_file_memory_create(52)};
    bb_hash_secret_from_seed(52, &world->secret);
    struct bb_table_options options = {
        .file_system = bb_file_memory_system(world->memory),
        .secret = &world->secret,
        .block_size_bytes = 256,
        .index_page_size_bytes = 1024,
        .index_residency = BB_INDEX_PINNED,
    };
    for (int i = 0; i < 20000; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%06d", i);
        entry_list_add_text(&list, key, 7, "a value");
    }
    build_groups(&options, &list);
    entry_list_deinit(&list);
    assert_ok(bb_table_open(FIXTURE_PATH, &options, &world->table));
    world->page_count = world->table->root.page_count;
    assert_true(world->page_count >= 16);
    announced.sound = world->table->file->ops;
    announced.ops = *announced.sound;
    announced.ops.will_need = will_need;
    announced.count = 0;
    announced.size = 0;
    world->table->file->ops = &announced.ops;
}

static void world_deinit(struct world *world)
{
    world->table->file->ops = announced.sound;
    bb_table_close(world->table);
    bb_file_memory_destroy(world->memory);
}

static void load_page(struct world *world, uint32_t index)
{
    struct bb_read_stats stats = {0};
    struct bb_index_page *page = NULL;
    assert_ok(bb_table_page_acquire(world->table, index, &stats, &page));
    bb_table_page_release(world->table, page);
}

static uint64_t size_of(const struct world *world, uint32_t begin, uint32_t end)
{
    uint64_t size = 0;
    for (uint32_t i = begin; i < end; i++)
        size += world->table->root.pages[i].page_size;
    return size;
}

/* The second load of a group announces all of it; the other groups follow in the same way. */
static void table_pages__are_announced_at_the_second_load_of_a_group(void **state)
{
    (void)state;
    struct world world;
    uint32_t groups = 0;
    world_init(&world);
    for (uint32_t begin = 0; begin < world.page_count; groups++) {
        uint32_t end = bb_root_group_end(&world.table->root, begin);
        assert_int_equal(world.table->root.pages[begin].group_begin, begin);
        assert_true(end - begin > 2);
        announced.count = 0;
        announced.size = 0;
        load_page(&world, end - 1);
        assert_int_equal(announced.count, 0);
        load_page(&world, begin + 1);
        assert_int_equal(announced.offset, world.table->root.pages[begin].page_offset);
        assert_int_equal(announced.size, size_of(&world, begin, end));
        for (uint32_t i = begin; i < end; i++)
            load_page(&world, i);
        assert_int_equal(announced.count, 1);
        begin = end;
    }
    assert_true(groups >= 2);
    world_deinit(&world);
}

static void table_pages__in_memory_do_not_count_as_loads(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    for (uint32_t i = 0; i < world.page_count; i++)
        load_page(&world, 5);
    assert_int_equal(announced.count, 0);
    world_deinit(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_pages__are_announced_at_the_second_load_of_a_group),
        cmocka_unit_test(table_pages__in_memory_do_not_count_as_loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
