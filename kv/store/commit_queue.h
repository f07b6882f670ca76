/* The queue of writers. The writer at the head is the leader: it does the work of a group of
 * writers and wakes them.
 *
 *     enter     waits until this commit leads, or until another leader has executed it
 *     take      the leader chooses how many queued commits join its group
 *     continue  ends the group; the leader also leads the group that has formed since
 *     leave     ends the group with one status; the next in line leads
 *     close     no leader follows this one: queued and later commits are refused
 *
 * The leader has the store's writer role: only the leader appends to the log, changes the memtable
 * or freezes it. A commit without a batch (exclusive) only needs the role and never joins a group.
 *
 * The queue is a list from the leader to the newest commit (Mellor-Crummey and Scott, "Algorithms
 * for Scalable Synchronization on Shared-Memory Multiprocessors", ACM TOCS 1991). A commit first
 * replaces the newest one, by compare-and-exchange, and then is linked to its predecessor:
 *
 *     leader --next--> commit --next--> commit    <-- newest
 *
 *     BB_COMMIT_QUEUED --> BB_COMMIT_LEADS or BB_COMMIT_DONE
 *            |                     ^
 *            `--> BB_COMMIT_SLEEPS-'
 *
 * A thread whose predecessor has no sync first polls its state: such a commit takes less than a
 * microsecond, and waking a sleeping thread some dozens. When a commit is done, its thread may have
 * returned: the commit is gone, and the thread does not access the queue again. Only a thread that
 * sleeps, or is about to, locks the mutex again: `returning` counts it until then.
 *
 * Threads: any. The leader changes states, except from QUEUED to SLEEPS, which the commit's own
 * thread does.
 */
#ifndef BB_KV_STORE_COMMIT_QUEUE_H
#define BB_KV_STORE_COMMIT_QUEUE_H

#include <stdatomic.h>

#include "base/sync.h"
#include "bb/db.h"

enum bb_commit_state {
    BB_COMMIT_QUEUED,
    BB_COMMIT_SLEEPS, /* condition is initialised */
    BB_COMMIT_LEADS,
    BB_COMMIT_DONE, /* executed or refused */
};

/* On the stack of the writing thread. */
struct bb_commit {
    const struct bb_batch *batch; /* borrowed; NULL: exclusive */
    bool sync;
    bool polls;                       /* the commit before it has a batch and no sync */
    _Atomic uint32_t state;           /* enum bb_commit_state */
    _Atomic(struct bb_commit *) next; /* NULL: none, or not linked yet */
    struct bb_error error;            /* set when another thread executed it and failed */
    struct bb_condvar condition;
};

struct bb_commit_queue {
    /* NULL: the queue is empty. A closed queue has a commit here that stands for "closed". */
    _Atomic(struct bb_commit *) newest;
    /* Leaders that may have given up the lead and still end their group. */
    _Atomic uint32_t leaving;
    struct bb_mutex mutex; /* guards the rest, and sleeping */
    bool is_closed;
    size_t returning; /* threads whose commits are done, and that will take the mutex */
    /* Signalled when the queue is closed and a returning thread has left. */
    struct bb_condvar is_left;
};

void bb_commit_queue_init(struct bb_commit_queue *queue);
void bb_commit_queue_deinit(struct bb_commit_queue *queue);

/* True if some commit leads, or the queue is closed. For assertions. */
bool bb_commit_queue_is_led(const struct bb_commit_queue *queue);
/* For a child made by fork: true if no thread was using the queue at the fork. */
bool bb_commit_queue_is_still(const struct bb_commit_queue *queue);

/* True: this commit leads and must call leave. False: it was executed, or refused with BB_BUSY
 * because the queue is closed; bb_commit_queue_result returns its status. */
bool bb_commit_queue_enter(struct bb_commit_queue *queue, struct bb_commit *commit);

/* The same for an exclusive commit, without waiting. False: another commit leads, or the queue is
 * closed. */
bool bb_commit_queue_try_enter(struct bb_commit_queue *queue, struct bb_commit *commit);

/* Part of enter: waits while the state of the calling thread's commit is BB_COMMIT_SLEEPS. */
void bb_commit_queue_sleep(struct bb_commit_queue *queue, struct bb_commit *commit);

/* Chooses a group and returns its last commit; the group is the list from first, the leader's or a
 * commit that bb_commit_queue_continue returned, to that commit. The batches of a group have at
 * most size_max_bytes. If first has no sync, no commit with sync joins its group, because the
 * others would wait for a sync that they do not need. */
struct bb_commit *bb_commit_queue_take(struct bb_commit *first, size_t size_max_bytes);

/* Ends the leader's group, from the leader to last, with BB_OK. Returns the first commit of the
 * next group if the leader keeps the lead for it: it must either take, execute and leave this group
 * too, or hand over the lead. NULL: it has left, because no commit waits, or because the next one
 * is exclusive or has a sync, which the leader's thread would have to wait for. WHY a leader
 * continues: its data is in its processor's caches, and it is running. */
struct bb_commit *bb_commit_queue_continue(struct bb_commit_queue *queue, struct bb_commit *leader,
                                           struct bb_commit *last);

/* Lets the commit lead that bb_commit_queue_continue returned. */
void bb_commit_queue_hand_over(struct bb_commit_queue *queue, struct bb_commit *first);

/* Ends the leadership: all commits from first to last get this status, with the calling thread's
 * message. leader: the commit of the calling thread; equal to first, except after
 * bb_commit_queue_continue. */
void bb_commit_queue_leave(struct bb_commit_queue *queue, const struct bb_commit *leader,
                           struct bb_commit *first, struct bb_commit *last, enum bb_status status);

/* Called by the leader before it leaves: refuses all queued commits, and waits until their threads
 * are gone. */
void bb_commit_queue_close(struct bb_commit_queue *queue, struct bb_commit *leader);

/* For a commit that another thread has executed, or that was refused. */
BB_MUST_CHECK enum bb_status bb_commit_queue_result(const struct bb_commit *commit);

#endif
