/* See pick_tombstones.h. */
#include "compaction/pick/pick_tombstones.h"

#include "base/buf.h"

/* A table, and the next older run with keys between its bounds. */
struct place {
    int level;
    const struct bb_run *run;
    struct bb_table_file *file;
    const struct bb_run_turn *older; /* NULL: this is the bottom */
};

static bool overlaps(const struct bb_levels *levels, const struct bb_run *run,
                     const struct bb_table_meta *meta)
{
    size_t first = 0;
    size_t end = 0;
    bb_run_find_overlap(run, levels->comparator, bb_buf_bytes(&meta->smallest),
                        bb_buf_bytes(&meta->largest), &first, &end);
    return first < end;
}

static void find_older(const struct bb_levels *levels, struct place *place)
{
    size_t i = bb_levels_first_older(levels, place->level, place->run->number);
    while (i < levels->turn_count && !overlaps(levels, levels->turns[i].run, &place->file->meta))
        i++;
    if (i < levels->turn_count)
        place->older = &levels->turns[i];
}

static bool has_due_tombstone(const struct bb_pick_options *options,
                              const struct bb_table_meta *meta)
{
    uint64_t oldest = bb_table_file_oldest_tombstone(meta);
    return oldest <= options->tombstone_horizon && oldest <= options->oldest_snapshot;
}

/* True when the table has versions that no possible reader sees: a rewrite keeps one version of
 * each key. */
static bool has_due_versions(const struct bb_pick_options *options,
                             const struct bb_table_meta *meta)
{
    return meta->entry_count > meta->key_count &&
           meta->sequence_min <= options->tombstone_horizon &&
           meta->sequence_max <= options->oldest_snapshot;
}

static bool is_due(const struct bb_levels *levels, const struct bb_pick_options *options,
                   struct place *place)
{
    const struct bb_table_meta *meta = &place->file->meta;
    bool has_tombstone = has_due_tombstone(options, meta);
    if (!has_tombstone && !has_due_versions(options, meta))
        return false;
    find_older(levels, place);
    return has_tombstone || place->older == NULL;
}

static bool find_due(const struct bb_levels *levels, const struct bb_pick_options *options,
                     struct place *ret_place)
{
    for (size_t r = 0; r < levels->turn_count; r++) {
        const struct bb_run_turn *turn = &levels->turns[r];
        for (size_t i = 0; i < turn->run->count; i++) {
            *ret_place =
                (struct place){.level = turn->level, .run = turn->run, .file = turn->run->files[i]};
            if (is_due(levels, options, ret_place))
                return true;
        }
    }
    return false;
}

static enum bb_status sink(const struct bb_levels *levels, const struct place *place,
                           struct bb_plan *plan)
{
    const struct bb_table_meta *meta = &place->file->meta;
    bool is_bottom = place->older == NULL;
    int output_level = is_bottom ? place->level : place->older->level;
    enum bb_status status = bb_plan_init(plan, levels, BB_PLAN_TOMBSTONES, output_level);
    if (status != BB_OK)
        return status;
    plan->output_run = is_bottom ? place->run->number : place->older->run->number;
    bb_plan_add(plan, place->level, place->run->number, place->file);
    if (!is_bottom)
        bb_plan_add_overlap(plan, levels, output_level, place->older->run,
                            bb_buf_bytes(&meta->smallest), bb_buf_bytes(&meta->largest));
    return BB_OK;
}

enum bb_status bb_pick_tombstones(const struct bb_levels *levels,
                                  const struct bb_pick_options *options, struct bb_plan *plan)
{
    struct place place;
    if (options->tombstone_horizon == 0 || !find_due(levels, options, &place))
        return BB_OK;
    /* A run of level 0 cannot be rewritten in place: the new table would count as the newest. */
    if (place.level == 0)
        return bb_plan_level0(plan, levels, &options->shape, BB_PLAN_TOMBSTONES);
    return sink(levels, &place, plan);
}
