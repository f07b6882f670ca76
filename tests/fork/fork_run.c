/* See fork_run.h. */
#include "tests/fork/fork_run.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "bb/db_files.h"
#include "tests/fork/opener.h"
#include "tests/support/temp_dir.h"

/* The sanitizers' allocator does not survive a fork while other threads use it. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_THREADS false
#else
#define HAS_THREADS true
#endif

const char *fork_child_name(enum fork_child child)
{
    static const char *const names[FORK_CHILD_COUNT] = {
        "closes", "exits", "is killed", "execs", "uses", "opens", "forks", "lingers", "succeeds"};
    return names[child];
}

/* One heir at most: the store has one writer. */
static void draw_children(struct fork_plan *plan, struct bb_rng *rng)
{
    for (int i = 0; i < FORK_CHILDREN; i++)
        plan->children[i] = (enum fork_child)bb_rng_below(rng, FORK_CHILD_COUNT);
    if (plan->children[0] == FORK_CHILD_SUCCEEDS && plan->children[1] == FORK_CHILD_SUCCEEDS)
        plan->children[1] = FORK_CHILD_LINGERS;
}

void fork_plan_draw(struct fork_plan *plan, uint64_t seed)
{
    struct bb_rng rng;
    bb_rng_init(&rng, seed);
    *plan = (struct fork_plan){.seed = seed};
    plan->writers = HAS_THREADS ? (unsigned)bb_rng_below(&rng, FORK_WRITERS_MAX + 1) : 0;
    plan->deterministic = !HAS_THREADS || bb_rng_one_in(&rng, 4);
    plan->wal_buffered = bb_rng_one_in(&rng, 4);
    plan->puts_before = (unsigned)bb_rng_skewed(&rng, 250);
    plan->puts_after = (unsigned)bb_rng_skewed(&rng, 250);
    plan->is_open = bb_rng_one_in(&rng, 2);
    plan->is_killed = bb_rng_one_in(&rng, 2);
    draw_children(plan, &rng);
    plan->by_process_id = bb_rng_one_in(&rng, 4);
}

static bool complain(const struct fork_plan *plan, const char *what)
{
    fprintf(stderr,
            "seed %" PRIu64 " (%u writers, deterministic %d, children: %s, %s, opener %s): %s\n",
            plan->seed, plan->writers, plan->deterministic, fork_child_name(plan->children[0]),
            fork_child_name(plan->children[1]), plan->is_killed ? "killed" : "closes", what);
    return false;
}

static bool complain_of(const struct fork_plan *plan, const char *call)
{
    char text[2048];
    snprintf(text, sizeof(text), "%s: %s", call, bb_error_last()->message);
    return complain(plan, text);
}

static bool has_rows(const struct fork_stage *stage, struct bb_db *db, unsigned thread,
                     uint64_t count)
{
    struct bb_buf found = {0};
    bool is_well = true;
    for (uint64_t row = 0; row < count && is_well; row++) {
        char key[32];
        char value[FORK_ROW_SIZE_MAX];
        char text[128];
        size_t size = fork_row(thread, row, key, sizeof(key), value);
        is_well = bb_db_get(db, NULL, bb_bytes_of_text(key), &found) == BB_OK &&
                  found.size == size && memcmp(found.data, value, size) == 0;
        snprintf(text, sizeof(text), "row %" PRIu64 " of %" PRIu64 " of thread %u is lost", row,
                 count, thread);
        if (!is_well)
            (void)complain(stage->plan, text);
    }
    bb_buf_deinit(&found);
    return is_well;
}

/* Everything that was acknowledged is there, and the store is sound. */
static bool is_whole(const struct fork_stage *stage)
{
    const struct fork_plan calm = {.deterministic = true};
    struct bb_db_options options = fork_options(&calm);
    struct bb_db_verify_report report = {0};
    struct bb_db *db = NULL;
    bool is_well = true;
    if (bb_db_verify(stage->directory, &options, &report) != BB_OK)
        return complain_of(stage->plan, "verify before the opening");
    if (bb_db_open(stage->directory, &options, &db) != BB_OK)
        return complain_of(stage->plan, "opening again");
    for (unsigned thread = 0; thread <= FORK_WRITERS_MAX && is_well; thread++)
        is_well = has_rows(stage, db, thread, atomic_load(&stage->board->acknowledged[thread]));
    if (is_well)
        is_well = has_rows(stage, db, FORK_WRITERS_MAX + 1, atomic_load(&stage->board->heirs));
    if (bb_db_close(db) != BB_OK)
        return complain_of(stage->plan, "closing");
    if (bb_db_verify(stage->directory, &options, &report) != BB_OK)
        return complain_of(stage->plan, "verify");
    return is_well;
}

/* An alarm ended it: it hung. */
static bool ended_well(const struct fork_plan *plan, int result, bool is_opener)
{
    if (WIFSIGNALED(result) && WTERMSIG(result) == SIGALRM)
        return complain(plan, is_opener ? "the opener hung" : "a child hung");
    if (is_opener && plan->is_killed)
        return (WIFSIGNALED(result) && WTERMSIG(result) == SIGKILL) ||
               complain(plan, "the opener ended before it was killed");
    return (WIFEXITED(result) && WEXITSTATUS(result) == 0) ||
           complain(plan, is_opener ? "the opener failed" : "a child failed");
}

/* Children that outlived the opener are this process's children now. */
static bool await_others(const struct fork_plan *plan)
{
    int result = 0;
    bool is_well = true;
    while (waitpid(-1, &result, 0) > 0)
        is_well = ended_well(plan, result, false) && is_well;
    return is_well;
}

static bool run_on(const struct fork_stage *stage)
{
    int result = -1;
    (void)fflush(NULL);
    pid_t opener = fork();
    if (opener == 0)
        fork_opener_run(stage);
    if (opener < 0 || waitpid(opener, &result, 0) != opener)
        return complain(stage->plan, strerror(errno));
    bool is_well = ended_well(stage->plan, result, true);
    /* With children that live. */
    is_well = is_whole(stage) && is_well;
    atomic_store(&stage->board->is_over, 1);
    atomic_store(&stage->board->may_succeed, 1);
    is_well = await_others(stage->plan) && is_well;
    return is_whole(stage) && is_well;
}

bool fork_run(const struct fork_plan *plan)
{
    struct bb_temp_dir dir;
    char path[PATH_MAX];
    struct fork_board *board =
        mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        return complain(plan, strerror(errno));
    bb_temp_dir_init(&dir, "fork");
    const struct fork_stage stage = {
        .plan = plan, .board = board, .directory = bb_temp_dir_path(&dir, "store", path)};
    bool is_well = run_on(&stage);
    bb_temp_dir_deinit(&dir);
    (void)munmap(board, sizeof(*board));
    return is_well;
}
