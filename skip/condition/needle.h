/* Bytes of which a record must hold some for a condition to be true of it: a scan searches raw
 * values for them before it reads attributes. */
#ifndef BB_SKIP_CONDITION_NEEDLE_H
#define BB_SKIP_CONDITION_NEEDLE_H

#include "bb/condition.h"

#define BB_NEEDLES_MAX       8
#define BB_NEEDLE_DIGITS_MAX 20

/* Not empty. */
struct bb_needle {
    struct bb_bytes bytes; /* the condition's; without data: digits below */
    bool ignores_case;     /* of ASCII letters: the bytes are in lower case */
    uint8_t digits[BB_NEEDLE_DIGITS_MAX];
    uint8_t digit_count;
    uint8_t run_size; /* > 0: a run of this many ASCII digits */
    uint8_t before;   /* > 0: this byte, a zero or a sign is before the digits */
};

/* REQUIRES: no run. */
static inline struct bb_bytes bb_needle_bytes(const struct bb_needle *needle)
{
    return needle->bytes.data != NULL
               ? needle->bytes
               : (struct bb_bytes){.data = needle->digits, .size = needle->digit_count};
}

struct bb_needles {
    size_t count; /* 0: no needles are known */
    struct bb_needle items[BB_NEEDLES_MAX];
    /* Size of the shortest that is no escape and no other form; runs count half. */
    size_t shortest;
};

/* The condition is false or unknown of every record whose value (without its key) holds none of the
 * needles. Of several such sets, it is the set whose shortest needle is the longest. A range of
 * integers without short ones has a run of digits. A byte that escapes others
 * (BB_VERBATIM_UNESCAPED) is a needle too. schema: the schema of the condition. The condition must
 * outlive the needles. */
void bb_needles_of_condition(const struct bb_condition *condition, const struct bb_schema *schema,
                             struct bb_needles *ret_needles);

#endif
