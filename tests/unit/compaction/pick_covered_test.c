/* Goal: exactly the tables that one newer run's range tombstones hide from everybody are picked.
 * Method: drawn cases for each rule; random levels against a definition that looks at every key and
 * every place between two keys. */
#include "compaction/pick/pick_covered.h"

#include "tests/unit/compaction/shelf.h"

#define LETTERS    16
#define RANGES_MAX 6
#define TABLES_MAX 64

struct range {
    char low;
    char high; /* exclusive */
    uint64_t sequence;
};

/* A table: entries at two keys, which may be equal, or without entries; and ranges up to the first
 * one without low. */
struct spec {
    int level;
    uint64_t run; /* ignored in level 0 */
    char low;     /* 0: no entries */
    char high;
    uint64_t sequence;
    struct range ranges[RANGES_MAX];
};

struct shelf_levels {
    struct shelf shelf;
    struct bb_level_change changes[TABLES_MAX];
    size_t count;
    struct bb_levels *levels;
};

static struct bb_bytes letter(char c)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    return bb_bytes_of(letters + (c - 'a'), 1);
}

static void add_entries(struct bb_table_builder *builder, const struct spec *spec)
{
    struct bb_entry entry = {.key = letter(spec->low), .sequence = spec->sequence};
    assert_ok(bb_table_builder_add(builder, &entry));
    entry.key = letter(spec->high);
    if (spec->high != spec->low)
        assert_ok(bb_table_builder_add(builder, &entry));
}

static void put_table(struct shelf_levels *s, const struct spec *spec)
{
    struct bb_table_builder *builder = NULL;
    struct bb_level_change *change = &s->changes[s->count++];
    struct bb_table_meta meta = {0};
    char path[BB_PATH_SIZE_MAX];
    uint64_t number = shelf_number(&s->shelf);
    *change = (struct bb_level_change){.level = spec->level, .run = spec->run};
    shelf_path(&s->shelf, number, path);
    assert_ok(bb_table_builder_create(path, &s->shelf.env.options, &builder));
    for (size_t i = 0; i < RANGES_MAX && spec->ranges[i].low != 0; i++)
        assert_ok(bb_table_builder_add_range_tombstone(builder, letter(spec->ranges[i].low),
                                                       letter(spec->ranges[i].high),
                                                       spec->ranges[i].sequence));
    if (spec->low != 0)
        add_entries(builder, spec);
    assert_ok(bb_table_builder_finish(builder, &meta));
    bb_table_builder_destroy(builder);
    assert_ok(bb_table_file_create(&s->shelf.env, number, &meta, &change->file));
    bb_table_meta_deinit(&meta);
}

/* Tables are numbered from 1 on, in order. */
static void begin(struct shelf_levels *s, const struct spec *specs, size_t count)
{
    struct bb_levels *empty = NULL;
    *s = (struct shelf_levels){.count = 0};
    shelf_init(&s->shelf, NULL);
    for (size_t i = 0; i < count; i++)
        put_table(s, &specs[i]);
    assert_ok(bb_levels_create_empty(NULL, &empty));
    assert_ok(bb_levels_apply(empty, NULL, 0, s->changes, s->count, &s->levels));
    bb_levels_unref(empty);
}

static void end(struct shelf_levels *s)
{
    bb_levels_unref(s->levels);
    for (size_t i = 0; i < s->count; i++)
        bb_table_file_unref(s->changes[i].file);
    shelf_deinit(&s->shelf);
}

/* Bit i: the table with number i. */
static uint64_t pick(const struct shelf_levels *s, const uint64_t *snapshots, size_t snapshot_count)
{
    struct bb_plan plan = {0};
    uint64_t picked = 0;
    assert_ok(bb_pick_covered(s->levels, snapshots, snapshot_count, &plan));
    assert_int_equal(plan.reason, plan.input_count > 0 ? BB_PLAN_COVERED : BB_PLAN_NOTHING);
    for (size_t i = 0; i < plan.input_count; i++) {
        assert_int_equal(picked & UINT64_C(1) << plan.inputs[i]->number, 0);
        picked |= UINT64_C(1) << plan.inputs[i]->number;
    }
    bb_plan_deinit(&plan);
    return picked;
}

#define assert_picked(specs, snapshots, snapshot_count, expected)                                  \
    check_picked((specs), sizeof(specs) / sizeof((specs)[0]), (snapshots), (snapshot_count),       \
                 (expected))

static void check_picked(const struct spec *specs, size_t count, const uint64_t *snapshots,
                         size_t snapshot_count, uint64_t expected)
{
    struct shelf_levels s;
    begin(&s, specs, count);
    assert_int_equal(pick(&s, snapshots, snapshot_count), expected);
    end(&s);
}

static void pick_covered__what_lies_inside_goes_in_all_older_runs(void **state)
{
    (void)state;
    static const struct spec specs[] = {
        {.level = 0, .ranges = {{'b', 'p', 90}}},
        {.level = 1, .run = 1, .low = 'b', .high = 'e', .sequence = 80},
        {.level = 1, .run = 1, .low = 'm', .high = 'p', .sequence = 80}, /* p is not covered */
        {.level = 1, .run = 0, .low = 'a', .high = 'c', .sequence = 70},
        {.level = 4, .run = 0, .low = 'd', .high = 'o', .sequence = 1},
    };
    assert_picked(specs, NULL, 0, 1 << 2 | 1 << 5);
}

static void pick_covered__one_newer_entry_keeps_its_table(void **state)
{
    (void)state;
    static const struct spec specs[] = {
        {.level = 0, .ranges = {{'b', 'p', 90}}},
        {.level = 1, .low = 'c', .high = 'c', .sequence = 90},
        {.level = 1, .low = 'd', .high = 'd', .sequence = 5, .ranges = {{'d', 'e', 91}}},
        {.level = 1, .low = 'f', .high = 'g', .sequence = 89},
    };
    assert_picked(specs, NULL, 0, 1 << 4);
}

static void pick_covered__a_snapshot_between_keeps_it(void **state)
{
    (void)state;
    static const struct spec specs[] = {
        {.level = 0, .ranges = {{'b', 'p', 90}}},
        {.level = 1, .low = 'c', .high = 'g', .sequence = 50},
    };
    static const uint64_t outside[] = {20, 49, 90, 95};
    static const uint64_t first[] = {20, 50, 95};
    static const uint64_t last[] = {89};
    assert_picked(specs, outside, 4, 1 << 2);
    assert_picked(specs, first, 3, 0);
    assert_picked(specs, last, 1, 0);
}

/* The newest deletion is after the snapshot, an older one before it: the older one hides. */
static void pick_covered__an_older_tombstone_may_hide_past_a_snapshot(void **state)
{
    (void)state;
    static const struct spec specs[] = {
        {.level = 0, .ranges = {{'b', 'p', 90}, {'b', 'p', 60}}},
        {.level = 1, .low = 'c', .high = 'g', .sequence = 50},
    };
    static const uint64_t snapshots[] = {70};
    assert_picked(specs, snapshots, 1, 1 << 2);
}

/* An older run's tombstones do not hide a newer one's entries, nor a run its own. */
static void pick_covered__nothing_newer_is_hidden(void **state)
{
    (void)state;
    static const struct spec specs[] = {
        {.level = 0, .low = 'c', .high = 'd', .sequence = 5}, /* number 1: the older one */
        {.level = 1, .ranges = {{'b', 'p', 90}}},
        {.level = 1, .low = 'q', .high = 'r', .sequence = 5, .ranges = {{'q', 's', 90}}},
    };
    assert_picked(specs, NULL, 0, 0);
}

static void pick_covered__pieces_that_touch_count_together(void **state)
{
    (void)state;
    static const struct spec specs[] = {
        {.level = 1, .ranges = {{'b', 'd', 90}, {'d', 'f', 80}}},
        {.level = 1, .low = 'f', .high = 'g', .sequence = 1, .ranges = {{'f', 'k', 70}}},
        {.level = 2, .low = 'b', .high = 'j', .sequence = 60},
        {.level = 2, .low = 'k', .high = 'l', .sequence = 60},
        {.level = 3, .low = 'b', .high = 'j', .sequence = 75}, /* newer than the last piece */
    };
    assert_picked(specs, NULL, 0, 1 << 3);
}

static void pick_covered__a_gap_keeps_it(void **state)
{
    (void)state;
    static const struct spec specs[] = {
        {.level = 1, .ranges = {{'b', 'd', 90}, {'e', 'k', 90}}},
        {.level = 2, .low = 'c', .high = 'f', .sequence = 60},
    };
    assert_picked(specs, NULL, 0, 0);
}

/* A table with only range tombstones ends at the end of its last one, which is outside it. */
static void pick_covered__an_exclusive_end_may_be_that_of_the_range(void **state)
{
    (void)state;
    static const struct spec specs[] = {
        {.level = 0, .ranges = {{'b', 'p', 90}}},
        {.level = 1, .ranges = {{'c', 'p', 50}}},
        {.level = 2, .ranges = {{'c', 'q', 40}}},
    };
    assert_picked(specs, NULL, 0, 1 << 2);
}

/* ---- the definition ---- */

/* Places: 2 i is the i-th letter, 2 i + 1 is between it and the next. */
static void places_of(const struct bb_table_meta *meta, int *ret_first, int *ret_last)
{
    *ret_first = 2 * (meta->smallest.data[0] - 'a');
    *ret_last = 2 * (meta->largest.data[0] - 'a') - (meta->largest_is_exclusive ? 1 : 0);
}

struct world {
    struct spec specs[TABLES_MAX];
    size_t count;
    uint64_t snapshots[4];
    size_t snapshot_count;
};

static bool range_hides(const struct world *world, const struct range *range, int place,
                        const struct bb_table_meta *meta)
{
    if (2 * (range->low - 'a') > place || 2 * (range->high - 'a') <= place)
        return false;
    for (size_t i = 0; i < world->snapshot_count; i++) {
        if (world->snapshots[i] >= meta->sequence_min && world->snapshots[i] < range->sequence)
            return false;
    }
    return range->sequence > meta->sequence_max;
}

static bool run_hides_place(const struct world *world, const struct spec *run, int place,
                            const struct bb_table_meta *meta)
{
    for (size_t t = 0; t < world->count; t++) {
        const struct spec *spec = &world->specs[t];
        if (spec->level != run->level || spec->run != run->run)
            continue;
        for (size_t i = 0; i < RANGES_MAX && spec->ranges[i].low != 0; i++) {
            if (range_hides(world, &spec->ranges[i], place, meta))
                return true;
        }
    }
    return false;
}

static bool run_hides(const struct world *world, const struct spec *run,
                      const struct bb_table_meta *meta)
{
    int first = 0;
    int last = 0;
    places_of(meta, &first, &last);
    for (int place = first; place <= last; place++) {
        if (!run_hides_place(world, run, place, meta))
            return false;
    }
    return true;
}

static uint64_t expected_of(const struct world *world, const struct shelf_levels *s)
{
    uint64_t expected = 0;
    for (size_t t = 0; t < world->count; t++) {
        const struct spec *spec = &world->specs[t];
        for (size_t r = 0; r < world->count; r++) {
            const struct spec *run = &world->specs[r];
            bool is_newer =
                run->level < spec->level || (run->level == spec->level && run->run > spec->run);
            if (is_newer && run_hides(world, run, &s->changes[t].file->meta))
                expected |= UINT64_C(1) << (t + 1);
        }
    }
    return expected;
}

/* Between two letters, the upper one exclusive. Sequences of runs overlap, as in real stores. */
static void draw_table(struct bb_rng *rng, struct world *world, int level, uint64_t run, int low,
                       int high)
{
    struct spec *spec = &world->specs[world->count++];
    uint64_t base = (uint64_t)(3 - level) * 20 + run * 5;
    size_t ranges = (size_t)bb_rng_below(rng, level == 2 ? 2 : 4);
    *spec = (struct spec){.level = level, .run = run};
    for (size_t i = 0; i < ranges; i++) {
        int from = (int)bb_rng_between(rng, (uint64_t)low, (uint64_t)high - 1);
        int to = (int)bb_rng_between(rng, (uint64_t)from + 1, (uint64_t)high);
        spec->ranges[i] =
            (struct range){(char)('a' + from), (char)('a' + to), base + bb_rng_between(rng, 1, 30)};
    }
    if (ranges > 0 && bb_rng_one_in(rng, 3))
        return;
    int first = (int)bb_rng_between(rng, (uint64_t)low, (uint64_t)high - 1);
    int last = (int)bb_rng_between(rng, (uint64_t)first, (uint64_t)high - 1);
    spec->low = (char)('a' + first);
    spec->high = (char)('a' + last);
    spec->sequence = base + bb_rng_between(rng, 1, 30);
}

static void draw_run(struct bb_rng *rng, struct world *world, int level, uint64_t run)
{
    int low = 0;
    while (low < LETTERS) {
        int high = low + (int)bb_rng_between(rng, 1, 8);
        high = high > LETTERS ? LETTERS : high;
        draw_table(rng, world, level, run, low, high);
        low = high + (bb_rng_one_in(rng, 2) ? 0 : 1);
    }
}

/* The numbers of level 0's runs are its tables' numbers. */
static void draw_world(struct bb_rng *rng, struct world *world)
{
    *world = (struct world){.count = 0};
    for (uint64_t number = 1; number <= 2; number++)
        draw_table(rng, world, 0, number, (int)bb_rng_below(rng, 4),
                   LETTERS - (int)bb_rng_below(rng, 4));
    draw_run(rng, world, 1, 1);
    draw_run(rng, world, 1, 0);
    draw_run(rng, world, 2, 0);
    world->snapshot_count = (size_t)bb_rng_below(rng, 3);
    for (size_t i = 0; i < world->snapshot_count; i++)
        world->snapshots[i] = (i > 0 ? world->snapshots[i - 1] : 0) + bb_rng_between(rng, 1, 60);
}

static void pick_covered__random_levels_by_the_definition(void **state)
{
    (void)state;
    struct bb_rng rng;
    uint64_t picked_count = 0;
    bb_rng_init(&rng, bb_rng_seed("pick_covered_test", 5));
    for (int round = 0; round < 300; round++) {
        struct world world;
        struct shelf_levels s;
        draw_world(&rng, &world);
        begin(&s, world.specs, world.count);
        uint64_t picked = pick(&s, world.snapshots, world.snapshot_count);
        assert_int_equal(picked, expected_of(&world, &s));
        picked_count += (uint64_t)__builtin_popcountll(picked);
        end(&s);
    }
    assert_true(picked_count > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pick_covered__what_lies_inside_goes_in_all_older_runs),
        cmocka_unit_test(pick_covered__one_newer_entry_keeps_its_table),
        cmocka_unit_test(pick_covered__a_snapshot_between_keeps_it),
        cmocka_unit_test(pick_covered__an_older_tombstone_may_hide_past_a_snapshot),
        cmocka_unit_test(pick_covered__nothing_newer_is_hidden),
        cmocka_unit_test(pick_covered__pieces_that_touch_count_together),
        cmocka_unit_test(pick_covered__a_gap_keeps_it),
        cmocka_unit_test(pick_covered__an_exclusive_end_may_be_that_of_the_range),
        cmocka_unit_test(pick_covered__random_levels_by_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
