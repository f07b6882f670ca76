/* Predicates of an attribute of a schema, with constants: the common part of the parser and of the
 * calls of bb/condition.h. Failures are the same as in bb/condition.h, without offsets. */
#ifndef BB_SKIP_CONDITION_BUILD_H
#define BB_SKIP_CONDITION_BUILD_H

#include "skip/condition/literal.h"
#include "skip/condition/tree.h"

BB_MUST_CHECK enum bb_status bb_build_compare(const struct bb_schema *schema, size_t attribute,
                                              enum bb_comparison comparison,
                                              const struct bb_literal *literal,
                                              struct bb_condition **ret_condition);
BB_MUST_CHECK enum bb_status bb_build_between(const struct bb_schema *schema, size_t attribute,
                                              const struct bb_literal *low,
                                              const struct bb_literal *high,
                                              struct bb_condition **ret_condition);
BB_MUST_CHECK enum bb_status bb_build_in(const struct bb_schema *schema, size_t attribute,
                                         const struct bb_literal *literals, size_t count,
                                         struct bb_condition **ret_condition);
BB_MUST_CHECK enum bb_status bb_build_is_null(const struct bb_schema *schema, size_t attribute,
                                              struct bb_condition **ret_condition);
BB_MUST_CHECK enum bb_status bb_build_text(const struct bb_schema *schema, size_t attribute,
                                           enum bb_predicate predicate,
                                           const struct bb_bytes *operands, size_t count,
                                           struct bb_condition **ret_condition);

/* NOT over a condition that it takes, whether it succeeds or not. */
BB_MUST_CHECK enum bb_status bb_build_not(struct bb_condition *condition,
                                          struct bb_condition **ret_condition);

/* Whether the predicate takes several texts. */
bool bb_build_is_list(enum bb_predicate predicate);

#endif
