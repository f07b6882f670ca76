/* Files of lines on the operating system's files: files that are not regular, and a file that was
 * written without becoming longer. */
#include "tests/unit/skip/lines_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/temp_dir.h"

struct files {
    struct bb_temp_dir dir;
    struct line_schema schema;
    char path[PATH_MAX];
};

static void files_init(struct files *files, const char *name)
{
    bb_temp_dir_init(&files->dir, "lines");
    line_schema_init(&files->schema);
    bb_temp_dir_path(&files->dir, name, files->path);
}

static void files_deinit(struct files *files)
{
    line_schema_deinit(&files->schema);
    bb_temp_dir_deinit(&files->dir);
}

static void put(const struct files *files, const char *text, int flags)
{
    int fd = open(files->path, O_WRONLY | O_CREAT | flags, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(close(fd), 0);
}

static enum bb_status create_index(const struct files *files)
{
    struct bb_lines_index_options options = {.schema = files->schema.schema,
                                             .specs = files->schema.specs,
                                             .spec_count = BB_ARRAY_LENGTH(files->schema.specs)};
    return bb_lines_index_create(files->path, &options, NULL);
}

static enum bb_lines_index_state index_state(const struct files *files)
{
    struct bb_lines *lines = NULL;
    struct bb_lines_info info;
    assert_ok(bb_lines_open(files->path, NULL, &lines));
    bb_lines_info(lines, &info);
    bb_lines_close(lines);
    return info.index_state;
}

static void set_time(const struct files *files, time_t seconds)
{
    struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    assert_int_equal(utimensat(AT_FDCWD, files->path, times, 0), 0);
}

static void a_file_that_was_written_and_did_not_grow__is_not_the_indexed_one(void **state)
{
    (void)state;
    struct files files;
    files_init(&files, "log");
    put(&files, "a\nb\nc\n", 0);
    set_time(&files, 1000);
    assert_ok(create_index(&files));
    assert_int_equal(index_state(&files), BB_LINES_INDEX_USED);
    put(&files, "a\nx\nc\n", 0);
    set_time(&files, 1001);
    assert_int_equal(index_state(&files), BB_LINES_INDEX_STALE);
    /* The same time, but other ends: a clock is not sufficient. */
    set_time(&files, 1000);
    assert_int_equal(index_state(&files), BB_LINES_INDEX_STALE);
    assert_ok(create_index(&files));
    put(&files, "d\n", O_APPEND);
    assert_int_equal(index_state(&files), BB_LINES_INDEX_USED);
    files_deinit(&files);
}

static void what_is_no_regular_file__is_refused_at_once(void **state)
{
    (void)state;
    struct files files;
    struct bb_lines *lines = NULL;
    files_init(&files, "fifo");
    assert_status(bb_lines_open(files.path, NULL, &lines), BB_NOT_FOUND);
    assert_int_equal(mkfifo(files.path, 0600), 0);
    assert_status(bb_lines_open(files.path, NULL, &lines), BB_INVALID);
    assert_message("FIFO");
    assert_status(create_index(&files), BB_INVALID);
    assert_status(bb_lines_open(files.dir.path, NULL, &lines), BB_INVALID);
    assert_message("directory");
    files_deinit(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_was_written_and_did_not_grow__is_not_the_indexed_one),
        cmocka_unit_test(what_is_no_regular_file__is_refused_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
