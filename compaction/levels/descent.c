/* See descent.h. */
#include "compaction/levels/descent.h"

#include "base/assert.h"

/* The lowest key of run `first` of a level and of all older runs. */
static struct bb_bytes lowest_key(const struct bb_levels *levels, const struct bb_level *level,
                                  size_t first)
{
    struct bb_bytes lowest = bb_table_file_smallest(level->runs[first].files[0]);
    for (size_t i = first + 1; i < level->run_count; i++) {
        struct bb_bytes key = bb_table_file_smallest(level->runs[i].files[0]);
        lowest = bb_key_compare(levels->comparator, key, lowest) < 0 ? key : lowest;
    }
    return lowest;
}

struct bb_descent bb_descent_of(const struct bb_levels *levels, int number, size_t first,
                                const struct bb_run *receiver)
{
    const struct bb_level *level = &levels->levels[number];
    BB_DEBUG_ASSERT(first < level->run_count);
    struct bb_descent descent = {.levels = levels,
                                 .level = number,
                                 .first = first,
                                 .runs = &level->runs[first],
                                 .run_count = level->run_count - first,
                                 .receiver = receiver};
    for (size_t i = 0; i < descent.run_count; i++)
        descent.file_bytes += descent.runs[i].file_bytes;
    return descent;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Counts the receiver's tables that end before run `first` and all older ones begin. */
static size_t count_before(const struct bb_levels *levels, int number, size_t first,
                           const struct bb_run *receiver)
{
    struct bb_bytes lowest = lowest_key(levels, &levels->levels[number], first);
    return bb_run_find_index(receiver, levels->comparator, lowest);
}

bool bb_descent_find(const struct bb_levels *levels, int number, struct bb_descent *ret_descent)
{
    BB_DEBUG_ASSERT(number > 0 && number < BB_LEVEL_COUNT);
    const struct bb_level *level = &levels->levels[number];
    /* The file number of the receiver's newest table that ends before the runs begin. */
    uint64_t newest = 0;
    size_t passed = 0;
    if (number == BB_LEVEL_COUNT - 1 || levels->levels[number + 1].run_count == 0)
        return false;
    const struct bb_run *receiver = bb_levels_run(levels, number + 1, 0);
    for (size_t first = 0; first < level->run_count; first++) {
        size_t before = count_before(levels, number, first, receiver);
        for (; passed < before; passed++)
            newest = greater(newest, receiver->files[passed]->number);
        if (newest > level->runs[first].files[0]->number) {
            *ret_descent = bb_descent_of(levels, number, first, receiver);
            return true;
        }
    }
    return false;
}
