/* See pick_slice.h. */
#include "compaction/pick/pick_slice.h"

#include <math.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "compaction/levels/hull.h"

/* Some tables around the end of a slice are written twice. An end counts as this many tables of
 * each run, in the mean, and a slice may have as many. */
#define END_TABLES 8
/* As many ends of each run are compared. The time of a comparison grows with its tables. */
#define ENDS_MAX 128

/* The number of tables that a slice takes from the beginning of a run. hull: of the tables taken
 * from newer runs; these are added. */
static size_t cut(const struct bb_run *run, struct bb_bytes last, struct bb_hull *hull)
{
    size_t first = 0;
    size_t end = 0;
    size_t count = bb_run_find_index(run, hull->comparator, last);
    bool ends_there =
        count < run->count &&
        bb_key_compare(hull->comparator, bb_table_file_largest(run->files[count]), last) == 0;
    count += ends_there;
    bb_hull_find_overlap(hull, run, &first, &end);
    count = end > count ? end : count;
    bb_hull_add_run(hull, run, count);
    return count;
}

/* The bytes of a slice up to a key. */
struct size {
    double own;
    double overlap; /* in the receiver */
};

static struct size size_to(const struct bb_descent *descent, struct bb_bytes last)
{
    struct bb_hull hull = {.comparator = descent->levels->comparator};
    struct size size = {0};
    size_t first = 0;
    size_t end = 0;
    for (size_t i = 0; i < descent->run_count; i++)
        size.own += (double)bb_run_bytes(&descent->runs[i], 0, cut(&descent->runs[i], last, &hull));
    BB_DEBUG_ASSERT(hull.has_any);
    if (descent->receiver == NULL)
        return size;
    bb_hull_find_overlap(&hull, descent->receiver, &first, &end);
    size.overlap = (double)bb_run_bytes(descent->receiver, first, end);
    return size;
}

/* ---- the last key ---- */

static double end_bytes(const struct bb_descent *descent)
{
    size_t tables = 0;
    for (size_t i = 0; i < descent->run_count; i++)
        tables += descent->runs[i].count;
    return END_TABLES * (double)descent->run_count * (double)descent->file_bytes / (double)tables;
}

/* The bytes that a slice writes for each byte that descends. */
static double cost_of(const struct bb_descent *descent, struct size size)
{
    bool is_rest = size.own >= (double)descent->file_bytes;
    return (size.own + size.overlap + (is_rest ? 0 : end_bytes(descent))) / size.own;
}

struct choice {
    struct bb_bytes last;
    double cost;
};

/* The distance of the tables that are compared: of all that fit into these bytes, ENDS_MAX. */
static size_t step_of(const struct bb_run *run, double bytes_max)
{
    size_t count = 0;
    for (double bytes = 0; count < run->count && bytes <= bytes_max; count++)
        bytes += (double)run->files[count]->meta.file_size;
    return 1 + count / ENDS_MAX;
}

/* Compares the slices that end with a table of a run and have at most these bytes. Slices grow with
 * their last keys. */
static void compare_ends(const struct bb_descent *descent, const struct bb_run *run,
                         double bytes_max, struct choice *best)
{
    size_t step = step_of(run, bytes_max);
    for (size_t i = step - 1; i < run->count; i += step) {
        struct bb_bytes last = bb_table_file_largest(run->files[i]);
        struct size size = size_to(descent, last);
        double cost = cost_of(descent, size);
        if (size.own + size.overlap > bytes_max)
            return;
        if (cost < best->cost)
            *best = (struct choice){last, cost};
    }
}

/* The end of the smallest slice. */
static struct bb_bytes smallest_last(const struct bb_descent *descent)
{
    struct bb_bytes least = bb_table_file_largest(descent->runs[0].files[0]);
    for (size_t i = 1; i < descent->run_count; i++) {
        struct bb_bytes end = bb_table_file_largest(descent->runs[i].files[0]);
        least = bb_key_compare(descent->levels->comparator, end, least) < 0 ? end : least;
    }
    return least;
}

/* The last key of the slice with the lowest cost. So a slice ends before a gap in the keys of the
 * descending runs if the receiver has keys there. */
static struct bb_bytes choose_last(const struct bb_descent *descent, const struct bb_shape *shape)
{
    double bytes_max = fmax(bb_shape_level_bytes(shape, 1), end_bytes(descent));
    struct choice best = {.last = smallest_last(descent), .cost = INFINITY};
    for (size_t i = 0; i < descent->run_count; i++)
        compare_ends(descent, &descent->runs[i], bytes_max, &best);
    return best.last;
}

/* ---- the plan ---- */

static void take(const struct bb_descent *descent, struct bb_bytes last, struct bb_plan *plan,
                 struct bb_hull *hull)
{
    size_t first = 0;
    size_t end = 0;
    for (size_t r = 0; r < descent->run_count; r++) {
        const struct bb_run *run = &descent->runs[r];
        size_t count = cut(run, last, hull);
        for (size_t i = 0; i < count; i++)
            bb_plan_add(plan, descent->level, run->number, run->files[i]);
    }
    if (descent->receiver != NULL)
        bb_hull_find_overlap(hull, descent->receiver, &first, &end);
    for (size_t i = first; i < end; i++)
        bb_plan_add(plan, descent->level + 1, descent->receiver->number,
                    descent->receiver->files[i]);
}

/* Adds the tables of later slices, with the overlapped tables of the receiver. */
static void take_later(const struct bb_descent *descent, struct bb_bytes last,
                       const struct bb_hull *taken, struct bb_plan *plan)
{
    struct bb_hull hull = {.comparator = descent->levels->comparator};
    size_t first = 0;
    size_t end = 0;
    for (size_t r = 0; r < descent->run_count; r++) {
        const struct bb_run *run = &descent->runs[r];
        for (size_t i = cut(run, last, &hull); i < run->count; i++)
            bb_plan_add_later(plan, descent->level, run->number, run->files[i]);
    }
    if (descent->receiver == NULL)
        return;
    bb_hull_find_overlap(taken, descent->receiver, &first, &end);
    for (; end < descent->receiver->count; end++)
        bb_plan_add_later(plan, descent->level + 1, descent->receiver->number,
                          descent->receiver->files[end]);
}

void bb_pick_slice(const struct bb_descent *descent, const struct bb_shape *shape,
                   struct bb_plan *plan)
{
    BB_DEBUG_ASSERT(descent->level > 0 && plan->output_level == descent->level + 1);
    struct bb_hull hull = {.comparator = descent->levels->comparator};
    struct bb_bytes last = choose_last(descent, shape);
    take(descent, last, plan, &hull);
    take_later(descent, last, &hull, plan);
}
