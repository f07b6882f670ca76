/* See intake.h. */
#include "kv/intake.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/status.h"
#include "compaction/merge.h"
#include "compaction/retain.h"
#include "kv/manifest/filename.h"
#include "kv/install.h"
#include "kv/options.h"
#include "kv/stamp_iter.h"
#include "kv/target.h"

/* ---- inputs ---- */

/* Their effect would have to follow the order of the inputs, and the entries' new sequence. */
static enum bb_status refuse_ranges(const struct bb_table *table, const char *path)
{
    uint64_t count = bb_table_meta(table)->range_tombstone_count;
    if (count == 0)
        return BB_OK;
    return bb_fail(BB_UNSUPPORTED,
                   "%s: %" PRIu64 " range tombstones: a table that is taken in may have none", path,
                   count);
}

static enum bb_status open_input(struct bb_intake *intake, const char *path)
{
    struct bb_db *db = intake->db;
    struct bb_table_options options = {.struct_size = sizeof(options),
                                       .file_system = db->files,
                                       .comparator = db->options.comparator};
    enum bb_status status = bb_table_open(path, &options, &intake->inputs[intake->input_count]);
    if (status != BB_OK)
        return status;
    return refuse_ranges(intake->inputs[intake->input_count++], path);
}

enum bb_status bb_intake_open(struct bb_intake *intake, const char *const *paths, size_t count)
{
    enum bb_status status = BB_OK;
    intake->inputs = bb_alloc_zeroed(count, sizeof(*intake->inputs));
    if (intake->inputs == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a list of %zu tables", count);
    for (size_t i = 0; i < count && status == BB_OK; i++)
        status = open_input(intake, paths[i]);
    return status;
}

uint64_t bb_intake_entry_count(const struct bb_intake *intake)
{
    uint64_t count = 0;
    for (size_t i = 0; i < intake->input_count; i++)
        count += bb_table_meta(intake->inputs[i])->entry_count;
    return count;
}

static enum bb_status open_stream(const struct bb_intake *intake, size_t input,
                                  struct bb_iter **ret_stream)
{
    static const struct bb_read_options options = {.bypass_fill = true};
    struct bb_iter *stream = NULL;
    enum bb_status status = bb_table_iter_create(intake->inputs[input], &options, NULL, &stream);
    return status == BB_OK ? bb_stamp_iter_create(stream, intake->sequence, ret_stream) : status;
}

/* All inputs as one stream. Of entries with equal keys and sequences a merge shows those of the
 * stream first that was named first. */
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

/* ---- where they belong ---- */

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

/* The first level that is not above others, and has room. */
static int deepest_with_room(const struct bb_intake *intake, const struct bb_levels *levels,
                             uint64_t file_bytes)
{
    struct bb_pick_options options = bb_target_of(intake->db, levels);
    int level = bb_levels_deepest(levels) < 1 ? 1 : bb_levels_deepest(levels);
    while (level < BB_LEVEL_COUNT - 1 && (double)(levels->levels[level].file_bytes + file_bytes) >
                                             bb_shape_level_bytes(&options.shape, level))
        level++;
    return level;
}

/* WHY not beside a compaction's tables: the mean rate of the level changes as they come and go, and
 * what that adds to the waste was reckoned without others. Its outputs may also span what its inputs
 * left free. */
int bb_intake_level(const struct bb_intake *intake, const struct bb_levels *levels,
                    const struct bb_table_meta *meta)
{
    uint32_t taken = intake->db->pending_levels;
    int deepest = intake->is_level0_only ? 0 : deepest_with_room(intake, levels, meta->file_size);
    int level = 0;
    for (int i = 0; i <= deepest && !overlaps(levels, i, meta); i++) {
        if ((taken & UINT32_C(1) << i) == 0)
            level = i;
    }
    return level;
}

/* ---- tables ---- */

/* The tables on their way. */
struct writing {
    struct bb_intake *intake;
    struct bb_table_options options;
    bool is_cut; /* below level 0: into tables of the usual size */
    struct bb_retain retain;
    struct bb_table_builder *builder;
    struct bb_buf path;
};

/* All inputs as if they were one table. REQUIRES: there is an input. */
static enum bb_status sum_up(const struct bb_intake *intake, struct bb_table_meta *ret_sum)
{
    const struct bb_comparator *comparator = intake->db->options.comparator;
    const struct bb_table_meta *lowest = bb_table_meta(intake->inputs[0]);
    const struct bb_table_meta *highest = lowest;
    struct bb_table_meta sum = {0};
    for (size_t i = 0; i < intake->input_count; i++) {
        const struct bb_table_meta *meta = bb_table_meta(intake->inputs[i]);
        sum.file_size += meta->file_size;
        sum.key_count += meta->key_count;
        if (bb_key_compare(comparator, bb_buf_bytes(&meta->smallest),
                           bb_buf_bytes(&lowest->smallest)) < 0)
            lowest = meta;
        if (bb_key_compare(comparator, bb_buf_bytes(&meta->largest),
                           bb_buf_bytes(&highest->largest)) > 0)
            highest = meta;
    }
    enum bb_status status = bb_buf_assign(&sum.smallest, bb_buf_bytes(&lowest->smallest));
    if (status == BB_OK)
        status = bb_buf_assign(&sum.largest, bb_buf_bytes(&highest->largest));
    if (status == BB_OK)
        *ret_sum = sum;
    else
        bb_table_meta_deinit(&sum);
    return status;
}

/* For the level that they would get now; they may get another one in the end. */
static enum bb_status plan(struct writing *writing)
{
    struct bb_db *db = writing->intake->db;
    struct bb_waste_share *share = &writing->intake->share;
    struct bb_table_meta sum = {0};
    enum bb_status status = sum_up(writing->intake, &sum);
    if (status != BB_OK)
        return status;
    bb_mutex_lock(&db->installing);
    struct bb_levels *levels = bb_store_ref_levels(db);
    double pending = bb_waste_share_others(db->shares, share);
    int level = bb_intake_level(writing->intake, levels, &sum);
    bb_options_for_table(&db->options, level, db->system, &db->secret, NULL, &writing->options);
    double waste = bb_target_run(db, levels, level, bb_intake_run(levels, level), sum.key_count,
                                 pending, &writing->options);
    bb_waste_share_set(&db->shares, share, waste);
    bb_levels_unref(levels);
    bb_mutex_unlock(&db->installing);
    writing->is_cut = level > 0;
    bb_table_meta_deinit(&sum);
    return BB_OK;
}

static enum bb_status grow_tables(struct bb_intake *intake)
{
    if (intake->table_count < intake->table_capacity)
        return BB_OK;
    size_t capacity = intake->table_capacity == 0 ? 8 : intake->table_capacity * 2;
    struct bb_intake_table *grown = bb_realloc(intake->tables, capacity * sizeof(*grown));
    if (grown == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a list of %zu tables", capacity);
    intake->tables = grown;
    intake->table_capacity = capacity;
    return BB_OK;
}

static enum bb_status open_table(struct writing *writing)
{
    struct bb_intake *intake = writing->intake;
    struct bb_db *db = intake->db;
    uint64_t number = atomic_fetch_add(&db->next_file_number, 1);
    enum bb_status status = grow_tables(intake);
    if (status == BB_OK)
        status = bb_filename_path(db->directory, BB_FILE_TABLE, number, &writing->path);
    if (status == BB_OK)
        status = bb_table_builder_create((const char *)writing->path.data, &writing->options,
                                         &writing->builder);
    /* Counted once it is finished; until then destroying the builder removes the file. */
    if (status == BB_OK)
        intake->tables[intake->table_count] = (struct bb_intake_table){.number = number};
    return status;
}

static enum bb_status close_table(struct writing *writing)
{
    struct bb_intake *intake = writing->intake;
    if (writing->builder == NULL)
        return BB_OK;
    enum bb_status status =
        bb_table_builder_finish(writing->builder, &intake->tables[intake->table_count].meta);
    if (status != BB_OK)
        return status;
    bb_table_builder_destroy(writing->builder);
    writing->builder = NULL;
    intake->table_count++;
    return BB_OK;
}

static bool is_full(const struct writing *writing)
{
    return writing->is_cut && bb_table_builder_size_estimate(writing->builder) >=
                                  writing->intake->db->options.table_size_bytes;
}

/* The first entry of a key is the one that counts; so no key stands in two tables. */
static enum bb_status take_entry(struct writing *writing, const struct bb_entry *entry)
{
    bool keep = false;
    enum bb_status status = bb_retain_judge(&writing->retain, entry, false, &keep);
    if (status != BB_OK || !keep)
        return status;
    if (writing->builder != NULL && is_full(writing))
        status = close_table(writing);
    if (status == BB_OK && writing->builder == NULL)
        status = open_table(writing);
    return status == BB_OK ? bb_table_builder_add(writing->builder, entry) : status;
}

static enum bb_status write_stream(struct writing *writing, struct bb_iter *stream)
{
    enum bb_status status = BB_OK;
    for (bb_iter_seek_first(stream); stream->is_valid && status == BB_OK; bb_iter_next(stream))
        status = take_entry(writing, &stream->entry);
    if (status == BB_OK)
        status = stream->status;
    return status == BB_OK ? close_table(writing) : status;
}

enum bb_status bb_intake_write(struct bb_intake *intake)
{
    struct writing writing = {.intake = intake};
    struct bb_iter *stream = NULL;
    bb_intake_remove(intake);
    bb_retain_init(&writing.retain, NULL, 0, intake->db->options.comparator);
    enum bb_status status = plan(&writing);
    if (status == BB_OK)
        status = open_merge(intake, &stream);
    if (status == BB_OK)
        status = write_stream(&writing, stream);
    bb_iter_destroy(stream);
    bb_table_builder_destroy(writing.builder);
    bb_retain_deinit(&writing.retain);
    bb_buf_deinit(&writing.path);
    return status;
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

void bb_intake_remove(struct bb_intake *intake)
{
    struct bb_error failure = *bb_error_last();
    for (size_t i = 0; i < intake->table_count; i++)
        intake->db->table_env.remove(intake->db->table_env.context, intake->tables[i].number);
    forget_tables(intake);
    if (failure.status != BB_OK)
        (void)bb_error_restore(&failure);
}

void bb_intake_deinit(struct bb_intake *intake)
{
    bb_intake_end_share(intake);
    forget_tables(intake);
    bb_free(intake->tables);
    for (size_t i = 0; i < intake->input_count; i++)
        bb_table_close(intake->inputs[i]);
    bb_free(intake->inputs);
}
