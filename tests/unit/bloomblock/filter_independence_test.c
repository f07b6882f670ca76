/* Goal: false positives of filters over the same keys are independent: for a non-member key, the
 * results of six tables are six throws. Otherwise a store's rates do not multiply, and keys that
 * pass one table reveal keys that pass another. Method: ribbons of the same members under
 * neighbouring salts, from one key each on, where dependence shows first; joint counts of all pairs
 * compared with the product of the two, the number of filters that a key passes compared with the
 * binomial distribution, the variance of that number over 64 filters. The same measures are taken
 * of a naive scheme, which must fail them. */
#include "tests/unit/bloomblock/filter_fixture.h"
#include "tests/unit/bloomblock/ribbon_row.h"

#include "bloomblock/ribbon/ribbon.h"
#include "bloomblock/ribbon/ribbon_bits.h"
#include "bloomblock/ribbon/ribbon_solver.h"

#define SIX  6
#define MANY 64

/* Filters that are probed together. */
struct stack {
    size_t count;
    struct bb_block_filter_format formats[MANY];
    struct group groups[MANY];
};

/* The same members in every filter; salts are neighbours. */
static void stack_init(struct stack *stack, size_t count, double rate, uint64_t set,
                       size_t key_count)
{
    stack->count = count;
    for (size_t i = 0; i < count; i++) {
        stack->formats[i] = format_of(BB_FILTER_RIBBON, rate, set * MANY + i);
        struct bb_block_filter_builder *builder = builder_of(&stack->formats[i]);
        group_init(&stack->groups[i], &stack->formats[i], builder, set, key_count);
        bb_block_filter_builder_destroy(builder);
    }
}

static void stack_deinit(struct stack *stack)
{
    for (size_t i = 0; i < stack->count; i++)
        group_deinit(&stack->groups[i]);
}

static uint64_t stack_ask(const struct stack *stack, uint64_t hash)
{
    uint64_t answers = 0;
    for (size_t i = 0; i < stack->count; i++)
        answers |= (uint64_t)group_may_contain(&stack->groups[i], hash) << i;
    return answers;
}

/* --- Six filters, in pairs and together --- */

struct counts {
    uint64_t asked;
    uint64_t single[SIX];
    uint64_t both[SIX][SIX];
    uint64_t passed[SIX + 1]; /* keys that this many of the six pass */
};

static void count_answers(struct counts *counts, uint64_t answers)
{
    counts->asked++;
    counts->passed[__builtin_popcountll(answers)]++;
    for (uint32_t i = 0; i < SIX; i++)
        for (uint32_t j = i; j < SIX; j++)
            counts->both[i][j] += answers >> i & answers >> j & 1;
}

static double deviations(uint64_t found, uint64_t asked, double rate)
{
    double expected = (double)asked * rate;
    return fabs((double)found - expected) / (sqrt(expected * (1 - rate)) + 1);
}

/* The largest deviation of all counts from independent filters of a rate, in standard
 * deviations. */
static double worst_deviation(const struct counts *counts, double rate)
{
    double worst = 0, chance = pow(1 - rate, SIX);
    for (int i = 0; i < SIX; i++)
        for (int j = i; j < SIX; j++)
            worst = fmax(
                worst, deviations(counts->both[i][j], counts->asked, i == j ? rate : rate * rate));
    for (int k = 0; k <= SIX; k++) {
        worst = fmax(worst, deviations(counts->passed[k], counts->asked, chance));
        chance *= (double)(SIX - k) / (k + 1) * rate / (1 - rate);
    }
    return worst;
}

static void assert_six(size_t key_count, double rate, uint64_t sets, uint64_t questions)
{
    static struct stack stack;
    struct counts counts = {0};
    for (uint64_t set = 0; set < sets; set++) {
        stack_init(&stack, SIX, rate, set, key_count);
        for (uint64_t i = 0; i < questions; i++)
            count_answers(&counts, stack_ask(&stack, absent_hash(set * questions + i)));
        stack_deinit(&stack);
    }
    double worst = worst_deviation(&counts, rate);
    if (worst > BAND)
        print_error("%zu keys, rate %g: off by %.1f standard deviations\n", key_count, rate, worst);
    assert_true(worst <= BAND);
}

/* Sets of few keys many times over: all that a filter of one key has is a fingerprint. */
static void filter_independence__six_filters_of_the_same_keys(void **state)
{
    (void)state;
    static const size_t few[] = {1, 2, 3, 5, 8, 14};
    static const size_t more[] = {30, 57, 100, 300, 1000, 2000};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(few); i++) {
        assert_six(few[i], 0.25, 400, 200);
        assert_six(few[i], 1.0 / 32, 400, 200);
    }
    for (size_t i = 0; i < BB_ARRAY_LENGTH(more); i++)
        assert_six(more[i], 0.125, 8, 10000);
    assert_six(5000, 0.125, 2, 40000); /* shards */
}

/* A naive scheme must fail the same measures: the domain affects the fingerprint, but start and
 * coefficients depend only on the key. All filters pass the same keys. */
static bool naive_answer(const struct bb_ribbon_rows *rows, struct bb_ribbon_equation equation,
                         uint32_t fingerprint_bits)
{
    uint32_t sum = equation.fingerprint & bb_ribbon_equation_fingerprint_mask(fingerprint_bits);
    for (uint64_t left = equation.coefficients; left != 0; left &= left - 1)
        sum ^= ribbon_row(rows, equation.start + (uint32_t)__builtin_ctzll(left), fingerprint_bits);
    return sum == 0;
}

static struct bb_ribbon_equation naive_equation(uint64_t hash, uint32_t filter, uint32_t groups)
{
    struct bb_ribbon_equation equation = bb_ribbon_equation(hash, 0, groups);
    equation.fingerprint ^= (uint32_t)bb_hash_mix(filter);
    return equation;
}

static void filter_independence__a_naive_scheme_is_found_out(void **state)
{
    (void)state;
    static struct bb_ribbon_solver solvers[SIX];
    const uint32_t fingerprint_bits = 3, groups = 48, keys = 300;
    struct counts counts = {0};
    for (uint32_t filter = 0; filter < SIX; filter++) {
        bb_ribbon_system_reset(&solvers[filter].system, groups * BB_RIBBON_GROUP_ROWS,
                               fingerprint_bits);
        for (uint64_t i = 0; i < keys; i++)
            bb_ribbon_system_add(&solvers[filter].system,
                                 naive_equation(member_hash(1, i), filter, groups));
        assert_true(bb_ribbon_solver_finish(&solvers[filter]));
    }
    for (uint64_t i = 0; i < 10000; i++) {
        uint64_t answers = 0;
        for (uint32_t filter = 0; filter < SIX; filter++) {
            struct bb_ribbon_equation equation = naive_equation(absent_hash(i), filter, groups);
            answers |= (uint64_t)naive_answer(&solvers[filter].rows, equation, fingerprint_bits)
                       << filter;
        }
        count_answers(&counts, answers);
    }
    assert_true(worst_deviation(&counts, 0.125) > 4 * BAND);
}

/* --- 64 filters --- */

/* Of independent filters of rate 1/2, the number that a key passes has the variance 16; a mean
 * correlation of 1/1000 among the 2,016 pairs adds 1 to it. */
static void assert_many(size_t key_count, uint64_t sets, uint64_t questions)
{
    static struct stack stack;
    double squares = 0, count = (double)(sets * questions);
    for (uint64_t set = 0; set < sets; set++) {
        stack_init(&stack, MANY, 0.5, set, key_count);
        for (uint64_t i = 0; i < questions; i++) {
            uint64_t answers = stack_ask(&stack, absent_hash(set * questions + i));
            double off = __builtin_popcountll(answers) - MANY / 2;
            squares += off * off;
        }
        stack_deinit(&stack);
    }
    double variance = squares / count;
    if (fabs(variance - 16) > BAND * 16 * sqrt(2 / count))
        print_error("%zu keys: variance %.2f, expected 16\n", key_count, variance);
    assert_true(fabs(variance - 16) <= BAND * 16 * sqrt(2 / count));
}

static void filter_independence__many_filters_of_the_same_keys(void **state)
{
    (void)state;
    assert_many(1, 40, 200);
    assert_many(4, 40, 200);
    assert_many(20, 20, 500);
    assert_many(100, 8, 1250);
    assert_many(700, 2, 5000);
}

/* --- Keys that were collected --- */

/* Who collects keys that pass one table, in a store whose secret is known, has gained nothing
 * against the next table of that store. */
static void filter_independence__collected_keys_pass_the_next_filter_at_its_rate(void **state)
{
    (void)state;
    static struct stack stack;
    const uint64_t wanted = 3000;
    uint64_t passed[SIX] = {0};
    stack_init(&stack, SIX, 1.0 / 16, 3, 1000);
    uint64_t collected = 0;
    for (uint64_t i = 0; collected < wanted; i++) {
        uint64_t hash = absent_hash(i);
        if (!group_may_contain(&stack.groups[0], hash))
            continue;
        collected++;
        for (size_t j = 1; j < SIX; j++)
            passed[j] += group_may_contain(&stack.groups[j], hash);
    }
    for (size_t j = 1; j < SIX; j++)
        assert_rate(passed[j], wanted, 1.0 / 16, "keys that pass another filter");
    stack_deinit(&stack);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filter_independence__six_filters_of_the_same_keys),
        cmocka_unit_test(filter_independence__a_naive_scheme_is_found_out),
        cmocka_unit_test(filter_independence__many_filters_of_the_same_keys),
        cmocka_unit_test(filter_independence__collected_keys_pass_the_next_filter_at_its_rate),
    };
    keys_init("filter_independence");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
