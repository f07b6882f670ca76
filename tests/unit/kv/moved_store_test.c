/* Goal: a store whose directory is moved while it is open stays one store, in its directory: no
 * acknowledged write is lost, and files under the old name are not touched. If its directory is
 * removed, an error reports that. Method: the operating system's files, and work of all kinds after
 * the move: logs, flushes, compactions, a new manifest. */
#include "tests/support/store.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "bb/db_files.h"
#include "tests/support/step.h"
#include "tests/support/temp_dir.h"

#define KEYS (3000 / (int)bb_test_step())

struct fixture {
    struct bb_temp_dir dir;
    char path[PATH_MAX];
    char moved[PATH_MAX];
    struct bb_db_options options;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    bb_temp_dir_init(&f->dir, "moved_store_test");
    bb_temp_dir_path(&f->dir, "store", f->path);
    bb_temp_dir_path(&f->dir, "moved", f->moved);
    f->options = (struct bb_db_options){.create_if_missing = true,
                                        .write_buffer_bytes = 64 * 1024,
                                        .open_tables_max = 16,
                                        .table_size_bytes = 16 * 1024,
                                        .level1_size_bytes = 64 * 1024,
                                        .deterministic = true};
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    bb_temp_dir_deinit(&f->dir);
    free(f);
    return 0;
}

/* Values that fill some write buffers. */
static void put_some(struct bb_db *db, int first, int count)
{
    char key[16];
    char value[128];
    for (int i = first; i < first + count; i++) {
        snprintf(key, sizeof(key), "k%06d", i);
        snprintf(value, sizeof(value), "%0100d", i);
        assert_ok(bb_db_put(db, NULL, bb_bytes_of_text(key), bb_bytes_of_text(value)));
    }
}

static void check_all(struct bb_db *db, int count)
{
    char key[16];
    char value[128];
    for (int i = 0; i < count; i++) {
        snprintf(key, sizeof(key), "k%06d", i);
        snprintf(value, sizeof(value), "%0100d", i);
        assert_get_at(db, NULL, key, value);
    }
}

static void check_after_opening(struct fixture *f, int count)
{
    struct bb_db *db = NULL;
    struct bb_db_options options = f->options;
    options.create_if_missing = false;
    assert_ok(bb_db_verify(f->moved, &options, NULL));
    assert_ok(bb_db_open(f->moved, &options, &db));
    check_all(db, count);
    assert_ok(bb_db_close(db));
}

static void moved_store__goes_on_in_its_directory(void **state)
{
    struct fixture *f = *state;
    struct bb_db *db = NULL;
    struct bb_db *second = NULL;
    assert_ok(bb_db_open(f->path, &f->options, &db));
    put_some(db, 0, KEYS);
    assert_int_equal(rename(f->path, f->moved), 0);
    put_some(db, KEYS, KEYS);
    check_all(db, 2 * KEYS);
    assert_ok(bb_db_compact(db));
    assert_status(bb_db_open(f->moved, &f->options, &second), BB_BUSY);
    assert_ok(bb_db_close(db));
    assert_int_equal(access(f->path, F_OK), -1);
    check_after_opening(f, 2 * KEYS);
}

/* In a process without a standard input a descriptor of the store may be 0. */
static void moved_store__with_descriptor_0(void **state)
{
    struct fixture *f = *state;
    struct bb_db *db = NULL;
    int input = dup(0);
    assert_int_equal(close(0), 0);
    assert_ok(bb_db_open(f->path, &f->options, &db));
    assert_int_not_equal(fcntl(0, F_GETFD), -1);
    assert_int_equal(rename(f->path, f->moved), 0);
    put_some(db, 0, KEYS);
    assert_ok(bb_db_close(db));
    if (input >= 0) {
        assert_int_equal(dup2(input, 0), 0);
        assert_int_equal(close(input), 0);
    }
    check_after_opening(f, KEYS);
}

/* The path was a relative one. */
static void moved_store__process_changes_its_directory(void **state)
{
    struct fixture *f = *state;
    struct bb_db *db = NULL;
    char before[PATH_MAX];
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir(f->dir.path), 0);
    assert_ok(bb_db_open("moved/", &f->options, &db));
    assert_int_equal(chdir(before), 0);
    put_some(db, 0, KEYS);
    assert_ok(bb_db_compact(db));
    assert_ok(bb_db_close(db));
    check_after_opening(f, KEYS);
}

/* The worst of it: a backup takes the place, and files of both have the same names. */
static void moved_store__leaves_its_successor_alone(void **state)
{
    struct fixture *f = *state;
    struct bb_db *db = NULL;
    struct bb_db *second = NULL;
    assert_ok(bb_db_open(f->path, &f->options, &db));
    put_some(db, 0, KEYS);
    assert_int_equal(rename(f->path, f->moved), 0);
    assert_ok(bb_db_open(f->path, &f->options, &second));
    for (int round = 0; round < 4; round++) {
        put_some(second, round * KEYS, KEYS);
        put_some(db, KEYS + round * KEYS, KEYS);
    }
    assert_ok(bb_db_compact(second));
    assert_ok(bb_db_compact(db));
    check_all(second, 4 * KEYS);
    check_all(db, 5 * KEYS);
    assert_ok(bb_db_close(second));
    assert_ok(bb_db_close(db));
    assert_ok(bb_db_verify(f->path, &f->options, NULL));
    check_after_opening(f, 5 * KEYS);
}

static void check_refused_checkpoint(struct bb_db *db, const char *path)
{
    char slashed[PATH_MAX + 2];
    snprintf(slashed, sizeof(slashed), "%s//", path);
    assert_status(bb_db_checkpoint(db, path), BB_EXISTS);
    assert_status(bb_db_checkpoint(db, slashed), BB_EXISTS);
    assert_message("give another path");
}

/* Regression: the new directory was made under the old name, but its files went to the moved one,
 * and existing files there, tables and CURRENT of the open store, were removed as leftovers. */
static void moved_store__checkpoint_by_its_old_name(void **state)
{
    struct fixture *f = *state;
    struct bb_db *db = NULL;
    char copy[PATH_MAX + 1];
    bb_temp_dir_path(&f->dir, "copy", copy);
    assert_ok(bb_db_open(f->path, &f->options, &db));
    put_some(db, 0, KEYS);
    assert_int_equal(rename(f->path, f->moved), 0);
    check_refused_checkpoint(db, f->path);
    assert_int_equal(access(f->path, F_OK), -1);
    assert_ok(bb_db_checkpoint(db, copy));
    check_all(db, KEYS);
    assert_ok(bb_db_close(db));
    check_after_opening(f, KEYS);
    assert_ok(bb_db_verify(copy, &f->options, NULL));
    strcat(copy, "/");
    assert_ok(bb_db_destroy(copy, &f->options, NULL));
    assert_int_equal(access(copy, F_OK), -1);
}

/* The same, where the directory stays and the name leads elsewhere. */
static void moved_store__checkpoint_by_its_relative_name(void **state)
{
    struct fixture *f = *state;
    struct bb_db *db = NULL;
    char before[PATH_MAX];
    char elsewhere[PATH_MAX];
    bb_temp_dir_path(&f->dir, "elsewhere", elsewhere);
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir(f->dir.path), 0);
    assert_ok(bb_db_open("moved", &f->options, &db));
    put_some(db, 0, KEYS);
    assert_int_equal(mkdir(elsewhere, 0700), 0);
    assert_int_equal(chdir(elsewhere), 0);
    check_refused_checkpoint(db, "moved");
    assert_int_equal(access("moved", F_OK), -1);
    assert_ok(bb_db_checkpoint(db, "./moved"));
    assert_ok(bb_db_verify("moved", &f->options, NULL));
    assert_int_equal(chdir(before), 0);
    assert_ok(bb_db_close(db));
    check_after_opening(f, KEYS);
}

/* While it was locked, a name followed by a slash led to no directory. */
static void moved_store__repair_by_a_name_with_a_slash(void **state)
{
    struct fixture *f = *state;
    struct bb_db *db = NULL;
    char path[PATH_MAX + 8];
    assert_ok(bb_db_open(f->moved, &f->options, &db));
    put_some(db, 0, KEYS);
    assert_ok(bb_db_close(db));
    snprintf(path, sizeof(path), "%s/CURRENT", f->moved);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof(path), "%s/", f->moved);
    assert_ok(bb_db_repair(path, &f->options, NULL, NULL));
    check_after_opening(f, KEYS);
    assert_ok(bb_db_verify(path, &f->options, NULL));
}

/* Everything is gone: writes fail once they need another file, and no file is made under the
 * name. */
static void moved_store__removed(void **state)
{
    struct fixture *f = *state;
    struct bb_db *db = NULL;
    struct bb_file_system *fs = NULL;
    struct bb_file_names list;
    static char path[2 * PATH_MAX];
    assert_ok(bb_db_open(f->path, &f->options, &db));
    put_some(db, 0, KEYS);
    assert_ok(bb_file_system_posix_create(&fs));
    assert_ok(fs->ops->list(fs, f->path, &list));
    for (size_t i = 0; i < list.count; i++) {
        snprintf(path, sizeof(path), "%s/%s", f->path, list.names[i]);
        assert_int_equal(unlink(path), 0);
    }
    bb_file_names_deinit(&list);
    bb_file_system_posix_destroy(fs);
    assert_int_equal(rmdir(f->path), 0);
    enum bb_status status = BB_OK;
    for (int i = 0; i < KEYS && status == BB_OK; i++)
        status = bb_db_put(db, NULL, bb_bytes_of_text("a"), bb_bytes_of(path, sizeof(path)));
    assert_int_equal(status, BB_IO);
    assert_message("directory was removed");
    assert_message(f->path);
    assert_status(bb_db_flush(db), BB_IO);
    assert_int_equal(mkdir(f->path, 0700), 0);
    assert_status(bb_db_flush(db), BB_IO);
    assert_status(bb_db_close(db), BB_IO);
    assert_int_equal(rmdir(f->path), 0); /* empty */
}

/* ---- files that are removed ---- */

static bool is_log(const char *name)
{
    return strstr(name, ".wal") != NULL;
}

static bool is_manifest(const char *name)
{
    return strstr(name, "MANIFEST") != NULL;
}

static bool is_current(const char *name)
{
    return strcmp(name, "CURRENT") == 0;
}

static bool is_any(const char *name)
{
    return name[0] != 0;
}

static void remove_files(struct fixture *f, bool (*is_meant)(const char *name))
{
    static char path[2 * PATH_MAX];
    struct bb_file_system *fs = NULL;
    struct bb_file_names list;
    size_t removed = 0;
    assert_ok(bb_file_system_posix_create(&fs));
    assert_ok(fs->ops->list(fs, f->path, &list));
    for (size_t i = 0; i < list.count; i++) {
        if (!is_meant(list.names[i]))
            continue;
        snprintf(path, sizeof(path), "%s/%s", f->path, list.names[i]);
        assert_int_equal(unlink(path), 0);
        removed++;
    }
    bb_file_names_deinit(&list);
    bb_file_system_posix_destroy(fs);
    assert_true(removed > 0);
}

static void remove_store(struct fixture *f)
{
    remove_files(f, is_any);
    assert_int_equal(rmdir(f->path), 0);
}

static enum bb_status put_synced(struct bb_db *db, const char *key)
{
    return bb_db_put(db, &(struct bb_write_options){.sync = true}, bb_bytes_of_text(key),
                     bb_bytes_of_text("value"));
}

/* A few writes, all of them in the log: close reported success. */
static void moved_store__close_tells_that_it_was_removed(void **state)
{
    struct fixture *f = *state;
    struct bb_db *db = NULL;
    assert_ok(bb_db_open(f->path, &f->options, &db));
    put_some(db, 0, 10);
    remove_store(f);
    put_some(db, 10, 10);
    assert_status(bb_db_close(db), BB_IO);
    assert_message(f->path);
    assert_message("removed");
}

/* No writes since it was opened; old data is gone. */
static void moved_store__close_of_a_removed_store_at_rest(void **state)
{
    struct fixture *f = *state;
    struct bb_db *db = NULL;
    assert_ok(bb_db_open(f->path, &f->options, &db));
    put_some(db, 0, 10);
    assert_ok(bb_db_flush(db));
    assert_ok(bb_db_close(db));
    assert_ok(bb_db_open(f->path, &f->options, &db));
    remove_store(f);
    assert_status(bb_db_close(db), BB_IO);
    assert_message("CURRENT: was removed");
}

static void moved_store__synced_write_to_a_removed_store(void **state)
{
    struct fixture *f = *state;
    struct bb_db *db = NULL;
    assert_ok(bb_db_open(f->path, &f->options, &db));
    assert_ok(put_synced(db, "before"));
    remove_store(f);
    assert_status(put_synced(db, "after"), BB_IO);
    assert_message(".wal: was removed");
    assert_status(put_synced(db, "again"), BB_IO);
    assert_status(bb_db_close(db), BB_IO);
}

/* Only the log is gone: its contents go into a table, and no write is lost. */
static void moved_store__removed_log_is_made_up_for(void **state)
{
    struct fixture *f = *state;
    for (int writes_again = 0; writes_again < 2; writes_again++) {
        struct bb_db *db = NULL;
        assert_ok(bb_db_open(f->path, &f->options, &db));
        put_some(db, 0, 20);
        remove_files(f, is_log);
        if (writes_again != 0) {
            assert_status(put_synced(db, "failed"), BB_IO);
            assert_ok(put_synced(db, "then"));
        }
        assert_ok(bb_db_close(db));
        assert_ok(bb_db_verify(f->path, &f->options, NULL));
        assert_ok(bb_db_open(f->path, &f->options, &db));
        check_all(db, 20);
        assert_get_at(db, NULL, "failed", NULL);
        assert_get_at(db, NULL, "then", writes_again == 0 ? NULL : "value");
        assert_ok(bb_db_close(db));
    }
}

static void check_close_misses(struct fixture *f, bool (*is_meant)(const char *name),
                               const char *part)
{
    struct bb_db *db = NULL;
    assert_ok(bb_db_open(f->path, &f->options, &db));
    put_some(db, 0, 10);
    assert_ok(bb_db_flush(db));
    put_some(db, 10, 10);
    remove_files(f, is_meant);
    assert_status(bb_db_close(db), BB_IO);
    assert_message(part);
    assert_ok(bb_db_repair(f->path, &f->options, NULL, NULL));
    assert_ok(bb_db_open(f->path, &f->options, &db));
    check_all(db, 20);
    assert_ok(bb_db_close(db));
}

static void moved_store__close_misses_current(void **state)
{
    check_close_misses(*state, is_current, "CURRENT: was removed");
}

static void moved_store__close_misses_the_manifest(void **state)
{
    check_close_misses(*state, is_manifest, "MANIFEST-");
}

/* Who only reads has nothing to lose. */
static void moved_store__close_of_a_reader(void **state)
{
    struct fixture *f = *state;
    struct bb_db *db = NULL;
    assert_ok(bb_db_open(f->path, &f->options, &db));
    put_some(db, 0, 10);
    assert_ok(bb_db_close(db));
    struct bb_db_options options = f->options;
    options.create_if_missing = false;
    options.read_only = true;
    assert_ok(bb_db_open(f->path, &options, &db));
    remove_store(f);
    assert_ok(bb_db_close(db));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(moved_store__goes_on_in_its_directory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(moved_store__process_changes_its_directory, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(moved_store__leaves_its_successor_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(moved_store__checkpoint_by_its_old_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(moved_store__checkpoint_by_its_relative_name, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(moved_store__repair_by_a_name_with_a_slash, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(moved_store__removed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(moved_store__close_tells_that_it_was_removed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(moved_store__close_of_a_removed_store_at_rest, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(moved_store__synced_write_to_a_removed_store, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(moved_store__removed_log_is_made_up_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(moved_store__close_misses_current, set_up, tear_down),
        cmocka_unit_test_setup_teardown(moved_store__close_misses_the_manifest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(moved_store__close_of_a_reader, set_up, tear_down),
        cmocka_unit_test_setup_teardown(moved_store__with_descriptor_0, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
