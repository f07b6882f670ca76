/* What a condition is of one record. */
#ifndef BB_SKIP_CONDITION_EVALUATE_H
#define BB_SKIP_CONDITION_EVALUATE_H

#include "skip/condition/tree.h"

/* attributes[i] is the schema's attribute i; those that the condition does not use are not read.
 * BB_INVALID when a present one is not of the type that the condition was made for. */
BB_MUST_CHECK enum bb_status bb_evaluate(const struct bb_condition *condition,
                                         const struct bb_attribute *attributes,
                                         enum bb_truth *ret_truth);

#endif
