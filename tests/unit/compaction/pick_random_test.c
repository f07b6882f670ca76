/* Goal: for every shape and style, and any changes of them, plans neither lose nor revive a key,
 * terminate, and leave as many runs as the style allows. Method: stores without files
 * (simulation.h) under random puts and deletions. After every plan, keys are looked up run by run
 * as in a get, and must have the last written state. When idle, no deletion is older than
 * permitted, unless a snapshot needs it. */
#include "tests/support/step.h"
#include "tests/unit/compaction/simulation.h"

#define KEY_SPACE 3000
#define FLUSHES   60
#define STORES    40
#define LOOKS     150
#define PLANS_MAX 2000

struct world {
    struct simulation *simulation;
    struct bb_rng rng;
    bool is_present[KEY_SPACE];
    uint64_t plans;
    uint64_t moves;
    uint64_t age_max;         /* of deletions, in flushes; 0: no bound */
    uint64_t sunk;            /* plans for their sake */
    uint64_t united;          /* runs of a level that were united in place */
    uint64_t flushes_between; /* this number of plans is followed by a flush each */
    uint64_t slices;          /* merges of a part of the keys of runs that descend */
};

static bool find_entry(const struct simulated_set *set, uint64_t key, bool *ret_is_present)
{
    size_t low = 0;
    size_t high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->entries[middle] >> 1 < key)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == set->count || set->entries[low] >> 1 != key)
        return false;
    *ret_is_present = (set->entries[low] & 1) == 0;
    return true;
}

static bool look_up(const struct simulation *simulation, uint64_t key)
{
    struct bb_buf bytes = {0};
    bool is_found = false;
    bool is_present = false;
    simulated_key(SIMULATED_PUT(key), &bytes);
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < simulation->levels->levels[level].run_count && !is_found; i++) {
            const struct bb_table_file *file = bb_run_find(
                bb_levels_run(simulation->levels, level, i), NULL, bb_buf_bytes(&bytes));
            if (file != NULL)
                is_found = find_entry(&simulation->sets[file->number], key, &is_present);
        }
    }
    bb_buf_deinit(&bytes);
    return is_present;
}

static void check_some(struct world *world)
{
    for (size_t i = 0; i < LOOKS; i++) {
        uint64_t key = bb_rng_below(&world->rng, KEY_SPACE);
        if (look_up(world->simulation, key) != world->is_present[key])
            fail_msg("key %llu is %s after plan %llu", (unsigned long long)key,
                     world->is_present[key] ? "lost" : "back", (unsigned long long)world->plans);
    }
}

/* Each input is live where the plan expects it, and in the order of its level. */
static void check_inputs(const struct bb_levels *levels, const struct bb_plan *plan)
{
    for (size_t i = 0; i < plan->input_count; i++) {
        int level = plan->input_levels[i];
        const struct bb_run *run = bb_levels_find_run(levels, level, plan->input_runs[i]);
        assert_non_null(run);
        struct bb_bytes key = bb_buf_bytes(&plan->inputs[i]->meta.smallest);
        assert_ptr_equal(bb_run_find(run, NULL, key), plan->inputs[i]);
        assert_true(level <= plan->output_level);
        if (i == 0 || plan->input_levels[i - 1] != level)
            continue;
        assert_true(plan->input_runs[i - 1] >= plan->input_runs[i]);
    }
}

static void carry_out(struct world *world, struct bb_plan *plan)
{
    check_inputs(world->simulation->levels, plan);
    world->moves += plan->is_move;
    world->united += plan->reason == BB_PLAN_RUNS;
    world->sunk += plan->reason == BB_PLAN_TOMBSTONES;
    world->slices += plan->later_count > 0;
    world->plans++;
    simulate_plan(world->simulation, plan);
    bb_plan_deinit(plan);
    check_some(world);
}

/* The maximum age is a number of flushes. */
static void set_horizon(struct world *world)
{
    struct bb_pick_options *options = &world->simulation->options;
    uint64_t now = (world->simulation->flushes + 1) * SIMULATED_SEQUENCES - 1;
    uint64_t age = world->age_max * SIMULATED_SEQUENCES;
    options->tombstone_horizon = age > 0 && now > age ? now - age : 0;
    if (options->oldest_snapshot == BB_SEQUENCE_MAX ? bb_rng_one_in(&world->rng, 10)
                                                    : bb_rng_one_in(&world->rng, 5))
        options->oldest_snapshot =
            options->oldest_snapshot == BB_SEQUENCE_MAX ? now : BB_SEQUENCE_MAX;
}

static void check_ages(const struct world *world)
{
    const struct bb_pick_options *options = &world->simulation->options;
    uint64_t due = options->tombstone_horizon < options->oldest_snapshot
                       ? options->tombstone_horizon
                       : options->oldest_snapshot;
    for (int number = 0; number < BB_LEVEL_COUNT; number++) {
        const struct bb_level *level = &world->simulation->levels->levels[number];
        for (size_t i = 0; i < level->count; i++)
            assert_true(bb_table_file_oldest_tombstone(&level->files[i]->meta) > due);
    }
}

static void write_some(struct world *world, uint64_t count_max)
{
    uint64_t count = 1 + bb_rng_below(&world->rng, count_max);
    uint64_t base = bb_rng_below(&world->rng, KEY_SPACE);
    uint64_t width = bb_rng_one_in(&world->rng, 3) ? 1 + count : KEY_SPACE;
    uint64_t *entries = bb_must_realloc(NULL, count * sizeof(*entries));
    bool is_deleting = bb_rng_one_in(&world->rng, 8);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t key = (base + bb_rng_below(&world->rng, width)) % KEY_SPACE;
        entries[i] = key << 1 | (is_deleting || bb_rng_one_in(&world->rng, 3));
    }
    /* Of one key the deletion stays: simulation_sort. */
    for (uint64_t i = 0; i < count; i++)
        world->is_present[entries[i] >> 1] = true;
    for (uint64_t i = 0; i < count; i++)
        world->is_present[entries[i] >> 1] &= (entries[i] & 1) == 0;
    simulate_flush(world->simulation, entries, (size_t)count);
    free(entries);
}

static void come_to_rest(struct world *world)
{
    struct simulation *simulation = world->simulation;
    const struct bb_shape *shape = &simulation->options.shape;
    set_horizon(world);
    for (size_t i = 0; i < PLANS_MAX; i++) {
        struct bb_plan plan = {0};
        assert_ok(bb_pick(simulation->levels, &simulation->options, &plan));
        if (plan.reason == BB_PLAN_NOTHING)
            break;
        carry_out(world, &plan);
        assert_true(i + 1 < PLANS_MAX);
        if (i < world->flushes_between)
            write_some(world, 120);
    }
    check_ages(world);
    int last = bb_levels_deepest(simulation->levels);
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        assert_true(simulation->levels->levels[level].run_count <
                    bb_shape_run_count(shape, level, last));
}

static void draw_shape(struct world *world)
{
    struct bb_rng *rng = &world->rng;
    world->simulation->options.shape =
        (struct bb_shape){.level0_run_count = (uint32_t)bb_rng_between(rng, 1, 5),
                          .level1_size_bytes = bb_rng_between(rng, 50, 800) * SIMULATED_KEY_BYTES,
                          .level_size_ratio = (uint32_t)bb_rng_between(rng, 2, 6),
                          .style = (enum bb_compaction_style)bb_rng_below(rng, 4)};
    world->simulation->options.level0_run_count_due = (uint32_t)bb_rng_below(
        rng, (uint64_t)world->simulation->options.shape.level0_run_count + 1);
}

static void run_store(struct world *world, bool changes_style)
{
    for (uint64_t flush = 0; flush < FLUSHES; flush++) {
        write_some(world, 120);
        if (changes_style && bb_rng_one_in(&world->rng, 8))
            draw_shape(world);
        if (!bb_rng_one_in(&world->rng, 4))
            come_to_rest(world);
        if (bb_rng_one_in(&world->rng, 40)) {
            struct bb_plan plan = {0};
            assert_ok(bb_pick_all(world->simulation->levels, &world->simulation->options, &plan));
            if (plan.reason != BB_PLAN_NOTHING)
                carry_out(world, &plan);
        }
    }
    come_to_rest(world);
}

static void pick_random__nothing_is_lost_or_revived(void **state)
{
    (void)state;
    uint64_t seed = bb_rng_seed("pick_random__nothing_is_lost_or_revived", 4711);
    const struct bb_pick_options options = {.has_filters = true, .target_wasted_reads = 0.01};
    struct world sum = {0};
    for (uint64_t store = 0; store < STORES; store += bb_test_step()) {
        struct world world = {.simulation = simulation_create(&options, 1 + store * 7 % 100)};
        bb_rng_init(&world.rng, seed + store);
        draw_shape(&world);
        world.simulation->options.oldest_snapshot = BB_SEQUENCE_MAX;
        world.age_max = store % 4 < 2 ? 1 + store % 9 : 0;
        run_store(&world, store % 2 == 1);
        sum.plans += world.plans;
        sum.moves += world.moves;
        sum.united += world.united;
        sum.sunk += world.sunk;
        simulation_destroy(world.simulation);
    }
    printf("%llu plans, %llu moves, %llu in place, %llu for tombstones\n",
           (unsigned long long)sum.plans, (unsigned long long)sum.moves,
           (unsigned long long)sum.united, (unsigned long long)sum.sunk);
    size_t step = bb_test_step();
    assert_true(sum.plans * step > 500 && sum.moves * step > 20 && sum.united * step > 20 &&
                sum.sunk * step > 100);
}

/* Tiers of many small tables. Flushes and merges of newer runs come between the slices. */
static void pick_random__slices_neither_lose_nor_revive(void **state)
{
    (void)state;
    uint64_t seed = bb_rng_seed("pick_random__slices_neither_lose_nor_revive", 815);
    const struct bb_pick_options options = {.has_filters = true, .target_wasted_reads = 0.01};
    struct world sum = {0};
    for (uint64_t store = 0; store < STORES / 2; store += bb_test_step()) {
        struct world world = {.simulation = simulation_create(&options, 1 + store % 3),
                              .flushes_between = 4};
        bb_rng_init(&world.rng, seed + store);
        world.simulation->options.shape = (struct bb_shape){
            .level0_run_count = 2,
            .level1_size_bytes = (30 + store * 7 % 50) * SIMULATED_KEY_BYTES,
            .level_size_ratio = (uint32_t)(2 + store % 3),
            .style = store % 2 == 0 ? BB_COMPACTION_TIERED : BB_COMPACTION_LAZY_LEVELING};
        world.simulation->options.oldest_snapshot = BB_SEQUENCE_MAX;
        run_store(&world, false);
        sum.slices += world.slices;
        simulation_destroy(world.simulation);
    }
    printf("%llu slices\n", (unsigned long long)sum.slices);
    assert_true(sum.slices * bb_test_step() > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pick_random__nothing_is_lost_or_revived),
        cmocka_unit_test(pick_random__slices_neither_lose_nor_revive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
