/* Goal: symbolic links work as documented in SECURITY.md. A directory may be named over links, and
 * the store stays in the directory to which they led when its lock was taken; a link that replaces
 * a file of the store is never followed, and no file is read, written or removed through it.
 * Method: the operating system's files; links to directories that are changed while the store is
 * open, and each file of a store replaced by a link to a copy of it elsewhere. */
#include "tests/support/store.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/status.h"
#include "tests/support/temp_dir.h"

struct linked {
    struct bb_temp_dir dir;
    struct bb_file_system *fs;
    char link[PATH_MAX];
    char first[PATH_MAX];
    char second[PATH_MAX];
    struct bb_db_options options;
};

static int setup(void **state)
{
    struct linked *place = calloc(1, sizeof(*place));
    assert_non_null(place);
    bb_temp_dir_init(&place->dir, "linked_store_test");
    bb_temp_dir_path(&place->dir, "link", place->link);
    bb_temp_dir_path(&place->dir, "first", place->first);
    bb_temp_dir_path(&place->dir, "second", place->second);
    assert_int_equal(mkdir(place->first, 0700), 0);
    assert_int_equal(mkdir(place->second, 0700), 0);
    assert_int_equal(symlink(place->first, place->link), 0);
    assert_ok(bb_file_system_posix_create(&place->fs));
    place->options = (struct bb_db_options){.create_if_missing = true, .deterministic = true};
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    struct linked *place = *state;
    bb_file_system_posix_destroy(place->fs);
    bb_temp_dir_deinit(&place->dir);
    free(place);
    return 0;
}

static void put(struct bb_db *db, const char *key)
{
    assert_ok(bb_db_put(db, &(struct bb_write_options){.sync = true}, bb_bytes_of_text(key),
                        bb_bytes_of_text("value")));
}

static size_t count_files(const struct linked *place, const char *path)
{
    struct bb_file_names names = {0};
    assert_ok(place->fs->ops->list(place->fs, path, &names));
    size_t count = names.count;
    bb_file_names_deinit(&names);
    return count;
}

static void turn_link(const struct linked *place, const char *to)
{
    assert_int_equal(unlink(place->link), 0);
    assert_int_equal(symlink(to, place->link), 0);
}

static bool is_link(const char *path)
{
    struct stat information;
    assert_int_equal(lstat(path, &information), 0);
    return S_ISLNK(information.st_mode);
}

static void check_keys(const struct linked *place, const char *path, const char *expected)
{
    struct bb_db *db = NULL;
    assert_ok(bb_db_verify(path, &place->options, NULL));
    assert_ok(bb_db_open(path, &place->options, &db));
    assert_content_at(db, NULL, expected);
    assert_ok(bb_db_close(db));
}

/* ---- the directory ---- */

static void linked_store__is_opened_over_a_link(void **state)
{
    struct linked *place = *state;
    struct bb_db *db = NULL;
    assert_ok(bb_db_open(place->link, &place->options, &db));
    put(db, "a");
    assert_ok(bb_db_flush(db));
    put(db, "b");
    assert_ok(bb_db_close(db));
    check_keys(place, place->first, "a=value b=value");
    check_keys(place, place->link, "a=value b=value");
}

/* Work after the lock was taken stays in the locked directory. */
static void linked_store__the_link_is_turned_while_it_is_open(void **state)
{
    struct linked *place = *state;
    struct bb_db *db = NULL;
    assert_ok(bb_db_open(place->link, &place->options, &db));
    put(db, "a");
    turn_link(place, place->second);
    put(db, "b");
    assert_ok(bb_db_compact(db));
    put(db, "c");
    assert_ok(bb_db_flush(db));
    assert_ok(bb_db_close(db));
    assert_int_equal(count_files(place, place->second), 0);
    check_keys(place, place->first, "a=value b=value c=value");
}

static void linked_store__the_link_leads_nowhere(void **state)
{
    struct linked *place = *state;
    struct bb_db *db = NULL;
    char missing[PATH_MAX];
    bb_temp_dir_path(&place->dir, "missing", missing);
    turn_link(place, missing);
    assert_status(bb_db_open(place->link, &place->options, &db), BB_INVALID);
    assert_message("not a directory");
    assert_status(bb_db_destroy(place->link, &place->options, NULL), BB_INVALID);
    assert_status(bb_db_repair(place->link, &place->options, NULL, NULL), BB_INVALID);
    assert_int_equal(access(missing, F_OK), -1);
}

static void linked_store__is_repaired_over_a_link(void **state)
{
    struct linked *place = *state;
    struct bb_db *db = NULL;
    char current[PATH_MAX + 8];
    assert_ok(bb_db_open(place->link, &place->options, &db));
    put(db, "a");
    assert_ok(bb_db_close(db));
    snprintf(current, sizeof(current), "%s/CURRENT", place->first);
    assert_int_equal(unlink(current), 0);
    assert_ok(bb_db_repair(place->link, &place->options, NULL, NULL));
    assert_true(is_link(place->link));
    check_keys(place, place->first, "a=value");
}

/* Entries with names of tables and logs that are no files stay where they are. */
static void linked_store__entries_that_are_no_files_are_not_repaired(void **state)
{
    struct linked *place = *state;
    struct bb_db *db = NULL;
    char table[PATH_MAX + 16];
    char link[PATH_MAX + 16];
    char log[PATH_MAX + 16];
    struct stat information;
    assert_ok(bb_db_open(place->first, &place->options, &db));
    put(db, "a");
    assert_ok(bb_db_close(db));
    (void)snprintf(table, sizeof(table), "%s/000900.bbt", place->first);
    (void)snprintf(link, sizeof(link), "%s/000901.bbt", place->first);
    (void)snprintf(log, sizeof(log), "%s/000902.wal", place->first);
    assert_int_equal(mkdir(table, 0700), 0);
    assert_int_equal(symlink("nowhere", link), 0);
    assert_int_equal(mkdir(log, 0700), 0);
    assert_ok(bb_db_repair(place->first, &place->options, NULL, NULL));
    assert_true(is_link(link));
    assert_int_equal(lstat(table, &information), 0);
    assert_int_equal(lstat(log, &information), 0);
    check_keys(place, place->first, "a=value");
}

/* The link and its directory belong to the caller: both stay, and a new store can be made. */
static void linked_store__is_destroyed_over_a_link(void **state)
{
    struct linked *place = *state;
    struct bb_db_destroy_report report = {0};
    struct bb_db *db = NULL;
    assert_ok(bb_db_open(place->link, &place->options, &db));
    put(db, "a");
    assert_ok(bb_db_close(db));
    for (int i = 0; i < 2; i++) {
        assert_ok(bb_db_destroy(place->link, &place->options, &report));
        assert_false(report.directory_removed);
        assert_int_equal(report.foreign, 0);
        assert_true(is_link(place->link));
        assert_int_equal(count_files(place, place->first), 0);
    }
    assert_ok(bb_db_open(place->link, &place->options, &db));
    assert_content_at(db, NULL, "");
    assert_ok(bb_db_close(db));
}

/* No file is made through a link. */
static void linked_store__no_checkpoint_over_a_link(void **state)
{
    struct linked *place = *state;
    struct bb_db *db = NULL;
    char missing[PATH_MAX];
    bb_temp_dir_path(&place->dir, "missing", missing);
    assert_ok(bb_db_open(place->first, &place->options, &db));
    put(db, "a");
    turn_link(place, place->second);
    assert_status(bb_db_checkpoint(db, place->link), BB_EXISTS);
    turn_link(place, missing);
    assert_status(bb_db_checkpoint(db, place->link), BB_EXISTS);
    assert_ok(bb_db_close(db));
    assert_int_equal(count_files(place, place->second), 0);
    assert_int_equal(access(missing, F_OK), -1);
}

/* ---- the files ---- */

static void path_in(const char *directory, const char *name, char path[2 * PATH_MAX])
{
    snprintf(path, 2 * PATH_MAX, "%s/%s", directory, name);
}

static void read_copy(const struct linked *place, const char *name, struct bb_buf *buf)
{
    static char path[2 * PATH_MAX];
    path_in(place->second, name, path);
    assert_ok(bb_file_read_whole(place->fs, path, UINT32_MAX, buf));
}

/* The file is in the other directory, and a link replaces it. */
static void link_file(const struct linked *place, const char *name)
{
    static char path[2 * PATH_MAX];
    static char copy[2 * PATH_MAX];
    path_in(place->first, name, path);
    path_in(place->second, name, copy);
    assert_int_equal(rename(path, copy), 0);
    assert_int_equal(symlink(copy, path), 0);
}

/* A table is opened when it is first read. */
static enum bb_status open_and_get(const struct linked *place)
{
    struct bb_db *db = NULL;
    struct bb_buf value = {0};
    enum bb_status status = bb_db_open(place->first, &place->options, &db);
    if (status != BB_OK)
        return status;
    status = bb_db_get(db, NULL, bb_bytes_of_text("a"), &value);
    struct bb_error failure = *bb_error_last();
    bb_buf_deinit(&value);
    assert_ok(bb_db_close(db));
    return status == BB_OK ? BB_OK : bb_error_restore(&failure);
}

/* Refused whenever the file is needed. A removal removes the link and keeps its target. */
static void check_linked_file(struct linked *place, const char *name)
{
    struct bb_buf before = {0};
    struct bb_buf after = {0};
    struct bb_db *db = NULL;
    struct bb_db_options reading = {.read_only = true};
    link_file(place, name);
    read_copy(place, name, &before);
    bool is_lock = strcmp(name, "LOCK") == 0;
    assert_status(open_and_get(place), BB_INVALID);
    assert_message(name);
    assert_message("symbolic link");
    assert_status(bb_db_verify(place->first, &place->options, NULL), BB_INVALID);
    enum bb_status status = bb_db_open(place->first, &reading, &db);
    assert_int_equal(status, is_lock ? BB_OK : BB_INVALID);
    if (status == BB_OK)
        assert_ok(bb_db_close(db));
    status = bb_db_destroy(place->first, &place->options, NULL);
    assert_int_equal(status, is_lock ? BB_INVALID : BB_OK);
    read_copy(place, name, &after);
    assert_true(bb_bytes_equal(bb_buf_bytes(&before), bb_buf_bytes(&after)));
    assert_int_equal(count_files(place, place->second), 1);
    bb_buf_deinit(&before);
    bb_buf_deinit(&after);
}

static void make_store(struct linked *place)
{
    struct bb_db *db = NULL;
    assert_ok(bb_db_open(place->first, &place->options, &db));
    put(db, "a");
    assert_ok(bb_db_flush(db));
    put(db, "b");
    assert_ok(bb_db_close(db));
}

static void linked_store__no_file_is_read_over_a_link(void **state)
{
    for (size_t i = 0;; i++) {
        struct linked *place = NULL;
        struct bb_file_names names = {0};
        setup((void **)&place);
        make_store(place);
        assert_ok(place->fs->ops->list(place->fs, place->first, &names));
        size_t count = names.count;
        if (i < count)
            check_linked_file(place, names.names[i]);
        bb_file_names_deinit(&names);
        teardown((void **)&place);
        assert_true(count == 5); /* CURRENT, LOCK, a manifest, a log, a table */
        if (i == count)
            break;
    }
    (void)state;
}

#define linked_test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        linked_test(linked_store__is_opened_over_a_link),
        linked_test(linked_store__the_link_is_turned_while_it_is_open),
        linked_test(linked_store__the_link_leads_nowhere),
        linked_test(linked_store__is_repaired_over_a_link),
        linked_test(linked_store__entries_that_are_no_files_are_not_repaired),
        linked_test(linked_store__is_destroyed_over_a_link),
        linked_test(linked_store__no_checkpoint_over_a_link),
        cmocka_unit_test(linked_store__no_file_is_read_over_a_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
