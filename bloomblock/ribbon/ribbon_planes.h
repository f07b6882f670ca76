/* The solver for vectors of 64 bytes with products of bit matrices (AVX-512 with VBMI, VBMI2 and
 * GFNI). Its rows equal those of ribbon_band.h and ribbon_solver.h, bit by bit.
 *
 * The pool is stored in planes: a lane is an equation, a plane one byte of all of them.
 *
 *                 lane 0   lane 1   ...   lane 55    lane 56 ... lane 63
 *     plane 0   | rows of group g, one byte each   | e7 | e6 | ... | e0 |   while pivots are chosen
 *     plane 1   | group g + 1                      | 0                  |
 *     ...
 *     plane 7   | group g + 7                      | 0                  |
 *     results   | columns 0 to 7                   | 0                  |    one per slab
 *
 * For each row of a group, the first lane that has it is added to all lanes that have it. The last
 * lanes are the equations "row i is 0": if no earlier lane has the row, this equation is chosen,
 * and the row is 0; otherwise lane 63 - i collects the pivot. "parts" has, for each lane, the set
 * of the eight chosen equations that were added; so each row only needs plane 0. The other planes
 * follow for the whole group, by one product each: the bytes of the chosen equations are a matrix
 * of eight by eight bits, and each lane of parts is multiplied by it. The same product gives the
 * pivots, and, from the last group to the first, the rows from later rows.
 *
 * The pool has 56 such lanes. If they are full, a second set of vectors has as many again and 8
 * more: 120 equations, where the other form has 128. A system that needs more is abandoned.
 *
 * Compiled for x86 only. Threads: one object, one thread. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_PLANES_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_PLANES_H

#include "bloomblock/ribbon/ribbon_system.h"

#define BB_RIBBON_PLANES_LANES 56 /* equations in the first set of vectors */

/* Loads reach up to 64 bytes past the last equation. */
struct bb_ribbon_planes {
    /* The equations by group. */
    uint64_t coefficients[BB_RIBBON_SLOTS_MAX + 8];
    uint32_t fingerprints[BB_RIBBON_SLOTS_MAX + 16];
    /* The pivots of each group: matrices of eight pivots, the last first, by eight bits. Word 0:
     * columns 0 to 7 of their results, word t: their rows in the t-th later group. */
    uint64_t pivots[BB_RIBBON_WORDS_MAX][8];
    uint64_t results[BB_RIBBON_WORDS_MAX][BB_RIBBON_SLABS_MAX]; /* as word 0, of the other slabs */
};

enum bb_ribbon_outcome {
    BB_RIBBON_SOLVED,
    BB_RIBBON_CONTRADICTS, /* the equations have no solution */
    BB_RIBBON_TOO_WIDE,    /* more equations than the pool holds want the same rows */
};

enum bb_ribbon_outcome bb_ribbon_planes_solve(struct bb_ribbon_planes *planes,
                                              const struct bb_ribbon_system *system,
                                              struct bb_ribbon_rows *ret_rows);

#endif
