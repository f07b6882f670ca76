/* See table_kind.h. */
#include "bloomblock/table_kind.h"

#include <math.h>

#include "base/assert.h"

static const struct bb_table_kind kinds[BB_TABLE_KIND_MAX + 1] = {
    [BB_FILTER_NONE] = {.slope = 1},
    /* Spare slots and rounding grow slightly with the bits. A filter has a descriptor of two bytes,
     * a spare slot and half a byte. */
    [BB_FILTER_RIBBON] = {.has_whole_bits = true,
                          .slope = 1.012,
                          .filter_bits = 21,
                          .table_filter_overhead_bits = 0.15},
    /* Bloom filters take at least 1 / ln 2. A filter has a descriptor, and half a byte. */
    [BB_FILTER_BLOCKED_BLOOM] = {.slope = 1.4427, .filter_bits = 16, .line_bits = 512},
    [BB_FILTER_BLOOM] = {.slope = 1.4427, .filter_bits = 20},
};

const struct bb_table_kind *bb_table_kind_find(enum bb_filter_kind kind)
{
    size_t index = kind == BB_FILTER_DEFAULT ? BB_TABLE_KIND_DEFAULT : (size_t)kind;
    return index <= BB_TABLE_KIND_MAX ? &kinds[index] : NULL;
}

double bb_table_kind_bits(enum bb_filter_kind kind, double rate)
{
    const struct bb_table_kind *found = bb_table_kind_find(kind);
    int exponent = 0;
    BB_DEBUG_ASSERT(found != NULL);
    if (!found->has_whole_bits)
        return -log2(rate);
    /* rate = fraction * 2^exponent, 1/2 <= fraction < 1: a mix of filters with -exponent bits and
     * filters with one bit more. */
    double fraction = frexp(rate, &exponent);
    return -exponent + 2 * (1 - fraction);
}
