/* Goal: verification finds errors that checksums cannot: intact files that contradict themselves.
 * And it accepts every table that the builder makes. Method: one contradiction at a time, all
 * checksums repaired. */
#include "tests/unit/sstable/table_patch.h"

#include "sstable/table/table_walk.h"

struct world {
    struct bb_file_memory *memory;
    struct bb_table_options options;
    struct entry_list list;
    struct table_parts parts;
    uint64_t page_offset; /* of the first page */
    uint64_t blocks[3];   /* the first three blocks */
    uint32_t sizes[3];
};

static void find_places(struct world *world)
{
    struct bb_table *table = NULL;
    struct bb_table_walk walk;
    assert_ok(bb_table_open(FIXTURE_PATH, &world->options, &table));
    world->page_offset = table->root.pages[0].page_offset;
    bb_table_walk_init(&walk, table);
    for (int i = 0; i < 3; i++) {
        bool has_block = false;
        assert_ok(bb_table_walk_next(&walk, &has_block));
        assert_true(has_block);
        world->blocks[i] = walk.offset;
        world->sizes[i] = walk.stored_size;
    }
    bb_table_walk_deinit(&walk);
    bb_table_close(table);
}

static void world_init(struct world *world, enum bb_filter_kind kind)
{
    *world = (struct world){0};
    world->memory = bb_file_memory_create(41);
    world->options = (struct bb_table_options){
        .file_system = bb_file_memory_system(world->memory),
        .block_size_bytes = 200,
        .restart_interval = 16,
        .compression = BB_COMPRESSION_NONE,
        .filter_kind = kind,
        .index_page_size_bytes = 1024,
        .table_filter_bits = BB_TABLE_FILTER_NONE,
    };
    for (int i = 0; i < 2500; i++) {
        char key[16];
        snprintf(key, sizeof(key), "key%04d", i);
        entry_list_add_text(&world->list, key, 1000 + (uint64_t)i, i % 9 == 0 ? NULL : "value");
    }
    build_table(FIXTURE_PATH, &world->options, &world->list, NULL);
    find_places(world);
    parts_read(&world->parts, world->memory);
}

static void world_deinit(struct world *world)
{
    parts_deinit(&world->parts);
    entry_list_deinit(&world->list);
    bb_file_memory_destroy(world->memory);
}

static void assert_defect(struct world *world, const char *part)
{
    struct bb_table_verify_report report;
    parts_write(&world->parts, world->memory);
    assert_status(bb_table_verify(FIXTURE_PATH, &world->options, &report), BB_CORRUPT);
    assert_message(part);
    assert_message(FIXTURE_PATH);
    world_deinit(world);
}

/* ---- sound tables ---- */

static void verify__accepts_what_is_put_together_again(void **state)
{
    (void)state;
    struct world world;
    struct bb_table_verify_report report = {0};
    world_init(&world, BB_FILTER_RIBBON);
    parts_write(&world.parts, world.memory);
    assert_ok(bb_table_verify(FIXTURE_PATH, &world.options, &report));
    assert_int_equal(report.entries, 2500);
    assert_int_equal(report.keys, 2500);
    assert_true(report.blocks > 50 && report.pages > 1);
    assert_true(report.filters == report.blocks && report.filters_compared == report.filters);
    world_deinit(&world);
}

static void check_random_table(uint64_t seed)
{
    static const enum bb_filter_kind kinds[] = {BB_FILTER_NONE, BB_FILTER_RIBBON,
                                                BB_FILTER_BLOCKED_BLOOM, BB_FILTER_BLOOM};
    static const uint32_t granularities[] = {1, 2, 5, BB_GRANULARITY_PAGE};
    static const double splits[] = {BB_TABLE_FILTER_NONE, BB_TABLE_FILTER_DEFAULT, 4,
                                    BB_TABLE_FILTER_ALL};
    struct bb_file_memory *memory = bb_file_memory_create(seed);
    struct bb_rng rng;
    struct entry_list list = {0};
    struct bb_table_verify_report report = {0};
    bb_rng_init(&rng, seed);
    struct bb_table_options options = {
        .file_system = bb_file_memory_system(memory),
        .block_size_bytes = (uint32_t)bb_rng_between(&rng, 64, 3000),
        .restart_interval = (uint32_t)bb_rng_between(&rng, 1, 20),
        .filter_kind = kinds[bb_rng_below(&rng, 4)],
        .filter_granularity = granularities[bb_rng_below(&rng, 4)],
        .index_page_size_bytes = (uint32_t)bb_rng_between(&rng, 256, 5000),
        .comparator = bb_rng_one_in(&rng, 3) ? &backwards : NULL,
        .table_filter_bits = splits[bb_rng_below(&rng, 4)],
    };
    entry_list_add_random(&list, &rng, bb_rng_between(&rng, 1, 500), 100);
    entry_list_sort(&list, options.comparator);
    build_table(FIXTURE_PATH, &options, &list, NULL);
    assert_ok(bb_table_verify(FIXTURE_PATH, &options, &report));
    assert_int_equal(report.entries, list.count);
    assert_int_equal(report.filters_compared, report.filters);
    assert_int_equal(report.table_filter_chunks_compared, report.table_filter_chunks);
    assert_int_equal(report.filters + report.table_filter_chunks > 0,
                     options.filter_kind != BB_FILTER_NONE);
    entry_list_deinit(&list);
    bb_file_memory_destroy(memory);
}

static void verify__accepts_random_tables(void **state)
{
    (void)state;
    uint64_t seed = bb_rng_seed("verify__accepts_random_tables", 42);
    for (uint64_t i = 0; i < 60; i++)
        check_random_table(seed + i);
}

/* ---- filters ---- */

static void verify__filter_that_denies_its_keys(void **state)
{
    (void)state;
    struct world world;
    size_t size = 0;
    world_init(&world, BB_FILTER_BLOOM);
    uint8_t *area = parts_filter_area(&world.parts, world.page_offset, &size);
    memset(area + size - 5, 0, 5);
    parts_seal_page(&world.parts, world.page_offset);
    assert_defect(&world, "denies its key");
}

/* A filter that always returns maybe has no false negatives, but is still wrong. */
static void verify__filter_that_says_yes(void **state)
{
    (void)state;
    struct world world;
    size_t size = 0;
    world_init(&world, BB_FILTER_BLOOM);
    uint8_t *area = parts_filter_area(&world.parts, world.page_offset, &size);
    memset(area + size - 5, 0xff, 5);
    parts_seal_page(&world.parts, world.page_offset);
    assert_defect(&world, "differ from the filters rebuilt from its keys");
}

/* A filter of another builder, with five bytes that return maybe for every key. */
static void world_init_foreign(struct world *world)
{
    size_t size = 0;
    world_init(world, BB_FILTER_BLOOM);
    uint8_t *area = parts_filter_area(&world->parts, world->page_offset, &size);
    memset(area + size - 5, 0xff, 5);
    parts_seal_page(&world->parts, world->page_offset);
    parts_set_property(&world->parts, 4, bb_bytes_of_text("another program"));
}

/* Of another builder's filters only the answers count, and the rate that they are said to have. */
static void verify__filter_of_another_builder(void **state)
{
    (void)state;
    struct world world;
    struct bb_table_verify_report report = {0};
    world_init_foreign(&world);
    assert_defect(&world, "property predicted_block_rate is 0.0095");
    world_init_foreign(&world);
    parts_drop_predictions(&world.parts);
    parts_write(&world.parts, world.memory);
    assert_ok(bb_table_verify(FIXTURE_PATH, &world.options, &report));
    assert_true(report.filters > 0 && report.filters_compared == 0);
    world_deinit(&world);
}

static void verify__filters_of_an_unknown_kind(void **state)
{
    (void)state;
    struct world world;
    struct bb_table_verify_report report;
    world_init(&world, BB_FILTER_RIBBON);
    parts_set_number(&world.parts, 64, 77);
    parts_write(&world.parts, world.memory);
    assert_status(bb_table_verify(FIXTURE_PATH, &world.options, &report), BB_UNSUPPORTED);
    assert_message("kind 77");
    world_deinit(&world);
}

static void verify__filters_where_there_are_none(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, BB_FILTER_RIBBON);
    parts_set_number(&world.parts, 64, BB_FILTER_NONE);
    parts_set_real(&world.parts, 65, 1);
    assert_defect(&world, "in a table without");
}

/* ---- table filter ---- */

/* A table with a table filter of one chunk, of which a byte of the last shard is changed. */
static void table_filter_init(struct world *world, uint8_t change)
{
    world_init(world, BB_FILTER_RIBBON);
    world->options.table_filter_bits = 4;
    assert_ok(world->options.file_system->ops->remove(world->options.file_system, FIXTURE_PATH));
    build_table(FIXTURE_PATH, &world->options, &world->list, NULL);
    parts_deinit(&world->parts);
    parts_read(&world->parts, world->memory);
    struct bb_buf *section = parts_section(&world->parts, BB_SECTION_TABLE_FILTER);
    size_t list = bb_load32(section->data + section->size - BB_TABLE_FILTER_TAIL_SIZE);
    size_t checked = section->size - BB_TABLE_FILTER_TAIL_SIZE - list - BB_CHECKSUM_SIZE;
    section->data[checked - 1] ^= change;
    bb_store64(section->data + checked,
               bb_checksum(world->parts.id, BB_STORED_TABLE_FILTER, world->parts.data.size,
                           section->data, checked));
}

static void verify__table_filter(void **state)
{
    (void)state;
    struct world world;
    struct bb_table_verify_report report = {0};
    table_filter_init(&world, 0);
    parts_write(&world.parts, world.memory);
    assert_ok(bb_table_verify(FIXTURE_PATH, &world.options, &report));
    assert_true(report.table_filter_chunks == 1 && report.table_filter_chunks_compared == 1);
    assert_true(report.filters == report.blocks);
    /* Off in lookups, it is still verified. */
    world.options.table_filter_off = true;
    assert_ok(bb_table_verify(FIXTURE_PATH, &world.options, &report));
    assert_true(report.table_filter_chunks == 1);
    world_deinit(&world);
    table_filter_init(&world, 0xff);
    assert_defect(&world, "table filter");
}

/* A table filter without any filter in it, which always returns maybe. */
static void table_filter_init_that_says_yes(struct world *world)
{
    static const uint8_t list[] = {6, 1, 0xc4, 0x13, 1, 16, 0}; /* 2,500 keys, a shard, a chunk */
    uint8_t directory[8] = {0};
    table_filter_init(world, 0);
    uint64_t at = world->parts.data.size;
    struct bb_table_id id = world->parts.id;
    struct bb_buf *section = parts_section(&world->parts, BB_SECTION_TABLE_FILTER);
    bb_buf_reset(section);
    assert_ok(bb_buf_append(section, directory, sizeof(directory)));
    assert_ok(bb_append_u64(
        section, bb_checksum(id, BB_STORED_TABLE_FILTER, at, directory, sizeof(directory))));
    assert_ok(bb_buf_append(section, list, sizeof(list)));
    assert_ok(bb_append_u32(section, sizeof(list)));
    assert_ok(bb_append_u64(section, bb_checksum(id, BB_STORED_CHUNKS, at + 16, section->data + 16,
                                                 section->size - 16)));
    parts_set_number(&world->parts, 26, section->size);
}

static void verify__table_filter_that_says_yes(void **state)
{
    (void)state;
    struct world world;
    table_filter_init_that_says_yes(&world);
    assert_defect(&world, "differs from the one rebuilt from the table's keys");
}

static void verify__table_filter_of_another_builder(void **state)
{
    (void)state;
    struct world world;
    struct bb_table_verify_report report = {0};
    table_filter_init(&world, 0);
    parts_set_property(&world.parts, 4, bb_bytes_of_text("another program"));
    parts_write(&world.parts, world.memory);
    assert_ok(bb_table_verify(FIXTURE_PATH, &world.options, &report));
    assert_true(report.table_filter_chunks == 1 && report.table_filter_chunks_compared == 0);
    world_deinit(&world);
    table_filter_init(&world, 0xff);
    parts_set_property(&world.parts, 4, bb_bytes_of_text("another program"));
    assert_defect(&world, "denies the key");
}

static void verify__table_filter_of_other_keys(void **state)
{
    (void)state;
    struct world world;
    table_filter_init(&world, 0);
    struct bb_buf *section = parts_section(&world.parts, BB_SECTION_TABLE_FILTER);
    size_t list = bb_load32(section->data + section->size - BB_TABLE_FILTER_TAIL_SIZE);
    size_t start = section->size - BB_TABLE_FILTER_TAIL_SIZE - list;
    size_t checked = section->size - BB_CHECKSUM_SIZE;
    section->data[start + 2]++; /* the lowest bits of the keys of part 0 */
    bb_store64(section->data + checked,
               bb_checksum(world.parts.id, BB_STORED_CHUNKS, world.parts.data.size + start,
                           section->data + start, checked - start));
    assert_defect(&world, "counted 2500");
}

/* ---- predicted rates ---- */

static void set_predictions(struct world *world, double block_rate, double table_filter_rate)
{
    parts_set_real(&world->parts, 74, block_rate);
    parts_set_real(&world->parts, 75, table_filter_rate);
}

static void verify__predicted_rate_that_the_filters_do_not_have(void **state)
{
    (void)state;
    static const enum bb_filter_kind kinds[] = {BB_FILTER_NONE, BB_FILTER_RIBBON,
                                                BB_FILTER_BLOCKED_BLOOM, BB_FILTER_BLOOM};
    struct world world;
    for (size_t i = 0; i < 4; i++) {
        world_init(&world, kinds[i]);
        set_predictions(&world, 0.01, 1); /* the target: no filters have it exactly */
        assert_defect(&world, "property predicted_block_rate is 0.01, the filters have a rate of ");
        world_init(&world, kinds[i]);
        parts_set_real(&world.parts, 75, 0.5);
        assert_defect(&world, "property predicted_table_filter_rate is 0.5, the filters have a "
                              "rate of 1");
    }
    table_filter_init(&world, 0);
    parts_set_real(&world.parts, 75, 0.0626);
    assert_defect(&world, "property predicted_table_filter_rate is 0.0626, the filters have a "
                          "rate of 0.0625");
}

/* Filters that always return maybe have the rate 1, also when another builder made them. */
static void verify__predicted_rate_of_a_filter_that_says_yes(void **state)
{
    (void)state;
    struct world world;
    struct bb_table_verify_report report = {0};
    table_filter_init_that_says_yes(&world);
    parts_set_property(&world.parts, 4, bb_bytes_of_text("another program"));
    assert_defect(&world, "predicted_table_filter_rate is 0.0625, the filters have a rate of 1");
    table_filter_init_that_says_yes(&world);
    parts_set_property(&world.parts, 4, bb_bytes_of_text("another program"));
    parts_set_real(&world.parts, 75, 1);
    parts_write(&world.parts, world.memory);
    assert_ok(bb_table_verify(FIXTURE_PATH, &world.options, &report));
    world_deinit(&world);
}

static void verify__table_without_predictions(void **state)
{
    (void)state;
    struct world world;
    struct bb_table_verify_report report = {0};
    table_filter_init(&world, 0);
    parts_drop_predictions(&world.parts);
    parts_write(&world.parts, world.memory);
    assert_ok(bb_table_verify(FIXTURE_PATH, &world.options, &report));
    assert_true(report.filters_compared > 0 && report.table_filter_chunks_compared == 1);
    world_deinit(&world);
}

/* ---- properties ---- */

static void verify__numbers_that_do_not_add_up(void **state)
{
    (void)state;
    static const uint16_t ids[] = {16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 34, 35};
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        struct world world;
        world_init(&world, BB_FILTER_RIBBON);
        parts_set_number(&world.parts, ids[i], 500); /* none of them is */
        assert_defect(&world, "");
    }
}

static void verify__bounds_that_are_none(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, BB_FILTER_RIBBON);
    parts_set_property(&world.parts, 32, bb_bytes_of_text("key"));
    assert_defect(&world, "property smallest is key");
    world_init(&world, BB_FILTER_RIBBON);
    parts_set_property(&world.parts, 33, bb_bytes_of_text("keyz"));
    assert_defect(&world, "property largest is keyz");
}

static void verify__other_bits_per_probe(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, BB_FILTER_BLOOM);
    parts_set_number(&world.parts, 66, 3);
    assert_defect(&world, "3 bits per probe");
    world_init(&world, BB_FILTER_BLOOM);
    parts_set_number(&world.parts, 66, 31);
    assert_defect(&world, "31 bits per probe");
}

static void verify__another_salt_or_secret(void **state)
{
    (void)state;
    struct world world;
    uint8_t secret[BB_HASH_SECRET_SIZE] = {1, 2, 3};
    world_init(&world, BB_FILTER_RIBBON);
    parts_set_number(&world.parts, 67, 12345);
    assert_defect(&world, "denies its key");
    world_init(&world, BB_FILTER_RIBBON);
    parts_set_property(&world.parts, 81, bb_bytes_of(secret, sizeof(secret)));
    assert_defect(&world, "denies its key");
}

static void verify__another_table_id(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, BB_FILTER_RIBBON);
    parts_set_property(&world.parts, 2, bb_bytes_of_text("0123456789abcdef"));
    assert_defect(&world, "different table ids");
}

/* ---- order ---- */

/* Two blocks of the same size exchanged under right checksums. */
static void verify__blocks_out_of_order(void **state)
{
    (void)state;
    struct world world;
    uint8_t spare[1024];
    world_init(&world, BB_FILTER_NONE);
    uint32_t size = world.sizes[1];
    assert_true(size == world.sizes[2] && size < sizeof(spare));
    uint8_t *data = world.parts.data.data;
    memcpy(spare, data + world.blocks[1], size);
    memcpy(data + world.blocks[1], data + world.blocks[2], size);
    memcpy(data + world.blocks[2], spare, size);
    parts_seal_block(&world.parts, world.blocks[1], size);
    parts_seal_block(&world.parts, world.blocks[2], size);
    parts_write(&world.parts, world.memory);

    /* A scan notices as well. */
    struct bb_table *table = NULL;
    struct bb_iter *iter = NULL;
    assert_ok(bb_table_open(FIXTURE_PATH, &world.options, &table));
    assert_ok(bb_table_iter_create(table, NULL, NULL, &iter));
    for (bb_iter_seek_first(iter); iter->is_valid;)
        bb_iter_next(iter);
    assert_int_equal(iter->status, BB_CORRUPT);
    bb_iter_destroy(iter);
    bb_table_close(table);
    assert_defect(&world, "block");
}

/* The last byte of the fence area belongs to the last fence of the page. */
static void check_last_fence(int change, const char *part)
{
    struct world world;
    world_init(&world, BB_FILTER_NONE);
    uint8_t *page = world.parts.data.data + world.page_offset;
    uint8_t *last = page + BB_PAGE_HEADER_SIZE + bb_load32(page) - 1;
    *last = (uint8_t)(*last + change);
    parts_seal_page(&world.parts, world.page_offset);
    assert_defect(&world, part);
}

static void verify__fences_in_the_wrong_place(void **state)
{
    (void)state;
    check_last_fence(1, "starts before its fence");
    check_last_fence(-1, "");
}

static void verify__fences_of_the_root(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, BB_FILTER_NONE);
    struct bb_buf *root = parts_section(&world.parts, BB_SECTION_ROOT);
    root->data[root->size - 1]++;
    assert_defect(&world, "starts before its fence");
    world_init(&world, BB_FILTER_NONE);
    root = parts_section(&world.parts, BB_SECTION_ROOT);
    root->data[root->size - 1] -= 5;
    assert_defect(&world, "");
}

/* The root counts one block of the first page as one of the last: sums and places are right. */
static void verify__blocks_of_the_root(void **state)
{
    (void)state;
    struct world world;
    uint8_t *first = NULL;
    uint8_t *last = NULL;
    uint32_t page_count = 0;
    world_init(&world, BB_FILTER_NONE);
    struct bb_buf *root = parts_section(&world.parts, BB_SECTION_ROOT);
    struct bb_cursor cursor = bb_cursor_of(bb_buf_bytes(root));
    assert_true(bb_decode_varint32(&cursor, &page_count) && page_count > 1);
    for (uint32_t i = 0; i < page_count; i++) {
        uint32_t size = 0;
        assert_true(bb_decode_varint32(&cursor, &size) && bb_decode_varint32(&cursor, &size));
        last = root->data + (cursor.position - root->data);
        first = i == 0 ? last : first;
        assert_true(bb_decode_varint32(&cursor, &size));
    }
    first[0]--;
    last[0]++;
    assert_defect(&world, "an index page of");
}

/* ---- sections ---- */

static void verify__sections_nobody_knows(void **state)
{
    (void)state;
    struct world world;
    struct bb_table_verify_report report = {0};
    struct bb_table *table = NULL;
    world_init(&world, BB_FILTER_RIBBON);
    struct bb_section *section = &world.parts.directory.sections[world.parts.directory.count];
    *section = (struct bb_section){.id = 99};
    assert_ok(bb_buf_append(&world.parts.sections[world.parts.directory.count++], "unknown", 7));
    parts_write(&world.parts, world.memory);
    assert_ok(bb_table_verify(FIXTURE_PATH, &world.options, &report));
    size_t size = 0;
    uint8_t *bytes = bb_file_memory_bytes(world.memory, FIXTURE_PATH, &size);
    assert_int_equal(report.bytes, size);
    bytes[section->offset] ^= 1;
    assert_ok(bb_table_open(FIXTURE_PATH, &world.options, &table)); /* has no need to read it */
    bb_table_close(table);
    assert_status(bb_table_verify(FIXTURE_PATH, &world.options, &report), BB_CORRUPT);
    assert_message("section 99");
    world_deinit(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verify__accepts_what_is_put_together_again),
        cmocka_unit_test(verify__accepts_random_tables),
        cmocka_unit_test(verify__filter_that_denies_its_keys),
        cmocka_unit_test(verify__filter_that_says_yes),
        cmocka_unit_test(verify__filter_of_another_builder),
        cmocka_unit_test(verify__filters_of_an_unknown_kind),
        cmocka_unit_test(verify__filters_where_there_are_none),
        cmocka_unit_test(verify__table_filter),
        cmocka_unit_test(verify__table_filter_that_says_yes),
        cmocka_unit_test(verify__table_filter_of_another_builder),
        cmocka_unit_test(verify__table_filter_of_other_keys),
        cmocka_unit_test(verify__predicted_rate_that_the_filters_do_not_have),
        cmocka_unit_test(verify__predicted_rate_of_a_filter_that_says_yes),
        cmocka_unit_test(verify__table_without_predictions),
        cmocka_unit_test(verify__numbers_that_do_not_add_up),
        cmocka_unit_test(verify__bounds_that_are_none),
        cmocka_unit_test(verify__other_bits_per_probe),
        cmocka_unit_test(verify__another_salt_or_secret),
        cmocka_unit_test(verify__another_table_id),
        cmocka_unit_test(verify__blocks_out_of_order),
        cmocka_unit_test(verify__fences_in_the_wrong_place),
        cmocka_unit_test(verify__fences_of_the_root),
        cmocka_unit_test(verify__blocks_of_the_root),
        cmocka_unit_test(verify__sections_nobody_knows),
    };
    return cmocka_run_group_tests_name("verify", tests, NULL, NULL);
}
