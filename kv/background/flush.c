/* See flush.h. */
#include "kv/background/flush.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "compaction/merge/compaction.h"
#include "kv/background/edit_install.h"
#include "kv/background/waste_target.h"
#include "kv/indexes/index_build.h"
#include "kv/indexes/index_demand.h"
#include "kv/manifest/filename.h"
#include "kv/memtable/memtable.h"
#include "kv/memtable/memtable_ranges.h"
#include "kv/store/file_number.h"
#include "kv/store/new_table.h"
#include "kv/store/work.h"
#include "kv/wal/wal_writer.h"

/* Writes a non-empty memtable to a table of level 0. The file is synced, but not its directory
 * entry. In a store without logs it has the name of a new table (BB_FILE_NEW_TABLE) until it is
 * installed. The caller owns *ret_meta. options: with filters by bb_waste_target_plan_memtable. */
static enum bb_status write_table(struct bb_db *db, struct bb_memtable *memtable,
                                  const struct bb_table_options *options,
                                  struct bb_index_build *indexes, uint64_t *ret_number,
                                  struct bb_table_meta *ret_meta)
{
    BB_DEBUG_ASSERT(!bb_memtable_is_empty(memtable));
    char path[BB_PATH_SIZE_MAX];
    struct bb_iter *iter = NULL;
    struct bb_range_tombstones *ranges = NULL;
    struct bb_output_hooks hooks = bb_index_build_hooks(indexes);
    uint64_t *snapshots = NULL;
    size_t snapshot_count = 0;
    uint64_t number = 0;
    enum bb_file_kind kind = db->options.wal_off ? BB_FILE_NEW_TABLE : BB_FILE_TABLE;
    enum bb_status status = bb_file_number_new(db, &number);
    if (status != BB_OK)
        return status;
    bb_filename_path(db->directory, kind, number, path);
    status = bb_work_list_snapshots(db, &snapshots, &snapshot_count);
    if (status == BB_OK)
        status = bb_memtable_ranges_list_seen(memtable, BB_SEQUENCE_MAX, snapshots, snapshot_count,
                                              &ranges);
    if (status == BB_OK)
        status = bb_memtable_iter_create(memtable, &iter);
    if (status == BB_OK)
        status = bb_compaction_to_table(iter, ranges, path, options, snapshots, snapshot_count,
                                        &hooks, ret_meta);
    bb_free(snapshots);
    bb_iter_destroy(iter);
    bb_range_tombstones_destroy(ranges);
    if (status == BB_OK)
        *ret_number = number;
    return status;
}

/* A log has a window only if its last write failed. */
static void remove_logs(struct bb_db *db, const struct bb_write_buffer *buffer)
{
    bb_filename_remove(db->system, db->directory, BB_FILE_LOG, buffer->log_number);
    bb_filename_remove(db->system, db->directory, BB_FILE_LOG, buffer->old_log_number);
    if (buffer->log != NULL && bb_wal_writer_has_window(buffer->log))
        bb_filename_remove(db->system, db->directory, BB_FILE_WINDOW, buffer->log_number);
}

/* Sets the first log that recovery needs once `flushed` is in a table: the log of the next newer
 * buffer. */
static enum bb_status set_log(struct bb_db *db, const struct bb_write_buffer *flushed,
                              struct bb_edit *edit)
{
    bb_mutex_lock(&db->mutex);
    const struct bb_view *view = db->view;
    const struct bb_write_buffer *next = view->buffers[0];
    for (size_t i = 1; i < view->buffer_count && view->buffers[i] != flushed; i++)
        next = view->buffers[i];
    edit->log_number = next->log_number;
    bb_mutex_unlock(&db->mutex);
    edit->last_sequence = flushed->sequence_end;
    edit->log_is_absent = edit->log_number == 0;
    return edit->log_is_absent ? bb_file_number_new(db, &edit->log_number) : BB_OK;
}

static void report_flush(struct bb_db *db, uint64_t bytes, uint64_t nanoseconds)
{
    struct bb_event event = {.kind = BB_EVENT_FLUSH,
                             .level = 0,
                             .nanoseconds = nanoseconds,
                             .bytes_written = bytes,
                             .message = ""};
    bb_store_event(db, &event);
}

static enum bb_status describe_table(struct bb_db *db, struct bb_memtable *memtable,
                                     struct bb_index_build *indexes, struct bb_edit *edit)
{
    struct bb_table_options options;
    struct bb_table_meta meta = {0};
    uint64_t number = 0;
    bb_waste_target_plan_memtable(db, bb_work_file_system(db, BB_WORK_FLUSH), memtable,
                                  &db->work_shares[BB_WORK_FLUSH], &options);
    enum bb_status status = write_table(db, memtable, &options, indexes, &number, &meta);
    if (status == BB_OK) {
        status = bb_edit_add_table(edit, 0, 0, number, &meta);
        if (status != BB_OK)
            bb_filename_remove(db->system, db->directory, BB_FILE_TABLE, number);
    }
    if (status == BB_OK) {
        bb_index_build_describe(indexes, edit);
        bb_index_build_commit(indexes);
    }
    bb_table_meta_deinit(&meta);
    return status;
}

static enum bb_status rename_table(void *context, struct bb_levels *levels, struct bb_edit *edit)
{
    (void)levels;
    if (edit->added_count == 0)
        return BB_OK;
    return bb_new_table_rename(context, edit->added[0].number, edit->added[0].number);
}

static enum bb_status install(struct bb_db *db, struct bb_write_buffer *buffer,
                              struct bb_edit *edit)
{
    struct bb_placing placing = {.place = db->options.wal_off ? rename_table : NULL,
                                 .context = db,
                                 .flushed = buffer,
                                 .share = &db->work_shares[BB_WORK_FLUSH]};
    enum bb_status status = set_log(db, buffer, edit);
    if (status == BB_OK)
        status = bb_edit_install_placed(db, edit, &placing);
    if (status != BB_OK && db->options.wal_off && edit->added_count > 0)
        bb_filename_remove(db->system, db->directory, BB_FILE_NEW_TABLE,
                           edit->added[0].number); /* unless it was renamed */
    return status;
}

static enum bb_status flush_buffer(struct bb_db *db, struct bb_write_buffer *buffer,
                                   struct bb_edit *edit)
{
    struct bb_index_build indexes = {0};
    enum bb_status status = BB_OK;
    bool builds_indexes = bb_index_demand_is_of_flush(db);
    if (!bb_memtable_is_empty(buffer->memtable)) {
        if (builds_indexes)
            bb_index_build_init(&indexes, db, bb_work_file_system(db, BB_WORK_FLUSH));
        status = describe_table(db, buffer->memtable, &indexes, edit);
        bb_index_build_deinit(&indexes);
    }
    if (status == BB_OK)
        status = install(db, buffer, edit);
    if (status == BB_OK && builds_indexes)
        bb_index_demand_clear_flush(db);
    return status;
}

enum bb_status bb_flush_oldest(struct bb_db *db)
{
    struct bb_edit edit = {0};
    uint64_t begin = db->system->ops->now(db->system);
    bb_mutex_lock(&db->mutex);
    struct bb_write_buffer *buffer = NULL;
    if (bb_view_frozen_count(db->view) > 0)
        buffer = bb_write_buffer_ref(db->view->buffers[db->view->buffer_count - 1]);
    bb_mutex_unlock(&db->mutex);
    if (buffer == NULL)
        return BB_OK;
    enum bb_status status = flush_buffer(db, buffer, &edit);
    bb_work_end_pending(db, BB_WORK_FLUSH);
    if (status == BB_OK) {
        remove_logs(db, buffer);
        if (edit.added_count > 0)
            report_flush(db, edit.added[0].meta.file_size, bb_file_elapsed(db->system, begin));
    }
    bb_edit_deinit(&edit);
    bb_write_buffer_unref(buffer);
    return status;
}
