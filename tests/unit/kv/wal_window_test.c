/* Goal: records that were appended to a log survive the end of the process, in the log's file or in
 * its window; and no state of the two files that a crash or damage can leave gives other records.
 *
 * Method: logs on disk. After each append the bytes of both files are kept, as a kill would leave
 * them, and combined on a file system in memory: both of one moment (a kill), or of different
 * moments, cut, mixed by pages, and damaged (a power failure). A reader must return the first
 * records of the history, and all records that the state must have.
 */
#include "tests/support/assert_status.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/rng.h"
#include "tests/support/step.h"
#include "tests/unit/kv/window_log.h"

#define PAGE 4096

static size_t draw_size(struct bb_rng *rng)
{
    uint64_t draw = bb_rng_below(rng, 100);
    if (draw < 90)
        return 8 + (size_t)bb_rng_below(rng, 300);
    return 8 + (size_t)bb_rng_below(rng, draw < 98 ? 20000 : 200000);
}

/* ---- tests ---- */

static void wal_window__a_kill_after_any_append_loses_nothing(void **state)
{
    (void)state;
    struct disk disk;
    struct bb_rng rng;
    uint64_t in_window = 0;
    disk_init(&disk);
    bb_rng_init(&rng, 11);
    size_t step = bb_test_step();
    for (size_t i = 0; i < 800; i++) {
        append(&disk, draw_size(&rng));
        if (bb_rng_below(&rng, 200) == 0)
            assert_ok(bb_wal_writer_sync(disk.writer));
        if (i % step != 0)
            continue;
        struct found found = read_disk(&disk);
        assert_whole(&found, disk.count);
        struct bb_buf log = read_file(&disk, disk.log);
        in_window += log.size < bb_wal_writer_size(disk.writer);
        bb_buf_deinit(&log);
    }
    assert_in_range(in_window * step, 500, 800 + step);
    disk_deinit(&disk);
}

/* A reader in the process of the writer uses the same files. */
static void wal_window__a_reader_sees_each_append_while_the_writer_runs(void **state)
{
    (void)state;
    struct disk disk;
    disk_init(&disk);
    for (size_t i = 0; i < 700; i++) {
        append(&disk, 150);
        if (i % bb_test_step() != 0)
            continue;
        struct found found = read_log(disk.fs, disk.log);
        assert_whole(&found, disk.count);
    }
    disk_deinit(&disk);
}

static void wal_window__the_file_exists_only_while_it_is_needed(void **state)
{
    (void)state;
    struct disk disk;
    disk_init(&disk);
    for (int i = 0; i < 100; i++) { /* each commit is synced */
        append(&disk, 20);
        assert_ok(bb_wal_writer_sync(disk.writer));
    }
    assert_false(is_there(disk.window));
    warm_up(&disk);
    assert_true(is_there(disk.window));
    assert_ok(bb_wal_writer_flush(disk.writer));
    assert_false(is_there(disk.window));
    struct found found = read_disk(&disk);
    assert_whole(&found, disk.count);
    warm_up(&disk); /* no new one */
    assert_false(is_there(disk.window));
    assert_ok(bb_wal_writer_close(disk.writer));
    disk.writer = NULL;
    disk_deinit(&disk);
}

static void wal_window__large_records_bypass_it_and_a_close_removes_it(void **state)
{
    (void)state;
    struct disk disk;
    disk_init(&disk);
    warm_up(&disk);
    append(&disk, (size_t)3 << 20);
    struct bb_buf log = read_file(&disk, disk.log);
    assert_int_equal(log.size, bb_wal_writer_size(disk.writer));
    bb_buf_deinit(&log);
    append(&disk, 20);
    struct found found = read_disk(&disk);
    assert_whole(&found, disk.count);
    assert_true(is_there(disk.window));
    assert_ok(bb_wal_writer_close(disk.writer));
    disk.writer = NULL;
    assert_false(is_there(disk.window));
    found = read_disk(&disk);
    assert_whole(&found, disk.count);
    disk_deinit(&disk);
}

/* States of both files, after each append. */
#define MOMENTS 400

struct history {
    struct bb_buf logs[MOMENTS];
    struct bb_buf windows[MOMENTS];
    uint64_t durable[MOMENTS]; /* records that were synced */
    uint64_t durable_size[MOMENTS];
};

static struct history *make_history(struct disk *disk, struct bb_rng *rng)
{
    struct history *history = bb_must_alloc_zeroed(sizeof(*history));
    uint64_t durable = 0;
    uint64_t durable_size = 0;
    warm_up(disk);
    for (size_t i = 0; i < MOMENTS; i++) {
        append(disk, 8 + (size_t)bb_rng_below(rng, bb_rng_below(rng, 20) == 0 ? 30000 : 400));
        if (bb_rng_below(rng, 40) == 0) {
            assert_ok(bb_wal_writer_sync(disk->writer));
            assert_ok(bb_wal_writer_mark(disk->writer));
            durable = disk->count;
            durable_size = bb_wal_writer_durable(disk->writer);
        }
        history->logs[i] = read_file(disk, disk->log);
        history->windows[i] = read_file(disk, disk->window);
        history->durable[i] = durable;
        history->durable_size[i] = durable_size;
    }
    return history;
}

static void free_history(struct history *history)
{
    for (size_t i = 0; i < MOMENTS; i++) {
        bb_buf_deinit(&history->logs[i]);
        bb_buf_deinit(&history->windows[i]);
    }
    free(history);
}

/* Pages of the window of moment `i`, of an earlier moment, or zeros. */
static void mix_window(const struct history *history, size_t i, struct bb_rng *rng, uint8_t *mixed)
{
    for (size_t page = 0; page < BB_WAL_WINDOW_FILE_SIZE; page += PAGE) {
        const struct bb_buf *source = &history->windows[bb_rng_below(rng, i + 1)];
        if (bb_rng_below(rng, 3) > 0)
            source = &history->windows[i];
        memset(mixed + page, 0, PAGE);
        if (bb_rng_below(rng, 6) > 0)
            memcpy(mixed + page, source->data + page, PAGE);
    }
}

/* WHY no more than the synced bytes are required of the log: a power failure may keep any part of
 * the others, here a prefix. */
static void wal_window__a_power_failure_keeps_what_was_synced(void **state)
{
    (void)state;
    struct disk disk;
    struct bb_rng rng;
    uint8_t *mixed = bb_must_alloc_zeroed(BB_WAL_WINDOW_FILE_SIZE);
    uint64_t more_than_synced = 0;
    disk_init(&disk);
    bb_rng_init(&rng, 12);
    struct history *history = make_history(&disk, &rng);
    size_t step = bb_test_step();
    for (size_t i = 0; i < 2000; i += step) {
        size_t moment = (size_t)bb_rng_below(&rng, MOMENTS);
        uint64_t durable_size = history->durable_size[moment];
        uint64_t unsynced = history->logs[moment].size - durable_size;
        size_t size = (size_t)(durable_size + bb_rng_below(&rng, unsynced + 1));
        if (size == 0)
            continue;
        mix_window(history, moment, &rng, mixed);
        struct found found = read_bytes(bb_bytes_of(history->logs[moment].data, size),
                                        bb_bytes_of(mixed, BB_WAL_WINDOW_FILE_SIZE));
        assert_int_equal(found.status, BB_NOT_FOUND);
        assert_true(found.count >= history->durable[moment]);
        more_than_synced += found.count > history->durable[moment];
    }
    assert_true(more_than_synced * step > 500);
    free_history(history);
    free(mixed);
    disk_deinit(&disk);
}

/* A log that was cut below its synced bytes is damaged. The window shows it, if it has a later
 * record: without a window a cut at the end of a record is not noticed. */
static void wal_window__shows_that_synced_bytes_were_cut_off(void **state)
{
    (void)state;
    struct disk disk;
    disk_init(&disk);
    warm_up(&disk);
    struct bb_buf before = read_file(&disk, disk.log);
    size_t cut = (size_t)bb_wal_writer_size(disk.writer);
    assert_ok(bb_wal_writer_sync(disk.writer));
    append(&disk, 20);
    assert_ok(bb_wal_writer_sync(disk.writer));
    append(&disk, 20); /* in the window only */
    struct bb_buf log = read_file(&disk, disk.log);
    struct bb_buf window = read_file(&disk, disk.window);
    struct found found = read_bytes(bb_bytes_of(log.data, cut), bb_buf_bytes(&window));
    assert_int_equal(found.status, BB_CORRUPT);
    assert_message("was known durable up to");
    found = read_bytes(bb_bytes_of(log.data, cut), bb_bytes_of(NULL, 0));
    assert_whole(&found, WARM_UP);
    assert_true(before.size < cut);
    bb_buf_deinit(&before);
    bb_buf_deinit(&log);
    bb_buf_deinit(&window);
    disk_deinit(&disk);
}

static void wal_window__of_another_log_or_store_is_ignored(void **state)
{
    (void)state;
    struct disk disk;
    disk_init(&disk);
    warm_up(&disk);
    struct bb_buf window = read_file(&disk, disk.window);
    static const uint8_t other_id[BB_WAL_STORE_ID_SIZE] = "another store..";
    struct bb_wal_writer *other = NULL;
    char path[PATH_MAX];
    bb_temp_dir_path(&disk.directory, "000004.wal", path);
    assert_ok(bb_wal_writer_create(disk.fs, path, LOG_NUMBER, other_id, 0, &other));
    assert_ok(bb_wal_writer_close(other));
    struct bb_buf log = read_file(&disk, path);
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_wal_reader *reader = NULL;
    struct bb_bytes payload;
    bb_file_memory_put(memory, LOG_PATH, bb_buf_bytes(&log));
    bb_file_memory_put(memory, WINDOW_PATH, bb_buf_bytes(&window));
    assert_ok(bb_wal_reader_open(bb_file_memory_system(memory), LOG_PATH, LOG_NUMBER, other_id,
                                 false, &reader));
    assert_int_equal(bb_wal_reader_next(reader, &payload), BB_NOT_FOUND);
    bb_wal_reader_close(reader);
    bb_file_memory_destroy(memory);
    bb_buf_deinit(&log);
    bb_buf_deinit(&window);
    disk_deinit(&disk);
}

/* cmocka installs another handler after the library's at the begin of each test. */
static struct sigaction library_handler;

static void note_handler(void)
{
    struct disk disk;
    disk_init(&disk);
    warm_up(&disk);
    assert_int_equal(sigaction(SIGBUS, NULL, &library_handler), 0);
    disk_deinit(&disk);
}

/* Another program may cut the file while it is mapped. */
static void wal_window__a_truncated_file_loses_no_record(void **state)
{
    (void)state;
    struct disk disk;
    struct sigaction before;
    assert_int_equal(sigaction(SIGBUS, &library_handler, &before), 0);
    disk_init(&disk);
    warm_up(&disk);
    for (int i = 0; i < 30; i++)
        append(&disk, 1000);
    assert_int_equal(truncate(disk.window, PAGE), 0);
    for (int i = 0; i < 30; i++) {
        append(&disk, 1000);
        struct found found = read_disk(&disk);
        assert_whole(&found, disk.count);
    }
    disk_deinit(&disk);
    assert_int_equal(sigaction(SIGBUS, &before, NULL), 0);
}

/* Records that were acknowledged before a write fails are in the window, and stay there after the
 * writer was closed. */
static void wal_window__a_failed_write_leaves_them_readable(void **state)
{
    (void)state;
    struct disk disk;
    struct rlimit before;
    disk_init(&disk);
    warm_up(&disk);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit limit = {.rlim_cur = (rlim_t)BB_WAL_WINDOW_FILE_SIZE,
                           .rlim_max = before.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    enum bb_status status = BB_OK;
    for (int i = 0; i < 1000 && status == BB_OK; i++)
        status = try_append(&disk, 500);
    assert_int_equal(status, BB_IO);
    assert_true(disk.count > WARM_UP + 100);
    struct found found = read_disk(&disk);
    assert_in_range(found.count, disk.count, disk.count + 1);
    assert_int_equal(bb_wal_writer_close(disk.writer), BB_IO);
    disk.writer = NULL;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, handler);
    found = read_disk(&disk);
    assert_in_range(found.count, disk.count, disk.count + 1);
    disk_deinit(&disk);
}

/* Its creation under this limit would end the process. */
static void wal_window__is_not_created_above_the_limit_of_file_sizes(void **state)
{
    (void)state;
    struct disk disk;
    struct rlimit before;
    disk_init(&disk);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit limit = {.rlim_cur = (rlim_t)BB_WAL_WINDOW_FILE_SIZE - 1,
                           .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    warm_up(&disk);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_false(is_there(disk.window));
    struct found found = read_disk(&disk);
    assert_whole(&found, disk.count);
    disk_deinit(&disk);
}

/* A comparator or a listener may fork inside a put, and the child returns from it. Its stores would
 * be in its parent's window. */
static void wal_window__a_child_made_by_fork_writes_nothing(void **state)
{
    (void)state;
    struct disk disk;
    int child_status = 0;
    disk_init(&disk);
    warm_up(&disk);
    struct bb_buf before = read_file(&disk, disk.window);
    pid_t child = fork();
    if (child == 0) {
        bool is_refused = try_append(&disk, 20) == BB_INVALID;
        (void)!bb_wal_writer_close(disk.writer);
        _exit(is_refused ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &child_status, 0), child);
    assert_int_equal(child_status, 0);
    struct bb_buf after = read_file(&disk, disk.window);
    assert_true(bb_bytes_equal(bb_buf_bytes(&before), bb_buf_bytes(&after)));
    append(&disk, 20);
    struct found found = read_disk(&disk);
    assert_whole(&found, disk.count);
    bb_buf_deinit(&before);
    bb_buf_deinit(&after);
    disk_deinit(&disk);
}

static void wal_window__needs_a_regular_file(void **state)
{
    (void)state;
    struct disk disk;
    disk_init(&disk);
    append(&disk, 20);
    assert_int_equal(mkdir(disk.window, 0700), 0);
    struct found found = read_log(disk.fs, disk.log);
    assert_int_equal(found.status, BB_INVALID);
    assert_message("000003.window");
    warm_up(&disk); /* the writer does without */
    assert_int_equal(rmdir(disk.window), 0);
    found = read_log(disk.fs, disk.log);
    assert_whole(&found, disk.count);
    disk_deinit(&disk);
}

static void wal_window__names(void **state)
{
    (void)state;
    char path[BB_PATH_SIZE_MAX];
    assert_true(bb_wal_window_path("/a/000012.wal", path));
    assert_string_equal(path, "/a/000012.window");
    assert_false(bb_wal_window_path("/a/MANIFEST-000012", path));
    assert_false(bb_wal_window_path("wal", path));
    assert_false(bb_wal_window_path("", path));
}

int main(void)
{
    note_handler();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wal_window__a_kill_after_any_append_loses_nothing),
        cmocka_unit_test(wal_window__a_reader_sees_each_append_while_the_writer_runs),
        cmocka_unit_test(wal_window__the_file_exists_only_while_it_is_needed),
        cmocka_unit_test(wal_window__large_records_bypass_it_and_a_close_removes_it),
        cmocka_unit_test(wal_window__a_power_failure_keeps_what_was_synced),
        cmocka_unit_test(wal_window__shows_that_synced_bytes_were_cut_off),
        cmocka_unit_test(wal_window__of_another_log_or_store_is_ignored),
        cmocka_unit_test(wal_window__a_truncated_file_loses_no_record),
        cmocka_unit_test(wal_window__a_failed_write_leaves_them_readable),
        cmocka_unit_test(wal_window__is_not_created_above_the_limit_of_file_sizes),
        cmocka_unit_test(wal_window__a_child_made_by_fork_writes_nothing),
        cmocka_unit_test(wal_window__needs_a_regular_file),
        cmocka_unit_test(wal_window__names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
