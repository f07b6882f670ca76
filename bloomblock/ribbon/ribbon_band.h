/* The first half of the solver: brings a ribbon's equations into a triangular band, with at most
 * one equation per pivot row.
 *
 * For each group of eight rows, a pool holds the equations that start at or before the group and
 * have no pivot yet; their coefficients are for the 64 rows from the group on. Eight
 * coefficients of each equation, one byte, determine which equations become the pivots of the
 * group's rows, and which must be added to which: Gauss-Jordan elimination of bytes, in a few
 * words. Then each pivot is computed as a sum of chosen equations. Last, each equation of the pool
 * gets the sum of the pivots whose rows it has, from two tables of 16 sums ("four Russians":
 * Arlazarov, Dinic, Kronrod, Faradzhev, 1970). So each equation is accessed once per group. (The
 * pool has 20 to 40 equations. Bringing one equation after another into the band, where each
 * addition waits for the previous, takes three times as long.)
 *
 * An equation without remaining coefficients is redundant (the same key again) if its result is 0;
 * otherwise it contradicts the others.
 *
 * The pivot rows depend only on the equations, not on their order.
 *
 * Threads: one band, one thread. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_BAND_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_BAND_H

#include "bloomblock/ribbon/ribbon_system.h"

/* Of more than 64 equations over 64 rows some depend on others. With twice as many, a contradiction
 * is nearly certain. */
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
