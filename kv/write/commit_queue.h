/* The order of writers: whoever stands at the head leads, does the work for those behind it, and
 * wakes them.
 *
 *     enter     waits until this commit leads, or until another leader has done it
 *     take      the leader decides how many of those behind it join
 *     leave     the group is done with one status; the next in line leads
 *     close     nobody leads after this leader: those in line, and who comes, are refused
 *
 * Being the leader is the store's writer role: only the leader appends to the log, changes the
 * memtable or freezes it. A commit without a batch (exclusive) asks for the role alone and never
 * joins a group. Threads: any; the mutex guards the list and the is_done marks.
 */
#ifndef BB_KV_WRITE_COMMIT_QUEUE_H
#define BB_KV_WRITE_COMMIT_QUEUE_H

#include "base/sync.h"
#include "bb/db.h"

/* On the stack of the writing thread. */
struct bb_commit {
    const struct bb_batch *batch; /* borrowed; NULL: exclusive */
    bool sync;
    bool is_done;
    bool is_waiting;       /* condition is initialised */
    bool is_alone;         /* nobody stood behind it when it became the leader */
    struct bb_error error; /* when it was done by another thread and failed */
    struct bb_commit *next;
    struct bb_condvar condition;
};

struct bb_commit_queue {
    struct bb_mutex mutex;
    struct bb_commit *head;
    struct bb_commit *tail;
    bool is_closed;
    size_t waiting;            /* threads inside enter that wait */
    struct bb_condvar is_left; /* once closed: one of them has left */
};

void bb_commit_queue_init(struct bb_commit_queue *queue);
void bb_commit_queue_deinit(struct bb_commit_queue *queue);

/* True: this commit leads and must call leave. False: it was done, or refused with BB_BUSY because
 * the queue is closed; bb_commit_result gives its status. */
bool bb_commit_queue_enter(struct bb_commit_queue *queue, struct bb_commit *commit);

/* The last commit of the leader's group: the group is the list from leader to it. A group is
 * bounded by size_max_bytes of batches; a commit that does not sync takes none that does along, or
 * it would wait for nothing. */
struct bb_commit *bb_commit_queue_take(struct bb_commit_queue *queue, struct bb_commit *leader,
                                       size_t size_max_bytes);

/* Ends the leadership: all commits from the leader to last have this status. The message is the
 * calling thread's. */
void bb_commit_queue_leave(struct bb_commit_queue *queue, struct bb_commit *last,
                           enum bb_status status);

/* The leader's, before it leaves: refuses all behind it, and waits until their threads are gone. */
void bb_commit_queue_close(struct bb_commit_queue *queue, struct bb_commit *leader);

/* For a commit that another thread has done, or that was refused. */
BB_MUST_CHECK enum bb_status bb_commit_result(const struct bb_commit *commit);

#endif
