/* See work_wait.h. */
#include "kv/background/work_wait.h"

#include "base/assert.h"
#include "kv/store/work.h"

struct bb_work_wait bb_work_wait_begin(struct bb_db *db, enum bb_work work, unsigned attempts)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&db->mutex));
    BB_DEBUG_ASSERT(attempts > 0);
    struct bb_worker *worker = &db->workers[work];
    return (struct bb_work_wait){
        .worker = worker, .seen = worker->begun_attempts, .attempts_left = attempts};
}

bool bb_work_wait_has_failed(struct bb_work_wait *wait)
{
    struct bb_worker *worker = wait->worker;
    BB_DEBUG_ASSERT(bb_mutex_is_held(&worker->db->mutex));
    if (!bb_work_is_failing(worker->db, worker->work))
        return false;
    if (worker->failed_attempt > wait->seen) {
        wait->seen = worker->failed_attempt;
        wait->attempts_left--;
    }
    if (wait->attempts_left == 0 || !worker->has_thread)
        return true;
    if (!worker->is_asked) {
        worker->is_asked = true;
        bb_condvar_signal(&worker->is_due);
    }
    return false;
}

struct bb_error bb_work_wait_error(const struct bb_db *db, const struct bb_error *failure)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&db->mutex));
    if (failure->status == BB_OK && db->is_closing)
        return (struct bb_error){.status = BB_BUSY, .message = "the store is being closed"};
    return *failure;
}
