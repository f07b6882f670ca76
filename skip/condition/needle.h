/* Bytes that a record must hold for a condition to be true of it: what a scan searches in raw
 * values before it reads attributes. */
#ifndef BB_SKIP_CONDITION_NEEDLE_H
#define BB_SKIP_CONDITION_NEEDLE_H

#include "bb/condition.h"

struct bb_needle {
    struct bb_bytes bytes; /* not empty; the condition's */
    bool has_escape;       /* a value with the byte escape may be without them */
    uint8_t escape;
};

/* The condition is false or unknown of every record whose value (without its key) holds neither the
 * bytes nor, where there is one, the escape. The longest such bytes; false where there are none.
 * schema: the one that the condition was made with. */
bool bb_condition_needle(const struct bb_condition *condition, const struct bb_schema *schema,
                         struct bb_needle *ret_needle);

#endif
