/* Goal: if any allocation fails while indexes are created, built, read and dropped, separately or
 * with all later ones: BB_NO_MEMORY or success, selections with and without indexes agree, no block
 * leaks, and with memory again the same store continues. Method: the workload of
 * tests/fault/index_script.h, for each allocation.
 *
 * BB_TEST_FAULT_STRIDE=n tests only every n-th allocation, from number BB_TEST_SEED on;
 * BB_TEST_FAULT_CALL=n just one.
 */
#include "tests/fault/index_script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/alloc/alloc_fault.h"
#include "tests/support/file_memory.h"
#include "tests/support/rng.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STRIDE 37
#else
#define STRIDE 3
#endif

struct run {
    uint64_t nth;
    bool lasting;
    struct bb_file_memory *memory;
    struct index_script script;
};

static uint64_t run_count;
static uint64_t told_count;

static void die(const struct run *run, const char *what)
{
    fprintf(stderr, "index_alloc_test: allocation %" PRIu64 "%s: %s\n", run->nth,
            run->lasting ? " and all later ones" : "", what);
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

static void init(struct run *run)
{
    run->memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(run->memory);
    must(run, fs->ops->make_directory(fs, "/data"), "preparing");
    must(run, fs->ops->sync_directory(fs, "/"), "preparing");
    run->script.system = fs;
}

static void check_told(const struct run *run)
{
    const struct index_script *script = &run->script;
    if (script->wrong[0] != 0)
        die(run, script->wrong);
    for (unsigned status = 0; status < 16; status++) {
        /* A manifest with an edit in doubt reports that. */
        if (script->failures[status] > 0 && status != BB_NO_MEMORY && status != BB_READ_ONLY)
            die(run, bb_status_name((enum bb_status)status));
    }
    told_count += script->failure_count > 0;
}

static void check_goes_on(struct run *run)
{
    struct index_script *script = &run->script;
    uint64_t before = script->failure_count;
    index_script_open(script);
    if (script->db == NULL)
        must(run, bb_error_last()->status, "opening with memory again");
    index_script_go_on(script);
    uint64_t damaged = script->damaged_indexes;
    index_script_select(script);
    if (script->failure_count > before)
        must(run, bb_error_last()->status, "going on with memory again");
    if (script->damaged_indexes > damaged)
        die(run, "an index is passed over with memory again");
    index_script_close(script);
    if (script->failure_count > before || script->wrong[0] != 0)
        die(run, script->wrong[0] != 0 ? script->wrong : bb_error_last()->message);
}

/* After an opening no unreferenced file remains. */
static void check_files(const struct run *run)
{
    struct bb_db_options options = index_script_options(run->script.system);
    struct bb_db_verify_report report;
    struct bb_db *db = NULL;
    must(run, bb_db_open(INDEX_SCRIPT_PATH, &options, &db), "reopening");
    must(run, bb_db_close(db), "closing again");
    must(run, bb_db_verify(INDEX_SCRIPT_PATH, &options, &report), "verifying");
    if (report.orphans != 0)
        die(run, "files of ours are left that nothing refers to");
}

static void run_once(uint64_t nth, bool lasting)
{
    struct run run = {.nth = nth, .lasting = lasting};
    uint64_t live = bb_alloc_fault_live();
    init(&run);
    bb_alloc_fault_arm(nth, lasting);
    index_script_run(&run.script);
    uint64_t failures = bb_alloc_fault_failures();
    bb_alloc_fault_disarm();
    if (failures == 0)
        die(&run, "the allocation was not reached: the workload is not the same in every run");
    check_told(&run);
    check_goes_on(&run);
    check_files(&run);
    bb_file_memory_destroy(run.memory);
    if (bb_alloc_fault_live() != live)
        die(&run, "memory was not released");
    run_count++;
}

/* How many allocations the workload makes. */
static uint64_t count_requests(void)
{
    struct run run = {.nth = 0};
    init(&run);
    uint64_t before = bb_alloc_fault_requests();
    index_script_run(&run.script);
    uint64_t count = bb_alloc_fault_requests() - before;
    index_script_close(&run.script);
    if (run.script.failure_count > 0 || run.script.wrong[0] != 0)
        die(&run, "fails without a failure");
    bb_file_memory_destroy(run.memory);
    return count;
}

static uint64_t number_of(const char *variable, uint64_t fallback)
{
    const char *given = getenv(variable);
    return given == NULL ? fallback : strtoull(given, NULL, 10);
}

int main(void)
{
    uint64_t stride = number_of("BB_TEST_FAULT_STRIDE", STRIDE);
    uint64_t first = bb_rng_seed("index_alloc_test", 0);
    uint64_t only = number_of("BB_TEST_FAULT_CALL", 0);
    uint64_t count = count_requests();
    stride = stride == 0 ? 1 : stride;
    printf("the workload makes %" PRIu64 " allocations\n", count);
    for (uint64_t nth = only != 0 ? only : 1 + first % stride; nth <= count; nth += stride) {
        run_once(nth, false);
        run_once(nth, true);
        if (only != 0)
            break;
    }
    printf("%" PRIu64 " runs with a failure, of which %" PRIu64 " told a caller\n", run_count,
           told_count);
    return count < 500;
}
