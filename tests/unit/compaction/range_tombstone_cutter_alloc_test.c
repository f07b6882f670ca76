/* Goal: a merge that cannot read the range tombstones of one input is reported, also if those of
 * others were read. Method: inputs that are not open yet; each allocation fails. */
#include "compaction/merge/range_tombstone_cutter.h"

#include "tests/support/alloc/alloc_fault.h"
#include "tests/unit/compaction/shelf.h"

#define TABLES 3

static struct bb_table_file *put_table(struct shelf *shelf, int index)
{
    struct bb_table_builder *builder = NULL;
    struct bb_table_file *file = NULL;
    struct bb_table_meta meta = {0};
    char path[BB_PATH_SIZE_MAX];
    uint64_t number = shelf_number(shelf);
    char key[8];
    snprintf(key, sizeof(key), "k%02d", index);
    shelf_path(shelf, number, path);
    assert_ok(bb_table_builder_create(path, &shelf->env.options, &builder));
    assert_ok(bb_table_builder_add_range_tombstone(builder, bb_bytes_of_text(key),
                                                   bb_bytes_of_text("z"), 50 + (uint64_t)index));
    assert_ok(bb_table_builder_finish(builder, &meta));
    bb_table_builder_destroy(builder);
    assert_ok(bb_table_file_create(&shelf->env, number, &meta, &file));
    bb_table_meta_deinit(&meta);
    return file;
}

static enum bb_status init(uint64_t nth, bool *ret_has_failed)
{
    struct shelf shelf;
    struct bb_table_file *inputs[TABLES];
    struct bb_range_tombstone_cutter cutter;
    struct bb_retain retain;
    shelf_init(&shelf, NULL);
    for (int i = 0; i < TABLES; i++)
        inputs[i] = put_table(&shelf, i);
    bb_retain_init(&retain, NULL, 0, NULL);
    bb_alloc_fault_arm(nth, false);
    enum bb_status status = bb_range_tombstone_cutter_init(&cutter, inputs, TABLES, &retain);
    *ret_has_failed = bb_alloc_fault_failures() > 0;
    bb_alloc_fault_disarm();
    if (status == BB_OK)
        assert_int_equal(cutter.list->count, TABLES);
    bb_range_tombstone_cutter_deinit(&cutter);
    bb_retain_deinit(&retain);
    for (int i = 0; i < TABLES; i++)
        bb_table_file_unref(inputs[i]);
    shelf_deinit(&shelf);
    return status;
}

static void range_tombstone_cutter__without_memory(void **state)
{
    (void)state;
    uint64_t live = bb_alloc_fault_live();
    bool has_failed = true;
    uint64_t nth = 0;
    while (has_failed) {
        enum bb_status status = init(++nth, &has_failed);
        assert_status(status, has_failed ? BB_NO_MEMORY : BB_OK);
        assert_int_equal(bb_alloc_fault_live(), live);
    }
    assert_true(nth > TABLES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(range_tombstone_cutter__without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
