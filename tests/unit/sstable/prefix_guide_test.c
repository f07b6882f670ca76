/* Goal: the guide's result is a valid number, and it is the right one when few numbers are close
 * together. Method: random numbers, spread in several ways, compared with a count of the smaller
 * ones. */
#include "tests/support/assert_status.h"

#include <stdlib.h>

#include "base/coding.h"
#include "sstable/index/prefix_guide.h"
#include "sstable/prefix_search.h"
#include "tests/support/rng.h"

#define NUMBERS_MAX 300

enum spread {
    EVEN,
    DIGITS,  /* bytes from '0' to '9' */
    CROWDED, /* close together except the two ends */
    EQUAL,
    SPREADS,
};

static uint64_t draw(struct bb_rng *rng, enum spread spread)
{
    uint64_t number = bb_rng_next(rng);
    if (spread == DIGITS)
        for (int i = 0; i < 64; i += 8)
            number = (number & ~(UINT64_C(255) << i)) | ('0' + bb_rng_below(rng, 10)) << i;
    if (spread == CROWDED)
        number = UINT64_C(1) << 62 | (number & 0xffff);
    return spread == EQUAL ? 77 : number;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static size_t draw_numbers(struct bb_rng *rng, enum spread spread, uint64_t *numbers)
{
    size_t count = (size_t)bb_rng_below(rng, NUMBERS_MAX + 1);
    for (size_t i = 0; i < count; i++)
        numbers[i] = draw(rng, spread);
    if (spread == CROWDED && count > 0)
        numbers[0] = UINT64_MAX - bb_rng_below(rng, 2);
    qsort(numbers, count, sizeof(*numbers), compare);
    for (size_t i = 0; i < BB_PREFIX_GUIDE_STEPS; i++)
        numbers[count + i] = UINT64_MAX;
    return count;
}

/* How often the guide was right, and the number of searches. */
struct score {
    size_t right;
    size_t asked;
    size_t guides;
};

static void check(const struct bb_prefix_guide *guide, const uint64_t *numbers, size_t count,
                  uint64_t number, struct score *score)
{
    size_t below = SIZE_MAX;
    size_t right = bb_prefix_search(numbers, (uint32_t)count, number);
    score->asked++;
    if (!bb_prefix_guide_find(guide, numbers, number, &below)) {
        assert_true(guide->bucket_count == 0 || number < guide->low || right == count);
        return;
    }
    assert_true(below <= (number < guide->low ? count : right));
    score->right += below == right;
}

static struct score play(enum spread spread, size_t rounds)
{
    static uint64_t numbers[NUMBERS_MAX + BB_PREFIX_GUIDE_STEPS];
    struct score score = {0};
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("prefix_guide", 9 + (uint64_t)spread));
    for (size_t round = 0; round < rounds; round++) {
        struct bb_prefix_guide guide;
        size_t count = draw_numbers(&rng, spread, numbers);
        uint64_t low = count == 0 ? 0 : numbers[0] - bb_rng_below(&rng, 2) * (numbers[0] > 0);
        assert_ok(bb_prefix_guide_init(&guide, numbers, count, low));
        score.guides += guide.bucket_count > 0;
        for (size_t i = 0; i < 200; i++)
            check(&guide, numbers, count, draw(&rng, spread), &score);
        for (size_t i = 0; i < count; i++)
            for (uint64_t around = numbers[i] - 1; around != numbers[i] + 2; around++)
                check(&guide, numbers, count, around, &score);
        check(&guide, numbers, count, 0, &score);
        check(&guide, numbers, count, UINT64_MAX, &score);
        bb_prefix_guide_deinit(&guide);
    }
    print_message("%zu of %zu right, %zu of %zu with a guide\n", score.right, score.asked,
                  score.guides, rounds);
    return score;
}

static void prefix_guide__right_where_numbers_are_spread(void **state)
{
    (void)state;
    struct score even = play(EVEN, 200);
    struct score digits = play(DIGITS, 200);
    assert_true(even.right > even.asked * 9 / 10);
    assert_true(digits.right > digits.asked / 2);
}

static void prefix_guide__none_where_they_are_crowded(void **state)
{
    (void)state;
    assert_true(play(CROWDED, 200).guides < 20);
    assert_true(play(EQUAL, 200).guides < 20);
}

static void prefix_guide__too_many_numbers(void **state)
{
    (void)state;
    struct bb_prefix_guide guide;
    static uint64_t numbers[UINT16_MAX + 1];
    size_t below = 0;
    for (size_t i = 0; i <= UINT16_MAX; i++)
        numbers[i] = i << 40;
    assert_ok(bb_prefix_guide_init(&guide, numbers, UINT16_MAX + 1, 0));
    assert_int_equal(guide.bucket_count, 0);
    assert_false(bb_prefix_guide_find(&guide, numbers, 5, &below));
    bb_prefix_guide_deinit(&guide);
    /* Below the first number there is nothing to be found from. */
    assert_ok(bb_prefix_guide_init(&guide, numbers, 3, 1));
    assert_int_equal(guide.bucket_count, 0);
    bb_prefix_guide_deinit(&guide);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prefix_guide__right_where_numbers_are_spread),
        cmocka_unit_test(prefix_guide__none_where_they_are_crowded),
        cmocka_unit_test(prefix_guide__too_many_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
