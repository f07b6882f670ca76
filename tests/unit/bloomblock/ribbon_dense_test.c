/* Goal: small systems have the same rows, and are solvable under the same seeds, as with the solver
 * of any size. Method: both, for all numbers of slots and fingerprint bits that fit, with fewer
 * equations than slots, as many, and more; with equal hashes among them. */
#include "tests/unit/bloomblock/filter_fixture.h"

#include "bloomblock/ribbon/ribbon_dense.h"
#include "bloomblock/ribbon/ribbon_solver.h"

#define SEEDS 3

static bool solve_in_band(struct bb_ribbon_solver *solver, const uint64_t *hashes, size_t count,
                          uint32_t slot_count, uint32_t fingerprint_bits, uint32_t seed)
{
    bb_ribbon_system_reset(&solver->system, slot_count, fingerprint_bits);
    for (size_t i = 0; i < count; i++)
        bb_ribbon_system_add(&solver->system, bb_ribbon_bits_equation(hashes[i], seed, slot_count));
    return bb_ribbon_solver_finish(solver);
}

/* Gives whether the system was solvable. */
static bool assert_system(const uint64_t *hashes, size_t count, uint32_t slot_count,
                          uint32_t fingerprint_bits, uint32_t seed)
{
    static struct bb_ribbon_solver solver;
    static struct bb_ribbon_rows rows;
    uint8_t expected[BB_RIBBON_BITS_WIDTH * BB_RIBBON_FINGERPRINT_BITS_MAX / 8 + 1];
    uint8_t found[sizeof(expected)];
    memset(&rows, 0xa5, sizeof(rows));
    bool solved = bb_ribbon_dense_solve(hashes, count, slot_count, fingerprint_bits, seed, &rows);
    assert_int_equal(solved,
                     solve_in_band(&solver, hashes, count, slot_count, fingerprint_bits, seed));
    if (!solved)
        return false;
    bb_ribbon_rows_encode_bits(&solver.rows, slot_count, fingerprint_bits, expected);
    bb_ribbon_rows_encode_bits(&rows, slot_count, fingerprint_bits, found);
    assert_memory_equal(found, expected, bb_ribbon_bits_size(slot_count, fingerprint_bits));
    return true;
}

static void draw(uint64_t *hashes, size_t count, uint64_t set, bool with_equal)
{
    for (size_t i = 0; i < count; i++)
        hashes[i] = member_hash(set, with_equal ? i * 7 / 8 : i);
}

static void ribbon_dense__has_the_rows_of_the_solver(void **state)
{
    (void)state;
    uint64_t hashes[BB_RIBBON_DENSE_COUNT_MAX];
    uint64_t set = 0, solved = 0, systems = 0;
    for (uint32_t slots = 1; slots <= BB_RIBBON_BITS_WIDTH; slots++)
        for (uint32_t fingerprint_bits = 1; fingerprint_bits <= BB_RIBBON_FINGERPRINT_BITS_MAX;
             fingerprint_bits++)
            for (size_t count = slots - slots / 8; count <= slots + 1; count++) {
                if (!bb_ribbon_dense_takes(count, slots, fingerprint_bits))
                    continue;
                set++;
                draw(hashes, count, set, set % 5 == 0);
                for (uint32_t seed = 0; seed < SEEDS; seed++)
                    solved += assert_system(hashes, count, slots, fingerprint_bits, seed);
                systems += SEEDS;
            }
    assert_in_range(solved, systems / 4, systems * 3 / 4);
}

static void ribbon_dense__takes_what_fits_into_words(void **state)
{
    (void)state;
    assert_true(bb_ribbon_dense_takes(64, 57, 7));
    assert_true(bb_ribbon_dense_takes(30, 39, BB_RIBBON_FINGERPRINT_BITS_MAX));
    assert_false(bb_ribbon_dense_takes(64, 57, 8));
    assert_false(bb_ribbon_dense_takes(58, 58, 6));
    assert_false(bb_ribbon_dense_takes(65, 57, 1));
    assert_false(bb_ribbon_dense_takes(30, 40, BB_RIBBON_FINGERPRINT_BITS_MAX));
}

static void ribbon_dense__without_equations_all_is_zero(void **state)
{
    (void)state;
    uint64_t hash = 0;
    assert_true(assert_system(&hash, 0, 1, 1, 0));
    assert_true(assert_system(&hash, 0, 57, 7, 63));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ribbon_dense__has_the_rows_of_the_solver),
        cmocka_unit_test(ribbon_dense__takes_what_fits_into_words),
        cmocka_unit_test(ribbon_dense__without_equations_all_is_zero),
    };
    keys_init("ribbon_dense_test");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
