/* Back substitution from the band. */
#include "bloomblock/ribbon/ribbon_solver.h"

#include <string.h>

#include "bloomblock/ribbon/ribbon_dense.h"
#include "bloomblock/ribbon/ribbon_spread.h"

#define GROUP_ROWS      BB_RIBBON_SLAB_WIDTH
#define PLANES_KEYS_MIN 24 /* fewer are solved sooner as dense systems */

/* The sum of later rows that one row of the group needs: bit 0 of byte j is for column j. */
static inline uint64_t sum_after(uint64_t coefficients, const uint64_t *group)
{
    uint64_t sum = 0;
    for (uint32_t t = 1; t < 8; t++)
        sum ^= (coefficients >> (8 * t) & 0xff) * BB_EVERY_BYTE & group[t];
    return bb_ribbon_spread_parities(sum);
}

/* Computes the rows of a group from the later groups, which follow it in memory: the other rows of
 * a pivot in its group are all 0. */
static inline uint64_t substitute(const uint64_t *pivots, const uint64_t *results, uint32_t slab,
                                  const uint64_t *group)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < GROUP_ROWS; i++)
        rows |= (sum_after(pivots[i], group) ^ (results[i] >> slab & BB_EVERY_BYTE)) << i;
    return rows;
}

static bool solve_in_band(struct bb_ribbon_solver *solver)
{
    const struct bb_ribbon_band *band = &solver->band;
    if (!bb_ribbon_band_fill(&solver->band, &solver->system))
        return false;
    uint32_t group_count = bb_ribbon_system_group_count(&solver->system);
    for (uint32_t slab = 0; slab < bb_ribbon_rows_slab_count(solver->system.fingerprint_bits);
         slab++) {
        uint64_t *words = solver->rows.slabs[slab];
        memset(words + group_count, 0, 8 * sizeof(words[0]));
        for (uint32_t g = group_count; g-- > 0;)
            words[g] = substitute(band->pivots + (size_t)g * GROUP_ROWS,
                                  band->results + (size_t)g * GROUP_ROWS, slab, words + g);
    }
    return true;
}

void bb_ribbon_solver_use(struct bb_ribbon_solver *solver, enum bb_cpu cpu)
{
    solver->in_planes = cpu == BB_CPU_AVX512 && bb_cpu_has(cpu);
}

static enum bb_ribbon_outcome solve_in_planes(struct bb_ribbon_solver *solver)
{
#if BB_CPU_X86
    if (solver->in_planes)
        return bb_ribbon_planes_solve(&solver->planes, &solver->system, &solver->rows);
#endif
    (void)solver;
    return BB_RIBBON_TOO_WIDE;
}

static void system_init(struct bb_ribbon_solver *solver, const uint64_t *hashes, uint32_t count,
                        struct bb_descriptor parts, uint32_t fingerprint_bits)
{
#if BB_CPU_X86
    if (solver->in_planes) {
        bb_ribbon_system_avx512_init(&solver->system, hashes, count, parts, fingerprint_bits);
        return;
    }
#endif
    bb_ribbon_system_init(&solver->system, hashes, count, parts, fingerprint_bits);
}

bool bb_ribbon_solver_finish(struct bb_ribbon_solver *solver)
{
    enum bb_ribbon_outcome outcome = solve_in_planes(solver);
    return outcome == BB_RIBBON_TOO_WIDE ? solve_in_band(solver) : outcome == BB_RIBBON_SOLVED;
}

static void combine_values(struct bb_ribbon_system *system, const uint32_t *values)
{
    uint32_t used = bb_ribbon_equation_fingerprint_mask(system->fingerprint_bits);
    for (uint32_t i = 0; i < system->count; i++)
        system->fingerprints[i] ^= values[i] & used;
}

bool bb_ribbon_solver_solve(struct bb_ribbon_solver *solver, const struct bb_ribbon_keys *keys,
                            struct bb_descriptor parts, uint32_t fingerprint_bits)
{
    uint32_t slots = bb_ribbon_system_slots(parts);
    if (parts.bit_exact && keys->values == NULL &&
        bb_ribbon_dense_takes(keys->count, slots, fingerprint_bits) &&
        !(solver->in_planes && keys->count >= PLANES_KEYS_MIN))
        return bb_ribbon_dense_solve(keys->hashes, keys->count, slots, fingerprint_bits,
                                     bb_descriptor_encode(parts), &solver->rows);
    system_init(solver, keys->hashes, (uint32_t)keys->count, parts, fingerprint_bits);
    if (keys->values != NULL)
        combine_values(&solver->system, keys->values);
    return bb_ribbon_solver_finish(solver);
}
