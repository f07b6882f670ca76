/* Requests of bb_db_compact_range: a FIFO queue. The worker alternates between pieces of the first
 * request and other compactions, so that neither starves the other.
 *
 * Ownership: the waiting caller's. A caller that gives up leaves the request to the queue.
 * Threads: the store's mutex guards the queue; the worker owns the progress of the first request.
 */
#ifndef BB_KV_BACKGROUND_RANGE_REQUEST_H
#define BB_KV_BACKGROUND_RANGE_REQUEST_H

#include "compaction/pick/range_progress.h"
#include "kv/store/store.h"

struct bb_range_request {
    struct bb_range_request *next;
    struct bb_range_progress progress;
    bool is_done;
    /* The caller has given up: the queue owns it. */
    bool is_given_up;
};

/* Appends a request to the queue. Signal the worker afterwards, and wait. */
BB_MUST_CHECK enum bb_status bb_range_request_add(struct bb_db *db,
                                                  const struct bb_key_range *range,
                                                  struct bb_range_request **ret_request);
/* Waits until the request is done; gives up when background work fails. Releases the request. */
BB_MUST_CHECK enum bb_status bb_range_request_wait(struct bb_db *db,
                                                   struct bb_range_request *request);

/* Called by the worker; NULL when the queue is empty. */
struct bb_range_request *bb_range_request_first(struct bb_db *db);
/* Called by the worker: the first request is done. */
void bb_range_request_finish(struct bb_db *db);
/* Releases all abandoned requests. REQUIRES: the worker has stopped. */
void bb_range_requests_deinit(struct bb_db *db);

#endif
