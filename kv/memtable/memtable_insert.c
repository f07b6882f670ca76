/* Adding to the memtable, and checking that there is space.
 *
 * An add first checks that its worst case fits the arena; after that it cannot fail.
 *
 * Keys often arrive in ascending order (time stamps, counters, recovery). A key above all others
 * goes to the last leaf without a descent, and when that leaf is full it stays full.
 *
 * Threads: the writer.
 */
#include <inttypes.h>
#include <string.h>

#include "base/assert.h"
#include "base/prefetch.h"
#include "base/status.h"
#include "kv/memtable/memtable.h"
#include "kv/memtable/memtable_inner.h"
#include "kv/memtable/memtable_leaf.h"
#include "kv/memtable/memtable_node.h"
#include "kv/memtable/memtable_ranges.h"
#include "sstable/entry.h"

/* The maximum that alignment can waste in the arena between a record and a following node. */
#define ALIGNMENT_WASTE 64
/* The number of keys or children that a half needs until it is split again. */
#define KEYS_PER_SPLIT     (BB_MEMTABLE_SLOTS / 2)
#define CHILDREN_PER_SPLIT (BB_MEMTABLE_CHILDREN / 2)
/* Bytes of nodes, including replaced ones, per key that arrives in random order: measured 86. */
#define NODE_BYTES_PER_KEY 96

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t records_bytes(uint64_t entry_count, uint64_t raw_bytes)
{
    return entry_count * (BB_MEMTABLE_RECORD_HEADER + BB_ARENA_UNIT - 1) + raw_bytes;
}

/* The maximum size of the nodes for this many new keys in a tree of this size. Every key may split
 * a leaf that happens to be full, but a split leaf takes KEYS_PER_SPLIT more keys until it is full
 * again. The last leaf counts twice, because a full one stays full there. Each split node makes two
 * nodes and one or two copies of its parent; then the same happens one level higher. */
static uint64_t nodes_bytes_max(uint64_t entry_count, uint64_t leaf_count, uint64_t inner_count,
                                unsigned height)
{
    uint64_t splits = smaller(entry_count, leaf_count + 1 + entry_count / KEYS_PER_SPLIT);
    uint64_t nodes = 2 * splits;
    for (unsigned level = 0; level < BB_MEMTABLE_HEIGHT_MAX && splits > 0; level++) {
        uint64_t parents = splits;
        splits = parents / CHILDREN_PER_SPLIT;
        if (level < height)
            splits = smaller(parents, splits + inner_count + 1);
        nodes += parents + splits;
    }
    return nodes * BB_MEMTABLE_NODE_SIZE + ALIGNMENT_WASTE;
}

uint64_t bb_memtable_capacity_for(uint64_t entry_count, uint64_t raw_bytes)
{
    uint64_t likely = entry_count * NODE_BYTES_PER_KEY;
    uint64_t most = nodes_bytes_max(entry_count, 1, 0, 0);
    uint64_t needed = records_bytes(entry_count, raw_bytes) + (most > likely ? most : likely);
    return needed + needed / 32 + 4096; /* plus the filter's share and the first leaf */
}

bool bb_memtable_fits(const struct bb_memtable *memtable, uint64_t entry_count, uint64_t raw_bytes)
{
    if (!bb_memtable_ranges_fit(memtable))
        return false;
    unsigned height =
        bb_memtable_root_height(atomic_load_explicit(&memtable->root, memory_order_relaxed));
    uint64_t used = memtable->arena.used;
    uint64_t records = records_bytes(entry_count, raw_bytes);
    uint64_t most =
        nodes_bytes_max(entry_count, memtable->leaf_count, memtable->inner_count, height);
    return used + records + entry_count * NODE_BYTES_PER_KEY <= memtable->capacity &&
           used + records + most <= memtable->arena.capacity;
}

/* The same for one entry; add calls it for each. */
static bool fits_one(const struct bb_memtable *memtable, size_t record_size, unsigned height)
{
    size_t nodes = 2 + 2 * (size_t)height + 1;
    return record_size + ALIGNMENT_WASTE + nodes * BB_MEMTABLE_NODE_SIZE <=
           bb_arena_left(&memtable->arena);
}

static uint32_t create_record(struct bb_memtable *memtable, const struct bb_entry *entry,
                              uint32_t older)
{
    BB_DEBUG_ASSERT(entry->sequence <= BB_SEQUENCE_MAX);
    size_t size = BB_MEMTABLE_RECORD_HEADER + entry->key.size + entry->value.size;
    uint32_t offset = bb_arena_alloc(&memtable->arena, size, BB_ARENA_UNIT);
    BB_ASSERT(offset != 0);
    struct bb_memtable_record *record = bb_memtable_record_at(memtable, offset);
    record->sequence_and_kind = entry->sequence << 8 | (uint64_t)entry->kind;
    record->older = older;
    record->value_size = (uint32_t)entry->value.size;
    record->key_size = (uint32_t)entry->key.size;
    if (entry->key.size > 0)
        memcpy(record->bytes, entry->key.data, entry->key.size);
    if (entry->value.size > 0)
        memcpy(record->bytes + entry->key.size, entry->value.data, entry->value.size);
    return offset;
}

static void add_to(_Atomic uint64_t *counter, uint64_t value)
{
    /* There is only one writer, so no read-modify-write is needed. */
    uint64_t sum = atomic_load_explicit(counter, memory_order_relaxed) + value;
    atomic_store_explicit(counter, sum, memory_order_relaxed);
}

/* Counts shared by entries and range tombstones. */
static void count_write(struct bb_memtable *memtable, const struct bb_entry *entry)
{
    struct bb_memtable_counts *counts = &memtable->counts;
    uint64_t sequence_max = atomic_load_explicit(&counts->sequence_max, memory_order_relaxed);
    if (entry->sequence > sequence_max)
        atomic_store_explicit(&counts->sequence_max, entry->sequence, memory_order_relaxed);
    add_to(&counts->raw_bytes, entry->key.size + entry->value.size);
    atomic_store_explicit(&counts->used_bytes, memtable->arena.used, memory_order_relaxed);
}

static enum bb_status add_version(struct bb_memtable *memtable, struct bb_memtable_leaf *leaf,
                                  uint32_t slot, const struct bb_entry *entry)
{
    BB_DEBUG_ASSERT(slot < BB_MEMTABLE_SLOTS);
    uint32_t head = atomic_load_explicit(&leaf->records[slot], memory_order_relaxed);
    uint64_t newest = bb_memtable_record_sequence(bb_memtable_record_at(memtable, head));
    if (entry->sequence <= newest)
        return bb_fail(BB_INVALID,
                       "sequence %" PRIu64 " after sequence %" PRIu64 " of the same key",
                       entry->sequence, newest);
    uint32_t record = create_record(memtable, entry, head);
    atomic_store_explicit(&leaf->records[slot], record, memory_order_release);
    return BB_OK;
}

static void add_key(struct bb_memtable *memtable, const struct bb_memtable_path *path,
                    const struct bb_entry *entry, uint64_t prefix, uint64_t key_hash, bool at_end)
{
    struct bb_memtable_leaf *leaf = bb_memtable_leaf_at(memtable, path->leaf);
    uint32_t record = create_record(memtable, entry, 0);
    uint8_t tag = bb_memtable_tag(key_hash);
    /* First the filter: a reader must not rule out a key that the tree has. */
    if (memtable->is_hashed)
        bb_memory_filter_add(&memtable->filter, key_hash);
    if (atomic_load_explicit(&leaf->count, memory_order_relaxed) < BB_MEMTABLE_SLOTS)
        bb_memtable_leaf_append(leaf, prefix, tag, record);
    else
        bb_memtable_leaf_split(memtable, path, record, tag, at_end);
    if (at_end)
        memtable->last_record = record;
    add_to(&memtable->counts.keys, 1);
}

static bool is_above_all(const struct bb_memtable *memtable, struct bb_bytes key)
{
    return memtable->last_record == 0 ||
           bb_memtable_compare(memtable, key, bb_memtable_key_at(memtable, memtable->last_record),
                               0) > 0;
}

/* Finds the path to the leaf for the key. A key above all others needs no path while the last leaf
 * has a free slot. */
static void find_way(const struct bb_memtable *memtable, struct bb_bytes key,
                     struct bb_memtable_path *path)
{
    const struct bb_memtable_leaf *last = bb_memtable_leaf_at(memtable, memtable->last_leaf);
    if (atomic_load_explicit(&last->count, memory_order_relaxed) < BB_MEMTABLE_SLOTS &&
        is_above_all(memtable, key))
        path->leaf = memtable->last_leaf;
    else
        bb_memtable_inner_find_leaf(memtable, key, false, path);
}

static enum bb_status add_range(struct bb_memtable *memtable, const struct bb_entry *entry)
{
    uint32_t newest = atomic_load_explicit(&memtable->ranges.newest, memory_order_relaxed);
    if (newest != 0 &&
        bb_memtable_record_sequence(bb_memtable_record_at(memtable, newest)) >= entry->sequence)
        return bb_fail(BB_INVALID,
                       "a range tombstone of sequence %" PRIu64 " is not above the newest one",
                       entry->sequence);
    if (bb_memtable_compare(memtable, entry->key, entry->value, 0) >= 0)
        return BB_OK;
    uint32_t record = create_record(memtable, entry, newest);
    count_write(memtable, entry);
    bb_memtable_ranges_add(memtable, record);
    return BB_OK;
}

void bb_memtable_find_way(const struct bb_memtable *memtable, struct bb_bytes key,
                          uint64_t key_hash, struct bb_memtable_path *ret_path)
{
    bb_memory_filter_prefetch(&memtable->filter, key_hash);
    find_way(memtable, key, ret_path);
    const uint8_t *leaf = bb_memtable_at(memtable, ret_path->leaf);
    for (size_t line = 0; line < BB_MEMTABLE_NODE_SIZE; line += 64)
        __builtin_prefetch(leaf + line, 1);
    /* Records of the next puts: new memory, which the end of a commit would wait for. */
    uintptr_t unused = (uintptr_t)memtable->memory + memtable->arena.used; /* may be at the end */
    for (size_t line = 2; line < 5; line++)
        __builtin_prefetch((const void *)(unused + line * 64), 1);
    bb_prefetch_done(leaf);
}

enum bb_status bb_memtable_add_at(struct bb_memtable *memtable, const struct bb_memtable_path *path,
                                  const struct bb_entry *entry, uint64_t key_hash)
{
    BB_DEBUG_ASSERT(path->leaf != 0);
    bool is_range = entry->kind == BB_ENTRY_DELETE_RANGE;
    enum bb_status status = is_range
                                ? bb_entry_check_range(entry->key, entry->value, entry->sequence)
                                : bb_entry_check(entry);
    if (status != BB_OK)
        return status;
    size_t record_size = BB_MEMTABLE_RECORD_HEADER + entry->key.size + entry->value.size;
    uint64_t root = atomic_load_explicit(&memtable->root, memory_order_relaxed);
    if (!fits_one(memtable, record_size, bb_memtable_root_height(root)))
        return bb_fail(BB_NO_SPACE, "a memtable of %" PRIu64 " bytes is full", memtable->capacity);
    if (is_range)
        return add_range(memtable, entry);

    bool at_end = path->leaf == memtable->last_leaf && is_above_all(memtable, entry->key);
    struct bb_memtable_leaf *leaf = bb_memtable_leaf_at(memtable, path->leaf);
    uint64_t prefix = bb_memtable_prefix(memtable, entry->key, leaf->skip);
    uint32_t slot = at_end ? BB_MEMTABLE_NO_SLOT
                           : bb_memtable_leaf_find(memtable, leaf, entry->key, prefix, key_hash);
    if (slot != BB_MEMTABLE_NO_SLOT)
        status = add_version(memtable, leaf, slot, entry);
    else
        add_key(memtable, path, entry, prefix, key_hash, at_end);
    if (status == BB_OK)
        count_write(memtable, entry);
    return status;
}

enum bb_status bb_memtable_add(struct bb_memtable *memtable, const struct bb_entry *entry,
                               uint64_t key_hash)
{
    struct bb_memtable_path path;
    find_way(memtable, entry->key, &path);
    return bb_memtable_add_at(memtable, &path, entry, key_hash);
}
