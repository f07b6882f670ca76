/* Conditions on the attributes of records (bb/record.h), with SQL's three-valued logic.
 *
 * A condition is a tree of AND, OR and NOT over predicates of one attribute each. It is constant:
 * any number of threads may use one at the same time.
 */
#ifndef BB_PUBLIC_CONDITION_H
#define BB_PUBLIC_CONDITION_H

#include "bb/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Levels of AND, OR, NOT and parentheses. */
#define BB_CONDITION_DEPTH_MAX 100
/* Bytes of a condition's text. */
#define BB_CONDITION_SIZE_MAX (16u << 20)
/* Characters of a number in a condition's text. */
#define BB_CONDITION_NUMBER_SIZE_MAX 1000

/* What a condition is of a record. */
enum bb_truth {
    BB_TRUTH_FALSE = 0,
    BB_TRUTH_TRUE = 1,
    BB_TRUTH_UNKNOWN =
        2, /* SQL's NULL: a record of which the condition is unknown is not selected */
};

enum bb_comparison {
    BB_COMPARISON_EQUAL = 1,
    BB_COMPARISON_NOT_EQUAL = 2,
    BB_COMPARISON_LESS = 3,
    BB_COMPARISON_LESS_OR_EQUAL = 4,
    BB_COMPARISON_GREATER = 5,
    BB_COMPARISON_GREATER_OR_EQUAL = 6,
};

struct bb_condition;

/* Releases a condition and all that it is made of. NULL is allowed. */
BB_API void bb_condition_destroy(struct bb_condition *condition);

#ifdef __cplusplus
}
#endif
#endif
