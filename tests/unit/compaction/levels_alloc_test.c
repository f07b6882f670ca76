/* Goal: levels and merges without memory report it, change nothing, and leak nothing. Method: every
 * allocation fails one by one, once separately and once with all later ones. */
#include "tests/unit/compaction/drawing.h"

#include "compaction/merge/merge.h"
#include "compaction/pick/pick.h"
#include "tests/support/alloc/alloc_fault.h"
#include "tests/support/array_iter.h"

struct scene {
    struct drawn_env drawn;
    struct bb_levels *levels;
    struct bb_level_change changes[DRAWN_TABLES_MAX];
    size_t change_count;
};

static enum bb_status apply(void *context)
{
    struct scene *scene = context;
    const uint64_t removed[] = {1, 3};
    struct bb_levels *next = NULL;
    enum bb_status status =
        bb_levels_apply(scene->levels, removed, 2, scene->changes, scene->change_count, &next);
    assert_int_equal(status == BB_OK, next != NULL);
    bb_levels_unref(next);
    return status;
}

static enum bb_status create_file(void *context)
{
    struct scene *scene = context;
    struct bb_table_file *file = NULL;
    const struct bb_table_meta *meta = &scene->changes[0].file->meta;
    enum bb_status status = bb_table_file_create(&scene->drawn.env, 99, meta, &file);
    bb_table_file_unref(file);
    return status;
}

static enum bb_status pick_all(void *context)
{
    struct scene *scene = context;
    const struct bb_pick_options options = {.shape = {4, DRAWN_BYTES, 10, BB_COMPACTION_DEFAULT},
                                            .target_wasted_reads = 0.01};
    struct bb_plan plan = {0};
    enum bb_status status = bb_pick_all(scene->levels, &options, &plan);
    bb_plan_deinit(&plan);
    if (status == BB_OK)
        status = bb_pick(scene->levels, &options, &plan);
    bb_plan_deinit(&plan);
    return status;
}

static void levels__without_memory(void **state)
{
    (void)state;
    struct scene scene = {0};
    drawn_env_init(&scene.drawn);
    const char *drawing = "0: 5[a-z] 4[b-c]\n1: 1[a-d] 2[m-q] 3[r-z]";
    scene.levels = draw(&scene.drawn, drawing);
    scene.change_count = draw_changes(&scene.drawn, "0: 8[a-a]\n1: 6[e-f] 7[r-s]", scene.changes);
    assert_true(bb_alloc_fault_sweep(apply, &scene, false) > 5);
    assert_true(bb_alloc_fault_sweep(create_file, &scene, false) > 1);
    assert_true(bb_alloc_fault_sweep(pick_all, &scene, false) > 1);
    assert_levels(scene.levels, "0: 5[a-z] 4[b-c]\n1: 1[a-d] 2[m-q] 3[r-z]\n");
    release_changes(scene.changes, scene.change_count);
    bb_levels_unref(scene.levels);
    drawn_env_deinit(&scene.drawn);
}

static enum bb_status merge(void *context)
{
    (void)context;
    struct bb_iter *streams[3];
    struct bb_iter *iter = NULL;
    for (size_t i = 0; i < 3; i++)
        streams[i] = bb_array_iter_create(NULL, 0, NULL);
    enum bb_status status = bb_merge_create(streams, 3, NULL, &iter);
    bb_iter_destroy(iter); /* the merge owned the streams in any case */
    return status;
}

static void merge__without_memory(void **state)
{
    (void)state;
    assert_int_equal(bb_alloc_fault_sweep(merge, NULL, false), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels__without_memory),
        cmocka_unit_test(merge__without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
