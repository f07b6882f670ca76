/* See opener.h. */
#include "tests/fork/opener.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/process.h"
#include "tests/fork/child.h"

void fork_check(bool condition, const char *what, const char *file, int line)
{
    if (condition)
        return;
    fprintf(stderr, "%s:%d: process %ld: not so: %s; the last failure: %s\n", file, line,
            (long)getpid(), what, bb_error_last()->message);
    _exit(1);
}

size_t fork_row(unsigned thread, uint64_t row, char *key, size_t key_size, char *value)
{
    /* Spread, so that tables overlap and there is something to merge. */
    snprintf(key, key_size, "%u-%06u", thread, (unsigned)(row * 7919 % 999983));
    size_t size = 100 + (size_t)(row * 37 % (FORK_ROW_SIZE_MAX - 100));
    memset(value, 'a' + (int)((row + thread) % 26), size);
    return size;
}

struct bb_db_options fork_options(const struct fork_plan *plan)
{
    return (struct bb_db_options){
        .create_if_missing = true,
        .write_buffer_bytes = 64 * 1024,
        .table_size_bytes = 16 * 1024,
        .level0_run_count_compact = 2,
        .level0_run_count_busy = 2,
        .level1_size_bytes = 64 * 1024,
        .level_size_ratio = 4,
        .cache_bytes = 64 * 1024,
        .wal_buffer_bytes = plan->wal_buffered ? 4096 : 0,
        .deterministic = plan->deterministic,
        .scrub_interval_seconds = plan->deterministic ? 0 : 1,
    };
}

struct opener {
    const struct fork_stage *stage;
    struct fork_handles handles;
    struct writer {
        struct opener *opener;
        unsigned number;
        pthread_t thread;
    } writers[FORK_WRITERS_MAX];
    _Atomic bool is_done;
};

/* The next row of a thread, synced, then counted. */
static void put_row(struct opener *opener, unsigned thread)
{
    const struct bb_write_options synced = {.sync = true};
    _Atomic uint64_t *count = &opener->stage->board->acknowledged[thread];
    uint64_t row = atomic_load(count);
    char key[32];
    char value[FORK_ROW_SIZE_MAX];
    size_t size = fork_row(thread, row, key, sizeof(key), value);
    FORK_CHECK(bb_db_put(opener->handles.db, &synced, bb_bytes_of_text(key),
                         bb_bytes_of(value, size)) == BB_OK);
    atomic_store(count, row + 1);
}

static void *write_rows(void *argument)
{
    struct writer *writer = argument;
    while (!atomic_load(&writer->opener->is_done))
        put_row(writer->opener, writer->number);
    return NULL;
}

/* The first row is in a table if anything is, the last one in the memtable. */
static void open_handles(struct opener *opener)
{
    struct fork_handles *handles = &opener->handles;
    char key[32];
    char value[FORK_ROW_SIZE_MAX];
    uint64_t count = atomic_load(&opener->stage->board->acknowledged[0]);
    if (!opener->stage->plan->is_open || count == 0 || handles->iter != NULL)
        return;
    (void)fork_row(0, 0, key, sizeof(key), value);
    FORK_CHECK(bb_db_get_pinned(handles->db, NULL, bb_bytes_of_text(key), &handles->value) ==
               BB_OK);
    (void)fork_row(0, count - 1, key, sizeof(key), value);
    FORK_CHECK(bb_db_get_pinned(handles->db, NULL, bb_bytes_of_text(key), &handles->fresh) ==
               BB_OK);
    FORK_CHECK(bb_snapshot_create(handles->db, &handles->snapshot) == BB_OK);
    const struct bb_get_options options = {.snapshot = handles->snapshot};
    FORK_CHECK(bb_db_iter_create(handles->db, &options, &handles->iter) == BB_OK);
    bb_db_iter_seek_first(handles->iter);
    FORK_CHECK(bb_db_iter_valid(handles->iter));
    bool has_record = false;
    const struct bb_select_options everything = {.snapshot = handles->snapshot};
    FORK_CHECK(bb_db_select(handles->db, &everything, &handles->select) == BB_OK);
    FORK_CHECK(bb_select_next(handles->select, &has_record) == BB_OK && has_record);
}

static bool outlives(enum fork_child child)
{
    return child == FORK_CHILD_LINGERS || child == FORK_CHILD_SUCCEEDS;
}

static void await_child(pid_t process, enum fork_child child)
{
    int result = -1;
    FORK_CHECK(waitpid(process, &result, 0) == process);
    if (child == FORK_CHILD_IS_KILLED)
        FORK_CHECK(WIFSIGNALED(result) && WTERMSIG(result) == SIGKILL);
    else
        FORK_CHECK(WIFEXITED(result) && WEXITSTATUS(result) == 0);
}

/* A child that outlives its opener has begun to run when this returns: it has released the lock. */
static void fork_and_go_on(struct opener *opener, enum fork_child child, uint64_t outliving)
{
    pid_t process = fork();
    FORK_CHECK(process >= 0);
    if (process == 0)
        fork_child_run(opener->stage, &opener->handles, child);
    if (!outlives(child)) {
        put_row(opener, 0);
        await_child(process, child);
        return;
    }
    while (atomic_load(&opener->stage->board->children) < outliving)
        put_row(opener, 0);
}

static void start_writers(struct opener *opener)
{
    for (unsigned i = 0; i < opener->stage->plan->writers; i++) {
        struct writer *writer = &opener->writers[i];
        *writer = (struct writer){.opener = opener, .number = i + 1};
        FORK_CHECK(pthread_create(&writer->thread, NULL, write_rows, writer) == 0);
    }
}

static void stop_writers(struct opener *opener)
{
    atomic_store(&opener->is_done, true);
    for (unsigned i = 0; i < opener->stage->plan->writers; i++)
        FORK_CHECK(pthread_join(opener->writers[i].thread, NULL) == 0);
}

static void put_rows(struct opener *opener, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        put_row(opener, 0);
}

_Noreturn void fork_opener_run(const struct fork_stage *stage)
{
    static struct opener opener;
    const struct fork_plan *plan = stage->plan;
    struct bb_db_options options = fork_options(plan);
    uint64_t outliving = 0;
    alarm(FORK_TIMEOUT_SECONDS);
    opener.stage = stage;
    if (plan->by_process_id)
        bb_process_use_id();
    FORK_CHECK(bb_db_open(stage->directory, &options, &opener.handles.db) == BB_OK);
    start_writers(&opener);
    for (int i = 0; i < FORK_CHILDREN; i++) {
        put_rows(&opener, plan->puts_before);
        open_handles(&opener);
        outliving += outlives(plan->children[i]);
        fork_and_go_on(&opener, plan->children[i], outliving);
    }
    put_rows(&opener, plan->puts_after);
    if (plan->is_killed)
        (void)raise(SIGKILL);
    stop_writers(&opener);
    FORK_CHECK(fork_handles_close(&opener.handles) == BB_OK);
    _exit(0);
}
