/* See memtable_leaf.h. */
#include "kv/memtable/memtable_leaf.h"

#include <string.h>

#include "base/assert.h"
#include "kv/memtable/memtable_inner.h"

#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

uint32_t bb_memtable_leaf_create(struct bb_memtable *memtable, uint32_t low, uint32_t high,
                                 uint32_t skip)
{
    BB_DEBUG_ASSERT(low == 0 || low != high);
    uint32_t offset = bb_memtable_node_alloc(memtable);
    struct bb_memtable_leaf *leaf = bb_memtable_leaf_at(memtable, offset);
    atomic_store_explicit(&leaf->count, 0, memory_order_relaxed);
    leaf->skip = skip;
    leaf->low = low;
    leaf->high = high;
    for (unsigned i = 0; i < BB_MEMTABLE_TAG_WORDS; i++)
        atomic_store_explicit(&leaf->tags[i], 0, memory_order_relaxed);
    memtable->leaf_count++;
    return offset;
}

void bb_memtable_leaf_append(struct bb_memtable_leaf *leaf, uint64_t prefix, uint8_t tag,
                             uint32_t record)
{
    uint32_t slot = atomic_load_explicit(&leaf->count, memory_order_relaxed);
    BB_DEBUG_ASSERT(slot < BB_MEMTABLE_SLOTS);
    _Atomic uint64_t *word = &leaf->tags[slot / 8];
    uint64_t tags = atomic_load_explicit(word, memory_order_relaxed) | (uint64_t)tag
                                                                           << (slot % 8 * 8);
    atomic_store_explicit(word, tags, memory_order_relaxed);
    leaf->prefixes[slot] = prefix;
    atomic_store_explicit(&leaf->records[slot], record, memory_order_relaxed);
    atomic_store_explicit(&leaf->count, slot + 1, memory_order_release);
}

/* Sets the high bit of each byte of the word that equals the tag. Bits above the first correct one
 * may be wrong. */
static uint64_t match(uint64_t word, uint64_t tags)
{
    uint64_t difference = word ^ tags;
    return (difference - ONES) & ~difference & HIGHS;
}

static bool is_key(const struct bb_memtable *memtable, const struct bb_memtable_leaf *leaf,
                   uint32_t slot, struct bb_bytes key, uint64_t prefix)
{
    BB_DEBUG_ASSERT(slot < BB_MEMTABLE_SLOTS);
    if (leaf->prefixes[slot] != prefix)
        return false;
    uint32_t head = atomic_load_explicit(&leaf->records[slot], memory_order_acquire);
    struct bb_bytes found = bb_memtable_key_at(memtable, head);
    if (memtable->is_bytewise)
        return bb_bytes_equal(bb_memtable_tail(found, leaf->skip),
                              bb_memtable_tail(key, leaf->skip));
    return bb_memtable_compare(memtable, found, key, 0) == 0;
}

/* For comparators that treat different bytes as equal: tags cannot be used. */
static uint32_t find_untagged(const struct bb_memtable *memtable,
                              const struct bb_memtable_leaf *leaf, uint32_t count,
                              struct bb_bytes key)
{
    for (uint32_t slot = 0; slot < count; slot++) {
        if (is_key(memtable, leaf, slot, key, 0))
            return slot;
    }
    return BB_MEMTABLE_NO_SLOT;
}

uint32_t bb_memtable_leaf_find(const struct bb_memtable *memtable,
                               const struct bb_memtable_leaf *leaf, struct bb_bytes key,
                               uint64_t prefix, uint64_t key_hash)
{
    uint32_t count = atomic_load_explicit(&leaf->count, memory_order_acquire);
    if (!memtable->is_hashed)
        return find_untagged(memtable, leaf, count, key);
    uint64_t tags = bb_memtable_tag(key_hash) * ONES;
    for (uint32_t first = 0; first < count; first += 8) {
        uint64_t hits =
            match(atomic_load_explicit(&leaf->tags[first / 8], memory_order_relaxed), tags);
        for (; hits != 0; hits &= hits - 1) {
            uint32_t slot = first + (uint32_t)__builtin_ctzll(hits) / 8;
            if (slot >= count)
                break;
            if (is_key(memtable, leaf, slot, key, prefix))
                return slot;
        }
    }
    return BB_MEMTABLE_NO_SLOT;
}

static bool is_before(const struct bb_memtable *memtable, const struct bb_memtable_item *a,
                      const struct bb_memtable_item *b, size_t skip)
{
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix;
    return bb_memtable_compare(memtable, bb_memtable_key_at(memtable, a->record),
                               bb_memtable_key_at(memtable, b->record), skip) < 0;
}

/* Inserts an item that is before the last one. WHY it first counts prefixes, without a branch: the
 * processor cannot guess the place. */
static void insert_before_last(const struct bb_memtable *memtable, struct bb_memtable_item *items,
                               uint32_t count, struct bb_memtable_item item, size_t skip)
{
    uint32_t place = 0;
    for (uint32_t i = 0; i < count; i++)
        place += items[i].prefix <= item.prefix;
    while (place > 0 && is_before(memtable, &item, &items[place - 1], skip))
        place--;
    memmove(&items[place + 1], &items[place], (count - place) * sizeof(item));
    items[place] = item;
}

static void insert_item(const struct bb_memtable *memtable, struct bb_memtable_item *items,
                        uint32_t count, struct bb_memtable_item item, size_t skip)
{
    BB_DEBUG_ASSERT(count <= BB_MEMTABLE_SLOTS);
    if (count > 0 && is_before(memtable, &item, &items[count - 1], skip))
        insert_before_last(memtable, items, count, item, skip);
    else
        items[count] = item;
}

uint32_t bb_memtable_leaf_sort(const struct bb_memtable *memtable,
                               const struct bb_memtable_leaf *leaf,
                               struct bb_memtable_item items[BB_MEMTABLE_SLOTS])
{
    uint32_t count = atomic_load_explicit(&leaf->count, memory_order_acquire);
    for (uint32_t slot = 0; slot < count; slot++) {
        uint64_t tags = atomic_load_explicit(&leaf->tags[slot / 8], memory_order_relaxed);
        struct bb_memtable_item item = {
            .prefix = leaf->prefixes[slot],
            .record = atomic_load_explicit(&leaf->records[slot], memory_order_acquire),
            .tag = (uint8_t)(tags >> (slot % 8 * 8)),
        };
        insert_item(memtable, items, slot, item, leaf->skip);
    }
    return count;
}

static bool has_ties(const struct bb_memtable_item *items, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        if (items[i].prefix == items[i - 1].prefix)
            return true;
    }
    return false;
}

/* Makes a leaf of sorted items, whose prefixes are under `skip`. Its fences may permit a longer
 * skip. But finding that out means reading both fences, and using it every record, with a cache
 * miss each. That is only worthwhile when prefixes do not decide. */
static uint32_t build(struct bb_memtable *memtable, const struct bb_memtable_item *items,
                      uint32_t count, uint32_t skip, uint32_t low, uint32_t high)
{
    uint32_t longer = has_ties(items, count) ? bb_memtable_fence_skip(memtable, low, high) : 0;
    bool is_renewed = longer > skip;
    uint32_t offset = bb_memtable_leaf_create(memtable, low, high, is_renewed ? longer : skip);
    struct bb_memtable_leaf *leaf = bb_memtable_leaf_at(memtable, offset);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t prefix = items[i].prefix;
        if (is_renewed)
            prefix = bb_memtable_prefix(memtable, bb_memtable_key_at(memtable, items[i].record),
                                        leaf->skip);
        bb_memtable_leaf_append(leaf, prefix, (uint8_t)items[i].tag, items[i].record);
    }
    return offset;
}

void bb_memtable_leaf_split(struct bb_memtable *memtable, const struct bb_memtable_path *path,
                            uint32_t record, uint8_t tag, bool at_end)
{
    struct bb_memtable_item items[BB_MEMTABLE_SLOTS + 1];
    struct bb_memtable_leaf *leaf = bb_memtable_leaf_at(memtable, path->leaf);
    uint32_t count = bb_memtable_leaf_sort(memtable, leaf, items);
    uint64_t prefix =
        bb_memtable_prefix(memtable, bb_memtable_key_at(memtable, record), leaf->skip);
    insert_item(memtable, items, count,
                (struct bb_memtable_item){.prefix = prefix, .record = record, .tag = tag},
                leaf->skip);
    count++;

    uint32_t left_count = at_end ? count - 1 : count / 2;
    uint32_t separator = items[left_count].record;
    __builtin_prefetch(bb_memtable_record_at(memtable, separator)); /* its key goes to the parent */
    uint32_t left = build(memtable, items, left_count, leaf->skip, leaf->low, separator);
    uint32_t right =
        build(memtable, items + left_count, count - left_count, leaf->skip, separator, leaf->high);
    if (path->leaf == memtable->last_leaf)
        memtable->last_leaf = right;
    memtable->leaf_count--;
    bb_memtable_inner_replace_leaf(memtable, path, left, separator, right, at_end);
}
