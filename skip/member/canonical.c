/* See canonical.h. */
#include "skip/member/canonical.h"

#include <math.h>

#include "base/bytes.h"

static uint64_t word_of_double(double value)
{
    uint64_t word = BB_CANONICAL_NAN;
    if (value == 0)
        return 0;
    if (!isnan(value))
        memcpy(&word, &value, sizeof(word));
    return word;
}

uint64_t bb_canonical_word(const struct bb_attribute *attribute)
{
    if (attribute->type == BB_ATTRIBUTE_F64)
        return word_of_double(attribute->as.f64);
    return attribute->type == BB_ATTRIBUTE_U64 ? attribute->as.u64 : (uint64_t)attribute->as.i64;
}

bool bb_canonical_is_same(const struct bb_attribute *a, const struct bb_attribute *b)
{
    if (a->type == BB_ATTRIBUTE_BYTES)
        return bb_bytes_equal(a->as.bytes, b->as.bytes);
    return bb_canonical_word(a) == bb_canonical_word(b);
}
