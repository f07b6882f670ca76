/* Iterates over all versions of a memtable while its writer continues.
 *
 * It takes the keys of one leaf at a time and sorts them. A descent with the leaf's upper fence
 * finds the next leaf, and one with its lower fence the previous leaf. Separators are never
 * removed, so the found leaf begins, or ends, exactly there, however often the leaves in between
 * were split. Every key is therefore returned exactly once and in order. Links between leaves would
 * have to be maintained by a writer that readers do not wait for.
 *
 *     items     k0     k1     k2     ...        keys of the leaf, in order
 *               |      |
 *             newest  newest
 *             older
 *
 * Going back within a key means going from older to newer versions, against the chain. The versions
 * are collected on the first such step, so that a key with n versions costs n steps and not n * n.
 *
 * Threads: one, concurrently with the writer.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/prefetch.h"
#include "base/status.h"
#include "kv/memtable/memtable.h"
#include "kv/memtable/memtable_inner.h"
#include "kv/memtable/memtable_leaf.h"
#include "kv/memtable/memtable_node.h"

/* Records that a seek prefetches. Most seeks of a store read few entries of each stream, and the
 * others of the leaf would take the lines' places. */
#define NEAR_COUNT 3

/* How many records ahead a walk prefetches the end of a record: far enough that it has arrived. */
#define END_DISTANCE 8
/* The most bytes of a record that are prefetched; the processor itself follows longer ones. */
#define PREFETCHED_MAX 512

struct iter {
    struct bb_iter base;
    const struct bb_memtable *memtable;
    uint32_t low; /* fences of the leaf */
    uint32_t high;
    uint32_t count;
    uint32_t index;  /* of the current key in items */
    uint32_t record; /* the current version */
    uint32_t skip;
    uint32_t ahead;      /* the next leaf if it was prefetched; else 0 */
    uint32_t near;       /* the node that the steps before a seek have reached */
    unsigned near_level; /* inner levels from there to the leaves */
    bool is_near;        /* the steps have loaded the leaf of the seek that follows */
    bool is_walk;        /* the first lines of the leaf's records were prefetched */
    struct bb_buf chain; /* offsets of the key's versions, newest first; may be empty */
    uint32_t place;      /* of record in the chain, if collected */
    struct bb_memtable_item items[BB_MEMTABLE_SLOTS];
};

/* The records of a leaf are scattered: prefetches them in parallel, each with the next line, where
 * most values continue. */
static void prefetch_records(const struct iter *iter, uint32_t offset)
{
    const struct bb_memtable_leaf *leaf = bb_memtable_leaf_at(iter->memtable, offset);
    uint32_t count = atomic_load_explicit(&leaf->count, memory_order_acquire);
    for (uint32_t slot = 0; slot < count; slot++) {
        uint32_t record = atomic_load_explicit(&leaf->records[slot], memory_order_relaxed);
        const uint8_t *bytes = bb_memtable_at(iter->memtable, record);
        __builtin_prefetch(bytes);
        __builtin_prefetch(bytes + 64);
    }
}

/* Prefetches the lines of a record after those of prefetch_records. Reads the first line. */
static void prefetch_end(const struct iter *iter, uint32_t index)
{
    const struct bb_memtable_record *record =
        bb_memtable_record_at(iter->memtable, iter->items[index].record);
    const uint8_t *bytes = (const uint8_t *)record;
    size_t size = BB_MEMTABLE_RECORD_HEADER + (size_t)record->key_size + record->value_size;
    size_t end = size < PREFETCHED_MAX ? size : PREFETCHED_MAX;
    for (size_t place = 128; place < end; place += 64)
        __builtin_prefetch(bytes + place);
    __builtin_prefetch(bytes + end - 1);
    bb_prefetch_done(bytes);
}

/* Records from the index on, as many as a short scan reads of this memtable. */
static void prefetch_from(const struct iter *iter, uint32_t index)
{
    for (uint32_t i = index; i < iter->count && i < index + NEAR_COUNT; i++) {
        const uint8_t *bytes = bb_memtable_at(iter->memtable, iter->items[i].record);
        __builtin_prefetch(bytes);
        __builtin_prefetch(bytes + 64);
    }
}

static void sort_leaf(struct iter *iter, uint32_t offset)
{
    BB_DEBUG_ASSERT(offset != 0);
    const struct bb_memtable_leaf *leaf = bb_memtable_leaf_at(iter->memtable, offset);
    iter->ahead = 0;
    iter->count = bb_memtable_leaf_sort(iter->memtable, leaf, iter->items);
    iter->low = leaf->low;
    iter->high = leaf->high;
    iter->skip = leaf->skip;
}

static void load_leaf(struct iter *iter, uint32_t offset)
{
    const struct bb_memtable_leaf *leaf = bb_memtable_leaf_at(iter->memtable, offset);
    if (offset != iter->ahead)
        prefetch_records(iter, offset);
    if (leaf->high != 0)
        __builtin_prefetch(bb_memtable_record_at(iter->memtable, leaf->high));
    sort_leaf(iter, offset);
    iter->is_walk = true;
}

static void show(struct iter *iter, uint32_t offset)
{
    BB_DEBUG_ASSERT(offset != 0);
    const struct bb_memtable_record *record = bb_memtable_record_at(iter->memtable, offset);
    iter->record = offset;
    iter->base.is_valid = true;
    iter->base.entry = (struct bb_entry){
        .key = bb_memtable_record_key(record),
        .sequence = bb_memtable_record_sequence(record),
        .kind = bb_memtable_record_kind(record),
        .value = bb_memtable_record_value(record),
    };
}

/* Moves to another key of the leaf. */
static void move_to(struct iter *iter, uint32_t index)
{
    BB_DEBUG_ASSERT(index < iter->count);
    iter->index = index;
    bb_buf_reset(&iter->chain);
}

static uint32_t find_next_leaf(const struct iter *iter)
{
    struct bb_bytes fence = bb_memtable_key_at(iter->memtable, iter->high);
    return bb_memtable_inner_find_leaf(iter->memtable, fence, false, NULL);
}

static void prefetch_first_ends(const struct iter *iter)
{
    for (uint32_t index = 0; index < END_DISTANCE && index < iter->count; index++)
        prefetch_end(iter, index);
}

static void look_ahead_in_leaf(const struct iter *iter)
{
    uint32_t near = iter->index + NEAR_COUNT;
    if (iter->is_walk && iter->index + END_DISTANCE < iter->count)
        prefetch_end(iter, iter->index + END_DISTANCE);
    else if (!iter->is_walk && near < iter->count)
        __builtin_prefetch(bb_memtable_record_at(iter->memtable, iter->items[near].record));
}

/* Going forward, prefetches the next leaf from half of this one on, and then its records. A walk
 * would otherwise wait for them half of its time. A leaf that was found early is still valid: it
 * begins at the end of this one, and has everything added before. */
static void look_ahead(struct iter *iter)
{
    look_ahead_in_leaf(iter);
    if (iter->index == iter->count / 2 && iter->high != 0)
        iter->ahead = find_next_leaf(iter);
    else if (iter->index == iter->count - iter->count / 4 && iter->ahead != 0)
        prefetch_records(iter, iter->ahead);
}

/* Moves to the newest version of the key at index, or of the first key of the next leaf. */
static void show_newest(struct iter *iter, uint32_t index)
{
    iter->base.is_valid = false;
    if (index == iter->count) {
        if (iter->high == 0)
            return;
        load_leaf(iter, iter->ahead != 0 ? iter->ahead : find_next_leaf(iter));
        prefetch_first_ends(iter);
        index = 0;
    }
    move_to(iter, index);
    show(iter, iter->items[index].record);
    look_ahead(iter);
}

static uint32_t chain_at(const struct iter *iter, size_t place)
{
    uint32_t offset = 0;
    memcpy(&offset, iter->chain.data + place * sizeof(offset), sizeof(offset));
    return offset;
}

static size_t chain_count(const struct iter *iter)
{
    return iter->chain.size / sizeof(uint32_t);
}

/* Collects the versions of the key from the newest to `last`; 0: to the oldest. `place` becomes the
 * last one's. False without memory: the iterator is at its end then. */
static bool collect(struct iter *iter, uint32_t last)
{
    bb_buf_reset(&iter->chain);
    uint32_t offset = iter->items[iter->index].record;
    while (offset != 0) {
        enum bb_status status = bb_buf_append(&iter->chain, &offset, sizeof(offset));
        if (status != BB_OK) {
            iter->base.status = status;
            iter->base.is_valid = false;
            return false;
        }
        if (offset == last)
            break;
        offset = bb_memtable_record_at(iter->memtable, offset)->older;
    }
    iter->place = (uint32_t)chain_count(iter) - 1;
    return true;
}

/* Moves to the oldest version of the key before index, or of the last key of the previous leaf. */
static void show_oldest_before(struct iter *iter, uint32_t index)
{
    iter->base.is_valid = false;
    if (index == 0) {
        if (iter->low == 0)
            return;
        struct bb_bytes fence = bb_memtable_key_at(iter->memtable, iter->low);
        load_leaf(iter, bb_memtable_inner_find_leaf(iter->memtable, fence, true, NULL));
        index = iter->count;
    }
    move_to(iter, index - 1);
    uint32_t head = iter->items[index - 1].record;
    if (bb_memtable_record_at(iter->memtable, head)->older == 0)
        show(iter, head);
    else if (collect(iter, 0))
        show(iter, chain_at(iter, iter->place));
}

static void iter_next(struct bb_iter *base)
{
    struct iter *iter = (struct iter *)base;
    uint32_t older = bb_memtable_record_at(iter->memtable, iter->record)->older;
    if (older == 0) {
        show_newest(iter, iter->index + 1);
        return;
    }
    if (iter->place + 1 < chain_count(iter))
        iter->place++;
    else
        bb_buf_reset(&iter->chain);
    show(iter, older);
}

static void iter_prev(struct bb_iter *base)
{
    struct iter *iter = (struct iter *)base;
    if (iter->record == iter->items[iter->index].record) {
        show_oldest_before(iter, iter->index);
        return;
    }
    if (chain_count(iter) > 0 || collect(iter, iter->record))
        show(iter, chain_at(iter, --iter->place));
}

static void start(struct iter *iter)
{
    iter->base.is_valid = false;
    iter->base.status = BB_OK;
}

static void iter_seek_first(struct bb_iter *base)
{
    struct iter *iter = (struct iter *)base;
    start(iter);
    iter->is_near = false;
    load_leaf(iter, bb_memtable_inner_edge_leaf(iter->memtable, false));
    if (iter->count > 0)
        show_newest(iter, 0);
}

static void iter_seek_last(struct bb_iter *base)
{
    struct iter *iter = (struct iter *)base;
    start(iter);
    iter->is_near = false;
    load_leaf(iter, bb_memtable_inner_edge_leaf(iter->memtable, true));
    if (iter->count > 0)
        show_oldest_before(iter, iter->count);
}

/* The index of the first key of the leaf that is not below key; *ret_is_equal: it equals the
 * key. */
static uint32_t find_index(const struct iter *iter, struct bb_bytes key, bool *ret_is_equal)
{
    uint32_t low = 0;
    uint32_t high = iter->count;
    uint64_t prefix = bb_memtable_prefix(iter->memtable, key, iter->skip);
    *ret_is_equal = false;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        const struct bb_memtable_item *item = &iter->items[middle];
        int order = item->prefix < prefix ? -1 : 1;
        if (item->prefix == prefix)
            order = bb_memtable_compare(
                iter->memtable, bb_memtable_key_at(iter->memtable, item->record), key, iter->skip);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
        *ret_is_equal = *ret_is_equal || order == 0;
    }
    return low;
}

/* Loads the leaf for the key, and prefetches the records from there on. */
static void enter_near(struct iter *iter, uint32_t leaf, struct bb_bytes key)
{
    bool is_equal = false;
    iter->is_walk = false;
    sort_leaf(iter, leaf);
    prefetch_from(iter, find_index(iter, key, &is_equal));
}

/* A level of the tree for each step. The writer may split the leaf before the seek. The copy of it
 * in this iterator is still valid then, and has every entry that a reader may see, because its
 * sequence is older than the approach. */
bool bb_memtable_iter_approach(struct bb_iter *base, struct bb_bytes key, uint64_t sequence,
                               unsigned step)
{
    struct iter *iter = (struct iter *)base;
    (void)sequence;
    base->is_valid = false;
    if (step == 0) {
        uint64_t root = atomic_load_explicit(&iter->memtable->root, memory_order_acquire);
        iter->near = (uint32_t)root;
        iter->near_level = bb_memtable_root_height(root);
    }
    if (iter->near_level == 0) {
        enter_near(iter, iter->near, key);
        iter->is_near = true;
        return false;
    }
    iter->near_level--;
    iter->near = bb_memtable_inner_descend(iter->memtable, iter->near, key);
    return true;
}

static void iter_seek(struct bb_iter *base, struct bb_bytes key, uint64_t sequence)
{
    struct iter *iter = (struct iter *)base;
    start(iter);
    if (!iter->is_near)
        enter_near(iter, bb_memtable_inner_find_leaf(iter->memtable, key, false, NULL), key);
    iter->is_near = false;
    bool is_equal = false;
    uint32_t index = find_index(iter, key, &is_equal);
    if (is_equal) {
        move_to(iter, index);
        for (uint32_t offset = iter->items[index].record; offset != 0;) {
            const struct bb_memtable_record *record = bb_memtable_record_at(iter->memtable, offset);
            if (bb_memtable_record_sequence(record) <= sequence) {
                show(iter, offset);
                return;
            }
            offset = record->older;
        }
        index++;
    }
    if (iter->count > 0)
        show_newest(iter, index);
}

static void iter_destroy(struct bb_iter *base)
{
    struct iter *iter = (struct iter *)base;
    bb_buf_deinit(&iter->chain);
    bb_free(iter);
}

static const struct bb_iter_ops ops = {
    .destroy = iter_destroy,
    .seek_first = iter_seek_first,
    .seek_last = iter_seek_last,
    .seek = iter_seek,
    .next = iter_next,
    .prev = iter_prev,
};

enum bb_status bb_memtable_iter_create(const struct bb_memtable *memtable,
                                       struct bb_iter **ret_iter)
{
    struct iter *iter = bb_alloc(sizeof(*iter));
    if (iter == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for an iterator over a memtable");
    memset(iter, 0, offsetof(struct iter, items));
    iter->base.ops = &ops;
    iter->memtable = memtable;
    *ret_iter = &iter->base;
    return BB_OK;
}
