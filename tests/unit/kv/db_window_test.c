/* Goal: a store whose process ends without a close keeps each acknowledged write, even if it
 * is only in the window of its log; readers in other processes see them; and verify, repair and
 * destroy treat the window as a part of its log.
 *
 * Method: a store on disk. Its files, copied while it is open, equal the remains after a kill.
 */
#include "tests/support/assert_status.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/file.h"
#include "bb/db.h"
#include "bb/db_files.h"
#include "tests/support/step.h"
#include "tests/support/temp_dir.h"

struct window_place {
    struct bb_temp_dir directory;
    struct bb_file_system *fs;
    char store[PATH_MAX];
    char copy[PATH_MAX];
};

static void place_init(struct window_place *place)
{
    bb_temp_dir_init(&place->directory, "db_window");
    bb_temp_dir_path(&place->directory, "store", place->store);
    bb_temp_dir_path(&place->directory, "copy", place->copy);
    assert_ok(bb_file_system_posix_create(&place->fs));
}

static void place_deinit(struct window_place *place)
{
    bb_file_system_posix_destroy(place->fs);
    bb_temp_dir_deinit(&place->directory);
}

static struct bb_db *open_store(const struct window_place *place, struct bb_db_options options)
{
    struct bb_db *db = NULL;
    options.create_if_missing = !options.read_only;
    assert_ok(bb_db_open(place->store, &options, &db));
    return db;
}

static struct bb_bytes key_of(uint32_t number, char text[16])
{
    (void)snprintf(text, 16, "key%08u", number);
    return bb_bytes_of_text(text);
}

static enum bb_status try_put(struct bb_db *db, uint32_t number)
{
    char text[16];
    struct bb_bytes key = key_of(number, text);
    return bb_db_put(db, NULL, key, key);
}

static void put(struct bb_db *db, uint32_t number)
{
    assert_ok(try_put(db, number));
}

static void assert_prefix(struct bb_db *db, uint32_t count)
{
    char text[16];
    struct bb_buf value = {0};
    for (uint32_t i = 0; i < count; i++) {
        struct bb_bytes key = key_of(i, text);
        assert_ok(bb_db_get(db, NULL, key, &value));
        assert_true(bb_bytes_equal(bb_buf_bytes(&value), key));
    }
    bb_buf_deinit(&value);
}

static void assert_keys(struct bb_db *db, uint32_t count)
{
    char text[16];
    struct bb_buf value = {0};
    assert_prefix(db, count);
    assert_int_equal(bb_db_get(db, NULL, key_of(count, text), &value), BB_NOT_FOUND);
    bb_buf_deinit(&value);
}

/* ---- files ---- */

static size_t count_windows(const struct window_place *place, const char *path)
{
    struct bb_file_names names = {0};
    size_t count = 0;
    assert_ok(place->fs->ops->list(place->fs, path, &names));
    for (size_t i = 0; i < names.count; i++)
        count += strstr(names.names[i], ".window") != NULL;
    bb_file_names_deinit(&names);
    return count;
}

static void remove_copy(const struct window_place *place)
{
    struct bb_file_names names = {0};
    assert_ok(place->fs->ops->list(place->fs, place->copy, &names));
    for (size_t i = 0; i < names.count; i++) {
        char path[PATH_MAX + 300];
        (void)snprintf(path, sizeof(path), "%s/%s", place->copy, names.names[i]);
        assert_int_equal(unlink(path), 0);
    }
    bb_file_names_deinit(&names);
    assert_int_equal(rmdir(place->copy), 0);
}

/* The copy equals the remains after a kill of this process. */
static void copy_store(const struct window_place *place)
{
    struct bb_file_names names = {0};
    assert_int_equal(mkdir(place->copy, 0700), 0);
    assert_ok(place->fs->ops->list(place->fs, place->store, &names));
    for (size_t i = 0; i < names.count; i++) {
        char from[PATH_MAX + 300];
        char to[PATH_MAX + 300];
        (void)snprintf(from, sizeof(from), "%s/%s", place->store, names.names[i]);
        (void)snprintf(to, sizeof(to), "%s/%s", place->copy, names.names[i]);
        assert_ok(bb_file_copy_synced(place->fs, from, to));
    }
    bb_file_names_deinit(&names);
}

static void cut_logs(const struct window_place *place, off_t size)
{
    struct bb_file_names names = {0};
    assert_ok(place->fs->ops->list(place->fs, place->copy, &names));
    for (size_t i = 0; i < names.count; i++) {
        char path[PATH_MAX + 300];
        (void)snprintf(path, sizeof(path), "%s/%s", place->copy, names.names[i]);
        if (strstr(names.names[i], ".wal") != NULL)
            assert_int_equal(truncate(path, size), 0);
    }
    bb_file_names_deinit(&names);
}

static void count_drops(void *context, const struct bb_event *event)
{
    *(size_t *)context += event->kind == BB_EVENT_RECOVERY;
}

/* Opens the copy as strictly as possible. */
static void check_copy(const struct window_place *place, uint32_t count)
{
    struct bb_db *db = NULL;
    size_t drops = 0;
    struct bb_db_options options = {
        .recovery = BB_RECOVERY_STRICT, .on_event = count_drops, .event_context = &drops};
    assert_ok(bb_db_verify(place->copy, &options, NULL));
    assert_ok(bb_db_open(place->copy, &options, &db));
    assert_int_equal(drops, 0);
    assert_keys(db, count);
    assert_ok(bb_db_close(db));
    assert_int_equal(count_windows(place, place->copy), 0);
    assert_ok(bb_db_verify(place->copy, &options, NULL));
}

/* ---- tests ---- */

static void db_window__a_kill_loses_no_write(void **state)
{
    (void)state;
    struct window_place place;
    place_init(&place);
    struct bb_db_options options = {.write_buffer_bytes = 64 * 1024, .deterministic = true};
    struct bb_db *db = open_store(&place, options);
    size_t with_window = 0;
    for (uint32_t i = 0; i < 3000; i++) {
        put(db, i);
        if (i % 97 != 0)
            continue;
        copy_store(&place);
        with_window += count_windows(&place, place.copy);
        check_copy(&place, i + 1);
        remove_copy(&place);
    }
    assert_true(with_window > 10);
    assert_ok(bb_db_close(db));
    assert_int_equal(count_windows(&place, place.store), 0);
    place_deinit(&place);
}

static void db_window__readers_see_each_write(void **state)
{
    (void)state;
    struct window_place place;
    place_init(&place);
    struct bb_db *db = open_store(&place, (struct bb_db_options){0});
    put(db, 0);
    struct bb_db *reader = open_store(&place, (struct bb_db_options){.read_only = true});
    for (uint32_t i = 1; i < 500; i++) {
        put(db, i);
        if (i % 10 != 0)
            continue;
        assert_ok(bb_db_refresh(reader));
        assert_keys(reader, i + 1);
    }
    assert_int_equal(count_windows(&place, place.store), 1);
    assert_ok(bb_db_close(reader));
    assert_ok(bb_db_close(db));
    place_deinit(&place);
}

static void db_window__repair_takes_its_writes(void **state)
{
    (void)state;
    struct window_place place;
    struct bb_db_repair_report report = {0};
    struct bb_db *copy = NULL;
    place_init(&place);
    struct bb_db *db = open_store(&place, (struct bb_db_options){0});
    for (uint32_t i = 0; i < 500; i++)
        put(db, i);
    copy_store(&place);
    assert_int_equal(count_windows(&place, place.copy), 1);
    char current[PATH_MAX + 16];
    (void)snprintf(current, sizeof(current), "%s/CURRENT", place.copy);
    assert_int_equal(unlink(current), 0);
    assert_ok(bb_db_repair(place.copy, NULL, NULL, &report));
    assert_int_equal(report.log_bytes_lost, 0);
    assert_ok(bb_db_open(place.copy, NULL, &copy));
    assert_keys(copy, 500);
    assert_ok(bb_db_close(copy));
    assert_ok(bb_db_close(db));
    place_deinit(&place);
}

static void db_window__destroy_removes_it(void **state)
{
    (void)state;
    struct window_place place;
    place_init(&place);
    struct bb_db *db = open_store(&place, (struct bb_db_options){0});
    for (uint32_t i = 0; i < 100; i++)
        put(db, i);
    copy_store(&place);
    assert_int_equal(count_windows(&place, place.copy), 1);
    assert_ok(bb_db_destroy(place.copy, NULL, NULL));
    assert_int_equal(access(place.copy, F_OK), -1);
    assert_ok(bb_db_close(db));
    place_deinit(&place);
}

/* The files of a log that recovery cut are kept as copies. */
static void db_window__is_kept_with_a_damaged_log(void **state)
{
    (void)state;
    struct window_place place;
    struct bb_db *copy = NULL;
    struct bb_db_options options = {.recovery = BB_RECOVERY_POINT_IN_TIME};
    place_init(&place);
    struct bb_db *db = open_store(&place, (struct bb_db_options){0});
    for (uint32_t i = 0; i < 40; i++)
        put(db, i);
    struct bb_write_options sync = {.sync = true};
    assert_ok(bb_db_put(db, &sync, bb_bytes_of_text("synced"), bb_bytes_of_text("")));
    for (uint32_t i = 40; i < 80; i++)
        put(db, i);
    copy_store(&place);
    cut_logs(&place, 300);
    assert_int_equal(bb_db_open(place.copy, NULL, &copy), BB_CORRUPT);
    assert_ok(bb_db_open(place.copy, &options, &copy));
    assert_ok(bb_db_close(copy));
    assert_int_equal(count_windows(&place, place.copy), 1); /* NUMBER.window.damaged */
    assert_ok(bb_db_close(db));
    place_deinit(&place);
}

/* The window of the copy, as if it belonged to a log that was created later. */
static void move_window(const struct window_place *place)
{
    struct bb_file_names names = {0};
    assert_ok(place->fs->ops->list(place->fs, place->copy, &names));
    for (size_t i = 0; i < names.count; i++) {
        char from[PATH_MAX + 300];
        char to[PATH_MAX + 300];
        (void)snprintf(from, sizeof(from), "%s/%s", place->copy, names.names[i]);
        (void)snprintf(to, sizeof(to), "%s/000099.window", place->copy);
        if (strstr(names.names[i], ".window") != NULL)
            assert_int_equal(rename(from, to), 0);
    }
    bb_file_names_deinit(&names);
}

/* The next log of the store was deleted, and its window was not. Without the window the store would
 * be one that never had this log. */
static void db_window__without_its_log_is_damage(void **state)
{
    (void)state;
    static const enum bb_recovery modes[] = {BB_RECOVERY_SYNCED, BB_RECOVERY_STRICT,
                                             BB_RECOVERY_POINT_IN_TIME};
    struct window_place place;
    struct bb_db *copy = NULL;
    struct bb_db_repair_report report = {0};
    struct bb_write_options sync = {.sync = true};
    char text[16];
    place_init(&place);
    struct bb_db *db = open_store(&place, (struct bb_db_options){.deterministic = true});
    assert_ok(bb_db_put(db, &sync, key_of(0, text), key_of(0, text)));
    for (uint32_t i = 1; i < 100; i++)
        put(db, i);
    copy_store(&place);
    move_window(&place);
    for (size_t i = 0; i < 3; i++) {
        struct bb_db_options options = {.recovery = modes[i]};
        assert_int_equal(bb_db_verify(place.copy, &options, NULL), BB_CORRUPT);
        assert_int_equal(bb_db_open(place.copy, &options, &copy), BB_CORRUPT);
        assert_non_null(strstr(bb_error_last()->message, "000099.wal: missing"));
    }
    assert_ok(bb_db_repair(place.copy, NULL, NULL, &report));
    assert_int_equal(report.logs_lost, 1);
    assert_int_equal(report.logs_kept, 1);
    assert_ok(bb_db_open(place.copy, NULL, &copy));
    assert_prefix(copy, 1);
    assert_ok(bb_db_close(copy));
    assert_ok(bb_db_close(db));
    place_deinit(&place);
}

/* A full disk, as a limit of the size of files. The record of the failed write may be there. */
static void db_window__has_the_writes_before_a_failed_one(void **state)
{
    (void)state;
    struct window_place place;
    struct rlimit before;
    uint32_t count = 0;
    place_init(&place);
    struct bb_db *db = open_store(&place, (struct bb_db_options){.deterministic = true});
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit limit = {.rlim_cur = 400000, .rlim_max = before.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    while (count < 10000 && try_put(db, count) == BB_OK)
        count++;
    assert_in_range(count, 1000, 9999);
    assert_int_equal(count_windows(&place, place.store), 1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, handler);
    copy_store(&place);
    struct bb_db *copy = NULL;
    assert_ok(bb_db_open(place.copy, NULL, &copy));
    assert_prefix(copy, count);
    assert_ok(bb_db_close(copy));
    put(db, count); /* moves the memtable into a table, and removes the log with its window */
    assert_keys(db, count + 1);
    assert_int_equal(count_windows(&place, place.store), 0);
    assert_ok(bb_db_close(db));
    place_deinit(&place);
}

int main(void)
{
    const struct CMUnitTest threaded[] = {
        cmocka_unit_test(db_window__readers_see_each_write),
        cmocka_unit_test(db_window__repair_takes_its_writes),
        cmocka_unit_test(db_window__destroy_removes_it),
        cmocka_unit_test(db_window__is_kept_with_a_damaged_log),
        cmocka_unit_test(db_window__without_its_log_is_damage),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(db_window__a_kill_loses_no_write),
        cmocka_unit_test(db_window__has_the_writes_before_a_failed_one),
    };
    int failed = cmocka_run_group_tests(threaded, NULL, NULL);
    if (!bb_test_threads_only())
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    return failed;
}
