/* Goal: bb_db_verify and a dry run of bb_db_repair change nothing, so that a backup can be checked
 * without write access: no permission, or a file system that is mounted read-only. Method: a file
 * system in which each changing call fails, and which lists its calls; stores that are intact, that
 * have a log, and that are damaged in each file. And the operating system's files, checked by a
 * read-only user. */
#include "tests/support/store.h"

#include <errno.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/file_fault.h"
#include "tests/support/temp_dir.h"

#define NOBODY 65534

/* Tables in two levels and something in its log. */
static void put_some(struct bb_db *db)
{
    assert_ok(bb_db_put(db, NULL, bb_bytes_of_text("a"), bb_bytes_of_text("1")));
    assert_ok(bb_db_compact(db));
    assert_ok(bb_db_put(db, NULL, bb_bytes_of_text("b"), bb_bytes_of_text("2")));
    assert_ok(bb_db_flush(db));
    assert_ok(bb_db_put(db, NULL, bb_bytes_of_text("c"), bb_bytes_of_text("3")));
}

static void fill(struct store *store)
{
    store_init(store);
    store_open(store);
    put_some(store->db);
    store_close(store);
}

/* ---- calls ---- */

static bool is_change(enum bb_file_call call)
{
    switch (call) {
    case BB_FILE_CALL_CREATE:
    case BB_FILE_CALL_APPEND:
    case BB_FILE_CALL_SYNC:
    case BB_FILE_CALL_RENAME:
    case BB_FILE_CALL_LINK:
    case BB_FILE_CALL_REMOVE:
    case BB_FILE_CALL_MAKE_DIRECTORY:
    case BB_FILE_CALL_REMOVE_DIRECTORY:
    case BB_FILE_CALL_SYNC_DIRECTORY:
    case BB_FILE_CALL_LOCK:
        return true;
    default:
        return false;
    }
}

static void assert_no_change(struct bb_file_fault *fault)
{
    size_t count = 0;
    const struct bb_file_fault_record *records = bb_file_fault_log(fault, &count);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        if (is_change(records[i].call))
            fail_msg("%s of %s", bb_file_call_name(records[i].call), records[i].path);
    }
    bb_file_fault_log_clear(fault);
}

/* Verifies, and repairs without changing anything. */
static enum bb_status check(struct store *store, struct bb_db_repair_report *ret_report)
{
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(store->memory));
    struct bb_db_options options = store->options;
    uint64_t calls = bb_file_memory_calls(store->memory);
    options.file_system = bb_file_fault_system(fault);
    bb_file_fault_log_enable(fault, true);
    enum bb_status status = bb_db_verify(STORE_PATH, &options, NULL);
    assert_no_change(fault);
    const struct bb_db_repair_options how = {.dry_run = true};
    enum bb_status repaired = bb_db_repair(STORE_PATH, &options, &how, ret_report);
    assert_no_change(fault);
    assert_true(repaired == BB_OK || repaired == BB_CORRUPT);
    assert_int_equal(bb_file_memory_calls(store->memory), calls);
    bb_file_fault_destroy(fault);
    return status;
}

static void check_read_only__of_a_sound_store(void **state)
{
    (void)state;
    for (int has_lock = 0; has_lock < 2; has_lock++) {
        struct store store;
        struct bb_db_repair_report report = {0};
        size_t size = 0;
        fill(&store);
        struct bb_file_system *fs = bb_file_memory_system(store.memory);
        if (has_lock == 0)
            assert_ok(fs->ops->remove(fs, STORE_PATH "/LOCK"));
        assert_ok(check(&store, &report));
        assert_true(report.is_whole);
        assert_int_equal(bb_file_memory_bytes(store.memory, STORE_PATH "/LOCK", &size) != NULL,
                         has_lock);
        store_deinit(&store);
    }
}

/* Each file has a wrong bit, or is missing: the dry run finds the necessary repairs. */
static void check_damaged(const char *name, bool is_missing)
{
    struct store store;
    struct bb_db_repair_report report = {0};
    char path[128];
    size_t size = 0;
    fill(&store);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    snprintf(path, sizeof(path), STORE_PATH "/%s", name);
    uint8_t *bytes = bb_file_memory_bytes(store.memory, path, &size);
    if (is_missing)
        assert_ok(fs->ops->remove(fs, path));
    else if (size > 0)
        bytes[size / 2] ^= 4;
    (void)!check(&store, &report);
    bb_file_memory_destroy(store.memory);
}

static void check_read_only__of_a_damaged_store(void **state)
{
    (void)state;
    struct store store;
    struct bb_file_names names = {0};
    fill(&store);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    assert_ok(fs->ops->list(fs, STORE_PATH, &names));
    assert_true(names.count >= 6);
    for (size_t i = 0; i < names.count; i++) {
        check_damaged(names.names[i], false);
        check_damaged(names.names[i], true);
    }
    bb_file_names_deinit(&names);
    store_deinit(&store);
}

/* An open store refuses a check, and vice versa. */
static void check_read_only__not_beside_a_writer(void **state)
{
    (void)state;
    struct store store;
    struct bb_file *lock = NULL;
    fill(&store);
    store_open(&store);
    assert_status(bb_db_verify(STORE_PATH, &store.options, NULL), BB_BUSY);
    const struct bb_db_repair_options how = {.dry_run = true};
    assert_status(bb_db_repair(STORE_PATH, &store.options, &how, NULL), BB_BUSY);
    store_close(&store);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    assert_ok(fs->ops->lock_shared(fs, STORE_PATH "/LOCK", &lock));
    assert_status(bb_db_open(STORE_PATH, &store.options, &store.db), BB_BUSY);
    assert_ok(bb_db_verify(STORE_PATH, &store.options, NULL));
    assert_ok(fs->ops->unlock(fs, lock));
    store_deinit(&store);
}

/* ---- a user who may only read ---- */

struct backup {
    struct bb_temp_dir dir;
    char path[PATH_MAX];
};

static void set_modes(struct backup *backup, mode_t directory, mode_t files)
{
    static char path[2 * PATH_MAX];
    struct bb_file_system *fs = NULL;
    struct bb_file_names names;
    assert_int_equal(chmod(backup->path, 0700), 0);
    assert_ok(bb_file_system_posix_create(&fs));
    assert_ok(fs->ops->list(fs, backup->path, &names));
    for (size_t i = 0; i < names.count; i++) {
        snprintf(path, sizeof(path), "%s/%s", backup->path, names.names[i]);
        assert_int_equal(chmod(path, files), 0);
    }
    bb_file_names_deinit(&names);
    bb_file_system_posix_destroy(fs);
    assert_int_equal(chmod(backup->path, directory), 0);
}

static int setup(void **state)
{
    static struct backup backup;
    struct bb_db *db = NULL;
    bb_temp_dir_init(&backup.dir, "check_read_only_test");
    bb_temp_dir_path(&backup.dir, "store", backup.path);
    assert_ok(bb_db_open(backup.path, &(struct bb_db_options){.create_if_missing = true}, &db));
    put_some(db);
    assert_ok(bb_db_close(db));
    *state = &backup;
    return 0;
}

static int teardown(void **state)
{
    struct backup *backup = *state;
    set_modes(backup, 0700, 0600);
    bb_temp_dir_deinit(&backup->dir);
    return 0;
}

/* Runs in a child: permissions do not bind root, so the child changes its user. Its exit status is
 * the number of the first failed step; 99: it cannot access the store at all. */
static int check_as_reader(const struct backup *backup)
{
    if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
        return 99;
    if (access(backup->path, R_OK | X_OK) != 0)
        return 99;
    if (access(backup->path, W_OK) == 0)
        return 1;
    struct bb_db_repair_report report = {0};
    if (bb_db_verify(backup->path, NULL, NULL) != BB_OK)
        return 2;
    if (bb_db_repair(backup->path, NULL, &(struct bb_db_repair_options){.dry_run = true},
                     &report) != BB_OK)
        return 3;
    return report.is_whole ? 0 : 4;
}

static void check_read_only__by_a_user_who_may_only_read(void **state)
{
    struct backup *backup = *state;
    int result = 0;
    set_modes(backup, 0555, 0444);
    assert_int_equal(chmod(backup->dir.path, 0755), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(check_as_reader(backup));
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    if (WEXITSTATUS(result) == 99)
        skip();
    assert_int_equal(WEXITSTATUS(result), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_read_only__of_a_sound_store),
        cmocka_unit_test(check_read_only__of_a_damaged_store),
        cmocka_unit_test(check_read_only__not_beside_a_writer),
        cmocka_unit_test_setup_teardown(check_read_only__by_a_user_who_may_only_read, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
