/* Goal: a search for covered tables that finds no memory is reported, also if later runs could be
 * searched. Method: a range tombstone above runs in three levels; each allocation fails. */
#include "compaction/pick/pick_covered.h"

#include "tests/support/alloc/alloc_fault.h"
#include "tests/unit/compaction/shelf.h"

#define TABLES 12

static struct bb_table_file *put_table(struct shelf *shelf, int index, bool has_range)
{
    struct bb_table_builder *builder = NULL;
    struct bb_table_file *file = NULL;
    struct bb_table_meta meta = {0};
    char path[BB_PATH_SIZE_MAX];
    uint64_t number = shelf_number(shelf);
    char key[8];
    snprintf(key, sizeof(key), "k%02d", index);
    struct bb_entry entry = {.key = bb_bytes_of_text(key), .sequence = 1};
    shelf_path(shelf, number, path);
    assert_ok(bb_table_builder_create(path, &shelf->env.options, &builder));
    if (has_range)
        assert_ok(bb_table_builder_add_range_tombstone(builder, bb_bytes_of_text("a"),
                                                       bb_bytes_of_text("z"), 50));
    else
        assert_ok(bb_table_builder_add(builder, &entry));
    assert_ok(bb_table_builder_finish(builder, &meta));
    bb_table_builder_destroy(builder);
    assert_ok(bb_table_file_create(&shelf->env, number, &meta, &file));
    bb_table_meta_deinit(&meta);
    return file;
}

/* The table of level 0 has the range, the others are below it. */
static struct bb_levels *build(struct shelf *shelf)
{
    struct bb_level_change changes[TABLES];
    struct bb_levels *empty = NULL;
    struct bb_levels *levels = NULL;
    for (int i = 0; i < TABLES; i++)
        changes[i] = (struct bb_level_change){.level = i == 0 ? 0 : 1 + i % 3,
                                              .file = put_table(shelf, i, i == 0)};
    assert_ok(bb_levels_create_empty(NULL, &empty));
    assert_ok(bb_levels_apply(empty, NULL, 0, changes, TABLES, &levels));
    bb_levels_unref(empty);
    for (int i = 0; i < TABLES; i++)
        bb_table_file_unref(changes[i].file);
    return levels;
}

/* Tables are opened, as in a store that has just been opened. */
static enum bb_status pick(uint64_t nth, bool *ret_has_failed)
{
    struct shelf shelf;
    struct bb_plan plan = {0};
    shelf_init(&shelf, NULL);
    struct bb_levels *levels = build(&shelf);
    bb_alloc_fault_arm(nth, false);
    enum bb_status status = bb_pick_covered(levels, NULL, 0, &plan);
    *ret_has_failed = bb_alloc_fault_failures() > 0;
    bb_alloc_fault_disarm();
    if (status == BB_OK)
        assert_int_equal(plan.input_count, TABLES - 1);
    bb_plan_deinit(&plan);
    bb_levels_unref(levels);
    shelf_deinit(&shelf);
    return status;
}

static void pick_covered__without_memory(void **state)
{
    (void)state;
    uint64_t live = bb_alloc_fault_live();
    bool has_failed = true;
    uint64_t nth = 0;
    while (has_failed) {
        enum bb_status status = pick(++nth, &has_failed);
        assert_status(status, has_failed ? BB_NO_MEMORY : BB_OK);
        assert_int_equal(bb_alloc_fault_live(), live);
    }
    assert_true(nth > TABLES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pick_covered__without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
