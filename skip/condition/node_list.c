/* See node_list.h. */
#include "skip/condition/node_list.h"

#include "base/alloc.h"
#include "base/array.h"

enum bb_status bb_node_list_add(struct bb_node_list *list, struct bb_condition *condition)
{
    enum bb_status status = bb_array_reserve(&list->nodes, list->count, &list->capacity,
                                             sizeof(*list->nodes), "parts of a condition");
    if (status == BB_OK)
        list->nodes[list->count++] = condition;
    else
        bb_condition_destroy(condition);
    return status;
}

enum bb_status bb_node_list_join(struct bb_node_list *list, enum bb_condition_kind kind,
                                 struct bb_condition **ret_condition)
{
    enum bb_status status = bb_tree_join(kind, list->nodes, list->count, ret_condition);
    if (status == BB_OK)
        list->count = 0;
    return status;
}

void bb_node_list_deinit(struct bb_node_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        bb_condition_destroy(list->nodes[i]);
    bb_free(list->nodes);
    *list = (struct bb_node_list){0};
}
