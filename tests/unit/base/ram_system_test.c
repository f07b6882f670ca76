/* Goal: after a power failure the users' files in memory are exactly the synced ones. Method:
 * files, names and directories, each synced or not; the original stays usable.
 * tests/unit/base/file_test.c compares all other behaviour with a disk. */
#include "tests/support/assert_status.h"

#include <stdio.h>

#include "base/sync.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/file.h"
#include "tests/support/file_memory.h"

static struct bb_file_system *files(void)
{
    struct bb_file_system *fs = NULL;
    assert_ok(bb_file_system_memory_create(&fs));
    return fs;
}

static struct bb_file *create(struct bb_file_system *fs, const char *path, const char *text)
{
    struct bb_file *file = NULL;
    assert_ok(bb_file_create(fs, path, &file));
    assert_ok(bb_file_append(file, bb_bytes_of_text(text)));
    return file;
}

static void write_synced(struct bb_file_system *fs, const char *path, const char *text)
{
    struct bb_file *file = create(fs, path, text);
    assert_ok(bb_file_sync(file));
    assert_ok(bb_file_close(file));
}

/* The contents of a file; NULL: it does not exist. */
static void assert_file(struct bb_file_system *fs, const char *path, const char *expected)
{
    struct bb_buf buf = {0};
    enum bb_status status = bb_file_read_whole(fs, path, 1000, &buf);
    if (expected == NULL) {
        assert_int_equal(status, BB_NOT_FOUND);
    } else {
        assert_ok(status);
        assert_true(bb_bytes_equal(bb_buf_bytes(&buf), bb_bytes_of_text(expected)));
    }
    bb_buf_deinit(&buf);
}

static struct bb_file_system *fail_power(struct bb_file_system *fs)
{
    struct bb_file_system *after = NULL;
    assert_ok(bb_file_system_power_failure(fs, &after));
    return after;
}

static void ram_system__keeps_synced_bytes_under_synced_names(void **state)
{
    (void)state;
    struct bb_file_system *fs = files();
    struct bb_file *half = create(fs, "half", "synced");
    assert_ok(bb_file_sync(half));
    assert_ok(bb_file_append(half, bb_bytes_of_text(" and not")));
    struct bb_file *none = create(fs, "none", "not synced");
    assert_ok(fs->ops->sync_directory(fs, "/"));
    write_synced(fs, "unnamed", "synced");
    struct bb_file_system *after = fail_power(fs);
    assert_file(after, "half", "synced");
    assert_file(after, "none", "");
    assert_file(after, "unnamed", NULL);
    assert_file(fs, "half", "synced and not");
    assert_ok(bb_file_close(half));
    assert_ok(bb_file_close(none));
    bb_file_system_memory_destroy(fs);
    write_synced(after, "/later", "usable");
    assert_file(after, "later", "usable");
    bb_file_system_memory_destroy(after);
}

static void ram_system__renames_and_removals_need_a_sync(void **state)
{
    (void)state;
    struct bb_file_system *fs = files();
    write_synced(fs, "a", "1");
    write_synced(fs, "b", "2");
    assert_ok(fs->ops->sync_directory(fs, "/"));
    assert_ok(fs->ops->rename(fs, "a", "b"));
    struct bb_file_system *before = fail_power(fs);
    assert_file(before, "a", "1");
    assert_file(before, "b", "2");
    assert_ok(fs->ops->sync_directory(fs, "/"));
    assert_ok(fs->ops->remove(fs, "b"));
    struct bb_file_system *after = fail_power(fs);
    assert_file(after, "a", NULL);
    assert_file(after, "b", "1");
    bb_file_system_memory_destroy(before);
    bb_file_system_memory_destroy(after);
    bb_file_system_memory_destroy(fs);
}

static void ram_system__links_share_a_file_and_directories_nest(void **state)
{
    (void)state;
    struct bb_file_system *fs = files();
    assert_ok(fs->ops->make_directory(fs, "d"));
    assert_ok(fs->ops->make_directory(fs, "d/e"));
    write_synced(fs, "./d//e/f", "x");
    assert_ok(fs->ops->link(fs, "d/e/f", "d/g"));
    assert_ok(fs->ops->sync_directory(fs, "d/e"));
    assert_ok(fs->ops->sync_directory(fs, "d"));
    struct bb_file_system *unnamed = fail_power(fs); /* the root was not synced */
    assert_file(unnamed, "d/g", NULL);
    assert_ok(fs->ops->sync_directory(fs, "."));
    struct bb_file_system *after = fail_power(fs);
    assert_file(after, "d/e/f", "x");
    assert_ok(after->ops->remove(after, "d/e/f"));
    assert_file(after, "d/g", "x");
    bb_file_system_memory_destroy(unnamed);
    bb_file_system_memory_destroy(after);
    bb_file_system_memory_destroy(fs);
}

static void ram_system__a_new_directory_has_no_old_names(void **state)
{
    (void)state;
    struct bb_file_system *fs = files();
    assert_ok(fs->ops->make_directory(fs, "d"));
    write_synced(fs, "d/f", "x");
    assert_ok(fs->ops->sync_directory(fs, "d"));
    assert_ok(fs->ops->sync_directory(fs, "/"));
    assert_ok(fs->ops->remove(fs, "d/f"));
    assert_ok(fs->ops->remove_directory(fs, "d"));
    assert_ok(fs->ops->make_directory(fs, "d"));
    assert_ok(fs->ops->sync_directory(fs, "/"));
    struct bb_file_system *after = fail_power(fs);
    assert_file(after, "d/f", NULL);
    bb_file_system_memory_destroy(after);
    bb_file_system_memory_destroy(fs);
}

#define ADVANCES 20000

static void advance_often(void *argument)
{
    struct bb_file_system *fs = argument;
    for (int i = 0; i < ADVANCES; i++)
        fs->ops->sleep(fs, 1);
}

/* No step of the clock is lost between threads. */
static void ram_system__a_clock_of_several_threads(void **state)
{
    (void)state;
    struct bb_file_system *fs = files();
    struct bb_thread threads[4];
    uint64_t begin = fs->ops->now(fs);
    for (size_t i = 0; i < 4; i++)
        assert_ok(bb_thread_create(&threads[i], advance_often, fs));
    for (size_t i = 0; i < 4; i++)
        bb_thread_join(&threads[i]);
    assert_true(fs->ops->now(fs) - begin >= 4 * ADVANCES);
    bb_file_system_memory_destroy(fs);
}

static void ram_system__other_systems_have_no_power_failure(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *after = NULL;
    assert_status(bb_file_system_power_failure(bb_file_memory_system(memory), &after), BB_INVALID);
    assert_null(after);
    bb_file_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ram_system__keeps_synced_bytes_under_synced_names),
        cmocka_unit_test(ram_system__renames_and_removals_need_a_sync),
        cmocka_unit_test(ram_system__links_share_a_file_and_directories_nest),
        cmocka_unit_test(ram_system__a_new_directory_has_no_old_names),
        cmocka_unit_test(ram_system__a_clock_of_several_threads),
        cmocka_unit_test(ram_system__other_systems_have_no_power_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
