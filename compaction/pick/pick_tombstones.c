/* See pick_tombstones.h. */
#include "compaction/pick/pick_tombstones.h"

#include "base/buf.h"

/* A table, and the next older run with keys between its bounds. */
struct place {
    const struct bb_run_turn *turn; /* of its run */
    struct bb_table_file *file;
    const struct bb_run_turn *older; /* NULL: this is the bottom */
};

/* The runs after a run in the order of turns are older. */
static void find_older(const struct bb_levels *levels, struct place *place)
{
    struct bb_bytes low = bb_table_file_smallest(place->file);
    struct bb_bytes high = bb_table_file_largest(place->file);
    const struct bb_run_turn *end = levels->turns + levels->turn_count;
    const struct bb_run_turn *older = place->turn + 1;
    while (older < end && !bb_run_overlaps(older->run, levels->comparator, low, high))
        older++;
    place->older = older < end ? older : NULL;
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
            *ret_place = (struct place){.turn = turn, .file = turn->run->files[i]};
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
    const struct bb_run_turn *output = place->older == NULL ? place->turn : place->older;
    enum bb_status status = bb_plan_init(plan, levels, BB_PLAN_TOMBSTONES, output->level);
    if (status != BB_OK)
        return status;
    plan->output_run = output->run->number;
    bb_plan_add(plan, place->turn->level, place->turn->run->number, place->file);
    if (place->older != NULL)
        bb_plan_add_overlap(plan, levels, output->level, output->run, bb_buf_bytes(&meta->smallest),
                            bb_buf_bytes(&meta->largest));
    return BB_OK;
}

enum bb_status bb_pick_tombstones(const struct bb_levels *levels,
                                  const struct bb_pick_options *options, struct bb_plan *plan)
{
    struct place place;
    if (options->tombstone_horizon == 0 || !find_due(levels, options, &place))
        return BB_OK;
    /* A run of level 0 cannot be rewritten in place: the new table would count as the newest. */
    if (place.turn->level == 0)
        return bb_plan_level0(plan, levels, &options->shape, BB_PLAN_TOMBSTONES);
    return sink(levels, &place, plan);
}
