/* Text to tree.
 *
 *     or         and {OR and}
 *     and        not {AND not}
 *     not        NOT not | ( or ) | TRUE | FALSE | predicate
 *     predicate  attribute = != <> < <= > >= literal
 *                attribute [NOT] BETWEEN literal AND literal
 *                attribute [NOT] IN ( [literal {, literal}] )
 *                attribute IS [NOT] NULL
 *
 * != is NOT over =, and NOT IN, NOT BETWEEN, IS NOT NULL are NOT over what they say. IN () is false of
 * every value and unknown of NULL. Keywords have no case, attributes do.
 */
#ifndef BB_SKIP_CONDITION_PARSER_H
#define BB_SKIP_CONDITION_PARSER_H

#include "skip/condition/tree.h"

/* The text and the attributes are borrowed. BB_INVALID with the offset in the text and what was
 * expected there; BB_TOO_LARGE beyond the limits of bb/condition.h. */
BB_MUST_CHECK enum bb_status bb_parse(struct bb_bytes text,
                                      const struct bb_leaf_attribute *attributes, size_t count,
                                      struct bb_condition **ret_condition);

#endif
