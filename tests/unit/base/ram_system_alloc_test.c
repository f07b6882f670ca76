/* Goal: lack of memory is reported by the users' files in memory, and leaks nothing. Method: linked
 * with tests/support/alloc/alloc_fault.c; every allocation fails one by one. */
#include "tests/support/assert_status.h"

#include "base/bytes.h"
#include "base/file.h"
#include "tests/support/alloc/alloc_fault.h"

static enum bb_status write_file(struct bb_file_system *fs, const char *path)
{
    struct bb_file *file = NULL;
    enum bb_status status = bb_file_create(fs, path, &file);
    if (status != BB_OK)
        return status;
    status = bb_file_append(file, bb_bytes_of_text("text"));
    if (status == BB_OK)
        status = bb_file_sync(file);
    assert_ok(bb_file_close(file));
    return status;
}

static enum bb_status list(struct bb_file_system *fs)
{
    struct bb_file_names names = {0};
    enum bb_status status = fs->ops->list(fs, "d", &names);
    bb_file_names_deinit(&names);
    return status;
}

static enum bb_status work(struct bb_file_system *fs, struct bb_file_system **after)
{
    struct bb_file *lock = NULL;
    enum bb_status status = fs->ops->make_directory(fs, "d");
    if (status == BB_OK)
        status = write_file(fs, "d/a");
    if (status == BB_OK)
        status = fs->ops->link(fs, "d/a", "d/b");
    if (status == BB_OK)
        status = fs->ops->rename(fs, "d/a", "d/c");
    if (status == BB_OK)
        status = fs->ops->sync_directory(fs, "d");
    if (status == BB_OK)
        status = fs->ops->sync_directory(fs, "/");
    if (status == BB_OK)
        status = list(fs);
    if (status == BB_OK)
        status = fs->ops->lock(fs, "d/LOCK", &lock);
    if (lock != NULL)
        assert_ok(fs->ops->unlock(fs, lock));
    if (status == BB_OK)
        status = bb_file_system_power_failure(fs, after);
    return status;
}

static enum bb_status scenario(void *context)
{
    struct bb_file_system *fs = NULL;
    struct bb_file_system *after = NULL;
    (void)context;
    enum bb_status status = bb_file_system_memory_create(&fs);
    if (status == BB_OK)
        status = work(fs, &after);
    bb_file_system_memory_destroy(fs);
    bb_file_system_memory_destroy(after);
    return status;
}

static void ram_system__every_failed_allocation_is_reported(void **state)
{
    (void)state;
    assert_true(bb_alloc_fault_sweep(scenario, NULL, false) >= 30);
}

static bool is_there(struct bb_file_system *fs, const char *path)
{
    bool is_directory = false;
    uint64_t size = 0;
    return fs->ops->status(fs, path, &is_directory, &size) == BB_OK;
}

static enum bb_status rename_over(struct bb_file_system *fs, uint64_t failing)
{
    bb_alloc_fault_arm(failing, false);
    enum bb_status status = fs->ops->rename(fs, "new", "old");
    bb_alloc_fault_disarm();
    return status;
}

/* A rename without memory removed the file that it was to replace. */
static void ram_system__a_failed_rename_keeps_both_files(void **state)
{
    (void)state;
    struct bb_file_system *fs = NULL;
    uint64_t failing = 1;
    assert_ok(bb_file_system_memory_create(&fs));
    assert_ok(write_file(fs, "new"));
    assert_ok(write_file(fs, "old"));
    while (rename_over(fs, failing) != BB_OK) {
        assert_int_equal(bb_error_last()->status, BB_NO_MEMORY);
        assert_true(is_there(fs, "new") && is_there(fs, "old"));
        failing++;
    }
    assert_true(failing > 2);
    assert_true(!is_there(fs, "new") && is_there(fs, "old"));
    bb_file_system_memory_destroy(fs);
}

/* A failed append counts as a call without bytes, and ends the writing of the file. */
static void ram_system__counts_of_a_failed_append(void **state)
{
    (void)state;
    struct bb_file_system *fs = NULL;
    struct bb_file *file = NULL;
    struct bb_file_counters counters;
    assert_ok(bb_file_system_memory_create(&fs));
    assert_ok(bb_file_create(fs, "f", &file));
    assert_ok(bb_file_append(file, bb_bytes_of_text("text")));
    char much[5000] = {0};
    bb_alloc_fault_arm(1, false);
    assert_status(bb_file_append(file, bb_bytes_of(much, sizeof(much))), BB_NO_MEMORY);
    bb_alloc_fault_disarm();
    fs->ops->counters(fs, &counters);
    assert_int_equal(counters.appends, 2);
    assert_int_equal(counters.append_bytes, 4);
    assert_int_not_equal(bb_file_append(file, bb_bytes_of_text("t")), BB_OK);
    assert_ok(bb_file_close(file));
    bb_file_system_memory_destroy(fs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ram_system__every_failed_allocation_is_reported),
        cmocka_unit_test(ram_system__a_failed_rename_keeps_both_files),
        cmocka_unit_test(ram_system__counts_of_a_failed_append),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
