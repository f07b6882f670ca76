/* Ribbons that give numbers: every key has its own number, any other key has each
 * number equally often, sizes are as planned, and any payload gives a number. */
#include "bloomblock/ribbon/ribbon_values.h"

#include <stdlib.h>

#include "base/hash.h"
#include "bloomblock/ribbon/ribbon_probe.h"
#include "bloomblock/sizing/rate.h"
#include "tests/support/assert_status.h"
#include "tests/support/rng.h"

struct values {
    uint64_t hashes[BB_RIBBON_VALUES_MAX];
    uint32_t numbers[BB_RIBBON_VALUES_MAX];
    size_t count;
    uint32_t fingerprint_bits; /* of the shorter step */
    bool step;
    struct bb_ribbon_solver solver;
    struct bb_buf payload;
    uint16_t descriptor;
};

static struct values values;

static void draw(struct bb_rng *rng, size_t count, uint32_t fingerprint_bits, bool step)
{
    values.count = count;
    values.fingerprint_bits = fingerprint_bits;
    values.step = step;
    for (size_t i = 0; i < count; i++) {
        values.hashes[i] = bb_rng_next(rng);
        values.numbers[i] = (uint32_t)bb_rng_next(rng);
    }
}

static void encode(void)
{
    static const uint8_t pad[BB_FILTER_PAD_BYTES] = {0x5a};
    bb_buf_reset(&values.payload);
    assert_ok(bb_ribbon_values_encode(&values.solver, values.hashes, values.numbers, values.count,
                                      values.fingerprint_bits, values.step, &values.payload,
                                      &values.descriptor));
    size_t size = 0;
    assert_true(bb_ribbon_values_payload_size(values.descriptor, values.fingerprint_bits, &size));
    assert_int_equal(size, values.payload.size);
    assert_ok(bb_buf_append(&values.payload, pad, sizeof(pad)));
}

static uint32_t get(uint64_t hash)
{
    return bb_ribbon_values_get(values.payload.data, values.descriptor, values.fingerprint_bits,
                                hash);
}

static void every_key__has_its_number(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("ribbon_values_test", 1));
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++) {
        bb_ribbon_solver_use(&values.solver, cpu);
        for (uint32_t turn = 0; turn < 300; turn++) {
            size_t count = turn < 70 ? turn : bb_rng_skewed(&rng, BB_RIBBON_VALUES_MAX);
            uint32_t fingerprint_bits =
                1 + (uint32_t)bb_rng_below(&rng, BB_RIBBON_FINGERPRINT_BITS_MAX - 1);
            draw(&rng, count, fingerprint_bits, turn % 2 == 1);
            encode();
            uint32_t mask = bb_ribbon_equation_fingerprint_mask(fingerprint_bits + values.step);
            for (size_t i = 0; i < count; i++)
                assert_int_equal(get(values.hashes[i]), values.numbers[i] & mask);
        }
    }
}

/* Chi-squared over all numbers: 63 degrees of freedom, six deviations. */
static void other_keys__have_any_number_equally_often(void **state)
{
    (void)state;
    enum { KEYS = 1500, QUESTIONS = 64000, NUMBERS = 64 };
    struct bb_rng rng;
    uint32_t found[NUMBERS] = {0};
    double sum = 0;
    bb_rng_init(&rng, bb_rng_seed("ribbon_values_test", 2));
    draw(&rng, KEYS, 6, false);
    for (size_t i = 0; i < KEYS; i++)
        values.numbers[i] = 17; /* all keys have the same number */
    encode();
    for (uint32_t i = 0; i < QUESTIONS; i++)
        found[get(bb_rng_next(&rng))]++;
    for (uint32_t i = 0; i < NUMBERS; i++) {
        double away = (double)found[i] - (double)QUESTIONS / NUMBERS;
        sum += away * away / ((double)QUESTIONS / NUMBERS);
    }
    print_message("chi-squared %.1f\n", sum);
    assert_true(sum < 63 + 6 * 11.3);
}

static void sizes__are_those_that_are_planned(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("ribbon_values_test", 3));
    for (size_t count = 0; count <= BB_RIBBON_VALUES_MAX; count += 1 + count / 9) {
        draw(&rng, count, 7, false);
        encode();
        assert_int_equal(values.payload.size - BB_FILTER_PAD_BYTES,
                         bb_ribbon_values_size(count, 7));
        assert_int_equal(values.descriptor == BB_DESCRIPTOR_NONE, count == 0);
    }
}

/* Two numbers for one key cannot be. */
static void equal_hashes__are_refused(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("ribbon_values_test", 4));
    draw(&rng, 30, 8, false);
    values.hashes[29] = values.hashes[0];
    values.numbers[29] = values.numbers[0] ^ 1;
    bb_buf_reset(&values.payload);
    assert_status(bb_ribbon_values_encode(&values.solver, values.hashes, values.numbers,
                                          values.count, 8, false, &values.payload,
                                          &values.descriptor),
                  BB_TOO_LARGE);
    assert_int_equal(values.payload.size, 0);
}

/* A number has no more bits than the ribbon's; bytes after the pad are not read. */
static void any_payload__is_answered(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("ribbon_values_test", 5));
    for (uint32_t descriptor = 0; descriptor <= UINT16_MAX; descriptor += 7) {
        uint32_t fingerprint_bits = 1 + descriptor % (BB_RIBBON_FINGERPRINT_BITS_MAX - 1);
        size_t size = 0;
        if (!bb_ribbon_values_payload_size((uint16_t)descriptor, fingerprint_bits, &size)) {
            assert_true((descriptor & 255) < BB_RIBBON_GROUPS_MIN);
            continue;
        }
        if (descriptor == BB_DESCRIPTOR_NONE)
            continue;
        uint8_t *bytes = malloc(size + BB_FILTER_PAD_BYTES);
        for (size_t i = 0; i < size + BB_FILTER_PAD_BYTES; i++)
            bytes[i] = (uint8_t)bb_rng_next(&rng);
        for (uint32_t i = 0; i < 20; i++)
            assert_true(bb_ribbon_values_get(bytes, (uint16_t)descriptor, fingerprint_bits,
                                             bb_rng_next(&rng)) >>
                            (fingerprint_bits + 1) ==
                        0);
        free(bytes);
    }
}

static int release(void **state)
{
    (void)state;
    bb_buf_deinit(&values.payload);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key__has_its_number),
        cmocka_unit_test(other_keys__have_any_number_equally_often),
        cmocka_unit_test(sizes__are_those_that_are_planned),
        cmocka_unit_test(equal_hashes__are_refused),
        cmocka_unit_test(any_payload__is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
