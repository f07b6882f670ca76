/* See memtable_inner.h. */
#include "kv/memtable/memtable_inner.h"

#include <string.h>

#include "base/assert.h"

/* Prefixes that are counted together. */
#define GROUP 8

_Static_assert(BB_MEMTABLE_SEPARATORS % GROUP == GROUP - 1, "the last group lacks one prefix");

/* The number of separators at or below the key (with `below`: below the key), counting from 0.
 * REQUIRES: the separators before `from` are, and the prefixes in [from, to) equal the key's. */
static unsigned count_ties(const struct bb_memtable *memtable,
                           const struct bb_memtable_inner *inner, unsigned from, unsigned to,
                           struct bb_bytes key, bool below)
{
    BB_DEBUG_ASSERT(from <= to && to <= inner->count);
    while (from < to) {
        unsigned middle = (from + to) / 2;
        struct bb_bytes separator = bb_memtable_key_at(memtable, inner->separators[middle]);
        int order = bb_memtable_compare(memtable, separator, key, inner->skip);
        if (order < 0 || (order == 0 && !below))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* < 0, 0, > 0: compares the key's first bytes with the shared prefix of all separators. */
static int check_head(const struct bb_memtable *memtable, const struct bb_memtable_inner *inner,
                      struct bb_bytes key)
{
    struct bb_bytes head = bb_memtable_key_at(memtable, inner->separators[0]);
    size_t common = key.size < inner->skip ? key.size : inner->skip;
    int order = common == 0 ? 0 : memcmp(key.data, head.data, common);
    return order == 0 && key.size < inner->skip ? -1 : order;
}

/* The number of prefixes below `prefix`. Of four groups it finds the one, and counts there. WHY all
 * compare without a branch: the processor cannot guess them, and a wrong guess costs more than all
 * comparisons. */
static inline unsigned count_smaller(const uint64_t prefixes[BB_MEMTABLE_SEPARATORS],
                                     uint64_t prefix)
{
    unsigned groups = 0;
    for (unsigned i = GROUP - 1; i < BB_MEMTABLE_SEPARATORS; i += GROUP)
        groups += prefixes[i] < prefix;
    unsigned smaller = groups * GROUP;
    const uint64_t *group = prefixes + smaller;
    for (unsigned i = 0; i < GROUP - 1; i++)
        smaller += group[i] < prefix;
    return smaller;
}

static unsigned find_child(const struct bb_memtable *memtable,
                           const struct bb_memtable_inner *inner, struct bb_bytes key, bool below)
{
    unsigned count = inner->count;
    if (inner->must_check) {
        int order = check_head(memtable, inner, key);
        if (order != 0)
            return order < 0 ? 0 : count;
    }
    uint64_t prefix = bb_memtable_prefix(memtable, key, inner->skip);
    unsigned smaller = count_smaller(inner->prefixes, prefix);
    if (smaller == count || inner->prefixes[smaller] != prefix)
        return smaller;
    unsigned end = smaller + 1;
    while (end < count && inner->prefixes[end] == prefix)
        end++;
    return count_ties(memtable, inner, smaller, end, key, below);
}

static uint32_t child_at(const struct bb_memtable_inner *inner, unsigned child)
{
    return atomic_load_explicit(&inner->children[child], memory_order_acquire);
}

/* Prefetches all lines of a node, because the first line determines which others are needed, one
 * cache miss later. This saves a fifth of an insert. */
static void prefetch(const struct bb_memtable *memtable, uint32_t node)
{
    const uint8_t *lines = bb_memtable_at(memtable, node);
    for (unsigned offset = 0; offset < BB_MEMTABLE_NODE_SIZE; offset += 64)
        __builtin_prefetch(lines + offset);
}

uint32_t bb_memtable_inner_find_leaf(const struct bb_memtable *memtable, struct bb_bytes key,
                                     bool below, struct bb_memtable_path *path)
{
    uint64_t root = atomic_load_explicit(&memtable->root, memory_order_acquire);
    unsigned height = bb_memtable_root_height(root);
    uint32_t node = (uint32_t)root;
    for (unsigned level = 0; level < height; level++) {
        const struct bb_memtable_inner *inner = bb_memtable_inner_at(memtable, node);
        unsigned child = find_child(memtable, inner, key, below);
        if (path != NULL) {
            path->nodes[level] = node;
            path->children[level] = (uint8_t)child;
        }
        node = child_at(inner, child);
        prefetch(memtable, node);
    }
    if (path != NULL) {
        path->height = height;
        path->leaf = node;
    }
    return node;
}

uint32_t bb_memtable_inner_descend(const struct bb_memtable *memtable, uint32_t node,
                                   struct bb_bytes key)
{
    const struct bb_memtable_inner *inner = bb_memtable_inner_at(memtable, node);
    uint32_t child = child_at(inner, find_child(memtable, inner, key, false));
    prefetch(memtable, child);
    return child;
}

uint32_t bb_memtable_inner_edge_leaf(const struct bb_memtable *memtable, bool last)
{
    uint64_t root = atomic_load_explicit(&memtable->root, memory_order_acquire);
    uint32_t node = (uint32_t)root;
    for (unsigned level = bb_memtable_root_height(root); level > 0; level--) {
        const struct bb_memtable_inner *inner = bb_memtable_inner_at(memtable, node);
        node = child_at(inner, last ? inner->count : 0);
    }
    return node;
}

/* An inner node under construction, with space for one separator more than a node. */
struct branch {
    unsigned count; /* separators */
    bool must_check;
    uint32_t skip;
    uint32_t low;
    uint32_t high;
    uint64_t prefixes[BB_MEMTABLE_SEPARATORS + 1];
    uint32_t separators[BB_MEMTABLE_SEPARATORS + 1];
    uint32_t children[BB_MEMTABLE_CHILDREN + 1];
};

static bool has_ties(const struct branch *branch)
{
    for (unsigned i = 1; i < branch->count; i++) {
        if (branch->prefixes[i] == branch->prefixes[i - 1])
            return true;
    }
    return false;
}

static void compute_prefixes(const struct bb_memtable *memtable, struct branch *branch)
{
    for (unsigned i = 0; i < branch->count; i++) {
        struct bb_bytes key = bb_memtable_key_at(memtable, branch->separators[i]);
        branch->prefixes[i] = bb_memtable_prefix(memtable, key, branch->skip);
    }
}

/* The length of the shared prefix of all separators, which are sorted. */
static uint32_t shared_head(const struct bb_memtable *memtable, const struct branch *branch)
{
    if (!memtable->is_bytewise || branch->count < 2)
        return 0;
    return (uint32_t)bb_bytes_shared_prefix(
        bb_memtable_key_at(memtable, branch->separators[0]),
        bb_memtable_key_at(memtable, branch->separators[branch->count - 1]));
}

static void skip_shared_head(const struct bb_memtable *memtable, struct branch *branch)
{
    if (!has_ties(branch))
        return;
    uint32_t shared = shared_head(memtable, branch);
    if (shared <= branch->skip)
        return;
    branch->skip = shared;
    branch->must_check = true;
    compute_prefixes(memtable, branch);
}

/* Computes skip and all prefixes. */
static void settle(const struct bb_memtable *memtable, struct branch *branch)
{
    branch->must_check = false;
    branch->skip = bb_memtable_fence_skip(memtable, branch->low, branch->high);
    compute_prefixes(memtable, branch);
    skip_shared_head(memtable, branch);
}

static void load(const struct bb_memtable_inner *inner, struct branch *branch)
{
    branch->count = inner->count;
    branch->must_check = inner->must_check;
    branch->skip = inner->skip;
    branch->low = inner->low;
    branch->high = inner->high;
    memcpy(branch->prefixes, inner->prefixes, inner->count * sizeof(inner->prefixes[0]));
    memcpy(branch->separators, inner->separators, inner->count * sizeof(inner->separators[0]));
    for (unsigned i = 0; i <= inner->count; i++)
        branch->children[i] = atomic_load_explicit(&inner->children[i], memory_order_relaxed);
}

static uint32_t store(struct bb_memtable *memtable, const struct branch *branch)
{
    uint32_t offset = bb_memtable_node_alloc(memtable);
    struct bb_memtable_inner *inner = bb_memtable_inner_at(memtable, offset);
    BB_DEBUG_ASSERT(branch->count <= BB_MEMTABLE_SEPARATORS);
    inner->count = (uint8_t)branch->count;
    inner->must_check = branch->must_check;
    inner->skip = (uint16_t)branch->skip;
    inner->low = branch->low;
    inner->high = branch->high;
    memcpy(inner->prefixes, branch->prefixes, branch->count * sizeof(inner->prefixes[0]));
    for (unsigned i = branch->count; i < BB_MEMTABLE_SEPARATORS; i++)
        inner->prefixes[i] = UINT64_MAX;
    memcpy(inner->separators, branch->separators, branch->count * sizeof(inner->separators[0]));
    for (unsigned i = 0; i <= branch->count; i++)
        atomic_store_explicit(&inner->children[i], branch->children[i], memory_order_relaxed);
    memtable->inner_count++;
    return offset;
}

/* Replaces one child by two, divided by a separator. */
static void insert(const struct bb_memtable *memtable, struct branch *branch, unsigned child,
                   uint32_t left, uint32_t separator, uint32_t right)
{
    unsigned after = branch->count - child;
    memmove(branch->prefixes + child + 1, branch->prefixes + child,
            after * sizeof(branch->prefixes[0]));
    memmove(branch->separators + child + 1, branch->separators + child,
            after * sizeof(branch->separators[0]));
    memmove(branch->children + child + 2, branch->children + child + 1,
            after * sizeof(branch->children[0]));
    branch->separators[child] = separator;
    branch->children[child] = left;
    branch->children[child + 1] = right;
    branch->count++;

    if (branch->must_check && shared_head(memtable, branch) < branch->skip) {
        settle(memtable, branch);
        return;
    }
    branch->prefixes[child] =
        bb_memtable_prefix(memtable, bb_memtable_key_at(memtable, separator), branch->skip);
    skip_shared_head(memtable, branch);
}

/* Stores the separators [from, to) of a branch, and the children around them, as a node. */
static uint32_t store_part(struct bb_memtable *memtable, const struct branch *branch, unsigned from,
                           unsigned to, uint32_t low, uint32_t high)
{
    struct branch part = {.count = to - from, .low = low, .high = high};
    memcpy(part.separators, branch->separators + from, part.count * sizeof(part.separators[0]));
    memcpy(part.children, branch->children + from, (part.count + 1) * sizeof(part.children[0]));
    settle(memtable, &part);
    return store(memtable, &part);
}

/* Publishes the node for readers: in its parent, or as the root. */
static void publish(struct bb_memtable *memtable, const struct bb_memtable_path *path,
                    unsigned level, uint32_t node, unsigned height)
{
    BB_DEBUG_ASSERT(level == 0 || level <= path->height);
    if (level == 0) {
        atomic_store_explicit(&memtable->root, (uint64_t)height << 32 | node, memory_order_release);
        return;
    }
    struct bb_memtable_inner *parent = bb_memtable_inner_at(memtable, path->nodes[level - 1]);
    atomic_store_explicit(&parent->children[path->children[level - 1]], node, memory_order_release);
}

static void grow_root(struct bb_memtable *memtable, unsigned height, uint32_t left,
                      uint32_t separator, uint32_t right)
{
    BB_ASSERT(height < BB_MEMTABLE_HEIGHT_MAX);
    struct branch branch = {.count = 1, .separators = {separator}, .children = {left, right}};
    settle(memtable, &branch);
    uint32_t root = store(memtable, &branch);
    publish(memtable, NULL, 0, root, height + 1);
}

void bb_memtable_inner_replace_leaf(struct bb_memtable *memtable,
                                    const struct bb_memtable_path *path, uint32_t left,
                                    uint32_t separator, uint32_t right, bool at_end)
{
    BB_DEBUG_ASSERT(path->height <= BB_MEMTABLE_HEIGHT_MAX);
    for (unsigned level = path->height; level > 0; level--) {
        struct branch branch;
        const struct bb_memtable_inner *parent =
            bb_memtable_inner_at(memtable, path->nodes[level - 1]);
        load(parent, &branch);
        memtable->inner_count--;
        insert(memtable, &branch, path->children[level - 1], left, separator, right);
        if (branch.count <= BB_MEMTABLE_SEPARATORS) {
            publish(memtable, path, level - 1, store(memtable, &branch), path->height);
            return;
        }
        unsigned middle = at_end ? branch.count - 2 : branch.count / 2;
        separator = branch.separators[middle];
        left = store_part(memtable, &branch, 0, middle, branch.low, separator);
        right = store_part(memtable, &branch, middle + 1, branch.count, separator, branch.high);
    }
    grow_root(memtable, path->height, left, separator, right);
}
