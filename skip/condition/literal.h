/* Constants of a condition, and their places among the values of an attribute's type.
 *
 * A number need not be a value of the type: 1.5 is between the integers 1 and 2, and 2^53 + 1
 * between two doubles. Its place is exact: the largest value of the type that is not above it, and
 * whether it is that value. Decimals (with a point or an exponent) are read as the nearest double
 * where the type is F64, as SQL does.
 */
#ifndef BB_SKIP_CONDITION_LITERAL_H
#define BB_SKIP_CONDITION_LITERAL_H

#include "bb/record.h"

enum bb_literal_kind {
    BB_LITERAL_NUMBER, /* text: sign, digits, point, digits, exponent */
    BB_LITERAL_TEXT,   /* text: any bytes; a time for attributes of type TIME */
    BB_LITERAL_VALUE,  /* value: PRESENT, given by a program */
};

/* The bytes are borrowed. */
struct bb_literal {
    enum bb_literal_kind kind;
    size_t offset; /* in the condition's text */
    struct bb_bytes text;
    struct bb_attribute value;
};

struct bb_fit {
    bool has_floor;            /* false: the literal is below every value of the type */
    bool is_exact;             /* the literal is floor */
    struct bb_attribute floor; /* -0 is +0 */
};

/* BB_INVALID for a literal that cannot be compared with the type: the message names the expected
 * literal, without a position. */
BB_MUST_CHECK enum bb_status bb_literal_fit(const struct bb_literal *literal,
                                            enum bb_attribute_type type, struct bb_fit *ret_fit);

#endif
