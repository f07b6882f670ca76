/* Waits for background work that may be failing.
 *
 * An earlier failure may be obsolete: the disk may have space again. A waiting call therefore makes
 * a resting worker retry, and only counts failures of attempts that began after the call. The
 * worker rests briefly before each requested attempt, so that repeated requests cost little.
 *
 *     lock
 *     wait = bb_work_wait_begin(db, work, 1)
 *     while (!done && !db->is_closing && !bb_work_wait_has_failed(&wait))
 *         bb_condvar_wait(&db->work_is_done, &db->mutex)
 *
 * Threads: any except the worker, with the store's mutex.
 */
#ifndef BB_KV_BACKGROUND_WORK_WAIT_H
#define BB_KV_BACKGROUND_WORK_WAIT_H

#include "kv/store/store.h"

struct bb_work_wait {
    struct bb_worker *worker;
    uint64_t seen; /* attempts up to this one are ignored */
    unsigned attempts_left;
};

/* attempts: the number of attempts that must fail. More than one if the first may belong to work
 * that was chosen before the wait. */
struct bb_work_wait bb_work_wait_begin(struct bb_db *db, enum bb_work work, unsigned attempts);
/* True when that many attempts have failed since begin, or when the work is failing and has no
 * thread to retry it. Otherwise, while the work is failing, requests another attempt. */
bool bb_work_wait_has_failed(struct bb_work_wait *wait);
/* The error of a call that waited in vain: the failure, or that the store is being closed. The
 * mutex is held; use bb_error_restore after it is released. */
struct bb_error bb_work_wait_error(const struct bb_db *db, const struct bb_error *failure);

#endif
