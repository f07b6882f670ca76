/* See commit_queue.h. */
#include "kv/store/commit_queue.h"

#include "base/assert.h"
#include "base/status.h"

/* A waiting thread reads its state up to POLLS times, and then lets other threads run up to YIELDS
 * times. Measured (docs/decisions/0051-waiting-writers.md). Explored programs set fewer. */
#ifndef POLLS
#define POLLS  40
#define YIELDS 20
#endif

/* The newest commit of a closed queue. */
static struct bb_commit closed;

void bb_commit_queue_init(struct bb_commit_queue *queue)
{
    atomic_init(&queue->newest, NULL);
    atomic_init(&queue->leaving, 0);
    bb_mutex_init(&queue->mutex);
    queue->is_closed = false;
    queue->returning = 0;
    bb_condvar_init(&queue->is_left);
}

void bb_commit_queue_deinit(struct bb_commit_queue *queue)
{
    struct bb_commit *newest = atomic_load_explicit(&queue->newest, memory_order_relaxed);
    BB_ASSERT(newest == NULL || newest == &closed);
    bb_condvar_deinit(&queue->is_left);
    bb_mutex_deinit(&queue->mutex);
}

bool bb_commit_queue_is_led(const struct bb_commit_queue *queue)
{
    return atomic_load_explicit(&queue->newest, memory_order_relaxed) != NULL;
}

bool bb_commit_queue_is_still(const struct bb_commit_queue *queue)
{
    return !bb_commit_queue_is_led(queue) && queue->returning == 0 && !queue->is_closed &&
           atomic_load_explicit(&queue->leaving, memory_order_relaxed) == 0;
}

static uint32_t state_of(const struct bb_commit *commit)
{
    return atomic_load_explicit(&commit->state, memory_order_acquire);
}

static struct bb_commit *next_of(const struct bb_commit *commit)
{
    return atomic_load_explicit(&commit->next, memory_order_acquire);
}

/* Between looks of a thread that waits for a few instructions of another; i counts them. WHY naps:
 * a yield of a thread with real-time priority lets no thread of a lower priority run. */
static void let_others_run(int i)
{
    if (i < POLLS)
        bb_thread_pause();
    else if (i < POLLS + YIELDS)
        bb_thread_yield();
    else
        bb_thread_nap();
}

/* A thread that has entered is about to link its commit. */
static struct bb_commit *wait_for_next(const struct bb_commit *commit)
{
    struct bb_commit *next = next_of(commit);
    for (int i = 0; next == NULL; i++) {
        let_others_run(i);
        next = next_of(commit);
    }
    return next;
}

/* Makes the commit the newest one; the first one leads. False: the queue is closed, or, if
 * only_first, it is not the first. */
static bool append(struct bb_commit_queue *queue, struct bb_commit *commit, bool only_first)
{
    struct bb_commit *before = atomic_load_explicit(&queue->newest, memory_order_relaxed);
    atomic_init(&commit->next, NULL);
    commit->error.status = BB_OK;
    do {
        if (before == &closed || (only_first && before != NULL))
            return false;
        atomic_store_explicit(&commit->state, before == NULL ? BB_COMMIT_LEADS : BB_COMMIT_QUEUED,
                              memory_order_relaxed);
    } while (!atomic_compare_exchange_weak_explicit(&queue->newest, &before, commit,
                                                    memory_order_acq_rel, memory_order_relaxed));
    commit->polls = before == NULL || (before->batch != NULL && !before->sync);
    if (before != NULL)
        atomic_store_explicit(&before->next, commit, memory_order_release);
    return true;
}

static void refuse(struct bb_commit *commit)
{
    commit->error = (struct bb_error){.status = BB_BUSY, .message = "the store is being closed"};
}

static void call_sleeping(struct bb_commit_queue *queue, struct bb_commit *commit,
                          enum bb_commit_state state)
{
    bb_mutex_lock(&queue->mutex);
    queue->returning += state == BB_COMMIT_DONE;
    atomic_store_explicit(&commit->state, state, memory_order_relaxed);
    bb_condvar_signal(&commit->condition);
    bb_mutex_unlock(&queue->mutex);
}

/* Ends the wait of a commit. After BB_COMMIT_DONE it may be gone, and after BB_COMMIT_LEADS too. */
static void call(struct bb_commit_queue *queue, struct bb_commit *commit,
                 enum bb_commit_state state)
{
    uint32_t queued = BB_COMMIT_QUEUED;
    if (!atomic_compare_exchange_strong_explicit(&commit->state, &queued, state,
                                                 memory_order_acq_rel, memory_order_acquire))
        call_sleeping(queue, commit, state);
}

/* Waits a few microseconds. False: the commit is still queued. */
static bool poll_state(const struct bb_commit *commit)
{
    for (int i = 0; i < POLLS + YIELDS; i++) {
        if (state_of(commit) != BB_COMMIT_QUEUED)
            return true;
        let_others_run(i);
    }
    return false;
}

void bb_commit_queue_sleep(struct bb_commit_queue *queue, struct bb_commit *commit)
{
    bb_mutex_lock(&queue->mutex);
    while (state_of(commit) == BB_COMMIT_SLEEPS)
        bb_condvar_wait(&commit->condition, &queue->mutex);
    queue->returning -= state_of(commit) == BB_COMMIT_DONE;
    if (queue->is_closed)
        bb_condvar_signal(&queue->is_left);
    bb_mutex_unlock(&queue->mutex);
}

static void sleep_in_line(struct bb_commit_queue *queue, struct bb_commit *commit)
{
    uint32_t queued = BB_COMMIT_QUEUED;
    bb_condvar_init(&commit->condition);
    if (atomic_compare_exchange_strong_explicit(&commit->state, &queued, BB_COMMIT_SLEEPS,
                                                memory_order_release, memory_order_relaxed))
        bb_commit_queue_sleep(queue, commit);
    bb_condvar_deinit(&commit->condition);
}

bool bb_commit_queue_enter(struct bb_commit_queue *queue, struct bb_commit *commit)
{
    if (!append(queue, commit, false)) {
        refuse(commit);
        return false;
    }
    if (!commit->polls || !poll_state(commit))
        sleep_in_line(queue, commit);
    return state_of(commit) == BB_COMMIT_LEADS;
}

bool bb_commit_queue_try_enter(struct bb_commit_queue *queue, struct bb_commit *commit)
{
    BB_DEBUG_ASSERT(commit->batch == NULL);
    return append(queue, commit, true);
}

static bool may_join(const struct bb_commit *first, const struct bb_commit *commit,
                     size_t space_bytes)
{
    return commit->batch != NULL && (first->sync || !commit->sync) &&
           bb_batch_size_bytes(commit->batch) <= space_bytes;
}

struct bb_commit *bb_commit_queue_take(struct bb_commit *first, size_t size_max_bytes)
{
    struct bb_commit *last = first;
    struct bb_commit *next = next_of(first);
    if (first->batch == NULL || next == NULL)
        return first;
    size_t size = bb_batch_size_bytes(first->batch);
    while (next != NULL && size < size_max_bytes && may_join(first, next, size_max_bytes - size)) {
        last = next;
        size += bb_batch_size_bytes(last->batch);
        next = next_of(last);
    }
    return last;
}

/* The commit after the last one of a group; NULL if the queue is empty now, or closed. */
static struct bb_commit *find_successor(struct bb_commit_queue *queue, struct bb_commit *last)
{
    struct bb_commit *newest = last;
    if (next_of(last) != NULL)
        return next_of(last);
    if (atomic_compare_exchange_strong_explicit(&queue->newest, &newest, NULL, memory_order_release,
                                                memory_order_relaxed) ||
        newest == &closed)
        return NULL;
    return wait_for_next(last);
}

/* Ends the commits from first to last, except the caller's own. */
static void end_others(struct bb_commit_queue *queue, const struct bb_commit *own,
                       struct bb_commit *first, struct bb_commit *last, enum bb_status status)
{
    struct bb_commit *next = first;
    while (next != NULL) {
        struct bb_commit *commit = next;
        next = commit == last ? NULL : next_of(commit);
        if (commit == own)
            continue;
        if (status != BB_OK) {
            commit->error = *bb_error_last();
            commit->error.status = status; /* cleaning up may have failed since */
        }
        call(queue, commit, BB_COMMIT_DONE);
    }
}

/* Ends a group. Returns the next commit if the caller keeps the lead for it; otherwise that commit
 * leads, if there is one. */
static struct bb_commit *end_group(struct bb_commit_queue *queue, const struct bb_commit *own,
                                   struct bb_commit *first, struct bb_commit *last,
                                   enum bb_status status, bool keeps_lead)
{
    bool has_others = first != own || last != own;
    /* WHY counted: once the queue is empty, another commit may lead, close the queue and free it,
     * before the others are called. */
    if (has_others)
        atomic_fetch_add_explicit(&queue->leaving, 1, memory_order_relaxed);
    struct bb_commit *next = find_successor(queue, last);
    bool is_kept = keeps_lead && next != NULL && next->batch != NULL && !next->sync;
    if (has_others)
        end_others(queue, own, first, last, status);
    if (next != NULL && !is_kept)
        call(queue, next, BB_COMMIT_LEADS);
    if (has_others)
        atomic_fetch_sub_explicit(&queue->leaving, 1, memory_order_release);
    return is_kept ? next : NULL;
}

struct bb_commit *bb_commit_queue_continue(struct bb_commit_queue *queue, struct bb_commit *leader,
                                           struct bb_commit *last)
{
    return end_group(queue, leader, leader, last, BB_OK, true);
}

void bb_commit_queue_hand_over(struct bb_commit_queue *queue, struct bb_commit *first)
{
    call(queue, first, BB_COMMIT_LEADS);
}

void bb_commit_queue_leave(struct bb_commit_queue *queue, const struct bb_commit *leader,
                           struct bb_commit *first, struct bb_commit *last, enum bb_status status)
{
    (void)end_group(queue, leader, first, last, status, false);
}

/* Refuses the commits after the leader, up to the newest. */
static void refuse_followers(struct bb_commit_queue *queue, struct bb_commit *leader,
                             const struct bb_commit *newest)
{
    struct bb_commit *next = leader == newest ? NULL : wait_for_next(leader);
    while (next != NULL) {
        struct bb_commit *commit = next;
        next = commit == newest ? NULL : wait_for_next(commit);
        refuse(commit);
        call(queue, commit, BB_COMMIT_DONE);
    }
}

void bb_commit_queue_close(struct bb_commit_queue *queue, struct bb_commit *leader)
{
    struct bb_commit *newest =
        atomic_exchange_explicit(&queue->newest, &closed, memory_order_relaxed);
    refuse_followers(queue, leader, newest);
    atomic_store_explicit(&leader->next, NULL, memory_order_relaxed);
    /* First the former leaders: they may add to `returning`. */
    for (int i = 0; atomic_load_explicit(&queue->leaving, memory_order_acquire) > 0; i++)
        let_others_run(i);
    bb_mutex_lock(&queue->mutex);
    queue->is_closed = true;
    while (queue->returning > 0)
        bb_condvar_wait(&queue->is_left, &queue->mutex);
    bb_mutex_unlock(&queue->mutex);
}

enum bb_status bb_commit_queue_result(const struct bb_commit *commit)
{
    return commit->error.status == BB_OK ? BB_OK : bb_error_restore(&commit->error);
}
