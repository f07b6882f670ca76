/* Values as indexes compare them: one form for equal values.
 *
 * Bytes are themselves. Numbers are eight bytes, little-endian; -0 is +0, and every NaN is the
 * same. ON DISK.
 */
#ifndef BB_SKIP_MEMBER_CANONICAL_H
#define BB_SKIP_MEMBER_CANONICAL_H

#include <string.h>

#include "base/coding.h"
#include "bb/record.h"

#define BB_CANONICAL_NUMBER_SIZE 8
#define BB_CANONICAL_NAN         UINT64_C(0x7ff8000000000000)

/* A present number's eight bytes as a word. */
uint64_t bb_canonical_word(const struct bb_attribute *attribute);
/* True for equal present values of one type: NaN is equal to NaN, and -0 to 0. */
bool bb_canonical_is_same(const struct bb_attribute *a, const struct bb_attribute *b);
/* The number with these bytes. */
static inline struct bb_attribute bb_canonical_number(enum bb_attribute_type type,
                                                      const uint8_t *bytes)
{
    uint64_t word = bb_load64(bytes);
    struct bb_attribute number = {.state = BB_ATTRIBUTE_PRESENT, .type = type};
    if (type == BB_ATTRIBUTE_F64)
        memcpy(&number.as.f64, &word, sizeof(word));
    else if (type == BB_ATTRIBUTE_U64)
        number.as.u64 = word;
    else
        number.as.i64 = (int64_t)word;
    return number;
}

/* A present value's bytes: its own, or space's, which has BB_CANONICAL_NUMBER_SIZE. */
static inline struct bb_bytes bb_canonical_bytes(const struct bb_attribute *attribute,
                                                 uint8_t *space)
{
    if (attribute->type == BB_ATTRIBUTE_BYTES)
        return attribute->as.bytes;
    bb_store64(space, bb_canonical_word(attribute));
    return (struct bb_bytes){.data = space, .size = BB_CANONICAL_NUMBER_SIZE};
}

#endif
