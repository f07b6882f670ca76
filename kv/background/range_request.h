/* Requests of bb_db_compact_range: a queue, first come first served. The worker takes pieces of the
 * first one in turn with other compactions, so that neither keeps the other from its end.
 *
 * Ownership: the caller's, who waits. One who gives up leaves the request to the queue.
 * Threads: the queue is guarded by the store's mutex; the progress of the first request is the
 * worker's.
 */
#ifndef BB_KV_BACKGROUND_RANGE_REQUEST_H
#define BB_KV_BACKGROUND_RANGE_REQUEST_H

#include "compaction/range_progress.h"
#include "kv/store.h"

struct bb_range_request {
    struct bb_range_request *next;
    struct bb_range_progress progress;
    bool is_done;
    bool is_given_up; /* nobody waits: the queue's */
};

/* Puts one at the end of the queue; bounds as of bb_range_progress_init. Signal the worker then,
 * and wait. */
BB_MUST_CHECK enum bb_status bb_range_request_add(struct bb_db *db, const struct bb_bytes *low,
                                                  const struct bb_bytes *high,
                                                  struct bb_range_request **ret_request);
/* Until it is done, or background work fails: then it gives up. Releases the request. */
BB_MUST_CHECK enum bb_status bb_range_request_wait(struct bb_db *db,
                                                   struct bb_range_request *request);

/* The worker's; NULL when the queue is empty. */
struct bb_range_request *bb_range_request_first(struct bb_db *db);
/* The worker's: the first request is fulfilled. */
void bb_range_request_finish(struct bb_db *db);
/* All that nobody waits for. REQUIRES: there is no worker any more. */
void bb_range_requests_deinit(struct bb_db *db);

#endif
