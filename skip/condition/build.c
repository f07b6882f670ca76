/* See build.h. */
#include "skip/condition/build.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/status.h"
#include "skip/condition/intervals.h"
#include "skip/condition/text.h"
#include "skip/condition/token.h"

static struct bb_leaf_attribute attribute_of(const struct bb_schema *schema, size_t attribute)
{
    return (struct bb_leaf_attribute){.number = attribute,
                                      .name = bb_schema_name(schema, attribute),
                                      .type = bb_schema_type(schema, attribute)};
}

enum bb_status bb_build_not(struct bb_condition *condition, struct bb_condition **ret_condition)
{
    enum bb_status status = bb_tree_join(BB_CONDITION_NOT, &condition, 1, ret_condition);
    if (status != BB_OK)
        bb_condition_destroy(condition);
    return status;
}

enum bb_status bb_build_compare(const struct bb_schema *schema, size_t attribute,
                                enum bb_comparison comparison, const struct bb_literal *literal,
                                struct bb_condition **ret_condition)
{
    struct bb_leaf_attribute leaf_attribute = attribute_of(schema, attribute);
    struct bb_interval interval;
    struct bb_condition *leaf = NULL;
    size_t count = 0;
    bool is_negated = comparison == BB_COMPARISON_NOT_EQUAL;
    enum bb_status status =
        bb_intervals_compare(leaf_attribute.type, is_negated ? BB_COMPARISON_EQUAL : comparison,
                             literal, &interval, &count);
    if (status == BB_OK)
        status = bb_tree_ranges(&leaf_attribute, &interval, count, &leaf);
    if (status != BB_OK)
        return status;
    if (is_negated)
        return bb_build_not(leaf, ret_condition);
    *ret_condition = leaf;
    return BB_OK;
}

enum bb_status bb_build_between(const struct bb_schema *schema, size_t attribute,
                                const struct bb_literal *low, const struct bb_literal *high,
                                struct bb_condition **ret_condition)
{
    struct bb_leaf_attribute leaf_attribute = attribute_of(schema, attribute);
    struct bb_interval interval;
    size_t count = 0;
    enum bb_status status = bb_intervals_between(leaf_attribute.type, low, high, &interval, &count);
    if (status != BB_OK)
        return status;
    return bb_tree_ranges(&leaf_attribute, &interval, count, ret_condition);
}

enum bb_status bb_build_in(const struct bb_schema *schema, size_t attribute,
                           const struct bb_literal *literals, size_t count,
                           struct bb_condition **ret_condition)
{
    struct bb_leaf_attribute leaf_attribute = attribute_of(schema, attribute);
    struct bb_interval *points = bb_alloc_zeroed(count + 1, sizeof(*points));
    if (points == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a list of %zu literals", count);
    enum bb_status status = BB_OK;
    size_t point_count = 0;
    for (size_t i = 0; status == BB_OK && i < count; i++) {
        size_t found = 0;
        status = bb_intervals_compare(leaf_attribute.type, BB_COMPARISON_EQUAL, &literals[i],
                                      &points[point_count], &found);
        point_count += found;
    }
    if (status == BB_OK) {
        point_count = bb_intervals_sort_points(points, point_count);
        status = bb_tree_ranges(&leaf_attribute, points, point_count, ret_condition);
    }
    bb_free(points);
    return status;
}

enum bb_status bb_build_is_null(const struct bb_schema *schema, size_t attribute,
                                struct bb_condition **ret_condition)
{
    struct bb_leaf_attribute leaf_attribute = attribute_of(schema, attribute);
    return bb_tree_nulls(&leaf_attribute, ret_condition);
}

/* Takes the pattern, whether it succeeds or not. */
static enum bb_status build_pattern(const struct bb_leaf_attribute *attribute, struct bb_like *like,
                                    struct bb_condition **ret_condition)
{
    struct bb_bytes literal;
    struct bb_text *text = NULL;
    enum bb_status status = BB_OK;
    if (bb_text_like_is_literal(like, &literal)) {
        struct bb_bound bound = {.value = {.type = BB_ATTRIBUTE_BYTES, .as.bytes = literal}};
        struct bb_interval point = {.low = bound, .high = bound};
        status = bb_tree_ranges(attribute, &point, 1, ret_condition);
        bb_like_destroy(like);
        return status;
    }
    status = bb_text_of_like(like, &text);
    if (status != BB_OK) {
        bb_like_destroy(like);
        return status;
    }
    return bb_tree_text(attribute, text, ret_condition);
}

/* starts_with and similar predicates are patterns of LIKE. */
static enum bb_status pattern_of(enum bb_predicate predicate, struct bb_bytes operand,
                                 struct bb_buf *buf)
{
    enum bb_status status = BB_OK;
    if (predicate == BB_PREDICATE_LIKE || predicate == BB_PREDICATE_ILIKE)
        return bb_buf_append(buf, operand.data, operand.size);
    if (predicate != BB_PREDICATE_STARTS_WITH)
        status = bb_buf_append(buf, "%", 1);
    if (status == BB_OK)
        status = bb_like_escape(operand, buf);
    if (status == BB_OK && predicate != BB_PREDICATE_ENDS_WITH)
        status = bb_buf_append(buf, "%", 1);
    return status;
}

static enum bb_status build_like(const struct bb_leaf_attribute *attribute,
                                 enum bb_predicate predicate, struct bb_bytes operand,
                                 struct bb_condition **ret_condition)
{
    struct bb_buf pattern = {0};
    struct bb_like *like = NULL;
    enum bb_status status = pattern_of(predicate, operand, &pattern);
    if (status == BB_OK)
        status = bb_like_create(bb_buf_bytes(&pattern), predicate == BB_PREDICATE_ILIKE, &like);
    bb_buf_deinit(&pattern);
    return status == BB_OK ? build_pattern(attribute, like, ret_condition) : status;
}

bool bb_build_is_list(enum bb_predicate predicate)
{
    switch (predicate) {
    case BB_PREDICATE_HAS_ALL_TOKENS:
    case BB_PREDICATE_HAS_ANY_TOKEN:
    case BB_PREDICATE_HAS_ALL_WORDS:
    case BB_PREDICATE_HAS_ANY_WORD:
    case BB_PREDICATE_IHAS_ALL_WORDS:
    case BB_PREDICATE_IHAS_ANY_WORD:
        return true;
    default:
        return false;
    }
}

static bool is_of_one_word(enum bb_predicate predicate)
{
    return predicate == BB_PREDICATE_HAS_WORD || predicate == BB_PREDICATE_IHAS_WORD;
}

static enum bb_status check_one_word(struct bb_bytes operand)
{
    struct bb_word_rules rules;
    enum bb_status status = bb_words_check();
    if (status != BB_OK)
        return status;
    bb_word_rules_init(&rules);
    return bb_word_is_one(&rules, operand)
               ? BB_OK
               : bb_fail(BB_INVALID, "expected one word of Unicode, nothing else (has_all_words "
                                     "takes several)");
}

static enum bb_status check_text(const struct bb_leaf_attribute *attribute,
                                 enum bb_predicate predicate, const struct bb_bytes *operands,
                                 size_t count)
{
    if (predicate < BB_PREDICATE_LIKE || predicate > BB_PREDICATE_IHAS_ANY_WORD)
        return bb_fail(BB_INVALID, "there is no predicate of number %d", (int)predicate);
    if (attribute->type != BB_ATTRIBUTE_BYTES)
        return bb_fail(BB_INVALID, "expected an attribute of type bytes, found \"%s\" of type %s",
                       attribute->name, bb_attribute_type_name(attribute->type));
    if (count == 0 || (count > 1 && !bb_build_is_list(predicate)))
        return bb_fail(BB_INVALID, "expected one text, found %zu", count);
    if (predicate == BB_PREDICATE_HAS_TOKEN && !bb_token_is_one(operands[0]))
        return bb_fail(BB_INVALID, "expected one token: letters and digits, nothing else "
                                   "(has_all_tokens takes several)");
    return is_of_one_word(predicate) ? check_one_word(operands[0]) : BB_OK;
}

/* REQUIRES: a predicate of words. */
static enum bb_status build_words(enum bb_predicate predicate, const struct bb_bytes *operands,
                                  size_t count, struct bb_text **ret_text)
{
    BB_DEBUG_ASSERT(predicate >= BB_PREDICATE_HAS_WORD);
    bool folds_case = predicate >= BB_PREDICATE_IHAS_WORD;
    bool is_any = predicate == BB_PREDICATE_HAS_ANY_WORD || predicate == BB_PREDICATE_IHAS_ANY_WORD;
    return bb_text_of_words(is_any ? BB_TEXT_ANY_WORD : BB_TEXT_ALL_WORDS, folds_case, operands,
                            count, ret_text);
}

enum bb_status bb_build_text(const struct bb_schema *schema, size_t attribute,
                             enum bb_predicate predicate, const struct bb_bytes *operands,
                             size_t count, struct bb_condition **ret_condition)
{
    struct bb_leaf_attribute leaf_attribute = attribute_of(schema, attribute);
    struct bb_text *text = NULL;
    enum bb_status status = check_text(&leaf_attribute, predicate, operands, count);
    if (status != BB_OK)
        return status;
    if (predicate >= BB_PREDICATE_HAS_WORD)
        status = build_words(predicate, operands, count, &text);
    else if (predicate == BB_PREDICATE_MATCHES)
        status = bb_text_of_regex(operands[0], &text);
    else if (predicate == BB_PREDICATE_HAS_ANY_TOKEN)
        status = bb_text_of_tokens(BB_TEXT_ANY_TOKEN, operands, count, &text);
    else if (predicate >= BB_PREDICATE_HAS_TOKEN)
        status = bb_text_of_tokens(BB_TEXT_ALL_TOKENS, operands, count, &text);
    else
        return build_like(&leaf_attribute, predicate, operands[0], ret_condition);
    return status == BB_OK ? bb_tree_text(&leaf_attribute, text, ret_condition) : status;
}
