/* See ribbon_shape.h. */
#include "bloomblock/ribbon/ribbon_shape.h"

#include <math.h>

#include "base/assert.h"
#include "bloomblock/ribbon/ribbon_bits.h"
#include "bloomblock/ribbon/ribbon_solver.h"

size_t bb_ribbon_shape_size(struct bb_ribbon_shape shape, uint32_t fingerprint_bits)
{
    return shape.bit_exact ? bb_ribbon_bits_size(shape.size, fingerprint_bits)
                           : (size_t)shape.size * fingerprint_bits;
}

/* Slots in excess of the number of keys with which at least 45 of 100 seeds solve the system, by
 * simulation; docs/filters.md has the shares. 0 in the first row, and below GROUPED_DENSE_KEYS_MAX
 * if the keys fill whole groups: 29 to 26 seeds of 100 solve a square system, and if the next size
 * is more than 1.5 % larger, its cost exceeds that of 3.5 attempts instead of 1.7. */
static const struct {
    uint32_t key_count_max;
    uint32_t spare;
} spare_slots[] = {{64, 0},   {700, 1},   {1000, 2},  {1200, 3},
                   {1400, 6}, {1600, 11}, {1800, 15}, {BB_RIBBON_KEYS_MAX, 20}};

#define GROUPED_DENSE_KEYS_MAX 512

_Static_assert(BB_RIBBON_KEYS_MAX + 20 + BB_RIBBON_GROUP_ROWS <= BB_RIBBON_SLOTS_MAX,
               "the largest set has its spare slots, and a larger shape left to try");
_Static_assert(BB_RIBBON_SLOTS_MAX == BB_RIBBON_GROUPS_MAX * BB_RIBBON_GROUP_ROWS,
               "the solver has space for the largest filter");

/* The most slots that leave a larger shape to try. */
#define SLOTS_TRIED_MAX (BB_RIBBON_SLOTS_MAX - BB_RIBBON_GROUP_ROWS)

static uint32_t slots_needed(uint32_t key_count, double slack)
{
    size_t i = 0;
    while (spare_slots[i].key_count_max < key_count)
        i++;
    uint32_t wanted = (uint32_t)ceil(key_count * slack);
    uint32_t slots = key_count + (wanted > spare_slots[i].spare ? wanted : spare_slots[i].spare);
    return slots < SLOTS_TRIED_MAX ? slots : SLOTS_TRIED_MAX;
}

static struct bb_ribbon_shape grouped_shape(uint32_t slots)
{
    uint32_t groups = (slots + BB_RIBBON_GROUP_ROWS - 1) / BB_RIBBON_GROUP_ROWS;
    return (struct bb_ribbon_shape){.size = groups < BB_RIBBON_GROUPS_MIN ? BB_RIBBON_GROUPS_MIN
                                                                          : groups};
}

/* As many slots as fit into the bytes. */
static struct bb_ribbon_shape bit_exact_shape(uint32_t slots, uint32_t fingerprint_bits)
{
    uint32_t capacity =
        (uint32_t)(bb_ribbon_bits_size(slots, fingerprint_bits) * 8) / fingerprint_bits;
    return (struct bb_ribbon_shape){
        .bit_exact = true,
        .size = capacity < BB_RIBBON_BITS_SLOTS_MAX ? capacity : BB_RIBBON_BITS_SLOTS_MAX};
}

struct bb_ribbon_shape bb_ribbon_shape_for(uint32_t key_count, uint32_t fingerprint_bits,
                                           double slack)
{
    BB_ASSERT(key_count >= 1 && key_count <= BB_RIBBON_KEYS_MAX);
    uint32_t slots = slots_needed(key_count, slack);
    bool dense = slack == 0 && key_count <= GROUPED_DENSE_KEYS_MAX;
    struct bb_ribbon_shape grouped = grouped_shape(dense ? key_count : slots);
    if (slots > BB_RIBBON_BITS_SLOTS_MAX)
        return grouped;
    struct bb_ribbon_shape exact = bit_exact_shape(slots, fingerprint_bits);
    bool grouped_wins = bb_ribbon_shape_size(grouped, fingerprint_bits) <=
                        bb_ribbon_shape_size(exact, fingerprint_bits);
    return grouped_wins ? grouped : exact;
}

struct bb_ribbon_shape bb_ribbon_shape_larger(struct bb_ribbon_shape shape)
{
    if (shape.bit_exact && shape.size == BB_RIBBON_BITS_SLOTS_MAX)
        return grouped_shape(shape.size + 1);
    if (!shape.bit_exact && shape.size == BB_RIBBON_GROUPS_MAX)
        return (struct bb_ribbon_shape){0};
    shape.size++;
    return shape;
}
