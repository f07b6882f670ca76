/* Conditions on the attributes of records (bb/record.h), with SQL's three-valued logic.
 *
 *     status = 404 AND (has_token(agent, "sqlmap") OR path LIKE '/admin/%') AND NOT bytes < 1e6
 *
 * A condition is a tree of AND, OR and NOT over predicates of one attribute each. It is built from
 * text or by calls. It never changes afterwards, so any number of threads may use it concurrently.
 *
 * Text
 *     attribute = != <> < <= > >= literal
 *     attribute [NOT] BETWEEN literal AND literal     both included
 *     attribute [NOT] IN (literal, ...)               IN () is false for every value
 *     attribute IS [NOT] NULL
 *     attribute [NOT] LIKE 'pattern'                  ILIKE: ignores the case of ASCII letters
 *     starts_with(attribute, 'x')   ends_with(attribute, 'x')   contains(attribute, 'x')
 *     has_token(attribute, 'x')
 *     has_all_tokens(attribute, 'x y', ...)   has_any_token(attribute, 'x y', ...)
 *     has_word(attribute, 'x')
 *     has_all_words(attribute, 'x y', ...)   has_any_word(attribute, 'x y', ...)
 *     ihas_word, ihas_all_words, ihas_any_word        the same without regard to case
 *     matches(attribute, 'regular expression')
 *     NOT condition, condition AND condition, condition OR condition, (condition)
 *     TRUE, FALSE, NULL                               NULL is unknown for every record
 * NOT binds tighter than AND, and AND tighter than OR. Keywords and functions may be in any case.
 * The case of attribute names matters.
 *
 * Literals
 *     strings   'it''s' or "it""s": any bytes. `Backquotes` enclose the name of an attribute
 *     numbers   Any size. An integer is compared exactly with a value of any type. A decimal (with
 *               a point or an exponent) is compared exactly with integers, and is rounded to the
 *               nearest double for f64. 1e999 is infinity
 *     times     a string: '2015-05-17T10:05:03.5Z', '2015-05-17 10:05', '2015-05-17'; UTC unless
 *               a zone is named
 * A literal that cannot be compared with the attribute's type is an error; the message gives its
 * offset.
 *
 * Meaning
 *     - IS NULL is true for an attribute that is NULL, missing or malformed. Every other predicate
 *       of such an attribute is unknown. NOT unknown is unknown.
 *     - a != b means NOT (a = b), a NOT IN (...) means NOT (a IN (...)), and so on.
 *     - NaN satisfies no comparison, so NOT of a comparison with NaN is true. -0 equals 0.
 *     - Strings are bytes and ordered as bytes. LIKE: % is any bytes, _ one character (a valid
 *       UTF-8 sequence, or one byte outside such a sequence). A backslash makes the %, _ or \ after
 *       it literal. Any other backslash is itself literal.
 *     - A token is a maximal run of ASCII letters, ASCII digits and bytes of 0x80 and above. The
 *       operand of has_token is exactly one token. The operands of has_all_tokens and has_any_token
 *       are texts; every token in them is an operand.
 *     - A word is a segment of Unicode's UAX #29 with a letter or a digit: "don't", "3.14", "naive"
 *       with an accent. A byte outside every valid UTF-8 sequence separates words. A word of more
 *       than 1,024 bytes is split. Words are compared as bytes, without normalisation. The
 *       functions that begin with "ihas" compare after Unicode's full case folding ("Straße" equals
 *       "STRASSE"). Predicates of words need a build with libunistring, and use its version of
 *       Unicode. Other builds return BB_UNSUPPORTED.
 *     - matches is true if some part of the value matches, as in pcre2 without UTF: patterns and
 *       values are bytes, only ASCII letters have case, $ matches only at the end. A match that
 *       takes too many steps is an error.
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

/* The result of a condition for a record. */
enum bb_truth {
    BB_TRUTH_FALSE = 0,
    BB_TRUTH_TRUE = 1,
    /* SQL's NULL. A record for which the condition is unknown is not selected. */
    BB_TRUTH_UNKNOWN = 2,
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
    BB_PREDICATE_HAS_WORD = 10,
    BB_PREDICATE_HAS_ALL_WORDS = 11,
    BB_PREDICATE_HAS_ANY_WORD = 12,
    BB_PREDICATE_IHAS_WORD = 13,
    BB_PREDICATE_IHAS_ALL_WORDS = 14,
    BB_PREDICATE_IHAS_ANY_WORD = 15,
};

struct bb_condition;

/* Parses a condition. It is owned: bb_condition_destroy. schema and text are borrowed for the call.
 * BB_INVALID: the message gives the error, its offset and the expected input. BB_TOO_LARGE: the
 * message names the limit. BB_UNSUPPORTED: a predicate of words in a build without libunistring.
 * BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status bb_condition_parse(const struct bb_schema *schema,
                                                       struct bb_bytes text,
                                                       struct bb_condition **ret_condition);

/* These calls build a condition without text. attribute: its number in the schema. Each literal is
 * PRESENT and comparable with the attribute: for a number any of i64, u64 and f64 (not NaN), for a
 * time a TIME or a text. Schema and literals are borrowed for the call. The condition is owned:
 * bb_condition_destroy. BB_INVALID for an attribute or a literal outside these rules. Other errors
 * are as for bb_condition_parse. */
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
/* operands: one or more for predicates with ALL or ANY, one for the others. */
BB_API BB_MUST_CHECK enum bb_status bb_condition_text(const struct bb_schema *schema,
                                                      size_t attribute, enum bb_predicate predicate,
                                                      const struct bb_bytes *operands, size_t count,
                                                      struct bb_condition **ret_condition);
/* A condition with the same result for every record. */
BB_API BB_MUST_CHECK enum bb_status bb_condition_constant(enum bb_truth truth,
                                                          struct bb_condition **ret_condition);

/* Combines conditions into a new one, which then owns them; the array is borrowed. After a failure
 * the caller still owns them. AND and OR of one condition return that condition. BB_INVALID for AND
 * and OR of no conditions, BB_TOO_LARGE for more than BB_CONDITION_DEPTH_MAX levels,
 * BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status bb_condition_and(struct bb_condition *const *conditions,
                                                     size_t count,
                                                     struct bb_condition **ret_condition);
BB_API BB_MUST_CHECK enum bb_status bb_condition_or(struct bb_condition *const *conditions,
                                                    size_t count,
                                                    struct bb_condition **ret_condition);
BB_API BB_MUST_CHECK enum bb_status bb_condition_not(struct bb_condition *condition,
                                                     struct bb_condition **ret_condition);

/* Appends the canonical text of the condition. It parses to the same condition, and equal trees
 * have equal texts. BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status bb_condition_print(const struct bb_condition *condition,
                                                       struct bb_buf *buf);

/* Whether the condition uses the attribute with this number. */
BB_API bool bb_condition_uses(const struct bb_condition *condition, size_t attribute);

/* Releases a condition and all its parts. NULL is allowed. */
BB_API void bb_condition_destroy(struct bb_condition *condition);

/* The state that a thread needs to test records with a condition. Threads: one at a time; create a
 * run per thread. */
struct bb_condition_run;

/* The condition is borrowed until the run is destroyed. BB_NO_MEMORY. Owned:
 * bb_condition_run_destroy. */
BB_API BB_MUST_CHECK enum bb_status bb_condition_run_create(const struct bb_condition *condition,
                                                            struct bb_condition_run **ret_run);
BB_API void bb_condition_run_destroy(struct bb_condition_run *run);

/* Tests one record. attributes[i] is attribute i of the schema; attributes that the condition does
 * not use are not read. Parts of the condition that cannot change the result are skipped.
 * BB_TOO_LARGE: a regular expression exceeded its step limit, so the result is unknown. BB_INVALID:
 * an attribute does not have the schema's type. */
BB_API BB_MUST_CHECK enum bb_status bb_condition_test(struct bb_condition_run *run,
                                                      const struct bb_attribute *attributes,
                                                      enum bb_truth *ret_truth);

#ifdef __cplusplus
}
#endif
#endif
