/* Goal: SIGKILL at any moment loses no acknowledged write, leaves no part of a batch or of an
 * ingest, and no hole; checkpoints that were complete stay complete. Method: a child process with
 * several writers, an ingesting thread and a checkpointing thread (victim.h) is killed after a
 * drawn time, also within its opening; then its store and its last checkpoint are verified, opened
 * and read, and the next child continues with the store.
 *
 * BB_TEST_KILLS sets the number of kills (default 12), BB_TEST_SEED the seed, which determines the
 * moments and the options, but not the progress of the threads.
 */
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "tests/kill/victim.h"
#include "tests/support/rng.h"
#include "tests/support/temp_dir.h"

#define KILLS_PER_STORE  20
#define MICROSECONDS_MAX 120000

struct run {
    uint64_t seed;
    uint64_t kill; /* number of the current one */
    struct victim_plan plan;
    struct victim_record *record;
    struct bb_rng rng;
    uint64_t acknowledged; /* writes, of all kills */
    uint64_t ingested;
    uint64_t checkpoints;
    uint64_t excused; /* verifications */
};

static void die(const struct run *run, const char *what)
{
    fprintf(stderr, "writers_test: kill %" PRIu64 ": %s; the store is in %s\n", run->kill, what,
            run->plan.place);
    fprintf(stderr,
            "    replay: BB_TEST_SEED=%" PRIu64 " BB_TEST_KILLS=%" PRIu64 " kill_writers_test\n",
            run->seed, run->kill + 1);
    exit(1);
}

static void must(const struct run *run, enum bb_status status, const char *what)
{
    char message[1400];
    if (status == BB_OK)
        return;
    snprintf(message, sizeof(message), "%s: %s", what, bb_error_last()->message);
    die(run, message);
}

/* The number in the value of a key, after all of its bytes were checked; 0: absent. */
static uint64_t read_number(const struct run *run, struct bb_db *db, struct bb_bytes key)
{
    char expected[VICTIM_VALUE_SIZE];
    char head[24] = "";
    struct bb_buf value = {0};
    enum bb_status status = bb_db_get(db, NULL, key, &value);
    must(run, status == BB_NOT_FOUND ? BB_OK : status, "get");
    if (status == BB_NOT_FOUND)
        return 0;
    memcpy(head, value.data, value.size < 23 ? value.size : 23);
    uint64_t number = strtoull(head, NULL, 10);
    struct bb_bytes whole = victim_value(number, expected);
    if (whole.size != value.size || memcmp(whole.data, value.data, whole.size) != 0)
        die(run, "the value was never written");
    bb_buf_deinit(&value);
    return number;
}

/* The last number of a writer; all keys show the state after it. */
static uint64_t check_writer(const struct run *run, struct bb_db *db, uint32_t writer)
{
    char key[VICTIM_KEY_SIZE];
    uint64_t shown[VICTIM_KEYS];
    uint64_t last = 0;
    for (uint64_t slot = 0; slot < VICTIM_KEYS; slot++) {
        shown[slot] = read_number(run, db, victim_key(writer, slot, key));
        last = shown[slot] > last ? shown[slot] : last;
    }
    for (uint64_t slot = 0; slot < VICTIM_KEYS; slot++) {
        uint64_t back = (last + VICTIM_KEYS - slot) % VICTIM_KEYS;
        if (shown[slot] != (back < last ? last - back : 0))
            die(run, "an earlier write of a thread is missing, and a later one is there");
    }
    return last;
}

/* Everything acknowledged is there, and at most one write more. */
static uint64_t check_last(const struct run *run, uint32_t writer, uint64_t last, uint64_t floor,
                           bool is_checkpoint)
{
    uint64_t step = writer == VICTIM_WRITERS - 1 ? VICTIM_BATCH : 1;
    if (last < floor)
        die(run, "an acknowledged write is lost");
    if (last % step != 0)
        die(run, "a batch is there in part");
    if (!is_checkpoint && last > floor + step)
        die(run, "the write was never begun");
    return last;
}

static uint64_t check_ingest(const struct run *run, struct bb_db *db)
{
    char key[VICTIM_KEY_SIZE];
    uint64_t first = read_number(run, db, victim_ingest_key(0, key));
    for (uint32_t i = 1; i < VICTIM_INGEST_KEYS; i++) {
        if (read_number(run, db, victim_ingest_key(i, key)) != first)
            die(run, "an ingest is there in part");
    }
    return first;
}

/* A store whose creation was interrupted is created again. A kill between a record of the manifest
 * and its mark, while an ingest has a whole table, looks like a cut manifest: until the next
 * opening a verification reports it (docs/durability.md, "Tables that no manifest names"). */
static bool is_excused(const struct run *run, enum bb_status status)
{
    if (status == BB_NOT_FOUND)
        return run->record->acknowledged[0] == 0;
    return status == BB_CORRUPT &&
           strstr(bb_error_last()->message, "that no manifest names") != NULL;
}

static struct bb_db *open_checked(struct run *run, const char *path)
{
    struct bb_db *db = NULL;
    struct bb_db_options options = victim_options(run->plan.seed);
    options.deterministic = true; /* no threads, before the next fork */
    enum bb_status status = bb_db_verify(path, &options, NULL);
    run->excused += status == BB_CORRUPT;
    if (!is_excused(run, status))
        must(run, status, "verify");
    must(run, bb_db_open(path, &options, &db), "open");
    return db;
}

static void close_checked(const struct run *run, const char *path, struct bb_db *db)
{
    struct bb_db_options options = victim_options(run->plan.seed);
    must(run, bb_db_close(db), "close");
    must(run, bb_db_verify(path, &options, NULL), "verify after the opening");
}

/* The next process continues at the numbers found. */
static void check_store(struct run *run)
{
    char path[PATH_MAX];
    struct stat status;
    struct victim_record *record = run->record;
    if (stat(victim_path(&run->plan, 0, path), &status) != 0)
        return; /* killed before it was made */
    struct bb_db *db = open_checked(run, path);
    for (uint32_t i = 0; i < VICTIM_WRITERS; i++) {
        uint64_t last = check_writer(run, db, i);
        record->acknowledged[i] = check_last(run, i, last, record->acknowledged[i], false);
        run->acknowledged += record->acknowledged[i];
    }
    uint64_t ingested = check_ingest(run, db);
    if (ingested < record->ingested || ingested > record->ingested + 1)
        die(run, "an acknowledged ingest is lost");
    record->ingested = ingested;
    close_checked(run, path, db);
}

static void check_checkpoint(struct run *run)
{
    char path[PATH_MAX];
    struct victim_record *record = run->record;
    uint64_t number = record->checkpoints;
    if (number == 0)
        return;
    struct bb_db *db = open_checked(run, victim_path(&run->plan, number, path));
    for (uint32_t i = 0; i < VICTIM_WRITERS; i++)
        (void)check_last(run, i, check_writer(run, db, i), record->checkpoint_floor[number % 2][i],
                         true);
    (void)check_ingest(run, db);
    close_checked(run, path, db);
}

/* The files of an unfinished checkpoint can be removed. */
static void remove_copy(const struct run *run, uint64_t number)
{
    char path[PATH_MAX];
    struct stat status;
    if (stat(victim_path(&run->plan, number, path), &status) == 0)
        must(run, bb_db_destroy(path, NULL, NULL), "destroy");
}

static void kill_once(struct run *run)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        victim_run(&run->plan, run->record);
    (void)usleep((useconds_t)(bb_rng_one_in(&run->rng, 3)
                                  ? bb_rng_skewed(&run->rng, MICROSECONDS_MAX)
                                  : bb_rng_below(&run->rng, MICROSECONDS_MAX)));
    if (child < 0 || kill(child, SIGKILL) != 0 || waitpid(child, &status, 0) != child)
        die(run, "the child cannot be killed");
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL || run->record->failures > 0)
        die(run, "the child failed");
    uint64_t last = run->record->checkpoints;
    check_checkpoint(run);
    check_store(run);
    remove_copy(run, last + 1);
    if (last > 1)
        remove_copy(run, last - 1);
}

static void run_store(struct run *run, uint64_t kills)
{
    struct bb_temp_dir directory;
    bb_temp_dir_init(&directory, "kill");
    run->plan.place = directory.path;
    memset(run->record, 0, sizeof(*run->record));
    for (uint64_t i = 0; i < kills; i++, run->kill++) {
        run->plan.seed = run->seed + run->kill;
        kill_once(run);
    }
    run->ingested += run->record->ingested;
    run->checkpoints += run->record->checkpoints;
    bb_temp_dir_deinit(&directory);
}

int main(void)
{
    static struct run run;
    const char *text = getenv("BB_TEST_KILLS");
    uint64_t left = text == NULL ? 12 : strtoull(text, NULL, 10);
    run.seed = bb_rng_seed("writers_test", 1);
    bb_rng_init(&run.rng, run.seed);
    run.record =
        mmap(NULL, sizeof(*run.record), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (run.record == MAP_FAILED)
        abort();
    while (left > 0) {
        uint64_t kills = left < KILLS_PER_STORE ? left : KILLS_PER_STORE;
        run_store(&run, kills);
        left -= kills;
    }
    printf("%" PRIu64 " acknowledged writes were checked, %" PRIu64 " ingests, %" PRIu64
           " checkpoints; %" PRIu64 " tables that no manifest names\n",
           run.acknowledged, run.ingested, run.checkpoints, run.excused);
    printf("count: %" PRIu64 " kills\n", run.kill);
    /* So that a long run has seen them all. */
    return run.kill >= 200 && (run.ingested == 0 || run.checkpoints == 0);
}
