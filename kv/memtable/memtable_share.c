/* Estimates the share of keys below a key in a memtable: see memtable.h. It uses the path to the
 * key's leaf and assumes that the children of a node have equally many keys. */
#include "kv/memtable/memtable.h"
#include "kv/memtable/memtable_inner.h"
#include "kv/memtable/memtable_node.h"

/* The share of the leaf's keys that are below key. */
static double share_in_leaf(const struct bb_memtable *memtable, const struct bb_memtable_leaf *leaf,
                            struct bb_bytes key)
{
    uint32_t count = atomic_load_explicit(&leaf->count, memory_order_acquire);
    uint32_t below = 0;
    for (uint32_t slot = 0; slot < count; slot++) {
        /* The writer may just have published a newer version. */
        uint32_t record = atomic_load_explicit(&leaf->records[slot], memory_order_acquire);
        below += bb_memtable_compare(memtable, bb_memtable_key_at(memtable, record), key, 0) < 0;
    }
    return count == 0 ? 0 : (double)below / count;
}

double bb_memtable_share(const struct bb_memtable *memtable, struct bb_bytes key)
{
    struct bb_memtable_path path;
    uint32_t leaf = bb_memtable_inner_find_leaf(memtable, key, false, &path);
    double share = share_in_leaf(memtable, bb_memtable_leaf_at(memtable, leaf), key);
    for (unsigned level = path.height; level > 0; level--) {
        const struct bb_memtable_inner *inner =
            bb_memtable_inner_at(memtable, path.nodes[level - 1]);
        share = (path.children[level - 1] + share) / (inner->count + 1);
    }
    return share;
}
