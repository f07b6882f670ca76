/* Writes the tables of an intake. See intake.h. */
#include "base/assert.h"
#include "kv/ingest/intake.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/bytes.h"
#include "base/status.h"
#include "compaction/merge/merge.h"
#include "compaction/merge/range_tombstone_cutter.h"
#include "compaction/merge/retain.h"
#include "kv/background/waste_target.h"
#include "kv/ingest/intake_iter.h"
#include "kv/manifest/filename.h"
#include "kv/options.h"
#include "kv/store/call.h"
#include "kv/store/current_view.h"
#include "kv/store/file_number.h"
#include "kv/store/work.h"

/* Entries between two checks whether the store is being closed. */
#define STEP_ENTRY_COUNT 4096

/* ---- all inputs as one stream ---- */

static enum bb_status check_open(void *context)
{
    return bb_call_check_open(context);
}

static enum bb_status open_stream(const struct bb_intake *intake, size_t input,
                                  struct bb_iter **ret_stream)
{
    static const struct bb_read_options options = {.bypass_fill = true};
    struct bb_table *table = intake->inputs[input];
    struct bb_intake_source source = {.entry_count = bb_table_meta(table)->entry_count,
                                      .sequence = intake->sequence,
                                      .number = bb_intake_number(input),
                                      .own = bb_table_range_tombstones(table),
                                      .by_input = intake->by_input,
                                      .may_go_on = check_open,
                                      .context = intake->db};
    enum bb_status status = bb_table_iter_create(table, &options, NULL, &source.stream);
    return status == BB_OK ? bb_intake_iter_create(&source, ret_stream) : status;
}

/* Of entries with equal keys and sequences, the merge returns the earlier stream's first. */
static enum bb_status open_merge(const struct bb_intake *intake, struct bb_iter **ret_merge)
{
    size_t count = 0;
    enum bb_status status = BB_OK;
    struct bb_iter **streams = bb_alloc_zeroed(intake->input_count, sizeof(struct bb_iter *));
    if (streams == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a merge of %zu tables", intake->input_count);
    for (size_t i = intake->input_count; i > 0 && status == BB_OK; i--) {
        status = open_stream(intake, i - 1, &streams[count]);
        count += status == BB_OK;
    }
    if (status == BB_OK) {
        status = bb_merge_create(streams, count, intake->db->options.comparator, ret_merge);
    } else {
        for (size_t i = 0; i < count; i++)
            bb_iter_destroy(streams[i]);
    }
    bb_free(streams);
    return status;
}

/* ---- tables ---- */

/* The tables being written. */
struct writing {
    struct bb_intake *intake;
    struct bb_table_options options;
    bool is_cut; /* below level 0: cut into tables of the usual size */
    struct bb_retain retain;
    struct bb_range_tombstone_cutter ranges;
    uint64_t step_count; /* entries since the last check of the store */
    struct bb_table_builder *builder;
    struct bb_output_hooks hooks; /* of the indexes */
};

static enum bb_status widen(struct bb_table_meta *sum, const struct bb_table_meta *meta,
                            bool is_first, const struct bb_comparator *comparator)
{
    struct bb_bytes smallest = bb_buf_bytes(&meta->smallest);
    struct bb_bytes largest = bb_buf_bytes(&meta->largest);
    enum bb_status status = BB_OK;
    sum->file_size += meta->file_size;
    sum->key_count += meta->key_count;
    if (is_first || bb_key_compare(comparator, smallest, bb_buf_bytes(&sum->smallest)) < 0)
        status = bb_buf_assign(&sum->smallest, smallest);
    if (status == BB_OK &&
        (is_first || bb_key_compare(comparator, largest, bb_buf_bytes(&sum->largest)) > 0))
        status = bb_buf_assign(&sum->largest, largest);
    return status;
}

/* Metadata of all inputs together. REQUIRES: there is an input. */
static enum bb_status sum_up(const struct bb_intake *intake, struct bb_table_meta *sum)
{
    BB_DEBUG_ASSERT(intake->input_count > 0);
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < intake->input_count && status == BB_OK; i++)
        status =
            widen(sum, bb_table_meta(intake->inputs[i]), i == 0, intake->db->options.comparator);
    return status;
}

/* Plans for the level that the tables would get now; the final level may differ. */
static enum bb_status plan(struct writing *writing)
{
    struct bb_db *db = writing->intake->db;
    struct bb_waste_share *share = &writing->intake->share;
    struct bb_table_meta sum = {0};
    enum bb_status status = sum_up(writing->intake, &sum);
    if (status != BB_OK) {
        bb_table_meta_deinit(&sum);
        return status;
    }
    bb_mutex_lock(&db->installing);
    struct bb_levels *levels = bb_current_view_ref_levels(db);
    int level = bb_intake_level(writing->intake, levels, &sum);
    bb_options_for_table(&db->options, bb_work_file_system(db, BB_WORK_COMPACTION), &db->secret,
                         NULL, &writing->options);
    struct bb_waste_target_tables tables = {.level = level,
                                            .run = bb_intake_run(levels, level),
                                            .key_count = sum.key_count,
                                            .hull = {.comparator = db->options.comparator}};
    bb_hull_widen(&tables.hull, bb_buf_bytes(&sum.smallest), bb_buf_bytes(&sum.largest));
    bb_waste_target_run_options(db, levels, &tables, share, &writing->options);
    bb_levels_unref(levels);
    bb_mutex_unlock(&db->installing);
    writing->is_cut = level > 0;
    bb_table_meta_deinit(&sum);
    return BB_OK;
}

static enum bb_status open_table(struct writing *writing)
{
    struct bb_intake *intake = writing->intake;
    struct bb_db *db = intake->db;
    char path[BB_PATH_SIZE_MAX];
    uint64_t number = 0;
    enum bb_status status = bb_file_number_new(db, &number);
    if (status == BB_OK)
        status = bb_array_reserve(&intake->tables, intake->table_count, &intake->table_capacity,
                                  sizeof(*intake->tables), "ingested tables");
    if (status != BB_OK)
        return status;
    bb_filename_path(db->directory, BB_FILE_NEW_TABLE, number, path);
    status = bb_table_builder_create(path, &writing->options, &writing->builder);
    if (status == BB_OK)
        status = writing->hooks.begin(writing->hooks.context, writing->builder);
    /* Counted once it is finished; until then destroying the builder removes the file. */
    if (status == BB_OK)
        intake->tables[intake->table_count] = (struct bb_intake_table){.number = number};
    return status;
}

static enum bb_status finish_table(struct writing *writing)
{
    struct bb_intake *intake = writing->intake;
    if (writing->builder == NULL)
        return BB_OK;
    enum bb_status status = writing->hooks.finish(writing->hooks.context);
    if (status == BB_OK)
        status =
            bb_table_builder_finish(writing->builder, &intake->tables[intake->table_count].meta);
    if (status != BB_OK)
        return status;
    bb_table_builder_destroy(writing->builder);
    writing->builder = NULL;
    intake->table_count++;
    return BB_OK;
}

/* Writes the range tombstones from the last cut up to high (NULL: to the end) to the open table. */
static enum bb_status write_ranges(struct writing *writing, const struct bb_bytes *high)
{
    const struct bb_range_tombstone_cutter *ranges = &writing->ranges;
    size_t count = ranges->list == NULL ? 0 : ranges->list->count;
    enum bb_status status = BB_OK;
    for (size_t i = ranges->index; i < count && status == BB_OK; i++) {
        struct bb_range_tombstone_fragment part = bb_range_tombstone_cutter_part(ranges, i, high);
        if (bb_key_compare(ranges->list->comparator, part.low, part.high) >= 0)
            break;
        if (writing->builder == NULL)
            status = open_table(writing);
        if (status == BB_OK)
            status = bb_table_builder_add_range_tombstone(writing->builder, part.low, part.high,
                                                          part.sequences[0]);
    }
    return status == BB_OK && high != NULL ? bb_range_tombstone_cutter_cut(&writing->ranges, *high)
                                           : status;
}

/* Ends the open table before high (NULL: at the end), where the next one begins. */
static enum bb_status close_table(struct writing *writing, const struct bb_bytes *high)
{
    enum bb_status status = write_ranges(writing, high);
    return status == BB_OK ? finish_table(writing) : status;
}

/* Counts the range tombstones up to the key too, which are written when the table is closed. */
static bool is_full(struct writing *writing, struct bb_bytes key)
{
    uint64_t ranges = bb_range_tombstone_cutter_pass(&writing->ranges, key);
    return writing->is_cut && bb_table_builder_size_estimate(writing->builder) + ranges >=
                                  writing->intake->db->options.table_size_bytes;
}

/* Takes only the first entry of each key, so no key is in two tables. */
static enum bb_status take_entry(struct writing *writing, const struct bb_entry *entry)
{
    bool keep = false;
    enum bb_status status = bb_retain_judge(&writing->retain, entry, false, &keep);
    if (status != BB_OK || !keep)
        return status;
    if (writing->builder != NULL && is_full(writing, entry->key))
        status = close_table(writing, &entry->key);
    if (status == BB_OK && writing->builder == NULL)
        status = open_table(writing);
    return status == BB_OK ? bb_table_builder_add(writing->builder, entry) : status;
}

static enum bb_status look_at_store(struct writing *writing)
{
    writing->step_count = (writing->step_count + 1) % STEP_ENTRY_COUNT;
    return writing->step_count == 1 ? bb_call_check_open(writing->intake->db) : BB_OK;
}

static enum bb_status write_stream(struct writing *writing, struct bb_iter *stream)
{
    enum bb_status status = BB_OK;
    for (bb_iter_seek_first(stream); stream->is_valid && status == BB_OK; bb_iter_next(stream)) {
        status = look_at_store(writing);
        if (status == BB_OK)
            status = take_entry(writing, &stream->entry);
    }
    if (status == BB_OK)
        status = stream->status;
    return status == BB_OK ? close_table(writing, NULL) : status;
}

enum bb_status bb_intake_write(struct bb_intake *intake)
{
    struct writing writing = {.intake = intake};
    struct bb_iter *stream = NULL;
    bb_intake_remove(intake);
    bb_retain_init(&writing.retain, NULL, 0, intake->db->options.comparator);
    writing.hooks = bb_index_build_hooks(&intake->indexes);
    bb_index_build_init(&intake->indexes, intake->db,
                        bb_work_file_system(intake->db, BB_WORK_COMPACTION));
    enum bb_status status = plan(&writing);
    if (status == BB_OK)
        status = bb_intake_list_ranges(intake, intake->sequence, &writing.ranges.list);
    if (status == BB_OK)
        status = open_merge(intake, &stream);
    if (status == BB_OK)
        status = write_stream(&writing, stream);
    bb_iter_destroy(stream);
    bb_table_builder_destroy(writing.builder);
    bb_retain_deinit(&writing.retain);
    bb_range_tombstone_cutter_deinit(&writing.ranges);
    return status;
}
