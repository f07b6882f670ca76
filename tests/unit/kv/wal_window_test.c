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
#include <unistd.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "kv/wal/wal_reader.h"
#include "kv/wal/wal_window.h"
#include "kv/wal/wal_writer.h"
#include "tests/support/file_memory.h"
#include "tests/support/must_alloc.h"
#include "tests/support/rng.h"
#include "tests/support/temp_dir.h"

#define LOG_NUMBER  3
#define LOG_PATH    "/000003.wal"
#define WINDOW_PATH "/000003.window"
#define PAGE        4096
/* More than the appends before a window is created. */
#define WARM_UP 40

static const uint8_t store_id[BB_WAL_STORE_ID_SIZE] = "0123456789abcde";

/* ---- a log on disk ---- */

struct disk {
    struct bb_temp_dir directory;
    struct bb_file_system *fs;
    struct bb_wal_writer *writer;
    char log[PATH_MAX];
    char window[PATH_MAX];
    uint64_t count; /* of records */
};

static void disk_init(struct disk *disk)
{
    *disk = (struct disk){0};
    bb_temp_dir_init(&disk->directory, "wal_window");
    bb_temp_dir_path(&disk->directory, LOG_PATH + 1, disk->log);
    bb_temp_dir_path(&disk->directory, WINDOW_PATH + 1, disk->window);
    assert_ok(bb_file_system_posix_create(&disk->fs));
    assert_ok(bb_wal_writer_create(disk->fs, disk->log, LOG_NUMBER, store_id, 0, &disk->writer));
}

static void disk_deinit(struct disk *disk)
{
    if (disk->writer != NULL)
        assert_ok(bb_wal_writer_close(disk->writer));
    bb_file_system_posix_destroy(disk->fs);
    bb_temp_dir_deinit(&disk->directory);
}

/* The payload of record `number` has its number, and bytes that follow from it. */
static struct bb_bytes payload_of(uint64_t number, size_t size, uint8_t *memory)
{
    bb_store64(memory, number);
    for (size_t i = 8; i < size; i++)
        memory[i] = (uint8_t)(number * 31 + i);
    return bb_bytes_of(memory, size);
}

static enum bb_status try_append(struct disk *disk, size_t size)
{
    uint8_t *memory = bb_must_alloc_zeroed(size);
    struct bb_bytes payload = payload_of(disk->count, size, memory);
    enum bb_status status = bb_wal_writer_append(disk->writer, &payload, 1);
    disk->count += status == BB_OK;
    free(memory);
    return status;
}

static void append(struct disk *disk, size_t size)
{
    assert_ok(try_append(disk, size));
}

static void warm_up(struct disk *disk)
{
    for (int i = 0; i < WARM_UP; i++)
        append(disk, 20);
}

static bool is_there(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

static struct bb_buf read_file(struct disk *disk, const char *path)
{
    struct bb_buf bytes = {0};
    if (is_there(path))
        assert_ok(bb_file_read_whole(disk->fs, path, SIZE_MAX, &bytes));
    return bytes;
}

/* ---- reading ---- */

struct found {
    uint64_t count; /* of records */
    enum bb_status status;
    struct bb_wal_report report;
};

static void check_record(struct bb_bytes payload, uint64_t number)
{
    uint8_t *memory = bb_must_alloc_zeroed(payload.size);
    assert_true(payload.size >= 8);
    assert_int_equal(bb_load64(payload.data), number);
    assert_true(bb_bytes_equal(payload, payload_of(number, payload.size, memory)));
    free(memory);
}

static struct found read_log(struct bb_file_system *fs, const char *path)
{
    struct bb_wal_reader *reader = NULL;
    struct bb_bytes payload;
    struct found found = {0};
    found.status = bb_wal_reader_open(fs, path, LOG_NUMBER, store_id, false, &reader);
    while (found.status == BB_OK) {
        found.status = bb_wal_reader_next(reader, &payload);
        if (found.status == BB_OK)
            check_record(payload, found.count++);
    }
    if (reader != NULL)
        found.report = *bb_wal_reader_report(reader);
    bb_wal_reader_close(reader);
    return found;
}

/* The files of one moment, or a mixture of several. */
static struct found read_bytes(struct bb_bytes log, struct bb_bytes window)
{
    struct bb_file_memory *memory = bb_file_memory_create(1);
    bb_file_memory_put(memory, LOG_PATH, log);
    if (window.size > 0)
        bb_file_memory_put(memory, WINDOW_PATH, window);
    struct found found = read_log(bb_file_memory_system(memory), LOG_PATH);
    bb_file_memory_destroy(memory);
    return found;
}

static struct found read_disk(struct disk *disk)
{
    struct bb_buf log = read_file(disk, disk->log);
    struct bb_buf window = read_file(disk, disk->window);
    struct found found = read_bytes(bb_buf_bytes(&log), bb_buf_bytes(&window));
    bb_buf_deinit(&log);
    bb_buf_deinit(&window);
    return found;
}

/* The log ends where its last record ends, and no byte was dropped. */
static void assert_whole(const struct found *found, uint64_t count)
{
    assert_int_equal(found->status, BB_NOT_FOUND);
    assert_int_equal(found->count, count);
    assert_string_equal(found->report.reason, "");
    assert_int_equal(found->report.dropped_bytes, 0);
}

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
    for (int i = 0; i < 800; i++) {
        append(&disk, draw_size(&rng));
        if (bb_rng_below(&rng, 200) == 0)
            assert_ok(bb_wal_writer_sync(disk.writer));
        struct found found = read_disk(&disk);
        assert_whole(&found, disk.count);
        struct bb_buf log = read_file(&disk, disk.log);
        in_window += log.size < bb_wal_writer_size(disk.writer);
        bb_buf_deinit(&log);
    }
    assert_in_range(in_window, 500, 800);
    disk_deinit(&disk);
}

/* A reader in the process of the writer uses the same files. */
static void wal_window__a_reader_sees_each_append_while_the_writer_runs(void **state)
{
    (void)state;
    struct disk disk;
    disk_init(&disk);
    for (int i = 0; i < 700; i++) {
        append(&disk, 150);
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
    for (int i = 0; i < 2000; i++) {
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
    assert_true(more_than_synced > 500);
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

static void wal_window__a_changed_bit_gives_no_other_record(void **state)
{
    (void)state;
    struct disk disk;
    struct bb_rng rng;
    disk_init(&disk);
    bb_rng_init(&rng, 13);
    warm_up(&disk);
    for (int i = 0; i < 200; i++)
        append(&disk, 30);
    struct bb_buf log = read_file(&disk, disk.log);
    struct bb_buf window = read_file(&disk, disk.window);
    uint64_t in_window = 0;
    for (int i = 0; i < 2000; i++) {
        size_t at = (size_t)bb_rng_below(&rng, 12000);
        window.data[at] ^= (uint8_t)(1U << bb_rng_below(&rng, 8));
        struct found found = read_bytes(bb_buf_bytes(&log), bb_buf_bytes(&window));
        bool is_base = at >= BB_WAL_HEADER_SIZE && at < BB_WAL_WINDOW_BYTES;
        assert_true(found.status == BB_NOT_FOUND || found.status == BB_UNSUPPORTED);
        /* A reader drops the records after a defect, and reports them. The last one may be a record
         * that was being copied. */
        if (!is_base && found.count + 1 < disk.count)
            assert_true(found.report.dropped_bytes > 0);
        in_window += found.count < disk.count;
        bb_buf_deinit(&window);
        window = read_file(&disk, disk.window);
    }
    assert_in_range(in_window, 1000, 1900);
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

static void wal_window__of_a_newer_version_is_refused(void **state)
{
    (void)state;
    struct disk disk;
    disk_init(&disk);
    warm_up(&disk);
    struct bb_buf log = read_file(&disk, disk.log);
    struct bb_buf window = read_file(&disk, disk.window);
    bb_store32(window.data + 8, 99);
    bb_store64(window.data + 40, bb_wal_format_check_header(window.data));
    struct found found = read_bytes(bb_buf_bytes(&log), bb_buf_bytes(&window));
    assert_int_equal(found.status, BB_UNSUPPORTED);
    assert_message("format version 99");
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

/* Checks have no secret: a file may claim any place. */
static void wal_window__far_after_its_log_is_ignored(void **state)
{
    (void)state;
    static uint8_t window[BB_WAL_WINDOW_FILE_SIZE];
    struct disk disk;
    disk_init(&disk);
    append(&disk, 20);
    struct bb_buf log = read_file(&disk, disk.log);
    const struct bb_wal_identity identity = bb_wal_identity(LOG_NUMBER, store_id);
    static const uint64_t bases[] = {UINT64_C(65) << 20, UINT64_C(1) << 40, INT64_MAX - 100000,
                                     UINT64_MAX - 4096};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(bases); i++) {
        uint64_t base = bases[i] - bases[i] % BB_WAL_BLOCK_SIZE;
        uint8_t *fragment = window + BB_WAL_WINDOW_BYTES;
        bb_store64(window + BB_WAL_HEADER_SIZE, base);
        bb_store64(fragment, bb_wal_format_check(bb_wal_format_seed(&identity), base, BB_WAL_FULL,
                                                 bb_bytes_of(fragment + 11, 16)));
        bb_store16(fragment + 8, 16);
        fragment[10] = BB_WAL_FULL;
        struct found found = read_bytes(bb_buf_bytes(&log), bb_bytes_of(window, sizeof(window)));
        assert_whole(&found, 1);
    }
    bb_buf_deinit(&log);
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
        cmocka_unit_test(wal_window__a_changed_bit_gives_no_other_record),
        cmocka_unit_test(wal_window__of_another_log_or_store_is_ignored),
        cmocka_unit_test(wal_window__of_a_newer_version_is_refused),
        cmocka_unit_test(wal_window__a_truncated_file_loses_no_record),
        cmocka_unit_test(wal_window__a_failed_write_leaves_them_readable),
        cmocka_unit_test(wal_window__far_after_its_log_is_ignored),
        cmocka_unit_test(wal_window__needs_a_regular_file),
        cmocka_unit_test(wal_window__names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
