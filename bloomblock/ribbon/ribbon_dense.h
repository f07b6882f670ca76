/* The solver of small systems. One word holds all coefficients of an equation and its fingerprint,
 * and every equation starts at row 0 (ribbon_bits.h).
 *
 *     bit 0                       slot_count                     + fingerprint_bits
 *     | coefficient of each row   | fingerprint                  | 0
 *
 * One equation after the other becomes the pivot of its lowest coefficient, and is added to later
 * equations with this coefficient. Then the same from the last equation to the first. Every
 * addition is made, multiplied by 0 or 1, because a branch would be mispredicted half of the time.
 * For filters of 30 keys this takes two fifths of the time of ribbon_band.h, which solves systems
 * of any size. Both compute the same rows.
 *
 * Pure functions; any thread. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_DENSE_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_DENSE_H

#include "bloomblock/ribbon/ribbon_bits.h"
#include "bloomblock/ribbon/ribbon_rows.h"

#define BB_RIBBON_DENSE_COUNT_MAX 64

/* Whether this solver can solve the system. */
static inline bool bb_ribbon_dense_takes(size_t count, uint32_t slot_count,
                                         uint32_t fingerprint_bits)
{
    return count <= BB_RIBBON_DENSE_COUNT_MAX && slot_count <= BB_RIBBON_BITS_WIDTH &&
           slot_count + fingerprint_bits <= 64;
}

/* Computes the rows of a bit-exact ribbon for these hashes under a tweak. Rows that no equation
 * determines are 0. False: the equations contradict each other. */
bool bb_ribbon_dense_solve(const uint64_t *hashes, size_t count, uint32_t slot_count,
                           uint32_t fingerprint_bits, uint32_t tweak,
                           struct bb_ribbon_rows *ret_rows);

#endif
