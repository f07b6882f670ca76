/* See log_run.h.
 *
 * Keys are compared by eight bytes at a time. The items carry these bytes, so that sorting reads no
 * key: items are sorted by the bytes at some depth, and equal ones are sorted again by the bytes
 * after their shared prefix. Each key is read once per depth, instead of once per comparison with a
 * cache miss each.
 */
#include "kv/recovery/log_run.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/prefetch.h"
#include "base/status.h"

#define CAPACITY_MAX (UINT64_C(24) << 30)
/* Equal items are sorted at this many depths before whole keys are compared. Keys that share ever
 * longer prefixes would otherwise recurse 8,192 calls deep. */
#define DEPTH_MAX 64
/* Runs of up to this size are sorted by insertion. */
#define INSERTION_MAX 12
/* The number of records to prefetch. */
#define PREFETCH_AHEAD 8

struct record {
    uint64_t sequence_and_kind; /* and a flag: the value is IN_PLACE */
    uint32_t key_size;
    uint32_t value_size;
    uint8_t bytes[]; /* key, then the value or its address */
};
#define IN_PLACE  UINT64_C(0x80)
#define KIND_MASK UINT64_C(0x7f)

struct item {
    /* Eight bytes of the key after its first `skip` bytes, padded with zeros. */
    uint64_t prefix;
    uint32_t record; /* place in the arena */
    /* Bytes of the key after skip; LONGER_REST: more than the prefix has. */
    uint32_t rest;
};
#define PREFIX_SIZE 8
#define LONGER_REST (PREFIX_SIZE + 1)

struct bb_log_run {
    const struct bb_comparator *comparator; /* borrowed; NULL: bytewise */
    struct bb_arena arena;
    struct bb_buf items;     /* struct item */
    struct bb_buf kept;      /* struct bb_buf, owned */
    uint64_t in_place_bytes; /* of values */
    size_t count;            /* of items */
    struct bb_range_tombstone_array ranges;
    uint64_t capacity;
    uint64_t twice; /* items that share their key with another one */
};

/* The overhead of an operation: its head, rounding, an address, and its item twice, because sorting
 * needs a second place; or its range. */
#define OPERATION_BYTES                                                                            \
    (sizeof(struct record) + BB_ARENA_UNIT + sizeof(void *) + 2 * sizeof(struct item))

enum bb_status bb_log_run_create(const struct bb_comparator *comparator, uint64_t capacity_bytes,
                                 uint64_t first_bytes, struct bb_log_run **ret_run)
{
    uint64_t needed = first_bytes + OPERATION_BYTES + BB_ARENA_UNIT;
    uint64_t capacity = needed > capacity_bytes ? needed : capacity_bytes;
    if (capacity > CAPACITY_MAX)
        return bb_fail(BB_TOO_LARGE, "a run of %llu bytes of logs, the limit is %llu",
                       (unsigned long long)capacity, (unsigned long long)CAPACITY_MAX);
    struct bb_log_run *run = bb_alloc_zeroed(1, sizeof(*run));
    if (run == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a run of logs");
    run->comparator = comparator;
    run->capacity = capacity;
    /* Address space: memory for items is allocated separately. */
    enum bb_status status = bb_arena_init(&run->arena, (size_t)capacity);
    if (status != BB_OK) {
        bb_free(run);
        return status;
    }
    *ret_run = run;
    return BB_OK;
}

void bb_log_run_destroy(struct bb_log_run *run)
{
    if (run == NULL)
        return;
    struct bb_buf *kept = (struct bb_buf *)(void *)run->kept.data;
    for (size_t i = 0; i < run->kept.size / sizeof(*kept); i++)
        bb_buf_deinit(&kept[i]);
    bb_buf_deinit(&run->kept);
    bb_range_tombstone_array_deinit(&run->ranges);
    bb_buf_deinit(&run->items);
    bb_arena_deinit(&run->arena);
    bb_free(run);
}

static uint64_t used_bytes(const struct bb_log_run *run)
{
    uint64_t operations = run->count + run->ranges.count;
    return run->arena.used + run->in_place_bytes + operations * 2 * sizeof(struct item);
}

bool bb_log_run_fits(const struct bb_log_run *run, uint64_t raw_bytes)
{
    return used_bytes(run) + OPERATION_BYTES + raw_bytes <= run->capacity;
}

bool bb_log_run_is_empty(const struct bb_log_run *run)
{
    return run->count == 0 && run->ranges.count == 0;
}

static const struct record *record_at(const struct bb_log_run *run, uint32_t place)
{
    BB_DEBUG_ASSERT(place != 0);
    return bb_arena_at(&run->arena, place);
}

static struct bb_bytes key_of(const struct record *record)
{
    return bb_bytes_of(record->bytes, record->key_size);
}

static struct bb_bytes value_of(const struct record *record)
{
    const uint8_t *value = record->bytes + record->key_size;
    if ((record->sequence_and_kind & IN_PLACE) != 0) {
        const uint8_t *place = NULL;
        memcpy(&place, value, sizeof(place));
        value = place;
    }
    return bb_bytes_of(value, record->value_size);
}

static struct item item_of(struct bb_bytes key, uint32_t record, size_t skip)
{
    struct bb_bytes rest = bb_bytes_of(key.data + skip, key.size - skip);
    return (struct item){.prefix = bb_bytes_prefix64(rest),
                         .record = record,
                         .rest = rest.size < LONGER_REST ? (uint32_t)rest.size : LONGER_REST};
}

static void copy_bytes(uint8_t *to, struct bb_bytes bytes)
{
    if (bytes.size > 0)
        memcpy(to, bytes.data, bytes.size);
}

/* Adds head and key, and reserves `rest` bytes after them, at *ret_rest. */
static enum bb_status add_record(struct bb_log_run *run, const struct bb_entry *entry, size_t rest,
                                 uint32_t *ret_place, uint8_t **ret_rest)
{
    size_t size = sizeof(struct record) + entry->key.size + rest;
    uint32_t place = bb_arena_alloc(&run->arena, size, BB_ARENA_UNIT);
    if (place == 0)
        return bb_fail(BB_NO_SPACE, "no space for an operation of %zu bytes in a run of logs",
                       size);
    struct record *record = bb_arena_at(&run->arena, place);
    record->sequence_and_kind = entry->sequence << 8 | (uint64_t)entry->kind;
    record->key_size = (uint32_t)entry->key.size;
    record->value_size = (uint32_t)entry->value.size;
    copy_bytes(record->bytes, entry->key);
    *ret_place = place;
    *ret_rest = record->bytes + entry->key.size;
    return BB_OK;
}

static enum bb_status add_item(struct bb_log_run *run, uint32_t place)
{
    struct item item = item_of(key_of(record_at(run, place)), place, 0);
    enum bb_status status = bb_buf_append(&run->items, &item, sizeof(item));
    run->count += status == BB_OK;
    return status;
}

enum bb_status bb_log_run_add(struct bb_log_run *run, const struct bb_entry *entry)
{
    bool is_range = entry->kind == BB_ENTRY_DELETE_RANGE;
    uint32_t place = 0;
    uint8_t *rest = NULL;
    if (is_range && bb_key_compare(run->comparator, entry->key, entry->value) >= 0)
        return BB_OK;
    enum bb_status status = add_record(run, entry, entry->value.size, &place, &rest);
    if (status != BB_OK)
        return status;
    copy_bytes(rest, entry->value);
    if (!is_range)
        return add_item(run, place);
    const struct record *record = record_at(run, place);
    return bb_range_tombstone_array_add(&run->ranges, key_of(record), value_of(record),
                                        entry->sequence);
}

enum bb_status bb_log_run_add_in_place(struct bb_log_run *run, const struct bb_entry *entry)
{
    uint32_t place = 0;
    uint8_t *rest = NULL;
    BB_ASSERT(entry->kind == BB_ENTRY_PUT);
    enum bb_status status = add_record(run, entry, sizeof(entry->value.data), &place, &rest);
    if (status != BB_OK)
        return status;
    memcpy(rest, &entry->value.data, sizeof(entry->value.data));
    struct record *record = bb_arena_at(&run->arena, place);
    record->sequence_and_kind |= IN_PLACE;
    run->in_place_bytes += entry->value.size;
    return add_item(run, place);
}

enum bb_status bb_log_run_keep(struct bb_log_run *run, struct bb_buf *buf)
{
    enum bb_status status = bb_buf_append(&run->kept, buf, sizeof(*buf));
    if (status == BB_OK)
        *buf = (struct bb_buf){0};
    return status;
}

/* ---- sorting ---- */

static inline bool is_before_by_prefix(const struct bb_log_run *run, const struct item *a,
                                       const struct item *b)
{
    (void)run;
    return (a->prefix < b->prefix) | ((a->prefix == b->prefix) & (a->rest < b->rest));
}

static int compare_keys(const struct bb_log_run *run, const struct item *a, const struct item *b)
{
    return bb_key_compare(run->comparator, key_of(record_at(run, a->record)),
                          key_of(record_at(run, b->record)));
}

static bool is_before_by_key(const struct bb_log_run *run, const struct item *a,
                             const struct item *b)
{
    return compare_keys(run, a, b) < 0;
}

typedef bool before_fn(const struct bb_log_run *run, const struct item *a, const struct item *b);

static inline void insertion_sort(const struct bb_log_run *run, struct item *items, size_t count,
                                  before_fn *is_before)
{
    for (size_t i = 1; i < count; i++) {
        struct item item = items[i];
        size_t j = i;
        for (; j > 0 && is_before(run, &item, &items[j - 1]); j--)
            items[j] = items[j - 1];
        items[j] = item;
    }
}

/* Merges left and right, both sorted and adjacent, into the items. Equal items keep their order:
 * left first. The next one is close to random, so the choice has no branch. */
static inline void merge_halves(const struct bb_log_run *run, struct item *items,
                                struct item *scratch, size_t half, size_t count,
                                before_fn *is_before)
{
    if (!is_before(run, &items[half], &items[half - 1]))
        return; /* sorted already, as keys often arrive */
    memcpy(scratch, items, half * sizeof(*items));
    const struct item *left = scratch;
    const struct item *left_end = scratch + half;
    const struct item *right = items + half;
    const struct item *right_end = items + count;
    while (left < left_end && right < right_end) {
        bool takes_right = is_before(run, right, left);
        *items++ = *(takes_right ? right : left);
        right += takes_right;
        left += !takes_right;
    }
    memcpy(items, left, (size_t)(left_end - left) * sizeof(*items));
}

/* A stable merge sort from short runs to long ones; scratch has space for half of the items. */
static inline void merge_sort(const struct bb_log_run *run, struct item *items,
                              struct item *scratch, size_t count, before_fn *is_before)
{
    for (size_t i = 0; i < count; i += INSERTION_MAX)
        insertion_sort(run, items + i, count - i < INSERTION_MAX ? count - i : INSERTION_MAX,
                       is_before);
    for (size_t half = INSERTION_MAX; half < count; half *= 2) {
        for (size_t i = 0; i + half < count; i += 2 * half) {
            size_t both = count - i < 2 * half ? count - i : 2 * half;
            merge_halves(run, items + i, scratch, half, both, is_before);
        }
    }
}

/* Reverses the versions of each key to newest first. */
static void reverse_versions(struct bb_log_run *run, struct item *items, size_t count)
{
    run->twice += count - 1;
    for (size_t i = 0; i < count / 2; i++) {
        struct item item = items[i];
        items[i] = items[count - 1 - i];
        items[count - 1 - i] = item;
    }
}

static void sort_by_key(struct bb_log_run *run, struct item *items, struct item *scratch,
                        size_t count)
{
    merge_sort(run, items, scratch, count, is_before_by_key);
    for (size_t i = 0, end = 0; i < count; i = end) {
        for (end = i + 1; end < count && compare_keys(run, &items[i], &items[end]) == 0; end++)
            ;
        reverse_versions(run, items + i, end - i);
    }
}

/* Moves the items' prefixes past their shared bytes; they share `skip` bytes already. Returns the
 * number of shared bytes. */
static size_t skip_common(const struct bb_log_run *run, struct item *items, size_t count,
                          size_t skip)
{
    struct bb_bytes first = key_of(record_at(run, items[0].record));
    size_t common = first.size - skip;
    for (size_t i = 1; i < count && common > 0; i++) {
        struct bb_bytes key = key_of(record_at(run, items[i].record));
        common = bb_bytes_shared_prefix(bb_bytes_of(first.data + skip, common),
                                        bb_bytes_of(key.data + skip, key.size - skip));
    }
    for (size_t i = 0; i < count; i++)
        items[i] = item_of(key_of(record_at(run, items[i].record)), items[i].record, skip + common);
    return skip + common;
}

/* Sorts items that share skip bytes of their keys by the prefixes after them. */
static void sort_by_prefix(struct bb_log_run *run, struct item *items, struct item *scratch,
                           size_t count, size_t skip, unsigned depth)
{
    merge_sort(run, items, scratch, count, is_before_by_prefix);
    for (size_t i = 0, end = 0; i < count; i = end) {
        for (end = i + 1; end < count && !is_before_by_prefix(run, &items[i], &items[end]); end++)
            ;
        if (end == i + 1)
            continue;
        if (items[i].rest < LONGER_REST) {
            reverse_versions(run, items + i, end - i);
        } else if (depth == DEPTH_MAX) {
            sort_by_key(run, items + i, scratch, end - i);
        } else {
            size_t common = skip_common(run, items + i, end - i, skip + PREFIX_SIZE);
            sort_by_prefix(run, items + i, scratch, end - i, common, depth + 1);
        }
    }
}

enum bb_status bb_log_run_sort(struct bb_log_run *run)
{
    if (run->count < 2)
        return BB_OK;
    struct item *items = (struct item *)(void *)run->items.data;
    struct item *scratch = bb_alloc(run->count * sizeof(*scratch));
    if (scratch == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for sorting %zu operations", run->count);
    if (run->comparator != NULL)
        sort_by_key(run, items, scratch, run->count);
    else
        sort_by_prefix(run, items, scratch, run->count, 0, 0);
    bb_free(scratch);
    return BB_OK;
}

uint64_t bb_log_run_key_count(const struct bb_log_run *run)
{
    return run->count - run->twice;
}

/* ---- iteration ---- */

struct log_run_iter {
    struct bb_iter iter; /* must be first */
    const struct bb_log_run *run;
    const struct item *items;
    size_t position;
};

static void prefetch(const struct log_run_iter *walk, size_t position)
{
    if (position >= walk->run->count)
        return;
    const uint8_t *record = bb_arena_at(&walk->run->arena, walk->items[position].record);
    __builtin_prefetch(record);
    __builtin_prefetch(record + 64);
    __builtin_prefetch(record + 128);
    bb_prefetch_done(record);
}

static void show(struct log_run_iter *walk, size_t position)
{
    walk->position = position;
    walk->iter.is_valid = position < walk->run->count;
    if (!walk->iter.is_valid)
        return;
    prefetch(walk, position + PREFETCH_AHEAD);
    const struct record *record = record_at(walk->run, walk->items[position].record);
    walk->iter.entry.key = key_of(record);
    walk->iter.entry.value = value_of(record);
    walk->iter.entry.sequence = record->sequence_and_kind >> 8;
    walk->iter.entry.kind = (enum bb_entry_kind)(record->sequence_and_kind & KIND_MASK);
}

static void iter_destroy(struct bb_iter *iter)
{
    bb_free(iter);
}

static void iter_seek_first(struct bb_iter *iter)
{
    show((struct log_run_iter *)iter, 0);
}

static void iter_next(struct bb_iter *iter)
{
    struct log_run_iter *walk = (struct log_run_iter *)iter;
    BB_DEBUG_ASSERT(iter->is_valid);
    show(walk, walk->position + 1);
}

static const struct bb_iter_ops iter_ops = {
    .destroy = iter_destroy, .seek_first = iter_seek_first, .next = iter_next};

enum bb_status bb_log_run_iter_create(const struct bb_log_run *run, struct bb_iter **ret_iter)
{
    struct log_run_iter *walk = bb_alloc_zeroed(1, sizeof(*walk));
    if (walk == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a walk through a run of logs");
    walk->iter.ops = &iter_ops;
    walk->run = run;
    walk->items = (const struct item *)(const void *)run->items.data;
    *ret_iter = &walk->iter;
    return BB_OK;
}

enum bb_status bb_log_run_ranges(const struct bb_log_run *run,
                                 struct bb_range_tombstones **ret_ranges)
{
    *ret_ranges = NULL;
    if (run->ranges.count == 0)
        return BB_OK;
    return bb_range_tombstones_create_seen(run->ranges.tombstones, run->ranges.count,
                                           run->comparator, NULL, 0, ret_ranges);
}
