/* The largest of an array of numbers, and the first above a bound, without looking at all of them:
 *
 *     nodes[1]                9
 *     nodes[2 ... 3]      5       9          a node is the larger of the two below it
 *     nodes[4 ... 7]    2   5   9   4        values, in order; behind the last one 0
 *
 * A change and a search take the logarithm of their number; values that come in or go in the middle,
 * as much as moving those behind them.
 * Threads: none of its own.
 */
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
/* Room for so many values, as there are places for them; false: no memory, and nothing changed. */
bool bb_max_tree_reserve(struct bb_max_tree *tree, size_t count)
    __attribute__((warn_unused_result));
/* REQUIRES of these three: room for one more than `at`. */
void bb_max_tree_set(struct bb_max_tree *tree, size_t at, uint32_t value);
/* Between the values before `at` and those from there on; the last place must be free. */
void bb_max_tree_insert(struct bb_max_tree *tree, size_t at, uint32_t value);
void bb_max_tree_remove(struct bb_max_tree *tree, size_t at);

/* 0 when it is empty. */
static inline uint32_t bb_max_tree_largest(const struct bb_max_tree *tree)
{
    return tree->leaves == 0 ? 0 : tree->nodes[1];
}

/* The first value above the bound; SIZE_MAX: there is none. */
size_t bb_max_tree_find(const struct bb_max_tree *tree, uint32_t bound);

#endif
