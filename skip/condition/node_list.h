/* Collects conditions that become the children of one condition. */
#ifndef BB_SKIP_CONDITION_NODE_LIST_H
#define BB_SKIP_CONDITION_NODE_LIST_H

#include "skip/condition/tree.h"

/* A zeroed struct is a valid empty list. */
struct bb_node_list {
    struct bb_condition **nodes;
    size_t count;
    size_t capacity;
};

/* Takes ownership of the condition. BB_NO_MEMORY: the condition is destroyed. */
BB_MUST_CHECK enum bb_status bb_node_list_add(struct bb_node_list *list,
                                              struct bb_condition *condition);
/* Joins all conditions into one; the list is then empty. On failure the list is unchanged. */
BB_MUST_CHECK enum bb_status bb_node_list_join(struct bb_node_list *list,
                                               enum bb_condition_kind kind,
                                               struct bb_condition **ret_condition);
/* Destroys the conditions that are still in the list. */
void bb_node_list_deinit(struct bb_node_list *list);

#endif
