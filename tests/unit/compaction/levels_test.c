/* Goal: levels are values: old ones never change, new ones keep every rule or are refused, and
 * searching them is right. Method: drawings of levels; searches compared with a walk over all
 * tables, with random bounds of many shapes and under a comparator; files live as long as any
 * levels name them. */
#include "tests/unit/compaction/drawing.h"
#include "tests/unit/compaction/table_bounds.h"

#include "base/assert.h"
#include "tests/support/rng.h"

static void levels__apply_adds_and_removes(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct bb_levels *next = NULL;
    const uint64_t removed[] = {4, 2};
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "1: 2[m-q] 1[a-d]\n0: 4[b-c] 5[a-z] 3[k-k]");
    assert_levels(levels, "0: 5[a-z] 4[b-c] 3[k-k]\n1: 1[a-d] 2[m-q]\n");
    assert_ok(redraw(&drawn, levels, removed, 2, "1: 7[e-l] 6[da-db]\n6: 8[-zz]", &next));
    assert_levels(next, "0: 5[a-z] 3[k-k]\n1: 1[a-d] 6[da-db] 7[e-l]\n6: 8[-zz]\n");
    assert_levels(levels, "0: 5[a-z] 4[b-c] 3[k-k]\n1: 1[a-d] 2[m-q]\n");
    assert_int_equal(bb_levels_deepest(levels), 1);
    assert_int_equal(bb_levels_deepest(next), 6);
    bb_levels_unref(levels);
    bb_levels_unref(next);
    drawn_env_deinit(&drawn);
}

/* The turns of a lookup are the runs level by level, the newest first in each. */
static void check_turns(const struct bb_levels *levels)
{
    size_t turn = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < levels->levels[level].run_count; i++, turn++) {
            assert_true(turn < levels->turn_count);
            assert_int_equal(levels->turns[turn].level, level);
            assert_ptr_equal(levels->turns[turn].run, bb_levels_run(levels, level, i));
        }
    }
    assert_int_equal(turn, levels->turn_count);
    assert_int_equal(turn, bb_levels_run_count(levels));
}

static void levels__turns_are_the_runs_newest_first(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct bb_levels *next = NULL;
    const uint64_t removed[] = {1, 2, 3, 4, 5, 6};
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "0: 5[a-z] 4[b-c] 3[k-k]\n2: 1[a-d] 2[m-q]\n6: 6[a-z]");
    check_turns(levels);
    assert_int_equal(levels->turn_count, 5);
    assert_int_equal(levels->turns[0].run->files[0]->number, 5);
    assert_int_equal(levels->turns[3].run->count, 2);
    assert_ok(redraw(&drawn, levels, removed, 6, "", &next));
    check_turns(next);
    assert_int_equal(next->turn_count, 0);
    bb_levels_unref(levels);
    bb_levels_unref(next);
    drawn_env_deinit(&drawn);
}

static void levels__totals(void **state)
{
    (void)state;
    struct drawn_env drawn;
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "0: 5[a-z]*3\n2: 1[a-d]*10 2[m-q]*20");
    assert_int_equal(bb_levels_key_count(levels), 33 * DRAWN_KEYS);
    assert_int_equal(levels->levels[2].key_count, 30 * DRAWN_KEYS);
    assert_int_equal(levels->levels[2].file_bytes, 30 * DRAWN_BYTES);
    assert_int_equal(levels->levels[2].raw_bytes, 30 * DRAWN_BYTES);
    assert_int_equal(levels->levels[1].key_count, 0);
    assert_int_equal(bb_levels_find_number(levels, 2)->number, 2);
    assert_null(bb_levels_find_number(levels, 3));
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

static void levels__a_table_moves(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct bb_levels *next = NULL;
    const uint64_t number = 1;
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "1: 1[a-d] 2[m-q]");
    struct bb_level_change change = {.level = 2, .file = bb_levels_table(levels, 1, 0)};
    assert_ok(bb_levels_apply(levels, &number, 1, &change, 1, &next));
    assert_levels(next, "1: 2[m-q]\n2: 1[a-d]\n");
    bb_levels_unref(levels);
    bb_levels_unref(next);
    drawn_env_deinit(&drawn);
}

static void levels__files_live_as_long_as_they_are_named(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct bb_levels *next = NULL;
    const uint64_t removed[] = {1, 2};
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "0: 1[a-d] 2[m-q] 3[a-b]");
    for (size_t i = 0; i < 2; i++)
        atomic_store(&bb_levels_find_number(levels, removed[i])->is_obsolete, true);
    assert_ok(redraw(&drawn, levels, removed, 2, "", &next));
    struct bb_table_file *pinned = bb_table_file_ref(bb_levels_find_number(levels, 2));
    assert_int_equal(drawn.removed_count, 0);
    bb_levels_unref(bb_levels_ref(levels));
    assert_int_equal(drawn.removed_count, 0);
    bb_levels_unref(levels);
    assert_int_equal(drawn.removed_count, 1);
    assert_int_equal(drawn.removed[0], 1);
    bb_table_file_unref(pinned);
    assert_int_equal(drawn.removed_count, 2);
    bb_levels_unref(next);
    assert_int_equal(drawn.removed_count, 2); /* table 3 is not obsolete: its file stays */
    drawn_env_deinit(&drawn);
}

/* ---- refusals ---- */

static void assert_refused(const char *old, uint64_t removed, const char *added,
                           const char *message)
{
    struct drawn_env drawn;
    struct bb_levels *next = NULL;
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, old);
    assert_status(redraw(&drawn, levels, &removed, removed != 0, added, &next), BB_CORRUPT);
    assert_message(message);
    assert_null(next);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

static void levels__corrupt_overlap(void **state)
{
    (void)state;
    assert_refused("1: 1[a-d] 2[m-q]", 0, "1: 3[c-f]", "overlap");
    assert_refused("1: 1[a-d] 2[m-q]", 0, "1: 3[e-z]", "overlap");
    assert_refused("1: 1[a-d] 2[m-q]", 0, "1: 3[b-c]", "overlap");
    assert_refused("1: 1[a-d] 2[m-q]", 0, "1: 3[a-z]", "overlap");
    /* One key in two tables of a level: its versions would be spread. */
    assert_refused("1: 1[a-d] 2[m-q]", 0, "1: 3[d-e]", "overlap");
    assert_refused("5: 1[a-a] 2[m-q]", 0, "5: 3[m-m]", "overlap");
}

static void levels__corrupt_bounds(void **state)
{
    (void)state;
    assert_refused("", 0, "1: 3[e-d]", "smallest");
    assert_refused("", 0, "0: 3[e-d]", "smallest");
}

static void levels__corrupt_removed_number(void **state)
{
    (void)state;
    assert_refused("1: 1[a-d]", 2, "", "not live");
    assert_refused("", 1, "1: 1[a-d]", "not live");
}

static void levels__corrupt_added_number(void **state)
{
    (void)state;
    assert_refused("1: 1[a-d]", 0, "1: 1[e-f]", "1");
    assert_refused("1: 1[a-d]", 0, "0: 1[e-f]", "1");
    assert_refused("0: 1[a-d]", 0, "0: 1[a-d]", "1");
    assert_refused("", 0, "0: 1[a-d]\n3: 1[a-d]", "1");
}

static void levels__corrupt_level_number(void **state)
{
    (void)state;
    assert_refused("", 0, "7: 1[a-d]", "level 7");
}

/* ---- finding ---- */

static struct bb_table_file *walk_for(const struct bb_levels *levels, int level,
                                      struct bb_bytes key)
{
    for (size_t i = 0; i < bb_levels_table_count(levels, level); i++) {
        struct bb_table_file *file = bb_levels_table(levels, level, i);
        if (table_bounds_contain(file, levels->comparator, key))
            return file;
    }
    return NULL;
}

static size_t walk_for_index(const struct bb_levels *levels, int level, struct bb_bytes key)
{
    size_t i = 0;
    while (i < bb_levels_table_count(levels, level) &&
           bb_key_compare(levels->comparator,
                          bb_buf_bytes(&bb_levels_table(levels, level, i)->meta.largest), key) < 0)
        i++;
    return i;
}

static int compare_backward(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    return bb_bytes_compare(b, a);
}

static const struct bb_comparator backward = {.name = "backward", .compare = compare_backward};

#define BOUNDS_MAX 60
#define BOUND_SIZE 24

struct bounds {
    struct bb_buf keys[BOUNDS_MAX]; /* ascending, all different */
    size_t count;
};

static void bounds_add(struct bounds *bounds, const struct bb_comparator *comparator,
                       struct bb_bytes key)
{
    size_t place = 0;
    int order = -1;
    while (place < bounds->count &&
           (order = bb_key_compare(comparator, bb_buf_bytes(&bounds->keys[place]), key)) < 0)
        place++;
    if (order == 0)
        return;
    memmove(&bounds->keys[place + 1], &bounds->keys[place],
            (bounds->count - place) * sizeof(struct bb_buf));
    bounds->keys[place] = (struct bb_buf){0};
    assert_ok(bb_buf_assign(&bounds->keys[place], key));
    bounds->count++;
}

static void bounds_draw(struct bounds *bounds, struct bb_rng *rng,
                        const struct bb_comparator *comparator, size_t wanted, size_t shared)
{
    uint8_t key[BOUND_SIZE + 20];
    memset(key, 's', sizeof(key));
    for (size_t i = 0; i < wanted; i++)
        bounds_add(bounds, comparator,
                   bb_bytes_of(key, shared + bb_rng_key(rng, key + shared, BOUND_SIZE)));
}

static struct bb_levels *levels_of_bounds(struct drawn_env *drawn, struct bounds *bounds,
                                          struct bb_rng *rng,
                                          const struct bb_comparator *comparator)
{
    struct bb_level_change changes[BOUNDS_MAX];
    struct bb_levels *empty = NULL;
    struct bb_levels *levels = NULL;
    size_t count = 0;
    for (size_t i = 0; i < bounds->count; i++) {
        struct bb_table_meta meta = {.key_count = 1, .smallest = bounds->keys[i]};
        i += i + 1 < bounds->count && bb_rng_one_in(rng, 2); /* of one key or of two */
        meta.largest = bounds->keys[i];
        changes[count] = (struct bb_level_change){.level = 3};
        assert_ok(bb_table_file_create(&drawn->env, i + 1, &meta, &changes[count++].file));
    }
    assert_ok(bb_levels_create_empty(comparator, &empty));
    assert_ok(bb_levels_apply(empty, NULL, 0, changes, count, &levels));
    release_changes(changes, count);
    bb_levels_unref(empty);
    return levels;
}

/* How often the eight bytes were enough to find, and how often not. */
struct found {
    size_t at_once;
    size_t later;
};

static void check_find(const struct bb_levels *levels, struct bb_bytes key, struct found *found)
{
    size_t index = 0;
    if (levels->levels[3].run_count == 0)
        return;
    const struct bb_run *run = bb_levels_run(levels, 3, 0);
    assert_ptr_equal(bb_run_find(run, levels->comparator, key), walk_for(levels, 3, key));
    assert_int_equal(bb_run_find_index(run, levels->comparator, key),
                     walk_for_index(levels, 3, key));
    if (!bb_run_find_at_once(run, key, &index)) {
        found->later++;
        return;
    }
    found->at_once++;
    assert_ptr_equal(index == run->count ? NULL : run->files[index], walk_for(levels, 3, key));
}

static void levels__find_agrees_with_a_walk(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct bb_rng rng;
    struct found found = {0};
    drawn_env_init(&drawn);
    bb_rng_init(&rng, bb_rng_seed("levels__find_agrees_with_a_walk", 77));
    for (size_t round = 0; round < 600; round++) {
        const struct bb_comparator *comparator = bb_rng_one_in(&rng, 4) ? &backward : NULL;
        size_t shared = bb_rng_one_in(&rng, 2) ? 0 : (size_t)bb_rng_below(&rng, 20);
        struct bounds bounds = {.count = 0};
        struct bounds others = {.count = 0};
        bounds_draw(&bounds, &rng, comparator, round % BOUNDS_MAX, shared);
        bounds_draw(&others, &rng, NULL, 20, bb_rng_one_in(&rng, 2) ? shared : 0);
        struct bb_levels *levels = levels_of_bounds(&drawn, &bounds, &rng, comparator);
        for (size_t i = 0; i < bounds.count; i++)
            check_find(levels, bb_buf_bytes(&bounds.keys[i]), &found);
        for (size_t i = 0; i < others.count; i++)
            check_find(levels, bb_buf_bytes(&others.keys[i]), &found);
        check_find(levels, (struct bb_bytes){0}, &found);
        for (size_t i = 0; i < bounds.count; i++)
            bb_buf_deinit(&bounds.keys[i]);
        for (size_t i = 0; i < others.count; i++)
            bb_buf_deinit(&others.keys[i]);
        bb_levels_unref(levels);
    }
    assert_true(found.at_once > 1000 && found.later > 1000);
    drawn_env_deinit(&drawn);
}

/* Keys with fewer than eight bytes after the prefix that all bounds share, here "k/". */
static void levels__short_keys_are_found_at_once(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        bool is_found;
        size_t index;
    } keys[] = {
        {"k/b", true, 0},  {"k/f", true, 1},  {"k/d", true, 2},  {"k/z", true, 2},  {"k/", true, 2},
        {"k/ab", true, 0}, {"k/gg", true, 2}, {"k/a", false, 0}, {"k/g", false, 0}, {"k", false, 0},
        {"", false, 0},    {"j/b", false, 0}, {"l/b", false, 0},
    };
    struct drawn_env drawn;
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "1: 1[k/a-k/c] 2[k/e-k/g]");
    const struct bb_run *run = bb_levels_run(levels, 1, 0);
    for (size_t i = 0; i < BB_ARRAY_LENGTH(keys); i++) {
        size_t index = 0;
        struct bb_bytes key = bb_bytes_of_text(keys[i].key);
        assert_int_equal(bb_run_find_at_once(run, key, &index), keys[i].is_found);
        assert_int_equal(index, keys[i].index);
        if (keys[i].is_found)
            assert_ptr_equal(index == run->count ? NULL : run->files[index],
                             bb_run_find(run, NULL, key));
    }
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

/* A range ends before its high key: a table that begins there is outside. */
static void levels__range_excludes_the_table_that_begins_at_its_end(void **state)
{
    (void)state;
    static const struct {
        const char *low;
        const char *high;
        size_t first;
        size_t end;
    } ranges[] = {
        {"a", "d", 0, 1}, {"a", "e", 0, 1}, {"a", "f", 0, 2}, {"a", "i", 0, 2}, {"a", "j", 0, 3},
        {"d", "e", 1, 1}, {"c", "e", 0, 1}, {"e", "f", 1, 2}, {"m", "z", 3, 3}, {"g", "c", 1, 1},
    };
    struct drawn_env drawn;
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "1: 1[a-c] 2[e-g] 3[i-l]");
    for (size_t i = 0; i < BB_ARRAY_LENGTH(ranges); i++) {
        struct bb_bytes low = bb_bytes_of_text(ranges[i].low);
        struct bb_bytes high = bb_bytes_of_text(ranges[i].high);
        size_t first = 99;
        size_t end = 99;
        bb_run_find_range(bb_levels_run(levels, 1, 0), levels->comparator,
                          &(struct bb_key_range){.low = &low, .high = &high}, &first, &end);
        assert_int_equal(first, ranges[i].first);
        assert_int_equal(end, ranges[i].end);
    }
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels__apply_adds_and_removes),
        cmocka_unit_test(levels__turns_are_the_runs_newest_first),
        cmocka_unit_test(levels__totals),
        cmocka_unit_test(levels__a_table_moves),
        cmocka_unit_test(levels__files_live_as_long_as_they_are_named),
        cmocka_unit_test(levels__corrupt_overlap),
        cmocka_unit_test(levels__corrupt_bounds),
        cmocka_unit_test(levels__corrupt_removed_number),
        cmocka_unit_test(levels__corrupt_added_number),
        cmocka_unit_test(levels__corrupt_level_number),
        cmocka_unit_test(levels__find_agrees_with_a_walk),
        cmocka_unit_test(levels__short_keys_are_found_at_once),
        cmocka_unit_test(levels__range_excludes_the_table_that_begins_at_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
