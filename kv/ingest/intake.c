/* See intake.h. */
#include "kv/ingest/intake.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "kv/background/waste_target.h"
#include "kv/manifest/filename.h"

/* ---- inputs ---- */

static enum bb_status open_input(struct bb_intake *intake, const char *path)
{
    struct bb_db *db = intake->db;
    struct bb_table_options options = {.file_system = db->files,
                                       .comparator = db->options.comparator};
    enum bb_status status = bb_table_open(path, &options, &intake->inputs[intake->input_count]);
    intake->input_count += status == BB_OK;
    return status;
}

static enum bb_status add_ranges(const struct bb_range_tombstones *list, uint64_t sequence,
                                 struct bb_range_tombstone_array *array)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; list != NULL && i < list->count && status == BB_OK; i++)
        status = bb_range_tombstone_array_add(array, list->fragments[i].low,
                                              list->fragments[i].high, sequence);
    return status;
}

enum bb_status bb_intake_list_ranges(const struct bb_intake *intake, uint64_t sequence,
                                     struct bb_range_tombstones **ret_list)
{
    struct bb_range_tombstone_array array = {0};
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < intake->input_count && status == BB_OK; i++)
        status = add_ranges(bb_table_range_tombstones(intake->inputs[i]),
                            sequence == 0 ? bb_intake_number(i) : sequence, &array);
    if (status == BB_OK && array.count > 0)
        status = bb_range_tombstones_create_seen(array.tombstones, array.count,
                                                 intake->db->options.comparator, NULL, 0, ret_list);
    bb_range_tombstone_array_deinit(&array);
    return status;
}

enum bb_status bb_intake_open(struct bb_intake *intake, const char *const *paths, size_t count)
{
    enum bb_status status = BB_OK;
    intake->inputs = bb_alloc_zeroed(count, sizeof(*intake->inputs));
    if (intake->inputs == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a list of %zu tables", count);
    for (size_t i = 0; i < count && status == BB_OK; i++)
        status = open_input(intake, paths[i]);
    return status == BB_OK ? bb_intake_list_ranges(intake, 0, &intake->by_input) : status;
}

uint64_t bb_intake_entry_count(const struct bb_intake *intake)
{
    uint64_t count = 0;
    for (size_t i = 0; i < intake->input_count; i++)
        count += bb_table_meta(intake->inputs[i])->entry_count;
    return count;
}

/* ---- choosing levels ---- */

static bool overlaps(const struct bb_levels *levels, int level, const struct bb_table_meta *meta)
{
    for (size_t i = 0; i < levels->levels[level].run_count; i++) {
        size_t first = 0;
        size_t end = 0;
        bb_run_find_overlap(bb_levels_run(levels, level, i), levels->comparator,
                            bb_buf_bytes(&meta->smallest), bb_buf_bytes(&meta->largest), &first,
                            &end);
        if (first < end)
            return true;
    }
    return false;
}

uint64_t bb_intake_run(const struct bb_levels *levels, int level)
{
    bool is_new = level == 0 || levels->levels[level].run_count == 0;
    return is_new ? 0 : bb_levels_run(levels, level, 0)->number;
}

/* The first level with enough space and no tables in deeper levels. */
static int deepest_with_space(const struct bb_intake *intake, const struct bb_levels *levels,
                              uint64_t file_bytes)
{
    struct bb_pick_options options = bb_waste_target_pick_options(intake->db, levels);
    int level = bb_levels_deepest(levels) < 1 ? 1 : bb_levels_deepest(levels);
    while (level < BB_LEVEL_COUNT - 1 && (double)(levels->levels[level].file_bytes + file_bytes) >
                                             bb_shape_level_bytes(&options.shape, level))
        level++;
    return level;
}

/* WHY a compaction's levels are excluded: its tables change the mean rate of the level, and their
 * effect on the waste was computed without other tables. Its outputs may also span keys between its
 * inputs. */
int bb_intake_level(const struct bb_intake *intake, const struct bb_levels *levels,
                    const struct bb_table_meta *meta)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&intake->db->installing));
    uint32_t taken = intake->db->pending_levels;
    int deepest = intake->is_level0_only ? 0 : deepest_with_space(intake, levels, meta->file_size);
    int level = 0;
    for (int i = 0; i <= deepest && !overlaps(levels, i, meta); i++) {
        if ((taken & UINT32_C(1) << i) == 0)
            level = i;
    }
    return level;
}

void bb_intake_end_share(struct bb_intake *intake)
{
    bb_mutex_lock(&intake->db->installing);
    bb_waste_share_end(&intake->db->shares, &intake->share);
    bb_mutex_unlock(&intake->db->installing);
}

static void forget_tables(struct bb_intake *intake)
{
    for (size_t i = 0; i < intake->table_count; i++)
        bb_table_meta_deinit(&intake->tables[i].meta);
    intake->table_count = 0;
}

static void remove_table(struct bb_db *db, const struct bb_intake_table *table)
{
    if (table->is_renamed)
        db->table_env.remove(db->table_env.context, table->number);
    else
        bb_filename_remove(db->system, db->directory, BB_FILE_NEW_TABLE, table->number);
}

void bb_intake_remove(struct bb_intake *intake)
{
    struct bb_error failure = *bb_error_last();
    for (size_t i = 0; i < intake->table_count; i++)
        remove_table(intake->db, &intake->tables[i]);
    forget_tables(intake);
    bb_index_build_deinit(&intake->indexes);
    if (failure.status != BB_OK)
        (void)bb_error_restore(&failure);
}

void bb_intake_deinit(struct bb_intake *intake)
{
    bb_intake_end_share(intake);
    forget_tables(intake);
    bb_index_build_commit(&intake->indexes);
    bb_index_build_deinit(&intake->indexes);
    bb_free(intake->tables);
    for (size_t i = 0; i < intake->input_count; i++)
        bb_table_close(intake->inputs[i]);
    bb_free(intake->inputs);
    bb_range_tombstones_destroy(intake->by_input);
}
