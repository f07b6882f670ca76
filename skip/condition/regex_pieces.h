/* Bytes that every match of a regular expression contains.
 *
 * Literals are taken from concatenations. A class, a dot or a repetition ends one, an optional part
 * gives no literal, alternatives give a group when each of them has one. A pattern with anything
 * else (references, recursion, verbs, \Q, \K, extended syntax ...) gives no groups.
 */
#ifndef BB_SKIP_CONDITION_REGEX_PIECES_H
#define BB_SKIP_CONDITION_REGEX_PIECES_H

#include "skip/condition/piece_list.h"

/* Adds the groups of a pattern that bb_regex_create takes; maybe none. */
BB_MUST_CHECK enum bb_status bb_regex_pieces(struct bb_bytes pattern, struct bb_piece_list *list);

#endif
