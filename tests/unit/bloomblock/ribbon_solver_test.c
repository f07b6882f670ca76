/* Goal: a solvable system is solved, an unsolvable one is refused; and the solution is the same for
 * any order of the equations. Method: random bands, dense and wide ones, compared with elimination
 * over the whole matrix; filters of all sizes compared with the simple solver below; in every form
 * that the processor has. */
#include "tests/unit/bloomblock/filter_fixture.h"
#include "tests/unit/bloomblock/ribbon_row.h"

#include "bloomblock/ribbon/ribbon.h"
#include "bloomblock/ribbon/ribbon_bits.h"
#include "bloomblock/ribbon/ribbon_solver.h"

#define SLOTS_MAX 96
#define KEYS_MAX  SLOTS_MAX

/* A row of the whole matrix: coefficients from bit 0 on, results from bit 96 on. */
struct matrix_row {
    uint64_t words[2];
};

static bool bit_of(const struct matrix_row *row, uint32_t i)
{
    return row->words[i / 64] >> (i % 64) & 1;
}

static struct matrix_row row_of(struct bb_ribbon_equation equation, uint32_t fingerprint_bits)
{
    struct matrix_row row = {{0, 0}};
    for (uint32_t i = 0; i < 64; i++)
        if (equation.coefficients >> i & 1)
            row.words[(equation.start + i) / 64] |= UINT64_C(1) << ((equation.start + i) % 64);
    uint64_t result = equation.fingerprint & bb_ribbon_equation_fingerprint_mask(fingerprint_bits);
    row.words[1] |= result << (SLOTS_MAX - 64);
    return row;
}

static void add_row(struct matrix_row *to, const struct matrix_row *row)
{
    to->words[0] ^= row->words[0];
    to->words[1] ^= row->words[1];
}

/* Does the system of count rows have a solution? */
static bool is_solvable(struct matrix_row *rows, uint32_t count)
{
    uint32_t used = 0;
    for (uint32_t column = 0; column < SLOTS_MAX && used < count; column++) {
        uint32_t pivot = used;
        while (pivot < count && !bit_of(&rows[pivot], column))
            pivot++;
        if (pivot == count)
            continue;
        struct matrix_row swapped = rows[pivot];
        rows[pivot] = rows[used];
        rows[used++] = swapped;
        for (uint32_t i = used; i < count; i++)
            if (bit_of(&rows[i], column))
                add_row(&rows[i], &swapped);
    }
    for (uint32_t i = used; i < count; i++)
        if (rows[i].words[0] != 0 || rows[i].words[1] != 0)
            return false;
    return true;
}

/* --- The simple solver: one equation after the other into the band --- */

struct simple_solver {
    uint32_t slot_count;
    uint32_t fingerprint_bits;
    uint64_t coefficients[BB_RIBBON_SLOTS_MAX]; /* 0: no equation has this pivot; else bit 0 set */
    uint32_t results[BB_RIBBON_SLOTS_MAX];
    uint32_t rows[BB_RIBBON_SLOTS_MAX];
};

static void simple_reset(struct simple_solver *simple, uint32_t slot_count,
                         uint32_t fingerprint_bits)
{
    *simple =
        (struct simple_solver){.slot_count = slot_count, .fingerprint_bits = fingerprint_bits};
}

static bool simple_add(struct simple_solver *simple, struct bb_ribbon_equation equation)
{
    uint32_t pivot = equation.start;
    uint64_t coefficients = equation.coefficients;
    uint32_t result =
        equation.fingerprint & bb_ribbon_equation_fingerprint_mask(simple->fingerprint_bits);
    while (coefficients != 0) {
        uint32_t gap = (uint32_t)__builtin_ctzll(coefficients);
        coefficients >>= gap;
        pivot += gap;
        if (simple->coefficients[pivot] == 0) {
            simple->coefficients[pivot] = coefficients;
            simple->results[pivot] = result;
            return true;
        }
        coefficients ^= simple->coefficients[pivot];
        result ^= simple->results[pivot];
    }
    return result == 0;
}

/* The rows that an equation names, added up. */
static uint32_t sum_of(const uint32_t *rows, uint64_t coefficients)
{
    uint32_t sum = 0;
    for (; coefficients != 0; coefficients &= coefficients - 1)
        sum ^= rows[__builtin_ctzll(coefficients)];
    return sum;
}

static void simple_finish(struct simple_solver *simple)
{
    for (uint32_t i = simple->slot_count; i-- > 0;) {
        uint64_t coefficients = simple->coefficients[i];
        if (coefficients != 0)
            simple->rows[i] = simple->results[i] ^ sum_of(simple->rows + i, coefficients & ~1ull);
    }
}

/* --- Random systems --- */

/* The equations in another order: solved, or not, and the same rows. */
static void assert_solution_of(struct bb_ribbon_solver *solver,
                               const struct bb_ribbon_equation *equations, uint32_t count,
                               const struct simple_solver *simple, bool solvable)
{
    bb_ribbon_system_reset(&solver->system, simple->slot_count, simple->fingerprint_bits);
    for (uint32_t i = 0; i < count; i++)
        bb_ribbon_system_add(&solver->system, equations[i * 7 % count]);
    assert_int_equal(bb_ribbon_solver_finish(solver), solvable);
    for (uint32_t i = 0; i < simple->slot_count && solvable; i++)
        assert_int_equal(ribbon_row(&solver->rows, i, simple->fingerprint_bits), simple->rows[i]);
}

/* The same in every form that the processor has. */
static void assert_solution(struct bb_ribbon_solver *solver,
                            const struct bb_ribbon_equation *equations, uint32_t count,
                            const struct simple_solver *simple, bool solvable)
{
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++)
        if (bb_cpu_has(cpu)) {
            bb_ribbon_solver_use(solver, cpu);
            assert_solution_of(solver, equations, count, simple, solvable);
        }
}

/* count is not a multiple of 7. */
static bool assert_solutions(struct bb_ribbon_solver *solver,
                             const struct bb_ribbon_equation *equations, uint32_t count,
                             uint32_t slots, uint32_t fingerprint_bits)
{
    static struct simple_solver simple;
    bool solvable = true;
    simple_reset(&simple, slots, fingerprint_bits);
    for (uint32_t i = 0; i < count && solvable; i++)
        solvable = simple_add(&simple, equations[i]);
    simple_finish(&simple);
    assert_solution(solver, equations, count, &simple, solvable);
    return solvable;
}

/* Starts anywhere, but no further than 64 rows from their group of eight on. */
static struct bb_ribbon_equation random_equation(struct bb_rng *rng, uint32_t slots, uint32_t width)
{
    uint32_t start = (uint32_t)bb_rng_below(rng, slots - width + 1);
    uint32_t kept = width + start % 8 > 64 ? 64 - start % 8 : width;
    uint64_t mask = kept == 64 ? UINT64_MAX : (UINT64_C(1) << kept) - 1;
    return (struct bb_ribbon_equation){.start = start,
                                       .fingerprint = (uint32_t)bb_rng_next(rng),
                                       .coefficients = (bb_rng_next(rng) & mask) | 1};
}

/* Gives whether the system was solvable. */
static bool assert_system(struct bb_rng *rng, struct bb_ribbon_solver *solver, uint32_t slots,
                          uint32_t keys, uint32_t width, uint32_t fingerprint_bits)
{
    struct bb_ribbon_equation equations[KEYS_MAX];
    struct matrix_row rows[KEYS_MAX];
    for (uint32_t i = 0; i < keys; i++) {
        bool again = i > 0 && bb_rng_one_in(rng, 10);
        equations[i] = again ? equations[i - 1] : random_equation(rng, slots, width);
        rows[i] = row_of(equations[i], fingerprint_bits);
    }
    bool solved =
        assert_solutions(solver, equations, keys - (keys % 7 == 0), slots, fingerprint_bits);
    assert_int_equal(solved, is_solvable(rows, keys - (keys % 7 == 0)));
    return solved;
}

static void ribbon_solver__solves_what_can_be_solved(void **state)
{
    (void)state;
    static struct bb_ribbon_solver solver;
    struct bb_rng rng;
    uint32_t solvable = 0, systems = 0;
    bb_rng_init(&rng, key_seed);
    for (uint32_t fingerprint_bits = 1; fingerprint_bits <= BB_RIBBON_FINGERPRINT_BITS_MAX;
         fingerprint_bits += 3)
        for (uint32_t slots = 1; slots <= SLOTS_MAX; slots++)
            for (uint32_t spare = 0; spare < 5 && spare < slots; spare++) {
                uint32_t width = slots < 57 ? slots : slots < 64 ? 57 : 64;
                solvable +=
                    assert_system(&rng, &solver, slots, slots - spare, width, fingerprint_bits);
                systems++;
            }
    /* Both outcomes occur often; otherwise the test is meaningless. */
    assert_in_range(solvable, systems / 4, systems * 31 / 32);
}

/* --- Filters --- */

/* From the hashes, in every form: solved, or not, and the rows that the solver has. */
static void assert_solved_from_hashes(struct bb_ribbon_solver *solver, const uint64_t *hashes,
                                      uint32_t keys, struct bb_descriptor parts,
                                      uint32_t fingerprint_bits, bool solvable)
{
    static struct bb_ribbon_rows expected;
    struct bb_ribbon_keys set = {.hashes = hashes, .count = keys};
    uint32_t slots = bb_ribbon_system_slots(parts);
    expected = solver->rows;
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++) {
        if (!bb_cpu_has(cpu))
            continue;
        bb_ribbon_solver_use(solver, cpu);
        memset(&solver->rows, 0xa5, sizeof(solver->rows));
        assert_int_equal(bb_ribbon_solver_solve(solver, &set, parts, fingerprint_bits), solvable);
        for (uint32_t i = 0; i < slots && solvable; i++)
            assert_int_equal(ribbon_row(&solver->rows, i, fingerprint_bits),
                             ribbon_row(&expected, i, fingerprint_bits));
    }
}

/* keys of a filter, solved under the seed; gives whether that was possible. */
static bool assert_filter(struct bb_ribbon_solver *solver, bool bit_exact, uint32_t size,
                          uint32_t keys, uint32_t fingerprint_bits, uint32_t seed)
{
    static uint64_t hashes[BB_RIBBON_SLOTS_MAX];
    static struct bb_ribbon_equation equations[BB_RIBBON_SLOTS_MAX];
    struct bb_descriptor parts = {.bit_exact = bit_exact, .size = size, .seed = seed};
    uint32_t tweak = bb_descriptor_encode(parts);
    keys -= keys % 7 == 0;
    for (uint32_t i = 0; i < keys; i++) {
        hashes[i] = member_hash(((uint64_t)size << 8) + seed, i);
        equations[i] = bit_exact ? bb_ribbon_bits_equation(hashes[i], tweak, size)
                                 : bb_ribbon_equation(hashes[i], tweak, size);
    }
    bool solvable =
        assert_solutions(solver, equations, keys, bb_ribbon_system_slots(parts), fingerprint_bits);
    assert_solved_from_hashes(solver, hashes, keys, parts, fingerprint_bits, solvable);
    return solvable;
}

/* With few rows to spare, so that some seeds solve the system and some do not. */
static void ribbon_solver__filters_of_all_sizes(void **state)
{
    (void)state;
    static struct bb_ribbon_solver solver;
    uint32_t solved = 0, filters = 0;
    for (uint32_t size = 2; size <= 255; size += 1 + size / 40)
        for (uint32_t seed = 0; seed < 4; seed++) {
            uint32_t fingerprint_bits = 1 + (size + seed * 7) % BB_RIBBON_FINGERPRINT_BITS_MAX;
            uint32_t groups = size < BB_RIBBON_GROUPS_MIN ? BB_RIBBON_GROUPS_MIN : size;
            solved += assert_filter(&solver, true, size, size - 1, fingerprint_bits, seed);
            solved += assert_filter(&solver, false, groups, groups * 8 - 1 - groups * groups / 2000,
                                    fingerprint_bits, seed);
            filters += 2;
        }
    assert_in_range(solved, filters / 4, filters * 15 / 16);
}

static void assert_largest_system(enum bb_cpu cpu)
{
    static struct bb_ribbon_solver solver;
    struct bb_ribbon_equation last = {BB_RIBBON_SLOTS_MAX - 64, 5, UINT64_C(1) << 63 | 1};
    bb_ribbon_solver_use(&solver, cpu);
    bb_ribbon_system_reset(&solver.system, BB_RIBBON_SLOTS_MAX, BB_RIBBON_FINGERPRINT_BITS_MAX);
    bb_ribbon_system_add(&solver.system, last);
    bb_ribbon_system_add(&solver.system, last);
    assert_true(bb_ribbon_solver_finish(&solver));
    assert_int_equal(
        ribbon_row(&solver.rows, BB_RIBBON_SLOTS_MAX - 64, BB_RIBBON_FINGERPRINT_BITS_MAX) ^
            ribbon_row(&solver.rows, BB_RIBBON_SLOTS_MAX - 1, BB_RIBBON_FINGERPRINT_BITS_MAX),
        5);
    last.fingerprint = 6;
    bb_ribbon_system_add(&solver.system, last);
    assert_false(bb_ribbon_solver_finish(&solver));
}

static void ribbon_solver__largest_system(void **state)
{
    (void)state;
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++)
        if (bb_cpu_has(cpu))
            assert_largest_system(cpu);
}

static void assert_too_many(enum bb_cpu cpu)
{
    static struct bb_ribbon_solver solver;
    struct bb_rng rng;
    bb_rng_init(&rng, key_seed);
    bb_ribbon_solver_use(&solver, cpu);
    for (uint32_t count = BB_RIBBON_POOL_MAX; count <= BB_RIBBON_SLOTS_MAX; count += 61) {
        bb_ribbon_system_reset(&solver.system, BB_RIBBON_SLOTS_MAX, 7);
        for (uint32_t i = 0; i < count; i++)
            bb_ribbon_system_add(&solver.system,
                                 (struct bb_ribbon_equation){.start = 800,
                                                             .fingerprint = 1,
                                                             .coefficients = bb_rng_next(&rng)});
        assert_false(bb_ribbon_solver_finish(&solver));
    }
}

/* Hostile hashes: as many as possible start in one group. */
static void ribbon_solver__too_many_for_their_rows(void **state)
{
    (void)state;
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++)
        if (bb_cpu_has(cpu))
            assert_too_many(cpu);
}

/* Of 75 equations for every 64 rows 11 are redundant: they were kept until they filled the pool,
 * and a system that can be solved in planes without them was refused. */
static void ribbon_solver__repetitions_leave_the_pool(void **state)
{
    (void)state;
    enum { WINDOWS = 27, KEYS = 75 };
    static struct bb_ribbon_solver solver;
    static struct bb_ribbon_equation equations[WINDOWS * KEYS];
    static uint32_t rows[WINDOWS * 64];
    struct bb_rng rng;
    bb_rng_init(&rng, key_seed);
    for (size_t i = 0; i < BB_ARRAY_LENGTH(rows); i++)
        rows[i] = (uint32_t)bb_rng_next(&rng);
    for (uint32_t i = 0; i < WINDOWS * KEYS; i++) {
        uint32_t start = i / KEYS * 64;
        uint64_t coefficients = bb_rng_next(&rng) | 1;
        equations[i] =
            (struct bb_ribbon_equation){.start = start,
                                        .fingerprint = sum_of(rows + start, coefficients),
                                        .coefficients = coefficients};
    }
    assert_true(assert_solutions(&solver, equations, WINDOWS * KEYS, WINDOWS * 64, 7));
}

#if BB_CPU_X86
/* Gives whether the system of as many keys as there are rows, but one in 32, was solved. */
static bool solve_in_planes(uint32_t groups, uint32_t fingerprint_bits)
{
    static struct bb_ribbon_planes planes;
    static struct bb_ribbon_system system;
    static struct bb_ribbon_rows rows;
    static uint64_t hashes[BB_RIBBON_SLOTS_MAX];
    struct bb_descriptor parts = {.size = groups};
    uint32_t keys = groups * BB_RIBBON_GROUP_ROWS * 31 / 32;
    for (uint32_t i = 0; i < keys; i++)
        hashes[i] = member_hash(1000 + groups, i);
    bb_ribbon_system_init(&system, hashes, keys, parts, fingerprint_bits);
    enum bb_ribbon_outcome outcome = bb_ribbon_planes_solve(&planes, &system, &rows);
    assert_int_not_equal(outcome, BB_RIBBON_TOO_WIDE);
    return outcome == BB_RIBBON_SOLVED;
}

/* Else the portable form, which answers then, would hide it. */
static void ribbon_solver__planes_do_not_give_up(void **state)
{
    (void)state;
    uint32_t solved = 0;
    for (uint32_t groups = BB_RIBBON_GROUPS_MIN; groups <= BB_RIBBON_GROUPS_MAX; groups++)
        if (bb_cpu_has(BB_CPU_AVX512))
            solved += solve_in_planes(groups, 1 + groups % BB_RIBBON_FINGERPRINT_BITS_MAX);
    assert_true(solved > 100 || !bb_cpu_has(BB_CPU_AVX512));
}
#else
static void ribbon_solver__planes_do_not_give_up(void **state)
{
    (void)state;
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ribbon_solver__solves_what_can_be_solved),
        cmocka_unit_test(ribbon_solver__filters_of_all_sizes),
        cmocka_unit_test(ribbon_solver__largest_system),
        cmocka_unit_test(ribbon_solver__too_many_for_their_rows),
        cmocka_unit_test(ribbon_solver__repetitions_leave_the_pool),
        cmocka_unit_test(ribbon_solver__planes_do_not_give_up),
    };
    keys_init("ribbon_solver");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
