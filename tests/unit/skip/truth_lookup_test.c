/* Truths of packed numbers: both forms agree with a plain loop, and both refuse numbers without a
 * meaning. */
#include "skip/query/truth_lookup.h"

#include <stdlib.h>
#include <string.h>

#include "bb/condition.h"
#include "skip/bits/bit_reader.h"
#include "tests/support/assert_status.h"
#include "tests/support/rng.h"
#include "tests/support/step.h"

#define NUMBERS_MAX 400
#define WORDS       ((NUMBERS_MAX + 63) / 64)

struct drawn {
    uint32_t numbers[NUMBERS_MAX];
    uint8_t truths[1 << 9];
    struct bb_packed_numbers packed;
    struct bb_truth_table table;
    uint8_t *bytes; /* of exactly its size, followed by the readable bytes */
};

static void pack(struct drawn *drawn)
{
    struct bb_packed_numbers *packed = &drawn->packed;
    size_t size = ((size_t)packed->count * packed->width + 7) / 8;
    drawn->bytes = calloc(size + BB_BIT_READER_PAD, 1);
    assert_non_null(drawn->bytes);
    for (uint32_t i = 0; i < packed->count; i++)
        for (uint32_t bit = 0; bit < packed->width; bit++) {
            size_t at = (size_t)i * packed->width + bit;
            drawn->bytes[at / 8] |= (uint8_t)((drawn->numbers[i] >> bit & 1) << at % 8);
        }
    for (size_t at = (size_t)packed->count * packed->width; at < size * 8; at++)
        drawn->bytes[at / 8] |= (uint8_t)(1u << at % 8); /* has no meaning */
    packed->bytes = (struct bb_bytes){.data = drawn->bytes, .size = size};
}

static void draw(struct bb_rng *rng, struct drawn *drawn)
{
    size_t values = 1 + bb_rng_skewed(rng, 300);
    drawn->packed.width = bb_bit_width(values);
    drawn->packed.count = (uint32_t)bb_rng_below(rng, NUMBERS_MAX + 1);
    for (size_t i = 0; i < values; i++)
        drawn->truths[i] = (uint8_t)bb_rng_below(rng, 3);
    for (uint32_t i = 0; i < drawn->packed.count; i++)
        drawn->numbers[i] = (uint32_t)bb_rng_below(rng, values);
    drawn->table = (struct bb_truth_table){.truths = drawn->truths, .count = values};
    pack(drawn);
}

static void check(const struct drawn *drawn, enum bb_cpu cpu)
{
    uint64_t is_true[WORDS] = {0};
    uint64_t is_null[WORDS] = {0};
    assert_true(bb_truth_lookup(&drawn->packed, &drawn->table, cpu, is_true, is_null));
    for (uint32_t i = 0; i < WORDS * 64; i++) {
        uint8_t truth =
            i < drawn->packed.count ? drawn->truths[drawn->numbers[i]] : (uint8_t)BB_TRUTH_FALSE;
        assert_int_equal(is_true[i / 64] >> i % 64 & 1, truth == BB_TRUTH_TRUE);
        assert_int_equal(is_null[i / 64] >> i % 64 & 1, truth == BB_TRUTH_UNKNOWN);
    }
}

static void lookups__agree_in_every_form(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("truth_lookup_test", 1));
    for (size_t i = 0; i < 5000; i += bb_test_step()) {
        struct drawn drawn;
        draw(&rng, &drawn);
        for (uint32_t cpu = 0; cpu < BB_CPU_COUNT; cpu++)
            if (bb_cpu_has((enum bb_cpu)cpu))
                check(&drawn, (enum bb_cpu)cpu);
        free(drawn.bytes);
    }
}

/* One number is as large as the table, at any place. */
static void lookups__refuse_numbers_without_a_meaning(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("truth_lookup_test", 2));
    for (size_t i = 0; i < 5000; i += bb_test_step()) {
        struct drawn drawn;
        uint64_t is_true[WORDS] = {0};
        uint64_t is_null[WORDS] = {0};
        draw(&rng, &drawn);
        size_t values = drawn.table.count;
        if (drawn.packed.count > 0 && values < (size_t)1 << drawn.packed.width) {
            free(drawn.bytes);
            drawn.numbers[bb_rng_below(&rng, drawn.packed.count)] = (uint32_t)values;
            pack(&drawn);
            for (uint32_t cpu = 0; cpu < BB_CPU_COUNT; cpu++)
                if (bb_cpu_has((enum bb_cpu)cpu))
                    assert_false(bb_truth_lookup(&drawn.packed, &drawn.table, (enum bb_cpu)cpu,
                                                 is_true, is_null));
        }
        free(drawn.bytes);
    }
}

static void lookups__refuse_bytes_that_end_early(void **state)
{
    (void)state;
    static const uint8_t truths[BB_TRUTH_TABLE_SPACE] = {BB_TRUTH_TRUE};
    static const uint8_t bytes[9 + BB_BIT_READER_PAD] = {0};
    uint64_t is_true[WORDS] = {0};
    uint64_t is_null[WORDS] = {0};
    struct bb_truth_table table = {.truths = truths, .count = 4};
    struct bb_packed_numbers packed = {.bytes = {bytes, 9}, .width = 2, .count = 40};
    assert_false(bb_truth_lookup(&packed, &table, bb_cpu_best(), is_true, is_null));
    packed.count = 36;
    assert_true(bb_truth_lookup(&packed, &table, bb_cpu_best(), is_true, is_null));
    assert_int_equal(is_true[0], (UINT64_C(1) << 36) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lookups__agree_in_every_form),
        cmocka_unit_test(lookups__refuse_numbers_without_a_meaning),
        cmocka_unit_test(lookups__refuse_bytes_that_end_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
