/* Goal: every file system of the seam gives the same results, statuses and side effects, so that
 * tests in memory are valid for a disk. Method: the same tests on a disk and on both kinds of files
 * in memory, also through a system that forwards all calls, and through an unarmed fault layer. */
#include "tests/support/assert_status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/file_forward.h"
#include "base/path.h"
#include "tests/support/file_fault.h"
#include "tests/support/file_memory.h"
#include "tests/support/temp_dir.h"

/* One file system under test and an empty directory in it. */
struct place {
    struct bb_file_system *fs;
    struct bb_temp_dir dir; /* only posix */
    struct bb_file_system *posix;
    struct bb_file_memory *memory;
    struct bb_file_system *ram; /* the users' files in memory */
    struct bb_file_forward forward;
    struct bb_file_fault *fault;
    char root[PATH_MAX];
    char path_buffers[4][2 * PATH_MAX]; /* of path(), used in rotation */
    size_t next_path_buffer;
};

/* root/name; valid until the fourth call after this one. */
static const char *path(struct place *place, const char *name)
{
    char *buffer = place->path_buffers[place->next_path_buffer++ % 4];
    snprintf(buffer, sizeof(place->path_buffers[0]), "%s/%s", place->root, name);
    return buffer;
}

static void write_file(struct place *place, const char *name, const char *text)
{
    struct bb_file *file = NULL;
    assert_ok(bb_file_create(place->fs, path(place, name), &file));
    assert_ok(bb_file_append(file, bb_bytes_of_text(text)));
    bb_file_write_back(file);
    assert_ok(bb_file_sync(file));
    assert_ok(bb_file_close(file));
}

static void assert_contents(struct place *place, const char *name, const char *text)
{
    struct bb_buf buf = {0};
    assert_ok(bb_file_read_whole(place->fs, path(place, name), 1 << 20, &buf));
    assert_true(bb_bytes_equal(bb_buf_bytes(&buf), bb_bytes_of_text(text)));
    bb_buf_deinit(&buf);
}

static bool exists(struct place *place, const char *name)
{
    bool is_directory = false;
    uint64_t size = 0;
    enum bb_status status =
        place->fs->ops->status(place->fs, path(place, name), &is_directory, &size);
    assert_true(status == BB_OK || status == BB_NOT_FOUND);
    return status == BB_OK;
}

static void file__round_trip(void **state)
{
    struct place *place = *state;
    struct bb_file *file = NULL;
    uint64_t size = 99;
    assert_ok(bb_file_create(place->fs, path(place, "a"), &file));
    assert_string_equal(file->path, path(place, "a"));
    assert_ok(bb_file_size(file, &size));
    assert_int_equal(size, 0);
    assert_ok(bb_file_append(file, bb_bytes_of_text("hello ")));
    assert_ok(bb_file_append(file, (struct bb_bytes){0}));
    assert_ok(bb_file_append(file, bb_bytes_of_text("world")));
    assert_ok(bb_file_sync(file));
    assert_ok(bb_file_append(file, bb_bytes_of_text("!")));
    assert_ok(bb_file_sync(file));
    assert_ok(bb_file_size(file, &size));
    assert_int_equal(size, 12);
    assert_ok(bb_file_close(file));
    assert_contents(place, "a", "hello world!");
    assert_ok(bb_file_close(NULL));
}

static void file__read_at_ends_where_the_file_ends(void **state)
{
    struct place *place = *state;
    struct bb_file *file = NULL;
    char buffer[16] = "";
    size_t got = 99;
    write_file(place, "a", "0123456789");
    assert_ok(bb_file_open(place->fs, path(place, "a"), &file));
    assert_ok(bb_file_read_at(file, 3, buffer, 4, &got));
    assert_int_equal(got, 4);
    assert_memory_equal(buffer, "3456", 4);
    assert_ok(bb_file_read_at(file, 8, buffer, 16, &got));
    assert_int_equal(got, 2);
    assert_memory_equal(buffer, "89", 2);
    assert_ok(bb_file_read_at(file, 10, buffer, 16, &got));
    assert_int_equal(got, 0);
    assert_ok(bb_file_read_at(file, UINT64_MAX, buffer, 16, &got));
    assert_int_equal(got, 0);
    assert_ok(bb_file_read_at(file, INT64_MAX, buffer, 16, &got));
    assert_int_equal(got, 0);
    assert_ok(bb_file_read_at(file, 0, buffer, 0, &got));
    assert_int_equal(got, 0);
    assert_ok(bb_file_close(file));
}

/* A successful result equals that of read_at, and is complete. */
static void file__read_now_gives_all_or_nothing(void **state)
{
    struct place *place = *state;
    struct bb_file_counters before;
    struct bb_file_counters after;
    struct bb_file *file = NULL;
    char buffer[16] = "";
    write_file(place, "a", "0123456789");
    assert_ok(bb_file_open(place->fs, path(place, "a"), &file));
    place->fs->ops->counters(place->fs, &before);
    bb_file_will_need(file, 3, 4);
    bb_file_will_need(file, 1000, 4);
    place->fs->ops->counters(place->fs, &after);
    assert_int_equal(after.needs - before.needs, 2);
    bb_file_will_need(file, UINT64_MAX, UINT64_MAX);
    if (bb_file_read_now(file, 3, buffer, 4))
        assert_memory_equal(buffer, "3456", 4);
    if (bb_file_read_now(file, 0, buffer, 10))
        assert_memory_equal(buffer, "0123456789", 10);
    assert_false(bb_file_read_now(file, 8, buffer, 3));
    assert_false(bb_file_read_now(file, 10, buffer, 1));
    assert_false(bb_file_read_now(file, INT64_MAX, buffer, 1));
    assert_false(bb_file_read_now(file, UINT64_MAX, buffer, 1));
    assert_ok(bb_file_read_exactly(file, 3, buffer, 4)); /* in any case */
    assert_memory_equal(buffer, "3456", 4);
    assert_ok(bb_file_close(file));
}

static void file__read_exactly_names_the_end(void **state)
{
    struct place *place = *state;
    struct bb_file *file = NULL;
    char buffer[16];
    write_file(place, "a", "0123456789");
    assert_ok(bb_file_open(place->fs, path(place, "a"), &file));
    assert_ok(bb_file_read_exactly(file, 0, buffer, 10));
    assert_ok(bb_file_read_exactly(file, 10, buffer, 0));
    assert_status(bb_file_read_exactly(file, 4, buffer, 9), BB_CORRUPT);
    assert_message(path(place, "a"));
    assert_message("at offset 10: file ends here, expected 3 more bytes");
    assert_ok(bb_file_close(file));
}

static void file__read_whole_is_bounded(void **state)
{
    struct place *place = *state;
    struct bb_buf buf = {0};
    write_file(place, "a", "0123456789");
    write_file(place, "empty", "");
    assert_ok(bb_buf_assign(&buf, bb_bytes_of_text("before")));
    assert_status(bb_file_read_whole(place->fs, path(place, "a"), 9, &buf), BB_TOO_LARGE);
    assert_message("has 10 bytes, the limit is 9");
    assert_status(bb_file_read_whole(place->fs, path(place, "missing"), 9, &buf), BB_NOT_FOUND);
    assert_true(bb_bytes_equal(bb_buf_bytes(&buf), bb_bytes_of_text("before")));
    assert_ok(bb_file_read_whole(place->fs, path(place, "a"), 10, &buf));
    assert_true(bb_bytes_equal(bb_buf_bytes(&buf), bb_bytes_of_text("0123456789")));
    assert_ok(bb_file_read_whole(place->fs, path(place, "empty"), 0, &buf));
    assert_int_equal(buf.size, 0);
    bb_buf_deinit(&buf);
}

static void file__open_needs_a_regular_file(void **state)
{
    struct place *place = *state;
    struct bb_file *file = NULL;
    assert_status(bb_file_open(place->fs, path(place, "missing"), &file), BB_NOT_FOUND);
    assert_message(path(place, "missing"));
    assert_message("No such file or directory");
    assert_ok(place->fs->ops->make_directory(place->fs, path(place, "d")));
    assert_status(bb_file_open(place->fs, path(place, "d"), &file), BB_INVALID);
    assert_message("is a directory, expected a regular file");
    write_file(place, "a", "x");
    assert_status(bb_file_open(place->fs, path(place, "a/b"), &file), BB_IO);
    assert_message("Not a directory");
    assert_null(file);
}

static void file__open_is_for_reading(void **state)
{
    struct place *place = *state;
    struct bb_file *file = NULL;
    write_file(place, "a", "x");
    assert_ok(bb_file_open(place->fs, path(place, "a"), &file));
    assert_status(bb_file_append(file, bb_bytes_of_text("y")), BB_INVALID);
    assert_status(bb_file_sync(file), BB_INVALID);
    assert_ok(bb_file_close(file));
    assert_contents(place, "a", "x");
}

static void file__create_needs_a_free_name(void **state)
{
    struct place *place = *state;
    struct bb_file *file = NULL;
    write_file(place, "a", "x");
    assert_status(bb_file_create(place->fs, path(place, "a"), &file), BB_EXISTS);
    assert_ok(place->fs->ops->make_directory(place->fs, path(place, "d")));
    assert_status(bb_file_create(place->fs, path(place, "d"), &file), BB_EXISTS);
    assert_status(bb_file_create(place->fs, path(place, "none/a"), &file), BB_NOT_FOUND);
    assert_null(file);
    assert_contents(place, "a", "x");
}

static void file__rename_replaces(void **state)
{
    struct place *place = *state;
    struct bb_file_system *fs = place->fs;
    write_file(place, "a", "new");
    write_file(place, "b", "old");
    assert_ok(fs->ops->rename(fs, path(place, "a"), path(place, "b")));
    assert_false(exists(place, "a"));
    assert_contents(place, "b", "new");
    assert_ok(fs->ops->rename(fs, path(place, "b"), path(place, "c")));
    assert_contents(place, "c", "new");
    assert_ok(fs->ops->rename(fs, path(place, "c"), path(place, "c")));
    assert_contents(place, "c", "new");
    assert_status(fs->ops->rename(fs, path(place, "a"), path(place, "c")), BB_NOT_FOUND);
    assert_message(path(place, "a"));
    assert_contents(place, "c", "new");
    assert_ok(fs->ops->make_directory(fs, path(place, "d")));
    assert_status(fs->ops->rename(fs, path(place, "c"), path(place, "d")), BB_IO);
    assert_contents(place, "c", "new");
}

static void file__link_is_a_second_name(void **state)
{
    struct place *place = *state;
    struct bb_file_system *fs = place->fs;
    write_file(place, "a", "text");
    write_file(place, "taken", "other");
    assert_ok(fs->ops->make_directory(fs, path(place, "d")));
    assert_ok(fs->ops->link(fs, path(place, "a"), path(place, "d/b")));
    assert_contents(place, "d/b", "text");
    assert_status(fs->ops->link(fs, path(place, "a"), path(place, "taken")), BB_EXISTS);
    assert_message(path(place, "taken"));
    assert_contents(place, "taken", "other");
    assert_status(fs->ops->link(fs, path(place, "a"), path(place, "d")), BB_EXISTS);
    assert_status(fs->ops->link(fs, path(place, "none"), path(place, "c")), BB_NOT_FOUND);
    assert_status(fs->ops->link(fs, path(place, "a"), path(place, "none/c")), BB_NOT_FOUND);
    assert_status(fs->ops->link(fs, path(place, "d"), path(place, "c")), BB_UNSUPPORTED);
    /* Each name is removed separately. */
    assert_ok(fs->ops->remove(fs, path(place, "a")));
    assert_contents(place, "d/b", "text");
    assert_ok(fs->ops->link(fs, path(place, "d/b"), path(place, "a")));
    assert_ok(fs->ops->remove(fs, path(place, "d/b")));
    assert_contents(place, "a", "text");
}

static void file__removed_file_stays_readable_while_open(void **state)
{
    struct place *place = *state;
    struct bb_file_system *fs = place->fs;
    struct bb_file *file = NULL;
    char buffer[3];
    write_file(place, "a", "abc");
    assert_ok(bb_file_open(fs, path(place, "a"), &file));
    assert_ok(fs->ops->remove(fs, path(place, "a")));
    assert_false(exists(place, "a"));
    write_file(place, "a", "xyz"); /* another file of the same name */
    assert_ok(bb_file_read_exactly(file, 0, buffer, 3));
    assert_memory_equal(buffer, "abc", 3);
    assert_ok(bb_file_close(file));
    assert_contents(place, "a", "xyz");
    assert_status(fs->ops->remove(fs, path(place, "b")), BB_NOT_FOUND);
    assert_ok(fs->ops->make_directory(fs, path(place, "d")));
    assert_status(fs->ops->remove(fs, path(place, "d")), BB_IO);
    assert_true(exists(place, "d"));
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void file__list_has_every_name_once(void **state)
{
    struct place *place = *state;
    struct bb_file_system *fs = place->fs;
    struct bb_file_names list = {0};
    assert_ok(fs->ops->list(fs, place->root, &list));
    assert_int_equal(list.count, 0);
    bb_file_names_deinit(&list);

    assert_ok(fs->ops->make_directory(fs, path(place, "directory")));
    write_file(place, "directory/inner", "x");
    char name[16];
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof(name), "%03d.tbl", i);
        write_file(place, name, "x");
    }
    assert_ok(fs->ops->list(fs, place->root, &list));
    assert_int_equal(list.count, 41);
    qsort(list.names, list.count, sizeof(char *), compare_names);
    assert_string_equal(list.names[0], "000.tbl");
    assert_string_equal(list.names[39], "039.tbl");
    assert_string_equal(list.names[40], "directory");
    bb_file_names_deinit(&list);
    bb_file_names_deinit(&list);
}

static void file__list_needs_a_directory(void **state)
{
    struct place *place = *state;
    struct bb_file_system *fs = place->fs;
    struct bb_file_names list = {0};
    write_file(place, "a", "x");
    assert_status(fs->ops->list(fs, path(place, "none"), &list), BB_NOT_FOUND);
    assert_message(path(place, "none"));
    assert_status(fs->ops->list(fs, path(place, "a"), &list), BB_IO);
    assert_null(list.names);
}

static void file__directories_come_and_go(void **state)
{
    struct place *place = *state;
    struct bb_file_system *fs = place->fs;
    bool is_directory = false;
    uint64_t size = 0;
    assert_status(fs->ops->make_directory(fs, path(place, "d/e")), BB_NOT_FOUND);
    assert_ok(fs->ops->make_directory(fs, path(place, "d")));
    assert_ok(fs->ops->make_directory(fs, path(place, "d/e")));
    assert_status(fs->ops->make_directory(fs, path(place, "d")), BB_EXISTS);
    write_file(place, "a", "x");
    assert_status(fs->ops->make_directory(fs, path(place, "a")), BB_EXISTS);
    assert_ok(fs->ops->status(fs, path(place, "d/e"), &is_directory, &size));
    assert_true(is_directory);

    assert_status(fs->ops->remove_directory(fs, path(place, "d")), BB_IO);
    assert_message("not empty");
    assert_status(fs->ops->remove_directory(fs, path(place, "a")), BB_IO);
    assert_status(fs->ops->remove_directory(fs, path(place, "none")), BB_NOT_FOUND);
    assert_ok(fs->ops->remove_directory(fs, path(place, "d/e")));
    assert_ok(fs->ops->remove_directory(fs, path(place, "d")));
    assert_false(exists(place, "d"));
}

static void file__status_tells_kind_and_size(void **state)
{
    struct place *place = *state;
    struct bb_file_system *fs = place->fs;
    bool is_directory = true;
    uint64_t size = 0;
    write_file(place, "a", "12345");
    assert_ok(fs->ops->status(fs, path(place, "a"), &is_directory, &size));
    assert_false(is_directory);
    assert_int_equal(size, 5);
    assert_status(fs->ops->status(fs, path(place, "b"), &is_directory, &size), BB_NOT_FOUND);
    assert_ok(fs->ops->status(fs, place->root, &is_directory, &size));
    assert_true(is_directory);
}

static void file__sync_directory_needs_a_directory(void **state)
{
    struct place *place = *state;
    struct bb_file_system *fs = place->fs;
    write_file(place, "a", "x");
    assert_ok(fs->ops->sync_directory(fs, place->root));
    assert_status(fs->ops->sync_directory(fs, path(place, "none")), BB_NOT_FOUND);
    assert_status(fs->ops->sync_directory(fs, path(place, "a")), BB_IO);
}

static void file__lock_excludes(void **state)
{
    struct place *place = *state;
    struct bb_file_system *fs = place->fs;
    struct bb_file *lock = NULL;
    struct bb_file *second = NULL;
    struct bb_file *other = NULL;
    assert_ok(fs->ops->lock(fs, path(place, "LOCK"), &lock));
    assert_true(exists(place, "LOCK"));
    assert_status(fs->ops->lock(fs, path(place, "LOCK"), &second), BB_BUSY);
    assert_message("already locked by this process");
    assert_null(second);
    assert_ok(fs->ops->make_directory(fs, path(place, "other")));
    assert_ok(fs->ops->lock(fs, path(place, "other/LOCK"), &other));
    assert_ok(fs->ops->unlock(fs, lock));
    assert_ok(fs->ops->lock(fs, path(place, "LOCK"), &second));
    assert_ok(fs->ops->unlock(fs, second));
    assert_ok(fs->ops->unlock(fs, other));
    assert_true(exists(place, "LOCK"));
}

static void file__lock_needs_a_regular_file(void **state)
{
    struct place *place = *state;
    struct bb_file_system *fs = place->fs;
    struct bb_file *lock = NULL;
    assert_ok(fs->ops->make_directory(fs, path(place, "d")));
    assert_status(fs->ops->lock(fs, path(place, "d"), &lock), BB_INVALID);
    assert_status(fs->ops->lock(fs, path(place, "none/LOCK"), &lock), BB_NOT_FOUND);
    assert_null(lock);
}

static void file__counters_count_what_was_asked(void **state)
{
    struct place *place = *state;
    struct bb_file_system *fs = place->fs;
    struct bb_file_counters before;
    struct bb_file_counters after;
    struct bb_file *file = NULL;
    char buffer[8];
    fs->ops->counters(fs, &before);
    write_file(place, "a", "0123456789");
    assert_ok(bb_file_open(fs, path(place, "a"), &file));
    assert_ok(bb_file_read_exactly(file, 0, buffer, 8));
    assert_ok(bb_file_read_exactly(file, 2, buffer, 4));
    assert_ok(bb_file_close(file));
    assert_ok(fs->ops->sync_directory(fs, place->root));
    fs->ops->counters(fs, &after);
    assert_int_equal(after.reads - before.reads, 2);
    assert_int_equal(after.read_bytes - before.read_bytes, 12);
    assert_int_equal(after.appends - before.appends, 1);
    assert_int_equal(after.append_bytes - before.append_bytes, 10);
    assert_int_equal(after.syncs - before.syncs, 1);
    assert_int_equal(after.directory_syncs - before.directory_syncs, 1);
}

static void file__the_rest_of_the_system_answers(void **state)
{
    struct place *place = *state;
    struct bb_file_system *fs = place->fs;
    uint64_t bytes = 0;
    uint8_t a[32] = {0};
    uint8_t b[32] = {0};
    assert_ok(fs->ops->free_space(fs, place->root, &bytes));
    assert_true(bytes > 0);
    assert_status(fs->ops->free_space(fs, path(place, "none"), &bytes), BB_NOT_FOUND);
    assert_ok(fs->ops->random(fs, a, sizeof(a)));
    assert_ok(fs->ops->random(fs, b, sizeof(b)));
    assert_memory_not_equal(a, b, sizeof(a));
    uint64_t earlier = fs->ops->now(fs);
    assert_true(fs->ops->now(fs) >= earlier);
}

static void path__joins_with_one_slash(void **state)
{
    (void)state;
    char joined[BB_PATH_SIZE_MAX];
    char longest[BB_PATH_SIZE_MAX];
    assert_ok(bb_path_join("/db", "CURRENT", joined));
    assert_string_equal(joined, "/db/CURRENT");
    assert_ok(bb_path_join("db/", "CURRENT", joined));
    assert_string_equal(joined, "db/CURRENT");
    assert_status(bb_path_join("", "CURRENT", joined), BB_INVALID);
    assert_status(bb_path_join("db", "", joined), BB_INVALID);
    memset(longest, 'd', sizeof(longest));
    longest[BB_PATH_SIZE_MAX - 3] = 0;
    assert_ok(bb_path_join(longest, "a", joined));
    assert_int_equal(strlen(joined), BB_PATH_SIZE_MAX - 1);
    assert_status(bb_path_join(longest, "ab", joined), BB_TOO_LARGE);
}

static struct place *new_place(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    assert_non_null(place);
    *state = place;
    return place;
}

static int set_up_posix(void **state)
{
    struct place *place = new_place(state);
    bb_temp_dir_init(&place->dir, "file");
    assert_ok(bb_file_system_posix_create(&place->posix));
    strcpy(place->root, place->dir.path);
    place->fs = place->posix;
    return 0;
}

static int set_up_memory(void **state)
{
    struct place *place = new_place(state);
    place->memory = bb_file_memory_create(1);
    place->fs = bb_file_memory_system(place->memory);
    strcpy(place->root, "/root");
    return place->fs->ops->make_directory(place->fs, place->root) == BB_OK ? 0 : -1;
}

static int set_up_ram(void **state)
{
    struct place *place = new_place(state);
    assert_ok(bb_file_system_memory_create(&place->ram));
    place->fs = place->ram;
    strcpy(place->root, "/root");
    return place->fs->ops->make_directory(place->fs, place->root) == BB_OK ? 0 : -1;
}

static void put_forward_around(struct place *place)
{
    bb_file_forward_init(&place->forward, place->fs);
    place->fs = &place->forward.base;
}

static int set_up_forward_posix(void **state)
{
    int result = set_up_posix(state);
    put_forward_around(*state);
    return result;
}

static int set_up_forward_memory(void **state)
{
    int result = set_up_memory(state);
    put_forward_around(*state);
    return result;
}

static void put_fault_around(struct place *place)
{
    place->fault = bb_file_fault_create(place->fs);
    place->fs = bb_file_fault_system(place->fault);
}

static int set_up_fault_posix(void **state)
{
    int result = set_up_posix(state);
    put_fault_around(*state);
    return result;
}

static int set_up_fault_memory(void **state)
{
    int result = set_up_memory(state);
    put_fault_around(*state);
    return result;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    if (place->fault != NULL)
        bb_file_fault_destroy(place->fault);
    if (place->memory != NULL)
        bb_file_memory_destroy(place->memory);
    bb_file_system_memory_destroy(place->ram);
    if (place->posix != NULL) {
        bb_file_system_posix_destroy(place->posix);
        bb_temp_dir_deinit(&place->dir);
    }
    free(place);
    return 0;
}

static int run(const char *name, CMFixtureFunction set_up)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(file__round_trip, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file__read_at_ends_where_the_file_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file__read_now_gives_all_or_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file__read_exactly_names_the_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file__read_whole_is_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file__open_needs_a_regular_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file__open_is_for_reading, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file__create_needs_a_free_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file__rename_replaces, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file__link_is_a_second_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file__removed_file_stays_readable_while_open, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(file__list_has_every_name_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file__list_needs_a_directory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file__directories_come_and_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file__status_tells_kind_and_size, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file__sync_directory_needs_a_directory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file__lock_excludes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file__lock_needs_a_regular_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file__counters_count_what_was_asked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file__the_rest_of_the_system_answers, set_up, tear_down),
    };
    return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest path_tests[] = {cmocka_unit_test(path__joins_with_one_slash)};
    int failed = cmocka_run_group_tests_name("path", path_tests, NULL, NULL);
    failed += run("posix", set_up_posix);
    failed += run("memory", set_up_memory);
    failed += run("ram", set_up_ram);
    failed += run("forward around posix", set_up_forward_posix);
    failed += run("forward around memory", set_up_forward_memory);
    failed += run("fault around posix", set_up_fault_posix);
    failed += run("fault around memory", set_up_fault_memory);
    return failed;
}
