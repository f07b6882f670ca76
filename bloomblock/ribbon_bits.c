/* The bit-exact ribbon, written and asked. */
#include "bloomblock/ribbon_bits.h"

#include "bloomblock/descriptor.h"
#include "bloomblock/ribbon_load.h"

/* --- The probe ---
 *
 * The parity of a column is its 64 bits folded in half six times. Folding two columns into the two
 * halves of one word does half of that work: eight columns become eight bytes of one word, whose
 * parities come together at the end. Without a population count this is the quickest form. */

static inline uint64_t load_column(struct bb_ribbon_bytes bytes, size_t position,
                                   uint64_t coefficients)
{
    return (bb_ribbon_load(bytes, position / 8) >> (position % 8)) & coefficients;
}

/* a folded into the bits of mask, b into the others; mask has every second run of shift bits. */
static inline uint64_t fold(uint64_t a, uint64_t b, unsigned shift, uint64_t mask)
{
    return ((a ^ a >> shift) & mask) | ((b ^ b << shift) & ~mask);
}

/* The sums of eight columns from a bit position on. */
static inline uint32_t sum_eight(struct bb_ribbon_bytes bytes, size_t position, uint32_t slots,
                                 uint64_t coefficients)
{
    const uint64_t halves = UINT64_C(0x00000000ffffffff);
    const uint64_t quarters = UINT64_C(0x0000ffff0000ffff);
    const uint64_t eighths = UINT64_C(0x00ff00ff00ff00ff);
    uint64_t c[8];
    for (uint32_t i = 0; i < 8; i++)
        c[i] = load_column(bytes, position + (size_t)i * slots, coefficients);
    uint64_t even = fold(fold(c[0], c[4], 32, halves), fold(c[2], c[6], 32, halves), 16, quarters);
    uint64_t odd = fold(fold(c[1], c[5], 32, halves), fold(c[3], c[7], 32, halves), 16, quarters);
    return bb_ribbon_byte_parities(fold(even, odd, 8, eighths));
}

/* As many columns as the table's longest filters have: the number is predicted, where a filter's
 * own rank is not; and eight where seven would do. Columns that a filter does not have are read
 * from what lies behind the payload, at most 63 bytes, and masked out. */
static inline uint32_t sum_all(struct bb_ribbon_bytes bytes, size_t position, uint32_t slots,
                               uint64_t coefficients, uint32_t column_count)
{
    uint32_t sums = 0;
    uint32_t column = 0;
    for (; column + 7 <= column_count; column += 8, position += (size_t)slots * 8)
        sums |= sum_eight(bytes, position, slots, coefficients) << column;
    for (; column < column_count; column++, position += slots)
        sums |= (uint32_t)__builtin_parityll(load_column(bytes, position, coefficients)) << column;
    return sums;
}

/* Apart, so that the usual ranks 6 and 7 need neither loops nor stack. */
static __attribute__((noinline)) uint32_t sum_wide(const uint8_t *payload, size_t position,
                                                   uint32_t slots, uint64_t coefficients,
                                                   uint32_t column_count)
{
    struct bb_ribbon_bytes bytes = {payload, BB_RIBBON_NO_END};
    return sum_all(bytes, position, slots, coefficients, column_count);
}

static inline bool agrees(uint32_t sums, uint32_t fingerprint, uint32_t rank)
{
    return ((sums ^ fingerprint) & bb_ribbon_rank_mask(rank)) == 0;
}

bool bb_ribbon_bits_may_contain(const uint8_t *payload, uint16_t descriptor, uint32_t rank,
                                uint64_t hash)
{
    struct bb_ribbon_bytes bytes = {payload, BB_RIBBON_NO_END};
    struct bb_ribbon_descriptor parts = bb_ribbon_descriptor_decode(descriptor);
    if (parts.size == 0)
        return true;
    struct bb_ribbon_equation equation = bb_ribbon_bits_equation(hash, parts.seed, parts.size);
    uint32_t sums =
        rank == 6 || rank == 7
            ? sum_eight(bytes, equation.start, parts.size, equation.coefficients)
            : sum_wide(payload, equation.start, parts.size, equation.coefficients, rank + 1);
    return agrees(sums, equation.fingerprint, rank + parts.step);
}

bool bb_ribbon_bits_may_contain_bounded(const uint8_t *payload, size_t readable,
                                        uint16_t descriptor, uint32_t rank, uint64_t hash)
{
    struct bb_ribbon_bytes bytes = {payload, readable};
    struct bb_ribbon_descriptor parts = bb_ribbon_descriptor_decode(descriptor);
    if (parts.size == 0)
        return true;
    struct bb_ribbon_equation equation = bb_ribbon_bits_equation(hash, parts.seed, parts.size);
    uint32_t sums = sum_all(bytes, equation.start, parts.size, equation.coefficients, rank + 1);
    return agrees(sums, equation.fingerprint, rank + parts.step);
}
