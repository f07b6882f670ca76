/* See worker.h. */
#include "kv/background/worker.h"

#include "base/assert.h"
#include "base/file_limit.h"
#include "base/status.h"
#include "kv/background/compaction_work.h"
#include "kv/background/edit_install.h"
#include "kv/background/flush.h"
#include "kv/background/scrubber.h"
#include "kv/store/current_view.h"
#include "kv/store/work.h"

/* After a failure the work is retried, first soon, then less often. */
#define RETRY_NANOSECONDS_MIN UINT64_C(100000000)
#define RETRY_NANOSECONDS_MAX UINT64_C(10000000000)

/* If a thread requests a retry, it happens after this rest. */
#define RETRY_NANOSECONDS_ASKED UINT64_C(20000000)

/* How often old views are checked while no work is due but readers still use them. */
#define RECLAIM_NANOSECONDS_MIN UINT64_C(1000000)
#define RECLAIM_NANOSECONDS_MAX UINT64_C(10000000000)

void bb_workers_init(struct bb_db *db)
{
    for (enum bb_work work = 0; work < BB_WORK_COUNT; work++) {
        struct bb_worker *worker = &db->workers[work];
        worker->db = db;
        worker->work = work;
        bb_condvar_init(&worker->is_due);
    }
    /* The recovered levels may be due for compaction. */
    db->workers[BB_WORK_COMPACTION].signals = 1;
}

void bb_workers_deinit(struct bb_db *db)
{
    bb_scrubber_leave(db);
    for (enum bb_work work = 0; work < BB_WORK_COUNT; work++)
        bb_condvar_deinit(&db->workers[work].is_due);
}

static bool has_frozen(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    bool has = bb_view_frozen_count(db->view) > 0;
    bb_mutex_unlock(&db->mutex);
    return has;
}

static enum bb_status flush_some(struct bb_db *db, bool *ret_did)
{
    /* A manifest that no flush needs yet is no reason to refuse writes. */
    *ret_did = has_frozen(db);
    enum bb_status status = *ret_did ? bb_edit_install_replace_manifest(db) : BB_OK;
    return *ret_did && status == BB_OK ? bb_flush_oldest(db) : status;
}

/* When space is short, a flush gets all of it: writes wait for the flush, and a merge that needs
 * the space for its outputs can be repeated. */
static enum bb_status flush_first(struct bb_db *db, bool *ret_did)
{
    uint64_t ends = bb_compaction_work_ends(db);
    enum bb_status status = flush_some(db, ret_did);
    if (status != BB_NO_SPACE || db->options.deterministic ||
        !bb_compaction_work_begin_yield(db, BB_NEW_RUN_FROZEN, ends))
        return status;
    status = flush_some(db, ret_did);
    bb_compaction_work_end_yield(db);
    return status;
}

static enum bb_status compact_some(struct bb_db *db, bool *ret_did)
{
    enum bb_status status = bb_edit_install_replace_manifest(db);
    return status == BB_OK ? bb_compaction_work_do_some(db, ret_did) : status;
}

/* Does one piece of such work. *ret_did: there was one. The store records the result. */
static enum bb_status work_once(struct bb_db *db, enum bb_work work, bool *ret_did)
{
    enum bb_status status =
        work == BB_WORK_FLUSH ? flush_first(db, ret_did) : compact_some(db, ret_did);
    if (status == BB_OK) {
        bb_work_succeed(db, work);
        return BB_OK;
    }
    struct bb_error failure = *bb_error_last();
    bb_work_fail(db, work);
    if (work == BB_WORK_COMPACTION)
        bb_compaction_work_abandon(db);
    return bb_error_restore(&failure);
}

/* Does the most urgent piece of all work. A failed compaction is not a failure of flushes. */
static enum bb_status work_some(struct bb_db *db, enum bb_work wanted, bool *ret_did)
{
    enum bb_status status = work_once(db, BB_WORK_FLUSH, ret_did);
    if (status != BB_OK || *ret_did)
        return status;
    status = work_once(db, BB_WORK_COMPACTION, ret_did);
    *ret_did &= status == BB_OK;
    return wanted == BB_WORK_COMPACTION ? status : BB_OK;
}

enum bb_status bb_workers_do_all(struct bb_db *db, enum bb_work wanted)
{
    bool did = true;
    enum bb_status status = BB_OK;
    /* Settled after the last piece: a merge may fail in one piece and report it in the next. */
    struct bb_error before;
    bb_error_save(&before);
    while (did && status == BB_OK)
        status = work_some(db, wanted, &did);
    if (status == BB_OK)
        bb_current_view_reclaim(db);
    return bb_error_settle(status, &before);
}

/* True while level 0 collects runs, which are merged or indexed after the series of flushes. The
 * mutex is held. */
static bool gathers(const struct bb_worker *worker)
{
    const struct bb_db *db = worker->db;
    BB_DEBUG_ASSERT(bb_mutex_is_held(&db->mutex));
    if (worker->work != BB_WORK_COMPACTION || bb_pace_is_quiet(&db->pace))
        return false;
    return db->has_deferred ||
           bb_levels_table_count(db->view->levels, 0) >= db->options.level0_run_count_compact;
}

/* Waits for a signal. While a lookup may still use an old view, the wait is limited: returns false
 * at its end. The end of a series of flushes is a signal too. The mutex is held. */
static bool wait_once(struct bb_worker *worker, uint64_t nanoseconds)
{
    struct bb_db *db = worker->db;
    BB_DEBUG_ASSERT(bb_mutex_is_held(&db->mutex));
    uint64_t left = UINT64_MAX;
    if (gathers(worker))
        left = bb_pace_left(&db->pace, db->system->ops->now(db->system));
    uint64_t pause = db->retired != NULL && nanoseconds < left ? nanoseconds : left;
    if (pause == UINT64_MAX) {
        bb_condvar_wait(&worker->is_due, &db->mutex);
        return true;
    }
    if (bb_condvar_wait_for(&worker->is_due, &db->mutex, pause))
        return true;
    if (pause < left)
        return false;
    bb_pace_rest(&db->pace);
    worker->signals++;
    return true;
}

/* Waits for a signal later than `seen`, or for the end; false: old views must be checked again. */
static bool wait_idly(struct bb_worker *worker, uint64_t seen, uint64_t nanoseconds)
{
    struct bb_db *db = worker->db;
    bb_mutex_lock(&db->mutex);
    worker->answered = seen;
    bb_condvar_broadcast(&db->work_is_done);
    bool is_due = true;
    while (is_due && !db->is_closing && worker->signals == seen)
        is_due = wait_once(worker, nanoseconds);
    bb_mutex_unlock(&db->mutex);
    return is_due;
}

/* No work is due: releases the memory and files of old views as soon as no reader uses them, not
 * only with the next write. */
static void wait_for_work(struct bb_worker *worker, uint64_t seen)
{
    uint64_t pause = RECLAIM_NANOSECONDS_MIN;
    bb_current_view_reclaim(worker->db);
    while (!wait_idly(worker, seen, pause)) {
        bb_current_view_reclaim(worker->db);
        pause = pause * 2 > RECLAIM_NANOSECONDS_MAX ? RECLAIM_NANOSECONDS_MAX : pause * 2;
    }
}

/* Waits until it is time for a retry, or until one is requested; then rests briefly. */
static bool wait_for_retry(struct bb_worker *worker, uint64_t nanoseconds)
{
    struct bb_db *db = worker->db;
    bb_mutex_lock(&db->mutex);
    if (!db->is_closing && !worker->is_asked)
        (void)bb_condvar_wait_for(&worker->is_due, &db->mutex, nanoseconds);
    if (!db->is_closing && worker->is_asked)
        (void)bb_condvar_wait_for(&worker->is_due, &db->mutex, RETRY_NANOSECONDS_ASKED);
    bool goes_on = !db->is_closing;
    bb_mutex_unlock(&db->mutex);
    return goes_on;
}

/* Begins the next attempt. */
static uint64_t begin_attempt(struct bb_worker *worker, bool *ret_goes_on)
{
    struct bb_db *db = worker->db;
    bb_mutex_lock(&db->mutex);
    uint64_t seen = worker->signals;
    worker->begun_attempts++;
    worker->is_asked = false;
    *ret_goes_on = !db->is_closing;
    bb_mutex_unlock(&db->mutex);
    return seen;
}

static void run(void *argument)
{
    struct bb_worker *worker = argument;
    uint64_t pause = RETRY_NANOSECONDS_MIN;
    bool goes_on = true;
    bool did = false;
    while (goes_on) {
        uint64_t seen = begin_attempt(worker, &goes_on);
        if (!goes_on)
            break;
        if (work_once(worker->db, worker->work, &did) != BB_OK) {
            goes_on = wait_for_retry(worker, pause);
            pause = pause * 2 > RETRY_NANOSECONDS_MAX ? RETRY_NANOSECONDS_MAX : pause * 2;
            continue;
        }
        pause = RETRY_NANOSECONDS_MIN;
        if (!did)
            wait_for_work(worker, seen);
    }
}

static enum bb_status start(struct bb_worker *worker)
{
    enum bb_status status = bb_thread_create(&worker->thread, run, worker);
    worker->has_thread = status == BB_OK;
    return status;
}

/* Stops the threads that could be started. The store is as before: a later call may start them. */
static void undo_start(struct bb_db *db)
{
    bb_workers_stop(db);
    bb_mutex_lock(&db->mutex);
    db->is_closing = false;
    bb_file_limit_restore(db->limit);
    bb_mutex_unlock(&db->mutex);
}

enum bb_status bb_workers_start(struct bb_db *db)
{
    enum bb_status status = BB_OK;
    for (enum bb_work work = 0; work < BB_WORK_COUNT && status == BB_OK; work++) {
        if (!db->options.deterministic)
            status = start(&db->workers[work]);
    }
    if (status == BB_OK)
        status = bb_scrubber_start(db);
    if (status == BB_OK)
        return BB_OK;
    struct bb_error failure = *bb_error_last();
    undo_start(db);
    return bb_error_restore(&failure);
}

void bb_workers_stop(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    db->is_closing = true;
    bb_file_limit_lift(db->limit);
    for (enum bb_work work = 0; work < BB_WORK_COUNT; work++)
        bb_condvar_broadcast(&db->workers[work].is_due);
    bb_condvar_broadcast(&db->work_is_done);
    bb_mutex_unlock(&db->mutex);
    for (enum bb_work work = 0; work < BB_WORK_COUNT; work++) {
        if (db->workers[work].has_thread)
            bb_thread_join(&db->workers[work].thread);
        db->workers[work].has_thread = false;
    }
    bb_scrubber_stop(db);
    bb_compaction_work_abandon(db);
}
