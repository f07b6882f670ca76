/* See parser.h. Recursion is as deep as parentheses and NOT are, which BB_CONDITION_DEPTH_MAX
 * limits. */
#include "skip/condition/parser.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"
#include "skip/condition/build.h"
#include "skip/condition/lexer.h"
#include "skip/condition/node_list.h"
#include "skip/record/schema.h"

#define SHOWN_SIZE 48

struct parser {
    struct bb_bytes text;
    const struct bb_schema *schema;
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
    if (!bb_lexer_word_is(&parser->word, upper))
        return false;
    advance(parser);
    return true;
}

static struct bb_bytes unquote(struct parser *parser, const struct bb_word *word)
{
    if (word->kind == BB_WORD_WORD)
        return word->text;
    uint8_t *to = parser->strings + parser->strings_size;
    size_t size = bb_lexer_word_unquote(word, to);
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
    } else if (bb_lexer_word_is(&parser->word, "NULL"))
        return fail_expected(parser, "a string or a number (NULL is asked for by IS NULL)");
    else
        return fail_expected(parser, "a string or a number");
    advance(parser);
    *ret_literal = literal;
    return BB_OK;
}

static enum bb_status take_attribute(struct parser *parser, size_t *ret_attribute)
{
    const struct bb_word *word = &parser->word;
    bool is_name = word->kind == BB_WORD_NAME ||
                   (word->kind == BB_WORD_WORD && !bb_lexer_word_is_keyword(word->text));
    if (!is_name)
        return fail_expected(parser, "a condition on an attribute");
    if (bb_schema_find(parser->schema, unquote(parser, word), ret_attribute) != BB_OK) {
        (void)!fail_expected(parser, "the name of an attribute");
        return bb_schema_tell_names(parser->schema);
    }
    advance(parser);
    return BB_OK;
}

/* A literal that can be compared with the attribute. */
static enum bb_status take_value(struct parser *parser, size_t attribute,
                                 struct bb_literal *ret_literal)
{
    struct bb_literal literal;
    struct bb_fit fit;
    enum bb_status status = take_literal(parser, &literal);
    if (status != BB_OK)
        return status;
    status = bb_literal_fit(&literal, bb_schema_type(parser->schema, attribute), &fit);
    if (status != BB_OK)
        return fail_at(literal.offset, status);
    *ret_literal = literal;
    return BB_OK;
}

static enum bb_status parse_comparison(struct parser *parser, size_t attribute,
                                       enum bb_comparison comparison,
                                       struct bb_condition **ret_condition)
{
    struct bb_literal literal;
    advance(parser);
    enum bb_status status = take_value(parser, attribute, &literal);
    if (status != BB_OK)
        return status;
    return bb_build_compare(parser->schema, attribute, comparison, &literal, ret_condition);
}

static enum bb_status parse_between(struct parser *parser, size_t attribute,
                                    struct bb_condition **ret_condition)
{
    struct bb_literal low;
    struct bb_literal high;
    enum bb_status status = take_value(parser, attribute, &low);
    if (status != BB_OK)
        return status;
    if (!take_keyword(parser, "AND"))
        return fail_expected(parser, "AND of BETWEEN");
    status = take_value(parser, attribute, &high);
    if (status != BB_OK)
        return status;
    return bb_build_between(parser->schema, attribute, &low, &high, ret_condition);
}

static enum bb_status take_values(struct parser *parser, size_t attribute, struct bb_buf *literals)
{
    enum bb_status status = take(parser, BB_WORD_OPEN, "( of IN");
    if (status != BB_OK || parser->word.kind == BB_WORD_CLOSE)
        return status;
    for (;;) {
        struct bb_literal literal;
        status = take_value(parser, attribute, &literal);
        if (status == BB_OK)
            status = bb_buf_append(literals, &literal, sizeof(literal));
        if (status != BB_OK || parser->word.kind != BB_WORD_COMMA)
            return status;
        advance(parser);
    }
}

static enum bb_status parse_in(struct parser *parser, size_t attribute,
                               struct bb_condition **ret_condition)
{
    struct bb_buf buf = {0};
    enum bb_status status = take_values(parser, attribute, &buf);
    if (status == BB_OK)
        status = take(parser, BB_WORD_CLOSE, ", or ) of IN");
    const struct bb_literal *literals = (const struct bb_literal *)(const void *)buf.data;
    if (status == BB_OK)
        status = bb_build_in(parser->schema, attribute, literals, buf.size / sizeof(*literals),
                             ret_condition);
    bb_buf_deinit(&buf);
    return status;
}

static enum bb_status parse_is(struct parser *parser, size_t attribute,
                               struct bb_condition **ret_condition)
{
    struct bb_condition *leaf = NULL;
    bool is_negated = take_keyword(parser, "NOT");
    if (!take_keyword(parser, "NULL"))
        return fail_expected(parser, is_negated ? "NULL" : "NULL or NOT NULL");
    enum bb_status status = bb_build_is_null(parser->schema, attribute, &leaf);
    if (status != BB_OK)
        return status;
    if (is_negated)
        return bb_build_not(leaf, ret_condition);
    *ret_condition = leaf;
    return BB_OK;
}

static enum bb_status take_text(struct parser *parser, struct bb_bytes *ret_text)
{
    if (parser->word.kind != BB_WORD_STRING)
        return fail_expected(parser, "a string");
    *ret_text = unquote(parser, &parser->word);
    advance(parser);
    return BB_OK;
}

static enum bb_status parse_like(struct parser *parser, size_t attribute,
                                 enum bb_predicate predicate, struct bb_condition **ret_condition)
{
    struct bb_bytes pattern;
    size_t offset = parser->word.offset;
    enum bb_status status = take_text(parser, &pattern);
    if (status != BB_OK)
        return status;
    status = bb_build_text(parser->schema, attribute, predicate, &pattern, 1, ret_condition);
    return status == BB_OK ? BB_OK : fail_at(offset, status);
}

/* 0 for a word that is no comparison. */
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

static enum bb_status parse_after_not(struct parser *parser, size_t attribute, bool is_negated,
                                      struct bb_condition **ret_condition)
{
    if (take_keyword(parser, "BETWEEN"))
        return parse_between(parser, attribute, ret_condition);
    if (take_keyword(parser, "IN"))
        return parse_in(parser, attribute, ret_condition);
    if (take_keyword(parser, "LIKE"))
        return parse_like(parser, attribute, BB_PREDICATE_LIKE, ret_condition);
    if (take_keyword(parser, "ILIKE"))
        return parse_like(parser, attribute, BB_PREDICATE_ILIKE, ret_condition);
    return fail_expected(parser, is_negated ? "BETWEEN, IN, LIKE or ILIKE"
                                            : "a comparison: =, <>, <, <=, >, >=, BETWEEN, IN, "
                                              "LIKE, ILIKE or IS NULL");
}

static enum bb_status parse_attribute(struct parser *parser, struct bb_condition **ret_condition)
{
    size_t attribute = 0;
    struct bb_condition *leaf = NULL;
    enum bb_status status = take_attribute(parser, &attribute);
    if (status != BB_OK)
        return status;
    enum bb_comparison comparison = comparison_of(&parser->word);
    if (comparison != 0)
        return parse_comparison(parser, attribute, comparison, ret_condition);
    if (take_keyword(parser, "IS"))
        return parse_is(parser, attribute, ret_condition);
    bool is_negated = take_keyword(parser, "NOT");
    status = parse_after_not(parser, attribute, is_negated, &leaf);
    if (status != BB_OK)
        return status;
    if (is_negated)
        return bb_build_not(leaf, ret_condition);
    *ret_condition = leaf;
    return BB_OK;
}

static const struct {
    const char *name;
    enum bb_predicate predicate;
} FUNCTIONS[] = {
    {"STARTS_WITH", BB_PREDICATE_STARTS_WITH},
    {"ENDS_WITH", BB_PREDICATE_ENDS_WITH},
    {"CONTAINS", BB_PREDICATE_CONTAINS},
    {"HAS_TOKEN", BB_PREDICATE_HAS_TOKEN},
    {"HAS_ALL_TOKENS", BB_PREDICATE_HAS_ALL_TOKENS},
    {"HAS_ANY_TOKEN", BB_PREDICATE_HAS_ANY_TOKEN},
    {"MATCHES", BB_PREDICATE_MATCHES},
    {"HAS_WORD", BB_PREDICATE_HAS_WORD},
    {"HAS_ALL_WORDS", BB_PREDICATE_HAS_ALL_WORDS},
    {"HAS_ANY_WORD", BB_PREDICATE_HAS_ANY_WORD},
    {"IHAS_WORD", BB_PREDICATE_IHAS_WORD},
    {"IHAS_ALL_WORDS", BB_PREDICATE_IHAS_ALL_WORDS},
    {"IHAS_ANY_WORD", BB_PREDICATE_IHAS_ANY_WORD},
};

/* 0 where no function is. */
static enum bb_predicate function_of(const struct parser *parser)
{
    if (parser->word.kind != BB_WORD_WORD ||
        bb_lexer_next(parser->text, parser->word.end).kind != BB_WORD_OPEN)
        return (enum bb_predicate)0;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(FUNCTIONS); i++)
        if (bb_lexer_word_is(&parser->word, FUNCTIONS[i].name))
            return FUNCTIONS[i].predicate;
    return (enum bb_predicate)0;
}

/* Strings with a comma before each, up to the closing parenthesis. Each is checked separately, so
 * that the failure has its offset. */
static enum bb_status take_operands(struct parser *parser, size_t attribute,
                                    enum bb_predicate predicate, struct bb_buf *operands)
{
    enum bb_status status = BB_OK;
    do {
        struct bb_bytes operand;
        struct bb_condition *alone = NULL;
        status = take(parser, BB_WORD_COMMA, ", and a string");
        size_t offset = parser->word.offset;
        if (status == BB_OK)
            status = take_text(parser, &operand);
        if (status != BB_OK)
            return status;
        status = bb_build_text(parser->schema, attribute, predicate, &operand, 1, &alone);
        if (status != BB_OK)
            return fail_at(offset, status);
        bb_condition_destroy(alone);
        status = bb_buf_append(operands, &operand, sizeof(operand));
    } while (status == BB_OK && bb_build_is_list(predicate) && parser->word.kind != BB_WORD_CLOSE);
    return status;
}

static enum bb_status parse_function(struct parser *parser, enum bb_predicate predicate,
                                     struct bb_condition **ret_condition)
{
    struct bb_buf buf = {0};
    size_t attribute = 0;
    advance(parser);
    advance(parser);
    size_t offset = parser->word.offset;
    enum bb_status status = take_attribute(parser, &attribute);
    if (status != BB_OK)
        return status;
    if (bb_schema_type(parser->schema, attribute) != BB_ATTRIBUTE_BYTES)
        return fail_at(offset,
                       bb_fail(BB_INVALID, "expected an attribute of type bytes, found type %s",
                               bb_attribute_type_name(bb_schema_type(parser->schema, attribute))));
    status = take_operands(parser, attribute, predicate, &buf);
    if (status == BB_OK)
        status = take(parser, BB_WORD_CLOSE, ")");
    const struct bb_bytes *operands = (const struct bb_bytes *)(const void *)buf.data;
    if (status == BB_OK)
        status = bb_build_text(parser->schema, attribute, predicate, operands,
                               buf.size / sizeof(*operands), ret_condition);
    bb_buf_deinit(&buf);
    return status;
}

static enum bb_status parse_predicate(struct parser *parser, struct bb_condition **ret_condition)
{
    enum bb_predicate function = function_of(parser);
    return function == 0 ? parse_attribute(parser, ret_condition)
                         : parse_function(parser, function, ret_condition);
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
    if (take_keyword(parser, "NULL"))
        return bb_tree_constant(BB_TRUTH_UNKNOWN, ret_condition);
    if (parser->word.kind == BB_WORD_OPEN)
        return parse_parentheses(parser, ret_condition);
    if (!bb_lexer_word_is(&parser->word, "NOT"))
        return parse_predicate(parser, ret_condition);
    struct bb_condition *inner = NULL;
    enum bb_status status = enter(parser);
    if (status == BB_OK)
        status = parse_not(parser, &inner);
    if (status != BB_OK)
        return status;
    parser->nesting--;
    return bb_build_not(inner, ret_condition);
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

enum bb_status bb_parser_parse(struct bb_bytes text, const struct bb_schema *schema,
                               struct bb_condition **ret_condition)
{
    if (text.size > BB_CONDITION_SIZE_MAX)
        return bb_fail(BB_TOO_LARGE, "a condition of %zu bytes; the limit is %u", text.size,
                       BB_CONDITION_SIZE_MAX);
    struct parser parser = {.text = text, .schema = schema};
    parser.strings = bb_alloc(text.size);
    if (parser.strings == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a condition of %zu bytes", text.size);
    advance(&parser);
    enum bb_status status = parse_all(&parser, ret_condition);
    bb_free(parser.strings);
    return status;
}
