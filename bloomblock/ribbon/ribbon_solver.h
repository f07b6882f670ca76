/* Solves the equations of a ribbon's keys for its rows. Both layouts use it.
 *
 * Elimination brings the equations into a band (ribbon_band.h). Back substitution then computes the
 * rows from the last to the first. If the equations contradict each other, the builder tries
 * another seed.
 *
 * The solution does not depend on the order of the equations: the equations determine which rows
 * are free, and free rows are 0.
 *
 * Memory: 84 kB for the largest filter, and half of that for 1,000 keys, which fits into the
 * first-level cache. Threads: one solver, one thread.
 */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_SOLVER_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_SOLVER_H

#include "bloomblock/cpu.h"
#include "bloomblock/ribbon/ribbon_band.h"
#include "bloomblock/ribbon/ribbon_planes.h"

struct bb_ribbon_solver {
    bool in_planes; /* uses the form of ribbon_planes.h */
    struct bb_ribbon_system system;
    union {
        struct bb_ribbon_band band;
        struct bb_ribbon_planes planes;
    };
    struct bb_ribbon_rows rows; /* the solution */
};

/* Selects the form for an instruction set. Without this call, or if the processor does not have the
 * instruction set, the portable form is used.
 */
void bb_ribbon_solver_use(struct bb_ribbon_solver *solver, enum bb_cpu cpu);

/* The keys of a filter. */
struct bb_ribbon_keys {
    const uint64_t *hashes;
    const uint32_t *values; /* NULL, or what each fingerprint is combined with (ribbon_values.h) */
    size_t count;
};

/* Solves the system of a filter with these keys. */
bool bb_ribbon_solver_solve(struct bb_ribbon_solver *solver, const struct bb_ribbon_keys *keys,
                            struct bb_descriptor parts, uint32_t fingerprint_bits);

/* Solves the system that was built in `system`: computes the rows. False: the equations contradict
 * each other, or more than BB_RIBBON_POOL_MAX of them need the same 64 rows. */
bool bb_ribbon_solver_finish(struct bb_ribbon_solver *solver);

#endif
