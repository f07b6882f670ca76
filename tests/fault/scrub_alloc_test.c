/* Goal: if a call or an allocation of a scrub fails, in the manifest, the logs or the tables, the
 * scrub fails or succeeds, an error of the device is not called corruption, no block leaks, and the
 * next scrub finds the store sound. Method: a store with two tables and a synced log, scrubbed by
 * its writer and by a read-only store; each call fails in each way, each allocation once and with
 * all later ones.
 */
#include "tests/support/store.h"

#include <errno.h>

#include "tests/support/alloc/alloc_fault.h"
#include "tests/support/file_fault.h"

struct scene {
    struct store store;
    struct bb_file_fault *fault;
    struct bb_db *reader;
    struct bb_db *scrubbed; /* the store's handle or the reader */
};

static void put_keys(struct store *store, int first)
{
    for (int i = first; i < first + 30; i++) {
        char key[16];
        snprintf(key, sizeof(key), "key%07d", i);
        store_put(store, key, "a value that is neither very short nor long");
    }
}

static void open_reader(struct scene *scene)
{
    struct bb_db_options options = scene->store.options;
    options.read_only = true;
    options.create_if_missing = false;
    options.deterministic = false;
    assert_ok(bb_db_open(STORE_PATH, &options, &scene->reader));
}

static void scene_init(struct scene *scene, bool is_reader)
{
    *scene = (struct scene){.reader = NULL};
    store_init(&scene->store);
    scene->fault = bb_file_fault_create(scene->store.options.file_system);
    scene->store.options.file_system = bb_file_fault_system(scene->fault);
    store_open(&scene->store);
    for (int i = 0; i < 3; i++) {
        put_keys(&scene->store, 30 * i);
        if (i < 2)
            assert_ok(bb_db_flush(scene->store.db));
    }
    store_put_synced(&scene->store, "last", "value");
    if (is_reader)
        open_reader(scene);
    scene->scrubbed = is_reader ? scene->reader : scene->store.db;
    assert_ok(bb_db_scrub(scene->scrubbed, NULL, NULL)); /* opens the tables */
}

static void scene_deinit(struct scene *scene)
{
    if (scene->reader != NULL)
        assert_ok(bb_db_close(scene->reader));
    store_close(&scene->store);
    scene->store.options.file_system = bb_file_memory_system(scene->store.memory);
    bb_file_fault_destroy(scene->fault);
    store_deinit(&scene->store);
}

/* No trace of the failure remains. */
static void check_is_sound(struct scene *scene)
{
    struct bb_db_scrub_report report;
    struct bb_db_stats stats;
    assert_ok(bb_db_scrub(scene->scrubbed, NULL, &report));
    assert_int_equal(report.tables, 2);
    assert_int_equal(report.manifests, 1);
    assert_int_equal(report.logs, 1);
    assert_int_equal(report.damaged, 0);
    bb_db_stats(scene->scrubbed, &stats);
    assert_int_equal(stats.damaged_files, 0);
}

/* The number of calls of a scrub that fail in this way. */
static uint64_t sweep_calls(struct scene *scene, struct bb_file_fault_plan plan, uint64_t *failures)
{
    for (plan.nth = 1;; plan.nth++) {
        struct bb_db_scrub_report report;
        bb_file_fault_arm(scene->fault, &plan);
        enum bb_status status = bb_db_scrub(scene->scrubbed, NULL, &report);
        uint64_t hits = bb_file_fault_hits(scene->fault);
        bb_file_fault_disarm(scene->fault);
        if (hits == 0) {
            assert_ok(status);
            return plan.nth - 1;
        }
        *failures += status != BB_OK;
        /* A short or wrong result of a read is like that of a damaged file. */
        if (status != BB_OK && status != BB_IO) {
            assert_int_equal(status, BB_CORRUPT);
            assert_int_not_equal(plan.mode, BB_FILE_FAULT_ERROR);
        }
        assert_true(status == BB_OK || strlen(bb_error_last()->message) > 20);
        check_is_sound(scene);
    }
}

static const struct bb_file_fault_plan plans[] = {
    {.mode = BB_FILE_FAULT_ERROR, .call = BB_FILE_CALL_ANY, .error_number = EIO},
    {.mode = BB_FILE_FAULT_ERROR, .call = BB_FILE_CALL_ANY, .error_number = EMFILE},
    {.mode = BB_FILE_FAULT_ERROR, .call = BB_FILE_CALL_ANY, .error_number = EACCES},
    {.mode = BB_FILE_FAULT_ERROR, .call = BB_FILE_CALL_ANY, .lasting = true},
    {.mode = BB_FILE_FAULT_SHORT_READ, .call = BB_FILE_CALL_READ_AT},
    {.mode = BB_FILE_FAULT_BIT_FLIP, .call = BB_FILE_CALL_READ_AT},
};

static void scrub__each_call_fails(void **state)
{
    (void)state;
    for (int is_reader = 0; is_reader < 2; is_reader++) {
        uint64_t calls = 0;
        uint64_t failures = 0;
        struct scene scene;
        scene_init(&scene, is_reader);
        for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++)
            calls += sweep_calls(&scene, plans[i], &failures);
        assert_true(calls > 200 && failures > 150);
        scene_deinit(&scene);
    }
}

static void sweep_allocations(struct scene *scene, bool lasting, uint64_t *failures)
{
    for (uint64_t nth = 1;; nth++) {
        uint64_t live = bb_alloc_fault_live();
        bb_alloc_fault_arm(nth, lasting);
        enum bb_status status = bb_db_scrub(scene->scrubbed, NULL, NULL);
        uint64_t failed = bb_alloc_fault_failures();
        bb_alloc_fault_disarm();
        assert_int_equal(bb_alloc_fault_live(), live);
        if (failed == 0) {
            assert_ok(status);
            return;
        }
        assert_true(status == BB_OK || status == BB_NO_MEMORY); /* some of it only saves time */
        *failures += status != BB_OK;
        check_is_sound(scene);
    }
}

static void scrub__each_allocation_fails(void **state)
{
    (void)state;
    for (int is_reader = 0; is_reader < 2; is_reader++) {
        uint64_t failures = 0;
        struct scene scene;
        scene_init(&scene, is_reader);
        sweep_allocations(&scene, false, &failures);
        sweep_allocations(&scene, true, &failures);
        assert_true(failures > 200);
        scene_deinit(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scrub__each_call_fails),
        cmocka_unit_test(scrub__each_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
