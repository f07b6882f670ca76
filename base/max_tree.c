/* See max_tree.h. */
#include "base/max_tree.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

#define LEAVES_FIRST 4

void bb_max_tree_deinit(struct bb_max_tree *tree)
{
    bb_free(tree->nodes);
    *tree = (struct bb_max_tree){0};
}

static uint32_t larger_of(const struct bb_max_tree *tree, size_t node)
{
    uint32_t left = tree->nodes[2 * node];
    uint32_t right = tree->nodes[2 * node + 1];
    return left > right ? left : right;
}

static void rebuild(struct bb_max_tree *tree)
{
    for (size_t node = tree->leaves - 1; node > 0; node--)
        tree->nodes[node] = larger_of(tree, node);
}

bool bb_max_tree_reserve(struct bb_max_tree *tree, size_t count)
{
    size_t leaves = tree->leaves == 0 ? LEAVES_FIRST : tree->leaves;
    if (count <= tree->leaves)
        return true;
    while (leaves < count)
        leaves *= 2;
    uint32_t *nodes = bb_alloc_zeroed(2 * leaves, sizeof(*nodes));
    if (nodes == NULL)
        return false;
    if (tree->leaves > 0)
        memcpy(nodes + leaves, tree->nodes + tree->leaves, tree->leaves * sizeof(*nodes));
    bb_free(tree->nodes);
    *tree = (struct bb_max_tree){.nodes = nodes, .leaves = leaves};
    rebuild(tree);
    return true;
}

void bb_max_tree_set(struct bb_max_tree *tree, size_t at, uint32_t value)
{
    BB_DEBUG_ASSERT(at < tree->leaves);
    size_t node = tree->leaves + at;
    tree->nodes[node] = value;
    for (node /= 2; node > 0; node /= 2) {
        uint32_t larger = larger_of(tree, node);
        if (tree->nodes[node] == larger)
            return;
        tree->nodes[node] = larger;
    }
}

void bb_max_tree_insert(struct bb_max_tree *tree, size_t at, uint32_t value)
{
    BB_DEBUG_ASSERT(at < tree->leaves);
    uint32_t *values = tree->nodes + tree->leaves;
    memmove(values + at + 1, values + at, (tree->leaves - at - 1) * sizeof(*values));
    values[at] = value;
    rebuild(tree);
}

void bb_max_tree_remove(struct bb_max_tree *tree, size_t at)
{
    BB_DEBUG_ASSERT(at < tree->leaves);
    uint32_t *values = tree->nodes + tree->leaves;
    memmove(values + at, values + at + 1, (tree->leaves - at - 1) * sizeof(*values));
    values[tree->leaves - 1] = 0;
    rebuild(tree);
}

size_t bb_max_tree_find(const struct bb_max_tree *tree, uint32_t bound)
{
    size_t node = 1;
    if (bb_max_tree_largest(tree) <= bound)
        return SIZE_MAX;
    while (node < tree->leaves)
        node = 2 * node + (tree->nodes[2 * node] <= bound);
    return node - tree->leaves;
}
