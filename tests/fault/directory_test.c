/* Goal: opening a store never creates over, removes or rewrites unknown files, for any contents of
 * CURRENT and any other files; a store that is not writable, or is in use by another process,
 * reports that. Method: a killed store (tests/fault/sample.h), all kinds of contents of CURRENT,
 * foreign files, logs of others, lock files. Images of the directory before and after. */
#include "bb/db_files.h"
#include "tests/fault/sample.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/file_fault.h"
#include "tests/support/temp_dir.h"

/* ---- CURRENT ---- */

static void directory__current_says(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size;
    } currents[] = {
        {"", 0},
        {"\n", 1},
        {"MANIFEST-000001", 15},
        {"MANIFEST-000001\r\n", 17},
        {"MANIFEST-999999\n", 16},
        {"MANIFEST-000001\nMANIFEST-000001\n", 32},
        {"MANIFEST-000001\n\n", 17},
        {" MANIFEST-000001\n", 17},
        {"MANIFEST-1\n", 11},
        {"MANIFEST-0000001\n", 17},
        {"manifest-000001\n", 16},
        {"MANIFEST-\n", 10},
        {"MANIFEST-00000x\n", 16},
        {"MANIFEST-99999999999999999999999\n", 33},
        {"../other/MANIFEST-000001\n", 25},
        {"000001.bbt\n", 11},
        {"CURRENT\n", 8},
        {"LOCK\n", 5},
        {"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16},
        {"MANIFEST-000001\n\0", 17},
        {"MANIFEST-000001\0\n", 17},
    };
    struct sample sample = sample_create(1, 0);
    const struct photo_file *current = photo_find(&sample.photo, "CURRENT");
    for (size_t i = 0; i < sizeof(currents) / sizeof(currents[0]); i++) {
        struct bb_file_memory *memory = bb_file_memory_clone(sample.memory);
        struct bb_db_options options = store_options(memory);
        struct photo before;
        struct photo after;
        struct bb_db *db = NULL;
        bb_file_memory_put(memory, STORE_PATH "/CURRENT",
                           bb_bytes_of(currents[i].text, currents[i].size));
        photo_take(&before, memory, STORE_PATH);
        assert_status(bb_db_open(STORE_PATH, &options, &db), BB_CORRUPT);
        /* A CURRENT that names a manifest is itself right. */
        if (strstr(bb_error_last()->message, "MANIFEST-999999") == NULL)
            assert_message("CURRENT");
        photo_take(&after, memory, STORE_PATH);
        assert_null(photo_difference(&before, &after, "LOCK"));
        photo_deinit(&after);
        bb_file_memory_put(memory, STORE_PATH "/CURRENT", current->bytes);
        assert_ok(bb_db_open(STORE_PATH, &options, &db));
        assert_true(sample_shows(db, SAMPLE_COMMITS, false));
        assert_ok(bb_db_close(db));
        photo_deinit(&before);
        bb_file_memory_destroy(memory);
    }
    sample_destroy(&sample);
}

/* ---- Other files ---- */

/* Names that are almost ours, and others; none is touched, for any contents. */
static void directory__foreign_files_stay(void **state)
{
    (void)state;
    static const char *const names[] = {
        "000001.sst",  "1.bbt",
        "000001.BBT",  "0000001.bbt",
        "-00001.bbt",  "000000.bbt",
        "000099.bbt~", "MANIFEST",
        "MANIFEST-1",  "current",
        "CURRENT.bak", "LOCK.old",
        "000003.ldb",  "000001.wal.damaged",
        "000007.log",  "x.tmp",
        "tmp",         "+00012.wal",
        " 000012.wal", "000012.wal ",
        "a b",         "99999999999999999999.bbt",
    };
    struct sample sample = sample_create(1, 0);
    struct bb_file_memory *memory = bb_file_memory_clone(sample.memory);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct bb_db_options options = store_options(memory);
    struct bb_db *db = NULL;
    struct photo after;
    char path[128];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), STORE_PATH "/%s", names[i]);
        bb_file_memory_put(memory, path, bb_bytes_of_text(names[i]));
    }
    assert_ok(fs->ops->make_directory(fs, STORE_PATH "/000123.bbt"));
    assert_ok(fs->ops->make_directory(fs, STORE_PATH "/MANIFEST-000124"));
    for (int opened = 0; opened < 3; opened++) {
        assert_ok(bb_db_open(STORE_PATH, &options, &db));
        assert_true(sample_shows(db, SAMPLE_COMMITS, false));
        assert_ok(bb_db_compact(db));
        assert_ok(bb_db_close(db));
    }
    photo_take(&after, memory, STORE_PATH);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct photo_file *file = photo_find(&after, names[i]);
        assert_non_null(file);
        assert_true(bb_bytes_equal(file->bytes, bb_bytes_of_text(names[i])));
    }
    assert_non_null(photo_find(&after, "000123.bbt"));
    assert_non_null(photo_find(&after, "MANIFEST-000124"));
    photo_deinit(&after);
    bb_file_memory_destroy(memory);
    sample_destroy(&sample);
}

/* Numbers above every name, so that no existing file has a new number. */
static void directory__numbers_start_above_every_name(void **state)
{
    (void)state;
    struct sample sample = sample_create(1, 0);
    struct bb_file_memory *memory = bb_file_memory_clone(sample.memory);
    struct bb_db_options options = store_options(memory);
    struct bb_db *db = NULL;
    struct photo after;
    bb_file_memory_put(memory, STORE_PATH "/007000.bbt", bb_bytes_of_text("left by somebody"));
    assert_ok(bb_db_open(STORE_PATH, &options, &db));
    assert_true(sample_shows(db, SAMPLE_COMMITS, false));
    assert_ok(bb_db_close(db));
    photo_take(&after, memory, STORE_PATH);
    for (size_t i = 0; i < after.count; i++) {
        const char *name = after.files[i].name;
        if (photo_find(&sample.photo, name) == NULL) {
            unsigned long number = strtoul(name + strcspn(name, "0123456789"), NULL, 10);
            assert_true(number > 7000);
        }
    }
    photo_deinit(&after);
    bb_file_memory_destroy(memory);
    sample_destroy(&sample);
}

/* A log of another store, with a number to come: its records are not ours to replay or to remove.
 */
static void directory__a_log_of_another_store_stays(void **state)
{
    (void)state;
    struct sample sample = sample_create(1, 0);
    struct sample other = sample_create(2, 1000);
    struct bb_file_memory *memory = bb_file_memory_clone(sample.memory);
    struct bb_db_options options = store_options(memory);
    struct bb_db *db = NULL;
    struct photo before;
    struct photo after;
    for (size_t i = 0; i < other.photo.count; i++) {
        if (strcmp(sample_suffix(other.photo.files[i].name), ".wal") == 0)
            bb_file_memory_put(memory, STORE_PATH "/000900.wal", other.photo.files[i].bytes);
    }
    photo_take(&before, memory, STORE_PATH);
    assert_non_null(photo_find(&before, "000900.wal"));
    for (int point_in_time = 0; point_in_time < 2; point_in_time++) {
        options.recovery = point_in_time != 0 ? BB_RECOVERY_POINT_IN_TIME : BB_RECOVERY_SYNCED;
        assert_status(bb_db_open(STORE_PATH, &options, &db), BB_CORRUPT);
        assert_message("000900.wal");
    }
    photo_take(&after, memory, STORE_PATH);
    assert_null(photo_difference(&before, &after, "LOCK"));
    photo_deinit(&before);
    photo_deinit(&after);
    bb_file_memory_destroy(memory);
    sample_destroy(&sample);
    sample_destroy(&other);
}

static void count_recoveries(void *context, const struct bb_event *event)
{
    int *count = context;
    *count += event->kind == BB_EVENT_RECOVERY && strstr(event->message, "000900.wal") != NULL;
}

/* Random bytes under the name of a future log may result from a power failure during its creation:
 * they are reported, not fatal. */
static void directory__garbage_in_a_log_to_come(void **state)
{
    (void)state;
    static const uint8_t garbage[5000] = {1, 2, 3};
    struct sample sample = sample_create(1, 0);
    struct bb_file_memory *memory = bb_file_memory_clone(sample.memory);
    struct bb_db_options options = store_options(memory);
    struct bb_db *db = NULL;
    int told = 0;
    options.on_event = count_recoveries;
    options.event_context = &told;
    bb_file_memory_put(memory, STORE_PATH "/000900.wal", bb_bytes_of(garbage, sizeof(garbage)));
    assert_ok(bb_db_open(STORE_PATH, &options, &db));
    assert_true(sample_shows(db, SAMPLE_COMMITS, false));
    assert_int_equal(told, 1);
    assert_ok(bb_db_close(db));
    bb_file_memory_destroy(memory);
    sample_destroy(&sample);
}

/* ---- The lock ---- */

static void directory__lock_file_of_any_content(void **state)
{
    (void)state;
    static const char *const contents[] = {"", "1\n", "99999999999999999999\n", "not a number",
                                           "-1\n"};
    struct sample sample = sample_create(1, 0);
    for (size_t i = 0; i < sizeof(contents) / sizeof(contents[0]); i++) {
        struct bb_file_memory *memory = bb_file_memory_clone(sample.memory);
        struct bb_db_options options = store_options(memory);
        struct bb_db *db = NULL;
        bb_file_memory_put(memory, STORE_PATH "/LOCK", bb_bytes_of_text(contents[i]));
        assert_ok(bb_db_open(STORE_PATH, &options, &db));
        assert_true(sample_shows(db, SAMPLE_COMMITS, false));
        assert_ok(bb_db_close(db));
        bb_file_memory_destroy(memory);
    }
    sample_destroy(&sample);
}

/* A read-only file system: the store reports it, and nothing has changed. */
static void directory__read_only(void **state)
{
    (void)state;
    static const enum bb_file_call calls[] = {BB_FILE_CALL_LOCK, BB_FILE_CALL_CREATE};
    struct sample sample = sample_create(1, 0);
    for (size_t i = 0; i < 2; i++) {
        struct bb_file_memory *memory = bb_file_memory_clone(sample.memory);
        struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(memory));
        struct bb_db_options options = store_options(memory);
        struct bb_db *db = NULL;
        struct photo after;
        options.file_system = bb_file_fault_system(fault);
        bb_file_fault_arm(fault,
                          &(struct bb_file_fault_plan){
                              .call = calls[i], .nth = 1, .lasting = true, .error_number = EROFS});
        assert_status(bb_db_open(STORE_PATH, &options, &db), BB_READ_ONLY);
        bb_file_fault_destroy(fault);
        photo_take(&after, memory, STORE_PATH);
        assert_null(photo_difference(&sample.photo, &after, "LOCK"));
        photo_deinit(&after);
        bb_file_memory_destroy(memory);
    }
    sample_destroy(&sample);
}

/* LOCK removed by a person who wanted to unlock the store: still no other opening gets the store,
 * by any name of it. */
static void directory__lock_file_removed_while_open(void **state)
{
    (void)state;
    struct bb_temp_dir dir;
    struct bb_db_options options = {.create_if_missing = true, .deterministic = true};
    struct bb_db *db = NULL;
    struct bb_db *second = NULL;
    char path[PATH_MAX];
    char lock[PATH_MAX];
    char link[PATH_MAX];
    bb_temp_dir_init(&dir, "directory_test");
    bb_temp_dir_path(&dir, "store", path);
    bb_temp_dir_path(&dir, "store/LOCK", lock);
    bb_temp_dir_path(&dir, "link", link);
    assert_int_equal(symlink(path, link), 0);
    assert_ok(bb_db_open(path, &options, &db));
    assert_int_equal(unlink(lock), 0);
    assert_status(bb_db_open(path, &options, &second), BB_BUSY);
    assert_message("the directory is locked");
    assert_status(bb_db_open(link, &options, &second), BB_BUSY);
    assert_status(bb_db_destroy(path, &options, NULL), BB_BUSY);
    assert_status(bb_db_repair(path, &options, NULL, NULL), BB_BUSY);
    assert_ok(bb_db_put(db, NULL, bb_bytes_of_text("a"), bb_bytes_of_text("1")));
    assert_ok(bb_db_flush(db));
    assert_ok(bb_db_close(db));
    assert_ok(bb_db_open(link, &options, &db));
    assert_content_at(db, NULL, "a=1");
    assert_ok(bb_db_close(db));
    bb_temp_dir_deinit(&dir);
}

/* Another process has the store: its id is reported, and the lock ends with it. */
static void directory__held_by_another_process(void **state)
{
    (void)state;
    struct bb_temp_dir dir;
    struct bb_db_options options = {.create_if_missing = true, .deterministic = true};
    struct bb_db *db = NULL;
    char path[PATH_MAX];
    char holder[32];
    int ready[2];
    char byte = 0;
    bb_temp_dir_init(&dir, "directory_test");
    bb_temp_dir_path(&dir, "store", path);
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool ok = bb_db_open(path, &options, &db) == BB_OK &&
                  bb_db_put(db, NULL, bb_bytes_of_text("a"), bb_bytes_of_text("1")) == BB_OK;
        if (write(ready[1], ok ? "y" : "n", 1) != 1)
            _exit(1);
        for (;;)
            (void)pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    assert_status(bb_db_open(path, &options, &db), BB_BUSY);
    snprintf(holder, sizeof(holder), "process %d", (int)child);
    assert_message(holder);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_ok(bb_db_open(path, &options, &db));
    assert_content_at(db, NULL, "a=1");
    assert_ok(bb_db_close(db));
    (void)close(ready[0]);
    (void)close(ready[1]);
    bb_temp_dir_deinit(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directory__current_says),
        cmocka_unit_test(directory__foreign_files_stay),
        cmocka_unit_test(directory__numbers_start_above_every_name),
        cmocka_unit_test(directory__a_log_of_another_store_stays),
        cmocka_unit_test(directory__garbage_in_a_log_to_come),
        cmocka_unit_test(directory__lock_file_of_any_content),
        cmocka_unit_test(directory__read_only),
        cmocka_unit_test(directory__lock_file_removed_while_open),
        cmocka_unit_test(directory__held_by_another_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
