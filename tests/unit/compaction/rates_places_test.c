/* Goal: runs that share no key share no target, and new tables share it with the runs near them.
 * Method: drawings of levels, with new tables at chosen keys. */
#include "tests/unit/compaction/question.h"

#include "base/assert.h"

static void place(struct question *question, const char *low, const char *high)
{
    bb_hull_widen(&question->request.hull, bb_bytes_of_text(low), bb_bytes_of_text(high));
}

/* A flush beyond all other keys has the target for itself, and level 0 does not grow there. A flush
 * of keys that other runs share does not. */
static void rates_places__keys_in_order_share_no_target(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct question question;
    drawn_env_init(&drawn);
    struct bb_levels *levels =
        draw(&drawn, "0: 9[n-o]~0.009\n1: 7[i-k]*4~0.009 8[l-m]~0.009\n2: 1[a-h]*20~0.009");
    ask(&question, levels, 0, 1);
    place(&question, "p", "q");
    assert_near(bb_rates_for_run(&question.request), 0.01 / 1.1);
    assert_near(bb_rates_waste_after(&question.request, 0.009), 0.009);
    assert_near(bb_rates_waste_added(&question.request, 0.009), 0.009);
    ask(&question, levels, 0, 1);
    place(&question, "m5", "q");
    assert_true(bb_rates_for_run(&question.request) < 0.0018);
    assert_near(bb_rates_waste_after(&question.request, 0.001), 0.010);
    ask(&question, levels, 0, 1);
    assert_true(bb_rates_for_run(&question.request) < 0.001);
    assert_near(bb_rates_waste(levels, NULL, 2), 0.009);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

/* The rest of level 2 has low rates, which must not raise the rate where level 1 is. */
static void rates_places__of_a_run_that_is_mostly_elsewhere(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct question question;
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "1: 7[t-v]*4~0.008 8[w-z]*4~0.008\n"
                                            "2: 1[a-g]*20~0.0001 2[h-s]*20~0.0001 3[t-v]~0.002");
    ask(&question, levels, 2, 4);
    question.request.output_run = 0;
    ask_without(&question, 7);
    ask_without(&question, 3);
    place(&question, "t", "v");
    double rate = bb_rates_for_run(&question.request);
    assert_true(rate > 0.0001 && rate <= 0.0026);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

/* Tables that are being written at the same time count for their keys. */
static void rates_places__shares_count_where_they_are(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct question question;
    struct bb_waste_share *shares = NULL;
    struct bb_waste_share share = {.waste = 0};
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "1: 7[a-k]*4~0.009");
    struct bb_hull hull = {.comparator = NULL};
    bb_hull_widen(&hull, bb_bytes_of_text("l"), bb_bytes_of_text("p"));
    bb_waste_share_set(&shares, &share, &hull, 0.008);
    ask(&question, levels, 0, 1);
    place(&question, "q", "z");
    question.request.shares = shares;
    assert_near(bb_rates_for_run(&question.request), 0.01 / 1.1);
    place(&question, "p", "z");
    assert_true(bb_rates_for_run(&question.request) < 0.0028);
    assert_near(bb_rates_waste_after(&question.request, 0.001), 0.009);
    question.request.own_share = &share;
    assert_near(bb_rates_for_run(&question.request), 0.01 / 1.1);
    /* A share without a hull counts for all keys. */
    question.request.own_share = NULL;
    bb_waste_share_set(&shares, &share, &(struct bb_hull){.comparator = NULL}, 0.008);
    assert_near(bb_rates_waste_after(&question.request, 0.001), 0.009);
    question.request.hull = (struct bb_hull){.comparator = NULL};
    assert_near(bb_rates_waste_after(&question.request, 0.001), 0.018);
    bb_waste_share_end(&shares, &share);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

/* A table of level 0 that joins level 1 raises the mean there and in the gap, although no key has
 * more waste than any had before. */
static void rates_places__waste_is_added_where_it_is(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct question question;
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "0: 9[a-d]~0.006\n1: 1[e-h]~0.002");
    ask(&question, levels, 1, 1);
    ask_without(&question, 9);
    place(&question, "a", "d");
    assert_near(bb_rates_waste_after(&question.request, 0.006), 0.004);
    assert_near(bb_rates_waste_added(&question.request, 0.006), 0.004);
    bb_levels_unref(levels);
    /* Tables may touch: there is no gap. */
    levels = draw(&drawn, "0: 9[a-e]~0.006\n1: 1[e-h]~0.002");
    ask(&question, levels, 1, 1);
    ask_without(&question, 9);
    place(&question, "a", "e");
    assert_near(bb_rates_waste_added(&question.request, 0.006), 0.002);
    assert_true(bb_rates_waste_added(&question.request, 0.002) == 0);
    question.request.hull = (struct bb_hull){.comparator = NULL};
    assert_near(bb_rates_waste_added(&question.request, 0.006), 0.004);
    bb_levels_unref(levels);
    /* A merge spans the gap between its inputs, where other work may write. */
    levels = draw(&drawn, "0: 9[a-d]~0.006 8[p-z]~0.006");
    ask(&question, levels, 1, 2);
    ask_without(&question, 9);
    ask_without(&question, 8);
    place(&question, "a", "z");
    assert_near(bb_rates_waste_added(&question.request, 0.006), 0.006);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

/* Runs are near each other through a third one. A quarter of the keys of either suffices. */
static void rates_places__near_runs(void **state)
{
    (void)state;
    static const struct {
        const char *drawing;
        const char *low;
        const char *high;
        double near;
    } cases[] = {
        {"1: 7[a-k]*4\n2: 1[p-z]*9", "a", "c", 4},  /* within */
        {"1: 7[a-k]*4\n2: 1[p-z]*9", "l", "o", 0},  /* between */
        {"1: 7[a-z]*4\n2: 1[p-z]*9", "a", "c", 13}, /* through level 1 */
        {"1: 7[a-c]*4\n2: 1[p-z]*9", "a", "u", 13}, /* around */
        {"1: 7[e-i]*4\n2: 1[p-z]*9", "h", "l", 4},  /* just a quarter */
        {"1: 7[e-i]*4\n2: 1[p-z]*9", "hm", "l", 0}, /* less */
    };
    for (size_t i = 0; i < BB_ARRAY_LENGTH(cases); i++) {
        struct drawn_env drawn;
        struct question question;
        drawn_env_init(&drawn);
        struct bb_levels *levels = draw(&drawn, cases[i].drawing);
        ask(&question, levels, 0, 1);
        place(&question, cases[i].low, cases[i].high);
        assert_near(bb_rate_request_near(&question.request).keys, cases[i].near * DRAWN_KEYS);
        bb_levels_unref(levels);
        drawn_env_deinit(&drawn);
    }
}

/* With very many runs, the sum of all is the bound. */
static void rates_places__of_too_many_runs_add_up(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct bb_buf text = {0};
    drawn_env_init(&drawn);
    assert_ok(bb_buf_print(&text, "0:"));
    for (int i = 60; i > 0; i--)
        assert_ok(bb_buf_print(&text, " %d[k%02d0-k%02d9]", i, i, i));
    assert_ok(bb_buf_append(&text, "", 1));
    struct bb_levels *levels = draw(&drawn, (const char *)text.data);
    assert_near(bb_rates_waste(levels, NULL, 1), DRAWN_RATE);
    struct bb_rate_request request = {.levels = levels, .shape = &question_shape, .target = 0.01};
    struct bb_waste_share shares[10] = {{.waste = 0}};
    struct bb_waste_share *list = NULL;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(shares); i++)
        bb_waste_share_set(&list, &shares[i], &(struct bb_hull){.comparator = NULL}, DRAWN_RATE);
    request.shares = list;
    request.output_keys = DRAWN_KEYS;
    assert_near(bb_rates_waste_after(&request, DRAWN_RATE), 71 * DRAWN_RATE);
    for (size_t i = 0; i < BB_ARRAY_LENGTH(shares); i++)
        bb_waste_share_end(&list, &shares[i]);
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
    bb_buf_deinit(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_places__keys_in_order_share_no_target),
        cmocka_unit_test(rates_places__of_a_run_that_is_mostly_elsewhere),
        cmocka_unit_test(rates_places__shares_count_where_they_are),
        cmocka_unit_test(rates_places__waste_is_added_where_it_is),
        cmocka_unit_test(rates_places__near_runs),
        cmocka_unit_test(rates_places__of_too_many_runs_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
