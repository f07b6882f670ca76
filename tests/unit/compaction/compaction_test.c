/* Goal: a compaction writes exactly the surviving entries, cut only where permitted, and a failed
 * one changes nothing. Method: random runs of real tables in memory, merged under random snapshots,
 * steps and table sizes, compared with a judge that walks a sorted list and implements the
 * definition of required entries; every call of the file seam fails one by one; inputs that
 * contradict their properties. */
#include "tests/unit/compaction/merge_scene.h"
#include "tests/unit/compaction/table_bounds.h"

#include "tests/support/file_fault.h"

/* ---- the judge ---- */

static bool is_below(const struct merge_scene *store, struct bb_bytes key)
{
    for (size_t i = 0; i < bb_levels_table_count(store->levels, 3); i++) {
        if (table_bounds_contain(bb_levels_table(store->levels, 3, i), store->comparator, key))
            return true;
    }
    return false;
}

static bool is_needed(const struct merge_scene *store, size_t index)
{
    const struct bb_entry *entry = &store->inputs.entries[index];
    bool is_newest = index == 0 || !is_same_key(&store->inputs, index - 1, index);
    bool is_seen = is_newest;
    bool has_older_reader = false;
    for (size_t i = 0; i < store->snapshot_count; i++) {
        uint64_t snapshot = store->snapshots[i];
        is_seen = is_seen || (snapshot >= entry->sequence &&
                              snapshot < store->inputs.entries[index - 1].sequence);
        has_older_reader = has_older_reader || snapshot < entry->sequence;
    }
    bool is_idle =
        entry->kind == BB_ENTRY_DELETE && !has_older_reader && !is_below(store, entry->key);
    return is_seen && !is_idle;
}

static void expect(const struct merge_scene *store, struct bb_entry_array *ret_expected)
{
    ret_expected->comparator = store->comparator;
    for (size_t i = 0; i < store->inputs.count; i++) {
        if (is_needed(store, i))
            bb_entry_array_add(ret_expected, &store->inputs.entries[i]);
    }
}

/* ---- checking the outputs ---- */

static void read_output(struct merge_scene *store, const struct bb_compact_output *output,
                        struct bb_entry_array *all)
{
    static const struct bb_read_options options;
    struct bb_table *table = NULL;
    struct bb_iter *iter = NULL;
    char path[BB_PATH_SIZE_MAX];
    size_t before = all->count;
    shelf_path(&store->shelf, output->number, path);
    assert_ok(bb_table_open(path, &store->shelf.env.options, &table));
    assert_ok(bb_table_iter_create(table, &options, NULL, &iter));
    bb_entry_array_read(all, iter);
    assert_int_equal(iter->status, BB_OK);
    assert_int_equal(all->count - before, output->meta.entry_count);
    if (before > 0)
        assert_false(is_same_key(all, before - 1, before)); /* versions of a key are in one table */
    bb_iter_destroy(iter);
    bb_table_close(table);
}

static uint64_t overlap_below(const struct merge_scene *store, const struct bb_table_meta *meta)
{
    uint64_t bytes = 0;
    size_t first = 0;
    size_t end = 0;
    bb_run_find_overlap(bb_levels_run(store->levels, 3, 0), NULL, bb_buf_bytes(&meta->smallest),
                        bb_buf_bytes(&meta->largest), &first, &end);
    for (size_t i = first; i < end; i++)
        bytes += bb_levels_table(store->levels, 3, i)->meta.file_size;
    return bytes;
}

static uint64_t largest_below(const struct merge_scene *store)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < bb_levels_table_count(store->levels, 3); i++) {
        uint64_t size = bb_levels_table(store->levels, 3, i)->meta.file_size;
        bytes = size > bytes ? size : bytes;
    }
    return bytes;
}

/* Reads the outputs, and returns the size of their files. */
static uint64_t read_outputs(struct merge_scene *store, const struct bb_compaction *compaction,
                             uint64_t table_size_bytes, struct bb_entry_array *found)
{
    size_t count = 0;
    uint64_t written = 0;
    const struct bb_compact_output *outputs = bb_compaction_outputs(compaction, &count);
    for (size_t i = 0; i < count; i++) {
        read_output(store, &outputs[i], found);
        written += outputs[i].meta.file_size;
        assert_true(outputs[i].meta.filter_rate == 0.02);
        /* It may end before the table that exceeded the limit does, and begins in an uncounted
         * one. */
        assert_true(overlap_below(store, &outputs[i].meta) <=
                    10 * table_size_bytes + 3 * largest_below(store));
    }
    return written;
}

static void check_result(struct merge_scene *store, const struct bb_compaction *compaction,
                         uint64_t table_size_bytes)
{
    struct bb_entry_array found = {.comparator = store->comparator};
    struct bb_entry_array expected = {0};
    const struct bb_compact_counts *counts = bb_compaction_counts(compaction);
    uint64_t written = read_outputs(store, compaction, table_size_bytes, &found);
    expect(store, &expected);
    assert_true(bb_entry_array_equal(&found, &expected));
    assert_int_equal(counts->entries_in, store->inputs.count);
    assert_int_equal(counts->entries_kept, expected.count);
    assert_int_equal(counts->bytes_written, written);
    bb_entry_array_deinit(&found);
    bb_entry_array_deinit(&expected);
}

static enum bb_status run_all(struct bb_compaction *compaction, uint64_t step)
{
    bool is_done = false;
    enum bb_status status = BB_OK;
    while (status == BB_OK && !is_done)
        status = bb_compaction_step(compaction, step, &is_done);
    return status;
}

static enum bb_status run_and_check(struct bb_compaction *compaction, uint64_t step)
{
    enum bb_status status = run_all(compaction, step);
    return status == BB_OK ? bb_compaction_check(compaction, NULL) : status;
}

static int compare_backward(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    return bb_bytes_compare(b, a);
}

static const struct bb_comparator backward = {.name = "backward", .compare = compare_backward};

static void compaction__keeps_what_is_needed(void **state)
{
    (void)state;
    struct bb_rng rng;
    size_t cuts = 0;
    bb_rng_init(&rng, bb_rng_seed("compaction__keeps_what_is_needed", 17));
    for (int round = 0; round < 150; round++) {
        struct merge_scene store;
        struct bb_plan plan = {0};
        struct bb_compaction *compaction = NULL;
        size_t count = 0;
        uint64_t table_size_bytes = 300 + bb_rng_skewed(&rng, 10000);
        store_init(&store, &rng, round % 5 == 4 ? &backward : NULL);
        store_plan(&store, &plan);
        struct bb_compact_options options = options_of(&store, table_size_bytes);
        assert_ok(bb_compaction_create(&plan, store.levels, &options, &compaction));
        assert_null(plan.inputs);
        assert_ok(run_and_check(compaction, 1 + bb_rng_skewed(&rng, 500)));
        check_result(&store, compaction, table_size_bytes);
        (void)bb_compaction_outputs(compaction, &count);
        cuts += count > 1;
        bb_compaction_destroy(compaction); /* not committed: the outputs go */
        assert_int_equal(store.shelf.removed_count, count);
        store_deinit(&store);
    }
    assert_true(cuts > 50);
}

/* Divides the compaction at a key above the next one, if it still has such keys. */
static struct bb_compaction *divide(struct merge_scene *store, struct bb_rng *rng,
                                    struct bb_compaction *lower, const struct bb_bytes *key)
{
    struct bb_compaction *upper = NULL;
    struct bb_bytes next;
    for (uint64_t steps = bb_rng_below(rng, 40); steps > 0; steps--) {
        bool is_done = false;
        if (!bb_compaction_next_key(lower, &next) ||
            bb_key_compare(store->comparator, next, *key) >= 0)
            return NULL;
        assert_ok(bb_compaction_step(lower, 1 + bb_rng_below(rng, 10), &is_done));
    }
    if (bb_compaction_next_key(lower, &next) && bb_key_compare(store->comparator, next, *key) < 0)
        assert_ok(bb_compaction_divide(lower, key, &upper));
    return upper;
}

/* Wherever a compaction is divided, the parts give the same entries as the whole. */
static void compaction__in_two_parts(void **state)
{
    (void)state;
    struct bb_rng rng;
    int divided = 0;
    bb_rng_init(&rng, bb_rng_seed("compaction__in_two_parts", 19));
    for (int round = 0; round < 200; round++) {
        struct merge_scene store;
        struct bb_plan plan = {0};
        struct bb_compaction *lower = NULL;
        uint64_t table_size_bytes = 300 + bb_rng_skewed(&rng, 10000);
        store_init(&store, &rng, round % 5 == 4 ? &backward : NULL);
        struct bb_bytes key = store.inputs.entries[bb_rng_below(&rng, store.inputs.count)].key;
        struct bb_compact_options options = options_of(&store, table_size_bytes);
        store_plan(&store, &plan);
        assert_ok(bb_compaction_create(&plan, store.levels, &options, &lower));
        struct bb_compaction *upper = divide(&store, &rng, lower, &key);
        struct bb_entry_array found = {.comparator = store.comparator};
        struct bb_entry_array expected = {0};
        assert_ok(run_all(lower, 1 + bb_rng_skewed(&rng, 500)));
        (void)read_outputs(&store, lower, table_size_bytes, &found);
        if (upper != NULL) {
            divided++;
            assert_ok(run_all(upper, 1 + bb_rng_skewed(&rng, 500)));
            (void)read_outputs(&store, upper, table_size_bytes, &found);
        }
        expect(&store, &expected);
        assert_true(bb_entry_array_equal(&found, &expected));
        assert_ok(bb_compaction_check(lower, upper));
        bb_entry_array_deinit(&found);
        bb_entry_array_deinit(&expected);
        bb_compaction_destroy(lower);
        bb_compaction_destroy(upper);
        store_deinit(&store);
    }
    assert_in_range(divided, 30, 150);
}

/* A value with a separate block is copied in its stored form. */
static void compaction__passes_large_values_on(void **state)
{
    (void)state;
    struct bb_rng rng;
    uint64_t as_stored = 0;
    bb_rng_init(&rng, bb_rng_seed("compaction__passes_large_values_on", 18));
    for (int round = 0; round < 6; round++) {
        struct merge_scene store;
        struct bb_plan plan = {0};
        struct bb_compaction *compaction = NULL;
        store_init_with(&store, &rng, round % 3 == 2 ? &backward : NULL, 30000);
        store_plan(&store, &plan);
        struct bb_compact_options options = options_of(&store, 100 << 10);
        assert_ok(bb_compaction_create(&plan, store.levels, &options, &compaction));
        assert_ok(run_and_check(compaction, 1 + bb_rng_skewed(&rng, 500)));
        check_result(&store, compaction, 100 << 10);
        as_stored += bb_compaction_counts(compaction)->entries_as_stored;
        bb_compaction_destroy(compaction);
        store_deinit(&store);
    }
    assert_true(as_stored > 100);
}

static void compaction__committed_outputs_stay(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct merge_scene store;
    struct bb_plan plan = {0};
    struct bb_compaction *compaction = NULL;
    size_t count = 0;
    bb_rng_init(&rng, 4);
    store_init(&store, &rng, NULL);
    store_plan(&store, &plan);
    struct bb_compact_options options = options_of(&store, 2000);
    assert_ok(bb_compaction_create(&plan, store.levels, &options, &compaction));
    assert_ok(run_and_check(compaction, 100));
    const struct bb_compact_output *outputs = bb_compaction_outputs(compaction, &count);
    uint64_t number = outputs[count - 1].number;
    assert_true(count > 1);
    bb_compaction_commit(compaction);
    bb_compaction_destroy(compaction);
    assert_int_equal(store.shelf.removed_count, 0);
    assert_true(shelf_has(&store.shelf, number));
    store_deinit(&store);
}

static void compaction__abandoned_half_way(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, 5);
    for (uint64_t steps = 0; steps < 30; steps++) {
        struct merge_scene store;
        struct bb_plan plan = {0};
        struct bb_compaction *compaction = NULL;
        bool is_done = false;
        store_init(&store, &rng, NULL);
        uint64_t inputs_end = store.shelf.last_number;
        store_plan(&store, &plan);
        struct bb_compact_options options = options_of(&store, 500);
        assert_ok(bb_compaction_create(&plan, store.levels, &options, &compaction));
        for (uint64_t i = 0; i < steps && !is_done; i++)
            assert_ok(bb_compaction_step(compaction, 7, &is_done));
        bb_compaction_destroy(compaction);
        for (uint64_t number = 1; number <= store.shelf.last_number; number++)
            assert_int_equal(shelf_has(&store.shelf, number), number <= inputs_end);
        store_deinit(&store);
    }
}

/* Distant entries over a run with many tables in between: outputs are cut long before the requested
 * size. older_count: of runs of one table below this run. */
static void check_cuts(uint64_t older_count)
{
    enum { BELOW = 60 };
    struct merge_scene store = {0};
    struct bb_plan plan = {0};
    struct bb_compaction *compaction = NULL;
    struct bb_level_change changes[BELOW + 2];
    struct bb_table_file *files[BELOW];
    struct bb_entry_array below = {0};
    size_t count = 0;
    char key[16];
    char value[600];
    memset(value, 'v', sizeof(value));
    value[sizeof(value) - 1] = '\0';
    shelf_init(&store.shelf, NULL);
    for (int i = 0; i < BELOW; i++) {
        snprintf(key, sizeof(key), "%03d", i);
        bb_entry_array_add_text(&below, key, 1, value);
        bb_entry_array_add_text(&store.inputs, key, 2, "");
    }
    assert_int_equal(shelf_put_run(&store.shelf, &below, 1, files), BELOW);
    for (size_t i = 0; i < BELOW; i++)
        changes[i] = (struct bb_level_change){.level = 3, .run = older_count, .file = files[i]};
    changes[BELOW].level = 0;
    changes[BELOW].file = shelf_put(&store.shelf, &store.inputs, 0, BELOW);
    changes[BELOW + 1] = (struct bb_level_change){
        .level = 3, .run = 0, .file = shelf_put(&store.shelf, &below, 0, 1)};
    struct bb_levels *empty = NULL;
    assert_ok(bb_levels_create_empty(NULL, &empty));
    assert_ok(bb_levels_apply(empty, NULL, 0, changes, BELOW + 1 + older_count, &store.levels));
    store_plan(&store, &plan);
    /* Ten of the tables below are the limit. */
    uint64_t table_size_bytes = files[0]->meta.file_size;
    struct bb_compact_options options = options_of(&store, table_size_bytes);
    assert_ok(bb_compaction_create(&plan, store.levels, &options, &compaction));
    assert_ok(run_and_check(compaction, 1000));
    const struct bb_compact_output *outputs = bb_compaction_outputs(compaction, &count);
    assert_int_equal(count, (BELOW + 10) / 11);
    for (size_t i = 0; i < count; i++)
        assert_true(outputs[i].meta.entry_count <= 11);
    check_result(&store, compaction, table_size_bytes);
    bb_compaction_destroy(compaction);
    for (size_t i = 0; i < BELOW + 2; i++)
        bb_table_file_unref(changes[i].file);
    bb_levels_unref(empty);
    bb_entry_array_deinit(&below);
    store_deinit(&store);
}

static void compaction__cuts_where_too_much_lies_below(void **state)
{
    (void)state;
    check_cuts(0);
    check_cuts(1);
}

static void compaction__everything_deleted_leaves_nothing(void **state)
{
    (void)state;
    struct merge_scene store = {0};
    struct bb_plan plan = {0};
    struct bb_compaction *compaction = NULL;
    struct bb_level_change changes[2];
    struct bb_entry_array old = {0};
    struct bb_entry_array new = {0};
    size_t count = 99;
    shelf_init(&store.shelf, NULL);
    bb_entry_array_add_text(&old, "key", 1, "value");
    bb_entry_array_add_text(&new, "key", 2, NULL);
    changes[0] = (struct bb_level_change){.level = 2, .file = shelf_put(&store.shelf, &old, 0, 1)};
    changes[1] = (struct bb_level_change){.level = 0, .file = shelf_put(&store.shelf, &new, 0, 1)};
    struct bb_levels *empty = NULL;
    assert_ok(bb_levels_create_empty(NULL, &empty));
    assert_ok(bb_levels_apply(empty, NULL, 0, changes, 2, &store.levels));
    store_plan(&store, &plan);
    struct bb_compact_options options = options_of(&store, 500);
    assert_ok(bb_compaction_create(&plan, store.levels, &options, &compaction));
    assert_ok(run_and_check(compaction, 1));
    (void)bb_compaction_outputs(compaction, &count);
    assert_int_equal(count, 0);
    assert_int_equal(bb_compaction_counts(compaction)->entries_in, 2);
    assert_int_equal(bb_compaction_counts(compaction)->entries_kept, 0);
    bb_compaction_destroy(compaction);
    for (size_t i = 0; i < 2; i++)
        bb_table_file_unref(changes[i].file);
    bb_levels_unref(empty);
    bb_entry_array_deinit(&old);
    bb_entry_array_deinit(&new);
    store_deinit(&store);
}

/* An input with fewer entries than expected: the rest was lost somewhere, and must not be lost for
 * good. Opening it would find the count wrong: it is open. */
static void compaction__corrupt_entry_count(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct merge_scene store;
    struct bb_plan plan = {0};
    struct bb_compaction *compaction = NULL;
    bb_rng_init(&rng, 6);
    store_init(&store, &rng, NULL);
    struct bb_table *table = NULL;
    assert_ok(bb_table_file_open(bb_levels_table(store.levels, 0, 0), &table));
    bb_levels_table(store.levels, 0, 0)->meta.entry_count++;
    store_plan(&store, &plan);
    struct bb_compact_options options = options_of(&store, 500);
    assert_ok(bb_compaction_create(&plan, store.levels, &options, &compaction));
    assert_status(run_and_check(compaction, 50), BB_CORRUPT);
    bb_compaction_destroy(compaction);
    assert_true(store.shelf.removed_count > 0);
    store_deinit(&store);
}

/* One compaction with the n-th call of a kind failing; false when there were fewer calls. */
static bool compact_with_fault(enum bb_file_call call, uint64_t nth)
{
    struct bb_rng rng;
    struct merge_scene store;
    struct bb_plan plan = {0};
    struct bb_compaction *compaction = NULL;
    bb_rng_init(&rng, 9);
    store_init(&store, &rng, NULL);
    struct bb_file_fault *fault = bb_file_fault_create(store.shelf.system);
    store.shelf.env.options.file_system = bb_file_fault_system(fault);
    uint64_t inputs_end = store.shelf.last_number;
    const struct bb_file_fault_plan fails = {.mode = BB_FILE_FAULT_ERROR, .call = call, .nth = nth};
    store_plan(&store, &plan);
    struct bb_compact_options options = options_of(&store, 600);
    bb_file_fault_arm(fault, &fails);
    enum bb_status status = bb_compaction_create(&plan, store.levels, &options, &compaction);
    if (status == BB_OK)
        status = run_and_check(compaction, 40);
    bool was_hit = bb_file_fault_hits(fault) > 0;
    bb_file_fault_disarm(fault);
    /* An output is created again after files were closed. */
    bool is_repeated = call == BB_FILE_CALL_CREATE || call == BB_FILE_CALL_RANDOM;
    assert_true(status == (was_hit ? BB_IO : BB_OK) || (is_repeated && status == BB_OK));
    assert_int_equal(bb_file_fault_writes_after_failure(fault), 0);
    if (status == BB_OK)
        check_result(&store, compaction, 600);
    bb_compaction_destroy(compaction);
    for (uint64_t number = 1; number <= store.shelf.last_number; number++)
        assert_int_equal(shelf_has(&store.shelf, number), number <= inputs_end);
    bb_levels_unref(store.levels);
    store.levels = NULL;
    bb_file_fault_destroy(fault);
    store_deinit(&store);
    return was_hit;
}

static void compaction__any_call_may_fail(void **state)
{
    (void)state;
    static const enum bb_file_call calls[] = {BB_FILE_CALL_OPEN,   BB_FILE_CALL_READ_AT,
                                              BB_FILE_CALL_CREATE, BB_FILE_CALL_APPEND,
                                              BB_FILE_CALL_SYNC,   BB_FILE_CALL_CLOSE};
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        uint64_t nth = 1;
        while (compact_with_fault(calls[i], nth))
            nth++;
        assert_true(nth > 2);
    }
}

/* ---- a stream to one table ---- */

static void compaction_to_table__drops_what_nobody_sees(void **state)
{
    (void)state;
    struct shelf shelf;
    struct bb_entry_array array = {0};
    struct bb_entry_array found = {0};
    struct bb_entry_array expected = {0};
    struct bb_table_meta meta = {0};
    const uint64_t snapshots[] = {4};
    shelf_init(&shelf, NULL);
    for (uint64_t sequence = 1; sequence <= 6; sequence++)
        bb_entry_array_add_text(&array, "a", sequence, "value");
    bb_entry_array_add_text(&array, "b", 3, "value");
    bb_entry_array_add_text(&array, "b", 7, NULL);
    bb_entry_array_sort(&array);
    bb_entry_array_add_text(&expected, "a", 6, "value");
    bb_entry_array_add_text(&expected, "a", 4, "value");
    bb_entry_array_add_text(&expected, "b", 7, NULL);
    bb_entry_array_add_text(&expected, "b", 3, "value");
    struct bb_iter *iter = bb_entry_array_iter(&array);
    assert_ok(bb_compaction_to_table(iter, NULL, "/000001", &shelf.env.options, snapshots, 1, NULL,
                                     &meta));
    assert_int_equal(meta.entry_count, 4);
    assert_int_equal(meta.key_count, 2);
    assert_int_equal(meta.tombstone_count, 1);
    struct merge_scene store = {.shelf = shelf};
    struct bb_compact_output output = {.number = 1, .meta = meta};
    read_output(&store, &output, &found);
    assert_true(bb_entry_array_equal(&found, &expected));
    bb_iter_destroy(iter);
    bb_table_meta_deinit(&meta);
    bb_entry_array_deinit(&array);
    bb_entry_array_deinit(&found);
    bb_entry_array_deinit(&expected);
    shelf_deinit(&shelf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compaction__keeps_what_is_needed),
        cmocka_unit_test(compaction__in_two_parts),
        cmocka_unit_test(compaction__passes_large_values_on),
        cmocka_unit_test(compaction__committed_outputs_stay),
        cmocka_unit_test(compaction__abandoned_half_way),
        cmocka_unit_test(compaction__cuts_where_too_much_lies_below),
        cmocka_unit_test(compaction__everything_deleted_leaves_nothing),
        cmocka_unit_test(compaction__corrupt_entry_count),
        cmocka_unit_test(compaction__any_call_may_fail),
        cmocka_unit_test(compaction_to_table__drops_what_nobody_sees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
