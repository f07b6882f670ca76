/* Goal: runs descend in slices from the lowest keys on, older runs never keep keys that newer ones
 * have taken down, a merge does not grow with its level, and slices are small for clustered keys
 * too. Method: drawings of two runs of equal tables, then stores without files, last ones whose
 * flushes continue while a merge runs. */
#include "tests/unit/compaction/drawing.h"

#include "compaction/pick/pick_tiers.h"
#include "tests/support/step.h"
#include "tests/unit/compaction/load.h"

#define TABLES 20

/* A full level 1 has 12 tables. */
static const struct bb_pick_options options = {
    .shape = {.level0_run_count = 4,
              .level1_size_bytes = 6 * (uint64_t)DRAWN_BYTES,
              .level_size_ratio = 2,
              .style = BB_COMPACTION_TIERED}};

/* Appends tables of ten keys each, the first with this number and key. */
static void print_tables(struct bb_buf *text, unsigned number, unsigned key, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        assert_ok(bb_buf_print(text, " %u[%03u-%03u]", number + i, key + 10 * i, key + 10 * i + 9));
}

struct world {
    struct drawn_env drawn;
    struct bb_levels *levels;
    struct bb_plan plan;
};

static void pick_as(struct world *world, struct bb_buf *text, enum bb_compaction_style style)
{
    struct bb_pick_options styled = options;
    styled.shape.style = style;
    assert_ok(bb_buf_append(text, "", 1));
    drawn_env_init(&world->drawn);
    world->levels = draw(&world->drawn, (const char *)text->data);
    world->plan = (struct bb_plan){0};
    assert_ok(bb_pick_tiers(world->levels, &styled, 1, &world->plan));
    bb_buf_deinit(text);
}

static void pick_of(struct world *world, struct bb_buf *text)
{
    pick_as(world, text, BB_COMPACTION_TIERED);
}

static void world_deinit(struct world *world)
{
    bb_plan_deinit(&world->plan);
    bb_levels_unref(world->levels);
    drawn_env_deinit(&world->drawn);
}

/* The number of inputs or, later, of later tables from these numbers. */
static size_t count_from(const struct bb_plan *plan, bool is_later, uint64_t first, uint64_t end)
{
    size_t count = 0;
    size_t begin = is_later ? plan->input_count : 0;
    size_t past = is_later ? plan->input_count + plan->later_count : plan->input_count;
    for (size_t i = begin; i < past; i++)
        count += plan->inputs[i]->number >= first && plan->inputs[i]->number < end;
    return count;
}

/* 8 tables of each run, in the mean: the newer one has keys up to 089, the older one up to 094, as
 * its table from 085 on overlaps one of these. */
static void slice__an_older_run_keeps_no_key_that_a_newer_one_took_down(void **state)
{
    (void)state;
    struct world world;
    struct bb_buf text = {0};
    assert_ok(bb_buf_print(&text, "1:"));
    print_tables(&text, 200, 0, TABLES);
    assert_ok(bb_buf_print(&text, " |"));
    print_tables(&text, 100, 5, TABLES);
    pick_of(&world, &text);
    assert_int_equal(world.plan.output_level, 2);
    size_t newer = count_from(&world.plan, false, 200, 220);
    size_t older = count_from(&world.plan, false, 100, 120);
    assert_in_range(newer, 8, 9);
    assert_true(older == newer || older == newer + 1);
    assert_true(10 * older + 5 > 10 * newer - 1);
    assert_int_equal(newer + count_from(&world.plan, true, 200, 220), TABLES);
    assert_int_equal(older + count_from(&world.plan, true, 100, 120), TABLES);
    world_deinit(&world);
}

/* The receiver's tables 300 ... were written by the descent of runs 1xx and 2xx, which still have
 * the keys from 080 on. Run 250 came in the meantime. */
static void slice__continues_where_the_receiver_ends_and_leaves_newer_runs(void **state)
{
    (void)state;
    struct world world;
    struct bb_buf text = {0};
    assert_ok(bb_buf_print(&text, "1:"));
    print_tables(&text, 250, 0, 6);
    assert_ok(bb_buf_print(&text, " |"));
    print_tables(&text, 200, 80, TABLES);
    assert_ok(bb_buf_print(&text, " |"));
    print_tables(&text, 100, 85, TABLES);
    assert_ok(bb_buf_print(&text, "\n2:"));
    print_tables(&text, 300, 2, 8);
    assert_ok(bb_buf_print(&text, " |"));
    print_tables(&text, 10, 0, 3);
    pick_of(&world, &text);
    assert_int_equal(count_from(&world.plan, false, 250, 270), 0);
    assert_int_equal(count_from(&world.plan, true, 250, 270), 0);
    assert_true(count_from(&world.plan, false, 200, 220) >= 7);
    assert_int_equal(count_from(&world.plan, false, 300, 308), 1);
    assert_int_equal(count_from(&world.plan, false, 10, 30), 0);
    assert_int_equal(world.plan.output_run, bb_levels_run(world.levels, 2, 0)->number);
    world_deinit(&world);
}

/* A receiver that no descent wrote: its tables are older than the runs. */
static void slice__runs_above_the_end_of_an_old_run_begin_a_new_one(void **state)
{
    (void)state;
    struct world world;
    struct bb_buf text = {0};
    assert_ok(bb_buf_print(&text, "1:"));
    print_tables(&text, 200, 80, TABLES);
    assert_ok(bb_buf_print(&text, " |"));
    print_tables(&text, 100, 85, TABLES);
    assert_ok(bb_buf_print(&text, "\n2:"));
    print_tables(&text, 10, 0, 9);
    pick_of(&world, &text);
    assert_int_equal(world.plan.output_run, bb_levels_run(world.levels, 2, 0)->number + 1);
    world_deinit(&world);
}

/* Each run has keys below 060 and from 600 on. The receiver has 16 tables in between: a slice with
 * these would exceed a full level 1. */
static void slice__ends_before_a_gap(void **state)
{
    (void)state;
    struct world world;
    struct bb_buf text = {0};
    assert_ok(bb_buf_print(&text, "1:"));
    print_tables(&text, 200, 0, 3);
    print_tables(&text, 210, 600, 5);
    assert_ok(bb_buf_print(&text, " |"));
    print_tables(&text, 100, 5, 3);
    print_tables(&text, 110, 605, 5);
    assert_ok(bb_buf_print(&text, "\n2:"));
    print_tables(&text, 10, 2, 5);
    print_tables(&text, 20, 100, 16);
    print_tables(&text, 40, 602, 5);
    pick_as(&world, &text, BB_COMPACTION_LAZY_LEVELING);
    assert_int_equal(count_from(&world.plan, false, 100, 300), 6);
    assert_int_equal(count_from(&world.plan, false, 10, 15), 4);
    assert_int_equal(count_from(&world.plan, false, 20, 50), 0);
    assert_int_equal(count_from(&world.plan, true, 100, 300), 10);
    world_deinit(&world);
}

/* ---- stores ---- */

/* Carries out all plans that are due. Returns the keys of the largest merge below level 1. */
static double largest_merge(struct simulation *simulation)
{
    double largest = 0;
    struct bb_plan plan = {0};
    for (size_t i = 0; i < 10000; i++) {
        double keys = 0;
        assert_ok(bb_pick(simulation->levels, &simulation->options, &plan));
        if (plan.reason == BB_PLAN_NOTHING)
            return largest;
        for (size_t j = 0; j < plan.input_count; j++)
            keys += (double)plan.inputs[j]->meta.key_count;
        if (!plan.is_move && plan.output_level > 1)
            largest = fmax(largest, keys);
        simulate_plan(simulation, &plan);
        bb_plan_deinit(&plan);
    }
    fail_msg("compactions never end");
    return largest;
}

static void check_merges(enum bb_compaction_style style)
{
    const struct form form = {4, 4, 4, 100, 10, 0.01, 0, style};
    double full_keys = (double)form.size_ratio * (double)form.level1_runs * (double)form.run_keys;
    struct simulation *simulation = simulation_of(&form);
    struct bb_rng rng;
    double largest = 0;
    bb_rng_init(&rng, bb_rng_seed("slice__a_merge_does_not_grow_with_its_level", 5));
    for (uint64_t flush = 0; flush < 300; flush++) {
        size_t count = 0;
        uint64_t *entries = draw_flush(&form, LOAD_UNIFORM, &rng, flush, &count);
        simulate_flush(simulation, entries, count);
        free(entries);
        largest = fmax(largest, largest_merge(simulation));
    }
    printf("%s: %.0f of %llu keys, level 1 %.0f\n", style_names[style], largest,
           (unsigned long long)bb_levels_key_count(simulation->levels), full_keys);
    assert_true(largest <= 3 * full_keys);
    assert_true((double)bb_levels_key_count(simulation->levels) > 12 * full_keys);
    simulation_destroy(simulation);
}

static void slice__a_merge_does_not_grow_with_its_level(void **state)
{
    (void)state;
    check_merges(BB_COMPACTION_TIERED);
    check_merges(BB_COMPACTION_LAZY_LEVELING);
}

/* ---- loads of clustered keys ---- */

#define LOAD_FLUSHES 600
#define LOAD_KEYS    100 /* of a flush */
#define KEY_SPACE    ((uint64_t)1 << 40)
/* A merge reads keys this many times as fast as flushes write them. */
#define MERGE_SPEED 5

struct clusters {
    const char *name;
    /* The key number i of a flush. */
    uint64_t (*key)(struct bb_rng *rng, uint64_t flush, uint64_t i);
};

static uint64_t of_tenth(struct bb_rng *rng, uint64_t tenth)
{
    return KEY_SPACE / 10 * tenth + bb_rng_below(rng, KEY_SPACE / 10);
}

static uint64_t any_key(struct bb_rng *rng, uint64_t flush, uint64_t i)
{
    (void)flush, (void)i;
    return bb_rng_below(rng, KEY_SPACE);
}

static uint64_t tenths_up(struct bb_rng *rng, uint64_t flush, uint64_t i)
{
    (void)i;
    return of_tenth(rng, flush * 10 / LOAD_FLUSHES);
}

static uint64_t tenths_down(struct bb_rng *rng, uint64_t flush, uint64_t i)
{
    (void)i;
    return of_tenth(rng, 9 - flush * 10 / LOAD_FLUSHES);
}

static uint64_t tenths_mixed(struct bb_rng *rng, uint64_t flush, uint64_t i)
{
    (void)i;
    return of_tenth(rng, flush * 10 / LOAD_FLUSHES * 7 % 10);
}

/* Even tenths upwards, then odd ones downwards. */
static uint64_t tenths_to_and_fro(struct bb_rng *rng, uint64_t flush, uint64_t i)
{
    (void)i;
    uint64_t part = flush * 10 / LOAD_FLUSHES;
    return of_tenth(rng, part < 5 ? 2 * part : 19 - 2 * part);
}

/* One of 100 clusters in each flush, number n with a probability of about 1 / n. */
static uint64_t zipfian(struct bb_rng *rng, uint64_t flush, uint64_t i)
{
    struct bb_rng of_flush;
    (void)i;
    bb_rng_init(&of_flush, flush);
    uint64_t cluster = bb_rng_skewed(&of_flush, 99) * 37 % 100;
    return KEY_SPACE / 100 * cluster + bb_rng_below(rng, KEY_SPACE / 1000);
}

/* Eight ascending sequences. */
static uint64_t sequences_up(struct bb_rng *rng, uint64_t flush, uint64_t i)
{
    (void)rng;
    return KEY_SPACE / 8 * (i % 8) + flush * LOAD_KEYS + i;
}

static uint64_t sequences_down(struct bb_rng *rng, uint64_t flush, uint64_t i)
{
    return sequences_up(rng, LOAD_FLUSHES - flush, LOAD_KEYS - i);
}

static uint64_t ascending(struct bb_rng *rng, uint64_t flush, uint64_t i)
{
    (void)rng;
    return flush * LOAD_KEYS + i;
}

static uint64_t descending(struct bb_rng *rng, uint64_t flush, uint64_t i)
{
    return KEY_SPACE - ascending(rng, flush, i);
}

static const struct clusters clusters[] = {
    {"random", any_key},
    {"tenths, ascending", tenths_up},
    {"tenths, descending", tenths_down},
    {"tenths, mixed", tenths_mixed},
    {"tenths, to and fro", tenths_to_and_fro},
    {"zipfian clusters", zipfian},
    {"sequences, ascending", sequences_up},
    {"sequences, descending", sequences_down},
    {"ascending", ascending},
    {"descending", descending},
};

/* A store whose flushes continue while a merge runs. */
struct replay {
    struct simulation *simulation;
    struct bb_plan plan; /* the running one */
    double end;          /* of the running plan, in flushes */
    double largest;      /* keys */
    size_t level0_runs;  /* the most */
};

static void start(struct replay *replay)
{
    double keys = 0;
    assert_ok(bb_pick(replay->simulation->levels, &replay->simulation->options, &replay->plan));
    for (size_t i = 0; i < replay->plan.input_count && !replay->plan.is_move; i++)
        keys += (double)replay->plan.inputs[i]->meta.key_count;
    replay->largest = fmax(replay->largest, keys);
    replay->end += keys / MERGE_SPEED / LOAD_KEYS;
}

/* Carries out the plans that end up to a flush, and starts the next one. */
static void replay_until(struct replay *replay, double flush)
{
    while (replay->plan.reason == BB_PLAN_NOTHING || replay->end <= flush) {
        if (replay->plan.reason == BB_PLAN_NOTHING) {
            replay->end = flush;
        } else {
            simulate_plan(replay->simulation, &replay->plan);
            bb_plan_deinit(&replay->plan);
        }
        start(replay);
        if (replay->plan.reason == BB_PLAN_NOTHING)
            return;
    }
}

static void replay_flushes(struct replay *replay, const struct clusters *load)
{
    uint64_t entries[LOAD_KEYS];
    struct bb_rng rng;
    bb_rng_init(&rng, 5);
    for (uint64_t flush = 0; flush < LOAD_FLUSHES; flush++) {
        replay_until(replay, (double)flush);
        for (uint64_t i = 0; i < LOAD_KEYS; i++)
            entries[i] = SIMULATED_PUT(load->key(&rng, flush, i));
        simulate_flush(replay->simulation, entries, LOAD_KEYS);
        size_t runs = replay->simulation->levels->levels[0].run_count;
        replay->level0_runs = runs > replay->level0_runs ? runs : replay->level0_runs;
    }
}

/* The proportions of decision 43. */
static void check_clusters(const struct clusters *load, enum bb_compaction_style style)
{
    const struct form form = {12, 4, 9, LOAD_KEYS, 27, 0.01, 0, style};
    struct replay replay = {.simulation = simulation_of(&form)};
    replay_flushes(&replay, load);
    double all = LOAD_FLUSHES * LOAD_KEYS;
    double written = 1 + (double)replay.simulation->written_keys / all;
    printf("%-8s %-22s written %.2f, largest merge %.3f, level 0 up to %zu runs\n",
           style_names[style], load->name, written, replay.largest / all, replay.level0_runs);
    assert_true(replay.largest <= 0.08 * all);
    assert_true(replay.level0_runs <= 26);
    assert_true(written <= 4.2);
    bb_plan_deinit(&replay.plan);
    simulation_destroy(replay.simulation);
}

static void slice__is_small_for_clustered_keys(void **state)
{
    (void)state;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(clusters); i += bb_test_step()) {
        check_clusters(&clusters[i], BB_COMPACTION_TIERED);
        check_clusters(&clusters[i], BB_COMPACTION_LAZY_LEVELING);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slice__an_older_run_keeps_no_key_that_a_newer_one_took_down),
        cmocka_unit_test(slice__continues_where_the_receiver_ends_and_leaves_newer_runs),
        cmocka_unit_test(slice__runs_above_the_end_of_an_old_run_begin_a_new_one),
        cmocka_unit_test(slice__ends_before_a_gap),
        cmocka_unit_test(slice__a_merge_does_not_grow_with_its_level),
        cmocka_unit_test(slice__is_small_for_clustered_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
