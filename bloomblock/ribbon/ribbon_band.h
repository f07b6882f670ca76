/* The first half of the solver: the triangular band that a ribbon's equations are brought into, with
 * at most one equation per pivot row.
 *
 * Group after group of eight rows, a pool holds the equations that have come in and found no pivot
 * yet; their coefficients stand for the 64 rows from the group on. Which of them become the pivots
 * of the group's rows follows from eight coefficients of each, a byte, and so does what has to be
 * added to which: Gauss-Jordan elimination of bytes, in a few words. Then the pivots are added up
 * from the chosen equations, and each equation of the pool gets the sum of the pivots whose rows it
 * has, from two tables of 16 sums ("four Russians": Arlazarov, Dinic, Kronrod, Faradzhev, 1970).
 * So an equation is touched once per group. (The pool has 20 to 40 of them; bringing one equation
 * after the other into the band, each addition waiting for the one before, takes three times as
 * long.)
 *
 * An equation that is left without coefficients says nothing new (the same key again) and is fine
 * if its result is 0; else it contradicts the others.
 *
 * Which rows are pivots follows from the equations alone, not from the order in which they come.
 *
 * Threads: one band, one thread.
 */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_BAND_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_BAND_H

#include "bloomblock/ribbon/ribbon_system.h"

/* Equations beyond 64 in the pool depend on the others; twice as many will contradict them. */
#define BB_RIBBON_POOL_MAX 128

/* The equations of the pivot rows. */
struct bb_ribbon_band {
    uint64_t
        pivots[BB_RIBBON_SLOTS_MAX]; /* coefficients, from the row's group on; 0: not a pivot */
    uint64_t results[BB_RIBBON_SLOTS_MAX]; /* bit 8 (j % 8) + j / 8: of column j */
};

/* Fills pivots and results. False: the equations contradict each other, or more than
 * BB_RIBBON_POOL_MAX of them want the same 64 rows. */
bool bb_ribbon_band_fill(struct bb_ribbon_band *band, const struct bb_ribbon_system *system);

#endif
