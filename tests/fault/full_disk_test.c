/* Goal: on a full disk writes are refused with BB_NO_SPACE, reads go on, nothing that was
 * acknowledged is lost, trying again costs little, and when there is space again writing resumes by
 * itself, without reopening. Method: a file system in memory whose space runs out at many different
 * places, so that logs, tables, manifests and recovery meet the end of it; then more space. */
#include "tests/support/store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

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

/* Whatever is refused, is refused for the right reason and cheaply. */
static void assert_refused(struct store *store, int count)
{
    for (int i = 0; i < 5; i++) {
        uint64_t before = bb_file_memory_calls(store->memory);
        enum bb_status status = put(store, count + i);
        if (status == BB_OK) {
            /* What a failed attempt had written was removed, and this one fitted in. The key is not
             * one that is looked for later. */
            continue;
        }
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

/* Recovery needs space too. When there is none, opening fails and leaves everything as it was. */
static void full_disk__opening_can_wait(void **state)
{
    (void)state;
    for (uint64_t space = 30000; space < 400000; space += 37001) {
        struct store store;
        struct bb_db *db = NULL;
        store_init(&store);
        store.options.compression = BB_COMPRESSION_NONE;
        store_open(&store);
        bb_file_memory_set_space(store.memory, space);
        int count = fill_up(&store);
        struct bb_file_memory *image = bb_file_memory_clone(store.memory);
        bb_file_memory_set_space(store.memory, 0);
        store_close(&store);
        bb_file_memory_destroy(store.memory);
        store.memory = image;
        store.options.file_system = bb_file_memory_system(image);
        bb_file_memory_set_space(image, space);
        for (int i = 0; i < 3; i++) {
            enum bb_status status = bb_db_open(STORE_PATH, &store.options, &db);
            if (status == BB_OK)
                assert_ok(bb_db_close(db));
            else
                assert_status(status, BB_NO_SPACE);
        }
        bb_file_memory_set_space(image, 0);
        store_open(&store);
        assert_has(&store, count);
        assert_ok(put(&store, count));
        store_deinit(&store);
    }
}

/* A full disk at an orderly close: it says so, and what was acknowledged is there afterwards. */
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
        if (was_durable) {
            struct bb_file_memory *image =
                bb_file_memory_crash(store.memory, &(struct bb_crash){0});
            bb_file_memory_destroy(store.memory);
            store.memory = image;
            store.options.file_system = bb_file_memory_system(image);
        }
        store_open(&store);
        assert_has(&store, count);
        store_deinit(&store);
    }
}

/* The store's thread finds out by itself that there is space again, and lets writers go on. */
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

static uint64_t space_left(struct store *store)
{
    struct bb_file_system *fs = bb_file_memory_system(store->memory);
    uint64_t left = 0;
    assert_ok(fs->ops->free_space(fs, "/", &left));
    return left;
}

/* What broke: the failure of an attempt of before was told to whoever came later, for up to the 10
 * seconds that the store's threads rest after some failures. */
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

/* What broke: where everything is done by the caller, a compaction that does not fit refused writes,
 * though there was space for many more. */
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

/* What broke: after everything was deleted the first compaction was told of one that had failed
 * before. */
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
        /* Room for what is in memory, and for little else. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_disk__writing_resumes),
        cmocka_unit_test(full_disk__opening_can_wait),
        cmocka_unit_test(full_disk__closing),
        cmocka_unit_test(full_disk__resumes_in_the_background),
        cmocka_unit_test(full_disk__no_refusal_is_stale),
        cmocka_unit_test(full_disk__compactions_that_do_not_fit),
        cmocka_unit_test(full_disk__compaction_after_deleting_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
