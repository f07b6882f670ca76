/* See commit_queue.h. */
#include "kv/store/commit_queue.h"

#include "base/assert.h"
#include "base/status.h"

void bb_commit_queue_init(struct bb_commit_queue *queue)
{
    bb_mutex_init(&queue->mutex);
    queue->head = NULL;
    queue->tail = NULL;
    queue->is_closed = false;
    queue->waiting = 0;
    bb_condvar_init(&queue->is_left);
}

void bb_commit_queue_deinit(struct bb_commit_queue *queue)
{
    BB_ASSERT(queue->head == NULL);
    bb_condvar_deinit(&queue->is_left);
    bb_mutex_deinit(&queue->mutex);
}

static void append(struct bb_commit_queue *queue, struct bb_commit *commit)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&queue->mutex));
    commit->next = NULL;
    commit->is_done = false;
    commit->is_waiting = false;
    commit->error.status = BB_OK;
    if (queue->tail == NULL)
        queue->head = commit;
    else
        queue->tail->next = commit;
    queue->tail = commit;
}

static void refuse(struct bb_commit *commit)
{
    commit->error = (struct bb_error){.status = BB_BUSY, .message = "the store is being closed"};
    commit->is_done = true;
}

static void wait_in_line(struct bb_commit_queue *queue, struct bb_commit *commit)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&queue->mutex));
    bb_condvar_init(&commit->condition);
    commit->is_waiting = true;
    queue->waiting++;
    while (!commit->is_done && queue->head != commit)
        bb_condvar_wait(&commit->condition, &queue->mutex);
    bb_condvar_deinit(&commit->condition);
    commit->is_waiting = false;
    queue->waiting--;
    if (queue->is_closed)
        bb_condvar_signal(&queue->is_left);
}

bool bb_commit_queue_enter(struct bb_commit_queue *queue, struct bb_commit *commit)
{
    bb_mutex_lock(&queue->mutex);
    if (queue->is_closed) {
        refuse(commit);
        bb_mutex_unlock(&queue->mutex);
        return false;
    }
    append(queue, commit);
    if (queue->head != commit)
        wait_in_line(queue, commit);
    bool leads = !commit->is_done;
    commit->is_alone = commit->next == NULL;
    bb_mutex_unlock(&queue->mutex);
    return leads;
}

bool bb_commit_queue_try_enter(struct bb_commit_queue *queue, struct bb_commit *commit)
{
    BB_DEBUG_ASSERT(commit->batch == NULL);
    bb_mutex_lock(&queue->mutex);
    bool leads = !queue->is_closed && queue->head == NULL;
    if (leads)
        append(queue, commit);
    bb_mutex_unlock(&queue->mutex);
    return leads;
}

static bool may_join(const struct bb_commit *leader, const struct bb_commit *commit,
                     size_t space_bytes)
{
    return commit->batch != NULL && (leader->sync || !commit->sync) &&
           bb_batch_size_bytes(commit->batch) <= space_bytes;
}

struct bb_commit *bb_commit_queue_take(struct bb_commit_queue *queue, struct bb_commit *leader,
                                       size_t size_max_bytes)
{
    BB_DEBUG_ASSERT(queue->head == leader);
    struct bb_commit *last = leader;
    if (leader->batch == NULL)
        return last;
    size_t size = bb_batch_size_bytes(leader->batch);
    bb_mutex_lock(&queue->mutex);
    while (last->next != NULL && size < size_max_bytes &&
           may_join(leader, last->next, size_max_bytes - size)) {
        last = last->next;
        size += bb_batch_size_bytes(last->batch);
    }
    bb_mutex_unlock(&queue->mutex);
    return last;
}

static void wake(struct bb_commit *commit)
{
    if (commit->is_waiting)
        bb_condvar_signal(&commit->condition);
}

void bb_commit_queue_leave(struct bb_commit_queue *queue, struct bb_commit *last,
                           enum bb_status status)
{
    bb_mutex_lock(&queue->mutex);
    struct bb_commit *end = last->next;
    for (struct bb_commit *commit = queue->head; commit != end;) {
        /* A commit is on its thread's stack, and may be gone once it is done and the mutex free. */
        struct bb_commit *next = commit->next;
        if (status != BB_OK) {
            commit->error = *bb_error_last();
            commit->error.status = status; /* cleaning up may have failed since */
        }
        commit->is_done = true;
        wake(commit);
        commit = next;
    }
    queue->head = end;
    if (end == NULL)
        queue->tail = NULL;
    else
        wake(end);
    bb_mutex_unlock(&queue->mutex);
}

void bb_commit_queue_close(struct bb_commit_queue *queue, struct bb_commit *leader)
{
    bb_mutex_lock(&queue->mutex);
    queue->is_closed = true;
    for (struct bb_commit *commit = leader->next; commit != NULL;) {
        struct bb_commit *next = commit->next;
        refuse(commit);
        wake(commit);
        commit = next;
    }
    leader->next = NULL;
    queue->tail = leader;
    while (queue->waiting > 0)
        bb_condvar_wait(&queue->is_left, &queue->mutex);
    bb_mutex_unlock(&queue->mutex);
}

enum bb_status bb_commit_queue_result(const struct bb_commit *commit)
{
    return commit->error.status == BB_OK ? BB_OK : bb_error_restore(&commit->error);
}
