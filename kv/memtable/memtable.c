/* Creation, lookups and counts of the memtable.
 *
 * A lookup of an absent key ends at the filter: one cache line, about 10 ns, while the descent
 * takes 80.
 */
#include "kv/memtable/memtable.h"

#include "base/alloc.h"
#include "base/status.h"
#include "kv/memtable/memtable_inner.h"
#include "kv/memtable/memtable_leaf.h"
#include "kv/memtable/memtable_node.h"
#include "kv/memtable/memtable_ranges.h"

/* The filter is sized for one key per this many bytes of capacity, at this many bits per key: about
 * 1 % of the capacity. */
#define CAPACITY_PER_KEY    160
#define FILTER_BITS_PER_KEY 12

/* The minimum capacity of a memtable: a few nodes and records. */
#define CAPACITY_MIN 8192

/* The tree of an empty memtable is one empty leaf without fences. */
static void plant(struct bb_memtable *memtable)
{
    memtable->leaf_count = 0;
    memtable->inner_count = 0;
    memtable->last_record = 0;
    memtable->last_leaf = bb_memtable_leaf_create(memtable, 0, 0, 0);
    atomic_store_explicit(&memtable->root, memtable->last_leaf, memory_order_release);
    atomic_store_explicit(&memtable->counts.keys, 0, memory_order_relaxed);
    atomic_store_explicit(&memtable->counts.sequence_max, 0, memory_order_relaxed);
    atomic_store_explicit(&memtable->counts.raw_bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&memtable->counts.used_bytes, memtable->arena.used, memory_order_relaxed);
}

static uint64_t filter_bytes(const struct bb_memtable *memtable)
{
    return (uint64_t)memtable->filter.line_count * 64;
}

static enum bb_status init(struct bb_memtable *memtable, const struct bb_comparator *comparator,
                           uint64_t capacity)
{
    memtable->comparator = comparator;
    memtable->is_bytewise = comparator == NULL;
    memtable->is_hashed = comparator == NULL || !comparator->equates_different_bytes;
    uint64_t key_count = memtable->is_hashed ? capacity / CAPACITY_PER_KEY : 1;
    enum bb_status status =
        bb_memory_filter_init(&memtable->filter, key_count, FILTER_BITS_PER_KEY);
    if (status != BB_OK)
        return status;
    memtable->capacity = capacity - filter_bytes(memtable);
    /* The space beyond the capacity is for the worst groups of entries: address space, rarely
     * touched. */
    status = bb_arena_init(&memtable->arena, (size_t)(memtable->capacity + memtable->capacity / 4));
    if (status != BB_OK)
        bb_memory_filter_deinit(&memtable->filter);
    memtable->memory = memtable->arena.memory;
    return status;
}

enum bb_status bb_memtable_create(const struct bb_comparator *comparator, uint64_t capacity_bytes,
                                  struct bb_memtable **ret_memtable)
{
    if (capacity_bytes > BB_MEMTABLE_CAPACITY_MAX)
        return bb_fail(BB_TOO_LARGE, "a memtable of %llu bytes, the limit is %llu",
                       (unsigned long long)capacity_bytes,
                       (unsigned long long)BB_MEMTABLE_CAPACITY_MAX);
    struct bb_memtable *memtable = bb_alloc_aligned(64, sizeof(*memtable));
    if (memtable == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a memtable");
    memset(memtable, 0, sizeof(*memtable));
    enum bb_status status =
        init(memtable, comparator, capacity_bytes < CAPACITY_MIN ? CAPACITY_MIN : capacity_bytes);
    if (status != BB_OK) {
        bb_free_aligned(memtable);
        return status;
    }
    plant(memtable);
    *ret_memtable = memtable;
    return BB_OK;
}

void bb_memtable_destroy(struct bb_memtable *memtable)
{
    if (memtable == NULL)
        return;
    bb_memtable_ranges_reset(&memtable->ranges);
    bb_arena_deinit(&memtable->arena);
    bb_memory_filter_deinit(&memtable->filter);
    bb_free_aligned(memtable);
}

void bb_memtable_reset(struct bb_memtable *memtable)
{
    if (memtable->arena.used > memtable->used_before)
        memtable->used_before = memtable->arena.used;
    bb_memtable_ranges_reset(&memtable->ranges);
    bb_arena_reset(&memtable->arena);
    bb_memory_filter_reset(&memtable->filter);
    plant(memtable);
}

static uint64_t count_of(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* The newest version in a chain with a sequence of at most `sequence`; NULL if none. */
static const struct bb_memtable_record *find_version(const struct bb_memtable *memtable,
                                                     uint32_t head, uint64_t sequence)
{
    while (head != 0) {
        const struct bb_memtable_record *record = bb_memtable_record_at(memtable, head);
        if (bb_memtable_record_sequence(record) <= sequence)
            return record;
        head = record->older;
    }
    return NULL;
}

/* Probes for entries only. */
static inline bool tree_may_contain(const struct bb_memtable *memtable, uint64_t key_hash)
{
    return count_of(&memtable->counts.keys) > 0 &&
           (!memtable->is_hashed || bb_memory_filter_may_contain(&memtable->filter, key_hash));
}

static inline enum bb_status get_from_tree(const struct bb_memtable *memtable, struct bb_bytes key,
                                           uint64_t key_hash, uint64_t sequence,
                                           struct bb_bytes *ret_value, enum bb_entry_kind *ret_kind,
                                           uint64_t *ret_sequence)
{
    if (!tree_may_contain(memtable, key_hash))
        return BB_NOT_FOUND;
    uint32_t offset = bb_memtable_inner_find_leaf(memtable, key, false, NULL);
    const struct bb_memtable_leaf *leaf = bb_memtable_leaf_at(memtable, offset);
    uint64_t prefix = bb_memtable_prefix(memtable, key, leaf->skip);
    uint32_t slot = bb_memtable_leaf_find(memtable, leaf, key, prefix, key_hash);
    if (slot == BB_MEMTABLE_NO_SLOT)
        return BB_NOT_FOUND;
    uint32_t head = atomic_load_explicit(&leaf->records[slot], memory_order_acquire);
    const struct bb_memtable_record *record = find_version(memtable, head, sequence);
    if (record == NULL)
        return BB_NOT_FOUND;
    *ret_value = bb_memtable_record_value(record);
    *ret_kind = bb_memtable_record_kind(record);
    *ret_sequence = bb_memtable_record_sequence(record);
    return BB_OK;
}

static inline bool has_ranges(const struct bb_memtable *memtable)
{
    return atomic_load_explicit(&memtable->ranges.newest, memory_order_acquire) != 0;
}

void bb_memtable_prefetch(const struct bb_memtable *memtable, uint64_t key_hash)
{
    if (memtable->is_hashed && count_of(&memtable->counts.keys) > 0)
        bb_memory_filter_prefetch(&memtable->filter, key_hash);
}

bool bb_memtable_may_contain(const struct bb_memtable *memtable, uint64_t key_hash)
{
    return has_ranges(memtable) || tree_may_contain(memtable, key_hash);
}

static __attribute__((noinline)) enum bb_status
get_uncovered(const struct bb_memtable *memtable, struct bb_bytes key, uint64_t key_hash,
              uint64_t sequence, struct bb_bytes *ret_value, enum bb_entry_kind *ret_kind,
              uint64_t *ret_sequence)
{
    uint64_t covering = bb_memtable_ranges_covering(memtable, key, sequence);
    uint64_t found = 0;
    enum bb_status status =
        get_from_tree(memtable, key, key_hash, sequence, ret_value, ret_kind, &found);
    if (status == BB_OK && found >= covering) {
        *ret_sequence = found;
        return BB_OK;
    }
    if (covering == 0)
        return status;
    *ret_value = (struct bb_bytes){0};
    *ret_kind = BB_ENTRY_DELETE;
    *ret_sequence = covering;
    return BB_OK;
}

enum bb_status bb_memtable_get(const struct bb_memtable *memtable, struct bb_bytes key,
                               uint64_t key_hash, uint64_t sequence, struct bb_bytes *ret_value,
                               enum bb_entry_kind *ret_kind, uint64_t *ret_sequence)
{
    return __builtin_expect(has_ranges(memtable), 0)
               ? get_uncovered(memtable, key, key_hash, sequence, ret_value, ret_kind, ret_sequence)
               : get_from_tree(memtable, key, key_hash, sequence, ret_value, ret_kind,
                               ret_sequence);
}

bool bb_memtable_is_empty(const struct bb_memtable *memtable)
{
    return count_of(&memtable->counts.keys) == 0 && bb_memtable_ranges_count(memtable) == 0;
}

uint64_t bb_memtable_key_count(const struct bb_memtable *memtable)
{
    return count_of(&memtable->counts.keys);
}

uint64_t bb_memtable_sequence_max(const struct bb_memtable *memtable)
{
    return count_of(&memtable->counts.sequence_max);
}

uint64_t bb_memtable_raw_bytes(const struct bb_memtable *memtable)
{
    return count_of(&memtable->counts.raw_bytes);
}

uint64_t bb_memtable_used_bytes(const struct bb_memtable *memtable)
{
    return count_of(&memtable->counts.used_bytes) + filter_bytes(memtable);
}

uint64_t bb_memtable_held_bytes(const struct bb_memtable *memtable)
{
    uint64_t used = count_of(&memtable->counts.used_bytes);
    return (used > memtable->used_before ? used : memtable->used_before) + filter_bytes(memtable);
}

uint64_t bb_memtable_capacity(const struct bb_memtable *memtable)
{
    return memtable->capacity + filter_bytes(memtable);
}
