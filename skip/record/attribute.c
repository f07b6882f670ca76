/* See attribute.h. */
#include "skip/record/attribute.h"

#include <math.h>

#include "base/assert.h"
#include "base/bytes.h"

static const char *const TYPE_NAMES[] = {
    [BB_ATTRIBUTE_BYTES] = "bytes", [BB_ATTRIBUTE_I64] = "i64",   [BB_ATTRIBUTE_U64] = "u64",
    [BB_ATTRIBUTE_F64] = "f64",     [BB_ATTRIBUTE_TIME] = "time",
};

const char *bb_attribute_type_name(enum bb_attribute_type type)
{
    size_t count = sizeof(TYPE_NAMES) / sizeof(TYPE_NAMES[0]);
    return (size_t)type < count ? TYPE_NAMES[type] : NULL;
}

bool bb_attribute_is_nan(const struct bb_attribute *attribute)
{
    return attribute->state == BB_ATTRIBUTE_PRESENT && attribute->type == BB_ATTRIBUTE_F64 &&
           isnan(attribute->as.f64);
}

int bb_attribute_compare(const struct bb_attribute *a, const struct bb_attribute *b)
{
    BB_ASSERT(a->type == b->type);
    switch (a->type) {
    case BB_ATTRIBUTE_BYTES:
        return bb_bytes_compare(a->as.bytes, b->as.bytes);
    case BB_ATTRIBUTE_U64:
        return (a->as.u64 > b->as.u64) - (a->as.u64 < b->as.u64);
    case BB_ATTRIBUTE_F64:
        return (a->as.f64 > b->as.f64) - (a->as.f64 < b->as.f64);
    case BB_ATTRIBUTE_I64:
    case BB_ATTRIBUTE_TIME:
        break;
    }
    return (a->as.i64 > b->as.i64) - (a->as.i64 < b->as.i64);
}
