/* See pick_covered.h. */
#include "compaction/pick/pick_covered.h"

#include "base/buf.h"
#include "compaction/levels/snapshot_interval.h"
#include "sstable/ranges/range_tombstones.h"

struct search {
    const struct bb_levels *levels;
    const uint64_t *snapshots; /* ascending */
    size_t snapshot_count;
    struct bb_plan *plan;
};

/* *ret_list is NULL if the table has no range tombstones, or is damaged. */
static enum bb_status ranges_of(struct bb_table_file *file,
                                const struct bb_range_tombstones **ret_list)
{
    struct bb_table *table = NULL;
    enum bb_status status = BB_OK;
    if (file->meta.range_tombstone_count > 0)
        status = bb_table_file_open(file, &table);
    if (status != BB_OK && status != BB_CORRUPT)
        return status;
    *ret_list = table == NULL ? NULL : bb_table_range_tombstones(table);
    return BB_OK;
}

static size_t interval_of(const struct search *search, uint64_t sequence)
{
    return bb_snapshot_interval(search->snapshots, search->snapshot_count, sequence);
}

/* Uses the oldest sequence that is newer than the table: it has the fewest snapshots in between. */
static bool hides(const struct search *search, const struct bb_range_tombstone_fragment *fragment,
                  const struct bb_table_meta *meta)
{
    size_t newer = fragment->count;
    while (newer > 0 && fragment->sequences[newer - 1] <= meta->sequence_max)
        newer--;
    return newer > 0 && interval_of(search, fragment->sequences[newer - 1]) ==
                            interval_of(search, meta->sequence_min);
}

/* The part of a table that a run covers. */
struct cover {
    struct bb_bytes end; /* the table is covered up to here */
    bool is_whole;
};

/* Extends the cover over the following fragments that are adjacent and hide the table. False: the
 * cover cannot be extended. */
static bool follow(const struct search *search, const struct bb_range_tombstones *list,
                   const struct bb_table_file *file, struct cover *cover)
{
    const struct bb_comparator *comparator = search->levels->comparator;
    for (size_t i = bb_range_tombstones_find(list, cover->end); i < list->count; i++) {
        const struct bb_range_tombstone_fragment *fragment = &list->fragments[i];
        if (bb_key_compare(comparator, fragment->low, cover->end) > 0 ||
            !hides(search, fragment, &file->meta))
            return false;
        cover->end = fragment->high;
        cover->is_whole = bb_table_file_ends_before(file, comparator, cover->end);
        if (cover->is_whole)
            return false;
    }
    return true;
}

static enum bb_status is_covered_by(const struct search *search, const struct bb_run *run,
                                    const struct bb_table_file *file, bool *ret_is_covered)
{
    struct cover cover = {.end = bb_table_file_smallest(file)};
    size_t index = bb_run_find_index(run, search->levels->comparator, cover.end);
    for (; index < run->count; index++) {
        const struct bb_range_tombstones *list = NULL;
        enum bb_status status = ranges_of(run->files[index], &list);
        if (status != BB_OK)
            return status;
        if (list == NULL || !follow(search, list, file, &cover))
            break;
    }
    *ret_is_covered = cover.is_whole;
    return BB_OK;
}

/* turn: of the file's run. The runs before it are newer. */
static enum bb_status is_covered(const struct search *search, size_t turn,
                                 const struct bb_table_file *file, bool *ret_is_covered)
{
    enum bb_status status = BB_OK;
    *ret_is_covered = false;
    for (size_t i = 0; i < turn && status == BB_OK && !*ret_is_covered; i++) {
        const struct bb_run *run = search->levels->turns[i].run;
        if (run->range_tombstone_count > 0)
            status = is_covered_by(search, run, file, ret_is_covered);
    }
    return status;
}

static enum bb_status take(struct search *search, int level, const struct bb_run *run,
                           struct bb_table_file *file)
{
    enum bb_status status = BB_OK;
    if (search->plan->reason == BB_PLAN_NOTHING)
        status = bb_plan_init(search->plan, search->levels, BB_PLAN_COVERED, 0);
    if (status == BB_OK)
        bb_plan_add(search->plan, level, run->number, file);
    return status;
}

static enum bb_status look_at_run(struct search *search, size_t turn)
{
    enum bb_status status = BB_OK;
    const struct bb_run *run = search->levels->turns[turn].run;
    for (size_t i = 0; i < run->count && status == BB_OK; i++) {
        bool is_hidden = false;
        status = is_covered(search, turn, run->files[i], &is_hidden);
        if (status == BB_OK && is_hidden)
            status = take(search, search->levels->turns[turn].level, run, run->files[i]);
    }
    return status;
}

enum bb_status bb_pick_covered(const struct bb_levels *levels, const uint64_t *snapshots,
                               size_t snapshot_count, struct bb_plan *ret_plan)
{
    struct search search = {.levels = levels,
                            .snapshots = snapshots,
                            .snapshot_count = snapshot_count,
                            .plan = ret_plan};
    enum bb_status status = BB_OK;
    bool has_ranges = false; /* in the skipped runs, which are newer than the remaining ones */
    *ret_plan = (struct bb_plan){0};
    for (size_t i = 0; i < levels->turn_count && status == BB_OK; i++) {
        if (has_ranges)
            status = look_at_run(&search, i);
        has_ranges |= levels->turns[i].run->range_tombstone_count > 0;
    }
    if (status != BB_OK)
        bb_plan_deinit(ret_plan);
    return status;
}
