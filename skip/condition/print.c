/* See print.h. */
#include "skip/condition/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "skip/condition/lexer.h"
#include "skip/condition/intervals.h"
#include "skip/condition/time_text.h"
#include "skip/record/calendar.h"

#define DOUBLE_SIZE   32
#define DIGITS_ENOUGH 17 /* for every double to be read back as itself */

static enum bb_status append(struct bb_buf *buf, const char *text)
{
    return bb_buf_append(buf, text, strlen(text));
}

/* text surrounded by quote, which is doubled inside. */
static enum bb_status print_quoted(struct bb_bytes text, char quote, struct bb_buf *buf)
{
    enum bb_status status = bb_buf_append(buf, &quote, 1);
    for (size_t i = 0; status == BB_OK && i < text.size; i++) {
        status = bb_buf_append(buf, &text.data[i], 1);
        if (status == BB_OK && text.data[i] == (uint8_t)quote)
            status = bb_buf_append(buf, &quote, 1);
    }
    return status == BB_OK ? bb_buf_append(buf, &quote, 1) : status;
}

static enum bb_status print_name(const char *name, struct bb_buf *buf)
{
    struct bb_bytes text = bb_bytes_of_text(name);
    return bb_lexer_word_is_plain(text) ? append(buf, name) : print_quoted(text, '`', buf);
}

/* As few digits as give the same double; the point is one in every locale. */
static enum bb_status print_double(double value, struct bb_buf *buf)
{
    char text[DOUBLE_SIZE];
    if (isinf(value))
        return append(buf, value < 0 ? "-1e999" : "1e999");
    int precision = DIGITS_ENOUGH - 2;
    snprintf(text, sizeof(text), "%.*g", precision, value);
    while (precision < DIGITS_ENOUGH && strtod(text, NULL) != value)
        snprintf(text, sizeof(text), "%.*g", ++precision, value);
    char *from = text;
    char *to = text;
    while (*from != 0) {
        bool is_kept = strchr("0123456789+-e", *from) != NULL;
        *to++ = is_kept ? *from : '.';
        from++;
        while (!is_kept && *from != 0 && strchr("0123456789+-e", *from) == NULL)
            from++;
    }
    *to = 0;
    return append(buf, text);
}

static enum bb_status print_value(const struct bb_attribute *value, struct bb_buf *buf)
{
    char time[BB_TIME_TEXT_SIZE];
    switch (value->type) {
    case BB_ATTRIBUTE_BYTES:
        return print_quoted(value->as.bytes, '\'', buf);
    case BB_ATTRIBUTE_U64:
        return bb_buf_print(buf, "%" PRIu64, value->as.u64);
    case BB_ATTRIBUTE_F64:
        return print_double(value->as.f64, buf);
    case BB_ATTRIBUTE_TIME:
        bb_time_text_print(value->as.i64, time);
        return bb_buf_print(buf, "'%s'", time);
    case BB_ATTRIBUTE_I64:
        break;
    }
    return bb_buf_print(buf, "%" PRId64, value->as.i64);
}

static enum bb_status print_operand(const char *operator, const struct bb_attribute * value,
                                    struct bb_buf *buf)
{
    enum bb_status status = append(buf, operator);
    return status == BB_OK ? print_value(value, buf) : status;
}

/* Every value, and NULL is unknown. */
static enum bb_status print_all(enum bb_attribute_type type, struct bb_buf *buf)
{
    struct bb_attribute lowest = {.type = type};
    if (type == BB_ATTRIBUTE_I64 || type == BB_ATTRIBUTE_TIME)
        lowest.as.i64 = INT64_MIN;
    if (type == BB_ATTRIBUTE_F64)
        lowest.as.f64 = -INFINITY;
    if (type == BB_ATTRIBUTE_BYTES)
        lowest.as.bytes = bb_bytes_of("", 0);
    return print_operand(" >= ", &lowest, buf);
}

/* Up to the end of a second: as "before the next second". */
static enum bb_status print_high(const struct bb_bound *high, struct bb_buf *buf)
{
    struct bb_attribute value = high->value;
    bool is_end_of_second = value.type == BB_ATTRIBUTE_TIME && value.as.i64 != INT64_MAX &&
                            (value.as.i64 + 1) % BB_NANOSECONDS_PER_SECOND == 0;
    if (is_end_of_second)
        value.as.i64++;
    return print_operand(high->is_exclusive || is_end_of_second ? " < " : " <= ", &value, buf);
}

static enum bb_status print_interval(const struct bb_leaf *leaf, bool is_negated,
                                     struct bb_buf *buf)
{
    const struct bb_interval *interval = &leaf->intervals[0];
    if (bb_intervals_is_point(interval))
        return print_operand(is_negated ? " <> " : " = ", &interval->low.value, buf);
    if (interval->low.is_open && interval->high.is_open)
        return print_all(leaf->type, buf);
    if (interval->low.is_open)
        return print_high(&interval->high, buf);
    if (interval->high.is_open)
        return print_operand(interval->low.is_exclusive ? " > " : " >= ", &interval->low.value,
                             buf);
    enum bb_status status =
        print_operand(is_negated ? " NOT BETWEEN " : " BETWEEN ", &interval->low.value, buf);
    return status == BB_OK ? print_operand(" AND ", &interval->high.value, buf) : status;
}

static enum bb_status print_points(const struct bb_leaf *leaf, bool is_negated, struct bb_buf *buf)
{
    enum bb_status status = append(buf, is_negated ? " NOT IN (" : " IN (");
    for (size_t i = 0; status == BB_OK && i < leaf->interval_count; i++)
        status = print_operand(i == 0 ? "" : ", ", &leaf->intervals[i].low.value, buf);
    return status == BB_OK ? append(buf, ")") : status;
}

static enum bb_status print_like(const struct bb_like *like, bool is_negated, struct bb_buf *buf)
{
    struct bb_buf pattern = {0};
    enum bb_status status = append(buf, is_negated ? " NOT" : "");
    if (status == BB_OK)
        status = append(buf, like->ignores_case ? " ILIKE " : " LIKE ");
    if (status == BB_OK)
        status = bb_like_print(like, &pattern);
    if (status == BB_OK)
        status = print_quoted(bb_buf_bytes(&pattern), '\'', buf);
    bb_buf_deinit(&pattern);
    return status;
}

static const char *function_of_words(const struct bb_text *text)
{
    if (text->operand_count == 1)
        return text->folds_case ? "ihas_word(" : "has_word(";
    if (text->kind == BB_TEXT_ALL_WORDS)
        return text->folds_case ? "ihas_all_words(" : "has_all_words(";
    return text->folds_case ? "ihas_any_word(" : "has_any_word(";
}

static const char *function_name(const struct bb_text *text)
{
    if (text->kind == BB_TEXT_REGEX)
        return "matches(";
    if (text->kind == BB_TEXT_ALL_WORDS || text->kind == BB_TEXT_ANY_WORD)
        return function_of_words(text);
    if (text->operand_count == 1)
        return "has_token(";
    return text->kind == BB_TEXT_ALL_TOKENS ? "has_all_tokens(" : "has_any_token(";
}

static enum bb_status print_function(const struct bb_condition *node, bool is_negated,
                                     struct bb_buf *buf)
{
    const struct bb_text *text = node->text;
    enum bb_status status = append(buf, is_negated ? "NOT " : "");
    if (status == BB_OK)
        status = append(buf, function_name(text));
    if (status == BB_OK)
        status = print_name(node->name, buf);
    for (size_t i = 0; status == BB_OK && i < text->operand_count; i++) {
        status = append(buf, ", ");
        if (status == BB_OK)
            status = print_quoted(text->operands[i], '\'', buf);
    }
    return status == BB_OK ? append(buf, ")") : status;
}

/* One comparison whose negation has no other notation than NOT. */
static bool is_one_sided(const struct bb_leaf *leaf)
{
    return leaf->kind == BB_LEAF_INTERVALS && leaf->interval_count == 1 &&
           (leaf->intervals[0].low.is_open || leaf->intervals[0].high.is_open);
}

static enum bb_status print_constant(const struct bb_leaf *leaf, bool is_negated,
                                     struct bb_buf *buf)
{
    const char *truth = leaf->may_be_true ? "TRUE" : leaf->may_be_false ? "FALSE" : "NULL";
    return bb_buf_print(buf, "%s%s", is_negated ? "NOT " : "", truth);
}

static enum bb_status print_leaf(const struct bb_condition *node, bool is_negated,
                                 struct bb_buf *buf)
{
    const struct bb_leaf *leaf = &node->leaf;
    if (leaf->kind == BB_LEAF_CONSTANT)
        return print_constant(leaf, is_negated, buf);
    if (leaf->kind == BB_LEAF_TEXT && node->text->kind != BB_TEXT_LIKE)
        return print_function(node, is_negated, buf);
    enum bb_status status = is_negated && is_one_sided(leaf) ? append(buf, "NOT ") : BB_OK;
    if (status == BB_OK)
        status = print_name(node->name, buf);
    if (status != BB_OK)
        return status;
    if (leaf->kind == BB_LEAF_NULLS)
        return append(buf, is_negated ? " IS NOT NULL" : " IS NULL");
    if (leaf->kind == BB_LEAF_TEXT)
        return print_like(node->text->like, is_negated, buf);
    if (leaf->interval_count == 1)
        return print_interval(leaf, is_negated, buf);
    return print_points(leaf, is_negated, buf);
}

/* AND binds tighter than OR; a list inside a list of the same kind is a separate child. */
static bool needs_parentheses(const struct bb_condition *parent, const struct bb_condition *child)
{
    if (child->kind != BB_CONDITION_AND && child->kind != BB_CONDITION_OR)
        return false;
    return parent->kind != BB_CONDITION_OR || child->kind == BB_CONDITION_OR;
}

static enum bb_status print_child(const struct bb_condition *parent,
                                  const struct bb_condition *child, struct bb_buf *buf)
{
    if (!needs_parentheses(parent, child))
        return bb_print(child, buf);
    enum bb_status status = append(buf, "(");
    if (status == BB_OK)
        status = bb_print(child, buf);
    return status == BB_OK ? append(buf, ")") : status;
}

enum bb_status bb_print(const struct bb_condition *condition, struct bb_buf *buf)
{
    if (condition->kind == BB_CONDITION_LEAF)
        return print_leaf(condition, false, buf);
    if (condition->kind == BB_CONDITION_NOT) {
        if (condition->children[0]->kind == BB_CONDITION_LEAF)
            return print_leaf(condition->children[0], true, buf);
        enum bb_status status = append(buf, "NOT ");
        return status == BB_OK ? print_child(condition, condition->children[0], buf) : status;
    }
    enum bb_status status = BB_OK;
    for (size_t i = 0; status == BB_OK && i < condition->child_count; i++) {
        if (i > 0)
            status = append(buf, condition->kind == BB_CONDITION_AND ? " AND " : " OR ");
        if (status == BB_OK)
            status = print_child(condition, condition->children[i], buf);
    }
    return status;
}
