/* Goal: lack of memory in the file seam is reported as such, leaks neither memory nor descriptors,
 * and leaves no file whose creation failed. Method: linked with tests/support/alloc/alloc_fault.c;
 * every allocation of a scenario fails one by one, over the operating system's files and over the
 * files in memory. */
#include "tests/support/assert_status.h"

#include <dirent.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/path.h"
#include "base/status.h"
#include "tests/support/alloc/alloc_fault.h"
#include "tests/support/file_memory.h"
#include "tests/support/temp_dir.h"

struct scenario {
    struct bb_file_system *fs;
    const char *directory;
};

static enum bb_status write_file(struct bb_file_system *fs, const char *path)
{
    struct bb_file *file = NULL;
    enum bb_status status = bb_file_create(fs, path, &file);
    if (status != BB_OK)
        return status;
    status = bb_file_append(file, bb_bytes_of_text("contents"));
    enum bb_status close_status = bb_file_close(file);
    return status == BB_OK ? close_status : status;
}

static enum bb_status use_file(struct scenario *scenario, const char *path)
{
    struct bb_file_system *fs = scenario->fs;
    struct bb_file_names list = {0};
    struct bb_buf buf = {0};
    struct bb_file *lock = NULL;
    enum bb_status status = write_file(fs, path);
    if (status == BB_OK)
        status = bb_file_read_whole(fs, path, 100, &buf);
    if (status == BB_OK)
        status = fs->ops->list(fs, scenario->directory, &list);
    if (status == BB_OK)
        status = fs->ops->lock(fs, path, &lock);
    if (status == BB_OK)
        status = fs->ops->unlock(fs, lock);
    bb_file_names_deinit(&list);
    bb_buf_deinit(&buf);
    return status;
}

static enum bb_status run(void *context)
{
    struct scenario *scenario = context;
    struct bb_file_system *fs = scenario->fs;
    char path[BB_PATH_SIZE_MAX];
    assert_ok(bb_path_join(scenario->directory, "f", path));
    enum bb_status status = use_file(scenario, path);
    struct bb_error error = *bb_error_last();
    enum bb_status remove_status = fs->ops->remove(fs, path);
    if (status != BB_OK)
        return bb_error_restore(
            &error); /* the error of removing a file that was not created is not the reason */
    return remove_status;
}

static size_t count_descriptors(void)
{
    size_t count = 0;
    DIR *stream = opendir("/proc/self/fd");
    assert_non_null(stream);
    while (readdir(stream) != NULL)
        count++;
    closedir(stream);
    return count;
}

static void file__failed_allocations_over_posix(void **state)
{
    (void)state;
    struct bb_temp_dir dir;
    struct scenario scenario = {.directory = dir.path};
    bb_temp_dir_init(&dir, "file_alloc");
    assert_ok(bb_file_system_posix_create(&scenario.fs));
    size_t descriptors = count_descriptors();
    /* create, open, contents, the array of names, one name, lock */
    assert_int_equal(bb_alloc_fault_sweep(run, &scenario, false), 6);
    assert_int_equal(count_descriptors(), descriptors);
    bb_file_system_posix_destroy(scenario.fs);
    bb_temp_dir_deinit(&dir);
}

static void file__failed_allocations_over_memory(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct scenario scenario = {.fs = bb_file_memory_system(memory), .directory = "/"};
    /* contents, the array of names, one name: the files themselves are the test's */
    assert_int_equal(bb_alloc_fault_sweep(run, &scenario, false), 3);
    assert_int_equal(bb_file_memory_open_files(memory), 0);
    bb_file_memory_destroy(memory);
}

static void file__create_without_memory_leaves_no_file(void **state)
{
    (void)state;
    struct bb_temp_dir dir;
    struct bb_file_system *fs = NULL;
    struct bb_file *file = NULL;
    char path[PATH_MAX];
    bool is_directory = false;
    uint64_t size = 0;
    bb_temp_dir_init(&dir, "file_alloc");
    bb_temp_dir_path(&dir, "f", path);
    assert_ok(bb_file_system_posix_create(&fs));
    bb_alloc_fault_arm(1, true);
    assert_status(bb_file_create(fs, path, &file), BB_NO_MEMORY);
    bb_alloc_fault_disarm();
    assert_message(path);
    assert_status(fs->ops->status(fs, path, &is_directory, &size), BB_NOT_FOUND);
    bb_file_system_posix_destroy(fs);
    bb_temp_dir_deinit(&dir);
}

static enum bb_status make_file_system(void *context)
{
    (void)context;
    struct bb_file_system *fs = NULL;
    enum bb_status status = bb_file_system_posix_create(&fs);
    if (status == BB_OK)
        bb_file_system_posix_destroy(fs);
    return status;
}

static void file__file_system_without_memory(void **state)
{
    (void)state;
    assert_int_equal(bb_alloc_fault_sweep(make_file_system, NULL, false), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file__failed_allocations_over_posix),
        cmocka_unit_test(file__failed_allocations_over_memory),
        cmocka_unit_test(file__create_without_memory_leaves_no_file),
        cmocka_unit_test(file__file_system_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
