/* The first half of the solver: a ribbon's equations, and the triangular band that they are brought
 * into, with at most one equation per pivot row.
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

#include "base/assert.h"
#include "bloomblock/ribbon/ribbon_rows.h"

/* Equations beyond 64 in the pool depend on the others; twice as many will contradict them. */
#define BB_RIBBON_POOL_MAX 128

struct bb_ribbon_band {
    uint32_t slot_count;
    uint32_t rank;
    /* The equations, as they came. */
    uint32_t equation_count;
    uint8_t groups[BB_RIBBON_SLOTS_MAX];        /* of the start */
    uint16_t group_sizes[BB_RIBBON_WORDS_MAX];  /* equations that start in a group */
    uint64_t coefficients[BB_RIBBON_SLOTS_MAX]; /* bit i: row i from the group on */
    uint32_t fingerprints[BB_RIBBON_SLOTS_MAX];
    /* The equations of the pivot rows. */
    uint64_t
        pivots[BB_RIBBON_SLOTS_MAX]; /* coefficients, from the row's group on; 0: not a pivot */
    uint64_t results[BB_RIBBON_SLOTS_MAX]; /* bit 8 (j % 8) + j / 8: of column j */
};

static inline uint32_t bb_ribbon_band_group_count(const struct bb_ribbon_band *band)
{
    return (band->slot_count + BB_RIBBON_SLAB_WIDTH - 1) / BB_RIBBON_SLAB_WIDTH;
}

/* Begins a system of slot_count rows of rank bits. */
void bb_ribbon_band_reset(struct bb_ribbon_band *band, uint32_t slot_count, uint32_t rank);

/* At most BB_RIBBON_SLOTS_MAX equations. No coefficient may reach past the last slot, nor past the
 * 64 rows from the group of the start on. */
static inline void bb_ribbon_band_add(struct bb_ribbon_band *band,
                                      struct bb_ribbon_equation equation)
{
    uint32_t i = band->equation_count++;
    uint32_t group = equation.start / BB_RIBBON_SLAB_WIDTH;
    BB_DEBUG_ASSERT(i < BB_RIBBON_SLOTS_MAX && equation.start < band->slot_count);
    band->groups[i] = (uint8_t)group;
    band->group_sizes[group]++;
    band->coefficients[i] = equation.coefficients << equation.start % BB_RIBBON_SLAB_WIDTH;
    band->fingerprints[i] = equation.fingerprint;
}

/* Fills pivots and results. False: the equations contradict each other, or more than
 * BB_RIBBON_POOL_MAX of them want the same 64 rows. */
bool bb_ribbon_band_finish(struct bb_ribbon_band *band);

#endif
