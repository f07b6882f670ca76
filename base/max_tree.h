/* The maximum of an array of numbers, and the first number above a bound, without a scan:
 *
 *     nodes[1]                9
 *     nodes[2 ... 3]      5       9          a node is the larger of its two children
 *     nodes[4 ... 7]    2   5   9   4        values, in order; the rest is 0
 *
 * A change and a search take time logarithmic in the number of values. Inserting or removing in the
 * middle also moves the values after it. Threads: not synchronized. */
#ifndef BB_BASE_MAX_TREE_H
#define BB_BASE_MAX_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A zeroed one is empty. */
struct bb_max_tree {
    uint32_t *nodes; /* owned */
    size_t leaves;   /* a power of two, or 0 */
};

void bb_max_tree_deinit(struct bb_max_tree *tree);
/* Reserves space for this many values; false: no memory, no change. */
bool bb_max_tree_reserve(struct bb_max_tree *tree, size_t count)
    __attribute__((warn_unused_result));
/* REQUIRES for these three: space for one more than `at`. */
void bb_max_tree_set(struct bb_max_tree *tree, size_t at, uint32_t value);
/* Inserts before the value at `at`; the last place must be free. */
void bb_max_tree_insert(struct bb_max_tree *tree, size_t at, uint32_t value);
void bb_max_tree_remove(struct bb_max_tree *tree, size_t at);

/* 0 if it is empty. */
static inline uint32_t bb_max_tree_largest(const struct bb_max_tree *tree)
{
    return tree->leaves == 0 ? 0 : tree->nodes[1];
}

/* The first value above the bound; SIZE_MAX: no such value. */
size_t bb_max_tree_find(const struct bb_max_tree *tree, uint32_t bound);

#endif
