/* See levels.h. */
#include "compaction/levels/levels.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"

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
    for (size_t i = 0; i < level->run_count; i++)
        bb_run_deinit(&level->runs[i]);
    bb_free(level->files);
    bb_free(level->runs);
}

void bb_levels_unref(struct bb_levels *levels)
{
    if (levels == NULL ||
        atomic_fetch_sub_explicit(&levels->references, 1, memory_order_acq_rel) > 1)
        return;
    for (int i = 0; i < BB_LEVEL_COUNT; i++)
        deinit_level(&levels->levels[i]);
    bb_free(levels->turns);
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

/* A table and its run number. */
struct slot {
    uint64_t run;
    struct bb_table_file *file;
};

/* Orders by run, newest first, and within a run by key. */
static bool is_before(const struct bb_levels *levels, const struct slot *a, const struct slot *b)
{
    if (a->run != b->run)
        return a->run > b->run;
    return bb_key_compare(levels->comparator, bb_table_file_smallest(a->file),
                          bb_table_file_smallest(b->file)) < 0;
}

/* The position of a table among the tables of its level that are already in place. */
static size_t find_place(const struct bb_levels *levels, const struct slot *slots, size_t count,
                         const struct slot *slot)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_before(levels, &slots[middle], slot))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Lists the tables of the new level in order; returns their number. */
static size_t list_slots(const struct bb_levels *levels, int number, const struct change *change,
                         struct slot *slots)
{
    size_t count = 0;
    const struct bb_level *old = &change->old->levels[number];
    for (size_t r = 0; r < old->run_count; r++) {
        const struct bb_run *run = &old->runs[r];
        for (size_t i = 0; i < run->count; i++) {
            if (!is_among(change->removed, change->removed_count, run->files[i]->number))
                slots[count++] = (struct slot){run->number, run->files[i]};
        }
    }
    for (size_t i = 0; i < change->added_count; i++) {
        const struct bb_level_change *added = &change->added[i];
        if (added->level != number)
            continue;
        struct slot slot = {number == 0 ? added->file->number : added->run, added->file};
        size_t place = find_place(levels, slots, count, &slot);
        memmove(&slots[place + 1], &slots[place], (count - place) * sizeof(*slots));
        slots[place] = slot;
        count++;
    }
    return count;
}

static void append(struct bb_level *level, struct bb_table_file *file)
{
    BB_DEBUG_ASSERT(level->files != NULL);
    level->files[level->count++] = bb_table_file_ref(file);
    level->key_count += file->meta.key_count;
    level->raw_bytes += file->meta.raw_bytes;
    level->file_bytes += file->meta.file_size;
    level->filter_bytes += file->meta.filter_bytes;
}

static enum bb_status take_run(struct bb_levels *levels, int number, const struct slot *slots,
                               size_t count)
{
    BB_DEBUG_ASSERT(count > 0);
    struct bb_level *level = &levels->levels[number];
    struct bb_run run = {
        .number = slots[0].run, .files = &level->files[level->count], .count = count};
    for (size_t i = 0; i < count; i++)
        append(level, slots[i].file);
    enum bb_status status = bb_run_index(&run, levels->comparator, number);
    if (status == BB_OK)
        level->runs[level->run_count++] = run;
    return status;
}

static enum bb_status take_slots(struct bb_levels *levels, int number, const struct slot *slots,
                                 size_t count)
{
    struct bb_level *level = &levels->levels[number];
    size_t run_count = count > 0;
    for (size_t i = 1; i < count; i++)
        run_count += slots[i].run != slots[i - 1].run;
    level->files = bb_alloc_zeroed(count + 1, sizeof(*level->files));
    level->runs = bb_alloc_zeroed(run_count + 1, sizeof(*level->runs));
    if (level->files == NULL || level->runs == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a level of %zu tables", count);
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < count && status == BB_OK;) {
        size_t end = i + 1;
        while (end < count && slots[end].run == slots[i].run)
            end++;
        status = take_run(levels, number, &slots[i], end - i);
        i = end;
    }
    return status;
}

static enum bb_status fill_level(struct bb_levels *levels, int number, const struct change *change)
{
    size_t count_max = change->old->levels[number].count + change->added_count;
    struct slot *slots = bb_alloc_zeroed(count_max + 1, sizeof(*slots));
    if (slots == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a level of %zu tables", count_max);
    size_t count = list_slots(levels, number, change, slots);
    enum bb_status status = take_slots(levels, number, slots, count);
    bb_free(slots);
    return status;
}

static enum bb_status check_removed(const struct change *change)
{
    for (size_t i = 0; i < change->removed_count; i++) {
        if (bb_levels_find_number(change->old, change->removed[i]) == NULL)
            return bb_fail(BB_CORRUPT, "table %" PRIu64 " must be removed but is not live",
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
    return bb_fail(BB_CORRUPT, "table %" PRIu64 " must be added but is already live", number);
}

/* Checks that no number is added twice, or is also live. The numbers are sorted, because opening
 * adds all tables in one call. */
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
            return bb_fail(BB_CORRUPT, "table %" PRIu64 " has level %d, the last one is %d",
                           file->number, level, BB_LEVEL_COUNT - 1);
        if (bb_key_compare(change->old->comparator, bb_table_file_smallest(file),
                           bb_table_file_largest(file)) > 0)
            return bb_fail(BB_CORRUPT, "table %" PRIu64 " has a smallest key above its largest",
                           file->number);
    }
    return check_added_numbers(change);
}

static size_t count_runs(const struct bb_levels *levels)
{
    size_t count = 0;
    for (int i = 0; i < BB_LEVEL_COUNT; i++)
        count += levels->levels[i].run_count;
    return count;
}

/* Lists the runs in a separate array, because a lookup that walked the levels would spend as much
 * time on an empty level as on any other. */
static enum bb_status list_turns(struct bb_levels *levels)
{
    size_t count = count_runs(levels);
    if (count == 0)
        return BB_OK;
    levels->turns = bb_alloc_zeroed(count, sizeof(*levels->turns));
    if (levels->turns == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a list of %zu runs", count);
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < levels->levels[level].run_count; i++)
            levels->turns[levels->turn_count++] =
                (struct bb_run_turn){.run = bb_levels_run(levels, level, i), .level = level};
    }
    return BB_OK;
}

static enum bb_status fill(struct bb_levels *levels, const struct change *change)
{
    enum bb_status status = check_removed(change);
    if (status == BB_OK)
        status = check_added(change);
    for (int number = 0; number < BB_LEVEL_COUNT && status == BB_OK; number++)
        status = fill_level(levels, number, change);
    if (status == BB_OK)
        status = list_turns(levels);
    return status;
}

/* The mean of the newest run and the previous value: a run that was flushed early is not
 * typical. */
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

const struct bb_run *bb_levels_find_run(const struct bb_levels *levels, int number, uint64_t run)
{
    BB_DEBUG_ASSERT(number >= 0 && number < BB_LEVEL_COUNT);
    const struct bb_level *level = &levels->levels[number];
    for (size_t i = 0; i < level->run_count; i++) {
        if (level->runs[i].number == run)
            return &level->runs[i];
    }
    return NULL;
}

const struct bb_run *bb_levels_oldest_run(const struct bb_levels *levels, int number)
{
    const struct bb_level *level = &levels->levels[number];
    return level->run_count == 0 ? NULL : &level->runs[level->run_count - 1];
}

size_t bb_levels_first_older(const struct bb_levels *levels, int level, uint64_t run)
{
    size_t i = 0;
    while (i < levels->turn_count &&
           (levels->turns[i].level < level ||
            (levels->turns[i].level == level && levels->turns[i].run->number >= run)))
        i++;
    return i;
}

const struct bb_run *bb_levels_run_below(const struct bb_levels *levels, int number, uint64_t run)
{
    const struct bb_run *longest = NULL;
    size_t i = bb_levels_first_older(levels, number, run);
    for (; i < levels->turn_count && levels->turns[i].level <= number + 1; i++) {
        if (longest == NULL || levels->turns[i].run->count > longest->count)
            longest = levels->turns[i].run;
    }
    return longest;
}

int bb_levels_deepest(const struct bb_levels *levels)
{
    int deepest = 0;
    for (int i = 1; i < BB_LEVEL_COUNT; i++)
        deepest = levels->levels[i].count > 0 ? i : deepest;
    return deepest;
}

bool bb_levels_have_range_tombstones(const struct bb_levels *levels)
{
    for (size_t i = 0; i < levels->turn_count; i++) {
        if (levels->turns[i].run->range_tombstone_count > 0)
            return true;
    }
    return false;
}

uint64_t bb_levels_key_count(const struct bb_levels *levels)
{
    uint64_t count = 0;
    for (int i = 0; i < BB_LEVEL_COUNT; i++)
        count += levels->levels[i].key_count;
    return count;
}
