/* Conditions that are gathered to become the children of one. */
#ifndef BB_SKIP_CONDITION_NODE_LIST_H
#define BB_SKIP_CONDITION_NODE_LIST_H

#include "skip/condition/tree.h"

/* A zeroed struct is a valid empty list. */
struct bb_node_list {
    struct bb_condition **nodes;
    size_t count;
    size_t capacity;
};

/* Owns the condition from then on; destroys it when there is no memory for it. */
BB_MUST_CHECK enum bb_status bb_node_list_add(struct bb_node_list *list,
                                              struct bb_condition *condition);
/* Makes one condition of all of them, and leaves an empty list; on failure they remain. */
BB_MUST_CHECK enum bb_status bb_node_list_join(struct bb_node_list *list,
                                               enum bb_condition_kind kind,
                                               struct bb_condition **ret_condition);
/* Destroys the nodes that are still in it. */
void bb_node_list_deinit(struct bb_node_list *list);

#endif
