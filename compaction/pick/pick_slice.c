/* See pick_slice.h. */
#include "compaction/pick/pick_slice.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "compaction/levels/hull.h"

/* A slice takes at least this many tables of each run, in the mean: some tables around its end are
 * written twice. */
#define RUN_TABLES_MIN 8
/* If the next slice would have less than this part of a slice, both are taken together. */
#define REST_MIN 0.5

/* Descending runs, newest first, and their receiver. */
struct tier {
    const struct bb_comparator *comparator;
    int level;
    const struct bb_run *runs;
    size_t run_count;
    const struct bb_run *receiver; /* NULL: a new run */
    double bytes;
    double tables;
};

static struct tier tier_of(const struct bb_levels *levels, int number,
                           const struct bb_descent *descent)
{
    const struct bb_level *level = &levels->levels[number];
    struct tier tier = {.comparator = levels->comparator,
                        .level = number,
                        .runs = &level->runs[descent->first],
                        .run_count = level->run_count - descent->first,
                        .receiver = descent->receiver};
    for (size_t i = 0; i < tier.run_count; i++) {
        tier.bytes += (double)tier.runs[i].file_bytes;
        tier.tables += (double)tier.runs[i].count;
    }
    return tier;
}

/* The number of tables that a slice takes from the beginning of a run. hull: of the tables taken
 * from newer runs; these are added. */
static size_t cut(const struct tier *tier, const struct bb_run *run, struct bb_bytes last,
                  struct bb_hull *hull)
{
    size_t first = 0;
    size_t end = 0;
    size_t count = bb_run_find_index(run, tier->comparator, last);
    bool ends_there =
        count < run->count &&
        bb_key_compare(tier->comparator, bb_table_file_largest(run->files[count]), last) == 0;
    count += ends_there;
    bb_hull_find_overlap(hull, tier->comparator, run, &first, &end);
    count = end > count ? end : count;
    bb_hull_add_run(hull, tier->comparator, run, count);
    return count;
}

static double bytes_of(const struct bb_run *run, size_t first, size_t end)
{
    double bytes = 0;
    for (size_t i = first; i < end; i++)
        bytes += (double)run->files[i]->meta.file_size;
    return bytes;
}

/* The bytes of a slice up to a key. */
struct size {
    double own;
    double overlap; /* in the receiver */
};

static struct size size_to(const struct tier *tier, struct bb_bytes last)
{
    struct bb_hull hull = {.has_any = false};
    struct size size = {0};
    size_t first = 0;
    size_t end = 0;
    for (size_t i = 0; i < tier->run_count; i++)
        size.own += bytes_of(&tier->runs[i], 0, cut(tier, &tier->runs[i], last, &hull));
    if (tier->receiver == NULL)
        return size;
    bb_hull_find_overlap(&hull, tier->comparator, tier->receiver, &first, &end);
    size.overlap = bytes_of(tier->receiver, first, end);
    return size;
}

static bool is_enough(const struct tier *tier, const struct bb_shape *shape, struct size size)
{
    double least = RUN_TABLES_MIN * (double)tier->run_count * tier->bytes / tier->tables;
    return size.own >= least && size.own + size.overlap >= bb_shape_level_bytes(shape, 1);
}

/* ---- the last key ---- */

/* The run with the most tables: slices end where its tables do. */
static const struct bb_run *longest_run(const struct tier *tier)
{
    const struct bb_run *longest = &tier->runs[0];
    for (size_t i = 1; i < tier->run_count; i++)
        longest = tier->runs[i].count > longest->count ? &tier->runs[i] : longest;
    return longest;
}

/* The first end of a table with which the slice is large enough. */
static struct bb_bytes least_last(const struct tier *tier, const struct bb_shape *shape)
{
    const struct bb_run *longest = longest_run(tier);
    size_t low = 0;
    size_t high = longest->count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct bb_bytes end = bb_table_file_largest(longest->files[middle]);
        if (is_enough(tier, shape, size_to(tier, end)))
            high = middle;
        else
            low = middle + 1;
    }
    return bb_table_file_largest(longest->files[low]);
}

static struct bb_bytes greatest_key(const struct tier *tier)
{
    struct bb_hull hull = {.has_any = false};
    for (size_t i = 0; i < tier->run_count; i++)
        bb_hull_add_run(&hull, tier->comparator, &tier->runs[i], tier->runs[i].count);
    return hull.high;
}

static struct bb_bytes choose_last(const struct tier *tier, const struct bb_shape *shape)
{
    struct bb_bytes last = least_last(tier, shape);
    double own = size_to(tier, last).own;
    return tier->bytes - own < REST_MIN * own ? greatest_key(tier) : last;
}

/* ---- the plan ---- */

static void take(const struct tier *tier, struct bb_bytes last, struct bb_plan *plan,
                 struct bb_hull *hull)
{
    size_t first = 0;
    size_t end = 0;
    for (size_t r = 0; r < tier->run_count; r++) {
        const struct bb_run *run = &tier->runs[r];
        size_t count = cut(tier, run, last, hull);
        for (size_t i = 0; i < count; i++)
            bb_plan_add(plan, tier->level, run->number, run->files[i]);
    }
    if (tier->receiver != NULL)
        bb_hull_find_overlap(hull, tier->comparator, tier->receiver, &first, &end);
    for (size_t i = first; i < end; i++)
        bb_plan_add(plan, tier->level + 1, tier->receiver->number, tier->receiver->files[i]);
}

/* Adds the tables of later slices, with the overlapped tables of the receiver. */
static void take_later(const struct tier *tier, struct bb_bytes last, const struct bb_hull *taken,
                       struct bb_plan *plan)
{
    struct bb_hull hull = {.has_any = false};
    size_t first = 0;
    size_t end = 0;
    for (size_t r = 0; r < tier->run_count; r++) {
        const struct bb_run *run = &tier->runs[r];
        for (size_t i = cut(tier, run, last, &hull); i < run->count; i++)
            bb_plan_add_later(plan, tier->level, run->number, run->files[i]);
    }
    if (tier->receiver == NULL)
        return;
    bb_hull_find_overlap(taken, tier->comparator, tier->receiver, &first, &end);
    for (; end < tier->receiver->count; end++)
        bb_plan_add_later(plan, tier->level + 1, tier->receiver->number,
                          tier->receiver->files[end]);
}

enum bb_status bb_pick_slice(const struct bb_levels *levels, const struct bb_pick_options *options,
                             int number, const struct bb_descent *descent, struct bb_plan *plan)
{
    BB_DEBUG_ASSERT(number > 0 && descent->first < levels->levels[number].run_count);
    struct tier tier = tier_of(levels, number, descent);
    struct bb_hull hull = {.has_any = false};
    enum bb_status status = bb_plan_init(plan, levels, BB_PLAN_LEVEL_SIZE, number + 1);
    if (status != BB_OK)
        return status;
    plan->output_run =
        tier.receiver != NULL ? tier.receiver->number : bb_plan_new_run(levels, number + 1);
    struct bb_bytes last = choose_last(&tier, &options->shape);
    take(&tier, last, plan, &hull);
    take_later(&tier, last, &hull, plan);
    return BB_OK;
}
