/* The order of keys that a caller defines; NULL is the bytewise order. */
#ifndef BB_BASE_COMPARATOR_H
#define BB_BASE_COMPARATOR_H

#include "bb/base.h"

/* Name under which a comparator is written to files; "bytewise" for NULL. */
const char *bb_comparator_name(const struct bb_comparator *comparator);

/* BB_INVALID for a comparator without a name or a function, or with fields unknown to this
 * version. */
BB_MUST_CHECK enum bb_status bb_comparator_check(const struct bb_comparator *comparator);

#endif
