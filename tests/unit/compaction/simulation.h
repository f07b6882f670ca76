/* A store without files: the keys of its tables are sets of numbers in memory, everything else is
 * as in a store. Loads flush, pick, merge and allocate rates with the product's functions, which
 * only use struct bb_levels. */
#ifndef BB_TESTS_UNIT_COMPACTION_SIMULATION_H
#define BB_TESTS_UNIT_COMPACTION_SIMULATION_H

#include "tests/support/assert_status.h"
#include "tests/unit/compaction/rates_sum.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "compaction/pick/pick.h"
#include "compaction/pick/plan_rates.h"
#include "compaction/rates/rates.h"
#include "tests/support/must_alloc.h"
#include "tests/support/rng.h"

#define SIMULATED_TABLES_MAX 40000
#define SIMULATED_KEY_BYTES  100
/* A table that overlaps more tables below ends earlier (compaction/merge/compaction.c). */
#define SIMULATED_OVERLAP_TABLES 10

/* Of a flush, in the order of its keys. */
#define SIMULATED_SEQUENCES UINT64_C(1000000)

/* The simulated cost of filters: like ribbons of about 40 keys each. */
static const struct bb_filter_cost simulated_cost = {
    .kind = BB_FILTER_RIBBON, .slope = 1.012, .overhead_bits = 0.5};

/* One entry of a table: its key, and whether it deletes. */
#define SIMULATED_PUT(key)    ((uint64_t)(key) << 1)
#define SIMULATED_DELETE(key) ((uint64_t)(key) << 1 | 1)

struct simulated_set {
    uint64_t *entries; /* ascending, each key once */
    uint64_t *births;  /* the sequence of each */
    size_t count;
};

struct simulation {
    struct bb_table_file_env env;
    struct bb_levels *levels;
    struct bb_pick_options options;
    uint64_t table_keys; /* of a table below level 0 */
    uint64_t last_number;
    uint64_t flushes;
    struct simulated_set sets[SIMULATED_TABLES_MAX]; /* by number */
    uint64_t moves;
    uint64_t excesses;
    uint64_t merges;
    uint64_t written_keys;
    /* highest waste so far, in addition to the floor of level 0, as a factor of the target */
    double worst;
};

static inline void simulation_forget(void *context, uint64_t number)
{
    struct simulation *simulation = context;
    free(simulation->sets[number].entries);
    free(simulation->sets[number].births);
    simulation->sets[number] = (struct simulated_set){0};
}

static inline struct simulation *simulation_create(const struct bb_pick_options *options,
                                                   uint64_t table_keys)
{
    struct simulation *simulation = bb_must_alloc_zeroed(sizeof(*simulation));
    simulation->env.remove = simulation_forget;
    simulation->env.context = simulation;
    bb_table_file_env_init(&simulation->env);
    simulation->options = *options;
    simulation->table_keys = table_keys;
    assert_ok(bb_levels_create_empty(NULL, &simulation->levels));
    return simulation;
}

static inline void simulation_destroy(struct simulation *simulation)
{
    bb_levels_unref(simulation->levels);
    bb_table_file_env_deinit(&simulation->env);
    for (uint64_t i = 0; i < SIMULATED_TABLES_MAX; i++)
        simulation_forget(simulation, i);
    free(simulation);
}

static inline void simulated_key(uint64_t entry, struct bb_buf *buf)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(entry >> 1 >> (56 - 8 * i));
    assert_ok(bb_buf_assign(buf, bb_bytes_of(bytes, sizeof(bytes))));
}

static inline void simulate_birth(struct bb_table_meta *meta, uint64_t entry, uint64_t birth)
{
    bool is_oldest = meta->tombstone_count == 0 || birth < meta->tombstone_sequence_min;
    if ((entry & 1) != 0 && is_oldest)
        meta->tombstone_sequence_min = birth;
    meta->tombstone_count += entry & 1;
    meta->sequence_min = birth < meta->sequence_min ? birth : meta->sequence_min;
    meta->sequence_max = birth > meta->sequence_max ? birth : meta->sequence_max;
}

static inline uint64_t *copy_numbers(const uint64_t *numbers, size_t count)
{
    uint64_t *copy = bb_must_realloc(NULL, count * sizeof(*numbers));
    return memcpy(copy, numbers, count * sizeof(*numbers));
}

/* A table of these entries, which are copied. */
static inline struct bb_table_file *simulate_table(struct simulation *simulation,
                                                   const uint64_t *entries, const uint64_t *births,
                                                   size_t count, double rate)
{
    struct bb_table_file *file = NULL;
    uint64_t number = ++simulation->last_number;
    struct bb_table_meta meta = {.filter_rate = rate, .sequence_min = births[0]};
    assert_true(number < SIMULATED_TABLES_MAX && count > 0);
    assert_true(rate == 1 || (rate >= BB_FILTER_RATE_MIN && rate <= BB_FILTER_RATE_MAX));
    meta.key_count = meta.entry_count = count;
    meta.file_size = meta.raw_bytes = count * SIMULATED_KEY_BYTES;
    meta.filter_bytes =
        (uint64_t)ceil((double)count * bb_filter_cost_bits(&simulated_cost, rate) / 8);
    simulated_key(entries[0], &meta.smallest);
    simulated_key(entries[count - 1], &meta.largest);
    for (size_t i = 0; i < count; i++)
        simulate_birth(&meta, entries[i], births[i]);
    assert_ok(bb_table_file_create(&simulation->env, number, &meta, &file));
    bb_table_meta_deinit(&meta);
    simulation->sets[number].entries = copy_numbers(entries, count);
    simulation->sets[number].births = copy_numbers(births, count);
    simulation->sets[number].count = count;
    return file;
}

/* The index of the first entry of a set whose key is at least that of `entry`. */
static inline size_t simulated_index(const struct simulated_set *set, uint64_t entry)
{
    size_t low = 0;
    size_t high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->entries[middle] >> 1 < entry >> 1)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The number of keys of all tables between the bounds of a table: of the lookups that search it, if
 * lookups are spread like the keys. */
static inline double simulated_keys_within(const struct simulation *simulation,
                                           const struct bb_table_file *file)
{
    const struct bb_levels *levels = simulation->levels;
    const struct simulated_set *set = &simulation->sets[file->number];
    uint64_t first = set->entries[0];
    uint64_t last = set->entries[set->count - 1];
    size_t keys = 0;
    for (size_t r = 0; r < levels->turn_count; r++) {
        const struct bb_run *run = levels->turns[r].run;
        for (size_t i = 0; i < run->count; i++) {
            const struct simulated_set *other = &simulation->sets[run->files[i]->number];
            if (other->entries[other->count - 1] >> 1 >= first >> 1 &&
                other->entries[0] >> 1 <= last >> 1)
                keys += simulated_index(other, last + 2) - simulated_index(other, first);
        }
    }
    return (double)keys;
}

/* Wasted requests per lookup of an absent key, if lookups are spread like the keys. */
static inline double simulation_waste(const struct simulation *simulation)
{
    const struct bb_levels *levels = simulation->levels;
    double all = (double)bb_levels_key_count(levels);
    double waste = 0;
    for (size_t r = 0; r < levels->turn_count; r++) {
        const struct bb_run *run = levels->turns[r].run;
        for (size_t i = 0; i < run->count; i++)
            waste += run->files[i]->filter_rate * simulated_keys_within(simulation, run->files[i]);
    }
    return all == 0 ? 0 : waste / all;
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
    /* The floor of the rates, 2^-24, is a sixteenth of the lowest target, and each run has it. */
    double floor = (double)bb_levels_run_count(levels) * BB_FILTER_RATE_MIN;
    double waste = bb_read_weights_are_plain(&simulation->options.weights)
                       ? simulation_waste(simulation)
                       : rates_waste(levels, &simulation->options.weights);
    double sum = (waste - floor) / simulation->options.target_wasted_reads;
    simulation->worst = sum > simulation->worst ? sum : simulation->worst;
    const struct bb_filter_cost_tables tables = {
        .kind = BB_FILTER_RIBBON,
        .table_filter_bits = BB_TABLE_FILTER_NONE,
        .uncounted_bytes = bb_filter_budget_uncounted_bytes(&simulation->options.budget)};
    simulation->options.budget.cost = bb_filter_cost_calibrate(levels, &tables);
}

static inline int compare_simulated(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts entries; for equal keys a deletion stays. */
static inline size_t simulation_sort(uint64_t *entries, size_t count)
{
    size_t kept = 0;
    qsort(entries, count, sizeof(*entries), compare_simulated);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && entries[kept - 1] >> 1 == entries[i] >> 1)
            kept--;
        entries[kept++] = entries[i];
    }
    return kept;
}

static inline void simulate_flush(struct simulation *simulation, uint64_t *entries, size_t count)
{
    count = simulation_sort(entries, count);
    struct bb_rate_request request = {.levels = simulation->levels,
                                      .output_level = 0,
                                      .output_keys = count,
                                      .shape = &simulation->options.shape,
                                      .target = simulation->options.target_wasted_reads,
                                      .weights = &simulation->options.weights};
    if (bb_filter_budget_is_given(&simulation->options.budget))
        request.budget = &simulation->options.budget;
    struct bb_buf keys[2] = {{0}};
    simulated_key(entries[0], &keys[0]);
    simulated_key(entries[count - 1], &keys[1]);
    bb_hull_widen(&request.hull, bb_buf_bytes(&keys[0]), bb_buf_bytes(&keys[1]));
    double rate = bb_rates_for_run(&request);
    bb_buf_deinit(&keys[0]);
    bb_buf_deinit(&keys[1]);
    uint64_t *births = bb_must_realloc(NULL, count * sizeof(*births));
    simulation->flushes++;
    for (size_t i = 0; i < count; i++)
        births[i] = simulation->flushes * SIMULATED_SEQUENCES + i;
    struct bb_level_change change = {
        .level = 0, .file = simulate_table(simulation, entries, births, count, rate)};
    simulation_install(simulation, NULL, 0, &change, 1);
    bb_table_file_unref(change.file);
    free(births);
}

/* Does a level below the plan's output hold keys around this one? */
static inline bool simulation_has_below(const struct simulation *simulation,
                                        const struct bb_plan *plan, uint64_t entry)
{
    struct bb_buf key = {0};
    bool has = false;
    simulated_key(entry, &key);
    for (int level = plan->output_level; level < BB_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < simulation->levels->levels[level].run_count && !has; i++) {
            const struct bb_run *run = bb_levels_run(simulation->levels, level, i);
            if (level > plan->output_level || run->number < plan->output_run)
                has = bb_run_find(run, NULL, bb_buf_bytes(&key)) != NULL;
        }
    }
    bb_buf_deinit(&key);
    return has;
}

struct simulated_version {
    uint64_t entry;
    uint64_t birth;
    size_t age; /* of its table: greater is older */
};

static inline int compare_versions(const void *a, const void *b)
{
    const struct simulated_version *x = a;
    const struct simulated_version *y = b;
    if (x->entry >> 1 != y->entry >> 1)
        return x->entry < y->entry ? -1 : 1;
    return (x->age > y->age) - (x->age < y->age);
}

/* Whether the newest entry of a key is written: a deletion is dropped when no data is below and no
 * snapshot is older. */
static inline bool simulation_keeps(const struct simulation *simulation, const struct bb_plan *plan,
                                    const struct simulated_version *version)
{
    uint64_t snapshot = simulation->options.oldest_snapshot;
    return (version->entry & 1) == 0 || (snapshot > 0 && version->birth > snapshot) ||
           simulation_has_below(simulation, plan, version->entry);
}

/* The newest entry of each key; deletions without data below are dropped. Returns the count. */
static inline size_t simulate_merge(struct simulation *simulation, const struct bb_plan *plan,
                                    uint64_t **ret_entries, uint64_t **ret_births)
{
    size_t count = 0;
    size_t kept = 0;
    for (size_t i = 0; i < plan->input_count; i++)
        count += simulation->sets[plan->inputs[i]->number].count;
    struct simulated_version *versions = bb_must_realloc(NULL, count * sizeof(*versions));
    uint64_t *entries = bb_must_realloc(NULL, count * sizeof(*entries));
    uint64_t *births = bb_must_realloc(NULL, count * sizeof(*births));
    count = 0;
    for (size_t i = 0; i < plan->input_count; i++) {
        const struct simulated_set *set = &simulation->sets[plan->inputs[i]->number];
        for (size_t j = 0; j < set->count; j++)
            versions[count++] = (struct simulated_version){set->entries[j], set->births[j], i};
    }
    qsort(versions, count, sizeof(*versions), compare_versions);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && versions[i - 1].entry >> 1 == versions[i].entry >> 1)
            continue;
        if (!simulation_keeps(simulation, plan, &versions[i]))
            continue;
        births[kept] = versions[i].birth;
        entries[kept++] = versions[i].entry;
    }
    free(versions);
    *ret_entries = entries;
    *ret_births = births;
    return kept;
}

/* The tables of the run below that a table would overlap, as in a compaction. */
struct simulated_overlap {
    const struct bb_run *below; /* bb_levels_run_below */
    size_t next;                /* first table that does not end before the latest key */
    double bytes;               /* of the passed tables */
};

static inline void simulated_overlap_pass(struct simulated_overlap *overlap, uint64_t entry)
{
    struct bb_buf key = {0};
    if (overlap->below == NULL)
        return;
    simulated_key(entry, &key);
    size_t next = bb_run_find_index(overlap->below, NULL, bb_buf_bytes(&key));
    for (; overlap->next < next; overlap->next++)
        overlap->bytes += (double)overlap->below->files[overlap->next]->meta.file_size;
    bb_buf_deinit(&key);
}

/* The end of the table that begins with entry `first`: where it is large enough, or would overlap
 * too much. */
static inline size_t simulated_end(const struct simulation *simulation,
                                   struct simulated_overlap *overlap, const uint64_t *entries,
                                   size_t first, size_t count)
{
    double bytes_max =
        SIMULATED_OVERLAP_TABLES * (double)simulation->table_keys * SIMULATED_KEY_BYTES;
    size_t end = first + 1;
    simulated_overlap_pass(overlap, entries[first]);
    overlap->bytes = 0;
    for (; end < count && end - first < simulation->table_keys; end++) {
        simulated_overlap_pass(overlap, entries[end]);
        if (overlap->bytes > bytes_max)
            break;
    }
    return end;
}

static inline void simulate_rewrite(struct simulation *simulation, const struct bb_plan *plan,
                                    const uint64_t *removed)
{
    uint64_t *entries = NULL;
    uint64_t *births = NULL;
    double rate = bb_plan_rates_for(simulation->levels, &simulation->options, plan);
    size_t count = simulate_merge(simulation, plan, &entries, &births);
    struct simulated_overlap overlap = {
        .below = bb_levels_run_below(simulation->levels, plan->output_level, plan->output_run)};
    struct bb_level_change *added = bb_must_realloc(NULL, (count + 1) * sizeof(*added));
    size_t table_count = 0;
    for (size_t first = 0; first < count; table_count++) {
        size_t end = simulated_end(simulation, &overlap, entries, first, count);
        added[table_count].level = plan->output_level;
        added[table_count].run = plan->output_run;
        added[table_count].file =
            simulate_table(simulation, entries + first, births + first, end - first, rate);
        first = end;
    }
    simulation_install(simulation, removed, plan->input_count, added, table_count);
    for (size_t i = 0; i < table_count; i++)
        bb_table_file_unref(added[i].file);
    simulation->written_keys += count;
    simulation->merges++;
    free(added);
    free(entries);
    free(births);
}

static inline void simulate_move(struct simulation *simulation, const struct bb_plan *plan,
                                 const uint64_t *removed)
{
    struct bb_level_change *changes = bb_must_realloc(NULL, plan->input_count * sizeof(*changes));
    for (size_t i = 0; i < plan->input_count; i++)
        changes[i] =
            (struct bb_level_change){plan->output_level, plan->output_run, plan->inputs[i]};
    simulation_install(simulation, removed, plan->input_count, changes, plan->input_count);
    simulation->moves++;
    free(changes);
}

static inline void simulate_plan(struct simulation *simulation, const struct bb_plan *plan)
{
    uint64_t *removed = bb_must_realloc(NULL, plan->input_count * sizeof(*removed));
    for (size_t i = 0; i < plan->input_count; i++)
        removed[i] = plan->inputs[i]->number;
    if (plan->is_move) {
        simulate_move(simulation, plan, removed);
    } else {
        simulate_rewrite(simulation, plan, removed);
    }
    simulation->excesses += plan->reason == BB_PLAN_RATE_EXCESS;
    free(removed);
}

/* Works until no work is due. */
static inline void simulate_compactions(struct simulation *simulation)
{
    struct bb_plan plan = {0};
    for (size_t i = 0; i < 10000; i++) {
        assert_ok(bb_pick(simulation->levels, &simulation->options, &plan));
        if (plan.reason == BB_PLAN_NOTHING)
            return;
        simulate_plan(simulation, &plan);
        bb_plan_deinit(&plan);
    }
    fail_msg("compactions go on for ever");
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

/* Bits of filters per key, in excess of the minimum for the same tables and target. Memory is
 * minimal if the rate of a table is in proportion to its share of the keys, divided by the share of
 * the lookups that search it. */
static inline double simulation_excess_bits(const struct simulation *simulation)
{
    const struct bb_levels *levels = simulation->levels;
    double all = (double)bb_levels_key_count(levels);
    double bits = 0;
    for (size_t r = 0; r < levels->turn_count; r++) {
        const struct bb_run *run = levels->turns[r].run;
        for (size_t i = 0; i < run->count; i++) {
            double keys = (double)run->files[i]->meta.key_count;
            double searched = simulated_keys_within(simulation, run->files[i]);
            double least = simulation->options.target_wasted_reads * keys / searched;
            bits += information(keys, run->files[i]->filter_rate);
            bits -= information(keys, fmin(1, least));
        }
    }
    return all == 0 ? 0 : bits / all;
}

#endif
