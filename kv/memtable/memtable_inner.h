/* Inner nodes of the memtable: sorted separators, which never change, and their children.
 *
 * The index of a key's child is the number of separators at or below the key. They are counted over
 * the prefixes without branches. Where prefixes equal the key's, full keys decide, by bisection.
 *
 * Fences show the shared prefix of all keys below a node, but the nodes at both edges of the tree
 * lack one fence. There the separators' shared prefix is skipped instead, if that helps. A key may
 * then differ within it, so that part is checked first (must_check). Otherwise keys with a long
 * shared prefix would be compared in full at the root, each time.
 *
 * A node that gets one more separator is copied. The copy is published in its parent, or as the
 * root. A full one is split into two, and its parent gets one more separator.
 *
 * Threads: the find functions any, concurrently with the writer; the rest is the writer's.
 */
#ifndef BB_KV_MEMTABLE_MEMTABLE_INNER_H
#define BB_KV_MEMTABLE_MEMTABLE_INNER_H

#include "kv/memtable/memtable_node.h"
#include "kv/memtable/memtable_path.h"

/* The leaf whose range includes key; with below, the leaf with the keys directly below it. path may
 * be NULL. */
uint32_t bb_memtable_inner_find_leaf(const struct bb_memtable *memtable, struct bb_bytes key,
                                     bool below, struct bb_memtable_path *path);
/* One level of that search: the child, or leaf, of an inner node. For callers with other work to do
 * while it comes from memory. */
uint32_t bb_memtable_inner_descend(const struct bb_memtable *memtable, uint32_t node,
                                   struct bb_bytes key);
/* The first or last leaf. */
uint32_t bb_memtable_inner_edge_leaf(const struct bb_memtable *memtable, bool last);

/* Replaces the leaf at the end of the path by two nodes, divided by a separator, and publishes
 * them. at_end: keys arrive in ascending order, so the left part of a split node stays full. */
void bb_memtable_inner_replace_leaf(struct bb_memtable *memtable,
                                    const struct bb_memtable_path *path, uint32_t left,
                                    uint32_t separator, uint32_t right, bool at_end);

#endif
