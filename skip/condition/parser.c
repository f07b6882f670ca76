/* See parser.h. Recursion is as deep as parentheses and NOT are, which BB_CONDITION_DEPTH_MAX limits. */
#include "skip/condition/parser.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "skip/condition/lexer.h"
#include "skip/condition/literal.h"
#include "skip/condition/node_list.h"
#include "skip/condition/ranges.h"

#define SHOWN_SIZE 48

struct parser {
    struct bb_bytes text;
    const struct bb_leaf_attribute *attributes;
    size_t attribute_count;
    struct bb_word word; /* the next one */
    size_t nesting;
    /* Strings without their quotes: never more than the text, so that it does not move. */
    uint8_t *strings;
    size_t strings_size;
};

static void advance(struct parser *parser)
{
    parser->word = bb_lexer_next(parser->text, parser->word.end);
}

static enum bb_status fail_expected(const struct parser *parser, const char *expected)
{
    char shown[SHOWN_SIZE];
    const struct bb_word *word = &parser->word;
    struct bb_bytes found = bb_bytes_of(parser->text.data + word->offset, word->end - word->offset);
    if (word->kind == BB_WORD_END)
        return bb_fail(BB_INVALID, "condition: at byte %zu: expected %s, found the end",
                       word->offset, expected);
    return bb_fail(BB_INVALID, "condition: at byte %zu: expected %s, found %s%s%s", word->offset,
                   expected, word->kind == BB_WORD_BAD ? word->trouble : "",
                   word->kind == BB_WORD_BAD ? ": " : "",
                   bb_bytes_escape(found, shown, sizeof(shown)));
}

static enum bb_status fail_at(size_t offset, enum bb_status status)
{
    return bb_fail_context(status, "condition: at byte %zu", offset);
}

static enum bb_status take(struct parser *parser, enum bb_word_kind kind, const char *expected)
{
    if (parser->word.kind != kind)
        return fail_expected(parser, expected);
    advance(parser);
    return BB_OK;
}

static bool take_keyword(struct parser *parser, const char *upper)
{
    if (!bb_word_is(&parser->word, upper))
        return false;
    advance(parser);
    return true;
}

static struct bb_bytes unquote(struct parser *parser, const struct bb_word *word)
{
    if (word->kind == BB_WORD_WORD)
        return word->text;
    uint8_t *to = parser->strings + parser->strings_size;
    size_t size = bb_word_unquote(word, to);
    parser->strings_size += size;
    return bb_bytes_of(to, size);
}

static enum bb_status take_literal(struct parser *parser, struct bb_literal *ret_literal)
{
    struct bb_literal literal = {.offset = parser->word.offset};
    if (parser->word.kind == BB_WORD_NUMBER) {
        literal.kind = BB_LITERAL_NUMBER;
        literal.text = parser->word.text;
    } else if (parser->word.kind == BB_WORD_STRING) {
        literal.kind = BB_LITERAL_TEXT;
        literal.text = unquote(parser, &parser->word);
    } else if (bb_word_is(&parser->word, "NULL"))
        return fail_expected(parser, "a string or a number (NULL is asked for by IS NULL)");
    else
        return fail_expected(parser, "a string or a number");
    advance(parser);
    *ret_literal = literal;
    return BB_OK;
}

static const struct bb_leaf_attribute *find_attribute(const struct parser *parser,
                                                      struct bb_bytes name)
{
    for (size_t i = 0; i < parser->attribute_count; i++)
        if (bb_bytes_equal(bb_bytes_of_text(parser->attributes[i].name), name))
            return &parser->attributes[i];
    return NULL;
}

static enum bb_status take_attribute(struct parser *parser,
                                     const struct bb_leaf_attribute **ret_attribute)
{
    const struct bb_word *word = &parser->word;
    bool is_name = word->kind == BB_WORD_NAME ||
                   (word->kind == BB_WORD_WORD && !bb_word_is_keyword(word->text));
    if (!is_name)
        return fail_expected(parser, "a condition on an attribute");
    const struct bb_leaf_attribute *found = find_attribute(parser, unquote(parser, word));
    if (found == NULL)
        return fail_expected(parser, "the name of an attribute");
    advance(parser);
    *ret_attribute = found;
    return BB_OK;
}

/* Takes the condition, whether it succeeds or not. */
static enum bb_status negate(struct bb_condition *condition, struct bb_condition **ret_condition)
{
    enum bb_status status = bb_tree_join(BB_CONDITION_NOT, &condition, 1, ret_condition);
    if (status != BB_OK)
        bb_condition_destroy(condition);
    return status;
}

static enum bb_status parse_comparison(struct parser *parser,
                                       const struct bb_leaf_attribute *attribute,
                                       enum bb_comparison comparison,
                                       struct bb_condition **ret_condition)
{
    struct bb_literal literal;
    struct bb_interval interval;
    size_t count = 0;
    advance(parser);
    enum bb_status status = take_literal(parser, &literal);
    if (status != BB_OK)
        return status;
    bool is_equal = comparison == BB_COMPARISON_EQUAL || comparison == BB_COMPARISON_NOT_EQUAL;
    status = bb_ranges_compare(attribute->type, is_equal ? BB_COMPARISON_EQUAL : comparison,
                               &literal, &interval, &count);
    if (status != BB_OK)
        return fail_at(literal.offset, status);
    struct bb_condition *leaf = NULL;
    status = bb_tree_ranges(attribute, &interval, count, &leaf);
    if (status != BB_OK)
        return status;
    if (comparison == BB_COMPARISON_NOT_EQUAL)
        return negate(leaf, ret_condition);
    *ret_condition = leaf;
    return BB_OK;
}

static enum bb_status parse_between(struct parser *parser,
                                    const struct bb_leaf_attribute *attribute,
                                    struct bb_condition **ret_condition)
{
    struct bb_literal low;
    struct bb_literal high;
    struct bb_interval interval;
    struct bb_fit fit;
    size_t count = 0;
    enum bb_status status = take_literal(parser, &low);
    if (status != BB_OK)
        return status;
    status = bb_literal_fit(&low, attribute->type, &fit);
    if (status != BB_OK)
        return fail_at(low.offset, status);
    if (!take_keyword(parser, "AND"))
        return fail_expected(parser, "AND of BETWEEN");
    status = take_literal(parser, &high);
    if (status != BB_OK)
        return status;
    status = bb_ranges_between(attribute->type, &low, &high, &interval, &count);
    if (status != BB_OK)
        return fail_at(high.offset, status);
    return bb_tree_ranges(attribute, &interval, count, ret_condition);
}

/* Adds the point of a literal, or nothing where no value equals it. */
static enum bb_status take_point(struct parser *parser, enum bb_attribute_type type,
                                 struct bb_buf *points)
{
    struct bb_literal literal;
    struct bb_interval point;
    size_t count = 0;
    enum bb_status status = take_literal(parser, &literal);
    if (status != BB_OK)
        return status;
    status = bb_ranges_compare(type, BB_COMPARISON_EQUAL, &literal, &point, &count);
    if (status != BB_OK)
        return fail_at(literal.offset, status);
    return bb_buf_append(points, &point, count * sizeof(point));
}

static enum bb_status take_points(struct parser *parser, enum bb_attribute_type type,
                                  struct bb_buf *points)
{
    enum bb_status status = take(parser, BB_WORD_OPEN, "( of IN");
    if (status != BB_OK || parser->word.kind == BB_WORD_CLOSE)
        return status;
    for (;;) {
        status = take_point(parser, type, points);
        if (status != BB_OK || parser->word.kind != BB_WORD_COMMA)
            return status;
        advance(parser);
    }
}

static enum bb_status parse_in(struct parser *parser, const struct bb_leaf_attribute *attribute,
                               struct bb_condition **ret_condition)
{
    struct bb_buf points = {0};
    enum bb_status status = take_points(parser, attribute->type, &points);
    if (status == BB_OK)
        status = take(parser, BB_WORD_CLOSE, ", or ) of IN");
    if (status == BB_OK) {
        struct bb_interval *intervals = (struct bb_interval *)(void *)points.data;
        size_t count = bb_ranges_sort_points(intervals, points.size / sizeof(*intervals));
        status = bb_tree_ranges(attribute, intervals, count, ret_condition);
    }
    bb_buf_deinit(&points);
    return status;
}

static enum bb_status parse_is(struct parser *parser, const struct bb_leaf_attribute *attribute,
                               struct bb_condition **ret_condition)
{
    struct bb_condition *leaf = NULL;
    bool is_negated = take_keyword(parser, "NOT");
    if (!take_keyword(parser, "NULL"))
        return fail_expected(parser, is_negated ? "NULL" : "NULL or NOT NULL");
    enum bb_status status = bb_tree_nulls(attribute, &leaf);
    if (status != BB_OK)
        return status;
    if (is_negated)
        return negate(leaf, ret_condition);
    *ret_condition = leaf;
    return BB_OK;
}

/* 0 for a word that is none. */
static enum bb_comparison comparison_of(const struct bb_word *word)
{
    switch (word->kind) {
    case BB_WORD_EQUAL:
        return BB_COMPARISON_EQUAL;
    case BB_WORD_NOT_EQUAL:
        return BB_COMPARISON_NOT_EQUAL;
    case BB_WORD_LESS:
        return BB_COMPARISON_LESS;
    case BB_WORD_LESS_OR_EQUAL:
        return BB_COMPARISON_LESS_OR_EQUAL;
    case BB_WORD_GREATER:
        return BB_COMPARISON_GREATER;
    case BB_WORD_GREATER_OR_EQUAL:
        return BB_COMPARISON_GREATER_OR_EQUAL;
    default:
        return (enum bb_comparison)0;
    }
}

static enum bb_status parse_predicate(struct parser *parser, struct bb_condition **ret_condition)
{
    const struct bb_leaf_attribute *attribute = NULL;
    enum bb_status status = take_attribute(parser, &attribute);
    if (status != BB_OK)
        return status;
    enum bb_comparison comparison = comparison_of(&parser->word);
    if (comparison != 0)
        return parse_comparison(parser, attribute, comparison, ret_condition);
    if (take_keyword(parser, "IS"))
        return parse_is(parser, attribute, ret_condition);
    bool is_negated = take_keyword(parser, "NOT");
    struct bb_condition *leaf = NULL;
    if (take_keyword(parser, "BETWEEN"))
        status = parse_between(parser, attribute, &leaf);
    else if (take_keyword(parser, "IN"))
        status = parse_in(parser, attribute, &leaf);
    else
        status = fail_expected(
            parser, is_negated ? "IN or BETWEEN" : "a comparison (=, <, IN, BETWEEN, IS NULL ...)");
    if (status != BB_OK)
        return status;
    if (is_negated)
        return negate(leaf, ret_condition);
    *ret_condition = leaf;
    return BB_OK;
}

static enum bb_status parse_or(struct parser *parser, struct bb_condition **ret_condition);

static enum bb_status enter(struct parser *parser)
{
    if (parser->nesting == BB_CONDITION_DEPTH_MAX)
        return fail_at(parser->word.offset,
                       bb_fail(BB_TOO_LARGE, "more than %d levels of parentheses and NOT",
                               BB_CONDITION_DEPTH_MAX));
    parser->nesting++;
    advance(parser);
    return BB_OK;
}

static enum bb_status parse_parentheses(struct parser *parser, struct bb_condition **ret_condition)
{
    struct bb_condition *inner = NULL;
    enum bb_status status = enter(parser);
    if (status == BB_OK)
        status = parse_or(parser, &inner);
    if (status != BB_OK)
        return status;
    parser->nesting--;
    status = take(parser, BB_WORD_CLOSE, "AND, OR or )");
    if (status != BB_OK) {
        bb_condition_destroy(inner);
        return status;
    }
    *ret_condition = inner;
    return BB_OK;
}

static enum bb_status parse_not(struct parser *parser, struct bb_condition **ret_condition)
{
    if (take_keyword(parser, "TRUE"))
        return bb_tree_constant(BB_TRUTH_TRUE, ret_condition);
    if (take_keyword(parser, "FALSE"))
        return bb_tree_constant(BB_TRUTH_FALSE, ret_condition);
    if (parser->word.kind == BB_WORD_OPEN)
        return parse_parentheses(parser, ret_condition);
    if (!bb_word_is(&parser->word, "NOT"))
        return parse_predicate(parser, ret_condition);
    struct bb_condition *inner = NULL;
    enum bb_status status = enter(parser);
    if (status == BB_OK)
        status = parse_not(parser, &inner);
    if (status != BB_OK)
        return status;
    parser->nesting--;
    return negate(inner, ret_condition);
}

/* One operand, or several with the keyword between them. */
static enum bb_status parse_list(struct parser *parser, enum bb_condition_kind kind,
                                 struct bb_condition **ret_condition)
{
    struct bb_node_list list = {0};
    enum bb_status status = BB_OK;
    do {
        struct bb_condition *operand = NULL;
        status = kind == BB_CONDITION_OR ? parse_list(parser, BB_CONDITION_AND, &operand)
                                         : parse_not(parser, &operand);
        if (status == BB_OK)
            status = bb_node_list_add(&list, operand);
    } while (status == BB_OK && take_keyword(parser, kind == BB_CONDITION_OR ? "OR" : "AND"));
    if (status == BB_OK)
        status = bb_node_list_join(&list, kind, ret_condition);
    bb_node_list_deinit(&list);
    return status;
}

static enum bb_status parse_or(struct parser *parser, struct bb_condition **ret_condition)
{
    return parse_list(parser, BB_CONDITION_OR, ret_condition);
}

static enum bb_status parse_all(struct parser *parser, struct bb_condition **ret_condition)
{
    struct bb_condition *condition = NULL;
    enum bb_status status = parse_or(parser, &condition);
    if (status != BB_OK)
        return status;
    if (parser->word.kind != BB_WORD_END) {
        bb_condition_destroy(condition);
        return fail_expected(parser, "AND, OR or the end");
    }
    *ret_condition = condition;
    return BB_OK;
}

enum bb_status bb_parse(struct bb_bytes text, const struct bb_leaf_attribute *attributes,
                        size_t count, struct bb_condition **ret_condition)
{
    if (text.size > BB_CONDITION_SIZE_MAX)
        return bb_fail(BB_TOO_LARGE, "a condition of %zu bytes; the limit is %u", text.size,
                       BB_CONDITION_SIZE_MAX);
    struct parser parser = {.text = text, .attributes = attributes, .attribute_count = count};
    parser.strings = bb_alloc(text.size);
    if (parser.strings == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a condition of %zu bytes", text.size);
    advance(&parser);
    enum bb_status status = parse_all(&parser, ret_condition);
    bb_free(parser.strings);
    return status;
}
