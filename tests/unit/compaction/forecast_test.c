/* Goal: the forecast has the future runs next to a table, its rates take minimal memory for a
 * target, and its target is minimal for a memory. Method: drawn stores; random forecasts, compared
 * with one another. */
#include "tests/unit/compaction/drawing.h"

#include <math.h>

#include "compaction/rates/forecast.h"
#include "tests/support/rng.h"

static const struct bb_shape shape = {
    .level0_run_count = 4, .level1_size_bytes = 4 * DRAWN_BYTES, .level_size_ratio = 10};
static const struct bb_filter_cost cost = {
    .kind = BB_FILTER_RIBBON, .slope = 1.01, .overhead_bits = 0.3};

static void assert_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g, expected %.12g", found, expected);
}

static void forecast__of_a_store(void **state)
{
    (void)state;
    struct drawn_env drawn;
    struct bb_forecast forecast;
    struct bb_read_weights weights = {.absent_share = 0.1};
    drawn_env_init(&drawn);
    struct bb_levels *levels = draw(&drawn, "0: 4[a-z] 3[a-z]\n1: 2[a-z]*3\n2: 1[a-z]*20");
    struct bb_rate_request request = {.levels = levels,
                                      .output_level = 0,
                                      .output_keys = DRAWN_KEYS,
                                      .shape = &shape,
                                      .weights = &weights};
    /* A flush: level 0 will be full, and no other level changes before it is merged. */
    bb_forecast_init(&forecast, &request, 1);
    bb_forecast_grow(&forecast, &request);
    assert_near(forecast.runs[0], 4);
    assert_near(forecast.keys[0], 4 * DRAWN_KEYS);
    assert_near(forecast.keys[1], 3 * DRAWN_KEYS);
    assert_near(forecast.keys[2], 20 * DRAWN_KEYS);
    assert_near(forecast.weights[0], 1);
    assert_near(forecast.weights[1], 1);
    assert_near(forecast.weights[2], 0.1);
    /* A table of level 2: level 1 fills up, and goes down into level 2 once. */
    request.output_level = 2;
    bb_forecast_init(&forecast, &request, 1);
    assert_near(forecast.keys[1], 4 * DRAWN_KEYS);
    assert_near(forecast.keys[2], 21 * DRAWN_KEYS);
    bb_forecast_grow(&forecast, &request);
    double free_keys = forecast.keys[0] - 2 * DRAWN_KEYS + DRAWN_KEYS;
    assert_near(forecast.keys[2], 21 * DRAWN_KEYS + fmax(0, 4 * DRAWN_KEYS - free_keys));
    bb_levels_unref(levels);
    drawn_env_deinit(&drawn);
}

static struct bb_forecast random_forecast(struct bb_rng *rng)
{
    struct bb_forecast forecast = {.runs[0] = (double)bb_rng_below(rng, 12)};
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        bool has_keys = level == 3 || bb_rng_one_in(rng, 2);
        forecast.keys[level] = has_keys ? (double)(1 + bb_rng_below(rng, 1000000)) : 0;
        forecast.weights[level] = exp2((double)bb_rng_below(rng, 8) - 6);
    }
    if (forecast.runs[0] == 0)
        forecast.keys[0] = 0;
    return forecast;
}

static double runs_of(const struct bb_forecast *forecast, int level)
{
    return forecast->keys[level] == 0 ? 0 : level == 0 ? forecast->runs[0] : 1;
}

static double waste_of(const struct bb_forecast *forecast, const double rates[BB_LEVEL_COUNT])
{
    double waste = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        waste += runs_of(forecast, level) * forecast->weights[level] * rates[level];
    return waste;
}

static double bits_of(const struct bb_forecast *forecast, const double rates[BB_LEVEL_COUNT])
{
    double bits = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        bits += forecast->keys[level] * bb_filter_cost_bits(&cost, rates[level]);
    return bits;
}

static void forecast__rates_keep_the_target(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("forecast__rates_keep_the_target", 5));
    for (int i = 0; i < 2000; i++) {
        double rates[BB_LEVEL_COUNT];
        struct bb_forecast forecast = random_forecast(&rng);
        double target = exp2(-(double)bb_rng_below(&rng, 16));
        bb_forecast_rates(&forecast, target, rates);
        for (int level = 0; level < BB_LEVEL_COUNT; level++) {
            assert_true(rates[level] == 1 ||
                        (rates[level] <= BB_FILTER_RATE_MAX && rates[level] >= BB_FILTER_RATE_MIN));
            assert_true(forecast.keys[level] > 0 || rates[level] == 1);
        }
        double floor = 20 * BB_FILTER_RATE_MIN;
        assert_true(waste_of(&forecast, rates) <= target * (1 + 1e-9) + floor);
    }
}

/* The target of a memory is kept within it, and a little stricter one is not. */
static void forecast__target_of_a_memory(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("forecast__target_of_a_memory", 6));
    for (int i = 0; i < 1000; i++) {
        double rates[BB_LEVEL_COUNT];
        struct bb_forecast forecast = random_forecast(&rng);
        double keys = 0;
        for (int level = 0; level < BB_LEVEL_COUNT; level++)
            keys += forecast.keys[level];
        double bits = keys * (double)bb_rng_below(&rng, 240) / 10;
        double target = bb_forecast_target(&forecast, &cost, bits);
        bb_forecast_rates(&forecast, target, rates);
        assert_true(bits_of(&forecast, rates) <= bits);
        assert_true(target >= BB_FORECAST_TARGET_MIN);
        if (target == BB_FORECAST_TARGET_MIN)
            continue;
        bb_forecast_rates(&forecast, target * 0.9999, rates);
        assert_true(bits_of(&forecast, rates) > bits);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forecast__of_a_store),
        cmocka_unit_test(forecast__rates_keep_the_target),
        cmocka_unit_test(forecast__target_of_a_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
