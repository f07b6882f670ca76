/* See node_list.h. */
#include "skip/condition/node_list.h"

#include "base/alloc.h"
#include "base/status.h"

#define CAPACITY_MIN 4

enum bb_status bb_node_list_add(struct bb_node_list *list, struct bb_condition *condition)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? CAPACITY_MIN : list->capacity * 2;
        struct bb_condition **nodes = bb_realloc(list->nodes, capacity * sizeof(*nodes));
        if (nodes == NULL) {
            bb_condition_destroy(condition);
            return bb_fail(BB_NO_MEMORY, "no memory for %zu parts of a condition", capacity);
        }
        list->nodes = nodes;
        list->capacity = capacity;
    }
    list->nodes[list->count++] = condition;
    return BB_OK;
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
