/* The queue of writers. The writer at the head is the leader: it does the work of a group of
 * writers and wakes them.
 *
 *     enter     waits until this commit leads, or until another leader has executed it
 *     take      the leader chooses how many queued commits join its group
 *     leave     ends the group with one status; the next in line leads
 *     close     no leader follows this one: queued and later commits are refused
 *
 * The leader has the store's writer role: only the leader appends to the log, changes the memtable
 * or freezes it. A commit without a batch (exclusive) only needs the role and never joins a group.
 * Threads: any; the mutex guards the list and the is_done marks.
 */
#ifndef BB_KV_STORE_COMMIT_QUEUE_H
#define BB_KV_STORE_COMMIT_QUEUE_H

#include "base/sync.h"
#include "bb/db.h"

/* On the stack of the writing thread. */
struct bb_commit {
    const struct bb_batch *batch; /* borrowed; NULL: exclusive */
    bool sync;
    bool is_done;
    bool is_waiting;       /* condition is initialised */
    bool is_alone;         /* the queue was empty when it became the leader */
    struct bb_error error; /* set when another thread executed it and failed */
    struct bb_commit *next;
    struct bb_condvar condition;
};

struct bb_commit_queue {
    struct bb_mutex mutex;
    struct bb_commit *head;
    struct bb_commit *tail;
    bool is_closed;
    size_t waiting; /* threads that wait in enter */
    /* Signalled when the queue is closed and a waiting thread has left. */
    struct bb_condvar is_left;
};

void bb_commit_queue_init(struct bb_commit_queue *queue);
void bb_commit_queue_deinit(struct bb_commit_queue *queue);

/* True: this commit leads and must call leave. False: it was executed, or refused with BB_BUSY
 * because the queue is closed; bb_commit_queue_result returns its status. */
bool bb_commit_queue_enter(struct bb_commit_queue *queue, struct bb_commit *commit);

/* The same for an exclusive commit, without waiting. False: another commit leads, or the queue is
 * closed. */
bool bb_commit_queue_try_enter(struct bb_commit_queue *queue, struct bb_commit *commit);

/* Chooses the leader's group and returns its last commit; the group is the list from the leader to
 * that commit. The batches of a group have at most size_max_bytes. A commit without sync takes no
 * commit with sync into its group, because it would wait for a sync that it does not need. */
struct bb_commit *bb_commit_queue_take(struct bb_commit_queue *queue, struct bb_commit *leader,
                                       size_t size_max_bytes);

/* Ends the leadership: all commits from the leader to last get this status, with the calling
 * thread's message. */
void bb_commit_queue_leave(struct bb_commit_queue *queue, struct bb_commit *last,
                           enum bb_status status);

/* Called by the leader before it leaves: refuses all queued commits, and waits until their threads
 * are gone. */
void bb_commit_queue_close(struct bb_commit_queue *queue, struct bb_commit *leader);

/* For a commit that another thread has executed, or that was refused. */
BB_MUST_CHECK enum bb_status bb_commit_queue_result(const struct bb_commit *commit);

#endif
