/* The bit-exact ribbon, written and asked. */
#include "bloomblock/ribbon_bits.h"

#include "base/coding.h"
#include "bloomblock/descriptor.h"
#include "bloomblock/ribbon_parity.h"

/* --- The probe ---
 *
 * The parity of a column is its 64 bits folded in half six times. Folding two columns into the two
 * halves of one word does half of that work: eight columns become eight bytes of one word, whose
 * parities come together at the end. Without a population count this is the quickest form. */

/* The columns of one filter, as a key sees them. */
struct columns {
    const uint8_t *payload;
    uint32_t count;
    uint32_t exist; /* so many are known to be there, from the table's rank alone */
    uint32_t slots; /* bits of a column */
    struct bb_ribbon_equation equation;
};

/* The bits of a column that count; of one that is not there, the first one's. */
static inline uint64_t load_column(const struct columns *columns, uint32_t i)
{
    uint32_t there = i < columns->exist ? UINT32_MAX : 0 - (uint32_t)(i < columns->count);
    uint32_t position = columns->equation.start + (i * columns->slots & there);
    return bb_load64(columns->payload + position / 8) >> (position % 8) &
           columns->equation.coefficients;
}

/* a folded into the bits of mask, b into the others; mask has every second run of shift bits. */
static inline uint64_t fold(uint64_t a, uint64_t b, unsigned shift, uint64_t mask)
{
    return ((a ^ a >> shift) & mask) | ((b ^ b << shift) & ~mask);
}

/* The sums of eight columns, first and after it. */
static inline uint32_t sum_eight(const struct columns *columns, uint32_t first)
{
    const uint64_t halves = UINT64_C(0x00000000ffffffff);
    const uint64_t quarters = UINT64_C(0x0000ffff0000ffff);
    const uint64_t eighths = UINT64_C(0x00ff00ff00ff00ff);
    uint64_t c[8];
    for (uint32_t i = 0; i < 8; i++)
        c[i] = load_column(columns, first + i);
    uint64_t even = fold(fold(c[0], c[4], 32, halves), fold(c[2], c[6], 32, halves), 16, quarters);
    uint64_t odd = fold(fold(c[1], c[5], 32, halves), fold(c[3], c[7], 32, halves), 16, quarters);
    return bb_ribbon_byte_parities(fold(even, odd, 8, eighths));
}

/* As many columns as the table's longest filters have: the number is predicted, where a filter's
 * own rank is not; and eight where seven would do. Those that a filter does not have are masked
 * out. */
static __attribute__((noinline)) uint32_t sum_wide(const struct columns *columns,
                                                   uint32_t column_limit)
{
    uint32_t sums = 0;
    uint32_t column = 0;
    for (; column + 7 <= column_limit; column += 8)
        sums |= sum_eight(columns, column) << column;
    for (; column < column_limit; column++)
        sums |= (uint32_t)__builtin_parityll(load_column(columns, column)) << column;
    return sums;
}

/* The usual ranks 6 and 7 need neither loops nor stack. */
bool bb_ribbon_bits_may_contain(const uint8_t *payload, uint16_t descriptor, uint32_t rank,
                                uint64_t hash)
{
    struct bb_ribbon_descriptor parts = bb_ribbon_descriptor_decode(descriptor);
    if (parts.size == 0)
        return true;
    struct columns columns = {.payload = payload,
                              .count = rank + parts.step,
                              .exist = rank,
                              .slots = parts.size,
                              .equation = bb_ribbon_bits_equation(hash, parts.seed, parts.size)};
    uint32_t sums;
    if (rank == 6 || rank == 7) {
        columns.exist = 6;
        sums = sum_eight(&columns, 0);
    } else {
        sums = sum_wide(&columns, rank + 1);
    }
    return ((sums ^ (uint32_t)hash) & bb_ribbon_rank_mask(columns.count)) == 0;
}
