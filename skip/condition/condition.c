/* See bb/condition.h: conditions by calls. */
#include "bb/condition.h"

#include "base/alloc.h"
#include "base/status.h"
#include "skip/condition/build.h"
#include "skip/condition/parser.h"
#include "skip/condition/print.h"

static enum bb_status check_attribute(const struct bb_schema *schema, size_t attribute)
{
    if (attribute < bb_schema_count(schema))
        return BB_OK;
    return bb_fail(BB_INVALID, "there is no attribute %zu in a schema of %zu", attribute,
                   bb_schema_count(schema));
}

static struct bb_literal literal_of(const struct bb_attribute *value)
{
    return (struct bb_literal){.kind = BB_LITERAL_VALUE, .value = *value};
}

enum bb_status bb_condition_parse(const struct bb_schema *schema, struct bb_bytes text,
                                  struct bb_condition **ret_condition)
{
    return bb_parser_parse(text, schema, ret_condition);
}

enum bb_status bb_condition_compare(const struct bb_schema *schema, size_t attribute,
                                    enum bb_comparison comparison,
                                    const struct bb_attribute *literal,
                                    struct bb_condition **ret_condition)
{
    enum bb_status status = check_attribute(schema, attribute);
    if (status != BB_OK)
        return status;
    if (comparison < BB_COMPARISON_EQUAL || comparison > BB_COMPARISON_GREATER_OR_EQUAL)
        return bb_fail(BB_INVALID, "there is no comparison of number %d", (int)comparison);
    struct bb_literal value = literal_of(literal);
    return bb_build_compare(schema, attribute, comparison, &value, ret_condition);
}

enum bb_status bb_condition_between(const struct bb_schema *schema, size_t attribute,
                                    const struct bb_attribute *low, const struct bb_attribute *high,
                                    struct bb_condition **ret_condition)
{
    enum bb_status status = check_attribute(schema, attribute);
    if (status != BB_OK)
        return status;
    struct bb_literal low_value = literal_of(low);
    struct bb_literal high_value = literal_of(high);
    return bb_build_between(schema, attribute, &low_value, &high_value, ret_condition);
}

enum bb_status bb_condition_in(const struct bb_schema *schema, size_t attribute,
                               const struct bb_attribute *literals, size_t count,
                               struct bb_condition **ret_condition)
{
    enum bb_status status = check_attribute(schema, attribute);
    if (status != BB_OK)
        return status;
    struct bb_literal *values = bb_alloc_zeroed(count == 0 ? 1 : count, sizeof(*values));
    if (values == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a list of %zu literals", count);
    for (size_t i = 0; i < count; i++)
        values[i] = literal_of(&literals[i]);
    status = bb_build_in(schema, attribute, values, count, ret_condition);
    bb_free(values);
    return status;
}

enum bb_status bb_condition_is_null(const struct bb_schema *schema, size_t attribute,
                                    struct bb_condition **ret_condition)
{
    enum bb_status status = check_attribute(schema, attribute);
    return status == BB_OK ? bb_build_is_null(schema, attribute, ret_condition) : status;
}

enum bb_status bb_condition_text(const struct bb_schema *schema, size_t attribute,
                                 enum bb_predicate predicate, const struct bb_bytes *operands,
                                 size_t count, struct bb_condition **ret_condition)
{
    enum bb_status status = check_attribute(schema, attribute);
    if (status != BB_OK)
        return status;
    return bb_build_text(schema, attribute, predicate, operands, count, ret_condition);
}

enum bb_status bb_condition_constant(enum bb_truth truth, struct bb_condition **ret_condition)
{
    if (truth < BB_TRUTH_FALSE || truth > BB_TRUTH_UNKNOWN)
        return bb_fail(BB_INVALID, "there is no truth of number %d", (int)truth);
    return bb_tree_constant(truth, ret_condition);
}

static enum bb_status join(enum bb_condition_kind kind, struct bb_condition *const *conditions,
                           size_t count, struct bb_condition **ret_condition)
{
    if (count == 0)
        return bb_fail(BB_INVALID, "AND and OR need at least one condition");
    return bb_tree_join(kind, conditions, count, ret_condition);
}

enum bb_status bb_condition_and(struct bb_condition *const *conditions, size_t count,
                                struct bb_condition **ret_condition)
{
    return join(BB_CONDITION_AND, conditions, count, ret_condition);
}

enum bb_status bb_condition_or(struct bb_condition *const *conditions, size_t count,
                               struct bb_condition **ret_condition)
{
    return join(BB_CONDITION_OR, conditions, count, ret_condition);
}

enum bb_status bb_condition_not(struct bb_condition *condition, struct bb_condition **ret_condition)
{
    return bb_tree_join(BB_CONDITION_NOT, &condition, 1, ret_condition);
}

enum bb_status bb_condition_print(const struct bb_condition *condition, struct bb_buf *buf)
{
    return bb_print(condition, buf);
}

bool bb_condition_uses(const struct bb_condition *condition, size_t attribute)
{
    if (condition->kind == BB_CONDITION_LEAF)
        return condition->leaf.kind != BB_LEAF_CONSTANT && condition->leaf.attribute == attribute;
    for (size_t i = 0; i < condition->child_count; i++)
        if (bb_condition_uses(condition->children[i], attribute))
            return true;
    return false;
}
