/* The solver of small systems: all coefficients of an equation and its result are one word, and
 * every equation starts at row 0 (ribbon_bits.h).
 *
 *     bit 0                       slot_count                     + rank
 *     | coefficient of each row   | fingerprint, rank bits       | 0
 *
 * One equation after the other becomes a pivot with its lowest coefficient, and is added to those
 * behind it that have that coefficient; then the same from the last to the first. Every addition is
 * made, multiplied by 0 or 1: a branch would be mispredicted every second time. Filters of 30 keys
 * take two fifths of the time that ribbon_band.h, for systems of any size, needs for the same
 * rows.
 *
 * Pure functions; any thread.
 */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_DENSE_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_DENSE_H

#include "bloomblock/ribbon/ribbon_bits.h"
#include "bloomblock/ribbon/ribbon_rows.h"

#define BB_RIBBON_DENSE_COUNT_MAX 64

/* Can so many equations be solved so? */
static inline bool bb_ribbon_dense_takes(size_t count, uint32_t slot_count, uint32_t rank)
{
    return count <= BB_RIBBON_DENSE_COUNT_MAX && slot_count <= BB_RIBBON_BITS_WIDTH &&
           slot_count + rank <= 64;
}

/* The rows of bit-exact ribbons for these hashes under a tweak; those that no equation determines
 * are 0. False: the equations contradict each other. */
bool bb_ribbon_dense_solve(const uint64_t *hashes, size_t count, uint32_t slot_count, uint32_t rank,
                           uint32_t tweak, struct bb_ribbon_rows *ret_rows);

#endif
