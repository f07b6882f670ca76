/* See child.h. */
#include "tests/fork/child.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "bb/db_files.h"
#include "bb/db_explain.h"

enum bb_status fork_handles_close(struct fork_handles *handles)
{
    bb_pinned_release(&handles->fresh);
    bb_pinned_release(&handles->value);
    bb_db_iter_destroy(handles->iter);
    bb_select_destroy(handles->select);
    bb_snapshot_release(handles->db, handles->snapshot);
    enum bb_status status = bb_db_close(handles->db);
    *handles = (struct fork_handles){0};
    return status;
}

static bool is_refused(enum bb_status status)
{
    return status == BB_INVALID && strstr(bb_error_last()->message, "fork") != NULL;
}

static void use_writes(struct bb_db *db)
{
    const struct bb_write_options synced = {.sync = true};
    struct bb_bytes key = bb_bytes_of_text("0-000000");
    FORK_CHECK(is_refused(bb_db_put(db, NULL, key, key)));
    FORK_CHECK(is_refused(bb_db_put(db, &synced, key, key)));
    FORK_CHECK(is_refused(bb_db_delete(db, NULL, key)));
    FORK_CHECK(is_refused(bb_db_delete_range(db, NULL, key, bb_bytes_of_text("9"))));
    FORK_CHECK(is_refused(bb_db_flush(db)));
    FORK_CHECK(is_refused(bb_db_compact(db)));
    FORK_CHECK(is_refused(bb_db_compact_range(db, NULL, NULL)));
    FORK_CHECK(is_refused(bb_db_wait_idle(db)));
    FORK_CHECK(is_refused(bb_db_refresh(db)));
    FORK_CHECK(is_refused(bb_db_scrub(db, NULL, NULL)));
    FORK_CHECK(is_refused(bb_db_checkpoint(db, "/nowhere/at/all")));
    const char *path = "/nowhere/at/all.bbt";
    FORK_CHECK(is_refused(bb_db_ingest(db, &path, 1, NULL)));
}

static void use_reads(struct bb_db *db)
{
    struct bb_bytes key = bb_bytes_of_text("0-000000");
    struct bb_buf value = {0};
    struct bb_pinned pinned = {0};
    struct bb_explain explain;
    struct bb_key_range range = {0};
    struct bb_range_size size;
    struct bb_db_table_list list = {0};
    struct bb_db_stats stats;
    struct bb_snapshot *snapshot = NULL;
    struct bb_db_iter *iter = NULL;
    enum bb_status statuses[1];
    size_t copied = 0;
    FORK_CHECK(is_refused(bb_db_get(db, NULL, key, &value)));
    FORK_CHECK(is_refused(bb_db_get_pinned(db, NULL, key, &pinned)));
    FORK_CHECK(is_refused(bb_db_get_into(db, NULL, key, NULL, 0, &copied)));
    FORK_CHECK(is_refused(bb_db_get_many(db, NULL, &key, 1, NULL, statuses)));
    FORK_CHECK(statuses[0] == BB_INVALID);
    FORK_CHECK(is_refused(bb_db_explain(db, NULL, key, NULL, &explain)));
    FORK_CHECK(is_refused(bb_db_approximate_sizes(db, &range, 1, &size)));
    FORK_CHECK(is_refused(bb_db_tables(db, &list)));
    FORK_CHECK(is_refused(bb_snapshot_create(db, &snapshot)));
    FORK_CHECK(is_refused(bb_db_iter_create(db, NULL, &iter)));
    bb_db_clear_cache(db);
    bb_db_stats(db, &stats);
    FORK_CHECK(stats.writes == 0 && stats.gets == 0);
}

/* Pinned values stay readable; an iterator shows its position, and does not move. */
static void use_open(struct fork_handles *handles)
{
    if (handles->iter == NULL)
        return;
    FORK_CHECK(handles->fresh.bytes.size > 0 && handles->fresh.bytes.data[0] != 0);
    FORK_CHECK(bb_db_iter_valid(handles->iter) && bb_db_iter_key(handles->iter).size > 0);
    bool has_record = true;
    const struct bb_attribute *attributes = NULL;
    FORK_CHECK(bb_select_key(handles->select).size > 0);
    FORK_CHECK(is_refused(bb_select_attributes(handles->select, &attributes)));
    FORK_CHECK(is_refused(bb_select_next(handles->select, &has_record)));
    bb_db_iter_next(handles->iter);
    FORK_CHECK(!bb_db_iter_valid(handles->iter));
    FORK_CHECK(is_refused(bb_db_iter_status(handles->iter)));
    bb_db_iter_seek_first(handles->iter);
    FORK_CHECK(!bb_db_iter_valid(handles->iter));
}

/* held: by the opener, whom the message names. */
static void open_anew(const struct fork_stage *stage, bool is_held)
{
    const struct fork_plan plan = {.deterministic = true};
    struct bb_db_options options = fork_options(&plan);
    struct bb_db *db = NULL;
    char holder[64];
    snprintf(holder, sizeof(holder), "locked by process %ld", (long)getppid());
    enum bb_status status = bb_db_open(stage->directory, &options, &db);
    if (is_held) {
        FORK_CHECK(status == BB_BUSY && strstr(bb_error_last()->message, holder) != NULL);
        return;
    }
    FORK_CHECK(status == BB_OK);
    for (uint64_t row = 0; row < 20; row++) {
        char key[32];
        char value[FORK_ROW_SIZE_MAX];
        size_t size = fork_row(FORK_WRITERS_MAX + 1, row, key, sizeof(key), value);
        FORK_CHECK(bb_db_put(db, NULL, bb_bytes_of_text(key), bb_bytes_of(value, size)) == BB_OK);
        atomic_store(&stage->board->heirs, row + 1);
    }
    FORK_CHECK(bb_db_close(db) == BB_OK);
}

static void wait_for(const _Atomic uint32_t *flag)
{
    while (atomic_load(flag) == 0)
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void outlive(const struct fork_stage *stage, enum fork_child child)
{
    atomic_fetch_add(&stage->board->children, 1);
    wait_for(&stage->board->is_over);
    if (child != FORK_CHILD_SUCCEEDS)
        return;
    wait_for(&stage->board->may_succeed);
    open_anew(stage, false);
}

static void fork_another(struct fork_handles *handles)
{
    int result = -1;
    pid_t grandchild = fork();
    if (grandchild == 0) {
        alarm(FORK_TIMEOUT_SECONDS);
        _exit(fork_handles_close(handles) == BB_OK ? 0 : 1);
    }
    FORK_CHECK(waitpid(grandchild, &result, 0) == grandchild && result == 0);
}

/* Of files in the directory. */
static size_t descriptor_count(const char *directory)
{
    size_t count = 0;
    for (int fd = 0; fd < 1024; fd++) {
        char link[64];
        char target[PATH_MAX + 64];
        snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        ssize_t size = readlink(link, target, sizeof(target) - 1);
        target[size > 0 ? size : 0] = 0;
        count += strstr(target, directory) != NULL;
    }
    return count;
}

/* As the finalizers of an interpreter do at its end. */
static struct fork_handles *finalized;

static void finalize(void)
{
    if (fork_handles_close(finalized) != BB_OK)
        _exit(1);
}

_Noreturn void fork_child_run(const struct fork_stage *stage, struct fork_handles *handles,
                              enum fork_child child)
{
    static char *const arguments[] = {(char *)(uintptr_t) "true", NULL};
    alarm(FORK_TIMEOUT_SECONDS);
    switch (child) {
    case FORK_CHILD_EXITS:
        finalized = handles;
        if (atexit(finalize) != 0)
            _exit(1);
        exit(0);
    case FORK_CHILD_IS_KILLED:
        (void)raise(SIGKILL);
        break;
    case FORK_CHILD_EXECS:
        (void)execv("/bin/true", arguments);
        _exit(1);
    case FORK_CHILD_USES:
        use_writes(handles->db);
        use_reads(handles->db);
        use_open(handles);
        break;
    case FORK_CHILD_OPENS:
        open_anew(stage, true);
        break;
    case FORK_CHILD_FORKS:
        fork_another(handles);
        break;
    case FORK_CHILD_LINGERS:
    case FORK_CHILD_SUCCEEDS:
        outlive(stage, child);
        break;
    case FORK_CHILD_CLOSES:
    case FORK_CHILD_COUNT:
        break;
    }
    FORK_CHECK(fork_handles_close(handles) == BB_OK);
    /* Without threads the store was idle at the fork: everything is released. */
    if (stage->plan->deterministic && stage->plan->writers == 0)
        FORK_CHECK(descriptor_count(stage->directory) == 0);
    _exit(0);
}
