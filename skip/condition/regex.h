/* Regular expressions, by pcre2. Patterns and values are bytes: a dot is one byte, only ASCII
 * letters have case, \d \w \s are ASCII too. $ is the very end, ^ the very beginning (unless (?m)
 * is set).
 *
 * A pattern is constant. A match also needs a struct bb_regex_run, one for each thread and for any
 * number of patterns.
 */
#ifndef BB_SKIP_CONDITION_REGEX_H
#define BB_SKIP_CONDITION_REGEX_H

#include "bb/base.h"

/* Bytes of a pattern. */
#define BB_REGEX_SIZE_MAX (64u << 10)
/* Parentheses inside parentheses. */
#define BB_REGEX_NESTING_MAX 100
/* Steps that a match may take: a fixed number, and a number for each byte of the value. */
#define BB_REGEX_STEPS          1000000
#define BB_REGEX_STEPS_PER_BYTE 64

struct bb_regex;
struct bb_regex_run;

/* BB_INVALID for a pattern that is wrong, with the offset in it; BB_TOO_LARGE. */
BB_MUST_CHECK enum bb_status bb_regex_create(struct bb_bytes pattern, struct bb_regex **ret_regex);
void bb_regex_destroy(struct bb_regex *regex);

BB_MUST_CHECK enum bb_status bb_regex_run_create(struct bb_regex_run **ret_run);
void bb_regex_run_destroy(struct bb_regex_run *run);

/* Whether some of the text matches. BB_TOO_LARGE when the match takes too many steps or too much
 * memory: it is neither a match nor none. */
BB_MUST_CHECK enum bb_status bb_regex_match(const struct bb_regex *regex, struct bb_regex_run *run,
                                            struct bb_bytes text, bool *ret_is_match);

#endif
