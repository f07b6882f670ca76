/* Goal: standalone filters pass the predicted share of non-member keys, and predict no more than
 * their target. Method: one filter of every kind, number of keys and target; non-member keys until
 * 1,000 are expected to pass, whose number must be within 5 % or 6 standard deviations of the
 * predicted rate, whichever is wider (a correct filter fails one cell in 10^9). The mean of many
 * small filters' predictions compared with their target.
 *
 * BB_TEST_RATES: the lowest target, 0.001 by default. 1e-5 takes minutes.
 */
#include "tests/unit/standalone/envelope_fixture.h"

static const enum bb_filter_kind kinds[] = {
    BB_FILTER_RIBBON,   BB_FILTER_BLOCKED_BLOOM, BB_FILTER_BLOOM,      BB_FILTER_SPLIT_BLOCK,
    BB_FILTER_COUNTING, BB_FILTER_SCALABLE,      BB_FILTER_PARTITIONED};
static const uint64_t counts[] = {10, 35, 100, 300, 1000, 4096};
static const double targets[] = {0.3, 0.1, 0.01, 0.001, 1e-4, 1e-5};

#define POSITIVES 1000

static double lowest_target(void)
{
    const char *text = getenv("BB_TEST_RATES");
    return text == NULL ? 0.001 : strtod(text, NULL);
}

static double predicted_rate(const struct bb_buf *envelope)
{
    struct bb_filter_info info;
    assert_ok(bb_filter_info(bb_buf_bytes(envelope), &info));
    return info.predicted_rate;
}

static uint64_t count_passed(const struct bb_buf *envelope, uint64_t begin, uint64_t asked)
{
    struct bb_filter_view view;
    uint64_t passed = 0;
    assert_ok(bb_filter_view_init(&view, bb_buf_bytes(envelope)));
    for (uint64_t i = 0; i < asked; i++)
        passed += bb_filter_may_contain(&view, absent_hash(begin + i));
    return passed;
}

/* A sparse filter with a far lower rate than its target (a line that is larger than needed) is
 * probed as often as its target requires. */
static void assert_cell(enum bb_filter_kind kind, double target, uint64_t n)
{
    struct bb_buf envelope = envelope_of(kind, target, n, n);
    double rate = predicted_rate(&envelope);
    uint64_t asked = (uint64_t)(POSITIVES / (rate > target / 2 ? rate : target));
    uint64_t passed = count_passed(&envelope, n << 32, asked);
    double expected = rate * (double)asked;
    double band = fmax(0.05 * expected, BAND * sqrt(expected) + BAND);
    if (fabs((double)passed - expected) > band) {
        print_error("%s, %llu keys at %g: %llu of %llu passed, predicted %.1f +- %.1f\n",
                    bb_filter_kind_name(kind), (unsigned long long)n, target,
                    (unsigned long long)passed, (unsigned long long)asked, expected, band);
        fail();
    }
    bb_buf_deinit(&envelope);
}

static void filter_rate__measured_is_predicted(void **state)
{
    (void)state;
    for (size_t k = 0; k < BB_ARRAY_LENGTH(kinds); k++)
        for (size_t t = 0; t < BB_ARRAY_LENGTH(targets) && targets[t] >= lowest_target(); t++)
            for (size_t c = 0; c < BB_ARRAY_LENGTH(counts); c++)
                assert_cell(kinds[k], targets[t], counts[c]);
}

/* Mean and its standard error over filters of n keys each. */
static void assert_mean(enum bb_filter_kind kind, double target, uint64_t n, uint64_t filters)
{
    double sum = 0, squares = 0;
    for (uint64_t f = 0; f < filters; f++) {
        struct bb_buf envelope = envelope_of(kind, target, n << 16 | f, n);
        double rate = predicted_rate(&envelope);
        sum += rate;
        squares += rate * rate;
        bb_buf_deinit(&envelope);
    }
    double mean = sum / (double)filters;
    double deviation = sqrt(fmax(squares / (double)filters - mean * mean, 0));
    double error = BAND * deviation / sqrt((double)filters);
    bool promised_each = kind == BB_FILTER_RIBBON || kind == BB_FILTER_SCALABLE;
    if (mean > target * (1 + 1e-9) + (promised_each ? 0 : error)) {
        print_error("%s, %llu keys at %g: predicts %g +- %g\n", bb_filter_kind_name(kind),
                    (unsigned long long)n, target, mean, error);
        fail();
    }
}

static void filter_rate__predicted_meets_the_target(void **state)
{
    (void)state;
    for (size_t k = 0; k < BB_ARRAY_LENGTH(kinds); k++)
        for (size_t t = 0; t < 5; t++)
            for (size_t c = 0; c < 4; c++)
                assert_mean(kinds[k], targets[t], counts[c], 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filter_rate__measured_is_predicted),
        cmocka_unit_test(filter_rate__predicted_meets_the_target),
    };
    keys_init("filter_rate");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
