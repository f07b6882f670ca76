/* Goal: if any call of the file seam fails while indexes are created, built, read and dropped, once
 * or permanently: the failure is reported or counted, selections with and without indexes agree, no
 * index file is damaged or orphaned, and after the failure the same store continues and builds all
 * of its indexes. The same when the disk is full, at many sizes. Method: a workload
 * (tests/fault/index_script.h) on a file system in memory, run once without failure to count its
 * calls, then again for each call and each way to fail.
 *
 * BB_TEST_FAULT_STRIDE=n tests only every n-th call, from number BB_TEST_SEED on (default: each;
 * every 7th under a sanitizer); BB_TEST_FAULT_CALL=n just one.
 */
#include "tests/fault/index_script.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/file_fault.h"
#include "tests/support/file_memory.h"
#include "tests/support/rng.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STRIDE 7
#else
#define STRIDE 1
#endif

/* Of the sizes of disks that are tried. */
#define SPACE_STEP 150

struct way {
    const char *name;
    enum bb_file_fault_mode mode;
    bool lasting;
    int error_number;
};

static const struct way ways[] = {
    {"EIO once", BB_FILE_FAULT_ERROR, false, EIO},
    {"EIO from then on", BB_FILE_FAULT_ERROR, true, EIO},
    {"ENOSPC from then on", BB_FILE_FAULT_ERROR, true, ENOSPC},
    {"short write once", BB_FILE_FAULT_SHORT_WRITE, false, ENOSPC},
    {"short read once", BB_FILE_FAULT_SHORT_READ, false, 0},
    {"bit flip once", BB_FILE_FAULT_BIT_FLIP, false, 0},
    {"bit flip from then on", BB_FILE_FAULT_BIT_FLIP, true, 0},
};

struct run {
    const char *name;
    uint64_t nth;
    enum bb_file_call call; /* that failed */
    bool is_of_copy;        /* of a file of the checkpoint */
    struct bb_file_memory *memory;
    struct index_script script;
};

static uint64_t run_count;
static uint64_t told_count;

static void die(const struct run *run, const char *what)
{
    fprintf(stderr, "index_fault_test: %s, number %" PRIu64 " (%s): %s\n", run->name, run->nth,
            bb_file_call_name(run->call), what);
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

/* ---- afterwards ---- */

static void list_files(struct bb_file_system *system)
{
    struct bb_file_names names = {0};
    if (system->ops->list(system, INDEX_SCRIPT_PATH, &names) == BB_OK) {
        for (size_t i = 0; i < names.count; i++)
            fprintf(stderr, "    %s\n", names.names[i]);
    }
    bb_file_names_deinit(&names);
}

static void verify(const struct run *run, struct bb_file_system *system, const char *what)
{
    struct bb_db_options options = index_script_options(system);
    struct bb_db_verify_report report;
    must(run, bb_db_verify(INDEX_SCRIPT_PATH, &options, &report), what);
    if (report.orphans == 0)
        return;
    list_files(system);
    die(run, "files of ours are left that nothing refers to");
}

/* The image on a sound file system: no file is damaged, and selections agree. */
static void check_image(const struct run *run, struct bb_file_memory *image, const char *what)
{
    struct index_script script = {.system = bb_file_memory_system(image), .failure_count = 1};
    for (int i = 0; i < 2; i++) { /* after a torn manifest only the second opening tidies up */
        index_script_open(&script);
        if (script.db == NULL)
            must(run, bb_error_last()->status, what);
        index_script_select(&script);
        index_script_close(&script);
    }
    if (script.wrong[0] != 0 || script.failure_count > 1)
        die(run, script.wrong[0] != 0 ? script.wrong : bb_error_last()->message);
    if (script.damaged_indexes > 0)
        die(run, "an index file that the manifest names is damaged");
    verify(run, script.system, what);
    bb_file_memory_destroy(image);
}

static void check_deaths(const struct run *run)
{
    static const struct bb_crash drawn = {
        .bytes = BB_CRASH_BYTES_ANY, .names = BB_CRASH_NAMES_ANY, .seed = 7};
    check_image(run, bb_file_memory_clone(run->memory), "after the death of the process");
    check_image(run, bb_file_memory_crash(run->memory, &(struct bb_crash){0}),
                "after the loss of all that was not synced");
    check_image(run, bb_file_memory_crash(run->memory, &drawn), "after the loss of power");
}

/* After the failure: the store, if it is open, writes and builds missing indexes. */
static void check_goes_on(struct run *run)
{
    struct index_script *script = &run->script;
    uint64_t before = script->failure_count;
    index_script_open(script);
    if (script->db == NULL)
        must(run, bb_error_last()->status, "opening when the failure had passed");
    index_script_go_on(script);
    if (script->failure_count > before)
        must(run, bb_error_last()->status, "going on when the failure had passed");
    uint64_t damaged = script->damaged_indexes;
    index_script_select(script);
    if (script->damaged_indexes > damaged)
        die(run, "an index is passed over when the failure has passed");
    index_script_close(script);
    if (script->failure_count > before)
        must(run, bb_error_last()->status, "closing when the failure had passed");
    if (script->wrong[0] != 0)
        die(run, script->wrong);
}

/* ---- single calls ---- */

/* Failures of these may be unreported: of closing, of cleanup, of the mark that a file gets before
 * it is closed, of a map, without which a file is read, of a wrong read, after which the bytes are
 * read again, and of the first of two reads of a store that is removed. */
static bool may_be_silent(const struct run *run, const struct way *way)
{
    bool is_read = way->mode == BB_FILE_FAULT_SHORT_READ || way->mode == BB_FILE_FAULT_BIT_FLIP;
    bool is_look = run->is_of_copy && run->call == BB_FILE_CALL_READ_AT && !way->lasting;
    return is_read || is_look || run->call == BB_FILE_CALL_CLOSE || run->call == BB_FILE_CALL_MAP ||
           run->call == BB_FILE_CALL_REMOVE || run->call == BB_FILE_CALL_UNLOCK ||
           run->call == BB_FILE_CALL_APPEND || (run->call == BB_FILE_CALL_OPEN && !way->lasting);
}

static void check_told(const struct run *run, const struct way *way)
{
    const struct index_script *script = &run->script;
    if (script->wrong[0] != 0)
        die(run, script->wrong);
    bool is_told = script->failure_count > 0 || script->errors_told > 0 ||
                   script->damaged_indexes > 0 || script->damaged_filters > 0;
    if (!is_told && !may_be_silent(run, way))
        die(run, "the failure was not told");
    if (way->error_number != 0 && script->failures[BB_CORRUPT] > 0)
        die(run, "a failed call was told of as corruption");
    told_count += is_told;
}

static enum bb_file_call counted_call(const struct way *way)
{
    if (way->mode == BB_FILE_FAULT_ERROR)
        return BB_FILE_CALL_ANY;
    return way->mode == BB_FILE_FAULT_SHORT_WRITE ? BB_FILE_CALL_APPEND : BB_FILE_CALL_READ_AT;
}

static void run_once(struct run *run, const struct way *way)
{
    const struct bb_file_fault_plan plan = {.mode = way->mode,
                                            .call = counted_call(way),
                                            .nth = run->nth,
                                            .lasting = way->lasting,
                                            .error_number = way->error_number};
    run->memory = create_memory();
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(run->memory));
    run->script.system = bb_file_fault_system(fault);
    bb_file_fault_arm(fault, &plan);
    index_script_run(&run->script);
    if (bb_file_fault_hits(fault) == 0)
        die(run, "the call was not reached: the workload is not the same in every run");
    check_deaths(run);
    bb_file_fault_disarm(fault);
    check_told(run, way);
    check_goes_on(run);
    if (bb_file_fault_writes_after_failure(fault) > 0)
        die(run, "a file was written again after a write of it had failed");
    bb_file_fault_destroy(fault);
    check_image(run, bb_file_memory_crash(run->memory, &(struct bb_crash){0}),
                "after it had closed in order");
    bb_file_memory_destroy(run->memory);
    run_count++;
}

/* The workload's calls of the file system without failures. */
struct baseline {
    enum bb_file_call *calls; /* owned */
    bool *are_of_copy;        /* owned */
    size_t count;
};

static struct baseline record_baseline(void)
{
    struct run run = {.name = "no failure", .memory = create_memory()};
    struct baseline baseline = {0};
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(run.memory));
    run.script.system = bb_file_fault_system(fault);
    bb_file_fault_log_enable(fault, true);
    index_script_run(&run.script);
    const struct bb_file_fault_record *log = bb_file_fault_log(fault, &baseline.count);
    baseline.calls = calloc(baseline.count, sizeof(*baseline.calls));
    baseline.are_of_copy = calloc(baseline.count, sizeof(*baseline.are_of_copy));
    for (size_t i = 0; i < baseline.count; i++) {
        baseline.calls[i] = log[i].call;
        baseline.are_of_copy[i] =
            log[i].path != NULL && strstr(log[i].path, INDEX_SCRIPT_COPY_PATH) != NULL;
    }
    if (run.script.failure_count > 0 || run.script.wrong[0] != 0)
        die(&run, run.script.wrong[0] != 0 ? run.script.wrong : bb_error_last()->message);
    if (run.script.damaged_indexes > 0 || run.script.selections < 20)
        die(&run, "the workload does not select as it should");
    index_script_close(&run.script);
    bb_file_fault_destroy(fault);
    check_image(&run, bb_file_memory_clone(run.memory), "without a failure");
    bb_file_memory_destroy(run.memory);
    return baseline;
}

static uint64_t number_of(const char *variable, uint64_t fallback)
{
    const char *given = getenv(variable);
    return given == NULL ? fallback : strtoull(given, NULL, 10);
}

static void sweep(const struct way *way, const struct baseline *baseline, uint64_t first,
                  uint64_t stride)
{
    enum bb_file_call counted = counted_call(way);
    uint64_t only = number_of("BB_TEST_FAULT_CALL", 0);
    uint64_t nth = 0;
    for (size_t i = 0; i < baseline->count; i++) {
        if (counted != BB_FILE_CALL_ANY && baseline->calls[i] != counted)
            continue;
        nth++;
        if (only != 0 ? nth != only : (nth + first) % stride != 0)
            continue;
        struct run run = {.name = way->name,
                          .nth = nth,
                          .call = baseline->calls[i],
                          .is_of_copy = baseline->are_of_copy[i]};
        run_once(&run, way);
    }
}

/* ---- a full disk ---- */

/* Returns whether space ran out. */
static bool fill_disk(uint64_t space)
{
    struct run run = {.name = "a full disk", .nth = space, .memory = create_memory()};
    run.script.system = bb_file_memory_system(run.memory);
    bb_file_memory_set_space(run.memory, space);
    index_script_run(&run.script);
    bool is_full = run.script.failures[BB_NO_SPACE] > 0;
    if (run.script.wrong[0] != 0)
        die(&run, run.script.wrong);
    if (run.script.failures[BB_CORRUPT] + run.script.damaged_indexes > 0)
        die(&run, "a full disk was told of as damage");
    struct bb_file_memory *image = bb_file_memory_clone(run.memory);
    bb_file_memory_set_space(image, 0);
    check_image(&run, image, "after the death of the process, with space again");
    bb_file_memory_set_space(run.memory, 0);
    check_goes_on(&run);
    check_image(&run, bb_file_memory_clone(run.memory), "after space was there again");
    bb_file_memory_destroy(run.memory);
    run_count++;
    return is_full;
}

int main(void)
{
    uint64_t stride = number_of("BB_TEST_FAULT_STRIDE", STRIDE);
    uint64_t first = bb_rng_seed("index_fault_test", 0);
    struct baseline baseline = record_baseline();
    printf("%zu calls\n", baseline.count);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        sweep(&ways[i], &baseline, first, stride == 0 ? 1 : stride);
    free(baseline.calls);
    free(baseline.are_of_copy);
    bool is_full = true;
    uint64_t sizes = 0;
    for (uint64_t space = 2000; is_full; space += SPACE_STEP * (stride == 0 ? 1 : stride)) {
        is_full = fill_disk(space);
        sizes++;
    }
    printf("%" PRIu64 " runs with a failure, of which %" PRIu64 " were told; %" PRIu64
           " sizes of disks\n",
           run_count, told_count, sizes);
    return 0;
}
