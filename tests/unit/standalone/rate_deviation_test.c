/* Goal: the actual rates of filters scatter as documented, and sound filters are rarely many
 * deviations above their target. Method: many sets per cell. */
#include "tests/unit/standalone/envelope_fixture.h"

#include "standalone/sizing/rate_deviation.h"

static const enum bb_filter_kind kinds[] = {BB_FILTER_BLOOM, BB_FILTER_COUNTING,
                                            BB_FILTER_PARTITIONED, BB_FILTER_BLOCKED_BLOOM,
                                            BB_FILTER_SPLIT_BLOCK};

/* None of 47,000 filters reaches this by chance. */
#define HIGHEST 6

struct scatter {
    double stated;   /* of the first filter: all have the same parameters */
    double measured; /* relative standard deviation */
    double highest;  /* deviations above the target, as logarithms */
};

static struct scatter scatter_of(enum bb_filter_kind kind, double target, uint64_t count,
                                 uint64_t sets)
{
    struct scatter scatter = {.highest = -INFINITY};
    double sum = 0, squares = 0;
    for (uint64_t set = 1; set <= sets; set++) {
        struct bb_filter_info info;
        struct bb_buf envelope = envelope_of(kind, target, set, count);
        assert_ok(bb_filter_info(bb_buf_bytes(&envelope), &info));
        if (set == 1)
            scatter.stated = info.rate_deviation;
        double above = log(info.predicted_rate / target) / scatter.stated;
        scatter.highest = above > scatter.highest ? above : scatter.highest;
        sum += info.predicted_rate;
        squares += info.predicted_rate * info.predicted_rate;
        bb_buf_deinit(&envelope);
    }
    double mean = sum / (double)sets;
    scatter.measured = sqrt(squares / (double)sets - mean * mean) / mean;
    return scatter;
}

/* 400 sets know a deviation to 3.5 %. */
static void rate_deviation__rates_scatter_as_stated(void **state)
{
    (void)state;
    static const uint64_t counts[] = {300, 3000};
    static const double targets[] = {0.3, 0.01, 1e-4};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(kinds); i++)
        for (size_t j = 0; j < BB_ARRAY_LENGTH(counts); j++)
            for (size_t t = 0; t < BB_ARRAY_LENGTH(targets); t++) {
                struct scatter scatter = scatter_of(kinds[i], targets[t], counts[j], 400);
                double ratio = scatter.measured / scatter.stated;
                if (!(ratio > 0.75 && ratio < 1.33) || scatter.highest > HIGHEST)
                    fail_msg("%s, %llu keys at %g: stated %g, measured %g, highest %g",
                             bb_filter_kind_name(kinds[i]), (unsigned long long)counts[j],
                             targets[t], scatter.stated, scatter.measured, scatter.highest);
            }
}

static void rate_deviation__small_filters_do_not_stand_out(void **state)
{
    (void)state;
    static const double targets[] = {0.5, 0.1, 0.01, 1e-4, 1e-6};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(kinds); i++)
        for (uint64_t count = 1; count < 200; count += 1 + count / 3)
            for (size_t t = 0; t < BB_ARRAY_LENGTH(targets); t++) {
                struct scatter scatter = scatter_of(kinds[i], targets[t], count, 100);
                if (scatter.highest > HIGHEST)
                    fail_msg("%s, %llu keys at %g: stated %g, measured %g, highest %g",
                             bb_filter_kind_name(kinds[i]), (unsigned long long)count, targets[t],
                             scatter.stated, scatter.measured, scatter.highest);
            }
}

static void rate_deviation__no_keys_have_none(void **state)
{
    (void)state;
    struct bb_cells cells = {
        .unit_count = 100, .unit_bits = 1, .slices = 1, .words = 1, .probes = 7};
    assert_true(bb_rate_deviation(&cells, 0) == 0);
    /* All bits set: there is no deviation. */
    assert_true(bb_rate_deviation(&cells, UINT64_C(1) << 32) == 0);
    cells =
        (struct bb_cells){.unit_count = 2, .unit_bits = 512, .slices = 1, .words = 1, .probes = 6};
    assert_true(bb_rate_deviation(&cells, UINT64_C(1) << 32) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rate_deviation__rates_scatter_as_stated),
        cmocka_unit_test(rate_deviation__small_filters_do_not_stand_out),
        cmocka_unit_test(rate_deviation__no_keys_have_none),
    };
    keys_init("rate_deviation");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
