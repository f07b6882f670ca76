/* Goal: salvage returns all intact data of a damaged table and no other: no block of another table,
 * and no block in another place than its original one. Method: tables with raw and with compressed
 * blocks, damaged at every place; the result is compared with the list they were built from, and
 * with the blocks that the damage did not touch. */
#include "tests/unit/sstable/table_fixture.h"

#include "base/buf.h"
#include "base/file.h"
#include "sstable/build/table_builder.h"
#include "sstable/salvage/table_salvage.h"
#include "sstable/table/table_walk.h"

#define BLOCKS_MAX 1024

struct world {
    struct bb_file_memory *memory;
    struct bb_table_options options;
    struct entry_list list;
    struct bb_buf original;
    struct bb_buf damaged;
    uint8_t id[BB_TABLE_ID_SIZE];
    /* Of each block: where it ends, and how many entries are in it and before. */
    uint64_t block_ends[BLOCKS_MAX];
    size_t entries_up_to[BLOCKS_MAX];
    size_t block_count;
    uint64_t directory_offset;

    /* The result of a salvage. */
    size_t next; /* index of the first entry of the list that was not given yet */
    size_t given;
    uint64_t lost_stretches;
    uint64_t lost_offset; /* of the last stretch */
    struct bb_salvage_report report;
};

static void find_blocks(struct world *world)
{
    struct bb_table *table = NULL;
    struct bb_table_walk walk;
    bool has_block = false;
    size_t entries = 0;
    assert_ok(bb_table_open(FIXTURE_PATH, &world->options, &table));
    memcpy(world->id, bb_table_meta(table)->table_id, sizeof(world->id));
    world->directory_offset = table->footer.directory_offset;
    bb_table_walk_init(&walk, table);
    for (;;) {
        assert_ok(bb_table_walk_next(&walk, &has_block));
        if (!has_block)
            break;
        assert_ok(bb_table_walk_load(&walk));
        for (; walk.entries.is_valid; bb_block_iter_next(&walk.entries))
            entries++;
        assert_true(world->block_count < BLOCKS_MAX);
        world->block_ends[world->block_count] = walk.offset + walk.stored_size;
        world->entries_up_to[world->block_count++] = entries;
    }
    bb_table_walk_deinit(&walk);
    bb_table_close(table);
}

/* A table in which most groups have several pages. */
static void build_groups(const struct world *world)
{
    struct bb_table_builder *builder = NULL;
    assert_ok(bb_table_builder_create(FIXTURE_PATH, &world->options, &builder));
    bb_table_builder_set_page_group(builder, 1500);
    for (size_t i = 0; i < world->list.count; i++)
        assert_ok(bb_table_builder_add(builder, &world->list.entries[i]));
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
}

static void world_init(struct world *world, enum bb_compression compression, size_t key_count)
{
    struct bb_rng rng;
    *world = (struct world){.memory = bb_file_memory_create(43)};
    world->options = (struct bb_table_options){
        .file_system = bb_file_memory_system(world->memory),
        .block_size_bytes = 512,
        .compression = compression,
        .index_page_size_bytes = 256,
    };
    bb_rng_init(&rng, 17);
    entry_list_add_random(&world->list, &rng, key_count, 120);
    entry_list_sort(&world->list, NULL);
    build_groups(world);
    find_blocks(world);
    assert_ok(
        bb_file_read_whole(world->options.file_system, FIXTURE_PATH, SIZE_MAX, &world->original));
    assert_ok(bb_buf_assign(&world->damaged, bb_buf_bytes(&world->original)));
}

static void world_deinit(struct world *world)
{
    bb_buf_deinit(&world->original);
    bb_buf_deinit(&world->damaged);
    entry_list_deinit(&world->list);
    bb_file_memory_destroy(world->memory);
}

static bool is_same(const struct bb_entry *a, const struct bb_entry *b)
{
    return bb_bytes_equal(a->key, b->key) && a->sequence == b->sequence && a->kind == b->kind &&
           bb_bytes_equal(a->value, b->value);
}

/* Everything that is given is in the list, in its order. */
static enum bb_status on_entry(void *context, const struct bb_entry *entry)
{
    struct world *world = context;
    while (world->next < world->list.count && !is_same(&world->list.entries[world->next], entry))
        world->next++;
    assert_true(world->next < world->list.count);
    world->next++;
    world->given++;
    return BB_OK;
}

static enum bb_status on_lost(void *context, uint64_t offset, uint64_t size)
{
    struct world *world = context;
    assert_true(size > 0 && offset + size <= world->damaged.size);
    world->lost_stretches++;
    world->lost_offset = offset;
    return BB_OK;
}

static enum bb_status salvage(struct world *world, const uint8_t *id)
{
    struct bb_salvage_visitor visitor = {.entry = on_entry, .lost = on_lost, .context = world};
    world->next = 0;
    world->given = 0;
    world->lost_stretches = 0;
    world->report = (struct bb_salvage_report){0};
    bb_file_memory_put(world->memory, "/damaged", bb_buf_bytes(&world->damaged));
    return bb_table_salvage(world->options.file_system, "/damaged", NULL, id, &visitor,
                            &world->report);
}

static void restore(struct world *world)
{
    assert_ok(bb_buf_assign(&world->damaged, bb_buf_bytes(&world->original)));
}

/* ---- whole ---- */

static void salvage__of_a_whole_table_gives_all(void **state)
{
    (void)state;
    for (int compression = BB_COMPRESSION_NONE; compression <= BB_COMPRESSION_LZ4; compression++) {
        struct world world;
        world_init(&world, (enum bb_compression)compression, 300);
        for (int is_told = 0; is_told < 2; is_told++) {
            assert_ok(salvage(&world, is_told ? world.id : NULL));
            assert_int_equal(world.given, world.list.count);
            assert_int_equal(world.report.entries, world.list.count);
            assert_int_equal(world.report.blocks, world.block_count);
            assert_int_equal(world.report.blocks_lost + world.report.bytes_lost, 0);
            assert_int_equal(world.lost_stretches, 0);
            assert_memory_equal(world.report.table_id, world.id, BB_TABLE_ID_SIZE);
        }
        world_deinit(&world);
    }
}

/* ---- whose ---- */

static void salvage__finds_the_id_where_it_is(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, BB_COMPRESSION_LZ4, 200);
    /* Trailing bytes after the footer. */
    assert_ok(bb_buf_append(&world.damaged, "trailing garbage", 16));
    assert_ok(salvage(&world, NULL));
    assert_int_equal(world.given, world.list.count);
    /* Without the footer, from the properties. */
    world.damaged.size = world.directory_offset;
    assert_ok(salvage(&world, NULL));
    assert_int_equal(world.given, world.list.count);
    assert_memory_equal(world.report.table_id, world.id, BB_TABLE_ID_SIZE);
    /* Without the properties, from the footer. */
    uint64_t end = world.block_ends[world.block_count - 1];
    assert_ok(bb_buf_assign(&world.damaged, bb_buf_bytes(&world.original)));
    memset(world.damaged.data + end, 0, world.directory_offset - end);
    assert_ok(salvage(&world, NULL));
    assert_int_equal(world.given, world.list.count);
    assert_memory_equal(world.report.table_id, world.id, BB_TABLE_ID_SIZE);
    /* Without either the id is unknown; with the manifest's id everything is found. */
    world.damaged.size = end;
    assert_status(salvage(&world, NULL), BB_CORRUPT);
    assert_message("names no table id");
    assert_int_equal(world.given, 0);
    assert_ok(salvage(&world, world.id));
    assert_int_equal(world.given, world.list.count);
    world_deinit(&world);
}

static void salvage__gives_nothing_of_another_table(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, BB_COMPRESSION_NONE, 200);
    world.id[3] ^= 1;
    assert_ok(salvage(&world, world.id));
    assert_int_equal(world.given, 0);
    assert_int_equal(world.report.blocks, 0);
    world_deinit(&world);
}

/* ---- damaged ---- */

static void salvage__of_a_cut_table_gives_all_whole_blocks(void **state)
{
    (void)state;
    for (int compression = BB_COMPRESSION_NONE; compression <= BB_COMPRESSION_LZ4; compression++) {
        struct world world;
        size_t block = 0;
        world_init(&world, (enum bb_compression)compression, 60);
        for (size_t size = 0; size < world.original.size; size += 5) {
            restore(&world);
            world.damaged.size = size;
            while (block < world.block_count && world.block_ends[block] <= size)
                block++;
            assert_ok(salvage(&world, world.id));
            assert_int_equal(world.given, block == 0 ? 0 : world.entries_up_to[block - 1]);
            assert_int_equal(world.report.bytes_lost, 0);
        }
        world_deinit(&world);
    }
}

static size_t entries_of_block_at(const struct world *world, size_t offset)
{
    for (size_t i = 0; i < world->block_count; i++) {
        size_t before = i == 0 ? 0 : world->entries_up_to[i - 1];
        if (offset < world->block_ends[i])
            return world->entries_up_to[i] - before;
    }
    return 0;
}

/* A byte costs at most the block it is in; in a page nothing. */
static void salvage__a_wrong_byte_costs_one_block(void **state)
{
    (void)state;
    for (int compression = BB_COMPRESSION_NONE; compression <= BB_COMPRESSION_LZ4; compression++) {
        struct world world;
        world_init(&world, (enum bb_compression)compression, 60);
        for (size_t at = 0; at < world.original.size; at += 3) {
            restore(&world);
            world.damaged.data[at] ^= (uint8_t)(1 + at % 255);
            assert_ok(salvage(&world, world.id));
            assert_true(world.given + entries_of_block_at(&world, at) >= world.list.count);
            assert_true(world.report.blocks_lost <= 1);
        }
        world_deinit(&world);
    }
}

/* The place of a page in the original file. */
static struct bb_root_page page_of(const struct world *world, uint32_t index, uint32_t *ret_count)
{
    struct bb_table *table = NULL;
    assert_ok(bb_table_open(FIXTURE_PATH, &world->options, &table));
    *ret_count = table->root.page_count;
    struct bb_root_page page = table->root.pages[index];
    bb_table_close(table);
    return page;
}

/* A page is damaged, at any place in its group. All blocks are found by the ends of others. */
static void salvage__finds_blocks_of_a_damaged_page(void **state)
{
    (void)state;
    for (int compression = BB_COMPRESSION_NONE; compression <= BB_COMPRESSION_LZ4; compression++) {
        struct world world;
        uint32_t count = 1;
        world_init(&world, (enum bb_compression)compression, 1500);
        for (uint32_t i = 0; i < count; i++) {
            struct bb_root_page page = page_of(&world, i, &count);
            restore(&world);
            memset(world.damaged.data + page.page_offset, 0, page.page_size);
            assert_ok(salvage(&world, world.id));
            assert_int_equal(world.given, world.list.count);
            assert_int_equal(world.report.pages, count - 1);
            assert_int_equal(world.report.blocks_lost, 0);
            if (i + 1 == count) /* what follows the last known page is not called lost */
                continue;
            assert_int_equal(world.lost_stretches, 1);
            assert_int_equal(world.lost_offset, page.page_offset);
            assert_int_equal(world.report.bytes_lost, page.page_size);
        }
        assert_true(count > 6);
        world_deinit(&world);
    }
}

/* Returns the number of groups. */
static uint64_t wipe_pages(struct world *world)
{
    struct bb_table *table = NULL;
    assert_ok(bb_table_open(FIXTURE_PATH, &world->options, &table));
    const struct bb_root *root = &table->root;
    uint64_t groups = 0;
    for (uint32_t i = 0; i < root->page_count; i++) {
        memset(world->damaged.data + root->pages[i].page_offset, 0, root->pages[i].page_size);
        groups += root->pages[i].group_begin == i;
    }
    assert_true(groups < root->page_count);
    bb_table_close(table);
    return groups;
}

/* Without any page every raw block is found. A compressed one is found by the end of the previous
 * block, so the first block after each group of pages is lost. */
static void salvage__finds_blocks_without_pages(void **state)
{
    (void)state;
    for (int compression = BB_COMPRESSION_NONE; compression <= BB_COMPRESSION_LZ4; compression++) {
        struct world world;
        world_init(&world, (enum bb_compression)compression, 1500);
        uint64_t groups = wipe_pages(&world);
        assert_true(groups > 2);
        assert_ok(salvage(&world, world.id));
        assert_int_equal(world.report.pages, 0);
        if (compression == BB_COMPRESSION_NONE)
            assert_int_equal(world.given, world.list.count);
        assert_true(world.report.blocks + groups - 1 >= world.block_count);
        assert_true(world.lost_stretches >= groups - 1);
        world_deinit(&world);
    }
}

static void salvage__moved_blocks_are_not_given(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, BB_COMPRESSION_NONE, 300);
    /* The whole file moved by one byte: no block is at its place. */
    world.damaged.size = 0;
    assert_ok(bb_buf_append(&world.damaged, "x", 1));
    assert_ok(bb_buf_append(&world.damaged, world.original.data, world.original.size));
    assert_ok(salvage(&world, world.id));
    assert_int_equal(world.given, 0);
    world_deinit(&world);
}

static void salvage__any_damage_gives_what_was_written_or_nothing(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct world world;
    bb_rng_init(&rng, bb_rng_seed("table_salvage", 99));
    world_init(&world, BB_COMPRESSION_LZ4, 300);
    for (int round = 0; round < 100; round++) {
        restore(&world);
        for (uint64_t i = bb_rng_between(&rng, 1, 12); i > 0; i--) {
            size_t at = (size_t)bb_rng_below(&rng, world.damaged.size);
            size_t size = (size_t)bb_rng_skewed(&rng, world.damaged.size - at);
            if (bb_rng_one_in(&rng, 3))
                memset(world.damaged.data + at, 0, size);
            else
                bb_rng_bytes(&rng, world.damaged.data + at, size);
        }
        assert_ok(salvage(&world, world.id));
        assert_int_equal(world.given, world.report.entries);
    }
    world_deinit(&world);
}

/* Each id that no block proves costs a search: after eight the rest is not tried. */
static void salvage__of_very_many_false_ids_gives_up(void **state)
{
    (void)state;
    struct world world;
    static const uint8_t claim[] = {1, 0, 1, 0, 2, 0, BB_TABLE_ID_SIZE};
    world_init(&world, BB_COMPRESSION_NONE, 300);
    memset(world.damaged.data + world.damaged.size - BB_FOOTER_SIZE, 0, BB_FOOTER_SIZE);
    for (uint8_t i = 1; i <= 9; i++) {
        uint8_t id[BB_TABLE_ID_SIZE];
        memset(id, i, sizeof(id));
        assert_ok(bb_buf_append(&world.damaged, claim, sizeof(claim)));
        assert_ok(bb_buf_append(&world.damaged, id, sizeof(id)));
    }
    assert_status(salvage(&world, NULL), BB_CORRUPT);
    assert_message("it names no table id that matches any of its blocks");
    world_deinit(&world);
}

static void salvage__gives_every_version_of_a_key(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, BB_COMPRESSION_NONE, 10);
    for (uint64_t sequence = 1; sequence <= 100; sequence++)
        entry_list_add_text(&world.list, "one key", sequence, "value");
    entry_list_sort(&world.list, NULL);
    struct bb_file_system *fs = world.options.file_system;
    assert_ok(fs->ops->remove(fs, FIXTURE_PATH));
    build_table(FIXTURE_PATH, &world.options, &world.list, NULL);
    bb_buf_reset(&world.damaged);
    assert_ok(bb_file_read_whole(fs, FIXTURE_PATH, SIZE_MAX, &world.damaged));
    assert_ok(salvage(&world, NULL));
    assert_int_equal(world.given, world.list.count);
    world_deinit(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(salvage__of_a_whole_table_gives_all),
        cmocka_unit_test(salvage__finds_the_id_where_it_is),
        cmocka_unit_test(salvage__gives_nothing_of_another_table),
        cmocka_unit_test(salvage__of_a_cut_table_gives_all_whole_blocks),
        cmocka_unit_test(salvage__a_wrong_byte_costs_one_block),
        cmocka_unit_test(salvage__finds_blocks_of_a_damaged_page),
        cmocka_unit_test(salvage__finds_blocks_without_pages),
        cmocka_unit_test(salvage__moved_blocks_are_not_given),
        cmocka_unit_test(salvage__any_damage_gives_what_was_written_or_nothing),
        cmocka_unit_test(salvage__of_very_many_false_ids_gives_up),
        cmocka_unit_test(salvage__gives_every_version_of_a_key),
    };
    return cmocka_run_group_tests_name("table_salvage", tests, NULL, NULL);
}
