/* See range_request.h. */
#include "kv/background/range_request.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "kv/background/work_wait.h"

/* The tables of the upper level in one piece of work. */
#define PIECE_TABLES 4

/* The first failure may belong to other work. */
#define ATTEMPTS 2

static void destroy(struct bb_range_request *request)
{
    bb_range_progress_deinit(&request->progress);
    bb_free(request);
}

/* The mutex is held. */
static void unlink_first(struct bb_db *db)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&db->mutex));
    BB_DEBUG_ASSERT(db->range_requests != NULL);
    struct bb_range_request *first = db->range_requests;
    db->range_requests = first->next;
    first->is_done = true;
    if (first->is_given_up)
        destroy(first);
    bb_condvar_broadcast(&db->work_is_done);
}

struct bb_range_request *bb_range_request_first(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    while (db->range_requests != NULL && db->range_requests->is_given_up && db->compaction == NULL)
        unlink_first(db);
    struct bb_range_request *first = db->range_requests;
    bb_mutex_unlock(&db->mutex);
    return first;
}

void bb_range_request_finish(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    unlink_first(db);
    bb_mutex_unlock(&db->mutex);
}

void bb_range_requests_deinit(struct bb_db *db)
{
    while (db->range_requests != NULL) {
        struct bb_range_request *next = db->range_requests->next;
        destroy(db->range_requests);
        db->range_requests = next;
    }
}

enum bb_status bb_range_request_add(struct bb_db *db, const struct bb_key_range *range,
                                    struct bb_range_request **ret_request)
{
    struct bb_range_request *request = bb_alloc_zeroed(1, sizeof(*request));
    if (request == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a request to compact a range");
    enum bb_status status =
        bb_range_progress_init(&request->progress, range, atomic_load(&db->next_file_number),
                               PIECE_TABLES * db->options.table_size_bytes);
    if (status != BB_OK) {
        bb_free(request);
        return status;
    }
    bb_mutex_lock(&db->mutex);
    struct bb_range_request **link = &db->range_requests;
    while (*link != NULL)
        link = &(*link)->next;
    *link = request;
    bb_mutex_unlock(&db->mutex);
    *ret_request = request;
    return BB_OK;
}

enum bb_status bb_range_request_wait(struct bb_db *db, struct bb_range_request *request)
{
    struct bb_error failure = {.status = BB_OK};
    bb_mutex_lock(&db->mutex);
    struct bb_work_wait wait = bb_work_wait_begin(db, BB_WORK_COMPACTION, ATTEMPTS);
    while (!request->is_done && !db->is_closing && !bb_work_wait_has_failed(&wait))
        bb_condvar_wait(&db->work_is_done, &db->mutex);
    bool is_done = request->is_done;
    if (!is_done) {
        failure = bb_work_wait_error(db, &db->workers[BB_WORK_COMPACTION].failure);
        request->is_given_up = true;
    }
    bb_mutex_unlock(&db->mutex);
    if (is_done)
        destroy(request);
    return is_done ? BB_OK : bb_error_restore(&failure);
}
