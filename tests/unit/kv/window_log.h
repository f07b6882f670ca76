/* A log on disk whose writer has a window, and the records that a reader finds in the bytes of both
 * files. For tests of the window: wal_window_test, wal_window_head_test. */
#ifndef BB_TESTS_UNIT_KV_WINDOW_LOG_H
#define BB_TESTS_UNIT_KV_WINDOW_LOG_H

#include "tests/support/assert_status.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "kv/wal/wal_reader.h"
#include "kv/wal/wal_window.h"
#include "kv/wal/wal_writer.h"
#include "tests/support/file_memory.h"
#include "tests/support/must_alloc.h"
#include "tests/support/temp_dir.h"

#define LOG_NUMBER  3
#define LOG_PATH    "/000003.wal"
#define WINDOW_PATH "/000003.window"
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

static inline void disk_init(struct disk *disk)
{
    *disk = (struct disk){0};
    bb_temp_dir_init(&disk->directory, "wal_window");
    bb_temp_dir_path(&disk->directory, LOG_PATH + 1, disk->log);
    bb_temp_dir_path(&disk->directory, WINDOW_PATH + 1, disk->window);
    assert_ok(bb_file_system_posix_create(&disk->fs));
    assert_ok(bb_wal_writer_create(disk->fs, disk->log, LOG_NUMBER, store_id, 0, &disk->writer));
}

static inline void disk_deinit(struct disk *disk)
{
    if (disk->writer != NULL)
        assert_ok(bb_wal_writer_close(disk->writer));
    bb_file_system_posix_destroy(disk->fs);
    bb_temp_dir_deinit(&disk->directory);
}

/* The payload of record `number` has its number, and bytes that follow from it and repeat. WHY by
 * copies: a test compares a GB of payloads, and a loop over bytes takes ten seconds under
 * AddressSanitizer. */
static inline struct bb_bytes payload_of(uint64_t number, size_t size, uint8_t *memory)
{
    const size_t period = 256;
    bb_store64(memory, number);
    for (size_t i = 8; i < size && i < 8 + period; i++)
        memory[i] = (uint8_t)(number * 31 + i);
    for (size_t i = 8 + period; i < size; i += period)
        memcpy(memory + i, memory + 8, size - i < period ? size - i : period);
    return bb_bytes_of(memory, size);
}

static inline enum bb_status try_append(struct disk *disk, size_t size)
{
    uint8_t *memory = bb_must_alloc_zeroed(size);
    struct bb_bytes payload = payload_of(disk->count, size, memory);
    enum bb_status status = bb_wal_writer_append(disk->writer, &payload, 1);
    disk->count += status == BB_OK;
    free(memory);
    return status;
}

static inline void append(struct disk *disk, size_t size)
{
    assert_ok(try_append(disk, size));
}

static inline void warm_up(struct disk *disk)
{
    for (int i = 0; i < WARM_UP; i++)
        append(disk, 20);
}

static inline bool is_there(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

static inline struct bb_buf read_file(struct disk *disk, const char *path)
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

static inline void check_record(struct bb_bytes payload, uint64_t number)
{
    uint8_t *memory = bb_must_alloc_zeroed(payload.size);
    assert_true(payload.size >= 8);
    assert_int_equal(bb_load64(payload.data), number);
    assert_true(bb_bytes_equal(payload, payload_of(number, payload.size, memory)));
    free(memory);
}

static inline struct found read_log(struct bb_file_system *fs, const char *path)
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
static inline struct found read_bytes(struct bb_bytes log, struct bb_bytes window)
{
    struct bb_file_memory *memory = bb_file_memory_create(1);
    bb_file_memory_put(memory, LOG_PATH, log);
    if (window.size > 0)
        bb_file_memory_put(memory, WINDOW_PATH, window);
    struct found found = read_log(bb_file_memory_system(memory), LOG_PATH);
    bb_file_memory_destroy(memory);
    return found;
}

static inline struct found read_disk(struct disk *disk)
{
    struct bb_buf log = read_file(disk, disk->log);
    struct bb_buf window = read_file(disk, disk->window);
    struct found found = read_bytes(bb_buf_bytes(&log), bb_buf_bytes(&window));
    bb_buf_deinit(&log);
    bb_buf_deinit(&window);
    return found;
}

/* The log ends where its last record ends, and no byte was dropped. */
static inline void assert_whole(const struct found *found, uint64_t count)
{
    assert_int_equal(found->status, BB_NOT_FOUND);
    assert_int_equal(found->count, count);
    assert_string_equal(found->report.reason, "");
    assert_int_equal(found->report.dropped_bytes, 0);
}

#endif
