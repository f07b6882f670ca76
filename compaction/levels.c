/* See levels.h. */
#include "compaction/levels.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/buf.h"
#include "base/status.h"
#include "sstable/prefix_search.h"

enum bb_status bb_levels_create_empty(const struct bb_comparator *comparator,
                                      struct bb_levels **ret_levels)
{
    struct bb_levels *levels = bb_alloc_zeroed(1, sizeof(*levels));
    if (levels == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a set of levels");
    atomic_init(&levels->references, 1);
    levels->comparator = comparator;
    *ret_levels = levels;
    return BB_OK;
}

struct bb_levels *bb_levels_ref(struct bb_levels *levels)
{
    atomic_fetch_add_explicit(&levels->references, 1, memory_order_relaxed);
    return levels;
}

static void deinit_level(struct bb_level *level)
{
    for (size_t i = 0; i < level->count; i++)
        bb_table_file_unref(level->files[i]);
    bb_free(level->files);
    bb_free(level->largest_prefixes);
}

void bb_levels_unref(struct bb_levels *levels)
{
    if (levels == NULL ||
        atomic_fetch_sub_explicit(&levels->references, 1, memory_order_acq_rel) > 1)
        return;
    for (int i = 0; i < BB_LEVEL_COUNT; i++)
        deinit_level(&levels->levels[i]);
    bb_free(levels);
}

static bool is_among(const uint64_t *numbers, size_t count, uint64_t number)
{
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] == number)
            return true;
    }
    return false;
}

struct change {
    const struct bb_levels *old;
    const uint64_t *removed;
    size_t removed_count;
    const struct bb_level_change *added;
    size_t added_count;
};

static struct bb_bytes smallest(const struct bb_table_file *file)
{
    return bb_buf_bytes(&file->meta.smallest);
}

static struct bb_bytes largest(const struct bb_table_file *file)
{
    return bb_buf_bytes(&file->meta.largest);
}

/* Where a file belongs among those of its level that are already in place. */
static size_t find_place(const struct bb_levels *levels, int number, const struct bb_level *level,
                         const struct bb_table_file *file)
{
    size_t low = 0;
    size_t high = level->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct bb_table_file *other = level->files[middle];
        bool is_before =
            number == 0 ? other->number > file->number
                        : bb_key_compare(levels->comparator, smallest(other), smallest(file)) < 0;
        if (is_before)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert_at(struct bb_level *level, size_t place, struct bb_table_file *file)
{
    memmove(&level->files[place + 1], &level->files[place],
            (level->count - place) * sizeof(struct bb_table_file *));
    level->files[place] = bb_table_file_ref(file);
    level->count++;
    level->key_count += file->meta.key_count;
    level->raw_bytes += file->meta.raw_bytes;
    level->file_bytes += file->meta.file_size;
    level->filter_bytes += file->meta.filter_bytes;
    level->rate_sum += file->filter_rate;
    level->rate_keys += file->filter_rate * (double)file->meta.key_count;
}

static enum bb_status fill_level(struct bb_levels *levels, int number, const struct change *change)
{
    const struct bb_level *old = &change->old->levels[number];
    struct bb_level *level = &levels->levels[number];
    level->files = bb_alloc_zeroed(old->count + change->added_count + 1, sizeof(*level->files));
    if (level->files == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a level of %zu tables", old->count);
    for (size_t i = 0; i < old->count; i++) {
        if (!is_among(change->removed, change->removed_count, old->files[i]->number))
            insert_at(level, level->count, old->files[i]);
    }
    for (size_t i = 0; i < change->added_count; i++) {
        struct bb_table_file *file = change->added[i].file;
        if (change->added[i].level == number)
            insert_at(level, find_place(levels, number, level, file), file);
    }
    return BB_OK;
}

static enum bb_status check_level(const struct bb_levels *levels, int number)
{
    const struct bb_level *level = &levels->levels[number];
    for (size_t i = 1; i < level->count && number > 0; i++) {
        const struct bb_table_file *a = level->files[i - 1];
        const struct bb_table_file *b = level->files[i];
        if (bb_key_compare(levels->comparator, largest(a), smallest(b)) >= 0)
            return bb_fail(BB_CORRUPT, "tables %" PRIu64 " and %" PRIu64 " of level %d overlap",
                           a->number, b->number, number);
    }
    return BB_OK;
}

static size_t shared_by_all(const struct bb_level *level)
{
    size_t shared = largest(level->files[0]).size;
    for (size_t i = 1; i < level->count; i++) {
        size_t size = bb_bytes_shared_prefix(largest(level->files[0]), largest(level->files[i]));
        shared = size < shared ? size : shared;
    }
    return shared;
}

static struct bb_bytes behind(struct bb_bytes bytes, size_t size)
{
    return size == 0 ? bytes : bb_bytes_of(bytes.data + size, bytes.size - size);
}

static enum bb_status index_level(struct bb_levels *levels, int number)
{
    struct bb_level *level = &levels->levels[number];
    if (number == 0 || level->count == 0 || levels->comparator != NULL)
        return BB_OK;
    level->largest_prefixes = bb_alloc_zeroed(level->count, sizeof(uint64_t));
    if (level->largest_prefixes == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the fences of %zu tables", level->count);
    level->shared_size = shared_by_all(level);
    for (size_t i = 0; i < level->count; i++)
        level->largest_prefixes[i] =
            bb_bytes_prefix64(behind(largest(level->files[i]), level->shared_size));
    return BB_OK;
}

static enum bb_status check_removed(const struct change *change)
{
    for (size_t i = 0; i < change->removed_count; i++) {
        if (bb_levels_find_number(change->old, change->removed[i]) == NULL)
            return bb_fail(BB_CORRUPT, "table %" PRIu64 " is to be removed and is not live",
                           change->removed[i]);
    }
    return BB_OK;
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static enum bb_status fail_taken(uint64_t number)
{
    return bb_fail(BB_CORRUPT, "table %" PRIu64 " is to be added and is already live", number);
}

/* No number is added twice, or stays live beside. Sorted, because opening adds all tables at once.
 */
static enum bb_status check_added_numbers(const struct change *change)
{
    enum bb_status status = BB_OK;
    uint64_t *numbers = bb_alloc_zeroed(change->added_count, sizeof(*numbers));
    if (numbers == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu new tables", change->added_count);
    for (size_t i = 0; i < change->added_count; i++)
        numbers[i] = change->added[i].file->number;
    qsort(numbers, change->added_count, sizeof(*numbers), compare_numbers);
    for (size_t i = 0; i < change->added_count && status == BB_OK; i++) {
        if (i > 0 && numbers[i] == numbers[i - 1])
            status = fail_taken(numbers[i]);
        else if (bb_levels_find_number(change->old, numbers[i]) != NULL &&
                 !is_among(change->removed, change->removed_count, numbers[i]))
            status = fail_taken(numbers[i]);
    }
    bb_free(numbers);
    return status;
}

static enum bb_status check_added(const struct change *change)
{
    for (size_t i = 0; i < change->added_count; i++) {
        const struct bb_table_file *file = change->added[i].file;
        int level = change->added[i].level;
        if (level < 0 || level >= BB_LEVEL_COUNT)
            return bb_fail(BB_CORRUPT, "table %" PRIu64 " is to be in level %d, the last one is %d",
                           file->number, level, BB_LEVEL_COUNT - 1);
        if (bb_key_compare(change->old->comparator, smallest(file), largest(file)) > 0)
            return bb_fail(BB_CORRUPT, "table %" PRIu64 " has a smallest key above its largest",
                           file->number);
    }
    return check_added_numbers(change);
}

static enum bb_status fill(struct bb_levels *levels, const struct change *change)
{
    enum bb_status status = check_removed(change);
    if (status == BB_OK)
        status = check_added(change);
    for (int number = 0; number < BB_LEVEL_COUNT && status == BB_OK; number++) {
        status = fill_level(levels, number, change);
        if (status == BB_OK)
            status = check_level(levels, number);
        if (status == BB_OK)
            status = index_level(levels, number);
    }
    return status;
}

/* Half of the newest run and half of what was: one that was flushed early says little. */
static uint64_t run_keys_after(const struct bb_levels *old, const struct bb_levels *levels)
{
    const struct bb_level *level0 = &levels->levels[0];
    if (level0->count == 0)
        return old->level0_run_keys;
    uint64_t newest = level0->files[0]->meta.key_count;
    bool is_new = bb_levels_find_number(old, level0->files[0]->number) == NULL;
    if (!is_new)
        return old->level0_run_keys;
    return old->level0_run_keys == 0 ? newest : (old->level0_run_keys + newest) / 2;
}

enum bb_status bb_levels_apply(const struct bb_levels *levels, const uint64_t *removed,
                               size_t removed_count, const struct bb_level_change *added,
                               size_t added_count, struct bb_levels **ret_levels)
{
    struct change change = {.old = levels,
                            .removed = removed,
                            .removed_count = removed_count,
                            .added = added,
                            .added_count = added_count};
    struct bb_levels *made = NULL;
    enum bb_status status = bb_levels_create_empty(levels->comparator, &made);
    if (status == BB_OK)
        status = fill(made, &change);
    if (status != BB_OK) {
        bb_levels_unref(made);
        return status;
    }
    made->level0_run_keys = run_keys_after(levels, made);
    *ret_levels = made;
    return BB_OK;
}

struct bb_table_file *bb_levels_find_number(const struct bb_levels *levels, uint64_t number)
{
    for (int i = 0; i < BB_LEVEL_COUNT; i++) {
        for (size_t j = 0; j < levels->levels[i].count; j++) {
            if (levels->levels[i].files[j]->number == number)
                return levels->levels[i].files[j];
        }
    }
    return NULL;
}

/* Among the files from `low` to `high` - 1: the first whose largest key is not below key. */
static size_t search(const struct bb_levels *levels, const struct bb_level *level, size_t low,
                     size_t high, struct bb_bytes key)
{
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (bb_key_compare(levels->comparator, largest(level->files[middle]), key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t bb_levels_find_index(const struct bb_levels *levels, int number, struct bb_bytes key)
{
    const struct bb_level *level = &levels->levels[number];
    if (level->count == 0 || level->largest_prefixes == NULL)
        return search(levels, level, 0, level->count, key);
    struct bb_bytes shared = bb_bytes_of(largest(level->files[0]).data, level->shared_size);
    struct bb_bytes head = key.size < shared.size ? key : bb_bytes_of(key.data, shared.size);
    int order = bb_bytes_compare(head, shared);
    if (order != 0)
        return order < 0 ? 0 : level->count;
    uint64_t prefix = bb_bytes_prefix64(behind(key, shared.size));
    uint32_t count = (uint32_t)level->count;
    uint32_t below = bb_prefix_search(level->largest_prefixes, count, prefix);
    uint32_t ties = bb_prefix_ties(level->largest_prefixes + below, count - below, prefix);
    return search(levels, level, below, (size_t)below + ties, key);
}

struct bb_table_file *bb_levels_find(const struct bb_levels *levels, int number,
                                     struct bb_bytes key)
{
    size_t index = bb_levels_find_index(levels, number, key);
    if (index == levels->levels[number].count)
        return NULL;
    struct bb_table_file *file = levels->levels[number].files[index];
    return bb_key_compare(levels->comparator, smallest(file), key) <= 0 ? file : NULL;
}

void bb_levels_find_overlap(const struct bb_levels *levels, int number, struct bb_bytes low,
                            struct bb_bytes high, size_t *ret_first, size_t *ret_end)
{
    const struct bb_level *level = &levels->levels[number];
    size_t first = bb_levels_find_index(levels, number, low);
    size_t end = bb_levels_find_index(levels, number, high);
    /* The first table that does not end before high may begin before it. */
    if (end < level->count &&
        bb_key_compare(levels->comparator, smallest(level->files[end]), high) <= 0)
        end++;
    *ret_first = first;
    *ret_end = end;
}

int bb_levels_deepest(const struct bb_levels *levels)
{
    int deepest = 0;
    for (int i = 1; i < BB_LEVEL_COUNT; i++)
        deepest = levels->levels[i].count > 0 ? i : deepest;
    return deepest;
}

uint64_t bb_levels_key_count(const struct bb_levels *levels)
{
    uint64_t count = 0;
    for (int i = 0; i < BB_LEVEL_COUNT; i++)
        count += levels->levels[i].key_count;
    return count;
}
