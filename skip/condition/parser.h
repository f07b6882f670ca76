/* Parses the text of a condition (bb/condition.h) into a tree:
 *
 *     or         and {OR and}
 *     and        not {AND not}
 *     not        NOT not | ( or ) | TRUE | FALSE | NULL | predicate
 *     predicate  function ( attribute , string {, string} ) | attribute comparison
 */
#ifndef BB_SKIP_CONDITION_PARSER_H
#define BB_SKIP_CONDITION_PARSER_H

#include "skip/condition/tree.h"

/* As bb_condition_parse. */
BB_MUST_CHECK enum bb_status bb_parser_parse(struct bb_bytes text, const struct bb_schema *schema,
                                             struct bb_condition **ret_condition);

#endif
