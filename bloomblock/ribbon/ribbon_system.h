/* The system of equations of one ribbon. Each equation has the group of eight rows in which it
 * starts. Both forms of elimination use it (ribbon_band.h, ribbon_planes.h).
 *
 *     coefficients    bit 0       bit 8                bit 63
 *                   | group g   | group g + 1 | ... | group g + 7 |     g: the group of the start
 *
 * Threads: one system, one thread. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_SYSTEM_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_SYSTEM_H

#include "base/assert.h"
#include "bloomblock/descriptor.h"
#include "bloomblock/ribbon/ribbon_rows.h"

struct bb_ribbon_system {
    uint32_t slot_count;
    uint32_t fingerprint_bits;
    /* The equations in their original order. */
    uint32_t count;
    uint8_t groups[BB_RIBBON_SLOTS_MAX];        /* in which each starts */
    uint16_t group_sizes[BB_RIBBON_WORDS_MAX];  /* equations that start in a group */
    uint64_t coefficients[BB_RIBBON_SLOTS_MAX]; /* bit i: row i from the group on */
    uint32_t fingerprints[BB_RIBBON_SLOTS_MAX]; /* the lowest fingerprint_bits of each */
};

/* For each group, the position of its first equation if the equations are sorted by group. */
struct bb_ribbon_places {
    uint16_t next[BB_RIBBON_WORDS_MAX];
};

static inline uint32_t bb_ribbon_system_group_count(const struct bb_ribbon_system *system)
{
    return (system->slot_count + BB_RIBBON_SLAB_WIDTH - 1) / BB_RIBBON_SLAB_WIDTH;
}

static inline uint32_t bb_ribbon_system_slots(struct bb_descriptor parts)
{
    return parts.bit_exact ? parts.size : parts.size * BB_RIBBON_SLAB_WIDTH;
}

/* Begins a system of slot_count rows of fingerprint_bits each. */
void bb_ribbon_system_reset(struct bb_ribbon_system *system, uint32_t slot_count,
                            uint32_t fingerprint_bits);

/* Adds an equation; a system has at most BB_RIBBON_SLOTS_MAX. All coefficients must be in the
 * slots, and in the 64 rows that begin with the group in which the equation starts. */
static inline void bb_ribbon_system_add(struct bb_ribbon_system *system,
                                        struct bb_ribbon_equation equation)
{
    uint32_t i = system->count++;
    uint32_t group = equation.start / BB_RIBBON_SLAB_WIDTH;
    BB_DEBUG_ASSERT(i < BB_RIBBON_SLOTS_MAX && equation.start < system->slot_count);
    system->groups[i] = (uint8_t)group;
    system->group_sizes[group]++;
    system->coefficients[i] = equation.coefficients << equation.start % BB_RIBBON_SLAB_WIDTH;
    system->fingerprints[i] =
        equation.fingerprint & bb_ribbon_equation_fingerprint_mask(system->fingerprint_bits);
}

/* Begins the system of a filter and adds the equations of these hashes. */
void bb_ribbon_system_init(struct bb_ribbon_system *system, const uint64_t *hashes, uint32_t count,
                           struct bb_descriptor parts, uint32_t fingerprint_bits);

/* The same, eight hashes at a time, with AVX-512. Compiled for x86 only. */
void bb_ribbon_system_avx512_init(struct bb_ribbon_system *system, const uint64_t *hashes,
                                  uint32_t count, struct bb_descriptor parts,
                                  uint32_t fingerprint_bits);

void bb_ribbon_system_places(const struct bb_ribbon_system *system,
                             struct bb_ribbon_places *ret_places);

#endif
