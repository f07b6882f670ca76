/* Requested work: flush, compact, wait until no work is due. */
#include "kv/admin/maintain.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"
#include "kv/background/compaction_work.h"
#include "kv/background/range_request.h"
#include "kv/background/work_wait.h"
#include "kv/background/worker.h"
#include "kv/memtable/memtable.h"
#include "kv/store/call.h"
#include "kv/store/inherited.h"
#include "kv/store/work.h"
#include "kv/write/commit.h"
#include "kv/write/freeze.h"
#include "sstable/entry.h"

/* Ends a wait. REQUIRES: the mutex is held; it is released. */
static enum bb_status end_wait(struct bb_db *db, bool is_done, const struct bb_error *failure)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&db->mutex));
    struct bb_error why_not = {.status = BB_OK};
    if (!is_done)
        why_not = bb_work_wait_error(db, failure);
    bb_mutex_unlock(&db->mutex);
    return is_done ? BB_OK : bb_error_restore(&why_not);
}

/* Waits until *done reaches target, or the work fails. A failed compaction may have been chosen
 * before the request, so the wait includes a second attempt. */
static enum bb_status wait_until(struct bb_db *db, enum bb_work work, const uint64_t *done,
                                 uint64_t target)
{
    bb_mutex_lock(&db->mutex);
    struct bb_work_wait wait = bb_work_wait_begin(db, work, work == BB_WORK_FLUSH ? 1 : 2);
    while (*done < target && !db->is_closing && !bb_work_wait_has_failed(&wait))
        bb_condvar_wait(&db->work_is_done, &db->mutex);
    return end_wait(db, *done >= target, &db->workers[work].failure);
}

/* True if a flush of the active memtable would record something. A deletion of an empty range has a
 * sequence, but no entry: the edit of a flush makes it durable. */
static bool has_content(const struct bb_db *db, uint64_t frozen_end)
{
    return !bb_memtable_is_empty(db->active->memtable) || db->sequence_allocated > frozen_end;
}

/* The last sequence of the frozen memtables; without a frozen one, of the tables. The mutex is not
 * held. */
static uint64_t read_frozen_end(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    uint64_t end = bb_view_frozen_count(db->view) > 0 ? db->view->buffers[1]->sequence_end
                                                      : db->flushed_sequence;
    bb_mutex_unlock(&db->mutex);
    return end;
}

static enum bb_status freeze_first(struct bb_db *db, uint64_t *ret_target)
{
    if (db->is_log_failed) {
        enum bb_status status = bb_freeze_make_space(db, &(struct bb_write_space){0});
        if (status != BB_OK)
            return status;
    }
    uint64_t frozen_end = read_frozen_end(db);
    bool is_due = has_content(db, frozen_end);
    /* Otherwise no writes are pending, but the call waits for earlier frozen memtables. */
    *ret_target = is_due ? db->sequence_allocated : frozen_end;
    return is_due ? bb_freeze_memtable(db, (size_t)db->options.write_buffer_bytes) : BB_OK;
}

/* Called by the leader: freezes the memtable. *ret_target: the flushed_sequence to wait for. If the
 * log has failed, its memtable is in a table before this returns, because the next leader must not
 * append to that log. When space is short, the next log gets the space of a merge's outputs. */
static enum bb_status freeze_all(struct bb_db *db, uint64_t *ret_target)
{
    struct bb_error before;
    bb_error_save(&before);
    uint64_t ends = bb_compaction_work_ends(db);
    enum bb_status status = freeze_first(db, ret_target);
    if (status != BB_NO_SPACE || !bb_compaction_work_begin_leader_yield(db, ends))
        return status;
    status = freeze_first(db, ret_target);
    bb_compaction_work_end_leader_yield(db);
    return bb_error_settle(status, &before);
}

enum bb_status bb_maintain_flush_led(struct bb_db *db)
{
    uint64_t target = 0;
    enum bb_status status = freeze_all(db, &target);
    if (status != BB_OK)
        return status;
    return db->options.deterministic ? bb_workers_do_all(db, BB_WORK_FLUSH)
                                     : wait_until(db, BB_WORK_FLUSH, &db->flushed_sequence, target);
}

static enum bb_status flush(struct bb_db *db)
{
    struct bb_commit commit;
    uint64_t target = 0;
    enum bb_status status = bb_commit_become_leader(db, &commit);
    if (status != BB_OK)
        return status;
    status = freeze_all(db, &target);
    if (status == BB_OK && db->options.deterministic)
        status = bb_workers_do_all(db, BB_WORK_FLUSH);
    bb_commit_release_leader(db, &commit);
    if (status != BB_OK || db->options.deterministic)
        return status;
    return wait_until(db, BB_WORK_FLUSH, &db->flushed_sequence, target);
}

enum bb_status bb_db_flush(struct bb_db *db)
{
    enum bb_status status = bb_call_begin_change(db, "a flush");
    if (status != BB_OK)
        return status;
    status = flush(db);
    bb_call_end(db);
    return status;
}

static uint64_t request_compaction(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    uint64_t ticket = ++db->compact_requested;
    bb_work_signal(db, BB_WORK_COMPACTION);
    bb_mutex_unlock(&db->mutex);
    return ticket;
}

/* In deterministic mode this call does the work. */
static enum bb_status work_as_leader(struct bb_db *db)
{
    struct bb_commit commit;
    enum bb_status status = bb_commit_become_leader(db, &commit);
    if (status != BB_OK)
        return status;
    status = bb_workers_do_all(db, BB_WORK_COMPACTION);
    bb_commit_release_leader(db, &commit);
    return status;
}

static enum bb_status compact(struct bb_db *db)
{
    enum bb_status status = flush(db);
    if (status != BB_OK)
        return status;
    uint64_t ticket = request_compaction(db);
    return db->options.deterministic
               ? work_as_leader(db)
               : wait_until(db, BB_WORK_COMPACTION, &db->compact_done, ticket);
}

enum bb_status bb_db_compact(struct bb_db *db)
{
    enum bb_status status = bb_call_begin_change(db, "a compaction");
    if (status != BB_OK)
        return status;
    status = compact(db);
    bb_call_end(db);
    return status;
}

static enum bb_status compact_range(struct bb_db *db, const struct bb_key_range *range)
{
    struct bb_range_request *request = NULL;
    enum bb_status status = flush(db);
    if (status == BB_OK)
        status = bb_range_request_add(db, range, &request);
    if (status != BB_OK)
        return status;
    bb_mutex_lock(&db->mutex);
    bb_work_signal(db, BB_WORK_COMPACTION);
    bb_mutex_unlock(&db->mutex);
    /* The store records a failure, and the wait finds it. */
    if (db->options.deterministic)
        (void)!work_as_leader(db);
    return bb_range_request_wait(db, request);
}

enum bb_status bb_db_compact_range(struct bb_db *db, const struct bb_bytes *low,
                                   const struct bb_bytes *high)
{
    enum bb_status status = bb_entry_check_bounds(low, high);
    if (status != BB_OK)
        return status;
    if (low != NULL && high != NULL && bb_key_compare(db->options.comparator, *low, *high) >= 0)
        return BB_OK;
    status = bb_call_begin_change(db, "a compaction");
    if (status != BB_OK)
        return status;
    status = compact_range(db, &(struct bb_key_range){.low = low, .high = high});
    bb_call_end(db);
    return status;
}

/* The mutex is held. A flush requests a compaction before it counts as handled, so that no work is
 * missed between the two. A merge that was cancelled for space begins again after the yield. */
static bool is_idle(const struct bb_db *db)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&db->mutex));
    const struct bb_worker *flush = &db->workers[BB_WORK_FLUSH];
    const struct bb_worker *compaction = &db->workers[BB_WORK_COMPACTION];
    return flush->answered == flush->signals && compaction->answered == compaction->signals &&
           db->yield_count == 0;
}

static bool is_well(const struct bb_db *db)
{
    return is_idle(db) && bb_work_failure(db)->status == BB_OK;
}

/* The waiting thread writes no more, so level 0 need not collect runs. */
static void begin_quiet(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    db->pace.waiters++;
    bb_work_signal(db, BB_WORK_COMPACTION);
    bb_mutex_unlock(&db->mutex);
}

static void end_quiet(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    db->pace.waiters--;
    bb_mutex_unlock(&db->mutex);
}

static enum bb_status wait_idle(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    struct bb_work_wait flush = bb_work_wait_begin(db, BB_WORK_FLUSH, 1);
    struct bb_work_wait compaction = bb_work_wait_begin(db, BB_WORK_COMPACTION, 1);
    while (!is_well(db) && !db->is_closing && !bb_work_wait_has_failed(&flush) &&
           !bb_work_wait_has_failed(&compaction))
        bb_condvar_wait(&db->work_is_done, &db->mutex);
    return end_wait(db, is_well(db), bb_work_failure(db));
}

enum bb_status bb_db_wait_idle(struct bb_db *db)
{
    enum bb_status status = bb_inherited_check(db);
    if (status != BB_OK || db->options.read_only)
        return status;
    status = bb_call_begin_change(db, "waiting for work");
    if (status != BB_OK)
        return status;
    begin_quiet(db);
    status = db->options.deterministic ? work_as_leader(db) : wait_idle(db);
    end_quiet(db);
    bb_call_end(db);
    return status;
}
