/* Goal: if any allocation fails, separately or with all later ones: BB_NO_MEMORY with a message or
 * success, no crash, no leak, no wrong result, no lost acknowledged write, and the store continues
 * when memory is available again. Method: a workload (tests/fault/script.h) on a file system in
 * memory, run once to count the allocations, then again with the first, second, ... of them
 * failing. The test support uses other memory, which does not fail.
 *
 * BB_TEST_FAULT_STRIDE=n tests only every n-th allocation, from number BB_TEST_SEED on (default:
 * each; every 5th under a sanitizer); BB_TEST_FAULT_CALL=n just one. BB_TEST_FAULT_VARIANT=n draws
 * the store's options from n.
 */
#include "bb/db_files.h"
#include "tests/fault/script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/alloc/alloc_fault.h"
#include "tests/support/file_memory.h"
#include "tests/support/rng.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZER_STRIDE 5
#else
#define SANITIZER_STRIDE 1
#endif

struct run {
    uint64_t nth;
    bool lasting;
    struct bb_file_memory *memory;
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
    fprintf(stderr, "allocation_alloc_test: %s workload, allocation %" PRIu64 "%s: %s\n",
            run->script.is_short ? "short" : "long", run->nth, run->lasting ? " and all later" : "",
            what);
    fprintf(stderr,
            "    replay: BB_TEST_FAULT_VARIANT=%" PRIu64 " BB_TEST_FAULT_CALL=%" PRIu64
            " fault_allocation_alloc_test\n",
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

static void init(struct run *run, bool is_short)
{
    run->memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(run->memory);
    must(run, fs->ops->make_directory(fs, "/data"), "preparing");
    must(run, fs->ops->sync_directory(fs, "/"), "preparing");
    script_init(&run->script, fs);
    run->script.is_short = is_short;
}

static void deinit(struct run *run)
{
    bb_file_memory_destroy(run->memory);
    script_deinit(&run->script);
}

static void check_told(const struct run *run)
{
    const struct script *script = &run->script;
    if (script->wrong[0] != 0)
        die(run, script->wrong);
    for (unsigned status = 0; status < SCRIPT_STATUSES; status++) {
        /* A manifest with an edit in doubt reports that. */
        if (script->failures[status] > 0 && status != BB_NO_MEMORY && status != BB_READ_ONLY)
            die(run, bb_status_name((enum bb_status)status));
    }
    told_count += script->failure_count > 0;
}

/* There is memory again: everything is there, and the next write succeeds. */
static void check_goes_on(struct run *run)
{
    struct script *script = &run->script;
    script_open(script);
    if (script->db == NULL)
        must(run, bb_error_last()->status, "opening with memory again");
    uint64_t before = script->failure_count;
    script_put(script, 30, 100, true);
    if (script->failure_count > before)
        must(run, bb_error_last()->status, "writing with memory again");
    const char *wrong = diary_check(&script->diary, script->db, DIARY_LIVE, NULL);
    if (wrong != NULL)
        die(run, wrong);
    script_close(script);
    if (script->failure_count > before)
        must(run, bb_error_last()->status, "closing with memory again");
}

static void check_image(struct run *run, struct bb_file_memory *image, enum diary_scope scope)
{
    struct bb_db_options options = script_options(bb_file_memory_system(image));
    struct bb_db_verify_report report;
    struct bb_db *db = NULL;
    must(run, bb_db_open(SCRIPT_PATH, &options, &db), "reopening");
    const char *wrong = diary_check(&run->script.diary, db, scope, NULL);
    if (wrong != NULL)
        die(run, wrong);
    must(run, bb_db_close(db), "closing again");
    must(run, bb_db_verify(SCRIPT_PATH, &options, &report), "verifying");
    bb_file_memory_destroy(image);
}

static void run_once(uint64_t nth, bool lasting, bool is_short)
{
    struct run run = {.nth = nth, .lasting = lasting};
    uint64_t live = bb_alloc_fault_live();
    init(&run, is_short);
    bb_alloc_fault_arm(nth, lasting);
    script_run(&run.script);
    uint64_t failures = bb_alloc_fault_failures();
    bb_alloc_fault_disarm();
    if (failures == 0)
        die(&run, "the allocation was not reached: the workload is not the same in every run");
    check_told(&run);
    check_image(&run, bb_file_memory_clone(run.memory), DIARY_LIVE);
    check_goes_on(&run);
    check_image(&run, bb_file_memory_crash(run.memory, &(struct bb_crash){0}), DIARY_DURABLE);
    deinit(&run);
    if (bb_alloc_fault_live() != live)
        die(&run, "memory was not released");
    run_count++;
}

/* How many allocations the workload makes. */
static uint64_t count_requests(bool is_short)
{
    struct run run = {.nth = 0};
    init(&run, is_short);
    uint64_t before = bb_alloc_fault_requests();
    script_run(&run.script);
    uint64_t count = bb_alloc_fault_requests() - before;
    script_close(&run.script);
    if (run.script.failure_count > 0 || run.script.wrong[0] != 0)
        die(&run, "fails without a failure");
    deinit(&run);
    return count;
}

static void sweep(bool is_short, uint64_t first, uint64_t stride)
{
    uint64_t count = count_requests(is_short);
    uint64_t only = number_of("BB_TEST_FAULT_CALL", 0);
    printf("the %s workload makes %" PRIu64 " allocations\n", is_short ? "short" : "long", count);
    if (count < 500)
        exit(1);
    for (uint64_t nth = only != 0 ? only : 1 + first % stride; nth <= count; nth += stride) {
        run_once(nth, false, is_short);
        run_once(nth, true, is_short);
        if (only != 0)
            break;
    }
}

int main(void)
{
    uint64_t stride = number_of("BB_TEST_FAULT_STRIDE", SANITIZER_STRIDE);
    uint64_t first = bb_rng_seed("allocation_alloc_test", 0);
    stride = stride == 0 ? 1 : stride;
    script_choose_variant(number_of("BB_TEST_FAULT_VARIANT", 0));
    sweep(true, first, stride);
    sweep(false, first, stride);
    printf("%" PRIu64 " runs with a failure, of which %" PRIu64 " told a caller\n", run_count,
           told_count);
    printf("count: %" PRIu64 " failing allocations\n", run_count);
    return 0;
}
