/* Goal: damage of a table filter costs at most the table filter, never a result: lists and chunks
 * of wrong numbers are refused, and verification reports them. Method: each number of a list is
 * changed, and each bit of a section, with every checksum repaired. */
#include "tests/unit/sstable/table_filter_fixture.h"

#include "base/assert.h"
#include "tests/unit/sstable/table_patch.h"

/* Reads a table whose table filter was replaced, with right checksums: only the table filter is
 * lost. */
static void check_patched(struct table_filter_world *world, struct table_parts *parts,
                          bool is_table_filter_lost)
{
    struct bb_table_verify_report report;
    parts_write(parts, world->memory);
    world_open(world);
    world->stats = (struct bb_read_stats){0};
    assert_members(world);
    assert_int_equal(world->stats.damaged_filters > 0, is_table_filter_lost);
    world_close(world);
    if (is_table_filter_lost)
        assert_status(bb_table_verify(FIXTURE_PATH, &world->options, &report), BB_CORRUPT);
}

/* The list of a table filter of one part with one chunk, sealed. */
static void seal_list(struct table_parts *parts)
{
    const struct bb_buf *section = parts_section(parts, BB_SECTION_TABLE_FILTER);
    size_t list = bb_load32(section->data + section->size - BB_TABLE_FILTER_TAIL_SIZE);
    size_t checked = section->size - BB_CHECKSUM_SIZE;
    size_t start = section->size - BB_TABLE_FILTER_TAIL_SIZE - list;
    if (list > section->size - BB_TABLE_FILTER_TAIL_SIZE)
        return;
    uint64_t offset = parts->data.size + start;
    bb_store64(section->data + checked, bb_checksum(parts->id, BB_STORED_CHUNKS, offset,
                                                    section->data + start, checked - start));
}

/* Takes the table apart. Returns the size of the table filter's chunks. */
static size_t read_chunks(struct table_parts *parts, const struct table_filter_world *world)
{
    parts_read(parts, world->memory);
    const struct bb_buf *section = parts_section(parts, BB_SECTION_TABLE_FILTER);
    size_t tail = section->size - BB_TABLE_FILTER_TAIL_SIZE;
    return tail - bb_load32(section->data + tail);
}

/* Replaces the list; the chunks stay. */
static void put_list(struct table_parts *parts, size_t chunks_size, struct bb_bytes list)
{
    struct bb_buf *section = parts_section(parts, BB_SECTION_TABLE_FILTER);
    section->size = chunks_size;
    assert_ok(bb_buf_append(section, list.data, list.size));
    assert_ok(bb_append_u32(section, (uint32_t)list.size));
    assert_ok(bb_append_u64(section, 0));
    seal_list(parts);
    parts_set_number(parts, 26, section->size);
}

/* A table whose list is replaced; it is refused with this message. */
static void check_refused_list(struct table_filter_world *world, struct table_parts *parts,
                               size_t chunks_size, struct bb_bytes list, const char *message)
{
    struct bb_table_filter *table_filter = NULL;
    put_list(parts, chunks_size, list);
    check_patched(world, parts, true);
    world_open(world);
    assert_status(bb_table_load_filter(world->table, &world->stats, &table_filter), BB_CORRUPT);
    assert_message(message);
    world_close(world);
}

/* Sizes and counts beyond the data are refused before memory is allocated. */
static void table_filter__absurd_lists(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        size_t size;
    } lists[] = {
        {"\x0b\x01\x01\x01\x10\x00", 6},                  /* shift */
        {"\x07\x00\x10\x00", 4},                          /* no part */
        {"\x07\xff\xff\xff\xff\x0f\x01\x01\x10\x00", 10}, /* parts */
        {"\x07\x01\x01\xff\xff\xff\xff\x0f\x10\x00", 10}, /* shards */
        {"\x00\x01\x01\xff\xff\xff\xff\x0f\x10\x00", 10}, /* chunks */
        {"\x07\x01\x01\x00\x10\x00", 6},                  /* no shard */
        {"\x07\x01\x00\x01\x10\x00", 6},                  /* no key */
        {"\x07\x01\x01\x01\xff\xff\xff\xff\x0f\x00", 10}, /* size */
        {"\x07\x01\x01\x01\x01\x00", 6},                  /* too small */
        {"\x07\x01\x01\x01", 4},                          /* it ends */
        {"", 0},                                          /* nothing */
    };
    struct table_filter_world world;
    struct table_parts parts;
    world_init(&world, 13, 4);
    world_build(&world, 200);
    size_t chunks_size = read_chunks(&parts, &world);
    for (size_t i = 0; i < BB_ARRAY_LENGTH(lists); i++) {
        put_list(&parts, chunks_size, bb_bytes_of(lists[i].list, lists[i].size));
        check_patched(&world, &parts, true);
    }
    const struct bb_buf *section = parts_section(&parts, BB_SECTION_TABLE_FILTER);
    bb_store32(section->data + section->size - BB_TABLE_FILTER_TAIL_SIZE, UINT32_MAX);
    check_patched(&world, &parts, true);
    parts_deinit(&parts);
    world_deinit(&world);
}

/* Parts take more memory than list: there are more parts than the chunks have space for. */
static void table_filter__more_parts_than_space(void **state)
{
    (void)state;
    enum { PARTS = 1000 };
    struct table_filter_world world;
    struct table_parts parts;
    struct bb_buf list = {0};
    world_init(&world, 22, 4);
    world_build(&world, 200);
    size_t chunks_size = read_chunks(&parts, &world);
    assert_true(chunks_size / 20 < PARTS);
    assert_ok(bb_append_varint(&list, 7));
    assert_ok(bb_append_varint(&list, PARTS));
    for (size_t i = 0; i < 3 * PARTS; i++)
        assert_ok(bb_append_u8(&list, 1)); /* a key and a shard of each; sizes of chunks */
    check_refused_list(&world, &parts, chunks_size, bb_buf_bytes(&list),
                       "more chunks than there is space for");
    bb_buf_deinit(&list);
    parts_deinit(&parts);
    world_deinit(&world);
}

/* A list ends with its fences. One part has none, and even then their common prefix is there. */
static void table_filter__list_without_fences(void **state)
{
    (void)state;
    struct table_filter_world world;
    struct table_parts parts;
    struct bb_buf list = {0};
    world_init(&world, 23, 4);
    world_build(&world, 200);
    size_t chunks_size = read_chunks(&parts, &world);
    assert_ok(bb_buf_append(&list, "\x07\x01\x01\x01", 4)); /* a part of one shard */
    assert_ok(bb_append_varint(&list, chunks_size));
    check_refused_list(&world, &parts, chunks_size, bb_buf_bytes(&list),
                       "a common prefix that cannot be read");
    bb_buf_deinit(&list);
    parts_deinit(&parts);
    world_deinit(&world);
}

/* Lists with exactly one wrong number that fill their section. */
static void table_filter__lists_off_by_one_number(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        const char *bytes;
        size_t size;
    } changes[] = {
        {0, "\x0b", 1},     /* shift: over the limit */
        {0, "\x40", 1},     /* and over the width of a number */
        {3, "\xe8\x07", 2}, /* 1,000 shards in a chunk too small for their directory */
        {3, "\x02", 1},     /* two shards for one */
    };
    struct table_filter_world world;
    struct table_parts parts;
    world_init(&world, 17, 4);
    world_build(&world, 100);
    parts_read(&parts, world.memory);
    struct bb_buf *section = parts_section(&parts, BB_SECTION_TABLE_FILTER);
    struct bb_buf sound = {0};
    assert_ok(bb_buf_assign(&sound, bb_buf_bytes(section)));
    size_t list_size = bb_load32(sound.data + sound.size - BB_TABLE_FILTER_TAIL_SIZE);
    size_t start = sound.size - BB_TABLE_FILTER_TAIL_SIZE - list_size;
    assert_memory_equal(sound.data + start, "\x07\x01\x64\x01", 4);
    for (size_t i = 0; i < BB_ARRAY_LENGTH(changes); i++) {
        size_t after = start + changes[i].at + 1;
        assert_ok(bb_buf_assign(section, bb_bytes_of(sound.data, start + changes[i].at)));
        assert_ok(bb_buf_append(section, changes[i].bytes, changes[i].size));
        assert_ok(bb_buf_append(section, sound.data + after, sound.size - after));
        bb_store32(section->data + section->size - BB_TABLE_FILTER_TAIL_SIZE,
                   (uint32_t)(list_size + changes[i].size - 1));
        seal_list(&parts);
        parts_set_number(&parts, 26, section->size);
        check_patched(&world, &parts, true);
        world_open(&world);
        (void)world_get(&world, NULL, 0);
        /* Every case except the last is visible in the list; the last in the chunk. */
        assert_int_equal(world.table->table_filter->part_count, i == 3);
        world_close(&world);
    }
    bb_buf_deinit(&sound);
    parts_deinit(&parts);
    world_deinit(&world);
}

/* Every bit of a chunk and of the list, with repaired or unchanged checksums. */
static void check_flips(bool is_sealed)
{
    struct table_filter_world world;
    struct table_parts parts;
    world_init(&world, 14, 4);
    world_build(&world, 40);
    parts_read(&parts, world.memory);
    struct bb_buf *section = parts_section(&parts, BB_SECTION_TABLE_FILTER);
    size_t list_size = bb_load32(section->data + section->size - BB_TABLE_FILTER_TAIL_SIZE);
    size_t chunk_size = section->size - BB_TABLE_FILTER_TAIL_SIZE - list_size - BB_CHECKSUM_SIZE;
    for (size_t bit = 0; bit < section->size * 8; bit++) {
        section->data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        bool is_in_payload = bit / 8 >= 12 && bit / 8 < chunk_size;
        bool is_seed = bit / 8 == 9 && bit % 8 < 6;
        if (is_sealed && bit / 8 >= chunk_size + BB_CHECKSUM_SIZE)
            seal_list(&parts);
        if (!is_sealed || !(is_in_payload || is_seed)) {
            parts_write(&parts, world.memory);
            world_open(&world);
            assert_members(&world);
            world_close(&world);
        }
        section->data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        seal_list(&parts);
    }
    parts_deinit(&parts);
    world_deinit(&world);
}

static void table_filter__every_bit(void **state)
{
    (void)state;
    check_flips(false);
    check_flips(true);
}

/* Damage in one of several chunks costs only that chunk. */
static void table_filter__damaged_chunk(void **state)
{
    (void)state;
    struct table_filter_world world;
    struct table_parts parts;
    struct bb_table_verify_report report;
    world_init(&world, 15, 4);
    world_build(&world, 300000);
    assert_ok(bb_block_cache_create(UINT64_C(1) << 27, &world.options.cache));
    parts_read(&parts, world.memory);
    parts_section(&parts, BB_SECTION_TABLE_FILTER)->data[100]++;
    parts_write(&parts, world.memory);
    world_open(&world);
    size_t asked = 0;
    for (; asked < 30000; asked++) {
        assert_int_equal(world_get(&world, NULL, 2 * asked), BB_VISIT_PRESENT);
        (void)world_get(&world, NULL, 2 * asked + 1);
    }
    /* The first of three chunks, with 128 of 300 shards. */
    assert_share(world.stats.damaged_filters, 2 * asked, 128.0 / 300, "meet the damaged chunk");
    assert_share(visits(&world, BB_VISIT_TABLE_FILTER_NEGATIVE), asked, 0.92 * 172 / 300,
                 "are denied by the others");
    assert_true(world.stats.table_filter_reads < 10);
    assert_status(bb_table_verify(FIXTURE_PATH, &world.options, &report), BB_CORRUPT);
    parts_deinit(&parts);
    world_deinit(&world);
}

/* Without its table filter, or with properties that this version cannot follow, a table is read. */
static void table_filter__lost(void **state)
{
    (void)state;
    struct table_filter_world world;
    struct table_parts parts;
    world_init(&world, 16, 4);
    world_build(&world, 200);
    parts_read(&parts, world.memory);
    parts_set_number(&parts, 70, 25);
    check_patched(&world, &parts, true);
    parts_set_number(&parts, 70, 3);
    check_patched(&world, &parts, false);
    assert_int_equal(parts.directory.sections[0].id, BB_SECTION_TABLE_FILTER);
    bb_buf_deinit(&parts.sections[0]);
    parts.directory.count--;
    for (size_t i = 0; i < parts.directory.count; i++) {
        parts.directory.sections[i] = parts.directory.sections[i + 1];
        parts.sections[i] = parts.sections[i + 1];
    }
    parts.sections[parts.directory.count] = (struct bb_buf){0};
    check_patched(&world, &parts, true);
    parts_deinit(&parts);
    world_deinit(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_filter__absurd_lists),
        cmocka_unit_test(table_filter__more_parts_than_space),
        cmocka_unit_test(table_filter__list_without_fences),
        cmocka_unit_test(table_filter__lists_off_by_one_number),
        cmocka_unit_test(table_filter__every_bit),
        cmocka_unit_test(table_filter__damaged_chunk),
        cmocka_unit_test(table_filter__lost),
    };
    return cmocka_run_group_tests_name("table filter damage", tests, NULL, NULL);
}
