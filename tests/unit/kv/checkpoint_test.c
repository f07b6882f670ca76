/* Goal: a checkpoint is a separate store with everything written before, also during writes;
 * neither store harms the other; a failure leaves no files. Method: checkpoints of stores on a file
 * system in memory, with links and without, without other work, under threads that write, and with
 * each call failing. Power failures: tests/crash/checkpoint_test.c. */
#include "bb/db_files.h"
#include "tests/support/store.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/sync.h"
#include "tests/support/file_fault.h"
#include "tests/support/step.h"
#include "tests/support/temp_dir.h"

#define COPY_PATH "/data/copy"

static struct bb_db *open_at(const struct store *store, const char *path)
{
    struct bb_db_options options = store->options;
    struct bb_db *db = NULL;
    options.create_if_missing = false;
    assert_ok(bb_db_open(path, &options, &db));
    return db;
}

static void fill(struct store *store)
{
    store_init(store);
    store_open(store);
    store_put(store, "a", "1");
    store_put(store, "gone", "x");
    assert_ok(bb_db_compact(store->db));
    store_put(store, "b", "2");
    store_delete(store, "gone");
    assert_ok(bb_db_flush(store->db));
    store_put(store, "c", "3");
}

static bool exists(struct store *store, const char *path)
{
    struct bb_file_system *fs = bb_file_memory_system(store->memory);
    bool is_directory = false;
    uint64_t size = 0;
    return fs->ops->status(fs, path, &is_directory, &size) == BB_OK;
}

static void assert_verifies(const struct store *store, const char *path)
{
    struct bb_db_verify_report report;
    assert_ok(bb_db_verify(path, &store->options, &report));
    assert_int_equal(report.foreign, 0);
}

static void checkpoint__is_a_store_of_its_own(void **state)
{
    (void)state;
    for (int has_links = 0; has_links < 2; has_links++) {
        struct store store;
        fill(&store);
        bb_file_memory_set_links(store.memory, has_links);
        assert_ok(bb_db_checkpoint(store.db, COPY_PATH));
        assert_verifies(&store, COPY_PATH);
        store_put(&store, "d", "4");
        struct bb_db *copy = open_at(&store, COPY_PATH);
        assert_content_at(copy, NULL, "a=1 b=2 c=3");
        /* Each goes its own way, and merges tables that both have. */
        assert_ok(bb_db_put(copy, NULL, bb_bytes_of_text("e"), bb_bytes_of_text("5")));
        assert_ok(bb_db_compact(store.db));
        assert_content_at(copy, NULL, "a=1 b=2 c=3 e=5");
        assert_ok(bb_db_compact(copy));
        assert_content(&store, "a=1 b=2 c=3 d=4");
        /* A checkpoint of a checkpoint; then all others are removed. */
        assert_ok(bb_db_checkpoint(copy, "/data/third"));
        assert_ok(bb_db_close(copy));
        store_close(&store);
        assert_ok(bb_db_destroy(STORE_PATH, &store.options, NULL));
        assert_ok(bb_db_destroy(COPY_PATH, &store.options, NULL));
        struct bb_db *third = open_at(&store, "/data/third");
        assert_content_at(third, NULL, "a=1 b=2 c=3 e=5");
        assert_ok(bb_db_close(third));
        bb_file_memory_destroy(store.memory);
    }
}

static void checkpoint__of_an_empty_store(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    assert_ok(bb_db_checkpoint(store.db, COPY_PATH));
    struct bb_db *copy = open_at(&store, COPY_PATH);
    assert_content_at(copy, NULL, "");
    assert_ok(bb_db_close(copy));
    store_deinit(&store);
}

static uint64_t last_sequence(struct bb_db *db)
{
    struct bb_db_stats stats;
    bb_db_stats(db, &stats);
    return stats.last_sequence;
}

/* An empty range deletion takes a sequence, and no table gets it. */
static void checkpoint__has_the_sequence_of_writes_without_effect(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    store_put(&store, "a", "1");
    assert_ok(bb_db_flush(store.db));
    assert_ok(bb_db_delete_range(store.db, NULL, bb_bytes_of_text("m"), bb_bytes_of_text("m")));
    assert_ok(bb_db_checkpoint(store.db, COPY_PATH));
    struct bb_db *copy = open_at(&store, COPY_PATH);
    assert_int_equal(last_sequence(copy), last_sequence(store.db));
    assert_ok(bb_db_close(copy));
    store_deinit(&store);
}

static void checkpoint__is_not_made_over_anything(void **state)
{
    (void)state;
    struct store store;
    fill(&store);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    assert_ok(fs->ops->make_directory(fs, "/data/there"));
    bb_file_memory_put(store.memory, "/data/file", bb_bytes_of_text("text"));
    assert_status(bb_db_checkpoint(store.db, "/data/there"), BB_EXISTS);
    assert_status(bb_db_checkpoint(store.db, "/data/file"), BB_EXISTS);
    assert_status(bb_db_checkpoint(store.db, STORE_PATH), BB_EXISTS);
    assert_status(bb_db_checkpoint(store.db, "/nowhere/copy"), BB_NOT_FOUND);
    assert_status(bb_db_checkpoint(store.db, ""), BB_INVALID);
    assert_ok(bb_db_checkpoint(store.db, COPY_PATH));
    assert_status(bb_db_checkpoint(store.db, COPY_PATH), BB_EXISTS);
    assert_verifies(&store, COPY_PATH);
    assert_content(&store, "a=1 b=2 c=3");
    store_deinit(&store);
}

/* It includes writes without a log, and snapshots' old versions. */
static void checkpoint__without_a_log(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store.options.wal_off = true;
    store_open(&store);
    store_put(&store, "a", "1");
    struct bb_snapshot *snapshot = store_snapshot(&store);
    store_put(&store, "a", "2");
    assert_ok(bb_db_checkpoint(store.db, COPY_PATH));
    bb_snapshot_release(store.db, snapshot);
    struct bb_db *copy = open_at(&store, COPY_PATH);
    assert_content_at(copy, NULL, "a=2");
    assert_ok(bb_db_close(copy));
    store_deinit(&store);
}

/* ---- in two calls ---- */

/* The state of the first call: later writes, deletions and merges do not matter, also when they go
 * to the same memtable. */
static void checkpoint__in_two_calls_has_the_state_of_the_first(void **state)
{
    (void)state;
    for (int wal_off = 0; wal_off < 2; wal_off++) {
        struct store store;
        struct bb_checkpoint *checkpoint = NULL;
        store_init(&store);
        store.options.wal_off = wal_off;
        store_open(&store);
        store_put(&store, "a", "1");
        store_put(&store, "gone", "x");
        assert_ok(bb_db_compact(store.db));
        store_put(&store, "b", "2");
        store_put(&store, "c", "3");
        assert_ok(bb_db_delete_range(store.db, NULL, bb_bytes_of_text("g"), bb_bytes_of_text("h")));
        assert_ok(bb_checkpoint_create(store.db, &checkpoint));
        store_put(&store, "b", "later");
        store_put(&store, "d", "later");
        assert_ok(bb_db_delete_range(store.db, NULL, bb_bytes_of_text("a"), bb_bytes_of_text("b")));
        assert_ok(bb_db_compact(store.db));
        store_delete(&store, "c");
        assert_status(bb_db_close(store.db), BB_BUSY);
        assert_ok(bb_checkpoint_write(checkpoint, COPY_PATH));
        assert_status(bb_checkpoint_write(checkpoint, COPY_PATH), BB_EXISTS);
        bb_checkpoint_destroy(checkpoint);
        assert_verifies(&store, COPY_PATH);
        assert_content(&store, "b=later d=later");
        struct bb_db *copy = open_at(&store, COPY_PATH);
        assert_content_at(copy, NULL, "a=1 b=2 c=3");
        assert_ok(bb_db_put(copy, NULL, bb_bytes_of_text("b"), bb_bytes_of_text("4")));
        assert_ok(bb_db_compact(copy));
        assert_content_at(copy, NULL, "a=1 b=4 c=3");
        assert_ok(bb_db_close(copy));
        store_deinit(&store);
    }
}

/* All entries of the memtable are later: the checkpoint gets no empty table. */
static void checkpoint__in_two_calls_of_an_empty_store(void **state)
{
    (void)state;
    struct store store;
    struct bb_checkpoint *checkpoint = NULL;
    store_init(&store);
    store_open(&store);
    assert_ok(bb_checkpoint_create(store.db, &checkpoint));
    store_put(&store, "a", "1");
    assert_ok(bb_checkpoint_write(checkpoint, COPY_PATH));
    bb_checkpoint_destroy(checkpoint);
    assert_verifies(&store, COPY_PATH);
    struct bb_db *copy = open_at(&store, COPY_PATH);
    assert_content_at(copy, NULL, "");
    assert_ok(bb_db_close(copy));
    store_deinit(&store);
}

/* As bb_db_checkpoint, or in two calls. */
static enum bb_status make(struct bb_db *db, bool in_two_calls)
{
    struct bb_checkpoint *checkpoint = NULL;
    if (!in_two_calls)
        return bb_db_checkpoint(db, COPY_PATH);
    enum bb_status status = bb_checkpoint_create(db, &checkpoint);
    if (status == BB_OK)
        status = bb_checkpoint_write(checkpoint, COPY_PATH);
    bb_checkpoint_destroy(checkpoint);
    return status;
}

/* Each call fails one by one: the new files are gone, or can be removed; the store is unharmed. */
static void checkpoint__that_fails_leaves_nothing(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        bool has_links = way % 2 == 1;
        uint64_t failures = 0;
        for (uint64_t nth = 1; nth == failures + 1; nth++) {
            struct store store;
            fill(&store);
            store_close(&store);
            bb_file_memory_set_links(store.memory, has_links);
            struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(store.memory));
            store.options.file_system = bb_file_fault_system(fault);
            store_open(&store);
            bb_file_fault_arm(fault, &(struct bb_file_fault_plan){.call = BB_FILE_CALL_ANY,
                                                                  .path_part = COPY_PATH,
                                                                  .nth = nth});
            enum bb_status status = make(store.db, way >= 2);
            uint64_t hits = bb_file_fault_hits(fault);
            assert_true(status == BB_OK || (hits > 0 && status == BB_IO));
            failures += hits;
            bb_file_fault_disarm(fault);
            assert_int_equal(bb_file_fault_writes_after_failure(fault), 0);
            if (status == BB_OK)
                assert_verifies(&store, COPY_PATH);
            else
                assert_false(exists(&store, COPY_PATH));
            assert_content(&store, "a=1 b=2 c=3");
            store_close(&store);
            bb_file_fault_destroy(fault);
            store.options.file_system = bb_file_memory_system(store.memory);
            store_deinit(&store);
        }
        assert_true(failures > 15);
    }
}

/* ---- during writes ---- */

struct writer {
    struct bb_db *db;
    _Atomic uint32_t written; /* keys 0 ... written - 1 are there */
    _Atomic uint32_t
        allowed; /* it waits here, because the data is copied and compared eight times */
    _Atomic bool is_over;
};

static struct bb_bytes key_of(uint32_t i, char key[16])
{
    snprintf(key, 16, "key%08u", i);
    return bb_bytes_of_text(key);
}

static void write_in_order(void *argument)
{
    struct writer *writer = argument;
    char key[16];
    static const uint8_t value[100];
    for (uint32_t i = 0; !atomic_load(&writer->is_over); i++) {
        while (i >= atomic_load(&writer->allowed) && !atomic_load(&writer->is_over))
            (void)sched_yield();
        if (bb_db_put(writer->db, NULL, key_of(i, key), bb_bytes_of(value, sizeof(value))) != BB_OK)
            abort();
        atomic_store(&writer->written, i + 1);
    }
}

/* A prefix of the commits, at least as long as before the call. */
static void assert_front_part(const struct store *store, const char *path, uint32_t at_least)
{
    struct bb_db *copy = open_at(store, path);
    char key[16];
    uint32_t count = 0;
    while (bb_db_get(copy, NULL, key_of(count, key), NULL) == BB_OK)
        count++;
    assert_true(count >= at_least);
    for (uint32_t i = count; i < count + 5000; i++)
        assert_status(bb_db_get(copy, NULL, key_of(i, key), NULL), BB_NOT_FOUND);
    assert_ok(bb_db_close(copy));
}

static void checkpoint__beside_a_writer(void **state)
{
    (void)state;
    struct store store;
    struct bb_thread thread;
    char path[32];
    store_init(&store);
    store.options.deterministic = false;
    store_open(&store);
    struct writer writer = {.db = store.db};
    const int copies = bb_test_step() > 1 ? 3 : 8;
    assert_ok(bb_thread_create(&thread, write_in_order, &writer));
    for (int i = 0; i < copies; i++) {
        uint32_t before = atomic_load(&writer.written);
        atomic_store(&writer.allowed, before + 4000);
        while (atomic_load(&writer.written) < before + 700)
            (void)sched_yield();
        before = atomic_load(&writer.written);
        snprintf(path, sizeof(path), "/data/copy%d", i);
        assert_ok(bb_db_checkpoint(store.db, path));
        assert_front_part(&store, path, before);
    }
    atomic_store(&writer.is_over, true);
    bb_thread_join(&thread);
    for (int i = 0; i < copies; i++) {
        snprintf(path, sizeof(path), "/data/copy%d", i);
        assert_verifies(&store, path);
    }
    store_deinit(&store);
}

/* On the operating system's files tables are links: no second copy of the data. */
static void checkpoint__links_tables(void **state)
{
    (void)state;
    struct bb_temp_dir dir;
    char path[PATH_MAX];
    char copy_path[PATH_MAX];
    struct bb_db *db = NULL;
    bb_temp_dir_init(&dir, "checkpoint");
    bb_temp_dir_path(&dir, "store", path);
    bb_temp_dir_path(&dir, "copy", copy_path);
    struct bb_db_options options = {.create_if_missing = true, .write_buffer_bytes = 64 * 1024};
    assert_ok(bb_db_open(path, &options, &db));
    assert_ok(bb_db_put(db, NULL, bb_bytes_of_text("a"), bb_bytes_of_text("1")));
    assert_ok(bb_db_checkpoint(db, copy_path));
    assert_ok(bb_db_close(db));
    assert_ok(bb_db_destroy(path, NULL, NULL));
    options.create_if_missing = false;
    assert_ok(bb_db_open(copy_path, &options, &db));
    assert_content_at(db, NULL, "a=1");
    assert_ok(bb_db_close(db));
    assert_ok(bb_db_destroy(copy_path, NULL, NULL));
    bb_temp_dir_deinit(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checkpoint__is_a_store_of_its_own),
        cmocka_unit_test(checkpoint__of_an_empty_store),
        cmocka_unit_test(checkpoint__has_the_sequence_of_writes_without_effect),
        cmocka_unit_test(checkpoint__is_not_made_over_anything),
        cmocka_unit_test(checkpoint__without_a_log),
        cmocka_unit_test(checkpoint__in_two_calls_has_the_state_of_the_first),
        cmocka_unit_test(checkpoint__in_two_calls_of_an_empty_store),
        cmocka_unit_test(checkpoint__that_fails_leaves_nothing),
        cmocka_unit_test(checkpoint__beside_a_writer),
        cmocka_unit_test(checkpoint__links_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
