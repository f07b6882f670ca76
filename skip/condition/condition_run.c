/* Evaluates a condition for one record: struct bb_condition_run of bb/condition.h.
 *
 * Recursion is as deep as the tree: BB_CONDITION_DEPTH_MAX. */
#include "base/alloc.h"
#include "base/status.h"
#include "skip/condition/intervals.h"
#include "skip/condition/tree.h"

struct bb_condition_run {
    const struct bb_condition *condition;
    struct bb_regex_run *regex; /* NULL: the condition has no regular expression */
};

static bool has_regex(const struct bb_condition *condition)
{
    if (condition->kind == BB_CONDITION_LEAF)
        return condition->text != NULL && condition->text->kind == BB_TEXT_REGEX;
    for (size_t i = 0; i < condition->child_count; i++)
        if (has_regex(condition->children[i]))
            return true;
    return false;
}

enum bb_status bb_condition_run_create(const struct bb_condition *condition,
                                       struct bb_condition_run **ret_run)
{
    struct bb_condition_run *run = bb_alloc_zeroed(1, sizeof(*run));
    if (run == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory to test records with a condition");
    run->condition = condition;
    enum bb_status status = has_regex(condition) ? bb_regex_run_create(&run->regex) : BB_OK;
    if (status != BB_OK) {
        bb_free(run);
        return status;
    }
    *ret_run = run;
    return BB_OK;
}

void bb_condition_run_destroy(struct bb_condition_run *run)
{
    if (run == NULL)
        return;
    bb_regex_run_destroy(run->regex);
    bb_free(run);
}

static enum bb_truth truth_of(bool is_true)
{
    return is_true ? BB_TRUTH_TRUE : BB_TRUTH_FALSE;
}

static enum bb_truth constant_of(const struct bb_leaf *leaf)
{
    return leaf->may_be_null ? BB_TRUTH_UNKNOWN : truth_of(leaf->may_be_true);
}

static enum bb_status fail_type(const struct bb_condition *node, enum bb_attribute_type found)
{
    const char *name = bb_attribute_type_name(found);
    return bb_fail(BB_INVALID, "attribute \"%s\" is of type %s; the condition expects %s",
                   node->name, name == NULL ? "unknown" : name,
                   bb_attribute_type_name(node->leaf.type));
}

static enum bb_status test_leaf(const struct bb_condition_run *run, const struct bb_condition *node,
                                const struct bb_attribute *attributes, enum bb_truth *ret_truth)
{
    const struct bb_leaf *leaf = &node->leaf;
    if (leaf->kind == BB_LEAF_CONSTANT) {
        *ret_truth = constant_of(leaf);
        return BB_OK;
    }
    const struct bb_attribute *attribute = &attributes[leaf->attribute];
    bool is_null = attribute->state != BB_ATTRIBUTE_PRESENT;
    if (is_null || leaf->kind == BB_LEAF_NULLS) {
        *ret_truth = leaf->kind == BB_LEAF_NULLS ? truth_of(is_null) : BB_TRUTH_UNKNOWN;
        return BB_OK;
    }
    if (attribute->type != leaf->type)
        return fail_type(node, attribute->type);
    bool is_match = false;
    if (leaf->kind == BB_LEAF_INTERVALS)
        is_match = bb_intervals_contain(leaf->intervals, leaf->interval_count, attribute);
    else {
        enum bb_status status =
            bb_text_match(node->text, run->regex, attribute->as.bytes, &is_match);
        if (status != BB_OK)
            return bb_fail_context(status, "attribute \"%s\"", node->name);
    }
    *ret_truth = truth_of(is_match);
    return BB_OK;
}

static enum bb_status test(const struct bb_condition_run *run, const struct bb_condition *node,
                           const struct bb_attribute *attributes, enum bb_truth *ret_truth);

/* AND is false if a child is false, OR is true if a child is true. Otherwise both are unknown if a
 * child is unknown. */
static enum bb_status test_list(const struct bb_condition_run *run, const struct bb_condition *node,
                                const struct bb_attribute *attributes, enum bb_truth *ret_truth)
{
    enum bb_truth decided = truth_of(node->kind == BB_CONDITION_OR);
    enum bb_truth truth = truth_of(node->kind == BB_CONDITION_AND);
    for (size_t i = 0; i < node->child_count && truth != decided; i++) {
        enum bb_truth child = BB_TRUTH_UNKNOWN;
        enum bb_status status = test(run, node->children[i], attributes, &child);
        if (status != BB_OK)
            return status;
        if (child == decided || child == BB_TRUTH_UNKNOWN)
            truth = child;
    }
    *ret_truth = truth;
    return BB_OK;
}

static enum bb_status test(const struct bb_condition_run *run, const struct bb_condition *node,
                           const struct bb_attribute *attributes, enum bb_truth *ret_truth)
{
    if (node->kind == BB_CONDITION_LEAF)
        return test_leaf(run, node, attributes, ret_truth);
    if (node->kind != BB_CONDITION_NOT)
        return test_list(run, node, attributes, ret_truth);
    enum bb_truth child = BB_TRUTH_UNKNOWN;
    enum bb_status status = test(run, node->children[0], attributes, &child);
    if (status != BB_OK)
        return status;
    *ret_truth = child == BB_TRUTH_UNKNOWN ? child : truth_of(child == BB_TRUTH_FALSE);
    return BB_OK;
}

enum bb_status bb_condition_test(struct bb_condition_run *run,
                                 const struct bb_attribute *attributes, enum bb_truth *ret_truth)
{
    return test(run, run->condition, attributes, ret_truth);
}
