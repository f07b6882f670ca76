/* See work.h. */
#include "kv/store/work.h"

#include "base/assert.h"
#include "base/file_limit.h"

void bb_work_signal(struct bb_db *db, enum bb_work work)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&db->mutex));
    db->workers[work].signals++;
    bb_condvar_signal(&db->workers[work].is_due);
}

void bb_work_fail(struct bb_db *db, enum bb_work work)
{
    struct bb_event event = {
        .kind = BB_EVENT_ERROR, .level = -1, .message = bb_error_last()->message};
    bb_mutex_lock(&db->mutex);
    db->workers[work].failure = *bb_error_last();
    db->workers[work].failed_attempt = db->workers[work].begun_attempts;
    atomic_store(&db->workers[work].is_failing, true);
    bb_condvar_broadcast(&db->work_is_done);
    bb_mutex_unlock(&db->mutex);
    bb_store_event(db, &event);
}

void bb_work_succeed(struct bb_db *db, enum bb_work work)
{
    bb_mutex_lock(&db->mutex);
    bool was_failing = bb_work_is_failing(db, work);
    db->workers[work].failure.status = BB_OK;
    atomic_store(&db->workers[work].is_failing, false);
    if (was_failing)
        bb_condvar_broadcast(&db->work_is_done);
    bb_mutex_unlock(&db->mutex);
}

const struct bb_error *bb_work_failure(const struct bb_db *db)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&db->mutex));
    enum bb_work work = bb_work_is_failing(db, BB_WORK_FLUSH) ? BB_WORK_FLUSH : BB_WORK_COMPACTION;
    return &db->workers[work].failure;
}

struct bb_file_system *bb_work_file_system(struct bb_db *db, enum bb_work work)
{
    return db->limit == NULL ? db->system : bb_file_limit_system(db->limit, work == BB_WORK_FLUSH);
}

enum bb_status bb_work_list_snapshots(struct bb_db *db, uint64_t **ret_snapshots, size_t *ret_count)
{
    bb_mutex_lock(&db->mutex);
    enum bb_status status = bb_snapshots_list(&db->snapshots, ret_snapshots, ret_count);
    bb_mutex_unlock(&db->mutex);
    return status;
}

static void set_nothing_pending(struct bb_db *db)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&db->installing));
    db->pending_levels = 0;
    db->pending_merge = (struct bb_rate_merge){.runs = 0};
}

void bb_work_end_pending(struct bb_db *db, enum bb_work work)
{
    bb_mutex_lock(&db->installing);
    bb_waste_share_end(&db->shares, &db->work_shares[work]);
    if (work == BB_WORK_COMPACTION)
        set_nothing_pending(db);
    bb_mutex_unlock(&db->installing);
}
