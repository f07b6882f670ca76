/* A store in memory in which one thread can be stopped before a named call of the file seam, until
 * others have done a named step. See interleaving_test.c. */
#ifndef BB_TESTS_INTERLEAVING_STAGE_H
#define BB_TESTS_INTERLEAVING_STAGE_H

#include <stdio.h>

#include "base/buf.h"
#include "base/file_forward.h"
#include "base/sync.h"
#include "tests/support/indexed_store.h"

/* The first thread that makes this call of a file of the store stops before it. */
struct point {
    enum bb_file_call call;
    const char *path_part;
};

enum stage_state {
    STAGE_COLD,    /* no table is open */
    STAGE_WARM,    /* all of them are open; some rows are in the memtable */
    STAGE_FLUSHED, /* all of them are open, and have all rows */
};

struct stage {
    struct store store;
    struct bb_file_forward forward; /* stops reads; changing calls stop in the memory's hook */
    struct bb_db *reader;           /* opened with read_only */
    struct bb_db_iter *iter;        /* made before the stop, for steps that continue it */
    struct bb_snapshot *snapshot;
    bool is_closing;  /* another thread closes the store during the call */
    bool was_refused; /* the call failed, because the store is being closed */
    struct bb_mutex mutex;
    struct bb_condvar changed;
    struct point point;
    bool is_armed;
    bool is_stopped; /* a thread is at the point */
    bool is_open;    /* and may continue */
};

/* A store with rows in two tables and in the memtable, an index, and an open read-only handle. */
void stage_init(struct stage *stage, enum stage_state state);
/* The iterator and the snapshot. */
void stage_begin_reads(struct stage *stage);
void stage_end_reads(struct stage *stage);
void stage_close(struct stage *stage);
/* Closes if it is open, verifies and releases. */
void stage_deinit(struct stage *stage);

void stage_arm(struct stage *stage, struct point point);
/* Waits until a thread is stopped: a caller's, or a thread of the store. */
void stage_wait_for_stop(struct stage *stage);
/* Lets the stopped thread continue. */
void stage_release(struct stage *stage);

/* A call on another thread. */
struct call {
    struct stage *stage;
    void (*run)(struct stage *stage);
    struct bb_thread thread;
    bool is_done;
};
void call_start(struct call *call);
bool call_is_done(struct call *call);
/* Waits until the call is done. */
void call_wait(struct call *call);
void call_join(struct call *call);

/* For any thread: a failure ends the process. */
void require_status(enum bb_status status, enum bb_status expected, const char *file, int line);
void require_true(bool condition, const char *text, const char *file, int line);
/* Of a call during which the store may be closed. */
void require_done_or_closed(struct stage *stage, enum bb_status status);
#define require_ok(expression) require_status((expression), BB_OK, __FILE__, __LINE__)
#define require(condition)     require_true((condition), #condition, __FILE__, __LINE__)

/* Rows that no step changes: gets, a scan and selections with and without indexes. */
#define STAGE_ROWS 40
void require_rows(struct bb_db *db);
void require_value(struct bb_db *db, const char *key, const char *value); /* NULL: absent */

#endif
