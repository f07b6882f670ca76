/* Random levels of real tables in memory, and a compaction of the upper ones. */
#ifndef BB_TESTS_UNIT_COMPACTION_MERGE_SCENE_H
#define BB_TESTS_UNIT_COMPACTION_MERGE_SCENE_H

#include "tests/unit/compaction/shelf.h"

#include "compaction/merge/compaction.h"
#include "tests/support/must_alloc.h"

#define RUNS_MAX      4
#define TABLES_MAX    200
#define SNAPSHOTS_MAX 4

/* A store's levels: runs of level 0, a run each in level 1 and 2 and, below the output, in level 3.
 */
struct merge_scene {
    struct shelf shelf;
    const struct bb_comparator *comparator;
    struct bb_entry_array inputs; /* of the levels that will be merged */
    struct bb_levels *levels;
    uint64_t snapshots[SNAPSHOTS_MAX];
    size_t snapshot_count;
    size_t value_size_max;
};

/* One of few keys, so that there are many versions. */
static inline struct bb_bytes draw_key(struct bb_rng *rng, uint8_t *key, uint64_t key_count)
{
    uint64_t number = bb_rng_below(rng, key_count);
    memset(key, 'k', 4);
    key[4] = (uint8_t)(number >> 8);
    key[5] = (uint8_t)number;
    return bb_bytes_of(key, 4 + 2 + number % 3 * (number % 2));
}

/* Entries with sequences from *sequence on, in sorted order; the array also gets them. */
static inline void draw_run(struct merge_scene *store, struct bb_rng *rng, size_t count,
                            uint64_t *sequence, uint64_t key_count, struct bb_entry_array *run)
{
    uint8_t key[8] = {0};
    uint8_t *value = bb_must_realloc(NULL, store->value_size_max);
    run->comparator = store->comparator;
    for (size_t i = 0; i < count; i++) {
        struct bb_entry entry = {.key = draw_key(rng, key, key_count), .sequence = ++*sequence};
        memset(value, (int)(*sequence & 0xff), store->value_size_max);
        if (store->value_size_max > 1000) /* of which some should not compress */
            bb_rng_bytes(rng, value, bb_rng_below(rng, store->value_size_max));
        if (!bb_rng_one_in(rng, 3)) {
            entry.kind = BB_ENTRY_PUT;
            entry.value = bb_bytes_of(value, bb_rng_below(rng, store->value_size_max));
        }
        bb_entry_array_add(run, &entry);
    }
    bb_entry_array_sort(run);
    free(value);
}

static inline void add_run(struct merge_scene *store, struct bb_rng *rng, int level, size_t count,
                           uint64_t *sequence, uint64_t key_count)
{
    struct bb_table_file *files[TABLES_MAX];
    struct bb_level_change changes[TABLES_MAX];
    struct bb_levels *next = NULL;
    struct bb_entry_array run = {0};
    draw_run(store, rng, count, sequence, key_count, &run);
    size_t tables =
        shelf_put_run(&store->shelf, &run, level == 0 ? run.count + 1 : 1 + run.count / 4, files);
    for (size_t i = 0; i < tables; i++)
        changes[i] = (struct bb_level_change){.level = level, .file = files[i]};
    assert_ok(bb_levels_apply(store->levels, NULL, 0, changes, tables, &next));
    bb_levels_unref(store->levels);
    store->levels = next;
    for (size_t i = 0; i < tables; i++)
        bb_table_file_unref(files[i]);
    for (size_t i = 0; i < run.count && level < 3; i++)
        bb_entry_array_add(&store->inputs, &run.entries[i]);
    bb_entry_array_deinit(&run);
}

static inline void store_init_with(struct merge_scene *store, struct bb_rng *rng,
                                   const struct bb_comparator *comparator, size_t value_size_max)
{
    uint64_t sequence = 0;
    uint64_t key_count = 1 + bb_rng_below(rng, 2) * 700 + bb_rng_skewed(rng, 400);
    *store = (struct merge_scene){.comparator = comparator,
                                  .inputs = {.comparator = comparator},
                                  .value_size_max = value_size_max};
    shelf_init(&store->shelf, comparator);
    assert_ok(bb_levels_create_empty(comparator, &store->levels));
    /* The oldest first: greater sequences are newer. */
    for (int level = 3; level > 0; level--)
        add_run(store, rng, level, (size_t)bb_rng_skewed(rng, 300), &sequence, key_count);
    for (uint64_t runs = 1 + bb_rng_below(rng, RUNS_MAX); runs > 0; runs--)
        add_run(store, rng, 0, 1 + (size_t)bb_rng_below(rng, 60), &sequence, key_count);
    bb_entry_array_sort(&store->inputs);
    while (store->snapshot_count < SNAPSHOTS_MAX && bb_rng_one_in(rng, 2)) {
        uint64_t after =
            store->snapshot_count == 0 ? 0 : store->snapshots[store->snapshot_count - 1] + 1;
        store->snapshots[store->snapshot_count++] = after + bb_rng_below(rng, sequence);
    }
}

static inline void store_init(struct merge_scene *store, struct bb_rng *rng,
                              const struct bb_comparator *comparator)
{
    store_init_with(store, rng, comparator, 60);
}

static inline void store_deinit(struct merge_scene *store)
{
    bb_levels_unref(store->levels);
    bb_entry_array_deinit(&store->inputs);
    shelf_deinit(&store->shelf);
}

/* Levels 0, 1 and 2 into level 2. */
static inline void store_plan(const struct merge_scene *store, struct bb_plan *plan)
{
    assert_ok(bb_plan_init(plan, store->levels, BB_PLAN_REQUEST, 2));
    for (int level = 0; level <= 2; level++) {
        for (size_t i = 0; i < store->levels->levels[level].run_count; i++)
            bb_plan_add_run(plan, level, bb_levels_run(store->levels, level, i));
    }
}

static inline struct bb_compact_options options_of(struct merge_scene *store,
                                                   uint64_t table_size_bytes)
{
    struct bb_compact_options options = {.env = &store->shelf.env,
                                         .table = store->shelf.env.options,
                                         .table_size_bytes = table_size_bytes,
                                         .snapshots = store->snapshots,
                                         .snapshot_count = store->snapshot_count,
                                         .new_number = shelf_new_number,
                                         .context = &store->shelf};
    options.table.filter_rate = 0.02;
    return options;
}

#endif
