/* See cover.h. */
#include "compaction/levels/cover.h"

#include <math.h>

#include "compaction/levels/spread.h"

/* A gap between two tables is wide if it has more than this part of the keys from the first key of
 * the left one to the last key of the right one. A wide gap ends a segment. */
#define GAP_MAX (1.0 / 3)
/* The keys between the store's first or last key and the next segment of a run count as covered if
 * they are at most this part of both. */
#define MARGIN_MAX 0.02
/* Without wide gaps, a run has this number of segments, or as many as tables. With a comparator it
 * has one: a table of another run at the end of a segment would count for the next one too. */
#define SEGMENTS 64

/* With a comparator no gap is known to be wide. */
static bool has_gap(const struct bb_levels *levels, const struct bb_table_file *left,
                    const struct bb_table_file *right)
{
    struct bb_hull gap = {.comparator = levels->comparator};
    bb_hull_widen(&gap, bb_table_file_largest(left), bb_table_file_smallest(right));
    return levels->comparator == NULL && bb_spread_share(levels, &gap, bb_table_file_smallest(left),
                                                         bb_table_file_largest(right)) > GAP_MAX;
}

/* True when there are many keys from low to high, next to a segment. Always with a comparator: any
 * table that touches the margin would count as a whole. */
static bool is_wide_margin(const struct bb_levels *levels, const struct bb_hull *segment,
                           struct bb_bytes low, struct bb_bytes high)
{
    struct bb_hull margin = {.comparator = levels->comparator};
    struct bb_hull both = *segment;
    bb_hull_widen(&margin, low, high);
    bb_hull_widen(&both, low, high);
    return levels->comparator != NULL ||
           bb_spread_keys(levels, &margin) > MARGIN_MAX * bb_spread_keys(levels, &both);
}

/* Adds the keys before the run's first table and after its last one, up to the store's bounds,
 * unless they are many. */
static void add_margins(const struct bb_levels *levels, const struct bb_hull *store,
                        const struct bb_run *run, size_t first, size_t end, struct bb_hull *segment)
{
    struct bb_bytes low = bb_table_file_smallest(run->files[first]);
    struct bb_bytes high = bb_table_file_largest(run->files[end - 1]);
    bool has_before = first == 0 && !is_wide_margin(levels, segment, store->low, low);
    bool has_after = end == run->count && !is_wide_margin(levels, segment, high, store->high);
    if (has_before)
        bb_hull_widen(segment, store->low, store->low);
    if (has_after)
        bb_hull_widen(segment, store->high, store->high);
}

static struct bb_hull hull_of(const struct bb_levels *levels)
{
    struct bb_hull hull = {.comparator = levels->comparator};
    for (size_t i = 0; i < levels->turn_count; i++)
        bb_hull_add_run(&hull, levels->turns[i].run, levels->turns[i].run->count);
    return hull;
}

/* Consecutive tables of a run. */
struct segment {
    struct bb_hull hull; /* with the gap after them, unless it is wide */
    size_t end;          /* index of the next table */
    double keys;
    double rate_keys;    /* sum of predicted rate times keys */
    double planned_keys; /* sum of target rate times keys */
};

static void append(const struct bb_run *run, struct segment *segment)
{
    const struct bb_table_file *file = run->files[segment->end++];
    segment->keys += (double)file->meta.key_count;
    segment->rate_keys += file->predicted_rate * (double)file->meta.key_count;
    segment->planned_keys += file->filter_rate * (double)file->meta.key_count;
    bb_hull_add(&segment->hull, file);
}

/* At most table_count tables, up to the next wide gap. */
static struct segment next_segment(const struct bb_levels *levels, const struct bb_run *run,
                                   size_t first, size_t table_count)
{
    struct segment segment = {.hull = {.comparator = levels->comparator}, .end = first};
    append(run, &segment);
    while (segment.end < run->count) {
        const struct bb_table_file *next = run->files[segment.end];
        if (has_gap(levels, run->files[segment.end - 1], next))
            break;
        if (segment.end - first == table_count) {
            bb_hull_widen(&segment.hull, bb_table_file_smallest(next),
                          bb_table_file_smallest(next));
            break;
        }
        append(run, &segment);
    }
    return segment;
}

static double mean(double sum, double keys)
{
    return keys == 0 ? 0 : sum / keys;
}

struct bb_cover bb_cover_of(const struct bb_levels *levels, const struct bb_run *run)
{
    struct bb_cover cover = {0};
    struct bb_hull store = hull_of(levels);
    double keys = (double)bb_levels_key_count(levels);
    size_t segments = levels->comparator == NULL ? SEGMENTS : 1;
    size_t table_count = (run->count + segments - 1) / segments;
    if (keys == 0)
        return (struct bb_cover){1, bb_run_predicted_rate(run), bb_run_rate(run)};
    for (size_t first = 0; first < run->count;) {
        struct segment segment = next_segment(levels, run, first, table_count);
        add_margins(levels, &store, run, first, segment.end, &segment.hull);
        double share = bb_spread_keys(levels, &segment.hull) / keys;
        cover.share = fmin(1, cover.share + share);
        cover.waste += share * mean(segment.rate_keys, segment.keys);
        cover.planned_waste += share * mean(segment.planned_keys, segment.keys);
        first = segment.end;
    }
    return cover;
}

double bb_cover_planned_waste(const struct bb_levels *levels)
{
    double waste = 0;
    for (size_t i = 0; i < levels->turn_count; i++)
        waste += bb_cover_of(levels, levels->turns[i].run).planned_waste;
    return waste;
}
