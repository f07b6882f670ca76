/* Goal: a table whose pages are needed one after the other reads each group of them with one call,
 * a table with few lookups reads no page in vain, and damage in a group costs no more than damage
 * of a page. Method: counted, damaged and failing reads of a table whose pages are loaded one by
 * one. */
#include "tests/unit/sstable/table_fixture.h"

#include "base/hash.h"
#include "sstable/build/table_builder.h"
#include "sstable/table/table.h"

#define PAGES_MIN 16

/* Reads of the table since it was opened. */
static struct {
    const struct bb_file_ops *sound;
    struct bb_file_ops ops;
    uint32_t count;
    uint64_t offset; /* of the last */
    uint64_t size;
    uint32_t failing;        /* this read fails; 0: none */
    uint64_t damaged_offset; /* of a byte that reads get wrong; 0: none */
    uint32_t damaged_count;  /* the number of reads that get it wrong */
} reads;

static enum bb_status read_at(struct bb_file *file, uint64_t offset, void *buffer, size_t size,
                              size_t *ret_size)
{
    reads.count++;
    reads.offset = offset;
    reads.size = size;
    if (reads.count == reads.failing)
        return bb_fail(BB_IO, "a planted failure");
    enum bb_status status = reads.sound->read_at(file, offset, buffer, size, ret_size);
    bool is_inside = reads.damaged_offset >= offset && reads.damaged_offset < offset + size;
    if (is_inside && reads.damaged_count > 0) {
        reads.damaged_count--;
        ((uint8_t *)buffer)[reads.damaged_offset - offset] ^= 1;
    }
    return status;
}

struct world {
    struct bb_file_memory *memory;
    struct bb_hash_secret secret;
    struct bb_table_options options;
    struct bb_table *table;
    uint32_t page_count;
};

static void build_groups(const struct world *world, uint64_t group_bytes, int count)
{
    struct entry_list list = {0};
    struct bb_table_builder *builder = NULL;
    for (int i = 0; i < count; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%06d", i);
        entry_list_add_text(&list, key, 7, "a value");
    }
    assert_ok(bb_table_builder_create(FIXTURE_PATH, &world->options, &builder));
    bb_table_builder_set_page_group(builder, group_bytes);
    for (size_t i = 0; i < list.count; i++)
        assert_ok(bb_table_builder_add(builder, &list.entries[i]));
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
    entry_list_deinit(&list);
}

static void world_init(struct world *world, uint64_t group_bytes, int count)
{
    *world = (struct world){.memory = bb_file_memory_create(52)};
    bb_hash_secret_from_seed(52, &world->secret);
    world->options = (struct bb_table_options){
        .file_system = bb_file_memory_system(world->memory),
        .secret = &world->secret,
        .block_size_bytes = 256,
        .restart_interval = 16,
        .index_page_size_bytes = 1024,
        .index_residency = BB_INDEX_PINNED,
    };
    build_groups(world, group_bytes, count);
    assert_ok(bb_table_open(FIXTURE_PATH, &world->options, &world->table));
    world->page_count = world->table->root.page_count;
    assert_true(world->page_count >= PAGES_MIN);
    memset(&reads, 0, sizeof(reads));
    reads.sound = world->table->file->ops;
    reads.ops = *reads.sound;
    reads.ops.read_at = read_at;
    world->table->file->ops = &reads.ops;
}

static void world_deinit(struct world *world)
{
    world->table->file->ops = reads.sound;
    bb_table_close(world->table);
    bb_file_memory_destroy(world->memory);
}

static enum bb_status try_page(struct world *world, uint32_t index, struct bb_read_stats *stats)
{
    struct bb_index_page *page = NULL;
    enum bb_status status = bb_table_page_acquire(world->table, index, stats, &page);
    if (status == BB_OK) {
        assert_true(page->first_block == world->table->root.pages[index].first_block);
        assert_true(page->has_filters);
        bb_table_page_release(world->table, page);
    }
    return status;
}

static void load_page(struct world *world, uint32_t index)
{
    struct bb_read_stats stats = {0};
    uint32_t before = reads.count;
    assert_ok(try_page(world, index, &stats));
    assert_int_equal(stats.page_requests, 1);
    assert_int_equal(stats.page_reads, reads.count - before);
}

static void load_all(struct world *world)
{
    for (uint32_t i = 0; i < world->page_count; i++)
        load_page(world, i);
}

static uint64_t size_of(const struct world *world, uint32_t begin, uint32_t end)
{
    uint64_t size = 0;
    for (uint32_t i = begin; i < end; i++)
        size += world->table->root.pages[i].page_size;
    return size;
}

static uint32_t pages_in_memory(const struct world *world)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->page_count; i++)
        count += bb_table_page_peek(world->table, i) != NULL;
    return count;
}

/* The second load of a group reads all of it; the other groups follow in the same way. */
static void table_pages__are_read_at_the_second_load_of_a_group(void **state)
{
    (void)state;
    struct world world;
    uint32_t groups = 0;
    world_init(&world, 8192, 20000);
    for (uint32_t begin = 0; begin < world.page_count; groups++) {
        uint32_t end = bb_root_group_end(&world.table->root, begin);
        const struct bb_root_page *pages = world.table->root.pages;
        assert_int_equal(pages[begin].group_begin, begin);
        assert_true(end - begin > 2);
        load_page(&world, end - 1);
        assert_int_equal(reads.size, pages[end - 1].page_size);
        assert_int_equal(pages_in_memory(&world), begin + 1);
        load_page(&world, begin + 1);
        assert_int_equal(reads.offset, pages[begin].page_offset);
        assert_int_equal(reads.size, size_of(&world, begin, end));
        assert_int_equal(pages_in_memory(&world), end);
        begin = end;
    }
    assert_true(groups >= 2);
    assert_int_equal(reads.count, 2 * groups);
    load_all(&world);
    assert_int_equal(reads.count, 2 * groups);
    world_deinit(&world);
}

static void table_pages__in_memory_do_not_count_as_loads(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, 8192, 20000);
    for (uint32_t i = 0; i < world.page_count; i++)
        load_page(&world, 5);
    assert_int_equal(reads.count, 1);
    world_deinit(&world);
}

/* Each page is in memory once, whichever call has read it. */
static void table_pages__of_a_group_are_counted_once(void **state)
{
    (void)state;
    struct world world;
    uint64_t charges = 0;
    world_init(&world, 8192, 20000);
    uint64_t before = bb_table_memory(world.table);
    load_all(&world);
    for (uint32_t i = 0; i < world.page_count; i++)
        charges += bb_table_page_peek(world.table, i)->item.charge;
    assert_true(bb_table_memory(world.table) == before + charges);
    world_deinit(&world);
}

/* The first `lasting` reads of a byte of page 3 get it wrong: the group's read is one of them. */
static void plant_damage(struct world *world, uint64_t offset_in_page, uint32_t lasting)
{
    world_init(world, 8192, 20000);
    reads.damaged_offset = world->table->root.pages[3].page_offset + offset_in_page;
    reads.damaged_count = lasting;
    load_page(world, 0);
    (void)bb_error_set(BB_INVALID, "an earlier failure");
    load_page(world, 1);
    assert_message("an earlier failure"); /* no lookup has used page 3 */
    assert_true(bb_table_page_peek(world->table, 2) != NULL);
    assert_true(bb_table_page_peek(world->table, 3) == NULL);
    assert_true(bb_table_page_peek(world->table, 4) != NULL);
    assert_int_equal(reads.count, 2);
}

static void table_pages__damaged_on_their_way_are_read_again(void **state)
{
    (void)state;
    struct world world;
    uint32_t size = 0;
    world_init(&world, 8192, 20000);
    size = world.table->root.pages[3].page_size;
    world_deinit(&world);
    for (uint32_t lasting = 1; lasting <= 2; lasting++) {
        for (uint64_t offset = 0; offset < size; offset += size - 1) { /* header, filters */
            plant_damage(&world, offset, lasting);
            load_page(&world, 3);
            assert_int_equal(reads.count, 2 + lasting);
            world_deinit(&world);
        }
    }
}

static void table_pages__with_lasting_damage_are_reported(void **state)
{
    (void)state;
    struct world world;
    struct bb_read_stats stats = {0};
    plant_damage(&world, 0, UINT32_MAX);
    assert_status(try_page(&world, 3, &stats), BB_CORRUPT);
    assert_message("index page");
    assert_int_equal(reads.count, 4);
    assert_status(try_page(&world, 3, &stats), BB_CORRUPT);
    load_page(&world, 4);
    world_deinit(&world);
}

/* A lookup does not fail because another page cannot be read. */
static void table_pages__are_read_alone_after_a_failure(void **state)
{
    (void)state;
    struct world world;
    uint32_t end = 0;
    world_init(&world, 8192, 20000);
    reads.failing = 2;
    load_page(&world, 0);
    load_page(&world, 1);
    assert_int_equal(reads.count, 3);
    assert_int_equal(pages_in_memory(&world), 2);
    end = bb_root_group_end(&world.table->root, 0);
    for (uint32_t i = 2; i < end; i++)
        load_page(&world, i);
    assert_int_equal(reads.count, 1 + end);
    world_deinit(&world);
}

/* No call reads more than a group of the format has. */
static void table_pages__of_a_huge_group_are_read_alone(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, UINT64_C(1) << 40, 900000);
    assert_int_equal(bb_root_group_end(&world.table->root, 0), world.page_count);
    assert_true(size_of(&world, 0, world.page_count) > 2 * BB_PAGE_GROUP_SIZE);
    load_all(&world);
    assert_int_equal(reads.count, world.page_count);
    world_deinit(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_pages__are_read_at_the_second_load_of_a_group),
        cmocka_unit_test(table_pages__in_memory_do_not_count_as_loads),
        cmocka_unit_test(table_pages__of_a_group_are_counted_once),
        cmocka_unit_test(table_pages__damaged_on_their_way_are_read_again),
        cmocka_unit_test(table_pages__with_lasting_damage_are_reported),
        cmocka_unit_test(table_pages__are_read_alone_after_a_failure),
        cmocka_unit_test(table_pages__of_a_huge_group_are_read_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
