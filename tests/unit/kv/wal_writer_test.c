/* Goal: each append is one write of the file; after a failure the file is never written again and
 * every call returns the first failure; buffering changes when bytes are written, not which.
 *
 * Method: logs on a file system in memory, with the counters of the file seam and with the n-th
 * call failing.
 */
#include "tests/support/assert_status.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "kv/wal/wal_reader.h"
#include "kv/wal/wal_writer.h"
#include "tests/support/file_fault.h"
#include "tests/support/file_memory.h"
#include "tests/support/must_alloc.h"
#include "tests/support/rng.h"

#define PATH "/000003.log"

static const uint8_t store_id[BB_WAL_STORE_ID_SIZE] = "0123456789abcde";

static uint64_t file_size(struct bb_file_system *fs)
{
    bool is_directory = false;
    uint64_t size = 0;
    assert_ok(fs->ops->status(fs, PATH, &is_directory, &size));
    return size;
}

static uint64_t appends(struct bb_file_system *fs)
{
    struct bb_file_counters counters;
    fs->ops->counters(fs, &counters);
    return counters.appends;
}

static size_t count_records(struct bb_file_system *fs)
{
    struct bb_wal_reader *reader = NULL;
    struct bb_bytes payload;
    assert_ok(bb_wal_reader_open(fs, PATH, 3, store_id, false, &reader));
    size_t count = 0;
    enum bb_status status = BB_OK;
    while ((status = bb_wal_reader_next(reader, &payload)) == BB_OK)
        count++;
    assert_int_equal(status, BB_NOT_FOUND);
    bb_wal_reader_close(reader);
    return count;
}

static void wal_writer__one_write_per_append(void **state)
{
    (void)state;
    static uint8_t large[100000];
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct bb_wal_writer *writer = NULL;
    assert_ok(bb_wal_writer_create(fs, PATH, 3, store_id, 0, &writer));
    assert_int_equal(file_size(fs), BB_WAL_HEADER_SIZE);
    assert_int_equal(bb_wal_writer_size(writer), BB_WAL_HEADER_SIZE);
    struct bb_bytes payloads[] = {bb_bytes_of_text("a"), bb_bytes_of(large, sizeof(large)),
                                  bb_bytes_of(NULL, 0)};
    for (unsigned round = 0; round < 10; round++) {
        uint64_t before = appends(fs);
        assert_ok(bb_wal_writer_append(writer, payloads, 3));
        assert_int_equal(appends(fs), before + 1);
        assert_int_equal(bb_wal_writer_size(writer), file_size(fs));
    }
    uint64_t before = appends(fs);
    assert_ok(bb_wal_writer_append(writer, payloads, 0));
    assert_ok(bb_wal_writer_flush(writer));
    assert_int_equal(appends(fs), before);
    assert_ok(bb_wal_writer_close(writer)); /* no sync happened: no mark */
    assert_int_equal(appends(fs), before);
    assert_int_equal(count_records(fs), 30);
    assert_ok(bb_wal_writer_close(NULL));
    bb_file_memory_destroy(memory);
}

/* Reads the file whole. */
static void read_file(struct bb_file_system *fs, struct bb_buf *ret_bytes)
{
    assert_ok(bb_file_read_whole(fs, PATH, SIZE_MAX, ret_bytes));
}

/* The file does not depend on where the payload is divided or on the pieces, except for the number
 * of writes of about 1 MiB each. */
static void wal_writer__large_records_go_in_pieces(void **state)
{
    (void)state;
    const size_t size = (size_t)5 << 20;
    static const size_t divisions[] = {0, 1, 32000, (size_t)3 << 20, (size_t)5 << 20};
    struct bb_rng rng;
    struct bb_buf expected = {0};
    uint8_t *large = bb_must_alloc_zeroed(size);
    bb_rng_init(&rng, 5);
    bb_rng_bytes(&rng, large, size);
    for (size_t i = 0; i < BB_ARRAY_LENGTH(divisions); i++) {
        struct bb_file_memory *memory = bb_file_memory_create(1);
        struct bb_file_system *fs = bb_file_memory_system(memory);
        struct bb_wal_writer *writer = NULL;
        struct bb_buf found = {0};
        struct bb_bytes whole = bb_bytes_of(large, size);
        assert_ok(bb_wal_writer_create(fs, PATH, 3, store_id, 0, &writer));
        uint64_t before = appends(fs);
        assert_ok(i == 0 ? bb_wal_writer_append(writer, &whole, 1)
                         : bb_wal_writer_append_parts(
                               writer, bb_bytes_of(large, divisions[i]),
                               bb_bytes_of(large + divisions[i], size - divisions[i])));
        assert_in_range(appends(fs) - before, 4, 6);
        assert_ok(bb_wal_writer_append(writer, &whole, 1));
        assert_ok(bb_wal_writer_close(writer));
        assert_int_equal(count_records(fs), 2);
        read_file(fs, i == 0 ? &expected : &found);
        if (i > 0)
            assert_true(bb_bytes_equal(bb_buf_bytes(&expected), bb_buf_bytes(&found)));
        bb_buf_deinit(&found);
        bb_file_memory_destroy(memory);
    }
    bb_buf_deinit(&expected);
    free(large);
}

/* A group gives the same bytes as its records one by one. */
static void wal_writer__groups_and_buffers_give_the_same_bytes(void **state)
{
    (void)state;
    static const size_t buffer_sizes[] = {0, 1, 1000, 100000};
    static uint8_t bytes[70000];
    struct bb_rng rng;
    bb_rng_init(&rng, 6);
    bb_rng_bytes(&rng, bytes, sizeof(bytes));
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    uint8_t *expected = NULL;
    size_t expected_size = 0;
    for (size_t i = 0; i < 8; i++) {
        char path[] = "/x.log";
        path[1] = (char)('a' + i);
        struct bb_wal_writer *writer = NULL;
        assert_ok(bb_wal_writer_create(fs, path, 3, store_id, buffer_sizes[i / 2], &writer));
        bool one_by_one = i % 2 == 0;
        for (size_t group = 0; group < 20; group++) {
            struct bb_bytes payloads[5];
            for (size_t j = 0; j < 5; j++)
                payloads[j] = bb_bytes_of(bytes, (group * 5 + j) * 601 % sizeof(bytes));
            for (size_t j = 0; one_by_one && j < 5; j++)
                assert_ok(bb_wal_writer_append(writer, &payloads[j], 1));
            if (!one_by_one)
                assert_ok(bb_wal_writer_append(writer, payloads, 5));
        }
        assert_ok(bb_wal_writer_close(writer));
        size_t size = 0;
        uint8_t *found = bb_file_memory_bytes(memory, path, &size);
        if (i == 0) {
            expected = found;
            expected_size = size;
        }
        assert_int_equal(size, expected_size);
        assert_memory_equal(found, expected, size);
    }
    bb_file_memory_destroy(memory);
}

static void wal_writer__buffer_is_written_when_full_or_asked(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct bb_wal_writer *writer = NULL;
    uint8_t bytes[100] = {0};
    struct bb_bytes payload = bb_bytes_of(bytes, sizeof(bytes));
    assert_ok(bb_wal_writer_create(fs, PATH, 3, store_id, 1000, &writer));
    for (unsigned i = 0; i < 8; i++) /* 119 bytes each */
        assert_ok(bb_wal_writer_append(writer, &payload, 1));
    assert_int_equal(file_size(fs), BB_WAL_HEADER_SIZE);
    assert_int_equal(bb_wal_writer_size(writer), BB_WAL_HEADER_SIZE + 8 * 119);
    assert_ok(bb_wal_writer_append(writer, &payload, 1));
    assert_int_equal(file_size(fs), BB_WAL_HEADER_SIZE + 9 * 119);
    assert_ok(bb_wal_writer_append(writer, &payload, 1));
    assert_int_equal(file_size(fs), BB_WAL_HEADER_SIZE + 9 * 119);
    assert_ok(bb_wal_writer_flush(writer));
    assert_int_equal(file_size(fs), BB_WAL_HEADER_SIZE + 10 * 119);
    assert_int_equal(bb_wal_writer_durable(writer), 0);
    assert_ok(bb_wal_writer_append(writer, &payload, 1));
    assert_ok(bb_wal_writer_sync(writer));
    assert_int_equal(file_size(fs), BB_WAL_HEADER_SIZE + 11 * 119);
    assert_int_equal(bb_wal_writer_durable(writer), file_size(fs));
    assert_ok(bb_wal_writer_append(writer, &payload, 1));
    assert_ok(bb_wal_writer_close(writer));
    assert_int_equal(count_records(fs), 12);
    bb_file_memory_destroy(memory);
}

static void wal_writer__syncs_are_told_once(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct bb_wal_writer *writer = NULL;
    struct bb_bytes payload = bb_bytes_of_text("p");
    assert_ok(bb_wal_writer_create(fs, PATH, 3, store_id, 0, &writer));
    assert_ok(bb_wal_writer_append(writer, &payload, 1));
    assert_ok(bb_wal_writer_sync(writer));
    assert_ok(bb_wal_writer_append(writer, &payload, 1)); /* tells of the sync: close need not */
    uint64_t size = bb_wal_writer_size(writer);
    assert_ok(bb_wal_writer_close(writer));
    assert_int_equal(file_size(fs), size);
    bb_file_memory_destroy(memory);
}

static void wal_writer__never_over_another_file(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct bb_wal_writer *writer = NULL;
    bb_file_memory_put(memory, PATH, bb_bytes_of_text("mine"));
    assert_status(bb_wal_writer_create(fs, PATH, 3, store_id, 0, &writer), BB_EXISTS);
    assert_null(writer);
    assert_int_equal(file_size(fs), 4);
    bb_file_memory_destroy(memory);
}

/* A program that tries again for an hour would leave as many empty logs as it tried. */
static void wal_writer__a_full_disk_leaves_no_empty_log(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct bb_wal_writer *writer = NULL;
    bool is_directory = false;
    uint64_t size = 0;
    bb_file_memory_set_space(memory, BB_WAL_HEADER_SIZE - 1);
    assert_status(bb_wal_writer_create(fs, PATH, 3, store_id, 0, &writer), BB_NO_SPACE);
    assert_null(writer);
    assert_message(PATH);
    assert_status(fs->ops->status(fs, PATH, &is_directory, &size), BB_NOT_FOUND);
    bb_file_memory_set_space(memory, 0);
    assert_ok(bb_wal_writer_create(fs, PATH, 3, store_id, 0, &writer));
    assert_ok(bb_wal_writer_close(writer));
    bb_file_memory_destroy(memory);
}

static void wal_writer__too_large_changes_nothing(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct bb_wal_writer *writer = NULL;
    assert_ok(bb_wal_writer_create(fs, PATH, 3, store_id, 0, &writer));
    struct bb_bytes payloads[] = {bb_bytes_of_text("ok"),
                                  bb_bytes_of("", (size_t)BB_WAL_PAYLOAD_SIZE_MAX + 1)};
    assert_status(bb_wal_writer_append(writer, payloads, 2), BB_TOO_LARGE);
    assert_int_equal(bb_wal_writer_size(writer), BB_WAL_HEADER_SIZE);
    assert_ok(bb_wal_writer_append(writer, payloads, 1));
    assert_ok(bb_wal_writer_close(writer));
    assert_int_equal(count_records(fs), 1);
    bb_file_memory_destroy(memory);
}

/* Works until a failure; then every call must fail in the same way, and no byte be written. */
static enum bb_status work(struct bb_file_system *fs, size_t buffer_bytes, size_t *ret_acknowledged)
{
    struct bb_wal_writer *writer = NULL;
    uint8_t bytes[300] = {1};
    struct bb_bytes payloads[] = {bb_bytes_of(bytes, 10), bb_bytes_of(bytes, sizeof(bytes))};
    *ret_acknowledged = 0;
    enum bb_status status = bb_wal_writer_create(fs, PATH, 3, store_id, buffer_bytes, &writer);
    for (unsigned i = 0; i < 6 && status == BB_OK; i++) {
        status = bb_wal_writer_append(writer, payloads, 2);
        if (status == BB_OK && i % 2 == 1)
            status = bb_wal_writer_sync(writer);
        if (status == BB_OK && (buffer_bytes == 0 || i % 2 == 1))
            *ret_acknowledged = 2 * (i + 1);
    }
    if (writer == NULL)
        return status;
    if (status != BB_OK) {
        assert_int_equal(bb_wal_writer_append(writer, payloads, 1), status);
        assert_message(PATH);
        assert_int_equal(bb_wal_writer_flush(writer), status);
        assert_int_equal(bb_wal_writer_sync(writer), status);
    }
    enum bb_status closed = bb_wal_writer_close(writer);
    if (status != BB_OK)
        assert_int_equal(closed, status);
    return closed;
}

static void fail_each_call(enum bb_file_fault_mode mode, enum bb_file_call call, int error_number,
                           size_t buffer_bytes, bool lasting)
{
    uint64_t nth = 0;
    uint64_t hits = 0;
    do {
        struct bb_file_memory *memory = bb_file_memory_create(1);
        struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(memory));
        struct bb_file_fault_plan plan = {.mode = mode,
                                          .call = call,
                                          .nth = ++nth,
                                          .lasting = lasting,
                                          .error_number = error_number};
        bb_file_fault_arm(fault, &plan);
        size_t acknowledged = 0;
        enum bb_status status = work(bb_file_fault_system(fault), buffer_bytes, &acknowledged);
        hits = bb_file_fault_hits(fault);
        assert_int_equal(status != BB_OK, hits > 0);
        assert_true(bb_file_fault_writes_after_failure(fault) == 0);
        bool is_directory = false;
        uint64_t size = 0;
        struct bb_file_system *fs = bb_file_memory_system(memory);
        if (fs->ops->status(fs, PATH, &is_directory, &size) == BB_OK)
            assert_true(count_records(fs) >= acknowledged);
        bb_file_fault_destroy(fault);
        bb_file_memory_destroy(memory);
    } while (hits > 0);
    assert_true(nth > 1);
}

static void wal_writer__failures_stick(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        bool lasting = i % 2;
        size_t buffer_bytes = i / 2 * 10000;
        fail_each_call(BB_FILE_FAULT_ERROR, BB_FILE_CALL_APPEND, 0, buffer_bytes, lasting);
        fail_each_call(BB_FILE_FAULT_ERROR, BB_FILE_CALL_SYNC, 0, buffer_bytes, lasting);
        fail_each_call(BB_FILE_FAULT_SHORT_WRITE, BB_FILE_CALL_APPEND, 0, buffer_bytes, lasting);
        fail_each_call(BB_FILE_FAULT_ERROR, BB_FILE_CALL_CLOSE, 0, buffer_bytes, lasting);
        fail_each_call(BB_FILE_FAULT_ERROR, BB_FILE_CALL_CREATE, 0, buffer_bytes, lasting);
    }
}

/* A full disk is no exception: freed space must not revive a log with a hole. */
static void wal_writer__a_full_disk_sticks(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct bb_wal_writer *writer = NULL;
    uint8_t bytes[400] = {0};
    struct bb_bytes payload = bb_bytes_of(bytes, sizeof(bytes));
    assert_ok(bb_wal_writer_create(fs, PATH, 3, store_id, 0, &writer));
    bb_file_memory_set_space(memory, 1000);
    assert_ok(bb_wal_writer_append(writer, &payload, 1));
    assert_ok(bb_wal_writer_append(writer, &payload, 1));
    assert_status(bb_wal_writer_append(writer, &payload, 1), BB_NO_SPACE);
    bb_file_memory_set_space(memory, 0);
    payload.size = 1;
    assert_status(bb_wal_writer_append(writer, &payload, 1), BB_NO_SPACE);
    assert_status(bb_wal_writer_sync(writer), BB_NO_SPACE);
    assert_status(bb_wal_writer_close(writer), BB_NO_SPACE);
    assert_int_equal(count_records(fs), 2);
    bb_file_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wal_writer__one_write_per_append),
        cmocka_unit_test(wal_writer__large_records_go_in_pieces),
        cmocka_unit_test(wal_writer__groups_and_buffers_give_the_same_bytes),
        cmocka_unit_test(wal_writer__buffer_is_written_when_full_or_asked),
        cmocka_unit_test(wal_writer__syncs_are_told_once),
        cmocka_unit_test(wal_writer__never_over_another_file),
        cmocka_unit_test(wal_writer__a_full_disk_leaves_no_empty_log),
        cmocka_unit_test(wal_writer__too_large_changes_nothing),
        cmocka_unit_test(wal_writer__failures_stick),
        cmocka_unit_test(wal_writer__a_full_disk_sticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
