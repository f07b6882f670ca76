/* Goal: a refresh of a read-only store shows the newest state after a backup of the same store has
 * replaced its files and was written to. Its logs and tables have the numbers of the old ones, and
 * other contents. (Found from outside: the reader kept old tables, and joined records of both
 * logs.) Method: a copy of the closed store is put back below an open reader. */
#include "tests/support/assert_status.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/file.h"
#include "bb/db.h"
#include "tests/support/file_memory.h"

#define COUNT 200

struct place {
    struct bb_file_memory *memory;
    struct bb_file_system *fs;
};

static struct bb_db *open_store(const struct place *place, bool read_only)
{
    struct bb_db_options options = {.create_if_missing = !read_only,
                                    .read_only = read_only,
                                    .file_system = place->fs,
                                    .deterministic = true};
    struct bb_db *db = NULL;
    assert_ok(bb_db_open("/store", &options, &db));
    return db;
}

static void put_all(struct bb_db *db, const char *prefix, const char *value, int count)
{
    char key[32];
    for (int i = 0; i < count; i++) {
        (void)snprintf(key, sizeof(key), "%s%04d", prefix, i);
        assert_ok(bb_db_put(db, NULL, bb_bytes_of_text(key), bb_bytes_of_text(value)));
    }
}

/* Exactly `count` keys have the prefix, each with the value. */
static void assert_all(struct bb_db *db, const char *prefix, const char *value, int count)
{
    char key[32];
    struct bb_buf found = {0};
    for (int i = 0; i < count; i++) {
        (void)snprintf(key, sizeof(key), "%s%04d", prefix, i);
        assert_ok(bb_db_get(db, NULL, bb_bytes_of_text(key), &found));
        assert_true(bb_bytes_equal(bb_buf_bytes(&found), bb_bytes_of_text(value)));
    }
    (void)snprintf(key, sizeof(key), "%s%04d", prefix, count);
    assert_int_equal(bb_db_get(db, NULL, bb_bytes_of_text(key), &found), BB_NOT_FOUND);
    bb_buf_deinit(&found);
}

/* Replaces the files of `to` by copies of the files of `from`, which is closed. */
static void copy_files(const struct place *place, const char *from, const char *to)
{
    struct bb_file_names names = {0};
    char source[300];
    char target[300];
    assert_ok(place->fs->ops->list(place->fs, to, &names));
    for (size_t i = 0; i < names.count; i++) {
        (void)snprintf(target, sizeof(target), "%s/%s", to, names.names[i]);
        assert_ok(place->fs->ops->remove(place->fs, target));
    }
    bb_file_names_deinit(&names);
    assert_ok(place->fs->ops->list(place->fs, from, &names));
    for (size_t i = 0; i < names.count; i++) {
        (void)snprintf(source, sizeof(source), "%s/%s", from, names.names[i]);
        (void)snprintf(target, sizeof(target), "%s/%s", to, names.names[i]);
        assert_ok(bb_file_copy_synced(place->fs, source, target));
    }
    bb_file_names_deinit(&names);
}

/* The store with keys "a", and its copy. */
static void place_init(struct place *place)
{
    place->memory = bb_file_memory_create(1);
    place->fs = bb_file_memory_system(place->memory);
    struct bb_db *db = open_store(place, false);
    put_all(db, "a", "first", COUNT);
    assert_ok(bb_db_flush(db));
    assert_ok(bb_db_close(db));
    assert_ok(place->fs->ops->make_directory(place->fs, "/backup"));
    copy_files(place, "/store", "/backup");
}

static void place_deinit(struct place *place)
{
    bb_file_memory_destroy(place->memory);
}

static void write_history(struct bb_db *db, const char *value, int count, bool is_flushed)
{
    put_all(db, "b", value, count);
    if (is_flushed)
        assert_ok(bb_db_flush(db));
    put_all(db, "c", value, COUNT);
    if (is_flushed)
        assert_ok(bb_db_flush(db));
}

static void check(int count, bool is_flushed)
{
    struct place place;
    place_init(&place);
    struct bb_db *db = open_store(&place, false);
    write_history(db, "lost", COUNT, is_flushed);
    struct bb_db *reader = open_store(&place, true);
    assert_all(reader, "b", "lost", COUNT);
    assert_ok(bb_db_close(db));
    copy_files(&place, "/backup", "/store");
    db = open_store(&place, false);
    write_history(db, "kept", count, is_flushed);
    for (int i = 0; i < 2; i++) {
        assert_ok(bb_db_refresh(reader));
        assert_all(reader, "a", "first", COUNT);
        assert_all(reader, "b", "kept", count);
        assert_all(reader, "c", "kept", COUNT);
        put_all(db, "a", "first", 1);
    }
    assert_ok(bb_db_close(reader));
    assert_ok(bb_db_close(db));
    place_deinit(&place);
}

static void restored_backup__with_logs(void **state)
{
    (void)state;
    check(COUNT, false);
    check(COUNT - 10, false);
    check(COUNT + 10, false);
}

static void restored_backup__with_tables(void **state)
{
    (void)state;
    check(COUNT, true);
    check(COUNT - 10, true);
    check(COUNT + 10, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restored_backup__with_logs),
        cmocka_unit_test(restored_backup__with_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
