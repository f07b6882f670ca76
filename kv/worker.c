/* See worker.h. */
#include "kv/worker.h"

#include "base/alloc.h"
#include "base/status.h"
#include "kv/compaction_work.h"
#include "kv/flush.h"
#include "kv/install.h"

/* After a failure the work is tried again, first soon, then less often. */
#define RETRY_NANOSECONDS_MIN UINT64_C(100000000)
#define RETRY_NANOSECONDS_MAX UINT64_C(10000000000)

/* While nothing is due but old views are still read: how often they are looked at. */
#define RECLAIM_NANOSECONDS_MIN UINT64_C(1000000)
#define RECLAIM_NANOSECONDS_MAX UINT64_C(10000000000)

static bool has_frozen(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    bool has = db->view->frozen_count > 0;
    bb_mutex_unlock(&db->mutex);
    return has;
}

/* The most urgent piece of work. *ret_did: there was one. A failure is recorded in the store. */
static enum bb_status work_once(struct bb_db *db, bool *ret_did)
{
    *ret_did = true;
    bool is_flush = has_frozen(db);
    enum bb_status status = bb_store_mend_manifest(db);
    if (status == BB_OK)
        status = is_flush ? bb_store_flush_oldest(db) : bb_store_compact_some(db, ret_did);
    if (status == BB_OK)
        return BB_OK;
    struct bb_error failure = *bb_error_last();
    bb_store_fail(db, is_flush);
    bb_store_abandon_compaction(db);
    return bb_error_restore(&failure);
}

void bb_store_signal_work(struct bb_db *db)
{
    db->work_signals++;
    bb_condition_signal(&db->work_is_due);
}

enum bb_status bb_store_work_all(struct bb_db *db)
{
    bool did = true;
    enum bb_status status = BB_OK;
    while (did && status == BB_OK)
        status = work_once(db, &did);
    if (status != BB_OK)
        return status;
    bb_store_reclaim(db);
    bb_store_recovered(db);
    return BB_OK;
}

/* Waits for a signal that came after `seen`, or for the end; but only for a while as long as a
 * look- up may still keep an old view. True: the signal came. */
static bool wait_idly(struct bb_db *db, uint64_t seen, uint64_t nanoseconds)
{
    bb_mutex_lock(&db->mutex);
    db->work_signals_done = seen;
    bb_condition_broadcast(&db->work_is_done);
    bool is_due = true;
    while (is_due && !db->is_closing && db->work_signals == seen) {
        if (db->retired == NULL)
            bb_condition_wait(&db->work_is_due, &db->mutex);
        else
            is_due = bb_condition_wait_for(&db->work_is_due, &db->mutex, nanoseconds);
    }
    bb_mutex_unlock(&db->mutex);
    return is_due;
}

/* Nothing is due: what old views keep in memory and on disk goes as soon as nobody reads them, and
 * not only with the next write. */
static void wait_for_work(struct bb_db *db, uint64_t seen)
{
    uint64_t pause = RECLAIM_NANOSECONDS_MIN;
    bb_store_reclaim(db);
    while (!wait_idly(db, seen, pause)) {
        bb_store_reclaim(db);
        pause = pause * 2 > RECLAIM_NANOSECONDS_MAX ? RECLAIM_NANOSECONDS_MAX : pause * 2;
    }
}

static bool wait_for_retry(struct bb_db *db, uint64_t nanoseconds)
{
    bb_mutex_lock(&db->mutex);
    if (!db->is_closing)
        (void)bb_condition_wait_for(&db->work_is_due, &db->mutex, nanoseconds);
    bool goes_on = !db->is_closing;
    bb_mutex_unlock(&db->mutex);
    return goes_on;
}

static uint64_t signals(struct bb_db *db, bool *ret_goes_on)
{
    bb_mutex_lock(&db->mutex);
    uint64_t seen = db->work_signals;
    *ret_goes_on = !db->is_closing;
    bb_mutex_unlock(&db->mutex);
    return seen;
}

static void run(void *argument)
{
    struct bb_db *db = argument;
    uint64_t pause = RETRY_NANOSECONDS_MIN;
    bool goes_on = true;
    bool did = false;
    while (goes_on) {
        uint64_t seen = signals(db, &goes_on);
        if (!goes_on)
            break;
        if (work_once(db, &did) != BB_OK) {
            goes_on = wait_for_retry(db, pause);
            pause = pause * 2 > RETRY_NANOSECONDS_MAX ? RETRY_NANOSECONDS_MAX : pause * 2;
            continue;
        }
        pause = RETRY_NANOSECONDS_MIN;
        bb_store_recovered(db);
        if (!did)
            wait_for_work(db, seen);
    }
}

enum bb_status bb_store_start_worker(struct bb_db *db)
{
    db->work_signals = 1; /* what an opening finds may be due for compaction */
    if (db->options.deterministic)
        return BB_OK;
    enum bb_status status = bb_thread_create(&db->thread, run, db);
    db->has_thread = status == BB_OK;
    return status;
}

void bb_store_stop_worker(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    db->is_closing = true;
    bb_condition_broadcast(&db->work_is_due);
    bb_mutex_unlock(&db->mutex);
    if (db->has_thread)
        bb_thread_join(&db->thread);
    db->has_thread = false;
    bb_store_abandon_compaction(db);
}
