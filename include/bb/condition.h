/* Conditions on the attributes of records (bb/record.h), with SQL's three-valued logic.
 *
 *     status = 404 AND (has_token(agent, "sqlmap") OR path LIKE '/admin/%') AND NOT bytes < 1e6
 *
 * A condition is a tree of AND, OR and NOT over predicates of one attribute each. It is made from
 * text or by calls, and is constant: any number of threads may use one at the same time.
 *
 * Text
 *     attribute = != <> < <= > >= literal
 *     attribute [NOT] BETWEEN literal AND literal     both included
 *     attribute [NOT] IN (literal, ...)               IN () is false of every value
 *     attribute IS [NOT] NULL
 *     attribute [NOT] LIKE 'pattern'                  ILIKE: ASCII letters without their case
 *     starts_with(attribute, 'x')   ends_with(attribute, 'x')   contains(attribute, 'x')
 *     has_token(attribute, 'x')
 *     has_all_tokens(attribute, 'x y', ...)   has_any_token(attribute, 'x y', ...)
 *     matches(attribute, 'regular expression')
 *     NOT condition, condition AND condition, condition OR condition, (condition)
 *     TRUE, FALSE, NULL                               NULL is unknown of every record
 * NOT binds tighter than AND, and AND tighter than OR. Keywords and functions have no case,
 * attributes do.
 *
 * Literals
 *     strings   'it''s' or "it""s": any bytes. `Backquotes` hold the name of an attribute
 *     numbers   Any size. Integers are compared exactly with every type, decimals (point or
 *               exponent) with integers; for f64 a decimal is the double nearest to it. 1e999 is
 *               infinity
 *     times     a string: '2015-05-17T10:05:03.5Z', '2015-05-17 10:05', '2015-05-17'; UTC unless
 *               a zone is named
 * A literal that cannot be compared with the attribute's type is an error, with its offset.
 *
 * Meaning
 *     - An attribute that is NULL, missing or malformed makes every predicate unknown but IS NULL,
 *       which is true of all three. NOT unknown is unknown.
 *     - != is NOT over =, NOT IN is NOT over IN, and so on.
 *     - NaN satisfies no comparison, so that NOT of one is true. -0 equals 0.
 *     - Strings are bytes and ordered as bytes. LIKE: % is any bytes, _ one character (a valid
 *       UTF-8 sequence, or one byte that belongs to none). A backslash before %, _ or \ makes that
 *       mean itself, any other backslash is one.
 *     - A token is a maximal run of ASCII letters, digits and bytes from 0x80 on. has_token takes
 *       exactly one; the other two take texts, and all tokens in them.
 *     - matches asks whether some part matches, as pcre2 does without UTF: patterns and values are
 *       bytes, case is that of ASCII letters, $ is the very end. A match that takes too many steps
 *       is an error.
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

enum bb_predicate {
    BB_PREDICATE_LIKE = 1,
    BB_PREDICATE_ILIKE = 2,
    BB_PREDICATE_STARTS_WITH = 3,
    BB_PREDICATE_ENDS_WITH = 4,
    BB_PREDICATE_CONTAINS = 5,
    BB_PREDICATE_HAS_TOKEN = 6,
    BB_PREDICATE_HAS_ALL_TOKENS = 7,
    BB_PREDICATE_HAS_ANY_TOKEN = 8,
    BB_PREDICATE_MATCHES = 9,
};

struct bb_condition;

/* Conditions are owned: bb_condition_destroy. The schema, text and literals are borrowed for the
 * call; a condition does without them. BB_INVALID says what is wrong, of a text with the offset and
 * what was expected there; BB_TOO_LARGE names the limit; BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status bb_condition_parse(const struct bb_schema *schema,
                                                       struct bb_bytes text,
                                                       struct bb_condition **ret_condition);

/* The same by calls. attribute: a number in the schema; another one is BB_INVALID. Literals are
 * PRESENT; numbers need not be of the attribute's type, times are TIME or a text. */
BB_API BB_MUST_CHECK enum bb_status bb_condition_compare(const struct bb_schema *schema,
                                                         size_t attribute,
                                                         enum bb_comparison comparison,
                                                         const struct bb_attribute *literal,
                                                         struct bb_condition **ret_condition);
BB_API BB_MUST_CHECK enum bb_status bb_condition_between(const struct bb_schema *schema,
                                                         size_t attribute,
                                                         const struct bb_attribute *low,
                                                         const struct bb_attribute *high,
                                                         struct bb_condition **ret_condition);
BB_API BB_MUST_CHECK enum bb_status bb_condition_in(const struct bb_schema *schema,
                                                    size_t attribute,
                                                    const struct bb_attribute *literals,
                                                    size_t count,
                                                    struct bb_condition **ret_condition);
BB_API BB_MUST_CHECK enum bb_status bb_condition_is_null(const struct bb_schema *schema,
                                                         size_t attribute,
                                                         struct bb_condition **ret_condition);
/* operands: one, of HAS_ALL_TOKENS and HAS_ANY_TOKEN one or more. */
BB_API BB_MUST_CHECK enum bb_status bb_condition_text(const struct bb_schema *schema,
                                                      size_t attribute, enum bb_predicate predicate,
                                                      const struct bb_bytes *operands, size_t count,
                                                      struct bb_condition **ret_condition);
/* The same for every record. */
BB_API BB_MUST_CHECK enum bb_status bb_condition_constant(enum bb_truth truth,
                                                          struct bb_condition **ret_condition);

/* One condition of others, which it owns from then on; the array is borrowed. After a failure they
 * are still the caller's. Of one condition AND and OR give that one; of none they are BB_INVALID.
 * BB_TOO_LARGE for more than BB_CONDITION_DEPTH_MAX levels. */
BB_API BB_MUST_CHECK enum bb_status bb_condition_and(struct bb_condition *const *conditions,
                                                     size_t count,
                                                     struct bb_condition **ret_condition);
BB_API BB_MUST_CHECK enum bb_status bb_condition_or(struct bb_condition *const *conditions,
                                                    size_t count,
                                                    struct bb_condition **ret_condition);
BB_API BB_MUST_CHECK enum bb_status bb_condition_not(struct bb_condition *condition,
                                                     struct bb_condition **ret_condition);

/* Appends the condition's canonical text: it parses to the same condition, and two conditions that
 * are the same tree have the same text. BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status bb_condition_print(const struct bb_condition *condition,
                                                       struct bb_buf *buf);

/* Whether the condition asks for the attribute of this number. */
BB_API bool bb_condition_uses(const struct bb_condition *condition, size_t attribute);

/* Releases a condition and all that it is made of. NULL is allowed. */
BB_API void bb_condition_destroy(struct bb_condition *condition);

/* What a thread needs to test records with a condition. Threads: one at a time; a run per thread.
 */
struct bb_condition_run;

/* The condition is borrowed until the run is destroyed. BB_NO_MEMORY. Owned:
 * bb_condition_run_destroy. */
BB_API BB_MUST_CHECK enum bb_status bb_condition_run_create(const struct bb_condition *condition,
                                                            struct bb_condition_run **ret_run);
BB_API void bb_condition_run_destroy(struct bb_condition_run *run);

/* attributes[i] is the schema's attribute i; those that the condition does not use are not read.
 * Parts of the condition that cannot change the result are not asked. BB_TOO_LARGE when a regular
 * expression gives up: the record neither matches nor does it not. BB_INVALID when an attribute is
 * not of the schema's type. */
BB_API BB_MUST_CHECK enum bb_status bb_condition_test(struct bb_condition_run *run,
                                                      const struct bb_attribute *attributes,
                                                      enum bb_truth *ret_truth);

#ifdef __cplusplus
}
#endif
#endif
