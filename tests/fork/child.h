/* The actions of a child with the inherited store. */
#ifndef BB_TESTS_FORK_CHILD_H
#define BB_TESTS_FORK_CHILD_H

#include "bb/select.h"
#include "tests/fork/opener.h"

/* The opener's open handles at the fork. NULL, or without a holder: not open. */
struct fork_handles {
    struct bb_db *db;
    struct bb_db_iter *iter;
    struct bb_select *select;
    struct bb_snapshot *snapshot;
    struct bb_pinned fresh; /* of a memtable */
    struct bb_pinned value; /* of a table */
};

/* Destroys, releases and closes all of it; the status of the last. */
enum bb_status fork_handles_close(struct fork_handles *handles);

/* Never returns. */
_Noreturn void fork_child_run(const struct fork_stage *stage, struct fork_handles *handles,
                              enum fork_child child);

#endif
