/* Splits the bits of a table's filters. See the header. */
#include "sstable/filter/filter_split.h"

#include <math.h>

/* Bits of the block filters: the nearest whole number to the bits that the table filter does not
 * use, leaving at least one bit for the table filter. */
static int block_bits(double filter_rate, double table_filter_bits)
{
    double bits = log2(1 / filter_rate);
    int fingerprint_bits = (int)floor(bits - table_filter_bits + 0.5);
    /* Uses the quotient, because near a power of two the logarithm is rounded to it. */
    while (fingerprint_bits > 0 && filter_rate / ldexp(1, -fingerprint_bits) > BB_FILTER_RATE_MAX)
        fingerprint_bits--;
    return fingerprint_bits;
}

struct bb_filter_split bb_filter_split(double filter_rate, double table_filter_bits)
{
    struct bb_filter_split blocks_alone = {.table_filter_rate = 1, .block_rate = filter_rate};
    struct bb_filter_split table_filter_alone = {.table_filter_rate = filter_rate, .block_rate = 1};
    if (filter_rate == 1 || table_filter_bits == BB_TABLE_FILTER_NONE)
        return blocks_alone;
    if (table_filter_bits == BB_TABLE_FILTER_ALL)
        return table_filter_alone;
    int fingerprint_bits = block_bits(filter_rate, table_filter_bits);
    if (fingerprint_bits < BB_BLOCK_FILTER_BITS_MIN)
        return table_filter_alone;
    /* With a power of two, neither the product nor the quotient is rounded. */
    double block_rate = ldexp(1, -fingerprint_bits);
    return (struct bb_filter_split){.table_filter_rate = filter_rate / block_rate,
                                    .block_rate = block_rate};
}

enum bb_status bb_filter_split_resolve(enum bb_filter_kind *kind, double *table_filter_bits)
{
    const struct bb_table_kind *facts = bb_table_kind_find(*kind);
    const char *name = bb_filter_kind_name(*kind);
    if (facts == NULL)
        return bb_fail(BB_INVALID, "option filter_kind is %d (%s): tables cannot hold this kind",
                       (int)*kind, name == NULL ? "unknown" : name);
    if (*kind == BB_FILTER_DEFAULT)
        *kind = BB_TABLE_KIND_DEFAULT;
    double bits = *table_filter_bits;
    if (bits == BB_TABLE_FILTER_DEFAULT)
        bits = facts->has_whole_bits ? BB_TABLE_FILTER_BITS_DEFAULT : BB_TABLE_FILTER_NONE;
    if (bits != BB_TABLE_FILTER_NONE && bits != BB_TABLE_FILTER_ALL &&
        !(bits >= BB_TABLE_FILTER_BITS_MIN && bits <= BB_TABLE_FILTER_BITS_MAX))
        return bb_fail(BB_INVALID,
                       "option table_filter_bits is %g, allowed are %g to %g, "
                       "BB_TABLE_FILTER_NONE and BB_TABLE_FILTER_ALL",
                       bits, BB_TABLE_FILTER_BITS_MIN, BB_TABLE_FILTER_BITS_MAX);
    *table_filter_bits = bits;
    return BB_OK;
}
