/* See rate_request.h. */
#include "compaction/rates/rate_request.h"

#include <math.h>

#include "base/assert.h"
#include "compaction/levels/spread.h"

/* Runs are near each other if they share this part of the keys of either. */
#define NEAR_SHARE 0.25
/* With more runs than this, all count as if they had all keys. */
#define OTHERS_MAX 64

static bool is_output_run(const struct bb_rate_request *request, int level, uint64_t run)
{
    return level > 0 && level == request->output_level && run == request->output_run;
}

static uint64_t removed_run(const struct bb_rate_request *request, size_t i)
{
    if (request->removed_levels[i] == 0)
        return request->removed[i]->number;
    return request->removed_runs == NULL ? 0 : request->removed_runs[i];
}

double bb_rate_request_run_weight(const struct bb_levels *levels,
                                  const struct bb_read_weights *weights, int level, uint64_t run,
                                  int last_level)
{
    const struct bb_run *oldest = bb_levels_oldest_run(levels, level);
    bool is_last = level == last_level && (oldest == NULL || run <= oldest->number);
    return bb_read_weights_planned(weights, level, is_last ? level : level + 1);
}

/* The place of a table among the removed ones, searched from `start` on; removed_count if none. The
 * removed tables of a run are in its order. */
static size_t find_removed(const struct bb_rate_request *request, const struct bb_table_file *file,
                           size_t start)
{
    for (size_t i = start; i < request->removed_count; i++) {
        if (request->removed[i] == file)
            return i;
    }
    return request->removed_count;
}

/* The tables of a run that stay. */
struct remainder {
    size_t tables;
    uint64_t keys;
    double rate_keys;
};

static struct remainder remainder_of(const struct bb_rate_request *request, int level,
                                     const struct bb_run *run)
{
    struct remainder rest = {run->count, run->key_count, run->rate_keys};
    for (size_t i = 0; i < request->removed_count; i++) {
        if (request->removed_levels[i] != level || removed_run(request, i) != run->number)
            continue;
        const struct bb_table_file *file = request->removed[i];
        rest.tables--;
        rest.keys -= file->meta.key_count;
        rest.rate_keys -= file->filter_rate * (double)file->meta.key_count;
    }
    return rest;
}

/* True when all entries of one table are older than all entries of the other, as with keys in
 * order. */
static bool is_in_order(const struct bb_table_file *a, const struct bb_table_file *b)
{
    return a->meta.sequence_max < b->meta.sequence_min ||
           b->meta.sequence_max < a->meta.sequence_min;
}

/* The tables of a run that leave it at its ends do not count: first ... last stay. */
static size_t first_to_stay(const struct bb_rate_request *request, const struct bb_run *run)
{
    size_t first = 0;
    size_t place = find_removed(request, run->files[0], 0);
    while (first < run->count - 1 && place < request->removed_count)
        place = find_removed(request, run->files[++first], place);
    return first;
}

static size_t last_to_stay(const struct bb_rate_request *request, const struct bb_run *run,
                           size_t first)
{
    size_t last = run->count - 1;
    while (last > first && find_removed(request, run->files[last], 0) < request->removed_count)
        last--;
    return last;
}

/* The bounds of a run without the tables that leave it at its ends. A run of tiers becomes shorter
 * by a descent. A run of a leveled store stays as it is unless its keys arrived in order: otherwise
 * newer keys soon take the place of the keys that left. */
static struct bb_hull remaining_hull(const struct bb_rate_request *request,
                                     const struct bb_run *run)
{
    struct bb_hull hull = {.comparator = request->levels->comparator};
    size_t first = first_to_stay(request, run);
    size_t last = last_to_stay(request, run, first);
    if (bb_rate_request_is_leveled(request) && first > 0 &&
        !is_in_order(run->files[first - 1], run->files[first]))
        first = 0;
    if (bb_rate_request_is_leveled(request) && last < run->count - 1 &&
        !is_in_order(run->files[last], run->files[last + 1]))
        last = run->count - 1;
    bb_hull_add(&hull, run->files[first]);
    bb_hull_add(&hull, run->files[last]);
    return hull;
}

/* ---- the other runs ---- */

/* The tables of a run that stay, or tables that are being written. */
struct other {
    struct bb_hull hull;
    double keys;
    double waste; /* of a key between their bounds */
};

struct others {
    struct other items[OTHERS_MAX];
    size_t count;
    /* Of all, also if they found no space. */
    double keys;
    double waste;
};

static void add_other(struct others *others, const struct other *other)
{
    others->keys += other->keys;
    others->waste += other->waste;
    if (others->count < OTHERS_MAX)
        others->items[others->count] = *other;
    others->count++;
}

/* Without the output's run. */
static struct others list_others(const struct bb_rate_request *request, int last_level)
{
    struct others others = {.count = 0};
    for (size_t i = 0; i < request->levels->turn_count; i++) {
        const struct bb_run *run = request->levels->turns[i].run;
        int level = request->levels->turns[i].level;
        struct remainder rest = remainder_of(request, level, run);
        if (is_output_run(request, level, run->number) || rest.tables == 0 || rest.keys == 0)
            continue;
        double weight = bb_rate_request_run_weight(request->levels, request->weights, level,
                                                   run->number, last_level);
        const struct other other = {remaining_hull(request, run), (double)rest.keys,
                                    weight * rest.rate_keys / (double)rest.keys};
        add_other(&others, &other);
    }
    return others;
}

static void add_shares(const struct bb_rate_request *request, struct others *others)
{
    for (const struct bb_waste_share *share = request->shares; share != NULL; share = share->next) {
        const struct other other = {share->hull, 0, share->waste};
        if (share != request->own_share)
            add_other(others, &other);
    }
}

/* The hull of no tables is unknown, so it may contain any key. */
static bool contains(const struct bb_hull *hull, struct bb_bytes key)
{
    return !hull->has_any || (bb_key_compare(hull->comparator, hull->low, key) <= 0 &&
                              bb_key_compare(hull->comparator, key, hull->high) <= 0);
}

static double waste_at(const struct others *others, struct bb_bytes key)
{
    double waste = 0;
    for (size_t i = 0; i < others->count; i++)
        waste += contains(&others->items[i].hull, key) ? others->items[i].waste : 0;
    return waste;
}

/* The waste just after a key: of the hulls that do not end there. */
static double waste_beyond(const struct others *others, struct bb_bytes key)
{
    double waste = 0;
    for (size_t i = 0; i < others->count; i++) {
        const struct bb_hull *hull = &others->items[i].hull;
        bool goes_on = !hull->has_any || bb_key_compare(hull->comparator, key, hull->high) < 0;
        waste += goes_on && contains(hull, key) ? others->items[i].waste : 0;
    }
    return waste;
}

/* The waste at keys that no known hull contains. */
static double waste_anywhere(const struct others *others)
{
    double waste = 0;
    for (size_t i = 0; i < others->count; i++)
        waste += others->items[i].hull.has_any ? 0 : others->items[i].waste;
    return waste;
}

/* NULL for level 0, where the output is a new run, and for any other new run. */
static const struct bb_run *output_run(const struct bb_rate_request *request)
{
    int level = request->output_level;
    return level == 0 ? NULL : bb_levels_find_run(request->levels, level, request->output_run);
}

struct bb_hull bb_rate_request_output_hull(const struct bb_rate_request *request)
{
    struct bb_hull hull = request->hull;
    const struct bb_run *run = output_run(request);
    if (hull.has_any && run != NULL)
        bb_hull_add_run(&hull, run, run->count);
    return hull;
}

/* Within the hull, the sum is greatest at the hull's low end, or where an interval begins. */
double bb_rate_request_waste(const struct bb_rate_request *request, int last_level)
{
    struct others others = list_others(request, last_level);
    add_shares(request, &others);
    struct bb_hull hull = bb_rate_request_output_hull(request);
    if (others.count > OTHERS_MAX)
        return others.waste;
    double greatest = hull.has_any ? waste_at(&others, hull.low) : waste_anywhere(&others);
    for (size_t i = 0; i < others.count; i++) {
        const struct bb_hull *other = &others.items[i].hull;
        if (other->has_any && contains(&hull, other->low))
            greatest = fmax(greatest, waste_at(&others, other->low));
    }
    return greatest;
}

double bb_rate_request_waste_before(const struct bb_rate_request *request, int last_level)
{
    struct bb_rate_request before = {.levels = request->levels,
                                     .weights = request->weights,
                                     .hull = bb_rate_request_output_hull(request)};
    return bb_rate_request_waste(&before, last_level);
}

/* The most waste that is added within the hull where one of `bounds` begins, and just after it
 * ends. */
static double most_added(const struct others *bounds, const struct others *before,
                         const struct others *after, const struct bb_hull *hull)
{
    double most = 0;
    for (size_t i = 0; i < bounds->count; i++) {
        const struct bb_hull *bound = &bounds->items[i].hull;
        if (!bound->has_any)
            continue;
        if (contains(hull, bound->low))
            most = fmax(most, waste_at(after, bound->low) - waste_at(before, bound->low));
        if (contains(hull, bound->high))
            most = fmax(most, waste_beyond(after, bound->high) - waste_beyond(before, bound->high));
    }
    return most;
}

double bb_rate_request_waste_added(const struct bb_rate_request *request, int last_level,
                                   double output_waste)
{
    const struct bb_rate_request unchanged = {.levels = request->levels,
                                              .weights = request->weights};
    struct others before = list_others(&unchanged, last_level);
    struct others after = list_others(request, last_level);
    const struct other output = {bb_rate_request_output_hull(request), 0, output_waste};
    add_other(&after, &output);
    if (before.count > OTHERS_MAX || after.count > OTHERS_MAX)
        return fmax(0, after.waste - before.waste);
    return fmax(most_added(&before, &before, &after, &output.hull),
                output.hull.has_any ? most_added(&after, &before, &after, &output.hull)
                                    : output_waste);
}

static bool is_near(const struct bb_levels *levels, const struct bb_hull *a,
                    const struct bb_hull *b)
{
    return bb_spread_share(levels, a, b->low, b->high) >= NEAR_SHARE ||
           bb_spread_share(levels, b, a->low, a->high) >= NEAR_SHARE;
}

/* Adds the runs that are near the hull to it, and takes them out of the others. Returns their
 * keys. */
static double take_near(const struct bb_levels *levels, struct others *others, struct bb_hull *hull)
{
    double keys = 0;
    for (size_t i = others->count; i > 0; i--) {
        struct other *other = &others->items[i - 1];
        if (!is_near(levels, hull, &other->hull))
            continue;
        keys += other->keys;
        bb_hull_widen(hull, other->hull.low, other->hull.high);
        *other = others->items[--others->count];
    }
    return keys;
}

/* The keys of the output's run that stay, within the hull. */
static double output_run_keys(const struct bb_rate_request *request, const struct bb_hull *hull)
{
    const struct bb_run *run = output_run(request);
    if (run == NULL)
        return 0;
    double keys = (double)remainder_of(request, request->output_level, run).keys;
    if (!hull->has_any)
        return keys;
    double removed = (double)run->key_count - keys;
    return fmin(keys, fmax(0, bb_spread_run_keys(request->levels, hull, run) - removed));
}

struct bb_rate_near bb_rate_request_near(const struct bb_rate_request *request)
{
    struct others others = list_others(request, bb_rate_request_last_level(request));
    struct bb_hull hull = request->hull;
    struct bb_rate_near near = {.keys = others.keys};
    if (hull.has_any && others.count <= OTHERS_MAX) {
        double more = 0;
        near.keys = 0;
        do {
            more = take_near(request->levels, &others, &hull);
            near.keys += more;
        } while (more > 0);
    }
    near.run_keys = output_run_keys(request, &hull);
    return near;
}

/* ---- parts ---- */

static void merge_part(const struct bb_rate_merge *merge, int level, struct bb_rate_part *part)
{
    if (level == 0) {
        part->keys = fmax(0, part->keys - merge->keys);
        part->runs -= merge->runs < part->runs ? merge->runs : part->runs;
    } else if (level == merge->level) {
        part->keys += merge->keys;
        part->runs += part->runs == 0;
    }
}

struct bb_rate_part bb_rate_request_part(const struct bb_rate_request *request, int number)
{
    const struct bb_level *level = &request->levels->levels[number];
    struct bb_rate_part part = {0};
    for (size_t i = 0; i < level->run_count; i++) {
        const struct bb_run *run = &level->runs[i];
        struct remainder rest = remainder_of(request, number, run);
        /* Without remaining tables, rate_keys is only a rounding error. */
        if (rest.tables == 0)
            continue;
        part.keys += (double)rest.keys;
        if (is_output_run(request, number, run->number)) {
            part.run_rate_keys = rest.rate_keys;
            part.run_keys = (double)rest.keys;
            continue;
        }
        part.runs++;
    }
    if (request->merge != NULL)
        merge_part(request->merge, number, &part);
    return part;
}

/* Tables of level 0 have another number of keys per byte, so they count only if no other tables
 * exist. */
static double keys_per_byte(const struct bb_levels *levels)
{
    double bytes = 0;
    double keys = 0;
    for (int level = BB_LEVEL_COUNT - 1; level > 0 || (level == 0 && bytes == 0); level--) {
        bytes += (double)levels->levels[level].file_bytes;
        keys += (double)levels->levels[level].key_count;
    }
    return bytes == 0 ? 0 : keys / bytes;
}

static bool is_tiered(const struct bb_rate_request *request, int level)
{
    return bb_shape_is_tiered(request->shape, level, bb_rate_request_last_level(request));
}

/* The number of keys that later runs of a level can add. They are expected to be as large as the
 * output if it is in this level, else as large as the runs of level 0. WHY not as large as the
 * write buffer: that is a poor estimate of the resulting table. */
static double free_keys_for_runs(const struct bb_rate_request *request, int level,
                                 const struct bb_rate_part *part)
{
    bool is_output = level == request->output_level;
    double run_keys = is_output ? (double)request->output_keys + part->run_keys
                                : (double)request->levels->level0_run_keys;
    return bb_rate_request_runs_to_come(request, level, part) * run_keys;
}

double bb_rate_request_full_keys(const struct bb_rate_request *request, int level)
{
    BB_DEBUG_ASSERT(request->shape != NULL && level > 0);
    return bb_shape_level_bytes(request->shape, level) * keys_per_byte(request->levels);
}

double bb_rate_request_free_keys(const struct bb_rate_request *request, int level,
                                 const struct bb_rate_part *part)
{
    BB_DEBUG_ASSERT(request->shape != NULL);
    if (level == 0 || (level == request->output_level && is_tiered(request, level)))
        return free_keys_for_runs(request, level, part);
    return fmax(0, bb_rate_request_full_keys(request, level) - part->keys);
}

static double planned_runs(const struct bb_rate_request *request, int level)
{
    double runs =
        (double)bb_shape_run_count(request->shape, level, bb_rate_request_last_level(request));
    bool has_own_plan = level == 0 && request->budget != NULL && request->budget->level0_runs > 0;
    return has_own_plan ? fmin(runs, request->budget->level0_runs) : runs;
}

double bb_rate_request_runs_to_come(const struct bb_rate_request *request, int level,
                                    const struct bb_rate_part *part)
{
    BB_DEBUG_ASSERT(request->shape != NULL);
    if (level > 0 && !is_tiered(request, level))
        return part->runs == 0;
    double there = (double)part->runs + (level == request->output_level);
    return fmax(0, planned_runs(request, level) - there);
}

bool bb_rate_request_fills_first(const struct bb_rate_request *request, int level)
{
    if (request->shape == NULL)
        return false;
    return level == 0 || level < request->output_level ||
           (level == request->output_level && is_tiered(request, level));
}

bool bb_rate_request_opens(const struct bb_levels *levels, const struct bb_shape *shape, int level)
{
    return bb_shape_is_leveled(shape) && level > 0 && level < BB_LEVEL_COUNT - 1 &&
           level == bb_levels_deepest(levels) &&
           (double)levels->levels[level].file_bytes >= bb_shape_level_bytes(shape, level);
}

static bool keeps_tables(const struct bb_rate_request *request, int level)
{
    size_t count = bb_levels_table_count(request->levels, level);
    for (size_t i = 0; i < request->removed_count; i++)
        count -= request->removed_levels[i] == level;
    return count > 0;
}

int bb_rate_request_last_level(const struct bb_rate_request *request)
{
    int last = request->output_level > 1 ? request->output_level : 1;
    if (request->merge != NULL && request->merge->level > last)
        last = request->merge->level;
    for (int level = last + 1; level < BB_LEVEL_COUNT; level++) {
        if (keeps_tables(request, level))
            last = level;
    }
    bool is_output = last == request->output_level && request->shape != NULL;
    return last + (is_output && bb_rate_request_opens(request->levels, request->shape, last));
}
