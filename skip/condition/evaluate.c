/* See evaluate.h. Recursion is as deep as the tree: BB_CONDITION_DEPTH_MAX. */
#include "skip/condition/evaluate.h"

#include "base/status.h"
#include "skip/condition/ranges.h"

static enum bb_truth truth_of(bool is_true)
{
    return is_true ? BB_TRUTH_TRUE : BB_TRUTH_FALSE;
}

static enum bb_truth evaluate_constant(const struct bb_leaf *leaf)
{
    if (leaf->may_be_null)
        return BB_TRUTH_UNKNOWN;
    return truth_of(leaf->may_be_true);
}

static enum bb_status evaluate_leaf(const struct bb_condition *node,
                                    const struct bb_attribute *attributes, enum bb_truth *ret_truth)
{
    const struct bb_leaf *leaf = &node->leaf;
    if (leaf->kind == BB_LEAF_CONSTANT) {
        *ret_truth = evaluate_constant(leaf);
        return BB_OK;
    }
    const struct bb_attribute *attribute = &attributes[leaf->attribute];
    bool is_null = attribute->state != BB_ATTRIBUTE_PRESENT;
    if (leaf->kind == BB_LEAF_NULLS) {
        *ret_truth = truth_of(is_null);
        return BB_OK;
    }
    if (is_null) {
        *ret_truth = BB_TRUTH_UNKNOWN;
        return BB_OK;
    }
    if (attribute->type != leaf->type)
        return bb_fail(BB_INVALID, "attribute \"%s\" is of type %d; the condition expects %s",
                       node->name, (int)attribute->type, bb_attribute_type_name(leaf->type));
    *ret_truth = truth_of(bb_ranges_contain(leaf->intervals, leaf->interval_count, attribute));
    return BB_OK;
}

/* AND is false when a child is; OR is true when a child is; else unknown when a child is. */
static enum bb_status evaluate_list(const struct bb_condition *node,
                                    const struct bb_attribute *attributes, enum bb_truth *ret_truth)
{
    enum bb_truth decided = truth_of(node->kind == BB_CONDITION_OR);
    enum bb_truth truth = truth_of(node->kind == BB_CONDITION_AND);
    for (size_t i = 0; i < node->child_count; i++) {
        enum bb_truth child = BB_TRUTH_UNKNOWN;
        enum bb_status status = bb_evaluate(node->children[i], attributes, &child);
        if (status != BB_OK)
            return status;
        if (child == decided) {
            truth = decided;
            break;
        }
        if (child == BB_TRUTH_UNKNOWN)
            truth = BB_TRUTH_UNKNOWN;
    }
    *ret_truth = truth;
    return BB_OK;
}

enum bb_status bb_evaluate(const struct bb_condition *condition,
                           const struct bb_attribute *attributes, enum bb_truth *ret_truth)
{
    if (condition->kind == BB_CONDITION_LEAF)
        return evaluate_leaf(condition, attributes, ret_truth);
    if (condition->kind != BB_CONDITION_NOT)
        return evaluate_list(condition, attributes, ret_truth);
    enum bb_truth child = BB_TRUTH_UNKNOWN;
    enum bb_status status = bb_evaluate(condition->children[0], attributes, &child);
    if (status != BB_OK)
        return status;
    *ret_truth = child == BB_TRUTH_UNKNOWN ? child : truth_of(child == BB_TRUTH_FALSE);
    return BB_OK;
}
