/* See tree.h. */
#include "skip/condition/tree.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "skip/condition/intervals.h"

void bb_condition_destroy(struct bb_condition *condition)
{
    if (condition == NULL)
        return;
    for (size_t i = 0; i < condition->child_count; i++)
        bb_condition_destroy(condition->children[i]);
    bb_free(condition->children);
    bb_free(condition->name);
    bb_free(condition->intervals);
    bb_free(condition->bytes);
    bb_text_destroy(condition->text);
    bb_free(condition);
}

static enum bb_status fail_memory(void)
{
    return bb_fail(BB_NO_MEMORY, "no memory for a condition");
}

static enum bb_status create_leaf(enum bb_leaf_kind kind, const struct bb_leaf_attribute *attribute,
                                  struct bb_condition **ret_leaf)
{
    struct bb_condition *leaf = bb_alloc_zeroed(1, sizeof(*leaf));
    if (leaf == NULL)
        return fail_memory();
    leaf->kind = BB_CONDITION_LEAF;
    leaf->depth = 1;
    leaf->leaf.kind = kind;
    if (attribute != NULL) {
        leaf->leaf.attribute = attribute->number;
        leaf->leaf.type = attribute->type;
        leaf->name = bb_strdup(attribute->name);
        if (leaf->name == NULL) {
            bb_condition_destroy(leaf);
            return fail_memory();
        }
    }
    *ret_leaf = leaf;
    return BB_OK;
}

static size_t bytes_of_bound(const struct bb_bound *bound)
{
    bool has_bytes = !bound->is_open && bound->value.type == BB_ATTRIBUTE_BYTES;
    return has_bytes ? bound->value.as.bytes.size : 0;
}

static uint8_t *move_bytes(struct bb_bound *bound, uint8_t *to)
{
    size_t size = bytes_of_bound(bound);
    if (size == 0)
        return to;
    memcpy(to, bound->value.as.bytes.data, size);
    bound->value.as.bytes.data = to;
    return to + size;
}

/* Low and high of a single value share their bytes. */
static uint8_t *move_interval(struct bb_interval *interval, bool is_point, uint8_t *to)
{
    to = move_bytes(&interval->low, to);
    if (!is_point)
        return move_bytes(&interval->high, to);
    interval->high = interval->low;
    return to;
}

static enum bb_status copy_intervals(struct bb_condition *leaf, const struct bb_interval *intervals,
                                     size_t count, bool is_points)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size += bytes_of_bound(&intervals[i].low);
        size += is_points ? 0 : bytes_of_bound(&intervals[i].high);
    }
    leaf->intervals = bb_alloc_zeroed(count == 0 ? 1 : count, sizeof(*intervals));
    leaf->bytes = bb_alloc(size);
    if (leaf->intervals == NULL || leaf->bytes == NULL)
        return fail_memory();
    uint8_t *to = leaf->bytes;
    for (size_t i = 0; i < count; i++) {
        leaf->intervals[i] = intervals[i];
        to = move_interval(&leaf->intervals[i], is_points, to);
    }
    return BB_OK;
}

static bool are_points(const struct bb_interval *intervals, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!bb_intervals_is_point(&intervals[i]))
            return false;
    return true;
}

enum bb_status bb_tree_ranges(const struct bb_leaf_attribute *attribute,
                              const struct bb_interval *intervals, size_t count,
                              struct bb_condition **ret_leaf)
{
    struct bb_condition *leaf = NULL;
    enum bb_status status = create_leaf(BB_LEAF_INTERVALS, attribute, &leaf);
    if (status != BB_OK)
        return status;
    bool is_points = are_points(intervals, count);
    status = copy_intervals(leaf, intervals, count, is_points);
    if (status != BB_OK) {
        bb_condition_destroy(leaf);
        return status;
    }
    leaf->leaf.intervals = leaf->intervals;
    leaf->leaf.interval_count = count;
    leaf->leaf.is_points = is_points;
    *ret_leaf = leaf;
    return BB_OK;
}

enum bb_status bb_tree_text(const struct bb_leaf_attribute *attribute, struct bb_text *text,
                            struct bb_condition **ret_leaf)
{
    struct bb_condition *leaf = NULL;
    enum bb_status status = create_leaf(BB_LEAF_TEXT, attribute, &leaf);
    if (status != BB_OK) {
        bb_text_destroy(text);
        return status;
    }
    leaf->text = text;
    leaf->leaf.groups = text->groups;
    leaf->leaf.group_count = text->group_count;
    leaf->leaf.word_groups = text->word_groups;
    leaf->leaf.word_group_count = text->word_group_count;
    leaf->leaf.words_are_folded = text->folds_case;
    leaf->leaf.cover = text->has_cover ? &text->cover : NULL;
    leaf->leaf.is_cover_exact = text->is_cover_exact;
    *ret_leaf = leaf;
    return BB_OK;
}

enum bb_status bb_tree_nulls(const struct bb_leaf_attribute *attribute,
                             struct bb_condition **ret_leaf)
{
    return create_leaf(BB_LEAF_NULLS, attribute, ret_leaf);
}

enum bb_status bb_tree_constant(enum bb_truth truth, struct bb_condition **ret_leaf)
{
    struct bb_condition *leaf = NULL;
    enum bb_status status = create_leaf(BB_LEAF_CONSTANT, NULL, &leaf);
    if (status != BB_OK)
        return status;
    leaf->leaf.may_be_true = truth == BB_TRUTH_TRUE;
    leaf->leaf.may_be_false = truth == BB_TRUTH_FALSE;
    leaf->leaf.may_be_null = truth == BB_TRUTH_UNKNOWN;
    *ret_leaf = leaf;
    return BB_OK;
}

static size_t depth_of(struct bb_condition *const *children, size_t count)
{
    size_t depth = 0;
    for (size_t i = 0; i < count; i++)
        if (children[i]->depth > depth)
            depth = children[i]->depth;
    return depth + 1;
}

static enum bb_status create_node(enum bb_condition_kind kind, struct bb_condition *const *children,
                                  size_t count, struct bb_condition **ret_node)
{
    struct bb_condition *node = bb_alloc_zeroed(1, sizeof(*node));
    struct bb_condition **copy = bb_alloc_zeroed(count, sizeof(*copy));
    if (node == NULL || copy == NULL) {
        bb_free(node);
        bb_free(copy);
        return fail_memory();
    }
    memcpy(copy, children, count * sizeof(*copy));
    node->kind = kind;
    node->children = copy;
    node->child_count = count;
    node->depth = depth_of(children, count);
    *ret_node = node;
    return BB_OK;
}

enum bb_status bb_tree_join(enum bb_condition_kind kind, struct bb_condition *const *children,
                            size_t count, struct bb_condition **ret_condition)
{
    BB_ASSERT(kind != BB_CONDITION_LEAF && count > 0);
    if (count == 1 && kind != BB_CONDITION_NOT) {
        *ret_condition = children[0];
        return BB_OK;
    }
    if (depth_of(children, count) > BB_CONDITION_DEPTH_MAX)
        return bb_fail(BB_TOO_LARGE, "a condition of more than %d levels of AND, OR and NOT",
                       BB_CONDITION_DEPTH_MAX);
    return create_node(kind, children, count, ret_condition);
}
