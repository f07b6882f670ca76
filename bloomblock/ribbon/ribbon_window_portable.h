/* The second step of a probe (ribbon_window.h) without instructions of one processor, for up to 8
 * fingerprint bits.
 *
 * Pure functions; any thread. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_WINDOW_PORTABLE_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_WINDOW_PORTABLE_H

#include "bloomblock/ribbon/ribbon_parity.h"
#include "bloomblock/ribbon/ribbon_window.h"

static inline bool bb_ribbon_window_portable_agrees(struct bb_ribbon_window window)
{
    uint32_t sums =
        bb_ribbon_parity_sums(window.bytes, window.fingerprint_bits, window.coefficients | 1);
    return ((sums ^ window.fingerprint) &
            bb_ribbon_equation_fingerprint_mask((uint32_t)window.fingerprint_bits)) == 0;
}

#endif
