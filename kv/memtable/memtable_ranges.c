/* See the header. */
#include "kv/memtable/memtable_ranges.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "kv/memtable/memtable_node.h"

/* The number of records that are walked before they are indexed: a lookup compares a key with
 * each. */
#define UNINDEXED_MAX 16
/* The number of unindexed records at which the memtable counts as full, if no index can be made. */
#define UNINDEXED_FULL 1024
/* Lists double in size, so there are never more. */
#define LISTS_MAX 32
/* The part of the memtable's capacity that indexes may take before it counts as full. */
#define INDEX_SHARE 4

struct range_list {
    struct bb_range_tombstones *fragments; /* owned by the index that made it */
    uint64_t count;                        /* number of original tombstones */
};

struct bb_memtable_range_index {
    struct bb_memtable_range_index *older; /* the writer's chain of all indexes */
    uint64_t sequence_max;                 /* of the tombstones in it */
    size_t list_count;
    struct range_list lists[LISTS_MAX]; /* oldest and longest first */
    struct bb_range_tombstones *made;   /* the last list, which this index owns */
};

static struct bb_range_tombstone tombstone_of(const struct bb_memtable_record *record)
{
    return (struct bb_range_tombstone){.low = bb_memtable_record_key(record),
                                       .high = bb_memtable_record_value(record),
                                       .sequence = bb_memtable_record_sequence(record)};
}

/* ---- the writer ---- */

void bb_memtable_ranges_reset(struct bb_memtable_ranges *ranges)
{
    while (ranges->indexes != NULL) {
        struct bb_memtable_range_index *index = ranges->indexes;
        ranges->indexes = index->older;
        bb_range_tombstones_destroy(index->made);
        bb_free(index);
    }
    atomic_store_explicit(&ranges->newest, 0, memory_order_relaxed);
    atomic_store_explicit(&ranges->count, 0, memory_order_relaxed);
    atomic_store_explicit(&ranges->index, NULL, memory_order_release);
    ranges->unindexed = 0;
    ranges->index_bytes = 0;
}

bool bb_memtable_ranges_fit(const struct bb_memtable *memtable)
{
    return memtable->ranges.index_bytes <= memtable->capacity / INDEX_SHARE &&
           memtable->ranges.unindexed < UNINDEXED_FULL;
}

/* Adds the newest records, at most `count_max`. */
static enum bb_status add_records(const struct bb_memtable *memtable, uint64_t count_max,
                                  struct bb_range_tombstone_array *array)
{
    uint32_t offset = atomic_load_explicit(&memtable->ranges.newest, memory_order_acquire);
    enum bb_status status = BB_OK;
    for (uint64_t i = 0; i < count_max && offset != 0 && status == BB_OK; i++) {
        const struct bb_memtable_record *record = bb_memtable_record_at(memtable, offset);
        struct bb_range_tombstone tombstone = tombstone_of(record);
        status =
            bb_range_tombstone_array_add(array, tombstone.low, tombstone.high, tombstone.sequence);
        offset = record->older;
    }
    return status;
}

/* Collects the input of the next list: the records without an index, and the lists that are not
 * longer than all later data. */
static enum bb_status gather(const struct bb_memtable *memtable,
                             struct bb_memtable_range_index *next,
                             struct bb_range_tombstone_array *array, uint64_t *ret_count)
{
    const struct bb_memtable_ranges *ranges = &memtable->ranges;
    uint64_t count = ranges->unindexed;
    enum bb_status status = add_records(memtable, count, array);
    while (next->list_count > 0 && next->lists[next->list_count - 1].count <= count &&
           status == BB_OK) {
        const struct range_list *list = &next->lists[--next->list_count];
        status = bb_range_tombstone_array_add_list(array, list->fragments);
        count += list->count;
    }
    *ret_count = count;
    return status;
}

/* Makes the last list of the next index from its records and lists. */
static enum bb_status make_list(const struct bb_memtable *memtable,
                                struct bb_memtable_range_index *next)
{
    struct bb_range_tombstone_array array = {0};
    uint64_t count = 0;
    size_t sequence_count_max = (size_t)(memtable->capacity / INDEX_SHARE / sizeof(uint64_t)) + 1;
    enum bb_status status = gather(memtable, next, &array, &count);
    if (status == BB_OK && next->list_count == LISTS_MAX)
        status = bb_fail(BB_TOO_LARGE, "more than %d lists of range tombstones", LISTS_MAX);
    if (status == BB_OK)
        status = bb_range_tombstones_create(array.tombstones, array.count, memtable->comparator,
                                            sequence_count_max, &next->made);
    bb_range_tombstone_array_deinit(&array);
    if (status == BB_OK)
        next->lists[next->list_count++] = (struct range_list){next->made, count};
    return status;
}

/* Without memory for an index, lookups walk the records instead; it is tried again when there are
 * twice as many. */
static void extend_index(struct bb_memtable *memtable)
{
    struct bb_memtable_ranges *ranges = &memtable->ranges;
    const struct bb_memtable_range_index *index =
        atomic_load_explicit(&ranges->index, memory_order_relaxed);
    struct bb_memtable_range_index *next = bb_alloc_zeroed(1, sizeof(*next));
    if (next == NULL)
        return;
    if (index != NULL)
        *next = *index;
    next->made = NULL;
    if (make_list(memtable, next) != BB_OK) {
        bb_free(next);
        return;
    }
    uint32_t newest = atomic_load_explicit(&ranges->newest, memory_order_relaxed);
    next->sequence_max = bb_memtable_record_sequence(bb_memtable_record_at(memtable, newest));
    next->older = ranges->indexes;
    ranges->indexes = next;
    ranges->index_bytes += sizeof(*next) + next->made->memory_size;
    ranges->unindexed = 0;
    atomic_store_explicit(&ranges->index, next, memory_order_release);
}

void bb_memtable_ranges_add(struct bb_memtable *memtable, uint32_t record)
{
    struct bb_memtable_ranges *ranges = &memtable->ranges;
    uint64_t count = atomic_load_explicit(&ranges->count, memory_order_relaxed);
    atomic_store_explicit(&ranges->newest, record, memory_order_release);
    atomic_store_explicit(&ranges->count, count + 1, memory_order_relaxed);
    ranges->unindexed++;
    bool is_power_of_two = (ranges->unindexed & (ranges->unindexed - 1)) == 0;
    if (ranges->unindexed >= UNINDEXED_MAX && is_power_of_two)
        extend_index(memtable);
}

/* ---- readers ---- */

/* Iterates over the tombstones: first the records newer than the index, then the index. */
struct walk {
    uint32_t record; /* 0 at the end */
    const struct bb_memtable_range_index *index;
};

/* The index is loaded last: it may be newer than the loaded chain, but never older. */
static struct walk begin_walk(const struct bb_memtable *memtable)
{
    uint32_t newest = atomic_load_explicit(&memtable->ranges.newest, memory_order_acquire);
    const struct bb_memtable_range_index *index =
        atomic_load_explicit(&memtable->ranges.index, memory_order_acquire);
    return (struct walk){.record = newest, .index = index};
}

static bool next_tombstone(const struct bb_memtable *memtable, struct walk *walk,
                           struct bb_range_tombstone *ret_tombstone)
{
    if (walk->record == 0)
        return false;
    const struct bb_memtable_record *record = bb_memtable_record_at(memtable, walk->record);
    *ret_tombstone = tombstone_of(record);
    if (walk->index != NULL && ret_tombstone->sequence <= walk->index->sequence_max)
        return false;
    walk->record = record->older;
    return true;
}

static bool covers(const struct bb_memtable *memtable, const struct bb_range_tombstone *tombstone,
                   struct bb_bytes key)
{
    return bb_key_compare(memtable->comparator, tombstone->low, key) <= 0 &&
           bb_key_compare(memtable->comparator, key, tombstone->high) < 0;
}

uint64_t bb_memtable_ranges_covering(const struct bb_memtable *memtable, struct bb_bytes key,
                                     uint64_t sequence)
{
    BB_DEBUG_ASSERT(atomic_load_explicit(&memtable->ranges.newest, memory_order_relaxed) != 0);
    struct walk walk = begin_walk(memtable);
    struct bb_range_tombstone tombstone;
    uint64_t greatest = 0;
    while (next_tombstone(memtable, &walk, &tombstone)) {
        if (tombstone.sequence <= sequence && covers(memtable, &tombstone, key))
            return tombstone.sequence; /* the chain descends */
    }
    for (size_t i = 0; walk.index != NULL && i < walk.index->list_count; i++) {
        uint64_t found =
            bb_range_tombstones_covering(walk.index->lists[i].fragments, key, sequence);
        greatest = found > greatest ? found : greatest;
    }
    return greatest;
}

void bb_memtable_ranges_narrow(const struct bb_memtable *memtable, struct bb_bytes key,
                               uint64_t sequence, struct bb_range_tombstone_region *region)
{
    struct walk walk = begin_walk(memtable);
    struct bb_range_tombstone tombstone;
    while (next_tombstone(memtable, &walk, &tombstone))
        bb_range_tombstone_region_take(region, memtable->comparator, key, sequence, &tombstone);
    for (size_t i = 0; walk.index != NULL && i < walk.index->list_count; i++)
        bb_range_tombstone_region_take_list(region, walk.index->lists[i].fragments, key, sequence);
}

enum bb_status bb_memtable_ranges_list(const struct bb_memtable *memtable,
                                       struct bb_range_tombstone_array *array)
{
    return add_records(memtable, UINT64_MAX, array);
}

enum bb_status bb_memtable_ranges_list_seen(const struct bb_memtable *memtable, uint64_t sequence,
                                            const uint64_t *snapshots, size_t snapshot_count,
                                            struct bb_range_tombstones **ret_list)
{
    struct bb_range_tombstone_array array = {0};
    size_t count = 0;
    enum bb_status status = bb_memtable_ranges_list(memtable, &array);
    for (size_t i = 0; i < array.count; i++) {
        if (array.tombstones[i].sequence <= sequence)
            array.tombstones[count++] = array.tombstones[i];
    }
    if (status == BB_OK && count > 0)
        status = bb_range_tombstones_create_seen(array.tombstones, count, memtable->comparator,
                                                 snapshots, snapshot_count, ret_list);
    bb_range_tombstone_array_deinit(&array);
    return status;
}

uint64_t bb_memtable_ranges_count(const struct bb_memtable *memtable)
{
    return atomic_load_explicit(&memtable->ranges.count, memory_order_relaxed);
}
