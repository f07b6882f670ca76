/* One run: a process opens a store and writes, forks during that, continues, and ends. The test
 * only watches, and sees the result in the store.
 *
 *     test        finally reopens the store, reads every acknowledged key, verifies
 *      +- opener  opens the store; its threads write, each key synced; forks; continues; closes or
 *                 is killed
 *          +- child  has the handle, and uses it
 *
 * Acknowledged writes are counted in memory that all three share. Each process has an alarm, which
 * kills a hanging process; that is a failure.
 */
#ifndef BB_TESTS_FORK_FORK_RUN_H
#define BB_TESTS_FORK_FORK_RUN_H

#include "bb/db.h"
#include "tests/support/rng.h"

#define FORK_WRITERS_MAX 3
#define FORK_CHILDREN    2

enum fork_child {
    FORK_CHILD_CLOSES, /* destroys and closes its handles, and ends by _exit */
    FORK_CHILD_EXITS,  /* leaves by exit: the finalizers do the same */
    FORK_CHILD_IS_KILLED,
    FORK_CHILD_EXECS,
    FORK_CHILD_USES,     /* makes every call: all are refused; then closes */
    FORK_CHILD_OPENS,    /* reopens the store, which is held; then closes the old handle */
    FORK_CHILD_FORKS,    /* its own child closes, then it closes too */
    FORK_CHILD_LINGERS,  /* outlives the opener, and closes then */
    FORK_CHILD_SUCCEEDS, /* outlives the opener, reopens the store, writes, and closes both */
    FORK_CHILD_COUNT,
};

struct fork_plan {
    uint64_t seed;
    unsigned writers;     /* writing threads in addition to the opener's first one */
    bool deterministic;   /* the store has no threads */
    bool wal_buffered;    /* some commits are gathered in the process; synced ones are not */
    unsigned puts_before; /* of the first thread, before each fork, */
    unsigned puts_after;  /* and at the end */
    /* An iterator, a selection, a snapshot and pinned values are open at the fork. */
    bool is_open;
    bool by_process_id; /* as where the kernel cannot wipe a page in a child */
    enum fork_child children[FORK_CHILDREN];
    bool is_killed; /* the opener; else it closes */
};

void fork_plan_draw(struct fork_plan *plan, uint64_t seed);
/* False: a write was lost, a process hung or was wrong. Prints the reason to stderr. */
bool fork_run(const struct fork_plan *plan);

const char *fork_child_name(enum fork_child child);

#endif
