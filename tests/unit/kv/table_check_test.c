/* Goal: a table is accepted as the one named by the manifest only if it agrees with the manifest's
 * whole description. Method: a table in memory, and its description with one field changed. */
#include "sstable/table/table_check.h"

#include "base/buf.h"
#include "base/bytes.h"
#include "tests/support/assert_status.h"
#include "tests/support/file_memory.h"

#define PATH "/000003.bbt"

struct scene {
    struct bb_file_memory *memory;
    struct bb_table_options options;
    struct bb_table_meta meta;
};

static void scene_init(struct scene *scene)
{
    struct bb_table_builder *builder = NULL;
    *scene = (struct scene){.memory = bb_file_memory_create(1)};
    scene->options.file_system = bb_file_memory_system(scene->memory);
    assert_ok(bb_table_builder_create(PATH, &scene->options, &builder));
    for (uint64_t i = 0; i < 26; i++) {
        uint8_t key = (uint8_t)('a' + i);
        struct bb_entry entry = {
            .key = bb_bytes_of(&key, 1), .sequence = 10 + i, .kind = BB_ENTRY_PUT};
        assert_ok(bb_table_builder_add(builder, &entry));
    }
    assert_ok(bb_table_builder_finish(builder, &scene->meta));
    bb_table_builder_destroy(builder);
}

static void scene_deinit(struct scene *scene)
{
    bb_table_meta_deinit(&scene->meta);
    bb_file_memory_destroy(scene->memory);
}

static enum bb_status check(const struct scene *scene, const struct bb_table_meta *wanted)
{
    struct bb_table_verify_report report = {.entries = 1234};
    enum bb_status status = bb_table_check(PATH, &scene->options, wanted, &report);
    assert_int_equal(report.entries, status == BB_OK ? 26 : 1234); /* untouched on failure */
    return status;
}

static void refuse(const struct scene *scene, const struct bb_table_meta *wanted,
                   const char *message)
{
    assert_status(check(scene, wanted), BB_CORRUPT);
    assert_message(PATH);
    assert_message(message);
}

static void table_check__the_table_itself(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    assert_ok(check(&scene, &scene.meta));
    struct bb_table_verify_report report;
    assert_status(bb_table_check("/no", &scene.options, &scene.meta, &report), BB_NOT_FOUND);
    scene_deinit(&scene);
}

static void table_check__every_field_is_compared(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    struct bb_table_meta wanted = scene.meta; /* its bounds are borrowed */
    wanted.table_id[15] ^= 1;
    refuse(&scene, &wanted, "another table than the one the manifest names");
    wanted = scene.meta;
    uint64_t *const counts[] = {
        &wanted.file_size,   &wanted.entry_count,     &wanted.key_count,
        &wanted.block_count, &wanted.tombstone_count, &wanted.range_tombstone_count,
        &wanted.raw_bytes,   &wanted.filter_bytes,    &wanted.table_filter_bytes};
    static const char *const names[] = {" bytes, the manifest has",
                                        "26 entries, the manifest has 27",
                                        "26 keys, the manifest has 27",
                                        " blocks, the manifest has",
                                        "0 tombstones, the manifest has 1",
                                        "0 range tombstones, the manifest has 1",
                                        " raw bytes, the manifest has",
                                        " filter bytes, the manifest has",
                                        " table filter bytes, the manifest has"};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        wanted = scene.meta;
        ++*counts[i];
        refuse(&scene, &wanted, names[i]);
    }
    wanted = scene.meta;
    wanted.filter_rate /= 2;
    refuse(&scene, &wanted, "filters of rate");
    wanted = scene.meta;
    wanted.table_filter_rate /= 2;
    refuse(&scene, &wanted, "filters of rate");
    wanted = scene.meta;
    wanted.sequence_min--;
    refuse(&scene, &wanted, "sequences 10 to 35, the manifest has 9 to 35");
    wanted = scene.meta;
    wanted.sequence_max++;
    refuse(&scene, &wanted, "sequences 10 to 35, the manifest has 10 to 36");
    scene_deinit(&scene);
}

static void table_check__the_bounds_are_compared(void **state)
{
    (void)state;
    struct scene scene;
    struct bb_buf other = {0};
    scene_init(&scene);
    assert_ok(bb_buf_assign(&other, bb_bytes_of_text("aa")));
    struct bb_table_meta wanted = scene.meta; /* its bounds are borrowed */
    wanted.smallest = other;
    refuse(&scene, &wanted, "the range of keys differs");
    wanted = scene.meta;
    wanted.largest = other;
    refuse(&scene, &wanted, "the range of keys differs");
    wanted = scene.meta;
    wanted.largest_is_exclusive = true;
    refuse(&scene, &wanted, "the range of keys differs");
    bb_buf_deinit(&other);
    scene_deinit(&scene);
}

static void table_check__damage_comes_first(void **state)
{
    (void)state;
    struct scene scene;
    size_t size = 0;
    scene_init(&scene);
    uint8_t *bytes = bb_file_memory_bytes(scene.memory, PATH, &size);
    bytes[size / 2] ^= 1;
    assert_status(check(&scene, &scene.meta), BB_CORRUPT);
    scene_deinit(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_check__the_table_itself),
        cmocka_unit_test(table_check__every_field_is_compared),
        cmocka_unit_test(table_check__the_bounds_are_compared),
        cmocka_unit_test(table_check__damage_comes_first),
    };
    return cmocka_run_group_tests_name("table_check", tests, NULL, NULL);
}
