/* Goal: on a full disk writes are refused with BB_NO_SPACE, reads continue, no acknowledged write
 * is lost, retries are cheap, and when space is available writing resumes without reopening.
 * Method: a file system in memory whose space ends at many different places, during logs, tables,
 * manifests and recovery; then more space. */
#include "tests/support/store.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/sync.h"
#include "kv/store/store.h"
#include "tests/support/file_fault.h"

#define VALUE_SIZE 900

static char *value_of(int i, char value[VALUE_SIZE + 1])
{
    memset(value, 'a' + i % 26, VALUE_SIZE);
    value[VALUE_SIZE] = 0;
    snprintf(value, VALUE_SIZE, "%d", i);
    value[strlen(value)] = '.';
    return value;
}

static enum bb_status put(struct store *store, int i)
{
    char key[16];
    char value[VALUE_SIZE + 1];
    snprintf(key, sizeof(key), "%06d", i * 7919 % 100000);
    return bb_db_put(store->db, NULL, bb_bytes_of_text(key), bb_bytes_of_text(value_of(i, value)));
}

static void assert_has(struct store *store, int count)
{
    char key[16];
    char value[VALUE_SIZE + 1];
    for (int i = 0; i < count; i++) {
        snprintf(key, sizeof(key), "%06d", i * 7919 % 100000);
        assert_get(store, key, value_of(i, value));
    }
}

/* Writes until it is refused; how many were acknowledged. */
static int fill_up(struct store *store)
{
    int count = 0;
    enum bb_status status = BB_OK;
    while (status == BB_OK) {
        status = put(store, count);
        count += status == BB_OK;
        assert_true(count < 100000);
    }
    assert_status(status, BB_NO_SPACE);
    assert_true(bb_error_last()->message[0] != 0);
    return count;
}

/* Every refusal has the right reason and is cheap. */
static void assert_refused(struct store *store, int count)
{
    for (int i = 0; i < 5; i++) {
        uint64_t before = bb_file_memory_calls(store->memory);
        enum bb_status status = put(store, count + i);
        if (status == BB_OK) /* it fits since the file of a failed attempt was removed */
            continue;
        assert_true(status == BB_NO_SPACE || status == BB_READ_ONLY);
        assert_true(bb_file_memory_calls(store->memory) - before < 60);
    }
}

static void full_and_free_again(uint64_t space)
{
    struct store store;
    store_init(&store);
    store.options.compression = BB_COMPRESSION_NONE;
    store_open(&store);
    bb_file_memory_set_space(store.memory, space);
    int count = fill_up(&store);
    assert_refused(&store, count);
    assert_int_equal(store_count_files(&store, "MANIFEST-"), 1); /* none of failed attempts */
    assert_has(&store, count);
    bb_file_memory_set_space(store.memory, 0);
    assert_status(put(&store, count), BB_OK);
    assert_has(&store, count + 1);
    store_kill(&store);
    assert_has(&store, count + 1);
    store_deinit(&store);
}

static void full_disk__writing_resumes(void **state)
{
    (void)state;
    for (uint64_t space = 2000; space < 700000; space += space < 100000 ? 3001 : 20011)
        full_and_free_again(space);
}

static uint64_t space_left(struct store *store)
{
    struct bb_file_system *fs = bb_file_memory_system(store->memory);
    uint64_t left = 0;
    assert_ok(fs->ops->free_space(fs, "/", &left));
    return left;
}

/* Regression: a store that had filled its disk could not be opened for writing, since recovery
 * needs space too. It opens, can be read, refuses writes, changes nothing, and the first write
 * after space is available succeeds. */
static void full_disk__opening_can_wait(void **state)
{
    (void)state;
    int waited = 0;
    for (uint64_t space = 30000; space < 400000; space += 18501) {
        struct store store;
        struct bb_db_iter *iter = NULL;
        store_init(&store);
        store.options.compression = BB_COMPRESSION_NONE;
        store.options.deterministic = space % 2 == 0;
        store_open(&store);
        bb_file_memory_set_space(store.memory, space);
        int count = fill_up(&store);
        store_die_on_full_disk(&store, space);
        for (int i = 0; i < 3; i++) {
            uint64_t left = space_left(&store);
            store_open(&store);
            assert_has(&store, count);
            enum bb_status status = bb_db_flush(store.db);
            if (status != BB_OK) {
                assert_status(status, BB_NO_SPACE);
                assert_status(bb_db_wait_idle(store.db), BB_NO_SPACE);
                assert_status(bb_db_compact(store.db), BB_NO_SPACE);
                assert_int_equal(space_left(&store), left); /* no unneeded file remains */
                waited++;
            }
            assert_has(&store, count);
            (void)!bb_db_close(store.db);
            store.db = NULL;
        }
        store_open(&store);
        struct bb_snapshot *snapshot = store_snapshot(&store);
        assert_ok(bb_db_iter_create(store.db, NULL, &iter));
        bb_db_iter_seek_first(iter);
        bb_file_memory_set_space(store.memory, 0);
        assert_ok(put(&store, count));
        assert_has(&store, count + 1);
        int found = 0;
        for (; bb_db_iter_valid(iter); bb_db_iter_next(iter))
            found++;
        assert_ok(bb_db_iter_status(iter));
        assert_true(found >= count); /* from before: without later puts */
        assert_true(found <= count + 5);
        bb_db_iter_destroy(iter);
        bb_snapshot_release(store.db, snapshot);
        assert_ok(bb_db_compact(store.db));
        store_kill(&store);
        assert_has(&store, count + 1);
        store_deinit(&store);
    }
    assert_true(waited > 10);
}

/* The power fails when all is closed, which is durable. */
static void store_cut_power_closed(struct store *store)
{
    struct bb_file_memory *image = bb_file_memory_crash(store->memory, &(struct bb_crash){0});
    store_replace_disk(store, image);
    store_open(store);
}

/* A crashed store with tables and with 50 puts in its log, whose disk fills up at a call of the
 * opening. False if there is no such call. */
static bool open_on_full_disk(enum bb_file_call call, uint64_t nth, uint64_t *waited)
{
    struct store store;
    store_init(&store);
    store_open(&store);
    for (int i = 0; i < 150; i++) {
        assert_ok(put(&store, i));
        if (i == 100)
            assert_ok(bb_db_flush(store.db));
    }
    store_die_on_full_disk(&store, 0);
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(store.memory));
    store.options.file_system = bb_file_fault_system(fault);
    bb_file_fault_arm(fault,
                      &(struct bb_file_fault_plan){
                          .call = call, .nth = nth, .lasting = true, .error_number = ENOSPC});
    enum bb_status status = bb_db_open(STORE_PATH, &store.options, &store.db);
    bool was_hit = bb_file_fault_hits(fault) > 0;
    if (status != BB_OK) { /* CURRENT was replaced already */
        assert_status(status, BB_NO_SPACE);
        assert_int_equal(call, BB_FILE_CALL_SYNC_DIRECTORY);
    } else if (was_hit) {
        assert_has(&store, 150);
        assert_status(put(&store, 150), BB_NO_SPACE);
        assert_has(&store, 150);
        ++*waited;
    }
    bb_file_fault_disarm(fault);
    if (status != BB_OK)
        store_open(&store);
    assert_ok(put(&store, 150));
    assert_has(&store, 151);
    store_close(&store);
    bb_file_fault_destroy(fault);
    store.options.file_system = bb_file_memory_system(store.memory);
    store_cut_power_closed(&store);
    assert_has(&store, 151);
    store_deinit(&store);
    return was_hit;
}

static void full_disk__at_each_call_of_an_opening(void **state)
{
    (void)state;
    static const enum bb_file_call calls[] = {BB_FILE_CALL_CREATE, BB_FILE_CALL_APPEND,
                                              BB_FILE_CALL_SYNC, BB_FILE_CALL_SYNC_DIRECTORY,
                                              BB_FILE_CALL_RENAME};
    uint64_t waited = 0;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        bool was_hit = true;
        for (uint64_t nth = 1; was_hit; nth++)
            was_hit = open_on_full_disk(calls[i], nth, &waited);
    }
    assert_true(waited >= 12); /* a table, a log, a manifest, CURRENT */
}

/* A full disk at an orderly close: it is reported, and acknowledged writes are present
 * afterwards. */
static void full_disk__closing(void **state)
{
    (void)state;
    for (uint64_t space = 5000; space < 300000; space += 29501) {
        struct store store;
        store_init(&store);
        store_open(&store);
        bb_file_memory_set_space(store.memory, space);
        int count = fill_up(&store);
        enum bb_status status = bb_db_close(store.db);
        store.db = NULL;
        bool was_durable = status == BB_OK;
        if (status != BB_OK)
            assert_status(status, BB_NO_SPACE);
        bb_file_memory_set_space(store.memory, 0);
        if (was_durable)
            store_replace_disk(&store, bb_file_memory_crash(store.memory, &(struct bb_crash){0}));
        store_open(&store);
        assert_has(&store, count);
        store_deinit(&store);
    }
}

/* The store's thread notices available space, and lets writers continue. */
static void full_disk__resumes_in_the_background(void **state)
{
    (void)state;
    for (uint64_t space = 80000; space < 300000; space += 70001) {
        struct store store;
        struct timespec pause = {.tv_nsec = 10000000};
        store_init(&store);
        store.options.deterministic = false;
        store.options.compression = BB_COMPRESSION_NONE;
        store_open(&store);
        bb_file_memory_set_space(store.memory, space);
        int count = fill_up(&store);
        assert_has(&store, count);
        bb_file_memory_set_space(store.memory, 0);
        enum bb_status status = put(&store, count);
        for (int i = 0; i < 6000 && status != BB_OK; i++) {
            assert_true(status == BB_NO_SPACE || status == BB_READ_ONLY);
            (void)nanosleep(&pause, NULL);
            status = put(&store, count);
        }
        assert_status(status, BB_OK);
        assert_ok(bb_db_flush(store.db));
        assert_has(&store, count + 1);
        store_deinit(&store);
    }
}

/* Regression: later calls got the failure of an earlier attempt, for up to the 10 seconds that the
 * store's threads rest after some failures. */
static void full_disk__no_refusal_is_stale(void **state)
{
    (void)state;
    for (uint64_t space = 80000; space < 700000; space += 70001) {
        struct store store;
        store_init(&store);
        store.options.deterministic = false;
        store.options.compression = BB_COMPRESSION_NONE;
        store_open(&store);
        bb_file_memory_set_space(store.memory, space);
        int count = fill_up(&store);
        for (int i = 0; i < 8; i++) /* longer and longer rests */
            if (put(&store, count) == BB_OK)
                count++;
        (void)!bb_db_compact(store.db);
        bb_file_memory_set_space(store.memory, 0);
        assert_ok(put(&store, count));
        assert_ok(bb_db_flush(store.db));
        assert_ok(bb_db_compact(store.db));
        assert_ok(bb_db_wait_idle(store.db));
        assert_has(&store, count + 1);
        store_deinit(&store);
    }
}

/* Regression: where everything is done by the caller, a compaction that does not fit refused
 * writes, though there was space for many more. */
static void full_disk__compactions_that_do_not_fit(void **state)
{
    (void)state;
    for (uint64_t space = 200000; space < 1000000; space += 90001) {
        struct store store;
        store_init(&store);
        store.options.compression = BB_COMPRESSION_NONE;
        store.options.table_size_bytes = 1 << 20; /* outputs are as large as their inputs */
        store.options.level1_size_bytes = 4 << 20;
        store.options.level0_run_count_stop = 64;
        store_open(&store);
        bb_file_memory_set_space(store.memory, space);
        int count = fill_up(&store);
        /* A log and the table that it becomes are there twice for a while. */
        assert_true(space_left(&store) < 2 * store.options.write_buffer_bytes);
        assert_has(&store, count);
        store_deinit(&store);
    }
}

/* Regression: after everything was deleted the first compaction got an earlier one's failure. */
static void full_disk__compaction_after_deleting_everything(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct store store;
        uint64_t space = 150000 + (uint64_t)(i / 2) * 70001;
        store_init(&store);
        store.options.deterministic = i % 2 == 0;
        store.options.compression = BB_COMPRESSION_NONE;
        store_open(&store);
        bb_file_memory_set_space(store.memory, space);
        int count = fill_up(&store);
        (void)!bb_db_compact(store.db);
        /* Space for the memory's contents, and little more. */
        bb_file_memory_set_space(store.memory, space + 3 * store.options.write_buffer_bytes);
        assert_ok(bb_db_delete_range(store.db, NULL, bb_bytes_of_text("0"), bb_bytes_of_text("a")));
        assert_ok(bb_db_compact(store.db));
        assert_true(space_left(&store) > space);
        for (int k = 0; k < count / 2; k++)
            assert_ok(put(&store, k));
        assert_has(&store, count / 2);
        store_deinit(&store);
    }
}

/* A merge that has taken the last space for its output, and is held there until a write waits for
 * it, or is over. */
struct last_space {
    struct bb_db *db;
    /* The test takes the space, and the merge is held at a sync. Otherwise the merge is held when
     * it creates its second output, and the space is taken then. */
    bool is_later;
    struct bb_thread thread;
    int created; /* outputs of the merge */
    _Atomic bool is_held;
    _Atomic bool is_over;    /* the write */
    _Atomic bool is_stopped; /* the merge, for the write */
    _Atomic int removed;     /* outputs, for the write */
    _Atomic int unseen;      /* of these, removed while is_merging was false */
    enum bb_status status;
};

static bool is_wanted(struct last_space *space)
{
    bb_mutex_lock(&space->db->mutex);
    bool is_wanted = space->db->yield_count > 0;
    bb_mutex_unlock(&space->db->mutex);
    return is_wanted || space->is_over;
}

/* Half of VALUE_SIZE is less than a put needs. */
static void leave(struct bb_file_memory *memory, uint64_t bytes)
{
    struct bb_file_system *fs = bb_file_memory_system(memory);
    uint64_t left = 0;
    bb_file_memory_set_space(memory, 1 << 30);
    assert_ok(fs->ops->free_space(fs, "/", &left));
    bb_file_memory_set_space(memory, (1 << 30) - left + bytes);
}

static void note_removal(struct last_space *space)
{
    bb_mutex_lock(&space->db->mutex);
    space->removed += space->db->yield_count > 0;
    space->unseen += space->db->yield_count > 0 && !space->db->is_merging;
    bb_mutex_unlock(&space->db->mutex);
}

static enum bb_status take_last_space(void *context, struct bb_file_memory *memory, uint64_t number,
                                      enum bb_file_call call, const char *path)
{
    struct last_space *space = context;
    (void)number;
    if (call == BB_FILE_CALL_REMOVE && strstr(path, ".bbt") != NULL)
        note_removal(space);
    bool is_of_table = strstr(path, ".bbt") != NULL;
    space->created += is_of_table && call == BB_FILE_CALL_CREATE;
    bool is_there =
        space->is_later ? is_of_table && call == BB_FILE_CALL_SYNC : space->created == 2;
    if (space->is_held || !is_there)
        return BB_OK;
    if (!space->is_later)
        leave(memory, VALUE_SIZE / 2);
    space->is_held = true;
    while (!is_wanted(space))
        (void)sched_yield();
    space->is_stopped = !space->is_over;
    return BB_OK;
}

static void compact_in_thread(void *argument)
{
    struct last_space *space = argument;
    space->status = bb_db_compact(space->db);
}

/* Without space for the next log. */
static enum bb_status flush_a_put(struct store *store)
{
    store_put(store, "a", "");
    leave(store->memory, 1);
    return bb_db_flush(store->db);
}

static void check_gets_the_space(bool is_flush)
{
    struct store store;
    struct bb_db *none = NULL;
    store_init(&store);
    store.options.compression = BB_COMPRESSION_NONE;
    store.options.deterministic = false;
    store.options.level0_run_count_compact = 8;
    store.options.level0_run_count_busy = 8;
    store.options.level0_run_count_stop = 20;
    store_open(&store);
    for (int i = 0; i < 120; i++) {
        assert_ok(put(&store, i));
        if (i % 40 == 39)
            assert_ok(bb_db_flush(store.db));
    }
    assert_ok(bb_db_wait_idle(store.db)); /* the removal of a log gives space */
    struct last_space space = {.db = store.db};
    bb_file_memory_set_hook(store.memory, take_last_space, &space);
    assert_ok(bb_thread_create(&space.thread, compact_in_thread, &space));
    while (!space.is_held)
        (void)sched_yield();
    assert_status(bb_db_open("", NULL, &none), BB_INVALID);
    enum bb_status status = is_flush ? flush_a_put(&store) : put(&store, 120);
    enum bb_status latest = bb_error_last()->status;
    space.is_over = true;
    bb_file_memory_set_space(store.memory, 0);
    bb_thread_join(&space.thread);
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    assert_status(status, BB_OK);
    assert_int_equal(latest, BB_INVALID);
    assert_ok(bb_db_compact(store.db));
    store_kill(&store);
    assert_has(&store, is_flush ? 120 : 121);
    store_deinit(&store);
}

/* Regressions: a write, and a flush, was refused although a merge had space that it did not need.
 * The write's second attempt succeeded, and bb_error_last() had the failure of the first. */
static void full_disk__a_write_gets_the_space_of_a_merge(void **state)
{
    (void)state;
    check_gets_the_space(false);
    check_gets_the_space(true);
}

static size_t level0_runs(struct store *store)
{
    bb_mutex_lock(&store->db->mutex);
    size_t runs = bb_levels_table_count(store->db->view->levels, 0);
    bb_mutex_unlock(&store->db->mutex);
    return runs;
}

/* Regression: every write that found no space cancelled the merge, and added a small run to level
 * 0, which had 29 of them with level0_run_count_stop at 4. */
static void full_disk__level_0_has_a_limit(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store.options.compression = BB_COMPRESSION_NONE;
    store.options.deterministic = false;
    store.options.level0_run_count_compact = store.options.level0_run_count_busy = 3;
    store.options.level0_run_count_stop = 4;
    store_open(&store);
    struct last_space space = {.db = store.db, .is_later = true};
    for (int i = 0; i < 8; i++) {
        assert_ok(put(&store, i));
        assert_ok(bb_db_flush(store.db));
        if (i != 1)
            continue;
        bb_file_memory_set_hook(store.memory, take_last_space, &space);
        assert_ok(bb_thread_create(&space.thread, compact_in_thread, &space));
        while (!space.is_held)
            (void)sched_yield();
    }
    assert_int_equal(level0_runs(&store), 8);
    store_await_removal_of_logs(&store);
    leave(store.memory, VALUE_SIZE / 2);
    enum bb_status refused = put(&store, 8);
    bb_file_memory_set_space(store.memory, 0);
    space.is_over = true;
    enum bb_status status = put(&store, 8);
    size_t runs = level0_runs(&store);
    bb_thread_join(&space.thread);
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    assert_status(refused, BB_NO_SPACE);
    assert_false(space.is_stopped);
    assert_status(space.status, BB_OK);
    assert_status(status, BB_OK);
    assert_true(runs <= 4);
    assert_has(&store, 9);
    store_deinit(&store);
}

/* Regression: is_merging became false before the outputs of a cancelled merge were removed, so a
 * write could try again too early. */
static void full_disk__a_merge_is_over_when_its_outputs_are_removed(void **state)
{
    (void)state;
    struct store store;
    char key[16];
    store_init(&store);
    store.options.deterministic = false;
    store.options.compression = BB_COMPRESSION_NONE;
    store.options.table_size_bytes = 64 * 1024;
    store.options.level0_run_count_compact = 100;
    store.options.level0_run_count_busy = 100;
    store.options.level0_run_count_stop = 200;
    store_open(&store);
    for (int i = 0; i < 12000; i++) { /* more than one step of a merge reads */
        snprintf(key, sizeof(key), "n%06d", i);
        store_put(&store, key, "a value of some bytes");
    }
    assert_ok(bb_db_flush(store.db));
    assert_ok(bb_db_wait_idle(store.db)); /* the removal of its log gives space */
    struct last_space space = {.db = store.db};
    bb_file_memory_set_hook(store.memory, take_last_space, &space);
    assert_ok(bb_thread_create(&space.thread, compact_in_thread, &space));
    while (!space.is_held)
        (void)sched_yield();
    enum bb_status status = put(&store, 0);
    space.is_over = true;
    bb_file_memory_set_space(store.memory, 0);
    bb_thread_join(&space.thread);
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    assert_status(status, BB_OK);
    assert_true(space.removed > 0);
    assert_int_equal(space.unseen, 0);
    assert_has(&store, 1);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_disk__writing_resumes),
        cmocka_unit_test(full_disk__a_write_gets_the_space_of_a_merge),
        cmocka_unit_test(full_disk__level_0_has_a_limit),
        cmocka_unit_test(full_disk__a_merge_is_over_when_its_outputs_are_removed),
        cmocka_unit_test(full_disk__opening_can_wait),
        cmocka_unit_test(full_disk__at_each_call_of_an_opening),
        cmocka_unit_test(full_disk__closing),
        cmocka_unit_test(full_disk__resumes_in_the_background),
        cmocka_unit_test(full_disk__no_refusal_is_stale),
        cmocka_unit_test(full_disk__compactions_that_do_not_fit),
        cmocka_unit_test(full_disk__compaction_after_deleting_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
