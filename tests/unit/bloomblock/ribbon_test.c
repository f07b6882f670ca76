/* Goal: both layouts' probes agree with the rows in every form, for every fingerprint size, size
 * and seed, and read no forbidden byte. Method: random rows, encoded, and random keys; the expected
 * result is computed row by row. Payloads are once, with their lead, right after an unreadable
 * page, and once, with their pad, right before one; lead and pad are of random bytes. Then solved
 * systems, with probes of all members. */
#include "tests/unit/bloomblock/filter_fixture.h"
#include "tests/unit/bloomblock/ribbon_row.h"

#include "bloomblock/descriptor.h"
#include "bloomblock/ribbon/ribbon.h"
#include "bloomblock/ribbon/ribbon_bits.h"
#include "bloomblock/ribbon/ribbon_parity.h"
#include "bloomblock/ribbon/ribbon_probe.h"
#include "bloomblock/ribbon/ribbon_solver.h"
#include "tests/support/step.h"

#define KEYS        20 /* probes per filter */
#define PAYLOAD_MAX (BB_RIBBON_SLOTS_MAX * BB_RIBBON_FINGERPRINT_BITS_MAX / 8)
#define SPACE_MAX   (BB_FILTER_LEAD_BYTES + PAYLOAD_MAX + BB_FILTER_PAD_BYTES)

struct filter {
    struct bb_descriptor parts;
    uint32_t fingerprint_bits; /* of the table; the filter has them + step */
    struct bb_ribbon_rows rows;
    uint8_t bytes[SPACE_MAX]; /* lead, payload, pad */
    size_t size;              /* of the payload */
    const uint8_t *places[2]; /* of the payload: after an unreadable page; before one */
};

/* Space for one payload with an unreadable page on either side. */
static struct guarded space;

/* Random rows of fingerprint_bits each; 0 after the last. */
static void rows_fill(struct bb_ribbon_rows *rows, uint32_t slots, uint32_t fingerprint_bits,
                      struct bb_rng *rng)
{
    memset(rows, 0, sizeof(*rows));
    for (uint32_t i = 0; i < slots; i++)
        for (uint32_t j = 0; j < fingerprint_bits; j++)
            rows->slabs[j / 8][i / 8] |= (bb_rng_next(rng) & 1) << (j % 8 * 8 + i % 8);
}

static int space_init(void **state)
{
    static const uint8_t zeros[SPACE_MAX];
    (void)state;
    space = guarded_copy(zeros, sizeof(zeros));
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++)
        print_message("%s: %s\n", bb_cpu_name(cpu), bb_cpu_has(cpu) ? "tested" : "not there");
    return 0;
}

static int space_deinit(void **state)
{
    (void)state;
    guarded_free(&space);
    return 0;
}

static void filter_init(struct filter *filter, struct bb_rng *rng)
{
    uint32_t fingerprint_bits = filter->fingerprint_bits + filter->parts.step;
    uint32_t slots = filter->parts.bit_exact ? filter->parts.size : filter->parts.size * 8;
    uint8_t *payload = filter->bytes + BB_FILTER_LEAD_BYTES;
    bb_rng_bytes(rng, filter->bytes, sizeof(filter->bytes));
    rows_fill(&filter->rows, slots, fingerprint_bits, rng);
    if (filter->parts.bit_exact) {
        filter->size = bb_ribbon_bits_size(slots, fingerprint_bits);
        bb_ribbon_rows_encode_bits(&filter->rows, slots, fingerprint_bits, payload);
    } else {
        filter->size = (size_t)filter->parts.size * fingerprint_bits;
        bb_ribbon_rows_encode(&filter->rows, filter->parts.size, fingerprint_bits, payload);
    }
    size_t size = BB_FILTER_LEAD_BYTES + filter->size + BB_FILTER_PAD_BYTES;
    uint8_t *last = space.data + SPACE_MAX - size;
    assert_true(last >= space.start + size || filter->size > 2000);
    filter->places[0] = (uint8_t *)memcpy(space.start, filter->bytes, size) + BB_FILTER_LEAD_BYTES;
    filter->places[1] = (uint8_t *)memcpy(last, filter->bytes, size) + BB_FILTER_LEAD_BYTES;
}

static struct bb_ribbon_equation equation_of(const struct filter *filter, uint64_t hash)
{
    uint16_t descriptor = bb_descriptor_encode(filter->parts);
    return filter->parts.bit_exact ? bb_ribbon_bits_equation(hash, descriptor, filter->parts.size)
                                   : bb_ribbon_equation(hash, descriptor, filter->parts.size);
}

static bool holds(const struct filter *filter, struct bb_ribbon_equation equation)
{
    uint32_t fingerprint_bits = filter->fingerprint_bits + filter->parts.step;
    uint32_t sum = equation.fingerprint & bb_ribbon_equation_fingerprint_mask(fingerprint_bits);
    for (uint32_t i = 0; i < 64; i++)
        if (equation.coefficients >> i & 1)
            sum ^= ribbon_row(&filter->rows, equation.start + i, fingerprint_bits);
    return sum == 0;
}

/* In a batch of some and of many probes: the last one; the others are of no filter. */
static bool batch_answer(const struct bb_filter_probes *probes, const struct filter *filter,
                         const uint8_t *payload, uint64_t hash, size_t count)
{
    struct bb_filter_batch batch = {0};
    batch.hashes[count - 1] = hash;
    batch.payloads[count - 1] = payload;
    batch.places[count - 1] = bb_descriptor_encode(filter->parts);
    batch.fingerprint_bits[count - 1] = filter->fingerprint_bits;
    uint64_t bits = probes->batch(&batch, count);
    assert_int_equal(bits | UINT64_C(1) << (count - 1), UINT64_MAX >> (64 - count));
    return bits >> (count - 1);
}

static void assert_form(const struct filter *filter, enum bb_cpu cpu, uint64_t hash, bool expected)
{
    uint16_t descriptor = bb_descriptor_encode(filter->parts);
    const struct bb_filter_probes *probes = bb_ribbon_probe_of(cpu, filter->fingerprint_bits);
    for (int i = 0; i < 2; i++) {
        const uint8_t *payload = filter->places[i];
        if (bb_filter_probe_one(probes, payload, descriptor, filter->fingerprint_bits, hash) ==
                expected &&
            batch_answer(probes, filter, payload, hash, 2) == expected &&
            batch_answer(probes, filter, payload, hash, 21) == expected)
            continue;
        print_error("%s, %u+%u fingerprint bits, %s size %u, seed %u, hash %016llx: expected %d\n",
                    bb_cpu_name(cpu), filter->fingerprint_bits, filter->parts.step,
                    filter->parts.bit_exact ? "slots" : "groups", filter->parts.size,
                    filter->parts.seed, (unsigned long long)hash, expected);
        fail();
    }
}

/* Returns whether the probes returned maybe. */
static bool assert_answers(const struct filter *filter, uint64_t hash)
{
    bool expected = holds(filter, equation_of(filter, hash));
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++)
        if (bb_cpu_has(cpu))
            assert_form(filter, cpu, hash, expected);
    return expected;
}

static uint32_t assert_filter(struct filter *filter, struct bb_rng *rng)
{
    uint32_t yes = 0;
    filter_init(filter, rng);
    for (uint32_t i = 0; i < KEYS; i++)
        yes += assert_answers(filter, bb_rng_next(rng));
    return yes;
}

static void assert_layout(bool bit_exact, uint32_t size_min)
{
    static struct filter filter;
    struct bb_rng rng;
    uint64_t yes = 0;
    uint32_t thin = (uint32_t)bb_test_step();
    bb_rng_init(&rng, key_seed);
    for (filter.fingerprint_bits = 1; filter.fingerprint_bits < BB_RIBBON_FINGERPRINT_BITS_MAX;
         filter.fingerprint_bits++)
        for (uint32_t step = 0; step <= 1; step++)
            for (uint32_t size = size_min + filter.fingerprint_bits % thin; size <= 255;
                 size += thin) {
                filter.parts = (struct bb_descriptor){
                    .bit_exact = bit_exact,
                    .step = step,
                    .seed = (uint32_t)bb_rng_below(&rng, BB_RIBBON_SEED_COUNT),
                    .size = size};
                yes += assert_filter(&filter, &rng);
            }
    assert_true(yes > 1000);
}

static void ribbon__byte_grouped_answers_what_the_rows_say(void **state)
{
    (void)state;
    assert_layout(false, BB_RIBBON_GROUPS_MIN);
}

static void ribbon__bit_exact_answers_what_the_rows_say(void **state)
{
    (void)state;
    assert_layout(true, 1);
}

/* Members: systems solved for every seed are denied by none. Random answers of many fingerprint
 * bits are all "no"; these are all "yes". */
static void assert_members(bool bit_exact, uint32_t size, uint32_t fingerprint_bits, uint32_t seed)
{
    static struct bb_ribbon_solver solver;
    struct bb_descriptor parts = {bit_exact, 0, seed, size};
    uint32_t slots = bit_exact ? size : size * 8;
    uint16_t descriptor = bb_descriptor_encode(parts);
    uint8_t bytes[SPACE_MAX], *payload = bytes + BB_FILTER_LEAD_BYTES;
    uint64_t set = ((uint64_t)seed << 16) + size;
    uint64_t keys = slots * 8 / 10;
    bb_ribbon_system_reset(&solver.system, slots, fingerprint_bits);
    for (uint64_t i = 0; i < keys; i++) {
        uint64_t hash = member_hash(set, i);
        bb_ribbon_system_add(&solver.system, bit_exact
                                                 ? bb_ribbon_bits_equation(hash, descriptor, size)
                                                 : bb_ribbon_equation(hash, descriptor, size));
    }
    if (!bb_ribbon_solver_finish(&solver))
        return; /* happens to a few of the smallest */
    memset(bytes, 0xff, sizeof(bytes));
    if (bit_exact)
        bb_ribbon_rows_encode_bits(&solver.rows, size, fingerprint_bits, payload);
    else
        bb_ribbon_rows_encode(&solver.rows, size, fingerprint_bits, payload);
    for (uint64_t i = 0; i < keys; i++) {
        uint64_t hash = member_hash(set, i);
        for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++)
            if (bb_cpu_has(cpu))
                assert_true(bb_filter_probe_one(bb_ribbon_probe_of(cpu, fingerprint_bits), payload,
                                                descriptor, fingerprint_bits, hash));
    }
}

static void ribbon__no_member_is_denied_under_any_seed(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < BB_RIBBON_SEED_COUNT; seed++)
        for (uint32_t fingerprint_bits = 1; fingerprint_bits < BB_RIBBON_FINGERPRINT_BITS_MAX;
             fingerprint_bits += 1 + seed % 5) {
            assert_members(true, 1 + (seed * 37 + fingerprint_bits) % 255, fingerprint_bits, seed);
            assert_members(false, 8 + (seed * 31 + fingerprint_bits) % 248, fingerprint_bits, seed);
        }
}

static uint32_t differing_bits(uint64_t a, uint64_t b)
{
    return (uint32_t)__builtin_popcountll(a ^ b);
}

/* One pair of seeds per key: the starts of one key under 64 seeds are independent in pairs only. */
static void ribbon__seeds_change_start_and_coefficients(void **state)
{
    (void)state;
    struct bb_rng rng;
    const uint64_t keys = 300000;
    uint64_t same_starts = 0, different_bits = 0;
    bb_rng_init(&rng, key_seed);
    for (uint64_t i = 0; i < keys; i++) {
        uint64_t hash = member_hash(7, i);
        uint32_t a = (uint32_t)bb_rng_below(&rng, BB_RIBBON_SEED_COUNT);
        uint32_t b =
            (a + 1 + (uint32_t)bb_rng_below(&rng, BB_RIBBON_SEED_COUNT - 1)) % BB_RIBBON_SEED_COUNT;
        uint64_t first = a << 8 | 130, second = b << 8 | 130; /* descriptors of 130 groups */
        same_starts += bb_ribbon_equation_start_hash(hash, first) >> 24 ==
                       bb_ribbon_equation_start_hash(hash, second) >> 24;
        different_bits += differing_bits(bb_ribbon_equation_coefficients(hash, first),
                                         bb_ribbon_equation_coefficients(hash, second));
    }
    assert_rate(same_starts, keys, 1.0 / 256, "keys whose start is the same under two seeds");
    assert_rate(different_bits, keys * 63, 0.5, "coefficients that change with the seed");
}

static uint64_t start_of(uint32_t start_hash, uint32_t count)
{
    uint64_t drawn = bb_ribbon_equation_draw(start_hash, count, BB_RIBBON_OVERHANG_GROUPS);
    return bb_ribbon_equation_start(drawn, count, BB_RIBBON_OVERHANG_GROUPS);
}

static void ribbon__starts_cover_the_rows(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= 248; count++) {
        assert_int_equal(start_of(0, count), 0);
        assert_int_equal(start_of(UINT32_MAX, count), count - 1);
        uint64_t previous = 0;
        for (uint64_t hash = 0; hash <= UINT32_MAX; hash += UINT32_C(1) << 22) {
            uint64_t start = start_of((uint32_t)hash, count);
            assert_true(start == previous || start == previous + 1);
            previous = start;
        }
    }
}

static void assert_impossible_sizes(const struct bb_filter_probes *probes,
                                    uint32_t fingerprint_bits)
{
    const uint8_t *nothing = space.data + SPACE_MAX; /* not readable */
    for (uint16_t size = 0; size < BB_RIBBON_GROUPS_MIN; size++)
        assert_true(bb_filter_probe_one(probes, nothing, size, fingerprint_bits, 1));
    assert_true(bb_filter_probe_one(probes, nothing, 0x8000, fingerprint_bits, 1));
}

static void ribbon__impossible_sizes_may_contain(void **state)
{
    (void)state;
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++)
        for (uint32_t fingerprint_bits = 1;
             fingerprint_bits < BB_RIBBON_FINGERPRINT_BITS_MAX && bb_cpu_has(cpu);
             fingerprint_bits++)
            assert_impossible_sizes(bb_ribbon_probe_of(cpu, fingerprint_bits), fingerprint_bits);
}

/* Whichever vectors the compiler makes of it. */
static void ribbon__columns_are_summed_as_byte_by_byte(void **state)
{
    (void)state;
    uint8_t window[BB_RIBBON_WINDOW_GROUPS * BB_RIBBON_FINGERPRINT_BITS_MAX + 8];
    struct bb_rng rng;
    bb_rng_init(&rng, key_seed);
    for (uint32_t i = 0; i < 20000; i++) {
        uint64_t fingerprint_bits = 1 + i % BB_RIBBON_FINGERPRINT_BITS_MAX;
        uint64_t coefficients = bb_rng_next(&rng);
        bb_rng_bytes(&rng, window, sizeof(window));
        assert_int_equal(bb_ribbon_parity_sums(window, fingerprint_bits, coefficients),
                         bb_ribbon_parity_sums_simply(window, fingerprint_bits, coefficients));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ribbon__byte_grouped_answers_what_the_rows_say),
        cmocka_unit_test(ribbon__bit_exact_answers_what_the_rows_say),
        cmocka_unit_test(ribbon__no_member_is_denied_under_any_seed),
        cmocka_unit_test(ribbon__seeds_change_start_and_coefficients),
        cmocka_unit_test(ribbon__starts_cover_the_rows),
        cmocka_unit_test(ribbon__impossible_sizes_may_contain),
        cmocka_unit_test(ribbon__columns_are_summed_as_byte_by_byte),
    };
    keys_init("ribbon");
    return cmocka_run_group_tests(tests, space_init, space_deinit);
}
