/* The solver of small systems: all coefficients of an equation and its result are one word, and
 * every equation starts at row 0 (ribbon_bits.h).
 *
 *     bit 0                       slot_count                     + fingerprint_bits
 *     | coefficient of each row   | fingerprint                  | 0
 *
 * Each equation in turn becomes a pivot with its lowest coefficient, and is added to later
 * equations with that coefficient; then the same from the last to the first. Every addition is
 * made, multiplied by 0 or 1, because a branch would be mispredicted half of the time. Filters of
 * 30 keys take two fifths of the time of ribbon_band.h, which handles systems of any size, for the
 * same rows.
 *
 * Pure functions; any thread. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_DENSE_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_DENSE_H

#include "bloomblock/ribbon/ribbon_bits.h"
#include "bloomblock/ribbon/ribbon_rows.h"

#define BB_RIBBON_DENSE_COUNT_MAX 64

/* Whether this solver supports the system. */
static inline bool bb_ribbon_dense_takes(size_t count, uint32_t slot_count,
                                         uint32_t fingerprint_bits)
{
    return count <= BB_RIBBON_DENSE_COUNT_MAX && slot_count <= BB_RIBBON_BITS_WIDTH &&
           slot_count + fingerprint_bits <= 64;
}

/* The rows of bit-exact ribbons for these hashes under a tweak; rows that no equation determines
 * are 0. False: the equations contradict each other. */
bool bb_ribbon_dense_solve(const uint64_t *hashes, size_t count, uint32_t slot_count,
                           uint32_t fingerprint_bits, uint32_t tweak,
                           struct bb_ribbon_rows *ret_rows);

#endif
