/* Goal: salvage of a table whose values look like index pages or ends of blocks finds the true
 * ones, also if all pages are lost. Method: tables of such values, with and without damage; the
 * entries that are given are counted. */
#include "tests/unit/sstable/table_fixture.h"

#include "base/buf.h"
#include "base/file.h"
#include "sstable/salvage/table_salvage.h"
#include "sstable/table/table.h"

#define DAMAGED_PATH "/damaged"

struct world {
    struct bb_file_memory *memory;
    struct bb_table_options options;
    struct entry_list list;
    struct bb_buf file;
    struct bb_table *table;
    size_t given;
};

static void world_init(struct world *world, enum bb_compression compression, uint32_t block_size)
{
    *world = (struct world){.memory = bb_file_memory_create(44)};
    world->options = (struct bb_table_options){
        .file_system = bb_file_memory_system(world->memory),
        .compression = compression,
        .block_size_bytes = block_size,
    };
}

static void add(struct world *world, uint32_t number, const uint8_t *value, size_t size)
{
    char key[16];
    snprintf(key, sizeof(key), "key %06u", number);
    entry_list_add(&world->list, bb_bytes_of_text(key), 1, BB_ENTRY_PUT, bb_bytes_of(value, size));
}

static void build(struct world *world)
{
    build_table(FIXTURE_PATH, &world->options, &world->list, NULL);
    assert_ok(bb_table_open(FIXTURE_PATH, &world->options, &world->table));
    assert_ok(bb_file_read_whole(world->options.file_system, FIXTURE_PATH, SIZE_MAX, &world->file));
}

static void world_deinit(struct world *world)
{
    bb_table_close(world->table);
    bb_buf_deinit(&world->file);
    entry_list_deinit(&world->list);
    bb_file_memory_destroy(world->memory);
}

static enum bb_status on_entry(void *context, const struct bb_entry *entry)
{
    struct world *world = context;
    (void)entry;
    world->given++;
    return BB_OK;
}

static struct bb_salvage_report salvage(struct world *world)
{
    struct bb_salvage_report report;
    const struct bb_salvage_visitor visitor = {.entry = on_entry, .context = world};
    world->given = 0;
    bb_file_memory_put(world->memory, DAMAGED_PATH, bb_buf_bytes(&world->file));
    assert_ok(bb_table_salvage(world->options.file_system, DAMAGED_PATH, NULL,
                               bb_table_meta(world->table)->table_id, &visitor, &report));
    return report;
}

/* The header of a page with one block of 40 bytes at offset 0, and a fence area of this size. */
static void put_false_page(uint8_t *bytes, uint32_t fence_size)
{
    memset(bytes, 0, 32);
    bb_store32(bytes, fence_size);
    bytes[16] = 1;
    bytes[24] = 40;
}

/* The sizes descend, so that together they reach any limit of bytes hashed in vain. */
static uint32_t false_size(uint32_t number)
{
    return number < 4 ? 3000000 : number < 8 ? 60000 : number < 16 ? 2000 : 200;
}

static void salvage_values__that_look_like_pages(void **state)
{
    (void)state;
    for (int compression = BB_COMPRESSION_NONE; compression <= BB_COMPRESSION_LZ4; compression++) {
        struct world world;
        struct bb_rng rng;
        uint8_t value[3000];
        bb_rng_init(&rng, 5);
        world_init(&world, (enum bb_compression)compression, 4096);
        for (uint32_t i = 0; i < 3000; i++) {
            bb_rng_bytes(&rng, value, sizeof(value));
            for (size_t at = 0; i < 60 && at + 160 <= sizeof(value); at += 160)
                put_false_page(value + at, false_size(i));
            add(&world, i, value, sizeof(value));
        }
        build(&world);
        struct bb_salvage_report report = salvage(&world);
        assert_int_equal(world.given, 3000);
        assert_int_equal(report.pages, world.table->root.page_count);
        assert_int_equal(report.bytes_lost, 0);
        world_deinit(&world);
    }
}

/* The file ends where its pages begin, and a block is damaged. The next one is lost too, because
 * nothing tells where it begins. Small numbers have many bytes that could end a block. */
static void salvage_values__of_numbers_without_pages(void **state)
{
    (void)state;
    for (uint32_t block_size = 4096; block_size <= 65536; block_size *= 4) {
        struct world world;
        struct bb_rng rng;
        struct bb_read_stats stats = {0};
        struct bb_index_page *page = NULL;
        uint8_t value[400] = {0};
        bb_rng_init(&rng, 5);
        world_init(&world, BB_COMPRESSION_LZ4, block_size);
        for (uint32_t i = 0; i < 20000; i++) {
            for (size_t at = 0; at < sizeof(value); at += 8)
                bb_store32(value + at, (uint32_t)bb_rng_below(&rng, 1 << 20));
            add(&world, i, value, sizeof(value));
        }
        build(&world);
        assert_ok(bb_table_page_load(world.table, 0, &stats, &page));
        memset(world.file.data + bb_index_page_block_offset(page, 5), 0xff,
               bb_index_page_block_size(page, 5));
        bb_index_page_unref(page);
        world.file.size = (size_t)world.table->root.pages[0].page_offset;
        struct bb_salvage_report report = salvage(&world);
        assert_int_equal(report.pages, 0);
        assert_true(report.blocks + 3 > world.table->root.block_count);
        assert_true(world.given > 19000);
        world_deinit(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(salvage_values__that_look_like_pages),
        cmocka_unit_test(salvage_values__of_numbers_without_pages),
    };
    return cmocka_run_group_tests_name("salvage values", tests, NULL, NULL);
}
