/* Goal: if any call of the file seam fails, once or permanently, in any way: no crash, no leak, no
 * wrong result; the failure is reported; no acknowledged write is lost, neither after the failure,
 * nor when the process crashes in the middle of it, nor when the power fails; no file is written
 * again after a failed write of it; and after the failure, writing continues without reopening.
 * Method: a workload (tests/fault/script.h) on a file system in memory, run once without failure to
 * count its calls, then again for each call and each way to fail.
 *
 * BB_TEST_FAULT_STRIDE=n tests only every n-th call, from number BB_TEST_SEED on (default: each;
 * every 7th under a sanitizer); BB_TEST_FAULT_CALL=n just one. BB_TEST_FAULT_VARIANT=n draws the
 * store's options from n.
 */
#include "bb/db_files.h"
#include "tests/fault/script.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/file_fault.h"
#include "tests/support/file_memory.h"
#include "tests/support/must_alloc.h"
#include "tests/support/rng.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STRIDE 7
#else
#define STRIDE 1
#endif

struct way {
    const char *name;
    enum bb_file_fault_mode mode;
    bool lasting;
    int error_number;
};

static const struct way ways[] = {
    {"EIO once", BB_FILE_FAULT_ERROR, false, EIO},
    {"EIO from then on", BB_FILE_FAULT_ERROR, true, EIO},
    {"ENOSPC once", BB_FILE_FAULT_ERROR, false, ENOSPC},
    {"ENOSPC from then on", BB_FILE_FAULT_ERROR, true, ENOSPC},
    {"EMFILE once", BB_FILE_FAULT_ERROR, false, EMFILE},
    {"EMFILE from then on", BB_FILE_FAULT_ERROR, true, EMFILE},
    {"EACCES once", BB_FILE_FAULT_ERROR, false, EACCES},
    {"EACCES from then on", BB_FILE_FAULT_ERROR, true, EACCES},
    {"EINTR once", BB_FILE_FAULT_ERROR, false, EINTR},
    {"short write once", BB_FILE_FAULT_SHORT_WRITE, false, ENOSPC},
    {"short write from then on", BB_FILE_FAULT_SHORT_WRITE, true, EIO},
    {"short read once", BB_FILE_FAULT_SHORT_READ, false, 0},
    {"short read from then on", BB_FILE_FAULT_SHORT_READ, true, 0},
    {"bit flip once", BB_FILE_FAULT_BIT_FLIP, false, 0},
    {"bit flip from then on", BB_FILE_FAULT_BIT_FLIP, true, 0},
};

/* The workload's calls of the file system without failures. */
struct baseline {
    enum bb_file_call *calls; /* owned */
    char **paths;             /* owned, each of them too */
    size_t count;
    uint64_t by_call[BB_FILE_CALL_ANY];
};

/* One run with one failure. */
struct run {
    const struct way *way;
    enum bb_file_call call; /* that fails */
    const char *path;       /* of that call */
    bool is_closing;        /* the next call closes that file */
    uint64_t nth;
    struct bb_file_memory *memory;
    struct bb_file_fault *fault;
    struct script script;
};

static uint64_t run_count;
static uint64_t told_count;

static uint64_t number_of(const char *variable, uint64_t fallback)
{
    const char *given = getenv(variable);
    return given == NULL ? fallback : strtoull(given, NULL, 10);
}

static void die(const struct run *run, const char *what)
{
    fprintf(stderr, "file_fault_test: %s, call %" PRIu64 " (%s %s): %s\n", run->way->name, run->nth,
            bb_file_call_name(run->call), run->path == NULL ? "" : run->path, what);
    fprintf(stderr,
            "    replay: BB_TEST_FAULT_VARIANT=%" PRIu64 " BB_TEST_FAULT_CALL=%" PRIu64
            " fault_file_fault_test\n",
            number_of("BB_TEST_FAULT_VARIANT", 0), run->nth);
    exit(1);
}

static void must(const struct run *run, enum bb_status status, const char *what)
{
    char message[1400];
    if (status == BB_OK)
        return;
    snprintf(message, sizeof(message), "%s: %s: %s", what, bb_status_name(status),
             bb_error_last()->message);
    die(run, message);
}

static struct bb_file_memory *create_memory(void)
{
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    if (fs->ops->make_directory(fs, "/data") != BB_OK || fs->ops->sync_directory(fs, "/") != BB_OK)
        abort();
    return memory;
}

static void list_files(struct bb_file_memory *memory)
{
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct bb_file_names names = {0};
    if (fs->ops->list(fs, SCRIPT_PATH, &names) == BB_OK) {
        for (size_t i = 0; i < names.count; i++)
            fprintf(stderr, "    %s\n", names.names[i]);
    }
    bb_file_names_deinit(&names);
}

/* Opens the image on a sound file system, compares and verifies it. */
static void check_image(const struct run *run, struct bb_file_memory *image, enum diary_scope scope,
                        const char *what)
{
    struct bb_db_options options = script_options(bb_file_memory_system(image));
    struct bb_db_verify_report report;
    struct bb_db *db = NULL;
    must(run, bb_db_open(SCRIPT_PATH, &options, &db), what);
    const char *wrong = diary_check(&run->script.diary, db, scope, NULL);
    if (wrong != NULL) {
        fprintf(stderr, "file_fault_test: %s:\n", what);
        die(run, wrong);
    }
    must(run, bb_db_close(db), what);
    /* After a torn manifest only the second opening tidies up. */
    must(run, bb_db_open(SCRIPT_PATH, &options, &db), what);
    must(run, bb_db_close(db), what);
    must(run, bb_db_verify(SCRIPT_PATH, &options, &report), what);
    if (report.orphans != 0) {
        fprintf(stderr, "file_fault_test: %s:\n", what);
        list_files(image);
        die(run, "files of ours are left that nothing refers to");
    }
    bb_file_memory_destroy(image);
}

/* While the failure is there: the process may die, or the power fail. */
static void check_deaths(const struct run *run)
{
    static const struct bb_crash drawn = {
        .bytes = BB_CRASH_BYTES_ANY, .names = BB_CRASH_NAMES_ANY, .seed = 7};
    check_image(run, bb_file_memory_clone(run->memory), DIARY_LIVE,
                "after the death of the process");
    check_image(run, bb_file_memory_crash(run->memory, &(struct bb_crash){0}), DIARY_DURABLE,
                "after the loss of all that was not synced");
    check_image(run, bb_file_memory_crash(run->memory, &drawn), DIARY_DURABLE,
                "after the loss of power");
}

/* Failures of these may be unreported: of closing, and of the mark that a log gets before it, when
 * the log's contents are in a table; of cleanup; of opening, which is retried with a descriptor
 * less, and of a merge's creation of a table, which is retried after others were closed; of a map,
 * without which calls read; and of a wrong read, after which the bytes are read again. */
static bool may_be_silent(const struct run *run)
{
    bool is_read =
        run->way->mode == BB_FILE_FAULT_SHORT_READ || run->way->mode == BB_FILE_FAULT_BIT_FLIP;
    bool is_retried = run->call == BB_FILE_CALL_OPEN || run->call == BB_FILE_CALL_CREATE ||
                      run->call == BB_FILE_CALL_RANDOM;
    return is_read || run->is_closing || run->call == BB_FILE_CALL_CLOSE ||
           run->call == BB_FILE_CALL_REMOVE || run->call == BB_FILE_CALL_MAP ||
           run->call == BB_FILE_CALL_UNLOCK || (is_retried && !run->way->lasting);
}

static void check_told(const struct run *run)
{
    const struct script *script = &run->script;
    if (script->wrong[0] != 0)
        die(run, script->wrong);
    bool is_told =
        script->failure_count > 0 || script->errors_told > 0 || script->damaged_filters > 0;
    if (!is_told && !may_be_silent(run))
        die(run, "nobody was told");
    if (run->way->error_number != 0 && script->failures[BB_CORRUPT] > 0)
        die(run, "a failed call was told of as corruption");
    told_count += script->failure_count > 0;
}

/* The failure has passed: the next write succeeds, on the same store if it is open. */
static void check_goes_on(struct run *run)
{
    struct script *script = &run->script;
    script_open(script);
    if (script->db == NULL)
        must(run, bb_error_last()->status, "opening when the failure had passed");
    uint64_t before = script->failure_count;
    script_put(script, 30, 100, true);
    if (script->failure_count > before)
        must(run, bb_error_last()->status, "writing when the failure had passed");
    const char *wrong = diary_check(&script->diary, script->db, DIARY_LIVE, NULL);
    if (wrong != NULL)
        die(run, wrong);
    script_close(script);
    if (script->failure_count > before)
        must(run, bb_error_last()->status, "closing when the failure had passed");
}

/* Short writes and similar faults count only appends or reads. */
static enum bb_file_call counted_call(const struct way *way)
{
    if (way->mode == BB_FILE_FAULT_ERROR)
        return BB_FILE_CALL_ANY;
    return way->mode == BB_FILE_FAULT_SHORT_WRITE ? BB_FILE_CALL_APPEND : BB_FILE_CALL_READ_AT;
}

static void run_once(struct run *run)
{
    const struct bb_file_fault_plan plan = {.mode = run->way->mode,
                                            .call = counted_call(run->way),
                                            .nth = run->nth,
                                            .lasting = run->way->lasting,
                                            .error_number = run->way->error_number};
    run->memory = create_memory();
    run->fault = bb_file_fault_create(bb_file_memory_system(run->memory));
    script_init(&run->script, bb_file_fault_system(run->fault));
    bb_file_fault_arm(run->fault, &plan);
    script_run(&run->script);
    if (bb_file_fault_hits(run->fault) == 0)
        die(run, "the call was not reached: the workload is not the same in every run");
    check_deaths(run);
    bb_file_fault_disarm(run->fault);
    check_told(run);
    check_goes_on(run);
    if (bb_file_fault_writes_after_failure(run->fault) > 0)
        die(run, "a file was written again after a write of it had failed");
    bb_file_fault_destroy(run->fault);
    check_image(run, bb_file_memory_crash(run->memory, &(struct bb_crash){0}), DIARY_DURABLE,
                "after it had closed in order");
    bb_file_memory_destroy(run->memory);
    script_deinit(&run->script);
    run_count++;
}

static struct baseline record_baseline(void)
{
    static const struct way none = {.name = "no failure"};
    struct run run = {.way = &none, .call = BB_FILE_CALL_ANY, .memory = create_memory()};
    struct baseline baseline = {0};
    run.fault = bb_file_fault_create(bb_file_memory_system(run.memory));
    script_init(&run.script, bb_file_fault_system(run.fault));
    bb_file_fault_log_enable(run.fault, true);
    script_run(&run.script);
    const struct bb_file_fault_record *log = bb_file_fault_log(run.fault, &baseline.count);
    baseline.calls = bb_must_realloc(NULL, baseline.count * sizeof(*baseline.calls));
    baseline.paths = bb_must_alloc_zeroed(baseline.count * sizeof(*baseline.paths));
    for (size_t i = 0; i < baseline.count; i++) {
        baseline.paths[i] = bb_must_strdup(log[i].path == NULL ? "" : log[i].path);
        baseline.calls[i] = log[i].call;
        baseline.by_call[log[i].call]++;
    }
    if (run.script.failure_count > 0 || run.script.wrong[0] != 0)
        die(&run, run.script.wrong[0] != 0 ? run.script.wrong : bb_error_last()->message);
    script_close(&run.script);
    bb_file_fault_destroy(run.fault);
    check_image(&run, bb_file_memory_clone(run.memory), DIARY_LIVE, "without a failure");
    bb_file_memory_destroy(run.memory);
    script_deinit(&run.script);
    return baseline;
}

/* The position of the n-th counted call in the baseline. */
static size_t find_call(const struct baseline *baseline, enum bb_file_call counted, uint64_t nth)
{
    size_t i = 0;
    for (;; i++) {
        nth -= counted == BB_FILE_CALL_ANY || baseline->calls[i] == counted;
        if (nth == 0)
            return i;
    }
}

static void describe_call(struct run *run, const struct baseline *baseline)
{
    size_t i = find_call(baseline, counted_call(run->way), run->nth);
    run->call = baseline->calls[i];
    run->path = baseline->paths[i];
    run->is_closing = i + 1 < baseline->count && baseline->calls[i + 1] == BB_FILE_CALL_CLOSE &&
                      strcmp(baseline->paths[i], baseline->paths[i + 1]) == 0;
}

static void sweep(const struct way *way, const struct baseline *baseline, uint64_t first,
                  uint64_t stride)
{
    enum bb_file_call counted = counted_call(way);
    uint64_t count = counted == BB_FILE_CALL_ANY ? baseline->count : baseline->by_call[counted];
    uint64_t only = number_of("BB_TEST_FAULT_CALL", 0);
    for (uint64_t nth = only != 0 ? only : 1 + first % stride; nth <= count; nth += stride) {
        struct run run = {.way = way, .nth = nth};
        describe_call(&run, baseline);
        run_once(&run);
        if (only != 0)
            break;
    }
}

int main(void)
{
    uint64_t stride = number_of("BB_TEST_FAULT_STRIDE", STRIDE);
    uint64_t first = bb_rng_seed("file_fault_test", 0);
    script_choose_variant(number_of("BB_TEST_FAULT_VARIANT", 0));
    struct baseline baseline = record_baseline();
    printf("%zu calls:", baseline.count);
    for (int call = 0; call < BB_FILE_CALL_ANY; call++) {
        if (baseline.by_call[call] > 0)
            printf(" %s %" PRIu64, bb_file_call_name((enum bb_file_call)call),
                   baseline.by_call[call]);
    }
    printf("\n");
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        sweep(&ways[i], &baseline, first, stride == 0 ? 1 : stride);
    printf("%" PRIu64 " runs with a failure, of which %" PRIu64 " told a caller\n", run_count,
           told_count);
    printf("count: %" PRIu64 " faults\n", run_count);
    for (size_t i = 0; i < baseline.count; i++)
        free(baseline.paths[i]);
    free(baseline.paths);
    free(baseline.calls);
    return 0;
}
