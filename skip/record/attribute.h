/* The order of attributes of one type. */
#ifndef BB_SKIP_RECORD_ATTRIBUTE_H
#define BB_SKIP_RECORD_ATTRIBUTE_H

#include "bb/record.h"

/* < 0, 0 or > 0. REQUIRES: both are PRESENT, of one type, and no NaN. -0 equals +0. */
int bb_attribute_compare(const struct bb_attribute *a, const struct bb_attribute *b);

/* PRESENT, of type F64, and NaN. */
bool bb_attribute_is_nan(const struct bb_attribute *attribute);

#endif
