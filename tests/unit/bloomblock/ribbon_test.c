/* Goal: both layouts' probes answer what the rows say, for every rank, size and seed, bounded or
 * not, and read nothing they must not. Method: random rows, encoded, and random keys;
 * the answer is worked out row by row. Payloads end at an unreadable page: the bounded probe has
 * nothing behind them, the other 64 bytes. Then solved systems, all of whose members are asked. */
#include "tests/unit/bloomblock/filter_fixture.h"

#include "bloomblock/descriptor.h"
#include "bloomblock/ribbon.h"
#include "bloomblock/ribbon_bits.h"
#include "bloomblock/ribbon_solver.h"

struct filter {
    struct bb_ribbon_descriptor parts;
    uint32_t rank; /* of the table; the filter's is rank + step */
    struct bb_ribbon_rows rows;
    uint8_t payload[BB_RIBBON_SLOTS_MAX * BB_RIBBON_RANK_MAX / 8];
    size_t size;
    struct guarded bounded;
    struct guarded padded;
};

/* Random rows of rank bits; 0 behind the last. */
static void rows_fill(struct bb_ribbon_rows *rows, uint32_t slots, uint32_t rank,
                      struct bb_rng *rng)
{
    memset(rows, 0, sizeof(*rows));
    for (uint32_t i = 0; i < slots; i++)
        for (uint32_t j = 0; j < rank; j++)
            rows->slabs[j / 8][i / 8] |= (bb_rng_next(rng) & 1) << bb_ribbon_rows_shift(i, j);
}

static void filter_init(struct filter *filter, struct bb_rng *rng)
{
    uint32_t rank = filter->rank + filter->parts.step;
    uint32_t slots = filter->parts.bit_exact ? filter->parts.size : filter->parts.size * 8;
    uint8_t padded[sizeof(filter->payload) + BB_FILTER_PAD_BYTES];
    rows_fill(&filter->rows, slots, rank, rng);
    if (filter->parts.bit_exact) {
        filter->size = bb_ribbon_bits_size(slots, rank);
        bb_ribbon_rows_encode_bits(&filter->rows, slots, rank, filter->payload);
    } else {
        filter->size = (size_t)filter->parts.size * rank;
        bb_ribbon_rows_encode(&filter->rows, filter->parts.size, rank, filter->payload);
    }
    memcpy(padded, filter->payload, filter->size);
    bb_rng_bytes(rng, padded + filter->size, BB_FILTER_PAD_BYTES);
    filter->bounded = guarded_copy(filter->payload, filter->size);
    filter->padded = guarded_copy(padded, filter->size + BB_FILTER_PAD_BYTES);
}

static void filter_deinit(struct filter *filter)
{
    guarded_free(&filter->bounded);
    guarded_free(&filter->padded);
}

static struct bb_ribbon_equation equation_of(const struct filter *filter, uint64_t hash)
{
    return filter->parts.bit_exact
               ? bb_ribbon_bits_equation(hash, filter->parts.seed, filter->parts.size)
               : bb_ribbon_equation(hash, filter->parts.seed, filter->parts.size);
}

static bool holds(const struct filter *filter, struct bb_ribbon_equation equation)
{
    uint32_t rank = filter->rank + filter->parts.step;
    uint32_t sum = equation.fingerprint & bb_ribbon_rank_mask(rank);
    for (uint32_t i = 0; i < 64; i++)
        if (equation.coefficients >> i & 1)
            sum ^= bb_ribbon_rows_get(&filter->rows, equation.start + i, rank);
    return sum == 0;
}

/* Gives whether the probes said yes. */
static bool assert_answers(const struct filter *filter, uint64_t hash)
{
    uint16_t descriptor = bb_ribbon_descriptor_encode(filter->parts);
    bool expected = holds(filter, equation_of(filter, hash));
    bool padded, bounded;
    if (filter->parts.bit_exact) {
        padded = bb_ribbon_bits_may_contain(filter->padded.data, descriptor, filter->rank, hash);
        bounded = bb_ribbon_bits_may_contain_bounded(filter->bounded.data, filter->size, descriptor,
                                                     filter->rank, hash);
    } else {
        padded = bb_ribbon_may_contain(filter->padded.data, descriptor, filter->rank, hash);
        bounded = bb_ribbon_may_contain_bounded(filter->bounded.data, filter->size, descriptor,
                                                filter->rank, hash);
    }
    if (padded != expected || bounded != expected) {
        print_error("rank %u+%u, %s size %u, seed %u, hash %016llx: expected %d, padded %d, "
                    "bounded %d\n",
                    filter->rank, filter->parts.step, filter->parts.bit_exact ? "slots" : "groups",
                    filter->parts.size, filter->parts.seed, (unsigned long long)hash, expected,
                    padded, bounded);
        fail();
    }
    return expected;
}

/* Asks keys until some were said yes to, or many were asked. */
static uint32_t assert_filter(struct filter *filter, struct bb_rng *rng)
{
    uint32_t yes = 0;
    filter_init(filter, rng);
    for (uint32_t i = 0; i < 60; i++)
        yes += assert_answers(filter, bb_rng_next(rng));
    filter_deinit(filter);
    return yes;
}

static void assert_layout(bool bit_exact, uint32_t size_min)
{
    static struct filter filter;
    struct bb_rng rng;
    uint64_t yes = 0;
    bb_rng_init(&rng, key_seed);
    for (filter.rank = 1; filter.rank < BB_RIBBON_RANK_MAX; filter.rank++)
        for (uint32_t step = 0; step <= 1; step++)
            for (uint32_t size = size_min; size <= 255; size += 1 + size / 16) {
                filter.parts = (struct bb_ribbon_descriptor){
                    .bit_exact = bit_exact,
                    .step = step,
                    .seed = (uint32_t)bb_rng_below(&rng, BB_RIBBON_SEED_COUNT),
                    .size = size};
                yes += assert_filter(&filter, &rng);
            }
    assert_true(yes > 1000);
    filter.rank = 6; /* the most that is read behind the payload */
    for (uint32_t size = size_min; size <= 255; size++) {
        filter.parts = (struct bb_ribbon_descriptor){.bit_exact = bit_exact, .size = size};
        assert_filter(&filter, &rng);
    }
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

/* Members: systems solved for every seed are denied by none. Random answers of high ranks are all
 * "no"; these are all "yes". */
static void assert_members(bool bit_exact, uint32_t size, uint32_t rank, uint32_t seed)
{
    static struct bb_ribbon_solver solver;
    struct bb_ribbon_descriptor parts = {bit_exact, 0, seed, size};
    uint32_t slots = bit_exact ? size : size * 8;
    uint8_t payload[BB_RIBBON_SLOTS_MAX * BB_RIBBON_RANK_MAX / 8 + BB_FILTER_PAD_BYTES];
    uint64_t set = ((uint64_t)seed << 16) + size;
    uint64_t keys = slots * 8 / 10;
    bb_ribbon_solver_init(&solver);
    bb_ribbon_solver_reset(&solver, slots, rank);
    for (uint64_t i = 0; i < keys; i++) {
        uint64_t hash = member_hash(set, i);
        bb_ribbon_solver_add(&solver, bit_exact ? bb_ribbon_bits_equation(hash, seed, size)
                                                : bb_ribbon_equation(hash, seed, size));
    }
    if (!bb_ribbon_solver_finish(&solver))
        return; /* happens to a few of the smallest */
    memset(payload, 0xff, sizeof(payload));
    uint16_t descriptor = bb_ribbon_descriptor_encode(parts);
    if (bit_exact)
        bb_ribbon_rows_encode_bits(&solver.rows, size, rank, payload);
    else
        bb_ribbon_rows_encode(&solver.rows, size, rank, payload);
    for (uint64_t i = 0; i < keys; i++) {
        uint64_t hash = member_hash(set, i);
        assert_true(bit_exact ? bb_ribbon_bits_may_contain(payload, descriptor, rank, hash)
                              : bb_ribbon_may_contain(payload, descriptor, rank, hash));
    }
}

static void ribbon__no_member_is_denied_under_any_seed(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < BB_RIBBON_SEED_COUNT; seed++)
        for (uint32_t rank = 1; rank < BB_RIBBON_RANK_MAX; rank += 1 + seed % 5) {
            assert_members(true, 1 + (seed * 37 + rank) % 255, rank, seed);
            assert_members(false, 8 + (seed * 31 + rank) % 248, rank, seed);
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
        same_starts += bb_ribbon_start_hash(hash, a) >> 24 == bb_ribbon_start_hash(hash, b) >> 24;
        different_bits +=
            differing_bits(bb_ribbon_coefficients(hash, a), bb_ribbon_coefficients(hash, b));
    }
    assert_rate(same_starts, keys, 1.0 / 256, "keys whose start is the same under two seeds");
    assert_rate(different_bits, keys * 63, 0.5, "coefficients that change with the seed");
}

static void ribbon__starts_cover_the_rows(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= 248; count++) {
        assert_int_equal(bb_ribbon_start(0, count, BB_RIBBON_OVERHANG_GROUPS), 0);
        assert_int_equal(bb_ribbon_start(UINT32_MAX, count, BB_RIBBON_OVERHANG_GROUPS), count - 1);
        uint32_t previous = 0;
        for (uint64_t hash = 0; hash <= UINT32_MAX; hash += UINT32_C(1) << 22) {
            uint32_t start = bb_ribbon_start((uint32_t)hash, count, BB_RIBBON_OVERHANG_GROUPS);
            assert_true(start == previous || start == previous + 1);
            previous = start;
        }
    }
}

static void ribbon__impossible_sizes_may_contain(void **state)
{
    (void)state;
    const uint8_t payload[1] = {0};
    for (uint16_t size = 0; size < BB_RIBBON_GROUPS_MIN; size++) {
        assert_true(bb_ribbon_may_contain(payload, size, 7, 1));
        assert_true(bb_ribbon_may_contain_bounded(payload, 0, size, 7, 1));
    }
    assert_true(bb_ribbon_bits_may_contain(payload, 0x8000, 7, 1));
    assert_true(bb_ribbon_bits_may_contain_bounded(payload, 0, 0x8000, 7, 1));
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
    };
    keys_init("ribbon");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
