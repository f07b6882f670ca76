/* Goal: a compaction without memory reports it, removes its files, and leaks nothing. Method: every
 * allocation of a whole compaction fails one by one, each once separately and once with all later
 * ones. */
#include "tests/unit/compaction/shelf.h"

#include "compaction/merge/compaction.h"
#include "tests/support/alloc/alloc_fault.h"

#define TABLES_MAX 20

struct scene {
    struct shelf shelf;
    struct bb_levels *levels;
};

static void add_run(struct scene *scene, int level, uint64_t sequence, size_t entries_per_table)
{
    struct bb_table_file *files[TABLES_MAX];
    struct bb_level_change changes[TABLES_MAX];
    struct bb_levels *next = NULL;
    struct bb_entry_array run = {0};
    for (int i = 0; i < 40; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%d", i * 7 % 40);
        bb_entry_array_add_text(&run, key, sequence,
                                i % 5 == 0 ? NULL : "some value, not too short");
    }
    bb_entry_array_sort(&run);
    size_t count = shelf_put_run(&scene->shelf, &run, entries_per_table, files);
    for (size_t i = 0; i < count; i++)
        changes[i] = (struct bb_level_change){.level = level, .file = files[i]};
    assert_ok(bb_levels_apply(scene->levels, NULL, 0, changes, count, &next));
    bb_levels_unref(scene->levels);
    scene->levels = next;
    for (size_t i = 0; i < count; i++)
        bb_table_file_unref(files[i]);
    bb_entry_array_deinit(&run);
}

static enum bb_status run(struct bb_compaction *compaction)
{
    bool is_done = false;
    enum bb_status status = BB_OK;
    while (status == BB_OK && !is_done)
        status = bb_compaction_step(compaction, 25, &is_done);
    return status;
}

static enum bb_status compact_all(void *context)
{
    struct scene *scene = context;
    const uint64_t snapshots[] = {1};
    const struct bb_pick_options picking = {.shape = {1, 1 << 20, 10, BB_COMPACTION_DEFAULT},
                                            .target_wasted_reads = 0.01};
    struct bb_compact_options options = {.env = &scene->shelf.env,
                                         .table = scene->shelf.env.options,
                                         .table_size_bytes = 300,
                                         .snapshots = snapshots,
                                         .snapshot_count = 1,
                                         .new_number = shelf_new_number,
                                         .context = &scene->shelf};
    struct bb_plan plan = {0};
    struct bb_compaction *compaction = NULL;
    enum bb_status status = bb_pick_all(scene->levels, &picking, &plan);
    if (status == BB_OK)
        status = bb_compaction_create(&plan, scene->levels, &options, &compaction);
    if (status == BB_OK)
        status = run(compaction);
    bb_compaction_destroy(compaction);
    return status;
}

static void compaction__without_memory(void **state)
{
    (void)state;
    struct scene scene = {0};
    shelf_init(&scene.shelf, NULL);
    assert_ok(bb_levels_create_empty(NULL, &scene.levels));
    add_run(&scene, 1, 1, 15);
    add_run(&scene, 0, 2, 100);
    uint64_t inputs_end = scene.shelf.last_number;
    assert_ok(compact_all(&scene)); /* opens the inputs, which stay open */
    assert_true(bb_alloc_fault_sweep(compact_all, &scene, false) > 20);
    for (uint64_t number = 1; number <= scene.shelf.last_number; number++)
        assert_int_equal(shelf_has(&scene.shelf, number), number <= inputs_end);
    bb_levels_unref(scene.levels);
    shelf_deinit(&scene.shelf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compaction__without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
