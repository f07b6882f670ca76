/* Solves a ribbon's equations: keys in, rows out. Both layouts use it.
 *
 * Every equation is brought into the band, a triangular system with at most one equation per pivot
 * row, as it comes (Gaussian elimination on the fly); the rows follow by back substitution from
 * the last to the first. An equation that reduces to 0 = 0 says nothing new (the same key again)
 * and is fine; 0 = something is a contradiction, and the builder tries another seed.
 *
 * Memory: 33 kB for the largest filter, so that it stays in the first-level cache.
 * Threads: one solver, one thread.
 */
#ifndef BB_BLOOMBLOCK_RIBBON_SOLVER_H
#define BB_BLOOMBLOCK_RIBBON_SOLVER_H

#include "bloomblock/ribbon_equation.h"

#define BB_RIBBON_SLOTS_MAX 2040

struct bb_ribbon_solver {
    uint32_t slot_count;
    uint32_t rank;
    uint64_t coefficients[BB_RIBBON_SLOTS_MAX]; /* 0: no equation has this pivot; else bit 0 set */
    uint32_t results[BB_RIBBON_SLOTS_MAX];
    uint32_t rows[BB_RIBBON_SLOTS_MAX]; /* the solution */
};

/* Begins a system of slot_count rows of rank bits. */
void bb_ribbon_solver_reset(struct bb_ribbon_solver *solver, uint32_t slot_count, uint32_t rank);

/* False: contradicts the equations before it. No coefficient may reach past the last slot. */
bool bb_ribbon_solver_add(struct bb_ribbon_solver *solver, struct bb_ribbon_equation equation);

/* Computes rows. Rows that no equation determines are 0. */
void bb_ribbon_solver_finish(struct bb_ribbon_solver *solver);

#endif
