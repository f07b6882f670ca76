/* Goal: range tombstones of a damaged table are found exactly when their section and the directory
 * are intact, independent of the rest; unproven ones are ignored, and the result distinguishes the
 * two. Method: a table with and one without entries, each byte changed, and truncated at each
 * size. */
#include "tests/unit/sstable/table_fixture.h"

#include "base/buf.h"
#include "base/file.h"
#include "sstable/meta/footer.h"
#include "sstable/meta/table_directory.h"
#include "sstable/salvage/range_tombstone_salvage.h"
#include "sstable/salvage/table_salvage.h"
#include "sstable/table/table_walk.h"

struct world {
    struct bb_file_memory *memory;
    struct bb_table_options options;
    struct bb_buf file;
    struct bb_table_directory directory;
    uint64_t directory_offset;
    uint64_t footer_offset;
    uint8_t id[BB_TABLE_ID_SIZE];
};

static void read_places(struct world *world)
{
    struct bb_table *table = NULL;
    assert_ok(bb_table_open(FIXTURE_PATH, &world->options, &table));
    memcpy(world->id, bb_table_meta(table)->table_id, sizeof(world->id));
    world->directory = table->directory;
    world->directory_offset = table->footer.directory_offset;
    bb_table_close(table);
    assert_ok(bb_file_read_whole(world->options.file_system, FIXTURE_PATH, SIZE_MAX, &world->file));
    world->footer_offset = world->file.size - BB_FOOTER_SIZE;
}

/* [a, m) at 5, [g, p) at 9, [x, z) at 7: sequences of 4 fragments, 5 together. */
static void add_ranges(struct bb_table_builder *builder)
{
    static const char *const ranges[][2] = {{"a", "m"}, {"g", "p"}, {"x", "z"}};
    static const uint64_t sequences[] = {5, 9, 7};
    for (size_t i = 0; i < 3; i++)
        assert_ok(bb_table_builder_add_range_tombstone(
            builder, bb_bytes_of_text(ranges[i][0]), bb_bytes_of_text(ranges[i][1]), sequences[i]));
}

static void world_init(struct world *world, bool has_entries, bool has_ranges)
{
    struct bb_table_builder *builder = NULL;
    *world = (struct world){.memory = bb_file_memory_create(47)};
    world->options = (struct bb_table_options){.file_system = bb_file_memory_system(world->memory)};
    struct bb_entry entry = {.key = bb_bytes_of_text("b"),
                             .sequence = 6,
                             .kind = BB_ENTRY_PUT,
                             .value = bb_bytes_of_text("six")};
    assert_ok(bb_table_builder_create(FIXTURE_PATH, &world->options, &builder));
    if (has_entries)
        assert_ok(bb_table_builder_add(builder, &entry));
    if (has_ranges)
        add_ranges(builder);
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
    read_places(world);
}

static void world_deinit(struct world *world)
{
    bb_buf_deinit(&world->file);
    bb_file_memory_destroy(world->memory);
}

static void check_list(const struct bb_range_tombstones *list)
{
    assert_int_equal(list->count, 4);
    assert_int_equal(list->sequence_count, 5);
    assert_int_equal(bb_range_tombstones_covering(list, bb_bytes_of_text("b"), 100), 5);
    assert_int_equal(bb_range_tombstones_covering(list, bb_bytes_of_text("g"), 100), 9);
    assert_int_equal(bb_range_tombstones_covering(list, bb_bytes_of_text("g"), 8), 5);
    assert_int_equal(bb_range_tombstones_covering(list, bb_bytes_of_text("p"), 100), 0);
    assert_int_equal(bb_range_tombstones_covering(list, bb_bytes_of_text("y"), 100), 7);
}

/* Of the first `size` bytes. The result is right. */
static enum bb_range_tombstone_salvage salvage(const struct world *world, size_t size)
{
    enum bb_range_tombstone_salvage found = BB_RANGE_SALVAGE_UNTOLD;
    struct bb_range_tombstones *list = NULL;
    struct bb_table_id id = bb_checksum_decode_table_id(world->id);
    assert_ok(bb_range_tombstone_salvage(bb_bytes_of(world->file.data, size), FIXTURE_PATH, NULL,
                                         id, &found, &list));
    assert_true((list != NULL) == (found == BB_RANGE_SALVAGE_FOUND));
    if (list != NULL)
        check_list(list);
    bb_range_tombstones_destroy(list);
    return found;
}

static enum bb_range_tombstone_salvage expected_with_damage_at(const struct world *world, size_t at)
{
    const struct bb_section *section =
        bb_table_directory_find(&world->directory, BB_SECTION_RANGE_TOMBSTONES);
    if (at >= world->directory_offset && at < world->footer_offset)
        return BB_RANGE_SALVAGE_UNTOLD;
    return at >= section->offset && at - section->offset < section->size ? BB_RANGE_SALVAGE_LOST
                                                                         : BB_RANGE_SALVAGE_FOUND;
}

static void salvage__finds_ranges_that_can_be_proved(void **state)
{
    (void)state;
    for (int has_entries = 0; has_entries < 2; has_entries++) {
        struct world world;
        world_init(&world, has_entries, true);
        for (size_t at = 0; at < world.file.size; at++) {
            world.file.data[at] ^= (uint8_t)(1 + at % 255);
            assert_int_equal(salvage(&world, world.file.size), expected_with_damage_at(&world, at));
            world.file.data[at] ^= (uint8_t)(1 + at % 255);
            assert_int_equal(salvage(&world, at), at >= world.footer_offset
                                                      ? BB_RANGE_SALVAGE_FOUND
                                                      : BB_RANGE_SALVAGE_UNTOLD);
        }
        world_deinit(&world);
    }
}

static void salvage__knows_that_there_are_none(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, true, false);
    assert_int_equal(salvage(&world, world.footer_offset), BB_RANGE_SALVAGE_NONE);
    assert_int_equal(salvage(&world, world.footer_offset - 1), BB_RANGE_SALVAGE_UNTOLD);
    world_deinit(&world);
}

static void salvage__takes_no_ranges_of_another_table_or_place(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, true, true);
    world.id[7] ^= 1;
    assert_int_equal(salvage(&world, world.file.size), BB_RANGE_SALVAGE_UNTOLD);
    world.id[7] ^= 1;
    assert_ok(bb_buf_append(&world.file, "x", 1));
    assert_int_equal(salvage(&world, world.file.size), BB_RANGE_SALVAGE_FOUND);
    memmove(world.file.data + 1, world.file.data, world.file.size - 1);
    assert_int_equal(salvage(&world, world.file.size), BB_RANGE_SALVAGE_UNTOLD);
    world_deinit(&world);
}

/* A file of sections of one byte and their directory, with a right checksum. None of them holds
 * range tombstones. */
static struct bb_buf file_of_sections(size_t section_count, struct bb_table_id id)
{
    struct bb_buf file = {0};
    uint8_t *p = NULL;
    assert_ok(bb_buf_extend(&file, section_count, &p));
    memset(p, 's', section_count);
    for (size_t i = 0; i < section_count; i++) {
        assert_ok(bb_buf_extend(&file, BB_SECTION_ENTRY_SIZE, &p));
        memset(p, 0, BB_SECTION_ENTRY_SIZE);
        bb_store16(p, (uint16_t)(i + 1 < BB_SECTION_RANGE_TOMBSTONES ? i + 1 : i + 2));
        bb_store64(p + 4, i);
        bb_store64(p + 12, 1);
    }
    assert_ok(
        bb_append_u64(&file, bb_checksum(id, BB_STORED_DIRECTORY, section_count,
                                         file.data + section_count, file.size - section_count)));
    return file;
}

static void salvage__finds_no_directory_of_more_sections_than_allowed(void **state)
{
    (void)state;
    struct bb_table_id id = {.low = 5, .high = 6};
    for (size_t count = BB_SECTION_COUNT_MAX; count <= BB_SECTION_COUNT_MAX + 1; count++) {
        enum bb_range_tombstone_salvage found = BB_RANGE_SALVAGE_LOST;
        struct bb_range_tombstones *list = NULL;
        struct bb_buf file = file_of_sections(count, id);
        bool is_allowed = count <= BB_SECTION_COUNT_MAX;
        assert_int_equal(bb_range_tombstone_salvage_has_directory(bb_buf_bytes(&file), id),
                         is_allowed);
        assert_ok(
            bb_range_tombstone_salvage(bb_buf_bytes(&file), FIXTURE_PATH, NULL, id, &found, &list));
        assert_int_equal(found, is_allowed ? BB_RANGE_SALVAGE_NONE : BB_RANGE_SALVAGE_UNTOLD);
        assert_null(list);
        bb_buf_deinit(&file);
    }
}

static enum bb_status count_ranges(void *context, const struct bb_range_tombstones *list)
{
    check_list(list);
    *(size_t *)context += list->sequence_count;
    return BB_OK;
}

/* It has no block to prove its id: the directory does. */
static void salvage__of_a_table_of_ranges_alone_believes_its_id(void **state)
{
    (void)state;
    struct world world;
    struct bb_salvage_report report = {0};
    size_t given = 0;
    struct bb_salvage_visitor visitor = {.ranges = count_ranges, .context = &given};
    world_init(&world, false, true);
    bb_file_memory_put(world.memory, "/damaged",
                       bb_bytes_of(world.file.data, (size_t)world.footer_offset));
    assert_ok(
        bb_table_salvage(world.options.file_system, "/damaged", NULL, NULL, &visitor, &report));
    assert_memory_equal(report.table_id, world.id, BB_TABLE_ID_SIZE);
    assert_int_equal(given, 5);
    assert_int_equal(report.range_tombstones, 5);
    assert_int_equal(report.ranges, BB_RANGE_SALVAGE_FOUND);
    assert_int_equal(report.blocks, 0);
    world_deinit(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(salvage__finds_ranges_that_can_be_proved),
        cmocka_unit_test(salvage__knows_that_there_are_none),
        cmocka_unit_test(salvage__takes_no_ranges_of_another_table_or_place),
        cmocka_unit_test(salvage__finds_no_directory_of_more_sections_than_allowed),
        cmocka_unit_test(salvage__of_a_table_of_ranges_alone_believes_its_id),
    };
    return cmocka_run_group_tests_name("range_tombstone_salvage", tests, NULL, NULL);
}
