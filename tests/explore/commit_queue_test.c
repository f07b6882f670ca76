/* Goal: one leader at a time, which sees the writes of earlier leaders; every commit is executed
 * once; no commit is accessed after its thread has it back, and no queue after its close. Method:
 * all executions of kv/store/commit_queue.c, over commits and queues in memory that is released
 * immediately. */
#include "base/alloc.h"
#include "kv/store/commit_queue.h"
#include "tests/explore/explore.h"

struct scene {
    struct bb_commit_queue *queue;
    struct bb_batch *batch; /* of every commit that is not exclusive */
    uint64_t *executed;     /* plain: of the leaders */
    struct bb_commit *commits[EXPLORE_THREADS_MAX];
    _Atomic bool is_done[EXPLORE_THREADS_MAX];
};
static struct scene *scene;

/* The queue only asks for its size. */
size_t bb_batch_size_bytes(const struct bb_batch *batch)
{
    (void)batch;
    return 1;
}

static void make_scene(void)
{
    scene = bb_alloc_zeroed(1, sizeof(*scene));
    scene->batch = bb_alloc(1);
    scene->executed = bb_alloc_zeroed(1, sizeof(*scene->executed));
    scene->queue = bb_alloc(sizeof(*scene->queue));
    bb_commit_queue_init(scene->queue);
    for (size_t i = 0; i < EXPLORE_THREADS_MAX; i++)
        scene->commits[i] = bb_alloc(sizeof(*scene->commits[i]));
}

/* Executes a group, and returns its last commit. */
static struct bb_commit *execute(struct bb_commit *first)
{
    struct bb_commit *last = bb_commit_queue_take(first, 100);
    (*scene->executed)++;
    for (const struct bb_commit *commit = first; commit != last;
         commit = atomic_load_explicit(&commit->next, memory_order_relaxed))
        (*scene->executed)++;
    return last;
}

/* As bb_db_write does. */
static void lead(struct bb_commit *leader)
{
    struct bb_commit *last = execute(leader);
    struct bb_commit *next = bb_commit_queue_continue(scene->queue, leader, last);
    if (next != NULL)
        bb_commit_queue_leave(scene->queue, leader, next, execute(next), BB_OK);
}

static void write_commit(size_t thread, const struct bb_batch *batch, bool sync)
{
    struct bb_commit *commit = scene->commits[thread];
    commit->batch = batch;
    commit->sync = sync;
    if (bb_commit_queue_enter(scene->queue, commit))
        lead(commit);
    bb_free(commit);
    atomic_store_explicit(&scene->is_done[thread], true, memory_order_relaxed);
}

/* As bb_db_write does if the next group has to wait for space. */
static void hand_over_0(void)
{
    struct bb_commit *leader = scene->commits[0];
    leader->batch = scene->batch;
    leader->sync = false;
    if (!bb_commit_queue_enter(scene->queue, leader))
        return;
    struct bb_commit *last = execute(leader);
    struct bb_commit *next = bb_commit_queue_continue(scene->queue, leader, last);
    if (next != NULL)
        bb_commit_queue_hand_over(scene->queue, next);
}

static void put_0(void)
{
    write_commit(0, scene->batch, false);
}

static void put_1(void)
{
    write_commit(1, scene->batch, false);
}

static void put_synced_1(void)
{
    write_commit(1, scene->batch, true);
}

static void exclude_1(void)
{
    write_commit(1, NULL, false);
}

static void try_to_exclude_1(void)
{
    struct bb_commit *commit = scene->commits[1];
    commit->batch = NULL;
    commit->sync = false;
    if (bb_commit_queue_try_enter(scene->queue, commit)) {
        (*scene->executed)++;
        bb_commit_queue_leave(scene->queue, commit, commit, commit, BB_OK);
    }
}

static void fail_1(void)
{
    struct bb_commit *commit = scene->commits[1];
    commit->batch = scene->batch;
    commit->sync = false;
    if (bb_commit_queue_enter(scene->queue, commit))
        bb_commit_queue_leave(scene->queue, commit, commit, execute(commit), BB_OK);
    else
        explore_check(bb_commit_queue_result(commit) == BB_OK, "no leader has failed");
}

/* True once the threads before this one are in the queue, or have left it. */
static bool have_entered(size_t count, bool *seen)
{
    const struct bb_commit *newest =
        atomic_load_explicit(&scene->queue->newest, memory_order_relaxed);
    bool have_all = true;
    for (size_t i = 0; i < count; i++) {
        seen[i] = seen[i] || newest == scene->commits[i] ||
                  atomic_load_explicit(&scene->is_done[i], memory_order_relaxed);
        have_all = have_all && seen[i];
    }
    return have_all;
}

static void close_after(size_t count)
{
    bool seen[EXPLORE_THREADS_MAX] = {false};
    struct bb_commit *commit = scene->commits[2];
    while (!have_entered(count, seen))
        bb_thread_yield();
    commit->batch = NULL;
    commit->sync = false;
    explore_check(bb_commit_queue_enter(scene->queue, commit), "the close was refused");
    bb_commit_queue_close(scene->queue, commit);
    bb_commit_queue_leave(scene->queue, commit, commit, commit, BB_OK);
    bb_commit_queue_deinit(scene->queue);
    bb_free(scene->queue);
}

static void close_1(void)
{
    close_after(1);
}

/* ---- a group of two, whose second thread then closes the store ---- */

/* The first commit leads, and the second one is queued. */
static void make_group(void)
{
    make_scene();
    struct bb_commit *leader = scene->commits[0];
    struct bb_commit *follower = scene->commits[1];
    leader->batch = follower->batch = scene->batch;
    leader->sync = follower->sync = false;
    explore_check(bb_commit_queue_enter(scene->queue, leader), "the first commit does not lead");
    *follower = *leader;
    follower->state = BB_COMMIT_QUEUED;
    leader->next = follower;
    scene->queue->newest = follower;
}

static void lead_group(void)
{
    lead(scene->commits[0]);
}

static void end_group(void)
{
    struct bb_commit *leader = scene->commits[0];
    bb_commit_queue_leave(scene->queue, leader, leader, execute(leader), BB_OK);
}

static void close_as_follower(void)
{
    struct bb_commit *follower = scene->commits[1];
    while (atomic_load_explicit(&follower->state, memory_order_acquire) != BB_COMMIT_DONE)
        bb_thread_yield();
    explore_check(*scene->executed == 2, "the group was not executed once");
    bb_free(follower);
    close_after(0);
}

/* ---- a group of two whose follower sleeps, and a thread that closes the store ---- */

static void make_sleeping_group(void)
{
    make_group();
    bb_condvar_init(&scene->commits[1]->condition);
    scene->commits[1]->state = BB_COMMIT_SLEEPS;
}

/* In the leader's thread: a third one would make millions of states. The follower is slow. */
static void end_group_and_return_from_sleep(void)
{
    struct bb_commit *follower = scene->commits[1];
    end_group();
    bb_commit_queue_sleep(scene->queue, follower);
    explore_check(atomic_load_explicit(&follower->state, memory_order_relaxed) == BB_COMMIT_DONE,
                  "the follower was not executed");
    bb_free(follower);
}

static void close_an_empty_queue(void)
{
    while (atomic_load_explicit(&scene->queue->newest, memory_order_relaxed) != NULL)
        bb_thread_yield();
    close_after(0);
}

static void check_two(void)
{
    explore_check(*scene->executed == 2, "a commit was not executed once");
    explore_check(bb_commit_queue_is_still(scene->queue), "the queue is not still");
}

static void check_tried(void)
{
    explore_check(*scene->executed == 1 || *scene->executed == 2, "the put was not executed");
    explore_check(bb_commit_queue_is_still(scene->queue), "the queue is not still");
}

static const struct explore_program programs[] = {
    {"two puts", make_scene, {put_0, put_1}, check_two},
    {"a put and a synced one", make_scene, {put_0, put_synced_1}, check_two},
    {"a put and an exclusive commit", make_scene, {put_0, exclude_1}, check_two},
    {"a put and a try", make_scene, {put_0, try_to_exclude_1}, check_tried},
    {"a put and one with a result", make_scene, {put_0, fail_1}, check_two},
    {"a put that hands over, and one more", make_scene, {hand_over_0, put_1}, check_two},
    {"a put and a close", make_scene, {put_0, close_1}, NULL},
    {"a group continues, and its follower closes",
     make_group,
     {lead_group, close_as_follower},
     NULL},
    {"a group ends, and its follower closes", make_group, {end_group, close_as_follower}, NULL},
    {"a group ends, its follower sleeps, and another thread closes",
     make_sleeping_group,
     {end_group_and_return_from_sleep, close_an_empty_queue},
     NULL},
};

/* They order that a condition is initialised before another thread signals it; conditions are not
 * explored as memory. */
static const char *const not_needed[] = {
    "sleep_in_line: exchange, release -> relaxed",
    "call: failed exchange, acquire -> relaxed",
    "call: exchange, acq_rel -> release",
    NULL,
};

int main(void)
{
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        explore_every_order(&programs[i]);
    return explore_conclude(not_needed);
}
