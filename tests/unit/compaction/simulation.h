/* A store without files: the keys of its tables are sets of numbers in memory, everything else is
 * as in a store. Loads flush, pick, merge and allocate rates with the product's own functions; what
 * they read is struct bb_levels alone. */
#ifndef BB_TESTS_UNIT_COMPACTION_SIMULATION_H
#define BB_TESTS_UNIT_COMPACTION_SIMULATION_H

#include "tests/support/assert_status.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "compaction/pick.h"
#include "compaction/rates.h"
#include "tests/support/must_alloc.h"
#include "tests/support/rng.h"

#define SIMULATED_TABLES_MAX 100000
#define SIMULATED_KEY_BYTES  100

struct simulated_set {
    uint32_t *keys; /* ascending, all different */
    size_t count;
};

struct simulation {
    struct bb_table_env env;
    struct bb_levels *levels;
    struct bb_pick_options options;
    uint64_t buffer_keys; /* of a write buffer */
    uint64_t table_keys;  /* of a table of a deeper level */
    uint64_t last_number;
    struct simulated_set sets[SIMULATED_TABLES_MAX]; /* by number */
    uint64_t steps;
    uint64_t moves;
    uint64_t excesses;
    uint64_t written_keys;
    double worst; /* greatest sum of rates so far, over the promise */
};

static inline void simulation_path_removed(void *context, uint64_t number)
{
    struct simulation *simulation = context;
    free(simulation->sets[number].keys);
    simulation->sets[number] = (struct simulated_set){0};
}

static inline struct simulation *simulation_create(const struct bb_pick_options *options,
                                                   uint64_t buffer_keys, uint64_t table_keys)
{
    struct simulation *simulation = bb_must_alloc_zeroed(sizeof(*simulation));
    simulation->env.remove = simulation_path_removed;
    simulation->env.context = simulation;
    bb_table_env_init(&simulation->env);
    simulation->options = *options;
    simulation->buffer_keys = buffer_keys;
    simulation->table_keys = table_keys;
    assert_ok(bb_levels_create_empty(NULL, &simulation->levels));
    return simulation;
}

static inline void simulation_destroy(struct simulation *simulation)
{
    bb_levels_unref(simulation->levels);
    bb_table_env_deinit(&simulation->env);
    for (size_t i = 0; i < SIMULATED_TABLES_MAX; i++)
        free(simulation->sets[i].keys);
    free(simulation);
}

static inline void simulated_key(uint32_t key, struct bb_buf *buf)
{
    const uint8_t bytes[4] = {(uint8_t)(key >> 24), (uint8_t)(key >> 16), (uint8_t)(key >> 8),
                              (uint8_t)key};
    assert_ok(bb_buf_assign(buf, bb_bytes_of(bytes, sizeof(bytes))));
}

/* A table of these keys, which are copied. */
static inline struct bb_table_file *simulate_table(struct simulation *simulation,
                                                   const uint32_t *keys, size_t count, double rate)
{
    struct bb_table_file *file = NULL;
    uint64_t number = ++simulation->last_number;
    struct bb_table_meta meta = {.filter_rate = rate};
    assert_true(number < SIMULATED_TABLES_MAX && count > 0);
    assert_true(rate == 1 || (rate >= BB_FILTER_RATE_MIN && rate <= BB_FILTER_RATE_MAX));
    meta.key_count = meta.entry_count = count;
    meta.file_size = meta.raw_bytes = count * SIMULATED_KEY_BYTES;
    simulated_key(keys[0], &meta.smallest);
    simulated_key(keys[count - 1], &meta.largest);
    assert_ok(bb_table_file_create(&simulation->env, number, &meta, &file));
    bb_table_meta_deinit(&meta);
    simulation->sets[number].keys = bb_must_realloc(NULL, count * sizeof(*keys));
    simulation->sets[number].count = count;
    memcpy(simulation->sets[number].keys, keys, count * sizeof(*keys));
    return file;
}

static inline int simulation_compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static inline size_t sort_distinct(uint32_t *keys, size_t count)
{
    size_t kept = 0;
    qsort(keys, count, sizeof(*keys), simulation_compare);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || keys[kept - 1] != keys[i])
            keys[kept++] = keys[i];
    }
    return kept;
}

static inline void simulation_install(struct simulation *simulation, const uint64_t *removed,
                                      size_t removed_count, const struct bb_level_change *added,
                                      size_t added_count)
{
    struct bb_levels *levels = NULL;
    assert_ok(
        bb_levels_apply(simulation->levels, removed, removed_count, added, added_count, &levels));
    for (size_t i = 0; i < removed_count; i++) {
        struct bb_table_file *file = bb_levels_find_number(simulation->levels, removed[i]);
        if (bb_levels_find_number(levels, removed[i]) == NULL)
            atomic_store(&file->is_obsolete, true);
    }
    bb_levels_unref(simulation->levels);
    simulation->levels = levels;
    double sum = bb_rates_expected(levels) / simulation->options.target_wasted_reads;
    simulation->worst = sum > simulation->worst ? sum : simulation->worst;
    simulation->steps++;
}

static inline void simulate_flush(struct simulation *simulation, uint32_t *keys, size_t count)
{
    count = sort_distinct(keys, count);
    struct bb_rate_request request = {.levels = simulation->levels,
                                      .output_level = 0,
                                      .output_keys = count,
                                      .shape = &simulation->options.shape,
                                      .target = simulation->options.target_wasted_reads};
    double rate = bb_rates_for_run(&request);
    struct bb_level_change change = {.level = 0,
                                     .file = simulate_table(simulation, keys, count, rate)};
    simulation_install(simulation, NULL, 0, &change, 1);
    bb_table_file_unref(change.file);
}

static inline size_t simulate_merge(struct simulation *simulation, const struct bb_plan *plan,
                                    uint32_t **ret_keys)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->input_count; i++)
        count += simulation->sets[plan->inputs[i]->number].count;
    uint32_t *keys = bb_must_realloc(NULL, count * sizeof(*keys));
    count = 0;
    for (size_t i = 0; i < plan->input_count; i++) {
        const struct simulated_set *set = &simulation->sets[plan->inputs[i]->number];
        memcpy(keys + count, set->keys, set->count * sizeof(*keys));
        count += set->count;
    }
    *ret_keys = keys;
    return sort_distinct(keys, count);
}

static inline void simulate_plan(struct simulation *simulation, const struct bb_plan *plan)
{
    uint32_t *keys = NULL;
    uint64_t *removed = bb_must_realloc(NULL, plan->input_count * sizeof(*removed));
    for (size_t i = 0; i < plan->input_count; i++)
        removed[i] = plan->inputs[i]->number;
    if (plan->is_move) {
        struct bb_level_change change = {.level = plan->output_level, .file = plan->inputs[0]};
        simulation_install(simulation, removed, 1, &change, 1);
        simulation->moves++;
        free(removed);
        return;
    }
    double rate = bb_pick_rate(simulation->levels, &simulation->options, plan);
    size_t count = simulate_merge(simulation, plan, &keys);
    size_t table_count = (count + simulation->table_keys - 1) / simulation->table_keys;
    struct bb_level_change *added = bb_must_realloc(NULL, table_count * sizeof(*added));
    for (size_t i = 0; i < table_count; i++) {
        size_t first = i * simulation->table_keys;
        size_t end = i + 1 == table_count ? count : first + simulation->table_keys;
        added[i].level = plan->output_level;
        added[i].file = simulate_table(simulation, keys + first, end - first, rate);
    }
    simulation_install(simulation, removed, plan->input_count, added, table_count);
    for (size_t i = 0; i < table_count; i++)
        bb_table_file_unref(added[i].file);
    simulation->written_keys += count;
    simulation->excesses += plan->reason == BB_PLAN_RATE_EXCESS;
    free(added);
    free(keys);
    free(removed);
}

/* Does what is due until nothing is. */
static inline void simulate_compactions(struct simulation *simulation)
{
    for (size_t i = 0;; i++) {
        struct bb_plan plan = {0};
        assert_ok(bb_pick(simulation->levels, &simulation->options, &plan));
        bool is_done = plan.reason == BB_PLAN_NOTHING;
        if (!is_done)
            simulate_plan(simulation, &plan);
        bb_plan_deinit(&plan);
        if (is_done)
            return;
        assert_true(i < 10000); /* else it would go on for ever */
    }
}

static inline void simulate_full_compaction(struct simulation *simulation)
{
    struct bb_plan plan = {0};
    assert_ok(bb_pick_all(simulation->levels, &simulation->options, &plan));
    if (plan.reason != BB_PLAN_NOTHING)
        simulate_plan(simulation, &plan);
    bb_plan_deinit(&plan);
}

static inline double information(double keys, double rate)
{
    return keys * -log2(rate);
}

/* Bits of filters per key, over the least number for the same runs and the promise (Monkey). */
static inline double simulation_excess_bits(const struct simulation *simulation)
{
    const struct bb_levels *levels = simulation->levels;
    double all = (double)bb_levels_key_count(levels);
    double bits = 0;
    double least = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < bb_levels_table_count(levels, level); i++) {
            const struct bb_table_meta *meta = &bb_levels_table(levels, level, i)->meta;
            bits += information((double)meta->key_count, meta->filter_rate);
            if (level == 0)
                least += information((double)meta->key_count,
                                     fmin(1, simulation->options.target_wasted_reads *
                                                 (double)meta->key_count / all));
        }
        if (level > 0 && levels->levels[level].count > 0) {
            double keys = (double)levels->levels[level].key_count;
            least +=
                information(keys, fmin(1, simulation->options.target_wasted_reads * keys / all));
        }
    }
    return all == 0 ? 0 : (bits - least) / all;
}

#endif
