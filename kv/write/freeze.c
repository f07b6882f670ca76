/* See freeze.h. */
#include "kv/write/freeze.h"

#include "base/assert.h"
#include "base/status.h"
#include "kv/background/compaction_work.h"
#include "kv/background/work_wait.h"
#include "kv/background/worker.h"
#include "kv/manifest/filename.h"
#include "kv/memtable/memtable.h"
#include "kv/store/current_view.h"
#include "kv/store/file_number.h"
#include "kv/store/work.h"
#include "kv/wal/wal_writer.h"

/* The size of a log is limited to this many times its memtable's. Small entries are larger in the
 * memtable than in the log, so only operations without entries in the memtable, deletions of empty
 * ranges, reach this limit. */
#define LOG_FACTOR 4

/* A freeze waits at most this long for each run of level 0 above the threshold. */
#define SLOWDOWN_NANOSECONDS UINT64_C(20000000)

static enum bb_status create_log(struct bb_db *db, uint64_t *ret_number,
                                 struct bb_wal_writer **ret_log)
{
    char path[BB_PATH_SIZE_MAX];
    enum bb_status status = bb_file_number_new(db, ret_number);
    if (status != BB_OK)
        return status;
    bb_filename_path(db->directory, BB_FILE_LOG, *ret_number, path);
    return bb_wal_writer_create(db->system, path, *ret_number, db->store_id,
                                db->options.wal_buffer_bytes, ret_log);
}

/* For a log that was never used. On a full disk each attempt would leave one. log may be NULL. */
static void discard_log(struct bb_db *db, uint64_t number, struct bb_wal_writer *log)
{
    struct bb_error failure = *bb_error_last();
    if (log == NULL)
        return;
    (void)!bb_wal_writer_close(log);
    (void)bb_error_restore(&failure);
    bb_filename_remove(db->system, db->directory, BB_FILE_LOG, number);
}

/* Takes the spare memtable if it has the capacity. */
static enum bb_status take_memtable(struct bb_db *db, size_t capacity_bytes,
                                    struct bb_memtable **ret_memtable)
{
    struct bb_memtable *memtable = bb_spare_memtable_take(&db->spare, capacity_bytes);
    if (memtable == NULL)
        return bb_memtable_create(db->options.comparator, capacity_bytes, ret_memtable);
    *ret_memtable = memtable;
    return BB_OK;
}

static enum bb_status new_buffer(struct bb_db *db, size_t capacity_bytes, bool has_log,
                                 struct bb_write_buffer **ret_buffer)
{
    struct bb_memtable *memtable = NULL;
    struct bb_wal_writer *log = NULL;
    uint64_t number = 0;
    enum bb_status status = take_memtable(db, capacity_bytes, &memtable);
    if (status == BB_OK && has_log)
        status = create_log(db, &number, &log);
    if (status == BB_OK)
        status = bb_write_buffer_create(memtable, log, number, &db->spare, ret_buffer);
    if (status != BB_OK) {
        discard_log(db, number, log);
        bb_memtable_destroy(memtable);
    }
    return status;
}

enum bb_status bb_freeze_new_buffer(struct bb_db *db, size_t capacity_bytes,
                                    struct bb_write_buffer **ret_buffer)
{
    return new_buffer(db, capacity_bytes, !db->options.wal_off, ret_buffer);
}

enum bb_status bb_freeze_new_resting_buffer(struct bb_db *db, uint64_t old_log_number,
                                            struct bb_write_buffer **ret_buffer)
{
    enum bb_status status =
        new_buffer(db, (size_t)db->options.write_buffer_bytes, false, ret_buffer);
    if (status == BB_OK)
        (*ret_buffer)->old_log_number = old_log_number;
    return status;
}

static void count_stall(struct bb_db *db, enum bb_stall stall, uint64_t nanoseconds)
{
    struct bb_event event = {.kind = BB_EVENT_STALL,
                             .stall = stall,
                             .level = -1,
                             .nanoseconds = nanoseconds,
                             .message = ""};
    bb_mutex_lock(&db->mutex);
    db->counts.stalls[stall]++;
    db->counts.stall_nanoseconds[stall] += nanoseconds;
    bb_mutex_unlock(&db->mutex);
    bb_store_event(db, &event);
}

/* Reasons to wait, besides a stopped level 0. The mutex is held. */
static bool has_frozen(const struct bb_db *db)
{
    return bb_view_frozen_count(db->view) > 0;
}

static bool has_all_frozen(const struct bb_db *db)
{
    return bb_view_frozen_count(db->view) == BB_FROZEN_MAX;
}

/* Without the mutex. */
static bool has_flush_failed(const struct bb_db *db)
{
    return atomic_load_explicit(&db->workers[BB_WORK_FLUSH].is_failing, memory_order_acquire);
}

static bool is_flush_failing(const struct bb_db *db)
{
    return bb_work_is_failing(db, BB_WORK_FLUSH);
}

/* Waits until the reason is gone, or the work that would remove it has failed. In deterministic
 * mode this call does the work. */
static enum bb_status wait_for(struct bb_db *db, enum bb_work work,
                               bool (*is_blocked)(const struct bb_db *db))
{
    struct bb_error failure = {.status = BB_OK};
    if (db->options.deterministic)
        return bb_workers_do_all(db, work);
    bb_mutex_lock(&db->mutex);
    struct bb_work_wait wait = bb_work_wait_begin(db, work, 1);
    BB_DEBUG_ASSERT(bb_mutex_is_held(&db->mutex));
    while (is_blocked(db) && !bb_work_wait_has_failed(&wait))
        bb_condvar_wait(&db->work_is_done, &db->mutex);
    if (is_blocked(db))
        failure = db->workers[work].failure;
    bb_mutex_unlock(&db->mutex);
    return failure.status == BB_OK ? BB_OK : bb_error_restore(&failure);
}

static enum bb_status stall(struct bb_db *db, enum bb_stall reason)
{
    uint64_t begin = db->system->ops->now(db->system);
    enum bb_status status =
        reason == BB_STALL_MEMTABLES
            ? wait_for(db, BB_WORK_FLUSH, has_all_frozen)
            : wait_for(db, BB_WORK_COMPACTION, bb_compaction_work_is_level0_stopped);
    count_stall(db, reason, bb_file_elapsed(db->system, begin));
    return status;
}

/* If level 0 is stopped, waits until it has fewer runs than level0_run_count_stop, or a merge has
 * failed. is_urgent, for a failed log: waits only if level 0 is at its limit. A leader that yields
 * does not wait. */
static enum bb_status await_level0(struct bb_db *db, bool is_urgent)
{
    bb_mutex_lock(&db->mutex);
    bool is_full = is_urgent ? bb_compaction_work_is_level0_at_limit(db, BB_NEW_RUN_UNFROZEN)
                             : bb_compaction_work_is_level0_stopped(db);
    bb_mutex_unlock(&db->mutex);
    return is_full && !db->leader_yields ? stall(db, BB_STALL_LEVEL0) : BB_OK;
}

/* Refuses writes while flushes fail, but only after one more attempt has failed too. */
static enum bb_status check_failure(struct bb_db *db)
{
    return has_flush_failed(db) ? wait_for(db, BB_WORK_FLUSH, is_flush_failing) : BB_OK;
}

/* Moves the active buffer to the frozen ones, and replaces it by a new one. */
static void swap_active(struct bb_db *db, struct bb_view *blank, struct bb_write_buffer *buffer)
{
    struct bb_write_buffer *buffers[1 + BB_FROZEN_MAX] = {buffer};
    db->active->sequence_end = db->sequence_allocated;
    bb_mutex_lock(&db->mutex);
    size_t count = db->view->buffer_count;
    BB_ASSERT(count < BB_ARRAY_LENGTH(buffers));
    memcpy(&buffers[1], db->view->buffers, count * sizeof(buffers[0]));
    bb_current_view_publish(db, blank, buffers, count + 1, db->view->levels);
    bb_write_buffer_unref(db->active);
    db->active = buffer;
    bb_work_signal(db, BB_WORK_FLUSH);
    bb_mutex_unlock(&db->mutex);
    bb_current_view_reclaim(db);
    db->is_log_failed = false;
}

/* Writes a buffered log to the system before a newer log takes records. */
static enum bb_status flush_log(struct bb_db *db)
{
    if (db->active->log == NULL || db->is_log_failed)
        return BB_OK;
    enum bb_status status = bb_wal_writer_flush(db->active->log);
    db->is_log_failed = status != BB_OK;
    return status;
}

enum bb_status bb_freeze_memtable(struct bb_db *db, size_t capacity_bytes)
{
    BB_DEBUG_ASSERT(bb_commit_queue_is_led(&db->commits));
    struct bb_write_buffer *buffer = NULL;
    struct bb_view *blank = NULL;
    bb_mutex_lock(&db->mutex);
    bool is_full = has_all_frozen(db);
    bb_mutex_unlock(&db->mutex);
    enum bb_status status = is_full ? stall(db, BB_STALL_MEMTABLES) : BB_OK;
    if (status == BB_OK)
        status = flush_log(db);
    if (status == BB_OK)
        status = bb_view_create(&blank);
    if (status == BB_OK)
        status = bb_freeze_new_buffer(db, capacity_bytes, &buffer);
    if (status == BB_OK && buffer->log != NULL)
        status = db->system->ops->sync_directory(db->system, db->directory); /* sync S6 */
    if (status == BB_OK) {
        swap_active(db, blank, buffer);
        return BB_OK;
    }
    if (buffer != NULL) {
        discard_log(db, buffer->log_number, buffer->log);
        buffer->log = NULL;
    }
    bb_write_buffer_unref(buffer);
    bb_view_destroy(blank);
    return status;
}

enum bb_status bb_freeze_drain(struct bb_db *db)
{
    return wait_for(db, BB_WORK_FLUSH, has_frozen);
}

/* The log has failed: its acknowledged writes are moved into a table before new ones are accepted,
 * so that the log with its unknown end is never replayed together with a newer one. */
static enum bb_status replace_log(struct bb_db *db)
{
    enum bb_status status = await_level0(db, true);
    if (status == BB_OK)
        status = bb_freeze_memtable(db, (size_t)db->options.write_buffer_bytes);
    if (status != BB_OK)
        return status;
    status = bb_freeze_drain(db);
    /* If the flush fails, the new log must not be used either. */
    if (status != BB_OK)
        db->is_log_failed = true;
    return status;
}

/* The number of runs from which on each freeze waits briefly: halfway from level0_run_count_busy to
 * level0_run_count_stop. No later freeze then has to wait for a whole compaction. */
static uint64_t slowdown_mark(const struct bb_db *db)
{
    return (db->options.level0_run_count_busy + db->options.level0_run_count_stop + 1) / 2;
}

static void slow_down(struct bb_db *db)
{
    uint64_t mark = slowdown_mark(db);
    if (db->options.deterministic)
        return;
    uint64_t begin = db->system->ops->now(db->system);
    bb_mutex_lock(&db->mutex);
    uint64_t runs = bb_levels_table_count(db->view->levels, 0);
    if (runs >= mark)
        (void)bb_condvar_wait_for(&db->work_is_done, &db->mutex,
                                  (runs - mark + 1) * SLOWDOWN_NANOSECONDS);
    bb_mutex_unlock(&db->mutex);
    if (runs >= mark)
        count_stall(db, BB_STALL_SLOWDOWN, bb_file_elapsed(db->system, begin));
}

static enum bb_status freeze_for(struct bb_db *db, const struct bb_write_space *space)
{
    enum bb_status status = await_level0(db, false);
    if (status != BB_OK)
        return status;
    size_t needed = bb_memtable_capacity_for(space->entry_count, space->raw_bytes);
    size_t usual = (size_t)db->options.write_buffer_bytes;
    status = bb_freeze_memtable(db, needed > usual ? needed : usual);
    if (status == BB_OK && db->options.deterministic)
        status = bb_workers_do_all(db, BB_WORK_FLUSH);
    return status;
}

static bool has_space(const struct bb_write_buffer *active, const struct bb_write_space *space)
{
    return bb_memtable_fits(active->memtable, space->entry_count, space->raw_bytes) &&
           (active->log == NULL ||
            bb_wal_writer_size(active->log) <= LOG_FACTOR * bb_memtable_capacity(active->memtable));
}

static bool is_resting(const struct bb_db *db)
{
    return db->active->log == NULL && !db->options.wal_off;
}

/* The first write to a store that was cleanly closed. */
static enum bb_status begin_log(struct bb_db *db)
{
    struct bb_wal_writer *log = NULL;
    uint64_t number = 0;
    enum bb_status status = create_log(db, &number, &log);
    if (status == BB_OK)
        status = db->system->ops->sync_directory(db->system, db->directory); /* sync S6 */
    if (status != BB_OK) {
        discard_log(db, number, log);
        return status;
    }
    /* A flush that ends now reads the number. */
    bb_mutex_lock(&db->mutex);
    db->active->log = log;
    db->active->log_number = number;
    bb_mutex_unlock(&db->mutex);
    return BB_OK;
}

enum bb_status bb_freeze_make_space(struct bb_db *db, const struct bb_write_space *space)
{
    BB_DEBUG_ASSERT(bb_commit_queue_is_led(&db->commits));
    enum bb_status status = check_failure(db);
    if (status == BB_OK && db->is_log_failed)
        status = replace_log(db);
    if (status == BB_OK && !has_space(db->active, space)) {
        slow_down(db);
        status = freeze_for(db, space);
    }
    if (status == BB_OK && space->entry_count > 0 && is_resting(db))
        status = begin_log(db);
    return status;
}

bool bb_freeze_has_space(const struct bb_db *db, const struct bb_write_space *space)
{
    return !db->is_log_failed && !has_flush_failed(db) && !is_resting(db) &&
           has_space(db->active, space);
}

/* The failure of the work that a write would have to wait for, or BB_OK. */
static enum bb_status failure_of(struct bb_db *db, enum bb_work work)
{
    bb_mutex_lock(&db->mutex);
    struct bb_error failure = db->workers[work].failure;
    bb_mutex_unlock(&db->mutex);
    return failure.status == BB_OK ? BB_OK : bb_error_restore(&failure);
}

enum bb_status bb_freeze_check_space(struct bb_db *db, const struct bb_write_space *space)
{
    if (db->options.deterministic)
        return BB_OK;
    enum bb_status status = failure_of(db, BB_WORK_FLUSH);
    if (status != BB_OK || (!db->is_log_failed && has_space(db->active, space)))
        return status;
    bb_mutex_lock(&db->mutex);
    bool is_full = has_all_frozen(db);
    /* Frozen memtables may become runs before the write comes. */
    uint64_t runs = bb_levels_table_count(db->view->levels, 0) + bb_view_frozen_count(db->view);
    bool is_slow = runs >= slowdown_mark(db);
    bb_mutex_unlock(&db->mutex);
    if (is_slow)
        status = failure_of(db, BB_WORK_COMPACTION);
    if (status != BB_OK)
        return status;
    return is_full || is_slow || db->is_log_failed ? BB_WOULD_WAIT : BB_OK;
}
