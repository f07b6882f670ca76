/* Goal: a system that has a solution is solved, one that has none is refused, and nothing else.
 * Method: random bands, dense and wide ones, against elimination over the whole matrix. */
#include "tests/unit/bloomblock/filter_fixture.h"

#include "bloomblock/ribbon_solver.h"

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

static struct matrix_row row_of(struct bb_ribbon_equation equation, uint32_t rank)
{
    struct matrix_row row = {{0, 0}};
    for (uint32_t i = 0; i < 64; i++)
        if (equation.coefficients >> i & 1)
            row.words[(equation.start + i) / 64] |= UINT64_C(1) << ((equation.start + i) % 64);
    uint64_t result = equation.fingerprint & bb_ribbon_rank_mask(rank);
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

/* Sum of the rows that an equation names. */
static uint32_t sum_of(const uint32_t *rows, struct bb_ribbon_equation equation)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 64; i++)
        if (equation.coefficients >> i & 1)
            sum ^= rows[equation.start + i];
    return sum;
}

static struct bb_ribbon_equation random_equation(struct bb_rng *rng, uint32_t slots, uint32_t width)
{
    uint32_t last_start = slots - width;
    uint64_t mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
    return (struct bb_ribbon_equation){.start = (uint32_t)bb_rng_below(rng, last_start + 1),
                                       .fingerprint = (uint32_t)bb_rng_next(rng),
                                       .coefficients = (bb_rng_next(rng) & mask) | 1};
}

/* Gives whether the system was solvable. */
static bool assert_system(struct bb_rng *rng, struct bb_ribbon_solver *solver, uint32_t slots,
                          uint32_t keys, uint32_t width, uint32_t rank)
{
    struct bb_ribbon_equation equations[KEYS_MAX];
    struct matrix_row rows[KEYS_MAX];
    bool solved = true;
    bb_ribbon_solver_reset(solver, slots, rank);
    for (uint32_t i = 0; i < keys; i++) {
        bool again = i > 0 && bb_rng_one_in(rng, 10);
        equations[i] = again ? equations[i - 1] : random_equation(rng, slots, width);
        rows[i] = row_of(equations[i], rank);
        solved = solved && bb_ribbon_solver_add(solver, equations[i]);
    }
    assert_int_equal(solved, is_solvable(rows, keys));
    if (!solved)
        return false;
    bb_ribbon_solver_finish(solver);
    for (uint32_t i = 0; i < keys; i++)
        assert_int_equal((sum_of(solver->rows, equations[i]) ^ equations[i].fingerprint) &
                             bb_ribbon_rank_mask(rank),
                         0);
    for (uint32_t i = 0; i < slots; i++)
        assert_int_equal(solver->rows[i] & ~bb_ribbon_rank_mask(rank), 0);
    return true;
}

static void ribbon_solver__solves_what_can_be_solved(void **state)
{
    (void)state;
    static struct bb_ribbon_solver solver;
    struct bb_rng rng;
    uint32_t solvable = 0, systems = 0;
    bb_rng_init(&rng, key_seed);
    for (uint32_t rank = 1; rank <= BB_RIBBON_RANK_MAX; rank += 3)
        for (uint32_t slots = 1; slots <= SLOTS_MAX; slots++)
            for (uint32_t spare = 0; spare < 5 && spare < slots; spare++) {
                uint32_t width = slots < 57 ? slots : slots < 64 ? 57 : 64;
                solvable += assert_system(&rng, &solver, slots, slots - spare, width, rank);
                systems++;
            }
    /* Both outcomes occur often, or the test says nothing. */
    assert_in_range(solvable, systems / 4, systems * 31 / 32);
}

static void ribbon_solver__largest_system(void **state)
{
    (void)state;
    static struct bb_ribbon_solver solver;
    struct bb_ribbon_equation last = {BB_RIBBON_SLOTS_MAX - 64, 5, UINT64_C(1) << 63 | 1};
    bb_ribbon_solver_reset(&solver, BB_RIBBON_SLOTS_MAX, BB_RIBBON_RANK_MAX);
    assert_true(bb_ribbon_solver_add(&solver, last));
    assert_true(bb_ribbon_solver_add(&solver, last));
    last.fingerprint = 6;
    assert_false(bb_ribbon_solver_add(&solver, last));
    bb_ribbon_solver_finish(&solver);
    assert_int_equal(solver.rows[BB_RIBBON_SLOTS_MAX - 64] ^ solver.rows[BB_RIBBON_SLOTS_MAX - 1],
                     5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ribbon_solver__solves_what_can_be_solved),
        cmocka_unit_test(ribbon_solver__largest_system),
    };
    keys_init("ribbon_solver");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
