/* Banding and back substitution. */
#include "bloomblock/ribbon_solver.h"

#include <string.h>

#include "base/assert.h"

void bb_ribbon_solver_reset(struct bb_ribbon_solver *solver, uint32_t slot_count, uint32_t rank)
{
    BB_ASSERT(slot_count <= BB_RIBBON_SLOTS_MAX && rank >= 1 && rank <= BB_RIBBON_RANK_MAX);
    solver->slot_count = slot_count;
    solver->rank = rank;
    memset(solver->coefficients, 0, slot_count * sizeof(solver->coefficients[0]));
}

bool bb_ribbon_solver_add(struct bb_ribbon_solver *solver, struct bb_ribbon_equation equation)
{
    uint32_t pivot = equation.start;
    uint64_t coefficients = equation.coefficients;
    uint32_t result = equation.fingerprint & bb_ribbon_rank_mask(solver->rank);
    for (;;) {
        BB_DEBUG_ASSERT(pivot < solver->slot_count);
        if (solver->coefficients[pivot] == 0) {
            solver->coefficients[pivot] = coefficients;
            solver->results[pivot] = result;
            return true;
        }
        coefficients ^= solver->coefficients[pivot];
        result ^= solver->results[pivot];
        if (coefficients == 0)
            return result == 0;
        uint32_t gap = (uint32_t)__builtin_ctzll(coefficients);
        coefficients >>= gap;
        pivot += gap;
    }
}

/* The row at a pivot from the rows behind it. below[j], bit i: column j of row pivot + i, for the
 * rows behind the pivot; bit 0 is taken up by this call. */
static uint32_t substitute(uint64_t below[BB_RIBBON_RANK_MAX], uint32_t rank, uint64_t coefficients,
                           uint32_t result)
{
    uint32_t row = 0;
    for (uint32_t j = 0; j < rank; j++) {
        uint64_t column = below[j] << 1;
        uint32_t bit = ((uint32_t)__builtin_parityll(column & coefficients) ^ (result >> j)) & 1;
        below[j] = column | bit;
        row |= bit << j;
    }
    return row;
}

void bb_ribbon_solver_finish(struct bb_ribbon_solver *solver)
{
    uint64_t below[BB_RIBBON_RANK_MAX] = {0};
    for (uint32_t pivot = solver->slot_count; pivot-- > 0;) {
        uint64_t coefficients = solver->coefficients[pivot];
        uint32_t result = coefficients == 0 ? 0 : solver->results[pivot];
        solver->rows[pivot] = substitute(below, solver->rank, coefficients, result);
    }
}
