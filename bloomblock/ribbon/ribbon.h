/* The byte-grouped ribbon: 64 coefficients, starts at multiples of eight rows, so that a probe
 * reads one contiguous window and shifts nothing.
 *
 *     group g      byte 0          byte 1               byte r-1         r bytes = 8 rows
 *                | column 0      | column 1      | ... | column r-1    |
 *                  bit i: row 8g + i of that column
 *
 *     payload    | group 0 | group 1 | ... | group G-1 |                 G * r bytes, 8 <= G <= 255
 *     window               | group s | ... | group s+7 |                 8 * r bytes
 *
 * Coefficient byte t belongs to group s + t. Bit j of the answer is the parity of
 * (byte j of group s + t) & (coefficient byte t) over all t; the key may be in the set when all r
 * bits equal its fingerprint. The probe has no branch that depends on key or contents: an early
 * exit after some columns was measured at twice the time, for its mispredictions.
 *
 * Pure functions; any thread.
 */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_H

#include <stddef.h>

#include "bloomblock/ribbon/ribbon_equation.h"

#define BB_RIBBON_GROUP_ROWS    8
#define BB_RIBBON_WINDOW_GROUPS 8 /* 64 coefficients */
#define BB_RIBBON_OVERHANG_GROUPS                                                                  \
    3 /* 24 rows: fewer retries than 16 or 32, from 300 to 1,400 keys */
#define BB_RIBBON_GROUPS_MIN BB_RIBBON_WINDOW_GROUPS
#define BB_RIBBON_GROUPS_MAX 255

/* The number of groups at which a window can begin. */
static inline uint64_t bb_ribbon_group_starts(uint64_t group_count)
{
    return group_count - BB_RIBBON_WINDOW_GROUPS + 1;
}

static inline uint64_t bb_ribbon_draw_group(uint64_t hash, uint64_t tweak, uint64_t group_count)
{
    return bb_ribbon_equation_draw(bb_ribbon_equation_start_hash(hash, tweak),
                                   bb_ribbon_group_starts(group_count), BB_RIBBON_OVERHANG_GROUPS);
}

/* The first group of a key's window. */
static inline uint64_t bb_ribbon_group(uint64_t drawn, uint64_t group_count)
{
    return bb_ribbon_equation_start(drawn, bb_ribbon_group_starts(group_count),
                                    BB_RIBBON_OVERHANG_GROUPS);
}

/* tweak: the filter's descriptor. */
static inline struct bb_ribbon_equation bb_ribbon_equation(uint64_t hash, uint32_t tweak,
                                                           uint32_t group_count)
{
    uint64_t drawn = bb_ribbon_draw_group(hash, tweak, group_count);
    return (struct bb_ribbon_equation){
        .start = (uint32_t)bb_ribbon_group(drawn, group_count) * BB_RIBBON_GROUP_ROWS,
        .fingerprint = bb_ribbon_equation_fingerprint(drawn),
        .coefficients = bb_ribbon_equation_coefficients(hash, tweak)};
}

#endif
