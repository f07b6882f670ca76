/* Goal: the ClickHouse policy agrees with ClickHouse, including its hole and its floor, and ours
 * has neither. Method: the intervals of its mapping, derived manually from the table; the formula
 * of the table; published sizes of an index. */
#include "tests/unit/standalone/envelope_fixture.h"

#include "standalone/plan/clickhouse.h"

/* From this rate up to the previous one: bits per key and probes. */
static const struct interval {
    double from;
    uint32_t bits_per_key;
    uint32_t probes;
} intervals[] = {
    {0.283, 2, 2},      {0.237, 3, 2},      {0.221, 19, 13},    {0.155, 4, 2},
    {0.147, 4, 3},      {0.109, 5, 2},      {0.092, 5, 3},      {0.0804, 6, 2},
    {0.0609, 6, 3},     {0.0561, 6, 4},     {0.0423, 7, 3},     {0.0359, 7, 4},
    {0.0347, 7, 5},     {0.0306, 8, 3},     {0.024, 8, 4},      {0.0217, 8, 5},
    {0.0216, 8, 6},     {0.0166, 9, 4},     {0.0141, 9, 5},     {0.0133, 9, 6},
    {0.0118, 10, 4},    {0.00943, 10, 5},   {0.00844, 10, 6},   {0.00819, 10, 7},
    {0.0065, 11, 5},    {0.00552, 11, 6},   {0.00513, 11, 7},   {0.00509, 11, 8},
    {0.00459, 12, 5},   {0.00371, 12, 6},   {0.00329, 12, 7},   {0.00314, 12, 8},
    {0.00255, 13, 6},   {0.00217, 13, 7},   {0.00199, 13, 8},   {0.00194, 13, 9},
    {0.00179, 14, 6},   {0.00146, 14, 7},   {0.00129, 14, 8},   {0.00121, 14, 9},
    {0.0012, 14, 10},   {0.001, 15, 7},     {0.000852, 15, 8},  {0.000775, 15, 9},
    {0.000744, 15, 10}, {0.000702, 16, 7},  {0.000574, 16, 8},  {0.000505, 16, 9},
    {0.00047, 16, 10},  {0.000459, 16, 11}, {0.000394, 17, 8},  {0.000335, 17, 9},
    {0.000302, 17, 10}, {0.000287, 17, 11}, {0.000284, 17, 12}, {0.000275, 18, 8},
    {0.000226, 18, 9},  {0.000198, 18, 10}, {0.000183, 18, 11}, {0.000176, 18, 12},
    {0.000155, 19, 9},  {0.000132, 19, 10}, {0.000118, 19, 11}, {0.000111, 19, 12},
    {0.000109, 19, 13}, {0, 19, 13},
};

static void assert_sizing(double rate, const struct interval *expected)
{
    struct bb_clickhouse_sizing found = bb_clickhouse_sizing(rate);
    if (found.bits_per_key == expected->bits_per_key && found.probes == expected->probes)
        return;
    print_error("%.17g: %u bits, %u probes; expected %u, %u\n", rate, found.bits_per_key,
                found.probes, expected->bits_per_key, expected->probes);
    fail();
}

static void clickhouse__rates_map_as_they_do_there(void **state)
{
    (void)state;
    double until = 1;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(intervals); i++) {
        assert_sizing(intervals[i].from, &intervals[i]);
        assert_sizing((intervals[i].from + until) / 2, &intervals[i]);
        assert_sizing(nextafter(until, 0), &intervals[i]);
        until = intervals[i].from;
    }
}

/* Digits after rounding: the tables in circulation have three. */
static void clickhouse__the_table_is_the_formula(void **state)
{
    (void)state;
    for (uint32_t bits = 2; bits <= BB_CLICKHOUSE_BITS_MAX; bits++)
        for (uint32_t probes = 1; probes <= BB_CLICKHOUSE_PROBES_MAX; probes++) {
            double stated = bb_clickhouse_rate(bits, probes);
            double formula = pow(-expm1(-(double)probes / bits), probes);
            if (stated > 0 && fabs(stated / formula - 1) > 0.01)
                print_error("%u bits, %u probes: %g, formula %g\n", bits, probes, stated, formula);
            assert_true(stated == 0 || fabs(stated / formula - 1) <= 0.01);
        }
}

static struct bb_filter_plan plan_of(enum bb_filter_policy policy, uint64_t keys, double rate)
{
    struct bb_filter_question question = {
        .kind = BB_FILTER_BLOOM, .policy = policy, .key_count = keys, .target_rate = rate};
    struct bb_filter_plan plan = {0};
    assert_ok(bb_filter_plan(&question, &plan));
    return plan;
}

/* 100,000 rows of distinct values; users saw 24 bytes more, of counts. */
static void clickhouse__sizes_are_those_that_users_saw(void **state)
{
    (void)state;
    static const struct {
        double rate;
        uint64_t bytes;
    } seen[] = {{0.025, 100000}, {0.1, 62500}, {0.001, 187500}};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(seen); i++) {
        struct bb_filter_plan plan = plan_of(BB_FILTER_POLICY_CLICKHOUSE, 100000, seen[i].rate);
        assert_int_equal(plan.size_bytes, 72 + seen[i].bytes);
        assert_int_equal(plan.parameters[0], seen[i].bytes * 8);
    }
    assert_int_equal(plan_of(BB_FILTER_POLICY_CLICKHOUSE, 3, 0.025).size_bytes, 72 + 3);
    assert_int_equal(plan_of(BB_FILTER_POLICY_CLICKHOUSE, 3, 0.01).size_bytes, 72 + 4);
}

static void clickhouse__its_hole_is_not_ours(void **state)
{
    (void)state;
    for (double rate = 0.221; rate < 0.237; rate += 0.001) {
        struct bb_filter_plan theirs = plan_of(BB_FILTER_POLICY_CLICKHOUSE, 8192, rate);
        struct bb_filter_plan ours = plan_of(BB_FILTER_POLICY_EXACT, 8192, rate);
        assert_int_equal(theirs.parameters[0], 19 * 8192);
        assert_int_equal(theirs.bits_per_probe, 13);
        assert_true(ours.bits_per_key < 3.4 && ours.predicted_rate <= rate);
        assert_true(ours.predicted_rate > rate * 0.999);
    }
}

static void clickhouse__its_floor_is_not_ours(void **state)
{
    (void)state;
    for (double rate = 1e-4; rate > BB_FILTER_RATE_MIN; rate /= 3) {
        struct bb_filter_plan theirs = plan_of(BB_FILTER_POLICY_CLICKHOUSE, 8192, rate);
        struct bb_filter_plan ours = plan_of(BB_FILTER_POLICY_EXACT, 8192, rate);
        assert_true(theirs.predicted_rate > 1.08e-4 && theirs.predicted_rate < 1.10e-4);
        assert_true(theirs.predicted_rate > rate && theirs.target_rate == rate);
        assert_true(ours.predicted_rate <= rate && ours.predicted_rate > rate * 0.99);
    }
}

/* Whole bits and no more probes than needed: at most a bit per key more than ours, elsewhere; but
 * at 0.283 to 0.4 the target is missed. */
static void clickhouse__elsewhere_it_is_a_little_larger(void **state)
{
    (void)state;
    for (double rate = 0.22; rate > 1.1e-4; rate *= 0.97) {
        struct bb_filter_plan theirs = plan_of(BB_FILTER_POLICY_CLICKHOUSE, 8192, rate);
        struct bb_filter_plan ours = plan_of(BB_FILTER_POLICY_EXACT, 8192, rate);
        assert_true(theirs.predicted_rate <= rate * 1.01);
        assert_true(theirs.bits_per_key > ours.bits_per_key - 0.02);
        assert_true(theirs.bits_per_key < ours.bits_per_key + 1.05);
    }
    assert_true(plan_of(BB_FILTER_POLICY_CLICKHOUSE, 8192, 0.3).predicted_rate > 0.39);
}

static void clickhouse__plans_can_be_built(void **state)
{
    (void)state;
    struct bb_filter_plan plan = plan_of(BB_FILTER_POLICY_CLICKHOUSE, 5000, 0.025);
    struct bb_filter_options options = {.kind = plan.kind,
                                        .target_rate = plan.target_rate,
                                        .parameters = {plan.parameters[0], plan.parameters[1]}};
    struct bb_buf envelope = {0};
    struct bb_filter_info info;
    envelope_append(&envelope, &options, 1, 5000);
    assert_ok(bb_filter_info(bb_buf_bytes(&envelope), &info));
    assert_int_equal(info.size_bytes, 72 + 5000);
    assert_int_equal(info.bits_per_probe, 4);
    assert_true(info.predicted_rate > 0.021 && info.predicted_rate < 0.027);
    bb_buf_deinit(&envelope);
}

static void clickhouse__other_questions_are_refused(void **state)
{
    (void)state;
    struct bb_filter_plan plan;
    struct bb_filter_question question = {.kind = BB_FILTER_RIBBON,
                                          .policy = BB_FILTER_POLICY_CLICKHOUSE,
                                          .key_count = 100,
                                          .target_rate = 0.01};
    assert_status(bb_filter_plan(&question, &plan), BB_UNSUPPORTED);
    assert_message("for kind bloom, not ribbon");
    question = (struct bb_filter_question){
        .policy = BB_FILTER_POLICY_CLICKHOUSE, .key_count = 100, .size_bytes = 1000};
    assert_status(bb_filter_plan(&question, &plan), BB_UNSUPPORTED);
    assert_message("from keys and rate");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clickhouse__rates_map_as_they_do_there),
        cmocka_unit_test(clickhouse__the_table_is_the_formula),
        cmocka_unit_test(clickhouse__sizes_are_those_that_users_saw),
        cmocka_unit_test(clickhouse__its_hole_is_not_ours),
        cmocka_unit_test(clickhouse__its_floor_is_not_ours),
        cmocka_unit_test(clickhouse__elsewhere_it_is_a_little_larger),
        cmocka_unit_test(clickhouse__plans_can_be_built),
        cmocka_unit_test(clickhouse__other_questions_are_refused),
    };
    keys_init("clickhouse");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
