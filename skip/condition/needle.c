/* See needle.h. Recursion is as deep as the tree: BB_CONDITION_DEPTH_MAX. */
#include "skip/condition/needle.h"

#include "skip/condition/tree.h"

static void keep_longer(struct bb_needle *longest, struct bb_bytes bytes)
{
    if (bytes.size > longest->bytes.size)
        longest->bytes = bytes;
}

/* Of a leaf that is true. */
static struct bb_needle needle_of_leaf(const struct bb_leaf *leaf, const struct bb_schema *schema)
{
    struct bb_needle needle = {.has_escape = false};
    if (leaf->kind == BB_LEAF_CONSTANT || leaf->type != BB_ATTRIBUTE_BYTES)
        return needle;
    enum bb_verbatim verbatim = bb_schema_verbatim(schema, leaf->attribute, &needle.escape);
    if (verbatim == BB_VERBATIM_NEVER)
        return needle;
    needle.has_escape = verbatim == BB_VERBATIM_UNESCAPED;
    if (leaf->kind == BB_LEAF_RANGES && leaf->is_points && leaf->interval_count == 1)
        keep_longer(&needle, leaf->intervals[0].low.value.as.bytes);
    for (size_t i = 0; i < leaf->group_count; i++) {
        const struct bb_piece_group *group = &leaf->groups[i];
        if (group->piece_count == 1 && !group->pieces[0].ignores_case)
            keep_longer(&needle, group->pieces[0].bytes);
    }
    return needle;
}

/* Of a condition that is true, or of one that is false: then AND and OR change places. No bytes
 * where nothing is known. */
static struct bb_needle find(const struct bb_condition *node, const struct bb_schema *schema,
                             bool is_false)
{
    struct bb_needle longest = {.has_escape = false};
    if (node->kind == BB_CONDITION_LEAF)
        return is_false ? longest : needle_of_leaf(&node->leaf, schema);
    if (node->kind == BB_CONDITION_NOT)
        return find(node->children[0], schema, !is_false);
    if (node->kind != (is_false ? BB_CONDITION_OR : BB_CONDITION_AND))
        return longest;
    for (size_t i = 0; i < node->child_count; i++) {
        struct bb_needle needle = find(node->children[i], schema, is_false);
        if (needle.bytes.size > longest.bytes.size)
            longest = needle;
    }
    return longest;
}

bool bb_condition_needle(const struct bb_condition *condition, const struct bb_schema *schema,
                         struct bb_needle *ret_needle)
{
    struct bb_needle needle = find(condition, schema, false);
    if (needle.bytes.size == 0)
        return false;
    *ret_needle = needle;
    return true;
}
