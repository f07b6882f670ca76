/* Equations on their way into elimination. */
#include "bloomblock/ribbon/ribbon_system.h"

#include <string.h>

#include "bloomblock/ribbon/ribbon_bits.h"

void bb_ribbon_system_reset(struct bb_ribbon_system *system, uint32_t slot_count,
                            uint32_t fingerprint_bits)
{
    BB_ASSERT(slot_count <= BB_RIBBON_SLOTS_MAX && fingerprint_bits >= 1 &&
              fingerprint_bits <= BB_RIBBON_FINGERPRINT_BITS_MAX);
    system->slot_count = slot_count;
    system->fingerprint_bits = fingerprint_bits;
    system->count = 0;
    memset(system->group_sizes, 0,
           bb_ribbon_system_group_count(system) * sizeof(system->group_sizes[0]));
}

void bb_ribbon_system_init(struct bb_ribbon_system *system, const uint64_t *hashes, uint32_t count,
                           struct bb_descriptor parts, uint32_t fingerprint_bits)
{
    uint32_t tweak = bb_descriptor_encode(parts);
    bb_ribbon_system_reset(system, bb_ribbon_system_slots(parts), fingerprint_bits);
    for (uint32_t i = 0; i < count; i++)
        bb_ribbon_system_add(system, parts.bit_exact
                                         ? bb_ribbon_bits_equation(hashes[i], tweak, parts.size)
                                         : bb_ribbon_equation(hashes[i], tweak, parts.size));
}

void bb_ribbon_system_places(const struct bb_ribbon_system *system,
                             struct bb_ribbon_places *ret_places)
{
    uint32_t group_count = bb_ribbon_system_group_count(system);
    uint32_t sum = 0;
    for (uint32_t g = 0; g < group_count; g++) {
        ret_places->next[g] = (uint16_t)sum;
        sum += system->group_sizes[g];
    }
}
