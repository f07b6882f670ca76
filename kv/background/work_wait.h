/* Waiting for background work that may be failing.
 *
 * A failure of before says nothing of now: the disk may have space again. So who waits asks a worker
 * that rests after a failure to try again, and is told of failures alone whose attempt began after
 * the wait did. The worker rests a little before each attempt that it is asked for: who is refused
 * and asks again and again costs little.
 *
 *     lock
 *     wait = bb_work_wait_begin(db, work, 1)
 *     while (!done && !db->is_closing && !bb_work_wait_has_failed(&wait))
 *         bb_condvar_wait(&db->work_is_done, &db->mutex)
 *
 * Threads: any but the worker's own, with the store's mutex. */
#ifndef BB_KV_BACKGROUND_WORK_WAIT_H
#define BB_KV_BACKGROUND_WORK_WAIT_H

#include "kv/store.h"

struct bb_work_wait {
    struct bb_worker *worker;
    uint64_t seen; /* attempts up to this one do not count */
    unsigned attempts_left;
};

/* attempts: so many have to fail. More than one where the first may be of work that was chosen
 * before the wait. */
struct bb_work_wait bb_work_wait_begin(struct bb_db *db, enum bb_work work, unsigned attempts);
/* Has the work failed since? As long as it has not, and is failing, another attempt is asked for. */
bool bb_work_wait_has_failed(struct bb_work_wait *wait);

#endif
