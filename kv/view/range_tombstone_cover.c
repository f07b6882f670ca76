/* See range_tombstone_cover.h. */
#include "kv/view/range_tombstone_cover.h"

#include "base/buf.h"
#include "kv/memtable/memtable_ranges.h"

/* ---- the runs of a view by number ---- */

static bool has_ranges(const struct bb_view *view, size_t run)
{
    const struct bb_memtable *memtable = bb_view_memtable(view, run);
    return memtable != NULL ? bb_memtable_ranges_count(memtable) > 0
                            : bb_view_turn(view, run)->run->range_tombstone_count > 0;
}

bool bb_range_tombstone_cover_is_needed(const struct bb_range_tombstone_cover *cover)
{
    for (size_t run = 0; run <= cover->run; run++) {
        if (has_ranges(cover->view, run))
            return true;
    }
    return false;
}

/* ---- regions ---- */

static enum bb_status take_table(const struct bb_range_tombstone_cover *cover,
                                 struct bb_table_file *file, struct bb_bytes key,
                                 struct bb_range_tombstone_region *region)
{
    struct bb_table *table = NULL;
    if (file->meta.range_tombstone_count == 0)
        return BB_OK;
    enum bb_status status = bb_table_file_open(file, &table);
    if (status == BB_OK)
        bb_range_tombstone_region_take_list(region, bb_table_range_tombstones(table), key,
                                            cover->sequence);
    return status;
}

/* Takes the table whose bounds contain the key. Clips the region to the keys that are also within
 * the bounds of this table; or, without such a table, to the keys that have no table either. */
static enum bb_status take_files(const struct bb_range_tombstone_cover *cover,
                                 const struct bb_run *run, struct bb_bytes key,
                                 struct bb_range_tombstone_region *region)
{
    size_t index = bb_run_find_index(run, cover->comparator, key);
    if (index > 0) {
        /* Inclusive or not: the range tombstones of that table end here or earlier. */
        struct bb_bytes low = bb_buf_bytes(&run->files[index - 1]->meta.largest);
        bb_range_tombstone_region_clip(region, cover->comparator, &low, NULL);
    }
    if (index == run->count)
        return BB_OK;
    struct bb_bytes smallest = bb_buf_bytes(&run->files[index]->meta.smallest);
    if (bb_key_compare(cover->comparator, key, smallest) < 0) {
        bb_range_tombstone_region_clip(region, cover->comparator, NULL, &smallest);
        return BB_OK;
    }
    bb_range_tombstone_region_clip(region, cover->comparator, &smallest, NULL);
    if (index + 1 < run->count) {
        struct bb_bytes next = bb_buf_bytes(&run->files[index + 1]->meta.smallest);
        bb_range_tombstone_region_clip(region, cover->comparator, NULL, &next);
    }
    return take_table(cover, run->files[index], key, region);
}

static enum bb_status take_run(const struct bb_range_tombstone_cover *cover, size_t run,
                               struct bb_bytes key, struct bb_range_tombstone_region *region)
{
    const struct bb_memtable *memtable = bb_view_memtable(cover->view, run);
    if (memtable == NULL)
        return take_files(cover, bb_view_turn(cover->view, run)->run, key, region);
    bb_memtable_ranges_narrow(memtable, key, cover->sequence, region);
    return BB_OK;
}

static enum bb_status work_out(struct bb_range_tombstone_cover *cover, struct bb_bytes key)
{
    struct bb_range_tombstone_region region = {0};
    enum bb_status status = BB_OK;
    for (size_t run = 0; run < cover->run && status == BB_OK; run++) {
        if (has_ranges(cover->view, run))
            status = take_run(cover, run, key, &region);
    }
    uint64_t newer = region.covering;
    region.covering = 0;
    if (status == BB_OK && has_ranges(cover->view, cover->run))
        status = take_run(cover, cover->run, key, &region);
    if (status != BB_OK)
        return status;
    cover->own = region.covering;
    cover->region = region;
    cover->region.covering = newer;
    cover->has_region = true;
    return BB_OK;
}

enum bb_status bb_range_tombstone_cover_find(struct bb_range_tombstone_cover *cover,
                                             struct bb_bytes key)
{
    if (cover->has_region &&
        bb_range_tombstone_region_contains(&cover->region, cover->comparator, key))
        return BB_OK;
    return work_out(cover, key);
}
