/* Goal: the share of keys between two keys is estimated from their first bytes that differ, or from
 * the bounds of other tables. Method: drawings of levels; tables of keys that are spread very
 * unevenly, whose true shares are known. */
#include "tests/unit/compaction/drawing.h"

#include <math.h>

#include "compaction/levels/spread.h"
#include "tests/support/rng.h"

static struct bb_hull hull_of(const struct bb_comparator *comparator, const char *low,
                              const char *high)
{
    struct bb_hull hull = {.comparator = comparator};
    bb_hull_widen(&hull, bb_bytes_of_text(low), bb_bytes_of_text(low));
    bb_hull_widen(&hull, bb_bytes_of_text(high), bb_bytes_of_text(high));
    return hull;
}

/* The share of low ... high that the keys from `first` to `last` have, without tables. */
static double share_of(const char *first, const char *last, const char *low, const char *high)
{
    struct bb_levels *levels = NULL;
    assert_ok(bb_levels_create_empty(NULL, &levels));
    struct bb_hull hull = hull_of(NULL, first, last);
    double share = bb_spread_share(levels, &hull, bb_bytes_of_text(low), bb_bytes_of_text(high));
    bb_levels_unref(levels);
    return share;
}

static void assert_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-3))
        fail_msg("%.12g, expected %.12g", found, expected);
}

static void spread__of_ranges(void **state)
{
    (void)state;
    assert_near(share_of("a", "z", "c", "e"), 1);
    assert_near(share_of("c", "e", "c", "e"), 1);
    assert_near(share_of("a", "b", "c", "e"), 0);
    assert_near(share_of("f", "g", "c", "e"), 0);
    assert_near(share_of("a", "d", "c", "e"), 0.5);
    assert_near(share_of("d", "z", "c", "e"), 0.5);
    assert_near(share_of("c", "c", "c", "c"), 1);
}

/* Digits are digits, wherever they begin, and a key may be shorter. */
static void spread__of_numbers_in_text(void **state)
{
    (void)state;
    assert_near(share_of("user:1500", "user:1800", "user:0000", "user:9999"), 0.03);
    assert_near(share_of("0", "1999", "1000", "3000"), 0.4995);
    assert_near(share_of("15", "2", "1000", "3000"), 0.25);
    assert_near(share_of("00ff", "01ff", "0000", "0aff"), 256.0 / 0xaff);
    assert_near(share_of("car", "cat", "caa", "czz"), 2.0 / (26 * 26 - 1));
    assert_near(share_of("\x10", "\x20", "\x01", "\xc1"), 1.0 / 12);
}

/* Of text, and of digits. */
static void spread__is_monotone(void **state)
{
    (void)state;
    static const char *const digits = "0123456789abcdef";
    char key[3] = "5?";
    double before = 0;
    for (size_t i = 0; i < 16; i++) {
        key[1] = digits[i];
        double share = share_of("00", key, "00", "ff");
        assert_true(share > before && share <= 1);
        before = share;
    }
    assert_near(share_of("50", "5a", "00", "ff"), 10.0 / 255);
    /* The bounds have letters only at one place. */
    assert_near(share_of("34fef", "3530f", "34fef", "35a8d"), (0x3530f - 0x34fef) / 2718.0);
}

/* Eight tables of one level are the measure for a table of another, although their lengths differ
 * by factors of ten. The first and the last table of an overlap are divided by bytes. */
static void spread__follows_the_longest_run(void **state)
{
    (void)state;
    struct drawn_env drawn;
    drawn_env_init(&drawn);
    struct bb_levels *levels =
        draw(&drawn, "0: 9[00000000-99999999]*80\n"
                     "1: 1[00000000-00000009] 2[00000010-00000099] 3[00000100-00000999] "
                     "4[00001000-00009999] 5[00010000-00099999] 6[00100000-00999999] "
                     "7[01000000-09999999] 8[10000000-99999999]\n");
    struct bb_hull hull = hull_of(NULL, "00000100", "00099999");
    const struct bb_run *run = bb_levels_run(levels, 0, 0);
    assert_true(fabs(bb_spread_run_keys(levels, &hull, run) / (30 * DRAWN_KEYS) - 1) < 0.01);
    assert_true(bb_spread_run_keys(levels, &hull, bb_levels_run(levels, 1, 0)) == 3 * DRAWN_KEYS);
    hull = hull_of(NULL, "00055000", "00550000");
    assert_true(fabs(bb_spread_run_keys(levels, &hull, run) / (10 * DRAWN_KEYS) - 1) < 0.01);
    assert_true(fabs(bb_spread_keys(levels, &hull) / (11 * DRAWN_KEYS) - 1) < 0.01);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Words of a few letters that are very uneven. Level 1 has 16 tables of 64 of them, and level 0 one
 * table of all. The estimate of a range is within the keys of the two tables at its ends. */
static void spread__of_uneven_keys(void **state)
{
    (void)state;
    enum { TABLES = 16, TABLE_KEYS = 64, KEYS = TABLES * TABLE_KEYS };
    static char words[KEYS][16];
    static char *sorted[KEYS];
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("spread__of_uneven_keys", 5));
    for (size_t i = 0; i < KEYS; i++) {
        for (size_t j = 0; j < 10; j++)
            words[i][j] = (char)('a' + bb_rng_skewed(&rng, 25));
        sorted[i] = words[i];
    }
    qsort(sorted, KEYS, sizeof(sorted[0]), compare_keys);
    struct bb_buf drawing = {0};
    assert_ok(bb_buf_print(&drawing, "0: 99[%s-%s]*%d\n1:", sorted[0], sorted[KEYS - 1], TABLES));
    for (size_t i = 0; i < TABLES; i++)
        assert_ok(bb_buf_print(&drawing, " %zu[%s-%s]", i + 1, sorted[i * TABLE_KEYS],
                               sorted[(i + 1) * TABLE_KEYS - 1]));
    assert_ok(bb_buf_append(&drawing, "", 1));
    struct drawn_env drawn;
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, (const char *)drawing.data);
    for (size_t i = 0; i < 500; i++) {
        size_t first = (size_t)bb_rng_below(&rng, KEYS - 1);
        size_t last = first + (size_t)bb_rng_below(&rng, KEYS - first);
        struct bb_hull hull = hull_of(NULL, sorted[first], sorted[last]);
        double keys = bb_spread_run_keys(levels, &hull, bb_levels_run(levels, 0, 0)) / DRAWN_KEYS;
        double expected = (double)(last - first) / TABLE_KEYS;
        assert_true(fabs(keys - expected) <= 2);
    }
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
    bb_buf_deinit(&drawing);
}

static int compare_reversed(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    return bb_bytes_compare(b, a);
}

static void spread__with_a_comparator(void **state)
{
    (void)state;
    const struct bb_comparator reversed = {.compare = compare_reversed, .name = "reversed"};
    struct drawn_env drawn;
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw_ordered(&drawn, &reversed, "1: 1[z-s] 2[q-n] 3[m-f] 4[e-a]\n");
    struct bb_hull hull = hull_of(&reversed, "o", "g");
    assert_true(bb_spread_keys(levels, &hull) == 2 * DRAWN_KEYS);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spread__of_ranges),      cmocka_unit_test(spread__of_numbers_in_text),
        cmocka_unit_test(spread__is_monotone),    cmocka_unit_test(spread__follows_the_longest_run),
        cmocka_unit_test(spread__of_uneven_keys), cmocka_unit_test(spread__with_a_comparator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
