/* Goal: a salvage that finds no memory, or whose visitor fails, returns this failure and leaks
 * nothing. Method: a table with range tombstones and a damaged block; each allocation fails, and
 * each call of the visitor. */
#include "tests/unit/sstable/table_fixture.h"

#include "base/status.h"
#include "sstable/salvage/table_salvage.h"
#include "sstable/table/table.h"
#include "tests/support/alloc/alloc_fault.h"

struct world {
    struct bb_file_memory *memory;
    struct bb_file_system *fs;
    uint8_t id[BB_TABLE_ID_SIZE];
    bool has_id;
    uint64_t calls; /* of the visitor */
    uint64_t failing_call;
};

static enum bb_status add_all(struct bb_table_builder *builder)
{
    enum bb_status status = BB_OK;
    for (uint8_t i = 0; i < 200 && status == BB_OK; i++) {
        struct bb_entry entry = {.key = bb_bytes_of(&i, 1),
                                 .sequence = 5,
                                 .kind = BB_ENTRY_PUT,
                                 .value = bb_bytes_of_text("value value value value value")};
        status = bb_table_builder_add(builder, &entry);
    }
    return status == BB_OK ? bb_table_builder_add_range_tombstone(builder, bb_bytes_of_text("a"),
                                                                  bb_bytes_of_text("f"), 4)
                           : status;
}

static void world_init(struct world *world)
{
    struct bb_table_builder *builder = NULL;
    struct bb_table_meta meta = {0};
    *world = (struct world){.memory = bb_file_memory_create(1), .has_id = true};
    world->fs = bb_file_memory_system(world->memory);
    struct bb_table_options options = {.file_system = world->fs,
                                       .block_size_bytes = 64,
                                       .index_page_size_bytes = 256,
                                       .compression = BB_COMPRESSION_NONE};
    assert_ok(bb_table_builder_create(FIXTURE_PATH, &options, &builder));
    assert_ok(add_all(builder));
    assert_ok(bb_table_builder_finish(builder, &meta));
    memcpy(world->id, meta.table_id, sizeof(world->id));
    bb_table_builder_destroy(builder);
    bb_table_meta_deinit(&meta);
    size_t size = 0;
    bb_file_memory_bytes(world->memory, FIXTURE_PATH, &size)[700] ^= 1; /* in a block */
}

static enum bb_status count_call(struct world *world)
{
    return ++world->calls == world->failing_call ? bb_fail(BB_IO, "the visitor fails") : BB_OK;
}

static enum bb_status on_block(void *context, const struct bb_block_place *where,
                               enum bb_compression compression, uint32_t raw_size)
{
    (void)where;
    (void)compression;
    assert_true(raw_size > 0);
    return count_call(context);
}

static enum bb_status on_entry(void *context, const struct bb_entry *entry)
{
    assert_int_equal(entry->sequence, 5);
    return count_call(context);
}

static enum bb_status on_lost(void *context, uint64_t offset, uint64_t size)
{
    (void)offset;
    assert_true(size > 0);
    return count_call(context);
}

static enum bb_status on_ranges(void *context, const struct bb_range_tombstones *list)
{
    assert_int_equal(list->count, 1);
    return count_call(context);
}

static enum bb_status salvage_with(struct world *world, const struct bb_salvage_visitor *visitor,
                                   struct bb_salvage_report *ret_report)
{
    world->calls = 0;
    return bb_table_salvage(world->fs, FIXTURE_PATH, NULL, world->has_id ? world->id : NULL,
                            visitor, ret_report);
}

static enum bb_status salvage(void *context)
{
    struct world *world = context;
    struct bb_salvage_report report = {0};
    const struct bb_salvage_visitor visitor = {.block = on_block,
                                               .entry = on_entry,
                                               .lost = on_lost,
                                               .ranges = on_ranges,
                                               .context = world};
    enum bb_status status = salvage_with(world, &visitor, &report);
    if (status == BB_OK) {
        assert_true(report.entries > 150 && report.entries < 200);
        assert_int_equal(report.blocks_lost, 1);
        assert_true(report.bytes_lost > 0);
        assert_int_equal(report.range_tombstones, 1);
    }
    return status;
}

static void salvage__without_memory(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    assert_true(bb_alloc_fault_sweep(salvage, &world, false) > 10);
    world.has_id = false;
    assert_true(bb_alloc_fault_sweep(salvage, &world, false) > 10);
    bb_file_memory_destroy(world.memory);
}

/* The pages are damaged too, so that blocks are searched between them, and the footer, so that the
 * id is searched in the properties. */
static void damage_pages_and_footer(struct world *world)
{
    struct bb_table_options options = {.file_system = world->fs};
    struct bb_table *table = NULL;
    size_t size = 0;
    assert_ok(bb_table_open(FIXTURE_PATH, &options, &table));
    uint8_t *bytes = bb_file_memory_bytes(world->memory, FIXTURE_PATH, &size);
    assert_true(table->root.page_count > 1);
    for (uint32_t i = 0; i + 1 < table->root.page_count; i++)
        bytes[table->root.pages[i].page_offset] ^= 1;
    bb_table_close(table);
    bytes[size - 1] ^= 1;
}

static enum bb_status salvage_searched(void *context)
{
    struct world *world = context;
    struct bb_salvage_report report = {0};
    const struct bb_salvage_visitor visitor = {
        .entry = on_entry, .lost = on_lost, .context = world};
    enum bb_status status = salvage_with(world, &visitor, &report);
    if (status == BB_OK)
        assert_true(report.entries > 0 && report.bytes_lost > 0);
    return status;
}

static void salvage__of_searched_blocks_without_memory(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    damage_pages_and_footer(&world);
    for (int has_id = 0; has_id < 2; has_id++) {
        world.has_id = has_id;
        assert_true(bb_alloc_fault_sweep(salvage_searched, &world, false) > 5);
    }
    assert_ok(salvage_searched(&world));
    uint64_t calls = world.calls;
    for (world.failing_call = 1; world.failing_call <= calls; world.failing_call++)
        assert_status(salvage_searched(&world), BB_IO);
    bb_file_memory_destroy(world.memory);
}

static void salvage__with_a_failing_visitor(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    assert_ok(salvage(&world));
    uint64_t calls = world.calls;
    assert_true(calls > 150);
    for (world.failing_call = 1; world.failing_call <= calls; world.failing_call++) {
        assert_status(salvage(&world), BB_IO);
        assert_message("the visitor fails");
        assert_int_equal(world.calls, world.failing_call); /* the last call */
    }
    bb_file_memory_destroy(world.memory);
}

static void salvage__without_a_visitor_counts_the_same(void **state)
{
    (void)state;
    struct world world;
    struct bb_salvage_visitor none = {0};
    struct bb_salvage_visitor all = {.entry = on_entry, .context = &world};
    struct bb_salvage_report counted = {0};
    struct bb_salvage_report report = {0};
    world_init(&world);
    assert_ok(salvage_with(&world, &all, &report));
    assert_ok(salvage_with(&world, &none, &counted));
    assert_memory_equal(&counted, &report, sizeof(report));
    bb_file_memory_destroy(world.memory);
}

static void salvage__of_a_missing_file_is_not_corruption(void **state)
{
    (void)state;
    struct world world;
    struct bb_salvage_report report = {0};
    struct bb_salvage_visitor none = {0};
    world_init(&world);
    assert_ok(world.fs->ops->remove(world.fs, FIXTURE_PATH));
    for (int has_id = 0; has_id < 2; has_id++) {
        world.has_id = has_id;
        assert_status(salvage_with(&world, &none, &report), BB_NOT_FOUND);
        assert_int_equal(report.file_size, 0);
    }
    bb_file_memory_destroy(world.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(salvage__without_memory),
        cmocka_unit_test(salvage__with_a_failing_visitor),
        cmocka_unit_test(salvage__without_a_visitor_counts_the_same),
        cmocka_unit_test(salvage__of_a_missing_file_is_not_corruption),
        cmocka_unit_test(salvage__of_searched_blocks_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
