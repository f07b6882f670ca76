/* Goal: scrubs run concurrently with writers, compactions, ingests, checkpoints and readers, by
 * calls and on a schedule, without false findings; the schedule finds damage that no other read
 * finds; closing a store does not wait for a scrub.
 * Method: threads, and the file system in memory with its clock. No assertion depends on time;
 * scrub_test checks the rates. */
#include "tests/support/store.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <time.h>

#include "base/file_forward.h"
#include "base/sync.h"

#define ROUNDS 12
#define KEYS   1000

struct scene {
    struct store store;
    _Atomic bool is_over;
    _Atomic int damages;
    _Atomic uint64_t log_records; /* that scrubs have read */
    _Atomic int errors;
};

static void note_event(void *context, const struct bb_event *event)
{
    struct scene *scene = context;
    if (event->kind == BB_EVENT_DAMAGE)
        atomic_fetch_add(&scene->damages, 1);
    if (event->kind == BB_EVENT_ERROR)
        atomic_fetch_add(&scene->errors, 1);
}

static void scene_init(struct scene *scene, uint64_t interval)
{
    *scene = (struct scene){.is_over = false};
    store_init(&scene->store);
    scene->store.options.deterministic = false;
    scene->store.options.scrub_interval_seconds = interval;
    scene->store.options.on_event = note_event;
    scene->store.options.event_context = scene;
}

static void put_keys(struct store *store, int round)
{
    const struct bb_write_options synced = {.sync = true};
    for (int i = 0; i < KEYS; i++) {
        char key[16];
        char value[32];
        snprintf(key, sizeof(key), "key%07d", i * 7 + round);
        snprintf(value, sizeof(value), "value %d of round %d", i, round);
        if (i % 16 != 0)
            store_put(store, key, value);
        else
            assert_ok(
                bb_db_put(store->db, &synced, bb_bytes_of_text(key), bb_bytes_of_text(value)));
    }
}

static void pause_a_while(void)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* ---- concurrent calls ---- */

static void scrub_again_and_again(void *argument)
{
    struct scene *scene = argument;
    struct bb_db_scrub_options options = {.bytes_per_second = 50000000};
    while (!atomic_load(&scene->is_over)) {
        struct bb_db_scrub_report report;
        assert_ok(bb_db_scrub(scene->store.db, &options, &report));
        assert_true(report.next_table == 0 && report.manifests == 1);
        atomic_fetch_add(&scene->log_records, report.log_records);
    }
}

static void look_again_and_again(void *argument)
{
    struct scene *scene = argument;
    while (!atomic_load(&scene->is_over)) {
        struct bb_db_table_list list;
        assert_ok(bb_db_tables(scene->store.db, &list));
        for (size_t i = 0; i < list.count; i++)
            assert_false(list.tables[i].is_damaged);
        bb_db_table_list_deinit(&list);
        assert_int_equal(store_stats(&scene->store).damaged_files, 0);
        pause_a_while();
    }
}

static void ingest_copy(struct store *store, int round)
{
    char directory[32];
    struct bb_db_table_list list;
    snprintf(directory, sizeof(directory), "/data/copy%d", round);
    assert_ok(bb_db_checkpoint(store->db, directory));
    assert_ok(bb_db_tables(store->db, &list));
    if (list.count > 0) {
        const char *path = list.tables[0].path;
        enum bb_status status = bb_db_ingest(store->db, &path, 1, NULL);
        assert_true(status == BB_OK || status == BB_NOT_FOUND || status == BB_BUSY);
    }
    bb_db_table_list_deinit(&list);
    assert_ok(bb_db_destroy(directory, &store->options, NULL));
}

static void scrub__beside_everything_else(void **state)
{
    (void)state;
    struct scene scene;
    struct bb_thread threads[3];
    scene_init(&scene, 1);
    store_open(&scene.store);
    put_keys(&scene.store, 0);
    assert_ok(bb_thread_create(&threads[0], scrub_again_and_again, &scene));
    assert_ok(bb_thread_create(&threads[1], scrub_again_and_again, &scene));
    assert_ok(bb_thread_create(&threads[2], look_again_and_again, &scene));
    for (int round = 1; round <= ROUNDS; round++) {
        put_keys(&scene.store, round);
        if (round % 3 == 0)
            assert_ok(bb_db_compact(scene.store.db));
        if (round % 4 == 0)
            ingest_copy(&scene.store, round);
    }
    /* The schedule has had its turn too, and the log has records. */
    store_put(&scene.store, "last", "value");
    while (store_stats(&scene.store).scrubs < 3 || atomic_load(&scene.log_records) == 0)
        pause_a_while();
    atomic_store(&scene.is_over, true);
    for (int i = 0; i < 3; i++)
        bb_thread_join(&threads[i]);
    assert_int_equal(atomic_load(&scene.damages), 0);
    assert_int_equal(atomic_load(&scene.errors), 0);
    scene.store.options.scrub_interval_seconds = 0;
    store_deinit(&scene.store);
}

/* ---- on a schedule ---- */

/* The thread waits in real time, but measures with the file system's clock. */
static void let_time_pass(struct scene *scene)
{
    bb_file_memory_advance(scene->store.memory, 10000000);
    pause_a_while();
}

static void scrub__schedule_finds_damage_that_nobody_reads(void **state)
{
    (void)state;
    struct scene scene;
    struct bb_db_table_list list;
    size_t size = 0;
    scene_init(&scene, 1);
    scene.store.options.deterministic = true;
    scene.store.options.scrub_interval_seconds = 0;
    store_open(&scene.store);
    for (int round = 0; round < ROUNDS; round++)
        put_keys(&scene.store, round);
    assert_ok(bb_db_compact(scene.store.db));
    assert_ok(bb_db_tables(scene.store.db, &list));
    assert_true(list.count > 3);
    store_close(&scene.store);
    bb_file_memory_bytes(scene.store.memory, list.tables[2].path, &size)[60] ^= 1;

    scene.store.options.deterministic = false;
    scene.store.options.scrub_interval_seconds = 1;
    store_open(&scene.store);
    while (atomic_load(&scene.damages) == 0)
        let_time_pass(&scene);
    while (store_stats(&scene.store).scrubs == 0)
        let_time_pass(&scene);
    assert_int_equal(store_stats(&scene.store).damaged_files, 1);
    store_close(&scene.store);
    bb_file_memory_bytes(scene.store.memory, list.tables[2].path, &size)[60] ^= 1;
    bb_db_table_list_deinit(&list);
    store_deinit(&scene.store);
}

/* ---- closing ---- */

static bool note_begin(void *context, const struct bb_db_scrub_report *so_far)
{
    (void)so_far;
    atomic_store(&((struct scene *)context)->is_over, true);
    return true;
}

/* The clock does not advance during a sleep: a scrub at one byte per second never ends. */
static void sleep_not(struct bb_file_system *fs, uint64_t nanoseconds)
{
    (void)fs, (void)nanoseconds;
    pause_a_while();
}

static void scrub_slowly(void *argument)
{
    struct scene *scene = argument;
    struct bb_db_scrub_options options = {
        .bytes_per_second = 1, .on_progress = note_begin, .progress_context = scene};
    assert_status(bb_db_scrub(scene->store.db, &options, NULL), BB_BUSY);
    assert_message("closed");
}

static void scrub__closing_does_not_wait(void **state)
{
    (void)state;
    struct scene scene;
    struct bb_thread thread;
    struct bb_file_forward still;
    scene_init(&scene, 1000000000);
    bb_file_forward_init(&still, scene.store.options.file_system);
    still.ops.sleep = sleep_not;
    scene.store.options.file_system = &still.base;
    scene.store.options.write_buffer_bytes = 4 << 20;
    scene.store.options.table_size_bytes = 4 << 20;
    store_open(&scene.store);
    for (int round = 0; round < 40; round++)
        put_keys(&scene.store, round);
    assert_ok(bb_db_compact(scene.store.db));
    assert_ok(bb_thread_create(&thread, scrub_slowly, &scene));
    while (!atomic_load(&scene.is_over))
        pause_a_while();
    store_close(&scene.store);
    bb_thread_join(&thread);
    scene.store.options.scrub_interval_seconds = 0;
    store_deinit(&scene.store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scrub__beside_everything_else),
        cmocka_unit_test(scrub__schedule_finds_damage_that_nobody_reads),
        cmocka_unit_test(scrub__closing_does_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
