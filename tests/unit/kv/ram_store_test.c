/* Goal: a store runs on the users' files in memory (bb/file.h), and a power failure there loses
 * exactly what was not durable. Method: only public headers; each commit synced or not. */
#include "tests/support/assert_status.h"

#include <stdio.h>

#include "bb/db.h"
#include "bb/db_files.h"
#include "bb/file.h"

static struct bb_db *open_in(struct bb_file_system *files)
{
    const struct bb_db_options options = {
        .create_if_missing = true, .file_system = files, .write_buffer_bytes = 64 << 10};
    struct bb_db *db = NULL;
    assert_ok(bb_db_open("store", &options, &db));
    return db;
}

static struct bb_bytes numbered(char buffer[16], int number)
{
    snprintf(buffer, 16, "key %d", number);
    return bb_text(buffer);
}

static void put(struct bb_db *db, int number, bool sync)
{
    const struct bb_write_options options = {.sync = sync};
    char buffer[16];
    struct bb_bytes key = numbered(buffer, number);
    assert_ok(bb_db_put(db, &options, key, key));
}

static bool has(struct bb_db *db, int number)
{
    char buffer[16];
    enum bb_status status = bb_db_get(db, NULL, numbered(buffer, number), NULL);
    assert_true(status == BB_OK || status == BB_NOT_FOUND);
    return status == BB_OK;
}

static void ram_store__loses_what_was_not_durable(void **state)
{
    (void)state;
    struct bb_file_system *files = NULL;
    struct bb_file_system *after = NULL;
    assert_ok(bb_file_system_memory_create(&files));
    struct bb_db *db = open_in(files);
    for (int i = 0; i <= 10; i++)
        put(db, i, i == 10);
    put(db, 11, false);
    assert_ok(bb_file_system_power_failure(files, &after));
    assert_ok(bb_db_close(db));
    bb_file_system_memory_destroy(files);
    db = open_in(after);
    for (int i = 0; i <= 10; i++)
        assert_true(has(db, i));
    assert_false(has(db, 11));
    assert_ok(bb_db_close(db));
    bb_file_system_memory_destroy(after);
}

static void ram_store__flushes_compacts_and_verifies(void **state)
{
    (void)state;
    struct bb_file_system *files = NULL;
    assert_ok(bb_file_system_memory_create(&files));
    const struct bb_db_options options = {.file_system = files};
    struct bb_db *db = open_in(files);
    for (int i = 0; i < 20000; i++)
        put(db, i, false);
    assert_ok(bb_db_compact(db));
    assert_ok(bb_db_checkpoint(db, "copy"));
    assert_ok(bb_db_close(db));
    db = open_in(files);
    assert_true(has(db, 19999));
    assert_ok(bb_db_close(db));
    assert_ok(bb_db_verify("store", &options, NULL));
    assert_ok(bb_db_verify("copy", &options, NULL));
    assert_ok(bb_db_destroy("store", &options, NULL));
    bb_file_system_memory_destroy(files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ram_store__loses_what_was_not_durable),
        cmocka_unit_test(ram_store__flushes_compacts_and_verifies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
