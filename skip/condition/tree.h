/* The tree of a condition: AND, OR and NOT over leaves.
 *
 * A condition is a node with its children; each child is a condition too. A condition owns its
 * parts. It does not change after it was made, so any number of threads may read one.
 */
#ifndef BB_SKIP_CONDITION_TREE_H
#define BB_SKIP_CONDITION_TREE_H

#include "bb/condition.h"
#include "skip/condition/leaf.h"
#include "skip/condition/text.h"

enum bb_condition_kind {
    BB_CONDITION_LEAF, /* leaf; no children */
    BB_CONDITION_AND,  /* at least 2 children */
    BB_CONDITION_OR,   /* at least 2 children */
    BB_CONDITION_NOT,  /* 1 child */
};

struct bb_condition {
    enum bb_condition_kind kind;
    struct bb_leaf leaf;
    struct bb_condition **children;
    size_t child_count;
    size_t depth;                  /* levels, 1 for a leaf; at most BB_CONDITION_DEPTH_MAX */
    char *name;                    /* LEAF: the attribute's; NULL for a constant */
    struct bb_interval *intervals; /* LEAF: the target of leaf.intervals */
    uint8_t *bytes;                /* LEAF: the bytes that the intervals' values point to */
    struct bb_text *text;          /* LEAF: of kind TEXT */
};

/* The attribute of a leaf. The name is borrowed. */
struct bb_leaf_attribute {
    size_t number; /* in the schema */
    const char *name;
    enum bb_attribute_type type;
};

/* A leaf of kind INTERVALS. Intervals and their bytes are copied. */
BB_MUST_CHECK enum bb_status bb_tree_ranges(const struct bb_leaf_attribute *attribute,
                                            const struct bb_interval *intervals, size_t count,
                                            struct bb_condition **ret_leaf);
/* A leaf of kind TEXT. Takes the text, whether it succeeds or not. */
BB_MUST_CHECK enum bb_status bb_tree_text(const struct bb_leaf_attribute *attribute,
                                          struct bb_text *text, struct bb_condition **ret_leaf);
BB_MUST_CHECK enum bb_status bb_tree_nulls(const struct bb_leaf_attribute *attribute,
                                           struct bb_condition **ret_leaf);
BB_MUST_CHECK enum bb_status bb_tree_constant(enum bb_truth truth, struct bb_condition **ret_leaf);

/* AND, OR or NOT over children, which it owns from then on; the array is copied. One child of AND
 * or OR is the condition itself. On failure the children remain the caller's. BB_TOO_LARGE for more
 * than BB_CONDITION_DEPTH_MAX levels. */
BB_MUST_CHECK enum bb_status bb_tree_join(enum bb_condition_kind kind,
                                          struct bb_condition *const *children, size_t count,
                                          struct bb_condition **ret_condition);

#endif
