/* The order of keys that a caller defines; NULL is the bytewise order. */
#ifndef BB_BASE_COMPARATOR_H
#define BB_BASE_COMPARATOR_H

#include "bb/base.h"

/* The name of the comparator in files; "bytewise" for NULL. */
const char *bb_comparator_name(const struct bb_comparator *comparator);

/* BB_INVALID: the comparator has no name or no function `compare`. */
BB_MUST_CHECK enum bb_status bb_comparator_check(const struct bb_comparator *comparator);

#endif
