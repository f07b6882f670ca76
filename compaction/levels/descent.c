/* See descent.h. */
#include "compaction/levels/descent.h"

#include "base/assert.h"

/* The number of the receiver's tables that end before the run begins. */
static size_t count_before(const struct bb_levels *levels, const struct bb_run *receiver,
                           const struct bb_run *run)
{
    return bb_run_find_index(receiver, levels->comparator, bb_table_file_smallest(run->files[0]));
}

static bool descends(const struct bb_levels *levels, const struct bb_run *receiver,
                     const struct bb_run *run)
{
    size_t before = count_before(levels, receiver, run);
    return before > 0 && receiver->files[before - 1]->number > run->files[0]->number;
}

bool bb_descent_find(const struct bb_levels *levels, int number, struct bb_descent *ret_descent)
{
    BB_DEBUG_ASSERT(number > 0 && number < BB_LEVEL_COUNT);
    const struct bb_level *level = &levels->levels[number];
    if (number == BB_LEVEL_COUNT - 1 || levels->levels[number + 1].run_count == 0)
        return false;
    const struct bb_run *receiver = bb_levels_run(levels, number + 1, 0);
    size_t first = level->run_count;
    while (first > 0 && descends(levels, receiver, &level->runs[first - 1]))
        first--;
    *ret_descent = (struct bb_descent){.first = first, .receiver = receiver};
    return first < level->run_count;
}

/* A level that is one run has no descent: its tables leave it in any order. */
static bool find_of_tier(const struct bb_levels *levels, int number, struct bb_descent *ret_descent)
{
    return number > 0 && levels->levels[number].run_count > 1 &&
           bb_descent_find(levels, number, ret_descent);
}

/* The part of the keys of a descent that has not left yet. */
static double left_part(const struct bb_levels *levels, int number,
                        const struct bb_descent *descent)
{
    const struct bb_level *level = &levels->levels[number];
    double left = 0;
    for (size_t i = descent->first; i < level->run_count; i++)
        left += (double)level->runs[i].key_count;
    double all = left + (double)descent->receiver->key_count;
    return all == 0 ? 1 : left / all;
}

/* The part of the receiver that does not end before the oldest run begins: 0 if the receiver began
 * with the descent, more if it existed before. */
static double receiver_left(const struct bb_levels *levels, int number,
                            const struct bb_descent *descent)
{
    const struct bb_run *receiver = descent->receiver;
    const struct bb_run *oldest = bb_levels_oldest_run(levels, number);
    return 1 - (double)count_before(levels, receiver, oldest) / (double)receiver->count;
}

double bb_descent_share(const struct bb_levels *levels, int number, const struct bb_run *run)
{
    struct bb_descent descent;
    const struct bb_run *runs = levels->levels[number].runs;
    if (find_of_tier(levels, number, &descent) && run->number <= runs[descent.first].number) {
        double left = left_part(levels, number, &descent);
        double of_receiver = receiver_left(levels, number, &descent);
        return left > of_receiver ? left : of_receiver;
    }
    bool is_receiver =
        find_of_tier(levels, number - 1, &descent) && descent.receiver->number == run->number;
    if (is_receiver && receiver_left(levels, number - 1, &descent) == 0)
        return 1 - left_part(levels, number - 1, &descent);
    return 1;
}
